"""Matching: the rows of a table that meet a rule's conditions, grouped as the rule requires."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from tracealyze.base import units
from tracealyze.base.heuristics import MIN_COST_TICKS, MIN_LIMITED_SHARE
from tracealyze.findings.basis import Basis, Whole, basis_of, whole_of, whole_of_table
from tracealyze.findings.bounds import with_bounds
from tracealyze.model.claims import Claim, TableRows
from tracealyze.model.expression.evaluation import evaluate_group
from tracealyze.model.expression.schema import TABLES, merges_of
from tracealyze.model.selection import Scope, Threshold
from tracealyze.model.table import MinCost

if TYPE_CHECKING:
    from tracealyze.findings.rule_set import Rule
    from tracealyze.model.capture_input.capture_info import Capture
    from tracealyze.model.expression import Form
    from tracealyze.model.table import Row, Table
    from tracealyze.model.trace_tables import TraceTables

Line: TypeAlias = tuple[str | None, int]
"""A file, or None if the capture has only one, and a line in it."""

_SCOPE_KEYS = ("capture", "pid", "tid", "program", "class", "syscall", "op", "target")
_CALL_KEYS = ("program", "pid", "tid", "task", "syscall", "op", "shape", "target", "errno", "outcome")
# Those of them that are columns of events, too.
_EVENT_KEYS = {"program", "pid", "tid", "syscall", "op", "target", "errno", "outcome"}
_LINES = ("first_line", "last_line", "line", "next_line")
# Columns with this ending hold the path time of a row, or a part of it.
PATH_TIME = "exclusive_ns"
_WITHIN = ("row", "process", "program", "capture")
_MAX_PROOFS = 2
_MAX_SPANNED = 64
_MAX_NAMES = 8

_OF_TRACER = "summary_rows"
"""The rows of tables that the tracer printed."""
_WINDOW = Whole()


@dataclass(frozen=True)
class Match:
    """A row that meets a rule's conditions, or a group of such rows merged into one."""

    rule: Rule
    row: Row
    cost_ns: int
    claims: tuple[Claim, ...]
    lines: tuple[Line, ...]
    """The evidence."""
    extent: tuple[Line, ...] = ()
    """The first and the last line of each row, of the costliest ones: together they span all of it."""
    whole: Whole = _WINDOW
    """What its cost is a share of."""

    @property
    def basis(self) -> Basis:
        """What it rests on."""
        return self.whole.basis

    @property
    def capture(self) -> int:
        """Number of the capture."""
        return int(self.row.get("capture") or 0)

    @property
    def is_outside(self) -> bool:
        """Whether its cost precedes the window, so that it is not a share of it."""
        return self.row.get("outside_ns") is not None

    def tick_ns(self, capture: Capture) -> int:
        """Resolution of its times.

        Exact durations place calls within the ticks of a coarse clock, so times of calls are as fine as the durations.
        """
        if self.basis is not Basis.WALL and not capture.has.get("durations"):
            # Requested times, which are lower bounds of durations, are exact.
            return units.US
        # Only timestamps measure the time between calls.
        is_between = TABLES[self.rule.table].times == "gaps"
        return capture.tick_ns if is_between else capture.dur_tick_ns or capture.tick_ns


def tables_of(trace: TraceTables, rules: Sequence[Rule]) -> dict[str, Table]:
    """The tables that these rules use, with all rows that can match one of them."""
    by_table: dict[str, list[Rule]] = {}
    for rule in rules:
        by_table.setdefault(rule.table, []).append(rule)
    by_table.pop("partition", None)
    users = by_table.pop("calls", None)
    # Rules may use any key of calls, so each row is about one task and one shape.
    calls = {"calls": trace.calls_matching(_CALL_KEYS, _any_of(users))} if users else {}
    return calls | trace.tables({name: _threshold(trace, users) for name, users in by_table.items()})


def _any_of(rules: Sequence[Rule]) -> Form | None:
    """A condition on single calls that all rows of these rules meet; None if there is none."""
    conditions = [_on_events(form) for rule in rules for form in _conditions(rule)]
    known = [condition for condition in conditions if condition]
    if len(known) < len(conditions):
        return None
    return known[0] if len(known) == 1 else ("or", *known)


def _conditions(rule: Rule) -> list[Form | None]:
    all_forms = (each.forms.get("where") for each in (rule, *rule.counted))
    return list({repr(form): form for form in all_forms}.values())


