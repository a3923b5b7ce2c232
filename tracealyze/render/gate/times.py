"""Counts and hyperfine's times of both sides, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.sanitize import shown
from tracealyze.compare.gate.timing import Times, Timing

if TYPE_CHECKING:
    from tracealyze.compare.gate.verdict import Verdict

_COUNTS = {"syscalls": "calls", "processes": "processes", "files opened": "opens"}


def lines(verdict: Verdict) -> Iterator[str]:
    """A row per number: times first, because the counts explain them."""
    times = verdict.times
    if times is None:
        return
    yield f"Times of hyperfine ({shown(times.file)}), without a tracer. They do not decide."
    rows = [("time", _side(times.before), _side(times.after), _change(times))]
    rows += [(name, *_counts(verdict, metric)) for name, metric in _COUNTS.items() if metric in verdict.after]
    widths = [max(len(row[at]) for row in rows) for at in range(3)]
    for name, before, after, change in rows:
        arrow = "→" if any(row[1] for row in rows) else " "
        line = f"  {name:<{widths[0]}}  {before:>{widths[1]}} {arrow} {after:>{widths[2]}}  {change}"
        yield line.rstrip()


def in_a_cell(verdict: Verdict) -> str:
    """`2.05 ms ± 0.22 ms → 3.90 ms ± 0.04 ms`; a dash without times."""
    times = verdict.times
    sides = [_side(each) for each in (times.before, times.after) if each] if times else []
    return " → ".join(sides) or "–"


def _side(timing: Timing | None) -> str:
    if timing is None:
        return ""
    deviation = f" ± {units.duration(timing.stddev_ns, units.US)}" if timing.stddev_ns else ""
    return f"{units.duration(timing.mean_ns, units.US)}{deviation}"


def _change(times: Times) -> str:
    if times.ratio is None:
        return ""
    ratio, deviation = times.ratio
    if abs(ratio - 1) <= deviation:
        return "no difference beyond the deviation"
    return f"{ratio:.2f} ± {deviation:.2f} times as long" if deviation else f"{ratio:.2f} times as long"


def _counts(verdict: Verdict, metric: str) -> tuple[str, str, str]:
    before, after = verdict.before.get(metric), verdict.after[metric].median
    if before is None:
        return "", units.count(after), ""
    then = before.median
    change = f"{after / then:.2f} times as many" if then and after != then else ""
    return units.count(then), units.count(after), change
