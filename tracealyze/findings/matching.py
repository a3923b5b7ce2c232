"""Matching: the rows of a table that a rule speaks of, taken together as it says."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from tracealyze.expression.evaluation import evaluate_group
from tracealyze.selection import Floor, Scope
from tracealyze.table import Reaching

if TYPE_CHECKING:
    from tracealyze.findings.rule_set import Rule
    from tracealyze.table import Row, Table
    from tracealyze.trace import Trace

Claimant: TypeAlias = "Scope | tuple[Table, list[int]]"
"""Who claims time on the path: pieces of the partition, or rows of a table that knows their events."""

_SCOPED = ("capture", "pid", "tid", "program", "class", "syscall", "op", "target")
_CALL_KEYS = ("program", "pid", "tid", "task", "syscall", "op", "shape", "target", "errno", "outcome")
_ADDED_UP = ("ns", "bytes", "share")
_LINES = ("first_line", "last_line", "line", "next_line")
# Of moments and means, a sum says nothing.
_NOT_ADDED_UP = (
    "start_ns",
    "end_ns",
    "birth_ns",
    "death_ns",
    "mean_",
    "max_",
    "asked_ns",
    "requested_ns",
    "round_ns",
    "interval_ns",
    "min_",
    "p50_",
    "p90_",
    "p99_",
    "each_",
    "size_",
)
# Columns of this ending have time on the path of a row, or a part of it.
_PATH_TIME = "exclusive_ns"
_WITHIN = ("row", "process", "program", "capture")
_QUOTED = 2
# What goes on when a coarse clock takes a step is charged with all of it; chance hits twice, but rarely thrice.
_TICKS = 3
_SEVERAL = 2


@dataclass(frozen=True)
class Match:
    """A row that a rule speaks of, or several taken together."""

    rule: Rule
    row: Row
    cost_ns: int
    claimants: tuple[Claimant, ...]
    lines: tuple[tuple[str | None, int], ...]
    """Where to look: the file, if the capture has several, and the line in it."""

    @property
    def capture(self) -> int:
        """Number of the capture."""
        return int(self.row.get("capture") or 0)


def tables_of(trace: Trace, rules: Sequence[Rule]) -> dict[str, Table]:
    """The tables that rules ask, with all rows that one of them may speak of."""
    by_table: dict[str, list[Rule]] = {}
    for rule in rules:
        by_table.setdefault(rule.table, []).append(rule)
    by_table.pop("partition", None)
    # Of calls, a rule may ask by any key: each row is of one task and one shape.
    calls = {"calls": trace.calls(_CALL_KEYS)} if by_table.pop("calls", None) else {}
    return calls | trace.tables({name: _floor(trace, asking) for name, asking in by_table.items()})


def _floor(trace: Trace, rules: Sequence[Rule]) -> Floor | None:
    """What a row, with those it is taken together with, must have on the path to matter to one of the rules."""
    if not all(rule.cost.endswith(_PATH_TIME) for rule in rules):
        return None
    least = [_least(trace, rule) for rule in rules]
    return Floor(max((_within(rule) for rule in rules), key=_WITHIN.index), tuple(map(min, zip(*least, strict=True))))


def _within(rule: Rule) -> str:
    """Which rows a rule takes together at most."""
    if not rule.group:
        return "row"
    return "process" if "pid" in rule.group else "program" if "program" in rule.group else "capture"


def _least(trace: Trace, rule: Rule) -> list[int]:
    """What a match must cost, by number of the capture."""
    least = rule.at_least
    return [max(least.total_ns, math.ceil(least.share * wall_ns)) for wall_ns in trace.walls_ns]


def matches(trace: Trace, rule: Rule, tables: Mapping[str, Table]) -> Iterator[Match]:
    """What a rule speaks of, if it reaches the thresholds."""
    found = _pieces(trace, rule) if rule.table == "partition" else _rows(trace, rule, tables[rule.table])
    return (match for match in found if _reaches(trace, match))


def _reaches(trace: Trace, match: Match) -> bool:
    rule, least = match.rule, match.rule.at_least
    wall_ns = trace.wall_ns_of(match.capture)
    told_ns = _TICKS * tick_ns(trace, match)
    if rule.cost and (match.cost_ns <= 0 or match.cost_ns < max(least.total_ns, least.share * wall_ns, told_ns)):
        return False
    return not least.count or (match.row.get(rule.count) or 0) >= least.count


def tick_ns(trace: Trace, match: Match) -> int:
    """The step of the clock of a match's capture."""
    capture = trace.capture_of(match.capture)
    return capture.tick_ns if capture else 0


