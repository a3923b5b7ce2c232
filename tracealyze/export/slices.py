"""Calls as slices on the tracks of their threads, for programs that draw a timeline.

Calls of a thread do not overlap, except in damaged captures: then the later call is on a second track. Of a large
trace, neighboring short calls of a thread are one slice that has their number and the sum of their times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tracealyze.base import units
from tracealyze.model import arrow_export

if TYPE_CHECKING:
    from tracealyze.trace.trace import Trace

MAX_SLICES = 2_000_000
"""Calls that are slices of their own. Perfetto needs about 250 bytes of memory for each."""
_MAX_MERGED = 10_000
"""Calls in one merged slice, so that a long row of short calls stays visible in time."""
_FACTS = ("target", "ret", "errno", "line", "function", "source")
_COLUMNS = ("task", "start_ns", "dur_ns", "kind", "syscall", "op", *_FACTS)


@dataclass
class Slice:
    """A call, or several short ones. Times are those of the capture, in nanoseconds."""

    task: int
    start_ns: int
    end_ns: int
    name: str
    total_ns: int
    """Time in calls; less than the length of a merged slice."""
    calls: int = 1
    is_overlapping: bool = False
    """Whether it starts within an earlier call of the same thread and ends after it."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Target, result, error and line of a single call."""


@dataclass(frozen=True)
class Slices:
    """The calls of a trace as slices."""

    trace: Trace
    max_slices: int = MAX_SLICES

    @property
    def min_ns(self) -> int:
        """Calls below this length are merged with their neighbors; 0 if there are few enough."""
        if self.trace.totals["calls"] <= self.max_slices:
            return 0
        import pyarrow
        import pyarrow.compute

        parts = [pyarrow.compute.drop_null(batch.column("dur_ns")) for batch in arrow_export.batches(self.trace.events)]
        lengths = pyarrow.concat_arrays([part for part in parts if len(part)])
        share = 1 - self.max_slices / 2 / max(len(lengths), 1)
        return int(pyarrow.compute.quantile(lengths, share)[0].as_py()) + 1

    def __iter__(self) -> Iterator[Slice]:
        """The slices, each thread's in order of time."""
        min_ns = self.min_ns
        pending: dict[int, Slice] = {}
        ends: dict[int, int] = {}
        for row in self._calls():
            found = _slice(row)
            task = found.task
            found.is_overlapping = found.start_ns < ends.get(task, found.start_ns) < found.end_ns
            ends[task] = max(ends.get(task, found.end_ns), found.end_ns)
            if min_ns and found.total_ns < min_ns and not found.is_overlapping:
                earlier = pending.get(task)
                if earlier is not None and earlier.calls < _MAX_MERGED:
                    _merge(earlier, found)
                    continue
                pending[task] = found
                if earlier is not None:
                    yield earlier
                continue
            if task in pending:
                yield pending.pop(task)
            yield found
        yield from pending.values()

    def _calls(self) -> Iterator[dict[str, Any]]:
        for batch in arrow_export.batches(self.trace.events):
            for row in batch.select(list(_COLUMNS)).to_pylist():
                if row["kind"] == "call" and row["start_ns"] is not None and row["dur_ns"] is not None:
                    yield row

    @property
    def notes(self) -> list[str]:
        """What the slices leave out."""
        notes = ["Only calls with a start and a duration are slices."]
        if min_ns := self.min_ns:
            notes.append(
                f"Neighboring calls below {units.duration(min_ns)} are merged, with their number and their time."
            )
        return notes


def _slice(row: dict[str, Any]) -> Slice:
    name = " ".join(part for part in (row["syscall"], row["op"]) if part) or "?"
    facts = {key: row[key] for key in _FACTS if row[key] is not None}
    return Slice(row["task"], row["start_ns"], row["start_ns"] + row["dur_ns"], name, row["dur_ns"], facts=facts)


def _merge(into: Slice, other: Slice) -> None:
    """Add a later call of the same thread."""
    kind = into.facts.get("kind", into.name)
    kind = kind if kind == other.name else "calls"
    into.calls += 1
    into.name = f"{into.calls} × {kind}"
    into.total_ns += other.total_ns
    into.end_ns = max(into.end_ns, other.end_ns)
    into.facts = {"kind": kind, "calls": into.calls, "total_ns": into.total_ns, "line": into.facts["line"]}
