"""jsonl: one event per line, as a JSON object with the columns of the table of events."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from tracealyze.model import arrow_export

if TYPE_CHECKING:
    from tracealyze.model.arrow_export import Streamed
    from tracealyze.trace.trace import Trace


_ROWS = 1 << 13
"""Number of rows that are text at a time."""
NOTES = ("Only events: arguments, the critical path and findings are not in the file.",)


def write(trace: Trace, to: BinaryIO) -> Sequence[str]:
    """Write the events in the order of the capture; only a part of them is in memory at a time."""
    write_events(trace.events, to)
    return NOTES


def write_events(events: Streamed, to: BinaryIO) -> None:
    """Write rows of the table of events, as they come."""
    escaped = _EscapedTexts()
    for batch in arrow_export.batches(events):
        for first in range(0, batch.num_rows, _ROWS):
            to.write(_lines(batch.slice(first, _ROWS), escaped))


class _EscapedTexts:
    """The texts of dictionaries as JSON, by column. Batches share their dictionaries, so each is escaped once."""

    def __init__(self) -> None:
        # The dictionary is kept, so that no other one takes its place in memory.
        self._known: dict[str, tuple[Any, Any, Any]] = {}

    def of(self, name: str, dictionary: Any) -> Any:
        """The escaped texts of the dictionary of a column."""
        import pyarrow

        addresses = [buffer.address for buffer in dictionary.buffers() if buffer]
        known = self._known.get(name)
        if known is None or known[0] != addresses:
            texts = pyarrow.array([json.dumps(text) for text in dictionary.to_pylist()], pyarrow.string())
            known = self._known[name] = (addresses, dictionary, texts)
        return known[2]


def _lines(batch: Any, escaped: _EscapedTexts) -> Any:
    """The rows of a batch as bytes."""
    import pyarrow.compute

    if not batch.num_rows:
        return b""
    parts: list[Any] = []
    for number, name in enumerate(batch.schema.names):
        parts += [f"{',' if number else '{'}{json.dumps(name)}:", json_values(name, batch.column(number), escaped)]
    joined = pyarrow.compute.binary_join_element_wise(*parts, "}\n", "")
    return contents(joined)


def json_values(name: str, column: Any, escaped: _EscapedTexts) -> Any:
    """The values of a column as JSON texts."""
    import pyarrow
    import pyarrow.compute

    if pyarrow.types.is_dictionary(column.type):
        column = escaped.of(name, column.dictionary).take(column.indices)
    return pyarrow.compute.fill_null(column.cast(pyarrow.string()), "null")


def contents(texts: Any) -> Any:
    """The texts of a column, one after the other, without a copy."""
    import numpy

    offsets, data = texts.buffers()[1:3]
    bounds = numpy.frombuffer(offsets, dtype=numpy.int32)[texts.offset : texts.offset + len(texts) + 1]
    return memoryview(data)[bounds[0] : bounds[-1]] if data is not None else b""
