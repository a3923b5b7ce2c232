"""A listing: rows with named columns, and its output forms. Programs get names and raw numbers, people get units."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, assert_never

from tracealyze.base import units
from tracealyze.base.sanitize import shown
from tracealyze.render import output
from tracealyze.render.forms import Form
from tracealyze.render.terminal import Strip, Terminal

if TYPE_CHECKING:
    from tracealyze.model.table import Row


# What a spreadsheet computes. A signed number and a login shell (-sh) have no value but themselves.
_FORMULA = re.compile(r"[=@＝＠]|[+\-＋－](?!(?:\d+(?:\.\d*)?|[A-Za-z]+)$)")


@dataclass(frozen=True)
class Column:
    """A column: its name for programs, its heading for people."""

    name: str
    heading: str
    min_width: int = 0
    """The minimum width, if the terminal is narrow; 0 means that the column is never truncated."""
    drop_order: int = 0
    """Columns with a higher number are omitted first in a narrow terminal; 0 is never omitted."""
    right: bool = False
    """Whether texts are right-aligned, as numbers are."""

    @property
    def is_number(self) -> bool:
        """Whether values are right-aligned."""
        return self.right or self.name.endswith(("_ns", "share", "pid", "tid")) or self.name in _COUNTS


_AS_THEY_ARE = frozenset(("line", "first_line", "ret", "exit_code"))
_COUNTS = _AS_THEY_ARE | {"calls", "failed", "turns", "period", "bytes", "threads", "signals", "distinct_targets"}


@dataclass(frozen=True)
class Listing:
    """Rows with columns."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    tick_ns: int = 1
    moments: frozenset[str] = field(default_factory=frozenset)
    """Columns with times since the start of the capture, in the form that --from takes: +1.5809."""

    def heading(self, column: Column) -> str:
        """The heading, with the unit of the column."""
        unit = self._shower(column)[0]
        return f"{column.heading.removesuffix('_ns')} {unit}" if unit else column.heading

    def has_values(self, column: Column) -> bool:
        """Whether a column has any value; a time of 0 does not count."""
        values = (row.get(column.name) for row in self.rows)
        return any(value if column.name.endswith("_ns") else value is not None for value in values)

    @property
    def filled(self) -> list[Column]:
        """The columns with values; all columns if there are no rows."""
        return [column for column in self.columns if not self.rows or self.has_values(column)]

    def cells(self, column: Column) -> list[str]:
        """The values as text."""
        show = self._shower(column)[1]
        return [show(row.get(column.name)) for row in self.rows]

    def _shower(self, column: Column) -> tuple[str, Callable[[Any], str]]:
        if column.name in self.moments:
            return "s", lambda value: "" if value is None else units.offset(value, self.tick_ns)
        if column.name.endswith("_ns"):
            return units.durations((row.get(column.name) for row in self.rows), self.tick_ns)
        if column.name.endswith("share"):
            return "", lambda value: "" if value is None else units.share(value)
        if column.name in _COUNTS and column.name not in _AS_THEY_ARE:
            return "", lambda value: "" if value is None else units.count(value)
        return "", lambda value: "" if value is None else shown(value)


def strips(listing: Listing) -> list[Strip]:
    """The columns as texts, without empty ones."""
    return [
        Strip(listing.heading(column), listing.cells(column), column.is_number, column.min_width, column.drop_order)
        for column in listing.filled
    ]


def _as_table(listing: Listing) -> None:
    Terminal().table(strips(listing))


def _as_json(listing: Listing) -> None:
    from tracealyze.render import json

    json.write([{column.name: row.get(column.name) for column in listing.columns} for row in listing.rows])


def _as_csv(listing: Listing) -> None:
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in listing.columns])
    writer.writerows([csv_cell(row.get(column.name)) for column in listing.columns] for row in listing.rows)
    output.write(text.getvalue())


def csv_cell(value: object) -> object:
    """A value of a CSV file: texts without control characters, escaped if a spreadsheet would read a formula.

    Several texts are one JSON list."""
    if isinstance(value, list | tuple):
        from tracealyze.render import json

        return json.text(value, indent=None)
    if not isinstance(value, str):
        return value
    text = shown(value)
    return f"'{text}" if _FORMULA.match(text) else text


def _as_markdown(listing: Listing) -> None:
    write_markdown(listing, listing.columns)


def write_markdown(listing: Listing, columns: Sequence[Column]) -> None:
    """Columns of a listing as a markdown table."""
    lines = [" | ".join(listing.heading(column) for column in columns)]
    lines.append(" | ".join("---:" if column.is_number else "---" for column in columns))
    cells = zip(*(listing.cells(column) for column in columns), strict=True)
    lines.extend(" | ".join(markdown_cell(cell) for cell in row) for row in cells)
    output.write("".join(f"| {line} |\n" for line in lines))


def markdown_cell(text: str) -> str:
    """A text escaped for markdown, including markup and HTML."""
    for character in "\\`*_|[]":
        text = text.replace(character, f"\\{character}")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def write_listing(listing: Listing, form: Form) -> None:
    """Write a listing in an output form."""
    match form:
        case Form.TABLE:
            _as_table(listing)
        case Form.JSON:
            _as_json(listing)
        case Form.CSV:
            _as_csv(listing)
        case Form.MARKDOWN:
            _as_markdown(listing)
        case _:
            assert_never(form)
