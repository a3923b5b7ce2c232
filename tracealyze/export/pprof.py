"""pprof: a profile for `go tool pprof` and the viewers that read its format, compressed with gzip.

Field numbers are those of profile.proto in https://github.com/google/pprof.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from tracealyze.base.program_names import file_and_line
from tracealyze.base.sanitize import shown
from tracealyze.export.protobuf import content, integer, packed
from tracealyze.export.stacks import Functions, Stack, profile
from tracealyze.findings.basis import Basis
from tracealyze.model.time_names import class_name

if TYPE_CHECKING:
    from tracealyze.trace.trace import Trace

# Profile
_SAMPLE_TYPE, _SAMPLE, _LOCATION, _FUNCTION, _STRING_TABLE = 1, 2, 4, 5, 6
_TIME_NANOS, _DURATION_NANOS, _COMMENT, _DEFAULT_SAMPLE_TYPE = 9, 10, 13, 14
# ValueType
_TYPE, _UNIT = 1, 2
# Sample
_LOCATION_ID, _VALUE, _LABEL = 1, 2, 3
# Label
_KEY, _STR, _NUM = 1, 2, 3
# Location, Line, Function
_ID, _LINE, _FUNCTION_ID, _LINE_NUMBER, _NAME, _FILENAME = 1, 4, 1, 2, 2, 4

_NS = "nanoseconds"


class _Numbers:
    """Texts, or names of functions, with their numbers in order of first use."""

    def __init__(self, first: int) -> None:
        self.known: dict[str, int] = {}
        self._first = first

    def of(self, text: str) -> int:
        """The number of a text."""
        return self.known.setdefault(text, len(self.known) + self._first)


def write(trace: Trace, to: BinaryIO) -> list[str]:
    """Write the partition: wall time and number of calls per piece, with process ids and class as labels."""
    found = profile(trace)
    texts, functions = _Numbers(0), _Numbers(1)
    texts.of("")
    notes = [*found.notes, "The order in time is not in the file."]
    kinds = _kinds(found.basis)
    with gzip.GzipFile(filename="", mode="wb", fileobj=to, mtime=0, compresslevel=6) as packed_file:
        for kind, unit in kinds:
            packed_file.write(content(_SAMPLE_TYPE, integer(_TYPE, texts.of(kind)) + integer(_UNIT, texts.of(unit))))
        for stack in found.stacks():
            packed_file.write(content(_SAMPLE, _sample(stack, len(kinds) == 1, texts, functions)))
        of_stacks = Functions(trace)
        for name, number in functions.known.items():
            packed_file.write(_function(name, number, of_stacks, texts))
        packed_file.write(packed(_COMMENT, [texts.of(note) for note in notes]))
        packed_file.write(_times(trace))
        packed_file.write(integer(_DEFAULT_SAMPLE_TYPE, texts.of(kinds[-1][0])))
        for text in texts.known:
            packed_file.write(content(_STRING_TABLE, text))
    return notes


def _function(name: str, number: int, of_stacks: Functions, texts: _Numbers) -> bytes:
    """A function with its location: one location each, because the order of calls is not that of lines."""
    place = of_stacks.place_of(name)
    file, line = file_and_line(place.source) if place and place.source else ("", 0)
    at = integer(_FUNCTION_ID, number) + (integer(_LINE_NUMBER, line) if line else b"")
    names = integer(_ID, number) + integer(_NAME, texts.of(name))
    names += integer(_FILENAME, texts.of(shown(file))) if file else b""
    return content(_LOCATION, integer(_ID, number) + content(_LINE, at)) + content(_FUNCTION, names)


def _kinds(basis: Basis) -> list[tuple[str, str]]:
    calls = ("calls", "count")
    return {
        Basis.WALL: [calls, ("wall", _NS)],
        Basis.ELAPSED: [calls, ("elapsed", _NS)],
        Basis.COUNTS: [calls],
    }[basis]


def _sample(stack: Stack, counts_only: bool, texts: _Numbers, functions: _Numbers) -> bytes:
    frames = [functions.of(shown(frame)) for frame in reversed(stack.frames)]
    values = [stack.calls] if counts_only else [stack.calls, stack.ns]
    labels = (content(_LABEL, label) for label in _labels(stack, texts))
    return packed(_LOCATION_ID, frames) + packed(_VALUE, values) + b"".join(labels)


def _labels(stack: Stack, texts: _Numbers) -> Iterator[bytes]:
    for key, value in stack.labels.items():
        if key == "resolved":
            if value is False:
                yield integer(_KEY, texts.of("wait")) + integer(_STR, texts.of("ended by nothing in the capture"))
        elif isinstance(value, int):
            # A label of 0 would be absent, which a number of a capture may be.
            if value:
                yield integer(_KEY, texts.of(key)) + integer(_NUM, value)
        elif value:
            yield integer(_KEY, texts.of(key)) + integer(_STR, texts.of(value))
        if key == "class" and value:
            yield integer(_KEY, texts.of("class_name")) + integer(_STR, texts.of(class_name(str(value))))


def _times(trace: Trace) -> bytes:
    window = trace.window
    zero_ns = trace._zero_ns
    start = integer(_TIME_NANOS, window.start_ns + zero_ns) if window.start_ns and zero_ns is not None else b""
    return start + integer(_DURATION_NANOS, window.wall_ns)
