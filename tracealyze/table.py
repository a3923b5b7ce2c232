"""Tables of the engine: whole columns through Arrow, and rows as mappings for small results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from tracealyze import _engine
from tracealyze.engine_errors import translated
from tracealyze.errors import WrongUsage, did_you_mean
from tracealyze.sanitize import HIDDEN_RANGES, shown
from tracealyze.schema import SCHEMA

if TYPE_CHECKING:
    import pandas

    from tracealyze.expression import Form

Row: TypeAlias = Mapping[str, Any]

_ROWS_SHOWN = 20
_CHUNK_ROWS = 1 << 14
_INTEGERS = ("Int32", "Int64", "UInt32", "UInt64")


@dataclass(frozen=True)
class MinCost:
    """Rows above 0 in a cost column whose group, or which alone without a group, reach a minimum cost."""

    column: str
    group: Sequence[str] = ()
    by_capture: Sequence[int] = ()
    """The minimum, by number of the capture; none if empty."""


class Table:
    """A table of the engine. pyarrow, polars and DuckDB read it directly, through the Arrow PyCapsule protocol.

    Columns ending in `_ns` are nanoseconds, in `_bytes` bytes, in `_share` fractions from 0 to 1. A missing value is
    None."""

    def __init__(self, source: _engine.Table) -> None:
        self._source = source

    @property
    def name(self) -> str:
        """The name of the table, as in `tracealyze rules --columns`."""
        return self._source.name

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._source.columns)

    def __len__(self) -> int:
        return len(self._source)

    def __iter__(self) -> Iterator[Row]:
        columns = self._source.columns
        if self.name == "partition":
            return self.dicts(columns)
        return (dict(zip(columns, row, strict=True)) for row in self._source.rows())

    def head(self, number: int) -> list[Row]:
        """Up to `number` first rows."""
        if number < 0:
            raise WrongUsage(f"head: {number} rows is not a valid number; give 0 or more.")
        columns = self._source.columns
        return [dict(zip(columns, row, strict=True)) for row in self._source.rows(number)]

    def pick(self, numbers: Sequence[int]) -> list[Row]:
        """The rows with these numbers, in that order. Not available for events."""
        columns = self._source.columns
        return [dict(zip(columns, row, strict=True)) for row in self._source.pick(numbers)]

    def column(self, name: str) -> list[Any]:
        """The values of one column. Raises `WrongUsage` if there is no such column."""
        if name not in self._source.columns:
            known = ", ".join(self._source.columns)
            hint = did_you_mean(name, self._source.columns)
            raise WrongUsage(f'table {self.name}: there is no column "{name}" ({known}).{hint}')
        return self._source.column(name)

    @property
    def knows_events(self) -> bool:
        """Whether each row knows its events, so that it can claim path time."""
        return self._source.knows_events

    @property
    def units(self) -> Mapping[str, str]:
        """Units of the columns: ns, bytes, share, count, or empty."""
        return _units_of(self.name)

    def where(self, condition: str | Form = "", *, min_cost: MinCost | None = None) -> Iterator[tuple[int, Row]]:
        """The rows that meet a condition and a minimum cost, with their numbers. Not available for events."""
        if self.name == "events":
            raise WrongUsage("filter events with trace.select(where=…); their table is not held in memory.")
        numbers: Iterable[int] = range(len(self))
        if isinstance(condition, str) and condition:
            from tracealyze import expression

            condition = expression.parse(condition, self.name, kind="condition").for_engine()
        if condition:
            numbers = translated(lambda: self._source.where(condition))
        numbers = list(numbers)
        if min_cost:
            numbers = self._source.reaching(numbers, min_cost.column, min_cost.group, min_cost.by_capture)
        return zip(numbers, self.pick(numbers), strict=True)

    def dicts(self, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
        """The rows with these columns only, a chunk in memory at a time. Not available for events."""
        for start in range(0, len(self), _CHUNK_ROWS):
            rows = self._source.part_of(columns, start, start + _CHUNK_ROWS)
            yield from (dict(zip(columns, row, strict=True)) for row in rows)

    def json(self, columns: Sequence[str]) -> Iterator[str]:
        """The rows as JSON objects with these members, in chunks of text. Not available for events."""
        for start in range(0, len(self), _CHUNK_ROWS):
            yield self._source.json(columns, HIDDEN_RANGES, start, start + _CHUNK_ROWS)

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a DataFrame. Integer columns are nullable integers: floats would round times."""
        import pandas
        import pyarrow

        whole = {getattr(pyarrow, name.lower())(): getattr(pandas, f"{name}Dtype")() for name in _INTEGERS}
        return pyarrow.table(self).to_pandas(types_mapper=whole.get)

    def __arrow_c_schema__(self) -> object:
        return self._source.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._source.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<tracealyze table {self.name}: {len(self)} rows; {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        import html

        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        cells = (
            (f"<td>{html.escape('' if value is None else shown(value))}</td>" for value in row)
            for row in self._source.rows(_ROWS_SHOWN)
        )
        rows = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
        more = f"<caption>first {_ROWS_SHOWN} of {len(self)} rows</caption>" if len(self) > _ROWS_SHOWN else ""
        return f"<table>{more}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


@cache
def _units_of(table: str) -> Mapping[str, str]:
    counts = {
        name
        for known, name, kind, unit, _ in SCHEMA
        if known == table and kind == "i64" and not unit and not name.endswith("line")
    }
    return {name: "count" if name in counts else unit for known, name, _, unit, _ in SCHEMA if known == table}