def _on_events(form: Form | None) -> Form | None:
    """The part of a condition on rows that concerns only keys of calls, so that it holds for each call of a row."""
    if not isinstance(form, list | tuple):
        return None
    if form[0] == "and":
        parts = [part for part in map(_on_events, form[1:]) if part]
        return ("and", *parts) if len(parts) > 1 else next(iter(parts), None)
    return form if _columns(form) <= _EVENT_KEYS else None


def _columns(form: Form) -> set[str]:
    """The columns that a form uses."""
    if not isinstance(form, list | tuple) or not form:
        return set()
    return {form[1]} if form[0] == "column" else set().union(*map(_columns, form[1:]))


def _threshold(trace: TraceTables, rules: Sequence[Rule]) -> Threshold | None:
    """The minimum path time of a group of rows that can match one of these rules."""
    if not all(rule.cost.endswith(PATH_TIME) for rule in rules) or _counts(trace, rules):
        return None
    widest = max((_within(rule) for rule in rules), key=_WITHIN.index)
    return Threshold(widest, tuple(_min_costs_ns(trace, rules)))


def _counts(trace: TraceTables, rules: Sequence[Rule]) -> bool:
    """Whether rules have to count calls in a capture, so that rows without time matter."""
    numbers = trace.capture_numbers
    return any(
        _is_counted(trace, rule, counted, number) for rule in rules for counted in rule.counted for number in numbers
    )


def _is_counted(trace: TraceTables, rule: Rule, counted: Rule, number: int) -> bool:
    """Whether a rule counts calls in this capture: it has no window, or one that is below the threshold of time."""
    if counted.always or basis_of(trace, number) is not Basis.WALL:
        return True
    return counted.short_windows and trace.wall_ns_of(number) < rule.at_least.total_ns


def _within(rule: Rule) -> str:
    """The widest range of rows that one group of the rule may span."""
    if not rule.group:
        return "row"
    return "process" if "pid" in rule.group else "program" if "program" in rule.group else "capture"


def _min_costs_ns(trace: TraceTables, rules: Sequence[Rule]) -> list[int]:
    """The minimum cost of a match of any of these rules, by number of the capture, up to the last one selected."""
    numbers, least = trace.capture_numbers, [rule.at_least for rule in rules]
    # Of time without idling, only a part of the window is known here.
    shares = [(each.total_ns, 0.0 if each.busy_share else each.share) for each in least]
    costs_ns = [
        min(max(total_ns, math.ceil(share * trace.walls_ns[number])) for total_ns, share in shares)
        for number in numbers
    ]
    return [0] * numbers.start + costs_ns


def matches(trace: TraceTables, rule: Rule, tables: Mapping[str, Table]) -> Iterator[Match]:
    """The matches of a rule that reach its thresholds."""
    table = tables.get(rule.table)
    if table is not None and not len(table):
        # Most tables of a short interval have no rows, and a filter has its price.
        return
    found = _pieces(trace, rule) if table is None else _rows(trace, rule, table)
    by_cost = set()
    for match in found:
        whole = _whole(trace, rule, match)
        if _reaches_thresholds(trace, rule, replace(match, whole=whole)):
            row = with_bounds(trace, rule, match.row) if table is None else match.row
            if match.cost_ns < rule.at_least.share * whole.ns and (busy_ns := _busy_ns(trace, rule, match)):
                row = {**row, "busy_share": match.cost_ns / busy_ns}
            by_cost.add(match.capture)
            yield replace(match, row=row, whole=whole)
    seen: set[tuple[object, ...]] = set()
    for counted in rule.counted if _counts(trace, [rule]) else ():
        for match in _counted(trace, rule, counted, table, by_cost):
            group = (match.capture, *(match.row.get(key) for key in rule.group), match.lines if not rule.group else ())
            if group not in seen:
                seen.add(group)
                yield match


def _whole(trace: TraceTables, rule: Rule, match: Match) -> Whole:
    """What the cost of a match is a share of."""
    if rule.table == _OF_TRACER:
        return whole_of_table(trace, match.capture)
    return whole_of(trace, match.row, _basis(trace, rule, match))


def _basis(trace: TraceTables, rule: Rule, match: Match) -> Basis:
    """The basis of a match by its cost. Lower bounds of durations and time before the window are elapsed time."""
    basis = basis_of(trace, match.capture)
    if match.is_outside:
        return Basis.ELAPSED
    return Basis.ELAPSED if basis is Basis.COUNTS and rule.cost and match.cost_ns else basis


