"""Tables of the engine: columns for programs, rows for what is small."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from tracealyze import _engine
from tracealyze.engine_errors import answered
from tracealyze.errors import WrongUsage, did_you_mean
from tracealyze.sanitize import HIDDEN_RANGES, shown
from tracealyze.schema import SCHEMA

if TYPE_CHECKING:
    import pandas

    from tracealyze.expression import Form

Row: TypeAlias = Mapping[str, Any]

_ROWS_SHOWN = 20
_ROWS_AT_ONCE = 1 << 14
_INTEGERS = ("Int32", "Int64", "UInt32", "UInt64")


@dataclass(frozen=True)
class Reaching:
    """Rows above 0 in a column, of which those that agree in some others, or each alone, reach so much there."""

    cost: str
    group: Sequence[str] = ()
    least: Sequence[int] = ()
    """By number of the capture."""


class Table:
    """A table of the engine. pyarrow, polars and DuckDB take it as it is, through the Arrow PyCapsule protocol."""

    def __init__(self, source: _engine.Table) -> None:
        self._source = source

    @property
    def name(self) -> str:
        """What it is a table of."""
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
        """The first rows, at most so many."""
        if number < 0:
            raise WrongUsage(f"head: there cannot be {number} rows.")
        columns = self._source.columns
        return [dict(zip(columns, row, strict=True)) for row in self._source.rows(number)]

    def pick(self, numbers: Sequence[int]) -> list[Row]:
        """The rows with these numbers, in that order. Not of events."""
        columns = self._source.columns
        return [dict(zip(columns, row, strict=True)) for row in self._source.pick(numbers)]

    def column(self, name: str) -> list[Any]:
        """The values of one column."""
        if name not in self._source.columns:
            known = ", ".join(self._source.columns)
            hint = did_you_mean(name, self._source.columns)
            raise WrongUsage(f'table {self.name}: there is no column "{name}" ({known}).{hint}')
        return self._source.column(name)

    @property
    def knows_events(self) -> bool:
        """Whether rows know the events behind them, so that they can claim time on the path."""
        return self._source.knows_events

    @property
    def units(self) -> Mapping[str, str]:
        """Units of the columns: ns, bytes, share, count, or empty."""
        return _units_of(self.name)

    def where(self, condition: str | Form = "", *, reaching: Reaching | None = None) -> Iterator[tuple[int, Row]]:
        """Rows that meet a condition, with their numbers; of these only those that cost enough."""
        if self.name == "events":
            raise WrongUsage("events are chosen with trace.select(where=…); their table is not kept.")
        numbers: Iterable[int] = range(len(self))
        if isinstance(condition, str) and condition:
            from tracealyze import expression

            condition = expression.parse(condition, self.name, kind="condition").for_engine()
        if condition:
            numbers = answered(lambda: self._source.where(condition))
        numbers = list(numbers)
        if reaching:
            numbers = self._source.reaching(numbers, reaching.cost, reaching.group, reaching.least)
        return zip(numbers, self.pick(numbers), strict=True)

    def dicts(self, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
        """The rows with these columns only; of a long table, few are in memory at a time. Not of events."""
        for start in range(0, len(self), _ROWS_AT_ONCE):
            rows = self._source.part_of(columns, start, start + _ROWS_AT_ONCE)
            yield from (dict(zip(columns, row, strict=True)) for row in rows)

    def json(self, columns: Sequence[str]) -> Iterator[str]:
        """The rows as JSON objects with these members, in pieces. Not of events."""
        for start in range(0, len(self), _ROWS_AT_ONCE):
            yield self._source.json(columns, HIDDEN_RANGES, start, start + _ROWS_AT_ONCE)

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a DataFrame. Integers may be missing and stay integers: a float would round times."""
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
