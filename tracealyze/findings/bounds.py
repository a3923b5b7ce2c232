"""Where durations are upper bounds: how much of the time may be the program's own, and on which side of the calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracealyze.base.heuristics import MAX_MEAN_RATIO, MIN_LONGEST_SHARE, MIN_UNPROVEN_SHARE

if TYPE_CHECKING:
    from tracealyze.findings.rule_set import Rule
    from tracealyze.model.capture_input.capture_info import Capture
    from tracealyze.model.table import Row
    from tracealyze.model.trace_tables import TraceTables

_KEYS = ("capture", "pid", "program", "syscall", "op")
_UNPROVEN, _LONGEST, _REFUSED = "unproven_ns", "longest_ns", "refused_ns"


def with_bounds(trace: TraceTables, rule: Rule, row: Row) -> Row:
    """A group of the partition with the part of its time that may be the program's own, and its longest call."""
    capture = trace.capture_of(int(row.get("capture") or 0))
    if not rule.upper_bounds or not rule.group or not row.get("syscall") or not has_upper_bounds(capture):
        return row
    table = trace.table("call_bounds")
    columns = [table.column(key) for key in (*_KEYS, _UNPROVEN, _LONGEST, _REFUSED)]
    wanted = [row.get(key) if key in ("capture", *rule.group) else None for key in _KEYS]
    unproven_ns = longest_ns = refused_ns = 0
    for *keys, unproven, longest, refused in zip(*columns, strict=True):
        if all(want is None or key == want for key, want in zip(keys, wanted, strict=True)):
            unproven_ns += unproven
            refused_ns += refused
            longest_ns = max(longest_ns, longest)
    return {**row, _UNPROVEN: unproven_ns, _LONGEST: longest_ns, _REFUSED: refused_ns}


def has_upper_bounds(capture: Capture | None) -> bool:
    """Whether durations of the capture may include time of the program."""
    return capture is not None and capture.dur_kind == "upper-bound"


def may_be_outside(capture: Capture | None, rule: Rule, row: Row, cost_ns: int, min_ns: float = 0) -> bool:
    """Whether the cost may be mostly the program's own, or what remains may be less than the minimum.

    Nothing shows that the tasks were in these calls."""
    # Loops have the shape of their most expensive call instead.
    syscall = row.get("syscall") or str(row.get("dominant") or "").partition(" ")[0]
    unproven_ns = row.get(_UNPROVEN, cost_ns)
    is_unproven = bool(unproven_ns >= MIN_UNPROVEN_SHARE * cost_ns or unproven_ns > cost_ns - min_ns)
    # A call that usually waits did not, where it failed because it would have blocked.
    waits = syscall in rule.waiting and row.get(_REFUSED, 0) < MIN_UNPROVEN_SHARE * cost_ns
    return has_upper_bounds(capture) and is_unproven and not waits


def derived(capture: Capture | None, rule: Rule, row: Row, cost_ns: int) -> dict[str, Any]:
    """What messages say about it."""
    # Intervals without stamps are those of tracers that print a call when it returns (truss -D).
    side = "after" if capture and capture.stamp == "start" else "before"
    longest_ns = row.get(_LONGEST) or row.get("max_ns") or 0
    is_in_one = (row.get("calls") or 0) > 1 and longest_ns >= MIN_LONGEST_SHARE * cost_ns
    typical_ns = MAX_MEAN_RATIO * (row.get("dominant_p50_ns") or 0) * (row.get("dominant_calls") or 0)
    return {
        "even": (row.get("dominant_ns") or 0) <= typical_ns,
        "exact": not has_upper_bounds(capture),
        "up_to": "up to " if has_upper_bounds(capture) else "",
        "own_side": side if may_be_outside(capture, rule, row, cost_ns) else None,
        # Of a call that is partly on the path, only that part is in the cost.
        "in_one_ns": min(longest_ns, cost_ns) if is_in_one else None,
    }