def _reaches_thresholds(trace: TraceTables, rule: Rule, match: Match) -> bool:
    minimum = rule.at_least
    if match.basis is not Basis.WALL and rule.needs_window:
        return False
    if rule.needs_durations and basis_of(trace, match.capture) is Basis.COUNTS:
        return False
    resolved_ns = 0 if _is_limited(match) else MIN_COST_TICKS * tick_ns(trace, match)
    whole_ns = match.whole.ns or _least_wall_ns(trace, match)
    share_ns = minimum.share * whole_ns
    if match.cost_ns < share_ns and (busy_ns := _busy_ns(trace, rule, match)):
        share_ns = minimum.busy_share * busy_ns
    min_ns = max(minimum.total_ns, share_ns, resolved_ns)
    if rule.cost and (match.cost_ns <= 0 or match.cost_ns < min_ns):
        return False
    return not minimum.count or (match.row.get(rule.count) or 0) >= minimum.count


def _busy_ns(trace: TraceTables, rule: Rule, match: Match) -> int:
    """The window of a match without the time in which a server was idle; 0 if the rule does not use it."""
    if not rule.at_least.busy_share or match.basis is not Basis.WALL:
        return 0
    return trace.busy_walls_ns.get(match.capture, 0)


def _least_wall_ns(trace: TraceTables, match: Match) -> int:
    """A lower bound of the length of a capture whose costs are lower bounds, too."""
    return trace.least_walls_ns.get(match.capture, 0) if match.basis is Basis.ELAPSED and match.cost_ns else 0


def _is_limited(match: Match) -> bool:
    """Whether its cost follows from the time limits of its waits, so that a coarse clock does not matter."""
    limits_ns = (match.row.get("requested_ns") or 0) * (match.row.get("expired") or 0)
    return bool(limits_ns) and limits_ns >= MIN_LIMITED_SHARE * match.cost_ns


def _counted(trace: TraceTables, full: Rule, rule: Rule, table: Table | None, by_cost: set[int]) -> Iterator[Match]:
    """The matches by numbers of calls, in captures without a window that have none by cost.

    Durations that are small, or of a few quoted lines, do not make many calls in a row less remarkable."""
    for match in _pieces(trace, rule, Basis.COUNTS) if table is None else _rows(trace, rule, table):
        if match.capture not in by_cost and _is_counted(trace, full, rule, match.capture):
            whole = whole_of(trace, match.row, Basis.COUNTS)
            count = match.row.get(rule.count) or 0
            least = [minimum for minimum in (rule.at_least, rule.quoted) if minimum]
            if any(count >= max(minimum.count, minimum.share * whole.calls, 1) for minimum in least):
                yield replace(match, whole=whole)


def tick_ns(trace: TraceTables, match: Match) -> int:
    """Resolution of the match's times; 0 if unknown."""
    capture = trace.capture_of(match.capture)
    return match.tick_ns(capture) if capture else 0


def _pieces(trace: TraceTables, rule: Rule, basis: Basis = Basis.ELAPSED) -> Iterator[Match]:
    """Groups of the partition, or of calls where there is no window: by their elapsed times, or by their numbers."""
    group = tuple(dict.fromkeys(("capture", *(rule.group or _SCOPE_KEYS))))
    shortest_ns = min((window.wall_ns for window in trace.windows), default=0)
    min_ns = max(rule.at_least.total_ns, int(rule.at_least.share * shortest_ns))
    table = trace.partition_by(group, Scope(rule.only, rule.excluded), min_ns=min_ns, basis=basis)
    for _, row in table.matching(rule.forms.get("where")):
        if "keep" in rule.forms and not evaluate_group(rule.forms["keep"], [row]):
            continue
        here = {key: [row[key]] for key in group}
        scope = Scope({**rule.only, **here}, rule.excluded)
        proof = (
            [row]
            if row["pid"] is not None
            else trace.partition_by(["pid", "op"], scope, limit=_MAX_PROOFS, basis=basis)
        )
        lines = _lines_of(trace, *proof) if row["syscall"] else _around_silence(trace, row)
        yield Match(rule, row, row["exclusive_ns"], (scope,), lines, _lines_of(trace, *proof))