def _pieces(trace: Trace, rule: Rule) -> Iterator[Match]:
    """Groups of the partition."""
    group = tuple(dict.fromkeys(("capture", *(rule.group or _SCOPED))))
    shortest_ns = min((window.wall_ns for window in trace.windows), default=0)
    at_least_ns = max(rule.at_least.total_ns, int(rule.at_least.share * shortest_ns))
    table = trace.partition_by(group, Scope(rule.only, rule.excluded), at_least_ns=at_least_ns)
    for _, row in table.where(rule.forms.get("where")):
        if "keep" in rule.forms and not evaluate_group(rule.forms["keep"], [row]):
            continue
        here = {key: [row[key]] for key in group}
        scope = Scope({**rule.only, **here}, rule.excluded)
        proof = [row] if row["pid"] is not None else trace.partition_by(["pid", "op"], scope, most=_QUOTED)
        lines = _lines_of(trace, *proof) if row["syscall"] else _around_silence(trace, row)
        yield Match(rule, row, row["exclusive_ns"], (scope,), lines)


def _rows(trace: Trace, rule: Rule, table: Table) -> Iterator[Match]:
    """Rows of a table, each by itself or taken together."""
    chosen = table.where(rule.forms.get("where"), reaching=_reaching(trace, rule, table))
    if not rule.group:
        for at, row in chosen:
            yield Match(rule, row, _cost(rule, row), (_claimant(table, [at], row),), _lines_of(trace, row))
        return
    groups: dict[tuple[object, ...], list[tuple[int, Row]]] = {}
    for at, row in chosen:
        groups.setdefault(tuple(row.get(key) for key in ("capture", *rule.group)), []).append((at, row))
    for members in groups.values():
        rows = [row for _, row in members]
        if "keep" in rule.forms and not evaluate_group(rule.forms["keep"], rows):
            continue
        row = together(rows, table.units)
        proof = sorted(rows, key=lambda row: -_cost(rule, row))[:_QUOTED]
        yield Match(
            rule, row, _cost(rule, row), (_claimant(table, [at for at, _ in members], row),), _lines_of(trace, *proof)
        )


def _reaching(trace: Trace, rule: Rule, table: Table) -> Reaching | None:
    """What rows must cost together: what they have in common is worked out for few."""
    if not rule.cost:
        return None
    group = ("capture", *rule.group) if rule.group else ()
    is_summed = not group or _is_amount(rule.cost, 0, table.units)
    return Reaching(rule.cost, group, _least(trace, rule) if is_summed else ())


def _cost(rule: Rule, row: Row) -> int:
    return int(row.get(rule.cost) or 0) if rule.cost else 0


def _claimant(table: Table, rows: list[int], row: Row) -> Claimant:
    if table.knows_events:
        return table, rows
    return Scope({key: [row[key]] for key in _SCOPED if row.get(key) is not None})


def together(rows: Sequence[Row], units: Mapping[str, str]) -> Row:
    """Rows as one: amounts added up, the first and the last line, and what all have in common."""
    if len(rows) == 1:
        return rows[0]
    row: dict[str, Any] = {}
    for key, first in rows[0].items():
        values = [each[key] for each in rows if each[key] is not None]
        if key in ("first_line", "line"):
            row[key] = min(values, default=None)
        elif key in ("last_line", "next_line") or key.startswith(("max_", "longest")):
            row[key] = max(values, default=None)
        elif key.startswith("min_"):
            row[key] = min(values, default=None)
        elif _is_amount(key, first, units):
            row[key] = sum(values) if values else None
        else:
            row[key] = first if all(each[key] == first for each in rows) else None
    return row


def _is_amount(key: str, value: object, units: Mapping[str, str]) -> bool:
    if units.get(key) in _ADDED_UP:
        return not key.startswith(_NOT_ADDED_UP)
    return isinstance(value, int) and not isinstance(value, bool) and units.get(key) == "count"


def _lines_of(trace: Trace, *rows: Row) -> tuple[tuple[str | None, int], ...]:
    places = {(file_of(trace, row), row[key]) for row in rows for key in _LINES if row.get(key)}
    return tuple(sorted(places, key=lambda place: (place[0] or "", place[1])))


def file_of(trace: Trace, row: Row) -> str | None:
    """The file in which a row's lines are counted: a tracer that writes several names each by a task's id."""
    capture = int(row.get("capture") or 0)
    files = trace.captures[capture].files if capture < len(trace.captures) else []
    if len(files) < _SEVERAL:
        return None
    ends = tuple(f".{row[key]}" for key in ("tid", "pid") if row.get(key) is not None)
    return next((file for end in ends for file in files if file.endswith(end)), "")


def _around_silence(trace: Trace, row: Row) -> tuple[tuple[str | None, int], ...]:
    """The messages before and after the longest silence."""
    gaps = trace.gaps_from(row["exclusive_ns"] // max(row["calls"], 1))
    here = (gap for gap in gaps if (gap["capture"], gap["before"]) == (row["capture"], row["target"]))
    longest = max(here, key=lambda gap: gap["dur_ns"], default=None)
    return _lines_of(trace, longest) if longest else ()
