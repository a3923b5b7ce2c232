"""jsonl: one event per line, as a JSON object with the columns of the table of events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, BinaryIO, Protocol

if TYPE_CHECKING:
    from tracealyze.trace.trace import Trace

NOTES = ("Only events: arguments, the critical path and findings are not in the file.",)


class Rows(Protocol):
    """Rows that can be written as they come; only a part of them is in memory at a time."""

    def json_lines(self, write: Callable[[bytes], object]) -> None: ...


def write(trace: Trace, to: BinaryIO) -> Sequence[str]:
    """Write the events in the order of the capture."""
    return write_events(trace.events, to)


def write_events(events: Rows, to: BinaryIO) -> Sequence[str]:
    """Write rows of the table of events. Returns what the file leaves out, as sentences."""
    events.json_lines(to.write)
    return NOTES
