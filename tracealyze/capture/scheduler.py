"""Scheduler events of the kernel, recorded by perf beside the tracer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tracealyze import _engine
from tracealyze.base.errors import UnusableInput
from tracealyze.capture.obstacles import CannotTrace
from tracealyze.capture.perf import PerfRecording
from tracealyze.model.engine_errors import translated

EVENTS = (
    *("sched:sched_switch", "sched:sched_waking", "sched:sched_process_fork"),
    *("sched:sched_process_exec", "sched:sched_process_exit"),
)

_BUFFER = "1M"
"""Per processor. At 100,000 events a second, of 100 bytes each, it is full after 100 ms."""


@dataclass
class SchedulerRecording:
    """perf, which records all processors until it is ended."""

    _perf: PerfRecording

    @classmethod
    def begin(cls) -> SchedulerRecording:
        """Start perf. Returns when it records.

        Raises `CannotTrace` with the cure if perf is missing or not permitted."""
        return cls(PerfRecording.begin(EVENTS, ["-a"], _BUFFER, "scheduler events"))

    def end(self) -> bytes:
        """End perf. Returns the events that the capture needs, packed; empty if there are none."""
        self.stop()
        return self.packed()

    def stop(self) -> None:
        """End perf. `packed` has to follow."""
        self._perf.stop()

    def packed(self, tids: Sequence[int] = ()) -> bytes:
        """The events that the capture needs, packed; empty if there are none. What perf recorded is removed.

        Without `tids`, the threads of the capture are those that a tracer stopped."""
        try:
            return translated(lambda: _engine.pack_scheduling(self._perf.file, list(tids)))
        except UnusableInput:
            return b""
        finally:
            self._perf.remove()

    def discard(self) -> None:
        """End perf, and remove what it recorded."""
        self._perf.stop()
        self._perf.remove()


def works() -> CannotTrace | None:
    """Whether scheduler events can be recorded here; if not, why."""
    try:
        SchedulerRecording.begin().discard()
    except CannotTrace as refusal:
        return refusal
    return None
