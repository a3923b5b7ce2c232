"""A listing: rows under named columns, and its forms. Programs get names and raw numbers, people headings and units."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tracealyze import units
from tracealyze.render import json, output
from tracealyze.render.text import Symbols, shown, symbols

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from tracealyze.trace import Row


@dataclass(frozen=True)
class Column:
    """A column: its name for programs, its heading for people."""

    name: str
    heading: str
    wide: bool = False
    """Whether it takes the width that is left."""

    @property
    def is_number(self) -> bool:
        """Whether values are set to the right."""
        return self.name.endswith(("_ns", "share", "pid", "tid")) or self.name in _COUNTS


_COUNTS = frozenset(["calls", "failed", "turns", "period", "bytes", "threads", "line", "ret", "exit_code", "signals"])
_AS_THEY_ARE = frozenset(("line", "ret", "exit_code"))


@dataclass(frozen=True)
class Listing:
    """Rows under columns."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    tick_ns: int = 1
    moments: frozenset[str] = field(default_factory=frozenset)
    """Columns whose times are points in time, not lengths."""

    def heading(self, column: Column) -> str:
        """The heading, with the unit if the column has one."""
        unit = self._shower(column)[0]
        return f"{column.heading} {unit}".strip()

    def cells(self, column: Column) -> list[str]:
        """The values as people read them."""
        show = self._shower(column)[1]
        return [show(row.get(column.name)) for row in self.rows]

    def _shower(self, column: Column) -> tuple[str, Callable[[Any], str]]:
        if column.name in self.moments:
            return "s", lambda value: "" if value is None else units.moment(value, self.tick_ns)
        if column.name.endswith("_ns"):
            return units.durations((row.get(column.name) for row in self.rows), self.tick_ns)
        if column.name.endswith("share"):
            return "", lambda value: "" if value is None else units.share(value)
        if column.name in _COUNTS and column.name not in _AS_THEY_ARE:
            return "", lambda value: "" if value is None else units.count(value)
        return "", lambda value: "" if value is None else shown(value)


def rich_table(listing: Listing, drawn: Symbols) -> RichTable:
    """The listing for a terminal."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", expand=False)
    for column in listing.columns:
        table.add_column(
            Text(drawn.plain(listing.heading(column))),
            justify="right" if column.is_number else "left",
            no_wrap=True,
            overflow=drawn.overflow,
            min_width=None if column.wide else _widest(listing, column, drawn),
        )
    for cells in zip(*(listing.cells(column) for column in listing.columns), strict=True):
        table.add_row(*(Text(drawn.plain(cell)) for cell in cells))
    return table


def _widest(listing: Listing, column: Column, drawn: Symbols) -> int:
    """Narrow columns keep their width, so that a long path does not cut the numbers."""
    longest = max((len(cell) for cell in listing.cells(column)), default=0)
    return min(max(longest, len(drawn.plain(listing.heading(column)))), 24)


def _as_table(listing: Listing) -> None:
    console = output.console()
    console.print(rich_table(listing, symbols(console.file)))


def _as_json(listing: Listing) -> None:
    json.write([{column.name: row.get(column.name) for column in listing.columns} for row in listing.rows])


def _as_csv(listing: Listing) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in listing.columns])
    writer.writerows([csv_cell(row.get(column.name)) for column in listing.columns] for row in listing.rows)
    output.write(text.getvalue())


def csv_cell(value: object) -> object:
    """A value of a CSV file: texts without control characters."""
    return shown(value) if isinstance(value, str) else value


def _as_markdown(listing: Listing) -> None:
    lines = [" | ".join(listing.heading(column) for column in listing.columns)]
    lines.append(" | ".join("---:" if column.is_number else "---" for column in listing.columns))
    cells = zip(*(listing.cells(column) for column in listing.columns), strict=True)
    lines.extend(" | ".join(markdown_cell(cell) for cell in row) for row in cells)
    output.write("".join(f"| {line} |\n" for line in lines))


def markdown_cell(text: str) -> str:
    """A text that markdown shows as it is, also where it holds markup or HTML."""
    for character in "\\`*_|[]":
        text = text.replace(character, f"\\{character}")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


FORMS: dict[str, Callable[[Listing], None]] = {
    "table": _as_table,
    "json": _as_json,
    "csv": _as_csv,
    "markdown": _as_markdown,
}
"""The forms of a listing, by the word that users type."""
