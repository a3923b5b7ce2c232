"""Objects as HTML, for notebooks: with the look of the report, escaped, without scripts.

`page/markup.py` builds the report with the same elements, and `page/report.css` is the style of both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tracealyze.base import units
from tracealyze.base.sanitize import shown
from tracealyze.model.expression.schema import MOMENTS

ROWS_SHOWN = 20
"""Maximum number of rows of a table in a notebook."""

_MAX_TEXT = 2_000
"""Characters of one text: a command line may be 64 kB long, and a page has a few hundred of them."""
_SCOPE = ".tracealyze"
_RULE = re.compile(r"([^{}]+)(\{[^{}]*\})")
_MEDIA = re.compile(r"(@media[^{]*)\{((?:[^{}]*\{[^{}]*\})*[^{}]*)\}")


def escaped(text: object) -> str:
    """A text as HTML, with control characters shown, and the end of a very long one visibly cut off."""
    # Most commands print no HTML, and the module takes time to load.
    import html

    whole = shown(text)
    cut = whole if len(whole) <= _MAX_TEXT else f"{whole[:_MAX_TEXT]}… ({len(whole) - _MAX_TEXT} more characters)"
    return html.escape(cut)


def element(tag: str, text: object, **attributes: str) -> str:
    """An element with a text; `class_` is the attribute `class`."""
    listed = "".join(f' {name.rstrip("_")}="{escaped(value)}"' for name, value in attributes.items())
    return f"<{tag}{listed}>{escaped(text)}</{tag}>\n"


def bar(share: float) -> str:
    """A bar that shows a share of the whole, drawn with attributes only."""
    width = round(120 * min(max(share, 0.0), 1.0), 1)
    return (
        '<svg class="bar" width="120" height="10" viewBox="0 0 120 10" aria-hidden="true">'
        f'<rect width="{width}" height="10" fill="#0072b2"/></svg>'
    )


def in_notebook(content: str) -> str:
    """Elements with the style of the report, which applies to them only."""
    return f'<div class="tracealyze"><style>{_scoped_style()}</style>\n{content}</div>'


@cache
def _scoped_style() -> str:
    text = (Path(__file__).parents[1] / "render" / "page" / "report.css").read_text(encoding="utf-8")
    media = "".join(f"{query}{{{_scoped(rules)}}}" for query, rules in _MEDIA.findall(text) if "print" not in query)
    own = (
        f"{_SCOPE} {{ margin: 0; max-width: none; padding: .5rem .75rem; font-size: 14px }}"
        f"{_SCOPE} td {{ max-width: 28rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }}"
    )
    return " ".join(f"{_scoped(_MEDIA.sub('', text))}{media}{own}".split())


def _scoped(rules: str) -> str:
    """The rules, for elements inside of the scope only. What is about the page is about the scope."""

    def within(selector: str) -> str:
        name = selector.strip()
        return _SCOPE if name in (":root", "body") else f"{_SCOPE} {name}"

    return "".join(f"{','.join(map(within, names.split(',')))}{body}" for names, body in _RULE.findall(rules))


def html_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], total: int, unit_of: Mapping[str, str] | None = None
) -> str:
    """Rows for a notebook, with a remark if there are more than these. Times, sizes and shares are in their units."""
    return in_notebook(table_element(columns, rows, total, unit_of))


def table_element(
    columns: Sequence[str], rows: Iterable[Sequence[object]], total: int, unit_of: Mapping[str, str] | None = None
) -> str:
    """The same as an element. Where rows have a share, a bar shows it."""
    listed = [list(row) for row in rows]
    numeric = [any(_is_number(row[at]) for row in listed) for at in range(len(columns))]
    kinds = [' class="n"' if is_number else "" for is_number in numeric]
    shares = columns.index("share") if "share" in columns else None
    has_bars = shares is not None and any(row[shares] for row in listed)
    head = "".join(f"<th{kind}>{escaped(name)}</th>" for kind, name in zip(kinds, columns, strict=True))
    body = []
    for row in listed:
        cells = zip(kinds, columns, row, strict=True)
        texts = (f"<td{kind}{_title(value)}>{escaped(_text(name, value, unit_of))}</td>" for kind, name, value in cells)
        drawn = f"<td>{bar(_share(row[shares]))}</td>" if has_bars and shares is not None else ""
        body.append(f"<tr>{drawn}{''.join(texts)}</tr>\n")
    more = element("p", f"first {ROWS_SHOWN} of {total:,} rows", class_="remark") if total > ROWS_SHOWN else ""
    return (
        f'<div class="wide"><table><thead><tr>{"<td></td>" if has_bars else ""}{head}</tr></thead>\n'
        f"<tbody>{''.join(body)}</tbody></table></div>\n{more}"
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _share(value: Any) -> float:
    return float(value) if _is_number(value) else 0.0


def _title(value: object) -> str:
    """The exact value of a number that is shown rounded."""
    return f' title="{value}"' if _is_number(value) else ""


def _text(name: str, value: Any, unit_of: Mapping[str, str] | None) -> str:
    if value is None:
        return ""
    unit = (unit_of or {}).get(name, "")
    if not _is_number(value):
        return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    if unit == "ns" and name not in MOMENTS:
        return units.duration(value)
    if unit == "bytes":
        return units.size(value)
    if unit == "share":
        return units.share(value)
    return units.count(int(value)) if unit == "count" else str(value)
