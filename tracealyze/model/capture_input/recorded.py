"""What `record` stores in a capture about how it was made: JSON in skippable frames of zstd."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from tracealyze import _engine
from tracealyze.base import units
from tracealyze.base.sanitize import shown
from tracealyze.model.capture_input.attached import AttachedState

if TYPE_CHECKING:
    from tracealyze.model.capture_input.capture_info import Capture

_MAGIC = 0x184D2A5C
_HEAD = struct.Struct("<II")
_TAIL = struct.Struct("<I8s")
_MARK = b"tlzemeta"
_MAX_BYTES = 1 << 20
_MAX_LABELS = 8
_LARGEST_TIME = 1 << 62


@dataclass(frozen=True)
class Recorded:
    """How `record` made a capture. Fields that a file lacks, or has in another type, are empty."""

    profile: str = ""
    tracer: str = ""
    flags: list[Any] = field(default_factory=list)
    kernel: str = ""
    cores: int = 0
    overhead_ns: int = 0
    """Median time that a traced call took, measured before the capture; 0 if unknown."""
    untraced_ns: int = 0
    """How long the command took without the tracer (`record --untraced`); 0 if it was not run."""
    ended: str = ""
    """Why the capture ended; empty if `record` was killed."""
    dropped_parts: int = 0
    """Number of parts at the beginning that the ring has dropped."""
    ended_ns: int = 0
    """When the tracer let go of the processes that still lived, since 1970; 0 if all exited, or if it is unknown."""
    labels: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Recorded:
        """From metadata, of which nothing is trusted."""
        empty = cls()
        known: dict[str, Any] = {
            each.name: facts[each.name]
            for each in fields(cls)
            if type(facts.get(each.name)) is type(getattr(empty, each.name))
        }
        return cls(**known)

    @property
    def is_light(self) -> bool:
        """Whether perf recorded the calls (`record --light`)."""
        return self.tracer.startswith("perf ")

    @property
    def has_durations(self) -> bool:
        """Whether the tracer printed durations, which a capture of open calls only does not show."""
        if self.is_light:
            return True
        return any(str(flag) == "-T" or str(flag).startswith("--syscall-times") for flag in self.flags)

    def sentence(self) -> str:
        """For the report."""
        parts = [f"profile {self.profile or 'unknown'}", self.tracer.replace(" -- version", "")]
        parts += [f"{units.duration(self.overhead_ns)} per traced call"] if self.overhead_ns > 0 else []
        parts += [units.counted(self.cores, "core")] if self.cores > 0 else []
        parts += [f"{key}={value}" for key, value in list(self.labels.items())[:_MAX_LABELS]]
        end = f" It was ended by {self.ended}." if self.ended not in ("", "exit") else ""
        end = end or ("" if self.ended else " The recording was killed: its last second may be missing.")
        dropped = " Only the last part was kept (--ring)." if self.dropped_parts else ""
        return shown(f"Recorded with {', '.join(filter(None, parts))}.{end}{dropped}")


def recorded(capture: Capture) -> Recorded | None:
    """How a capture was made, if `record` made it and the file can still be read."""
    facts = facts_of(capture.files or [capture.path])
    return Recorded.of(facts) if facts else None


def attached_state(capture: Capture) -> AttachedState | None:
    """What `record` saw of the traced processes apart from their calls, if the tracer let go of them."""
    return AttachedState.of(facts_of(capture.files or [capture.path]))


def facts_of(files: Sequence[str]) -> dict[str, Any]:
    """The metadata of a capture; empty if it has none, or if the file cannot be read."""
    if len(files) != 1 or not os.path.isfile(files[0]):
        return {}
    try:
        return read_metadata(files[0])
    except OSError:
        return {}


EngineFacts: TypeAlias = (
    "tuple[int | None, bool, list[tuple[int, int]], list[tuple[int, bytes, bytes]], list[tuple[int, int]], "
    "int | None] | None"
)


def facts_for_engine(captures: Iterable[Sequence[str]]) -> list[EngineFacts]:
    """What the engine is to know of each capture besides its lines: the end of tracing, whether there are durations,
    the processes of threads, what these ran, their parents, and how long the command took without the tracer. None for
    captures that `record` did not make, or whose recording was killed."""
    return [_for_engine(facts_of(files)) for files in captures]


def _for_engine(facts: Mapping[str, Any]) -> EngineFacts:
    made = Recorded.of(facts)
    if not made.ended:
        return None
    state = AttachedState.of(facts)
    threads, programs, parents = (state.threads(), state.programs(), state.parents()) if state else ([], [], [])
    untraced_ns = made.untraced_ns if 0 < made.untraced_ns < _LARGEST_TIME else None
    return state.ended_ns if state else None, made.has_durations, threads, programs, parents, untraced_ns


Scheduling: TypeAlias = "tuple[str, bytes | None]"
"""A source of scheduler events: the name of a file, and the content if it is not the file itself."""


def recorded_scheduling(captures: Iterable[Sequence[str]]) -> list[Scheduling]:
    """The scheduler events that `record` stored in captures, and those of captures that are perf.data."""
    found = ((files[0], _scheduling(files[0])) for files in captures if facts_of(files).get("sched_bytes"))
    packed: list[Scheduling] = [(path, content) for path, content in found if content]
    return packed + [(file, None) for files in captures for file in files if _engine.has_scheduling(file)]


def recording_without_events(path: str) -> str:
    """What a file is that has no more than the metadata of `record`; empty if it has none, or cannot be read."""
    if not facts_of([path]):
        return ""
    return (
        "the recording has no events, only how it was made: it was killed before it wrote its first part, which takes "
        "a second. Record again, and end the recording with Ctrl-C or --for."
    )


def metadata_frame(facts: Mapping[str, Any]) -> bytes:
    """A frame that readers of zstd step over."""
    text = json.dumps(facts).encode()
    return _HEAD.pack(_MAGIC, len(text) + _TAIL.size) + text + _TAIL.pack(len(text), _MARK)


def read_metadata(path: str) -> dict[str, Any]:
    """The facts at the beginning, updated by those at the end; empty for captures made otherwise."""
    with open(path, "rb") as file:
        facts = _first_facts(file)
        if facts:
            facts |= _last_facts(file)
    return facts


def _first_facts(file: BinaryIO) -> dict[str, Any]:
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return {}
    magic, size = _HEAD.unpack(head)
    if magic != _MAGIC or not _TAIL.size <= size <= _MAX_BYTES:
        return {}
    body = file.read(size)
    return _facts(body[: -_TAIL.size]) if body.endswith(_MARK) else {}


def _last_facts(file: BinaryIO) -> dict[str, Any]:
    end = file.seek(0, os.SEEK_END)
    file.seek(end - _TAIL.size)
    size, mark = _TAIL.unpack(file.read(_TAIL.size))
    if mark != _MARK or not 0 < size <= min(_MAX_BYTES, end - _TAIL.size):
        return {}
    file.seek(end - _TAIL.size - size)
    return _facts(file.read(size))


def scheduling_frame(packed: bytes) -> bytes:
    """Scheduler events as a frame that readers of zstd step over. Metadata with their size has to follow."""
    return _HEAD.pack(_MAGIC, len(packed)) + packed


def _scheduling(path: str) -> bytes:
    """The packed scheduler events: the frame before the last metadata."""
    with open(path, "rb") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(end - _TAIL.size)
        facts_bytes, _ = _TAIL.unpack(file.read(_TAIL.size))
        size = _last_facts(file).get("sched_bytes")
        before = end - _TAIL.size - facts_bytes - _HEAD.size
        if not isinstance(size, int) or not 0 < size <= before - _HEAD.size:
            return b""
        file.seek(before - size - _HEAD.size)
        return file.read(size) if _HEAD.unpack(file.read(_HEAD.size)) == (_MAGIC, size) else b""


def _facts(text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
        if b"\\u" in text:
            # An escape may stand for half of a character, which no text may contain.
            found = json.loads(json.dumps(found, ensure_ascii=False).encode(errors="replace"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
