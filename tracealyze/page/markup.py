"""Texts and elements of the page. All texts come from a capture or stand beside them, so all are escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable

from tracealyze.render.listing import Listing
from tracealyze.sanitize import shown

_MAX_TEXT = 2_000
"""Characters of one text: a command line may be 64 kB long, and a page has a few hundred of them."""


def escaped(text: object) -> str:
    """A text as HTML, with control characters shown, and the end of a very long one visibly cut off."""
    whole = shown(text)
    cut = whole if len(whole) <= _MAX_TEXT else f"{whole[:_MAX_TEXT]}… ({len(whole) - _MAX_TEXT} more characters)"
    return html.escape(cut)


def element(tag: str, text: object, **attributes: str) -> str:
    """An element with a text; `class_` is the attribute `class`."""
    listed = "".join(f' {name.rstrip("_")}="{html.escape(value)}"' for name, value in attributes.items())
    return f"<{tag}{listed}>{escaped(text)}</{tag}>\n"


def bar(share: float) -> str:
    """A bar that shows a share of the whole, drawn with attributes only."""
    width = round(120 * min(max(share, 0.0), 1.0), 1)
    return (
        '<svg class="bar" width="120" height="10" viewBox="0 0 120 10" aria-hidden="true">'
        f'<rect width="{width}" height="10" fill="#0072b2"/></svg>'
    )


def table(listing: Listing, bars: Iterable[float] = ()) -> str:
    """A listing as a table, without empty columns; with a bar before each row where there are shares."""
    columns = listing.filled
    kinds = [' class="n"' if column.is_number else "" for column in columns]
    drawn = [f"<td>{bar(share)}</td>" for share in bars]
    heads = "".join(
        f'<th scope="col"{kind}>{escaped(listing.heading(column))}</th>'
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
