"""Tables as pyarrow tables: with times as dates and durations, and as the state of a pickled table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from tracealyze.model.expression.schema import MOMENTS, units_of

if TYPE_CHECKING:
    import pandas
    import pyarrow

_INTEGERS = ("Int32", "Int64", "UInt32", "UInt64")


FrameColumn: TypeAlias = "tuple[str, Any, Any, Any]"
"""Name, values, whether each is missing (if one is), and words: arrays that pyarrow reads. With words, values are their
numbers, -1 for none."""


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


def data_frame_of_columns(columns: Iterable[FrameColumn]) -> pandas.DataFrame:
    """The same from columns that the engine filled. Their memory becomes that of the DataFrame."""
    import pandas

    arrays = {name: _frame_array(values, missing, words) for name, values, missing, words in columns}
    return pandas.DataFrame(arrays, copy=False)


def _frame_array(values: Any, missing: Any, words: Any) -> Any:
    import numpy
    import pandas
    import pyarrow

    numbers = _numpy(values)
    if words is None:
        is_missing = numpy.zeros(len(numbers), bool) if missing is None else _numpy(missing).view(bool)
        return pandas.arrays.IntegerArray(numbers, is_missing)
    # The type that pyarrow makes of these words, even without any.
    none = pyarrow.DictionaryArray.from_arrays(pyarrow.array([], pyarrow.int32()), pyarrow.array(words))
    dtype: Any = none.to_pandas().dtype
    return pandas.Categorical.from_codes(numbers, dtype=dtype, validate=False)


class _Memory:
    """The values of an array without missing ones, as numpy reads and writes them. pyarrow's own view is read-only."""

    def __init__(self, array: Any) -> None:
        import numpy

        dtype = numpy.dtype(array.type.to_pandas_dtype())
        self._array = array
        self.__array_interface__ = {
            "version": 3,
            "shape": (len(array),),
            "typestr": dtype.str,
            "data": (array.buffers()[1].address, False),
        }


def _numpy(values: Any) -> Any:
    import numpy
    import pyarrow

    return numpy.asarray(_Memory(pyarrow.array(values)))


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
