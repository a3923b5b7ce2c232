"""Tables of the engine: whole columns through Arrow, and rows as mappings for small results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from tracealyze import _engine
from tracealyze.base.data_packages import must_have
from tracealyze.base.errors import WrongUsage, did_you_mean
from tracealyze.base.sanitize import HIDDEN_RANGES
from tracealyze.model import arrow_export
from tracealyze.model.engine_errors import translated
from tracealyze.model.expression.schema import units_of
from tracealyze.model.html_tables import ROWS_SHOWN, html_table

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from tracealyze.model.expression import Form

Row: TypeAlias = Mapping[str, Any]

_COLUMNS_SHOWN = 6
_CHUNK_ROWS = 1 << 14


@dataclass(frozen=True)
class MinCost:
    """Rows above 0 in a cost column whose group, or which alone without a group, reach a minimum cost."""

    column: str
    group: Sequence[str] = ()
    by_capture: Sequence[int] = ()
    """The minimum, by number of the capture; none if empty."""


class RowList(list[Row]):
    """Some rows of a table: a list of dictionaries that a notebook shows as a table."""

    def __init__(self, rows: Iterable[Row], units: Mapping[str, str]) -> None:
        super().__init__(rows)
        self.units = units

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a DataFrame. Integer columns are nullable integers, because floats would round times."""
        must_have("pandas", "pyarrow")
        import pyarrow

        return arrow_export.data_frame(pyarrow.Table.from_pylist([dict(row) for row in self]))

    def _repr_html_(self) -> str:
        columns = list(self[0]) if self else []
        return html_table(columns, (list(row.values()) for row in self[:ROWS_SHOWN]), len(self), self.units)


