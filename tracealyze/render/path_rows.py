"""The critical path in a few rows: by command line, the largest with their calls, and percentages that add up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.heuristics import MIN_COMMAND_SHARE, MIN_DIVIDED_SHARE, MIN_PIECE_SHARE
from tracealyze.base.program_names import short
from tracealyze.base.sanitize import shown
from tracealyze.render.partition import Part, Piece
from tracealyze.render.processes import command_of

if TYPE_CHECKING:
    from tracealyze.model.table import Table
    from tracealyze.trace.trace import Trace

# Above this number of processes, their command lines are too expensive to compare.
_MAX_LABELLED = 20_000
_MAX_ROWS = 7
_MAX_CALLS = 3
# Above this number of rows, only the largest command has its calls.
_MAX_LINES = 11
_WHOLE = 0.9
_NEARLY_ALL = 0.97


@dataclass(frozen=True)
class PathRow:
    """A row of the critical path."""

    name: str
    exclusive_ns: int
    percent: int
    """Whole percent of the window. Rows of the same depth under one parent add up."""
    remark: str = ""
    depth: int = 0
    parent: str = ""
    """The command that a row of calls belongs to."""
    owners: frozenset[tuple[int, str | None]] = frozenset()
    """The processes of the row with their programs, for the timeline."""


@dataclass
class _Command:
    """The processes with one command line, or the small ones of one program."""

    name: str
    exclusive_ns: int = 0
    pids: list[int] = field(default_factory=list)
    programs: set[str | None] = field(default_factory=set)
    owners: list[tuple[int, str | None]] = field(default_factory=list)
    processes: int = 0
    """Number of processes, where their pids are not listed."""
    program_name: str | None = None
    """The name of their programs, where these are not listed."""

    def add(self, exclusive_ns: int, pid: int | None, program: str | None) -> None:
        """Add a process that runs this program."""
        self.exclusive_ns += exclusive_ns
        self.programs.add(program)
        if pid is not None:
            self.pids.append(pid)
            self.owners.append((pid, program))

    def merge(self, other: _Command) -> None:
        """Add all processes of another command."""
        self.exclusive_ns += other.exclusive_ns
        self.programs |= other.programs
        self.pids += other.pids
        self.owners += other.owners


def path_rows(trace: Trace, top: int = _MAX_ROWS) -> list[PathRow]:
    """The rows, the largest first; they add up to the window."""
    wall_ns = trace.window.wall_ns
    if not wall_ns:
        return []
    if trace.totals["processes"] > _MAX_LABELLED:
        found = _programs(trace)
    else:
        processes = trace.partition_by(["pid", "program"])
        first = Part(trace, next(iter(processes.head(1))))
        if len(processes) == 1 and first.is_nameless:
            return _of_pieces(first.calls(0, top), wall_ns)
        found = _commands(trace, processes)
    commands = sorted(found, key=lambda command: -command.exclusive_ns)
    listed = [each for each in commands[:top] if each.exclusive_ns >= MIN_PIECE_SHARE * wall_ns] or commands[:1]
    rest_ns = wall_ns - sum(each.exclusive_ns for each in listed)
    percents = whole_percents([*(each.exclusive_ns for each in listed), rest_ns], 100)
    rows: list[PathRow] = []
    for command, percent in zip(listed, percents, strict=False):
        rows.extend(_with_calls(trace, command, percent))
    if len(rows) > _MAX_LINES:
        rows = [row for row in rows if row.parent in ("", listed[0].name)]
    if rest_ns:
        others = len(commands) - len(listed)
        rows.append(PathRow(units.counted(others, "other") if others else "rest", rest_ns, percents[-1]))
    return rows


def whole_percents(amounts: Sequence[int], total: int) -> list[int]:
    """Whole numbers that add up to the total, as near to the amounts as possible."""
    whole = sum(amounts)
    if not whole:
        return [0] * len(amounts)
    percents = [amount * total // whole for amount in amounts]
    by_rest = sorted(range(len(amounts)), key=lambda at: -(amounts[at] * total % whole))
    for at in by_rest[: total - sum(percents)]:
        percents[at] += 1
    return percents


def _of_pieces(pieces: Sequence[Piece], wall_ns: int) -> list[PathRow]:
    """Rows of a trace without processes, such as a log."""
    outer = [piece for piece in pieces if piece.depth == 0]
    rest_ns = wall_ns - sum(piece.exclusive_ns for piece in outer)
    percents = whole_percents([*(piece.exclusive_ns for piece in outer), rest_ns], 100)
    rows = [
        PathRow(piece.name, piece.exclusive_ns, percent, _remark(piece))
        for piece, percent in zip(outer, percents, strict=False)
    ]
    return [*rows, PathRow("rest", rest_ns, percents[-1])] if rest_ns else rows


def _programs(trace: Trace) -> list[_Command]:
    """The processes by program, where there are very many."""
    return [
        _Command(name or "the traced process", exclusive_ns, processes=processes, program_name=name)
        for name, exclusive_ns, processes in trace.program_times()
    ]


def _commands(trace: Trace, table: Table) -> list[_Command]:
    """The processes by command line. Command lines with little time are combined by program."""
    known = _command_lines(trace)
    found: dict[str, _Command] = {}
    columns = map(table.column, ("pid", "program", "exclusive_ns"))
    for pid, program, exclusive_ns in zip(*columns, strict=True):
        name = (
            known.get((pid, program)) or short(program) or (f"pid {pid}" if pid is not None else "the traced process")
        )
        command = found.setdefault(name, _Command(name))
        command.add(exclusive_ns, pid, program)
    return _small_by_program(found.values(), MIN_COMMAND_SHARE * trace.window.wall_ns)


def _command_lines(trace: Trace) -> dict[tuple[int | None, str | None], str | None]:
    """The command line of each process while it runs its last program; None if a pid was used twice."""
    table = trace.processes
    known: dict[tuple[int | None, str | None], str | None] = {}
    for pid, program, argv in zip(*map(table.column, ("pid", "program", "argv")), strict=True):
        key, command = (pid, program), _shortened(command_of({"argv": argv, "program": program}))
        known[key] = command if known.get(key, command) == command else None
    return known


def _shortened(command: str | None) -> str | None:
    """A command line whose first word is only the name of the program."""
    first, blank, rest = (command or "").partition(" ")
    return f"{short(first)}{blank}{rest}" or None


def _small_by_program(commands: Iterable[_Command], min_ns: float) -> list[_Command]:
    large, small = [], dict[str, list[_Command]]()
    for command in commands:
        if command.exclusive_ns >= min_ns:
            large.append(command)
        else:
            names = sorted(short(program) for program in command.programs)
            small.setdefault(names[0] or command.name, []).append(command)
    for name, members in small.items():
        if len(members) == 1:
            large.extend(members)
            continue
        combined = _Command(name)
        for member in members:
            combined.merge(member)
        large.append(combined)
    return large


class _CommandPart(Part):
    """The calls of a command."""

    def __init__(self, trace: Trace, command: _Command) -> None:
        super().__init__(trace, {"pid": None, "program": None, "exclusive_ns": command.exclusive_ns})
        self.only = {"program": list(command.programs)}
        if command.program_name is not None:
            self.only = {"program_name": [command.program_name]}
        if command.pids:
            self.only["pid"] = list(dict.fromkeys(command.pids))


def _with_calls(trace: Trace, command: _Command, percent: int) -> list[PathRow]:
    """The row of a command, and rows of its calls if several have a good part of the window."""
    wall_ns = trace.window.wall_ns
    owners = frozenset(command.owners)
    number = command.processes or len(set(command.pids))
    name = f"{shown(command.name)} ×{units.count(number)}" if number > 1 else shown(command.name)
    row = PathRow(name, command.exclusive_ns, percent, owners=owners)
    pieces = [each for each in _CommandPart(trace, command).calls(1, _MAX_CALLS) if each.depth == 1]
    if not pieces:
        return [row]
    largest = pieces[0]
    is_divided = command.exclusive_ns >= MIN_DIVIDED_SHARE * wall_ns and len(pieces) > 1
    if not is_divided or largest.exclusive_ns >= _WHOLE * command.exclusive_ns:
        mostly = "" if largest.exclusive_ns >= _NEARLY_ALL * command.exclusive_ns else "mostly "
        is_clear = 2 * largest.exclusive_ns >= command.exclusive_ns
        what = f"{mostly}{shown(largest.name)}{_counted(largest)}" if is_clear else ""
        return [replace(row, remark=what)]
    named = [piece for piece in pieces if piece.count or piece.name == largest.name or not piece.name[0].isdigit()]
    rest_ns = command.exclusive_ns - sum(piece.exclusive_ns for piece in named)
    amounts = [*(piece.exclusive_ns for piece in named), rest_ns]
    percents = whole_percents(amounts, percent)
    rows = [row]
    for piece, share in zip(named, percents, strict=False):
        rows.append(PathRow(shown(piece.name), piece.exclusive_ns, share, _remark(piece), 1, command.name))
    return [*rows, PathRow("other", rest_ns, percents[-1], "", 1, command.name)] if rest_ns > 0 else rows


def _counted(piece: Piece) -> str:
    calls = f" ×{piece.count.split()[0]}" if piece.count and not piece.count.startswith("1 ") else ""
    return f"{calls}{f' ({piece.remark})' if piece.remark else ''}"


def _remark(piece: Piece) -> str:
    return ", ".join(part for part in (piece.count, _target(piece), piece.remark) if part)


def _target(piece: Piece) -> str:
    # A pid among the targets is only a number.
    return "" if piece.target == "N" else shown(piece.target)
