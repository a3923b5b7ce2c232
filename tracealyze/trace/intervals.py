"""Intervals: a window in equal parts, with the calls, the critical path and the findings of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from tracealyze.base import units
from tracealyze.base.errors import UnusableInput, WrongUsage
from tracealyze.base.heuristics import MAX_INTERVALS

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding
    from tracealyze.model.table import Row
    from tracealyze.trace.trace import Trace


Group: TypeAlias = tuple[str | None, str | None]
"""Program and name of calls."""


@dataclass
class Interval:
    """A part of a window."""

    number: int
    start_ns: int
    """On the capture's clock."""
    dur_ns: int
    calls: list[Row] = field(default_factory=list)
    """The calls that end in it by program and name, the largest total first: program, syscall, calls, failed, total_ns,
    p50_ns, p99_ns, max_ns, first_line."""
    path: list[Row] = field(default_factory=list)
    """Its part of the critical path, the largest first: program, class, tag, syscall, exclusive_ns."""
    findings: list[Finding] = field(default_factory=list)
    """What `summarize --from --to` finds in it."""
    new: list[Finding] = field(default_factory=list)
    """Those that the interval before does not have."""
    gone: list[Finding] = field(default_factory=list)
    """Those of the interval before that it does not have."""

    @property
    def end_ns(self) -> int:
        """Its end."""
        return self.start_ns + self.dur_ns

    @property
    def path_of_calls(self) -> Counter[Group]:
        """The time on its critical path by program and name of the call."""
        sums: Counter[Group] = Counter()
        for row in self.path:
            sums[row["program"], row["syscall"]] += row["exclusive_ns"]
        return sums

    @property
    def total_calls(self) -> int:
        """Number of calls, or messages of a log."""
        return sum(row["calls"] for row in self.calls)

    @property
    def failed_calls(self) -> int:
        """Number of failed calls."""
        return sum(row["failed"] for row in self.calls)

    def document(self, first_ns: int) -> dict[str, object]:
        """As JSON."""
        return {
            "start_ns": self.start_ns,
            "offset_ns": self.start_ns - first_ns,
            "dur_ns": self.dur_ns,
            "calls": self.total_calls,
            "failed": self.failed_calls,
            "path": [_without_number(row) for row in self.path],
            "groups": [_without_number(row) for row in self.calls],
            "findings": [each.document() for each in self.findings],
            "new": [each.fingerprint for each in self.new],
            "gone": [each.fingerprint for each in self.gone],
        }


def read_every(text: str) -> int:
    """The length of intervals as a user writes it, such as 10s."""
    every_ns = units.read_duration(text)
    if every_ns <= 0:
        raise WrongUsage(f"--every {text}: an interval must have a length, such as 10s.")
    return every_ns


def intervals(trace: Trace, every_ns: int, *, with_findings: bool = True) -> list[Interval]:
    """The window of a trace of one capture in intervals of this length; the last one may be shorter.

    The parts of the critical path sum to the window.

    Raises:
        WrongUsage: The intervals would be too many.
        UnusableInput: The capture has no clock that is common to its processes."""
    window = trace.window
    if window.start_ns is None or window.reason is not None:
        file = trace.captures[0].path if trace.captures else "the capture"
        raise UnusableInput(f"{file}: intervals need the time of each line. Record with: strace -f -ttt -T")
    number = max(-(-window.wall_ns // every_ns), 1)
    if number > MAX_INTERVALS:
        least = units.duration(-(-window.wall_ns // MAX_INTERVALS))
        raise WrongUsage(
            f"--every {units.duration(every_ns)}: {units.duration(window.wall_ns)} would be {units.count(number)} "
            f"intervals. Use at least {least}, or choose a part with --from and --to."
        )
    found = [
        Interval(at, start_ns, min(every_ns, window.start_ns + window.wall_ns - start_ns))
        for at, start_ns in ((at, window.start_ns + at * every_ns) for at in range(number))
    ]
    calls, path = trace.intervals_of(every_ns)
    for row in calls:
        found[row["interval"]].calls.append(row)
    for row in path:
        found[row["interval"]].path.append(row)
    if with_findings:
        _find(trace, found)
    return found


def _find(trace: Trace, found: Sequence[Interval]) -> None:
    """What each interval has of its own: its window is the interval."""
    before: dict[str, Finding] = {}
    for interval in found:
        interval.findings = list(part_of(trace, interval).findings)
        if 2 * interval.dur_ns < found[0].dur_ns:
            # The rest at the end is too short to miss something.
            continue
        now = {each.fingerprint: each for each in interval.findings}
        interval.new = [each for name, each in now.items() if name not in before]
        interval.gone = [each for name, each in before.items() if name not in now]
        before = now


def part_of(trace: Trace, interval: Interval) -> Trace:
    """The events of an interval."""
    first_ns = trace.first_ns
    return trace.between(units.offset(interval.start_ns - first_ns), units.offset(interval.end_ns - first_ns))


def _without_number(row: Row) -> dict[str, object]:
    return {name: row[name] for name in row if name != "interval"}


def groups_of(found: Sequence[Interval]) -> Iterator[Group]:
    """Program and name of all calls, those with the most time on the critical path first, then the longest total."""
    path_ns: Counter[Group] = Counter()
    total_ns: Counter[Group] = Counter()
    for interval in found:
        path_ns.update(interval.path_of_calls)
        for row in interval.calls:
            total_ns[row["program"], row["syscall"]] += row["total_ns"] or 0
    yield from sorted(total_ns, key=lambda key: (-path_ns[key], -total_ns[key]))
