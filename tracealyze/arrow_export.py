"""Tables as pyarrow tables: with times as dates and durations, and as the state of a pickled table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

from tracealyze.schema import MOMENTS, units_of

if TYPE_CHECKING:
    import pandas
    import pyarrow

_INTEGERS = ("Int32", "Int64", "UInt32", "UInt64")


class Streamed(Protocol):
    """Anything that provides its rows through the Arrow PyCapsule protocol."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


def batches(table: Streamed) -> Iterator[pyarrow.RecordBatch]:
    """The rows of a table, one batch in memory at a time."""
    import pyarrow

    yield from pyarrow.RecordBatchReader.from_stream(table)


def arrow_table(table: Streamed) -> pyarrow.Table:
    """The whole table, each text column with one dictionary."""
    import pyarrow

    whole = pyarrow.table(table)
    # Events come with one dictionary for all their batches. Looking at its texts again takes longer than all the rest.
    return whole if all(map(_has_one_dictionary, whole.columns)) else whole.unify_dictionaries()


def _has_one_dictionary(column: pyarrow.ChunkedArray[Any]) -> bool:
    import pyarrow

    if not pyarrow.types.is_dictionary(column.type):
        return True
    texts = [chunk.dictionary for chunk in column.chunks if isinstance(chunk, pyarrow.DictionaryArray)]
    return len({_addresses(each) for each in texts}) < 2


def _addresses(array: Any) -> tuple[int, ...]:
    """Where the values of an array are in memory: the same for arrays that share them."""
    return tuple(buffer.address for buffer in array.buffers() if buffer)


def with_times(table: pyarrow.Table, name: str, zero_ns: int | None) -> pyarrow.Table:
    """The table with columns of times instead of nanoseconds: `start_ns` becomes `start`, `dur_ns` becomes `dur`.

    Points in time are dates (UTC) if `zero_ns`, the date of the clock's zero, is known. Otherwise they are durations
    since that zero, as are all other columns in nanoseconds."""
    import pyarrow
    import pyarrow.compute

    duration = pyarrow.duration("ns")
    units = units_of(name)
    for number, column in enumerate(table.column_names):
        if units.get(column) != "ns":
            continue
        values: pyarrow.ChunkedArray[Any] = table.column(number).cast(pyarrow.int64())
        if column in MOMENTS and zero_ns is not None:
            values = pyarrow.compute.add(values, zero_ns).cast(pyarrow.timestamp("ns", tz="UTC"))
        else:
            values = values.cast(duration)
        table = table.set_column(number, column.removesuffix("_ns"), values)
    return table


def data_frame(table: pyarrow.Table) -> pandas.DataFrame:
    """The table as a DataFrame with nullable integers."""
    import pandas
    import pyarrow

    whole = {getattr(pyarrow, name.lower())(): getattr(pandas, f"{name}Dtype")() for name in _INTEGERS}
    return table.to_pandas(types_mapper=whole.get)


def data_frame_of_batches(table: Streamed, rows: int) -> pandas.DataFrame | None:
    """The same for a table of integers and texts, filled batch by batch: joining and copying an Arrow table takes up to
    twice the memory.

    `rows` is the number of rows. None if the table is empty, has other columns, or if its batches do not share the
    dictionaries of their texts; then only `data_frame` can make it."""
    import pandas
    import pyarrow

    reader = pyarrow.RecordBatchReader.from_stream(table)
    types = [field.type for field in reader.schema]
    if rows == 0 or not all(pyarrow.types.is_integer(each) or pyarrow.types.is_dictionary(each) for each in types):
        return None
    columns: list[_Column] = []
    begin = 0
    for batch in reader:
        columns = columns or [_Column(values, rows) for values in batch.columns]
        if not all(column.fits(values) for column, values in zip(columns, batch.columns, strict=True)):
            return None
        for column, values in zip(columns, batch.columns, strict=True):
            column.fill(begin, values)
        begin += batch.num_rows
    arrays = (column.array(begin) for column in columns)
    return pandas.DataFrame(dict(zip(reader.schema.names, arrays, strict=True)), copy=False)


class _Column:
    """A column of a DataFrame while it is filled: integers with a mask, or the codes of texts."""

    def __init__(self, first: Any, rows: int) -> None:
        import numpy
        import pyarrow

        self._texts = _addresses(first.dictionary) if pyarrow.types.is_dictionary(first.type) else None
        # As pyarrow makes it, also where there are no texts.
        self._categories = first.slice(0, 0).to_pandas().dtype if pyarrow.types.is_dictionary(first.type) else None
        if self._categories is None:
            self._values = numpy.empty(rows, first.type.to_pandas_dtype())
            self._is_null = numpy.zeros(rows, bool)
        else:
            self._values = numpy.empty(rows, numpy.min_scalar_type(-max(len(first.dictionary), 1)))

    def fits(self, values: Any) -> bool:
        """Whether the codes of a batch stand for the same texts."""
        return self._texts is None or _addresses(values.dictionary) == self._texts

    def fill(self, begin: int, values: Any) -> None:
        """Set the values of a batch from this row on."""
        import numpy

        if self._categories is not None:
            values = values.indices
        part = slice(begin, begin + len(values))
        raw = numpy.frombuffer(values.buffers()[1], values.type.to_pandas_dtype(), len(values), _offset(values))
        self._values[part] = raw
        if values.null_count:
            is_null = values.is_null().to_numpy(zero_copy_only=False)
            if self._categories is None:
                self._is_null[part] = is_null
            else:
                self._values[part][is_null] = -1

    def array(self, rows: int) -> Any:
        """The first rows as an array of pandas."""
        import pandas

        if self._categories is None:
            return pandas.arrays.IntegerArray(self._values[:rows], self._is_null[:rows])
        return pandas.Categorical.from_codes(self._values[:rows], dtype=self._categories, validate=False)


def _offset(values: Any) -> int:
    return int(values.offset) * int(values.type.bit_width) // 8


def to_bytes(table: Streamed) -> bytes:
    """The table in the Arrow IPC format."""
    import pyarrow

    whole = arrow_table(table)
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, whole.schema) as writer:
        writer.write_table(whole)
    return sink.getvalue().to_pybytes()


def columns_of_bytes(stored: bytes) -> list[tuple[str, list[Any]]]:
    """The columns of a table in the Arrow IPC format."""
    import pyarrow

    table = pyarrow.ipc.open_stream(stored).read_all()
    return [(name, table.column(number).to_pylist()) for number, name in enumerate(table.column_names)]