class Table:
    """A table of a trace. pyarrow, polars and DuckDB read it directly, through the Arrow PyCapsule protocol.

    name, columns, units                              what the table contains
    len(table), table["pid"], for row in table        number of rows, a column, rows as dictionaries
    table[0], table[-3:], table[["pid", "calls"]]     a row, some rows, some columns
    where(condition), head(n)                         some rows
    to_pandas(), to_arrow(), to_polars(), to_parquet  all rows for other libraries

    Columns ending in `_ns` are nanoseconds, in `_bytes` bytes, in `_share` fractions from 0 to 1. A missing value is
    None. A table can be pickled.

        >>> import tracealyze
        >>> table = tracealyze.read("samples/ssh-login/ssh-login.truss").processes
        >>> len(table), table["pid"]
        (5, [408, 12186, 12196, 12200, 12203])
        >>> table.where("failed > 100").to_pandas().program.tolist()
        ['/usr/sbin/quota']
    """

    def __init__(
        self, source: _engine.Table, zero_ns: int | None = None, select: Callable[[str], Table] | None = None
    ) -> None:
        self._source = source
        self._zero_ns = zero_ns
        self._select = select

    @property
    def name(self) -> str:
        """The name of the table, as in `tracealyze explain --columns`."""
        return self._source.name

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._source.columns)

    def __len__(self) -> int:
        return len(self._source)

    def __iter__(self) -> Iterator[Row]:
        if self.name in ("events", "partition"):
            return self.dicts()
        columns = self._source.columns
        return (dict(zip(columns, row, strict=True)) for row in self._source.rows())

    def head(self, number: int = 5) -> RowList:
        """Up to `number` first rows. Raises `WrongUsage` if it is negative."""
        if number < 0:
            raise WrongUsage(f"head: {number} rows is not a valid number; give 0 or more.")
        columns = self._source.columns
        return RowList((dict(zip(columns, row, strict=True)) for row in self._source.rows(number)), self.units)

    def pick(self, numbers: Sequence[int]) -> RowList:
        """The rows with these numbers, in that order. Not available for events."""
        columns = self._source.columns
        return RowList((dict(zip(columns, row, strict=True)) for row in self._source.pick(numbers)), self.units)

    def column(self, name: str) -> list[Any]:
        """The values of one column; `table["pid"]` is the same. Raises `WrongUsage` if there is no such column."""
        self._must_have([name])
        return self._source.column(name)

    @overload
    def __getitem__(self, key: str) -> list[Any]: ...
    @overload
    def __getitem__(self, key: int) -> Row: ...
    @overload
    def __getitem__(self, key: slice | list[str]) -> RowList: ...
    def __getitem__(self, key: str | int | slice | list[str]) -> list[Any] | Row | RowList:
        """A column by its name, a row by its number, or some rows or columns."""
        if isinstance(key, str):
            return self.column(key)
        if isinstance(key, list):
            return RowList(self.dicts(key), self.units)
        if isinstance(key, slice):
            return RowList(self._rows_of(key), self.units)
        at = key + len(self) if key < 0 else key
        if not 0 <= at < len(self):
            raise IndexError(f"table {self.name} has {len(self)} rows, and none with the number {key}")
        return next(iter(self._rows_of(slice(at, at + 1))))

    def _rows_of(self, part: slice) -> Iterable[Row]:
        numbers = range(len(self))[part]
        if self.name != "events":
            return self.pick(numbers)
        # Events are not kept as rows: they are made up to the last one that is wanted.
        rows = self.head(max(numbers, default=-1) + 1)
        return [rows[number] for number in numbers]

    def _must_have(self, columns: Iterable[str]) -> None:
        known = self._source.columns
        for name in columns:
            if name not in known:
                hint = did_you_mean(name, known)
                raise WrongUsage(f'table {self.name}: there is no column "{name}" ({", ".join(known)}).{hint}')

    @property
    def knows_events(self) -> bool:
        """Whether each row knows its events, so that it can claim path time."""
        return self._source.knows_events

    @property
    def units(self) -> Mapping[str, str]:
        """Units of the columns: ns, bytes, share, count, or empty."""
        return units_of(self.name)

    def where(self, condition: str) -> RowList:
        """The rows that meet a condition such as `"calls > 100 and failed > 0"`.

        Conditions are those of `--where`, on the columns of this table. Raises `WrongUsage` for a mistake in one."""
        if self._select is not None:
            events = self._select(condition)
            return events.head(len(events))
        return RowList((row for _, row in self.matching(condition)), self.units)

    def matching(self, condition: str | Form = "", *, min_cost: MinCost | None = None) -> Iterator[tuple[int, Row]]:
        """The rows that meet a condition and a minimum cost, with their numbers. Not available for events."""
        if self.name == "events":
            raise WrongUsage("filter events with trace.select(where=…); their table is not held in memory.")
        numbers: Iterable[int] = range(len(self))
        if isinstance(condition, str) and condition:
            from tracealyze.model import expression

            condition = expression.parse(condition, self.name, kind="condition").for_engine()
        if condition:
            numbers = translated(lambda: self._source.where(condition))
        numbers = list(numbers)
        if min_cost:
            numbers = self._source.reaching(numbers, min_cost.column, min_cost.group, min_cost.by_capture)
        return zip(numbers, self.pick(numbers), strict=True)

    def dicts(self, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """The rows as dictionaries with these columns, or all of them; only a part of them is in memory at a time.

        Raises `WrongUsage` if there is no such column."""
        self._must_have(columns or ())
        return self._dicts(self.columns if columns is None else columns)

    def _dicts(self, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
        if self.name == "events":
            for batch in arrow_export.batches(self):
                yield from batch.select(list(columns)).to_pylist()
            return
        for start in range(0, len(self), _CHUNK_ROWS):
            rows = self._source.part_of(columns, start, start + _CHUNK_ROWS)
            yield from (dict(zip(columns, row, strict=True)) for row in rows)

    def json(self, columns: Sequence[str]) -> Iterator[str]:
        """The rows as JSON objects with these members, in chunks of text. Not available for events."""
        for start in range(0, len(self), _CHUNK_ROWS):
            yield self._source.json(columns, HIDDEN_RANGES, start, start + _CHUNK_ROWS)

    def json_lines(self, write: Callable[[bytes], object]) -> None:
        """Hand over all rows as JSON objects, one per line, a piece at a time."""
        self._source.json_lines(HIDDEN_RANGES, write)

    def to_arrow(self, *, times: bool = False) -> pyarrow.Table:
        """The table as a pyarrow table.

        With `times`, columns in nanoseconds become columns of times, without the ending `_ns`. Durations are Arrow
        durations. Points in time are dates (UTC) if the capture's clock has a date, otherwise durations since its
        zero.

            >>> import tracealyze
            >>> table = tracealyze.read("samples/ssh-login/ssh-login.truss").processes
            >>> table.to_arrow(times=True)["birth"][0].as_py().isoformat()
            '2009-11-23T23:55:35.070800+00:00'
        """
        must_have("pyarrow")
        table = arrow_export.arrow_table(self)
        return arrow_export.with_times(table, self.name, self._zero_ns) if times else table

    def to_pandas(self, *, times: bool = False) -> pandas.DataFrame:
        """The table as a DataFrame. Integer columns are nullable integers, because floats would round times.

        With `times`, as for `to_arrow`, columns in nanoseconds become columns of type datetime and timedelta."""
        must_have("numpy", "pandas", "pyarrow")
        columns = None if times or not len(self) else self._source.frame_columns()
        if columns is None:
            return arrow_export.data_frame(self.to_arrow(times=times))
        return arrow_export.data_frame_of_columns(columns)

    def to_polars(self, *, times: bool = False) -> Any:
        """The table as a polars DataFrame; `times` as for `to_arrow`. Raises `ImportError` without polars."""
        from importlib import import_module

        # Polars is not a dependency, so type checkers may not find it.
        return import_module("polars").from_arrow(self.to_arrow(times=times))

    def to_parquet(self, path: str | PathLike[str], *, times: bool = False) -> None:
        """Write the table to a Parquet file; `times` as for `to_arrow`."""
        must_have("pyarrow")
        from pyarrow import parquet

        parquet.write_table(self.to_arrow(times=times), fspath(path))

    def __arrow_c_schema__(self) -> object:
        return self._source.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._source.__arrow_c_stream__(requested_schema)

    def __reduce__(self) -> tuple[object, ...]:
        must_have("pyarrow")
        return _stored, (self.name, arrow_export.to_bytes(self), self._zero_ns)

    def __repr__(self) -> str:
        columns = self.columns
        more = f", … ({len(columns)} columns)" if len(columns) > _COLUMNS_SHOWN else ""
        rows = "1 row" if len(self) == 1 else f"{len(self)} rows"
        return f"<Table {self.name}: {rows}; {', '.join(columns[:_COLUMNS_SHOWN])}{more}>"

    def _repr_html_(self) -> str:
        return html_table(self.columns, self._source.rows(ROWS_SHOWN), len(self), self.units)


def _stored(name: str, content: bytes, zero_ns: int | None) -> Table:
    """A table that was pickled."""
    return Table(_engine.Table.of_columns(name, arrow_export.columns_of_bytes(content)), zero_ns)
