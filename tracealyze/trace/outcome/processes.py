"""The processes whose ends decide how a run went, with what is known of their last moments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tracealyze.base.program_names import short
from tracealyze.base.sanitize import shown
from tracealyze.trace.outcome import known

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.model.trace_tables import TraceTables

_MAX_COMMAND = 72
_PLAIN = re.compile(r"[\w./@%+=:,-]+( [\w./@%+=:,-]+)*", re.ASCII)
_TABLES = ("last_calls", "last_cycles", "last_failures", "last_questions", "last_targets", "last_texts")


@dataclass
class EndedProcess:
    """A process and its end. Rows are those of the engine's tables of the same names."""

    ending: Row
    last_calls: list[Row] = field(default_factory=list)
    last_cycles: list[Row] = field(default_factory=list)
    last_failures: list[Row] = field(default_factory=list)
    last_questions: list[Row] = field(default_factory=list)
    last_targets: list[Row] = field(default_factory=list)
    last_texts: list[Row] = field(default_factory=list)
    foreign_lines: list[Row] = field(default_factory=list)
    """Lines between its own that are not of the tracer."""
    lines_around: list[Row] = field(default_factory=list)
    """Lines before and behind those of the tracer, if it is the only process whose parent is not in the capture."""

    @property
    def pid(self) -> int | None:
        """Its id, if the capture has ids."""
        pid: int | None = self.ending["pid"]
        return pid

    @property
    def is_command(self) -> bool:
        """Whether the tracer started it."""
        return bool(self.ending["root"] and self.ending["born"])

    @property
    def signal(self) -> str:
        """The signal that killed it; empty if none did."""
        return self.ending["signal"] or ""

    @property
    def signal_kind(self) -> str:
        """crash, killed or asked; empty if no signal killed it."""
        kind = known.signals().get(self.signal)
        return kind.kind if kind else "killed" if self.signal else ""

    @property
    def exit_code(self) -> int | None:
        """Its exit status; None if it did not exit."""
        code: int | None = self.ending["exit_code"]
        return code

    @property
    def failed_child(self) -> str:
        """How a child that was not traced failed: `child 4913 exited with status 1`. Empty if none did."""
        end: str = self.ending["child_end"] or ""
        if not end:
            return ""
        how = f"exited with status {end}" if end.isdecimal() else f"was killed by {end}"
        return shown(f"child {self.ending['child_pid']} {how}")

    @property
    def is_told(self) -> bool:
        """Whether another process or a person asked it to end."""
        return bool(self.ending["told_by"]) or self.signal_kind == "asked"

    @property
    def has_ended(self) -> bool:
        """Whether the capture shows its end."""
        return bool(self.signal) or self.exit_code is not None

    @property
    def command_line(self) -> str:
        """Its command line, if that can be pasted into a shell as it is; else empty. A trace is hostile input."""
        argv = self.ending["argv"] or ""
        is_short = len(argv) <= _MAX_COMMAND and "..." not in argv
        return argv if is_short and _PLAIN.fullmatch(argv) else ""

    def name(self, others: Sequence[EndedProcess] = ()) -> str:
        """Its program, with its id if other processes have the same program or none is known."""
        program = short(self.ending["program"])
        is_alone = sum(short(other.ending["program"]) == program for other in others) <= 1
        if program and (is_alone or self.pid is None):
            return shown(program)
        named = f"{program} (pid {self.pid})" if program else f"pid {self.pid}"
        return shown(named if self.pid is not None else "the traced process")


def ended_processes(trace: TraceTables) -> list[EndedProcess]:
    """The processes whose ends matter, in the order of their first lines."""
    tables = trace.tables(dict.fromkeys(("endings", "foreign_lines", *_TABLES)))
    found = [EndedProcess(dict(row)) for row in tables["endings"]]
    by_key = {(each.ending["capture"], each.pid): each for each in found}
    for name in _TABLES:
        for row in tables[name]:
            if process := by_key.get((row["capture"], row["pid"])):
                getattr(process, name).append(dict(row))
    for row in tables["foreign_lines"]:
        if process := _printer(trace, found, row):
            process.foreign_lines.append(dict(row))
        elif len(roots := [each for each in found if each.ending["root"]]) == 1:
            roots[0].lines_around.append(dict(row))
    return found


def _printer(trace: TraceTables, processes: Sequence[EndedProcess], row: Row) -> EndedProcess | None:
    """The process among whose lines a line stands that is not of the tracer: who printed it is not known otherwise."""
    line, capture = row["line"], trace.capture_of(row["capture"])
    for process in processes:
        ending = process.ending
        # dtrace prints what it has collected when its buffer is full: often after the output of the whole program.
        # What a function of a library prints is no event of ltrace.
        is_within = ending["first_line"] < line < ending["last_line"]
        is_late = capture is not None and capture.format in ("dtruss", "ltrace") and line < ending["last_line"]
        if ending["capture"] == row["capture"] and ending["root"] and (is_within or is_late):
            return process
    return None
