"""Rows as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable

from tracealyze.sanitize import shown

ROWS_SHOWN = 20
"""Maximum number of rows of a table in a notebook."""


def html_table(columns: Iterable[str], rows: Iterable[Iterable[object]], total: int) -> str:
    """Rows as HTML, with a caption if there are more than these."""
    # Most commands print no HTML, and the module takes time to load.
    import html

    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    cells = ((f"<td>{html.escape('' if value is None else shown(value))}</td>" for value in row) for row in rows)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    more = f"<caption>first {ROWS_SHOWN} of {total} rows</caption>" if total > ROWS_SHOWN else ""
    return f"<table>{more}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