def _rows(trace: TraceTables, rule: Rule, table: Table) -> Iterator[Match]:
    """Rows of a table, one by one or grouped."""
    only = trace.selection.capture
    all_rows = table.matching(rule.forms.get("where"), min_cost=_min_cost(trace, rule))
    # Some tables have a row per capture, whatever the selection.
    found = ((number, row) for number, row in all_rows if only is None or row.get("capture") in (None, only))
    if not rule.group:
        for number, row in found:
            lines = _lines_of(trace, row)
            yield Match(rule, row, _cost(rule, row), (_claim(table, [number], row),), lines, lines)
        return
    groups: dict[tuple[object, ...], list[tuple[int, Row]]] = {}
    for number, row in found:
        groups.setdefault(tuple(row.get(key) for key in ("capture", *rule.group)), []).append((number, row))
    for members in groups.values():
        rows = [row for _, row in members]
        if "keep" in rule.forms and not evaluate_group(rule.forms["keep"], rows):
            continue
        row = merged(rows, merges_of(rule.table))
        proof = sorted(rows, key=lambda row: -_cost(rule, row))
        claim = _claim(table, [number for number, _ in members], row)
        lines = _lines_of(trace, *proof[:_MAX_PROOFS])
        yield Match(rule, row, _cost(rule, row), (claim,), lines, _lines_of(trace, *proof[:_MAX_SPANNED]))


def _min_cost(trace: TraceTables, rule: Rule) -> MinCost | None:
    """The minimum cost of a group, so that the engine filters and only few groups are merged here."""
    if not rule.cost:
        return None
    group = ("capture", *rule.group) if rule.group else ()
    is_summed = (not group or merges_of(rule.table)[rule.cost] == "sum") and rule.table != _OF_TRACER
    return MinCost(rule.cost, group, _min_costs_ns(trace, [rule]) if is_summed else ())


def _cost(rule: Rule, row: Row) -> int:
    return int(row.get(rule.cost) or 0) if rule.cost else 0


def _claim(table: Table, numbers: list[int], row: Row) -> Claim:
    if table.knows_events:
        return TableRows(table, numbers)
    return Scope({key: [row[key]] for key in _SCOPE_KEYS if row.get(key) is not None})


def merged(rows: Sequence[Row], merges: Mapping[str, str]) -> Row:
    """Rows merged into one, each column as its table declares."""
    if len(rows) == 1:
        return rows[0]
    return {key: _MERGERS[merges[key]]([row[key] for row in rows]) for key in rows[0]}


def _of_known(merge: Callable[[list[Any]], Any]) -> Callable[[Sequence[Any]], Any]:
    """Merges the values that are not missing; missing if there are none."""

    def merged_known(values: Sequence[Any]) -> Any:
        known = [value for value in values if value is not None]
        return merge(known) if known else None

    return merged_known


def _same(values: Sequence[Any]) -> Any:
    return values[0] if all(value == values[0] for value in values) else None


def _union(lists: Sequence[list[str]]) -> list[str]:
    return list(dict.fromkeys(name for names in lists for name in names))[:_MAX_NAMES]


_MERGERS: Mapping[str, Callable[[Sequence[Any]], Any]] = {
    "same": _same,
    "sum": _of_known(sum),
    "min": _of_known(min),
    "max": _of_known(max),
    "union": _union,
}


def _lines_of(trace: TraceTables, *rows: Row) -> tuple[Line, ...]:
    places = {(file_of(trace, row), row[key]) for row in rows for key in _LINES if row.get(key)}
    return tuple(sorted(places, key=lambda place: (place[0] or "", place[1])))


def file_of(trace: TraceTables, row: Row) -> str | None:
    """The file that a row's line numbers refer to: a tracer that writes several appends a task's id to each name.

    None if the capture has one file, an empty text if no name fits."""
    capture = int(row.get("capture") or 0)
    files = trace.captures[capture].files if capture < len(trace.captures) else []
    if len(files) <= 1:
        return None
    ends = tuple(f".{row[key]}" for key in ("tid", "pid") if row.get(key) is not None)
    return next((file for end in ends for file in files if file.endswith(end)), "")


def _around_silence(trace: TraceTables, row: Row) -> tuple[Line, ...]:
    """The messages before and after the longest silence of a log."""
    gaps = trace.gaps_from(row["exclusive_ns"] // max(row["calls"], 1))
    here = (gap for gap in gaps if (gap["capture"], gap["before"]) == (row["capture"], row["target"]))
    longest = max(here, key=lambda gap: gap["dur_ns"], default=None)
    return _lines_of(trace, longest) if longest else ()
