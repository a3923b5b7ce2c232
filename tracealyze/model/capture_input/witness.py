"""What scheduler events of the kernel show about the critical path, next to the lines of a capture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class PathTime:
    """Time on the critical path, by what its tasks did according to the kernel."""

    ns: int
    cpu_ns: int
    """They ran."""
    ready_ns: int
    """They could have run, and other threads had the processors."""
    blocked_ns: int
    """They waited; outside of calls for memory that they touched."""
    tracing_ns: int
    """The tracer had stopped them, or ran instead of them."""
    unknown_ns: int
    """No event covers this."""
    faults: int
    """Pages that the kernel had to give them."""


@dataclass(frozen=True)
class ProcessTime(PathTime):
    """The same of one process, outside of calls."""

    pid: int | None
    program: str | None


@dataclass(frozen=True)
class SchedulingEvents:
    """A recording of scheduler events."""

    capture: int
    events: int
    lost: int
    """Number of events that were lost. Waits at these moments are inferred."""
    offset_ns: int
    """What was added to its times."""
    clock: str
    """printed: the recording contains the offset of its clock. inferred: it follows from starts and ends of tasks."""
    compared: int
    """Starts and ends of tasks that are in both."""
    fitting: int
    """Those that fit."""


@dataclass(frozen=True)
class Witness:
    """The critical path according to the kernel."""

    outside: PathTime
    """Outside of calls."""
    inside: PathTime
    """In calls."""
    ran_instead: list[tuple[str, int]]
    """Names of threads that had the processors when tasks of the path could have run, with the time."""
    processes: list[ProcessTime]
    recordings: list[SchedulingEvents]

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Witness:
        """From the dictionary of the engine."""
        return cls(
            PathTime(**found["outside"]),
            PathTime(**found["inside"]),
            found["ran_instead"],
            sorted((ProcessTime(**each) for each in found["processes"]), key=lambda each: -each.ns),
            [SchedulingEvents(**each) for each in found["recordings"]],
        )

    def document(self) -> dict[str, Any]:
        """As in JSON, with the largest processes."""
        return asdict(self) | {"processes": [asdict(each) for each in self.processes[:_MAX_PROCESSES]]}


_MAX_PROCESSES = 50
