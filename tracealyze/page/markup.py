"""Texts and elements of the page. All texts come from a capture or stand beside them, so all are escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable

from tracealyze.html_tables import bar as bar
from tracealyze.html_tables import element as element
from tracealyze.html_tables import escaped as escaped
from tracealyze.render.listing import Listing


def table(listing: Listing, bars: Iterable[float] = ()) -> str:
    """A listing as a table, without empty columns; with a bar before each row where there are shares."""
    columns = listing.filled
    kinds = [' class="n"' if column.is_number else "" for column in columns]
    drawn = [f"<td>{bar(share)}</td>" for share in bars]
    heads = "".join(
        f'<th scope="col"{kind}>{escaped(title)}</th>' if (title := listing.heading(column)) else "<td></td>"
        for kind, column in zip(kinds, columns, strict=True)
    )
    rows = [
        "".join(f"<td{kind}>{escaped(cell)}</td>" for kind, cell in zip(kinds, row, strict=True))
        for row in zip(*(listing.cells(column) for column in columns), strict=True)
    ]
    lines = "".join(f"<tr>{drawn[at] if drawn else ''}{row}</tr>\n" for at, row in enumerate(rows))
    return scrollable(
        f"<thead><tr>{'<td></td>' if drawn else ''}{heads}</tr></thead>\n<tbody>{lines}</tbody>", listing.title
    )


def scrollable(rows: str, name: str) -> str:
    """Rows as a table that scrolls sideways in a narrow window; the keyboard reaches it."""
    label = html.escape(name)
    return f'<div class="wide" role="region" aria-label="{label}" tabindex="0"><table>\n{rows}</table></div>\n'
