"""Texts and elements of the page. All texts come from a capture or stand beside them, so all are escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from tracealyze.base import units
from tracealyze.model.html_tables import bar as bar
from tracealyze.model.html_tables import element as element
from tracealyze.model.html_tables import escaped as escaped
from tracealyze.render.listing import Listing

MAX_PRINTED_ROWS = 15
"""Rows of a table that are printed, so that a page of any capture has few sheets; `report.css` has the same number."""
NUMBER = ' class="n" align="right"'
"""Attributes of a cell with a number. The second one also applies where a server forbids styles."""


def verdict(text: str) -> str:
    """The sentence of the page, in bold also where a server forbids styles."""
    return f'<p class="verdict"><strong>{escaped(text)}</strong></p>\n'


def table(listing: Listing, bars: Iterable[float] = ()) -> str:
    """A listing as a table, without empty columns; with a bar before each row where there are shares."""
    columns = listing.filled
    kinds = [NUMBER if column.is_number else "" for column in columns]
    drawn = [f"<td>{bar(share)}</td>" for share in bars]
    heads = "".join(
        f'<th scope="col"{kind}>{escaped(title)}</th>' if (title := listing.heading(column)) else "<td></td>"
        for kind, column in zip(kinds, columns, strict=True)
    )
    rows = [
        "".join(f"<td{kind}>{escaped(cell)}</td>" for kind, cell in zip(kinds, row, strict=True))
        for row in zip(*(listing.cells(column) for column in columns), strict=True)
    ]
    lines = [f"<tr>{drawn[at] if drawn else ''}{row}</tr>\n" for at, row in enumerate(rows)]
    head = f"<thead><tr>{'<td></td>' if drawn else ''}{heads}</tr></thead>\n"
    return scrollable(lines, listing.title, head)


def scrollable(rows: Sequence[str], name: str, head: str = "") -> str:
    """Rows as a table that scrolls sideways in a narrow window; the keyboard reaches it."""
    label, more = html.escape(name), len(rows) - MAX_PRINTED_ROWS
    remark = only_printed(f"{units.counted(more, 'more row')} on the screen") if more > 0 else ""
    return (
        f'<div class="wide" role="region" aria-label="{label}" tabindex="0"><table>\n'
        f"{head}<tbody>{''.join(rows)}</tbody></table></div>\n{remark}"
    )


def only_printed(text: str) -> str:
    """A remark about what is not printed. Without styles it is hidden too."""
    return f'<p class="printed remark" hidden>{escaped(text)}</p>\n'
