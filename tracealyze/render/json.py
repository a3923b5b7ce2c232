"""JSON on standard output: one document, also safe for terminals."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tracealyze.base.sanitize import HIDDEN_RANGES
from tracealyze.render import output
from tracealyze.trace.summary import BoundedRows, Rows

# json escapes C0 itself; other control characters would reach the terminal or break the encoding.
_RAW = re.compile(
    f"[{''.join(f'{chr(max(first, 0x7F))}-{chr(last)}' for first, last in HIDDEN_RANGES if last >= 0x7F)}]"
)


def text(value: Any, indent: int | None = 2) -> str:
    """A value as JSON."""
    plain = json.dumps(value, indent=indent, ensure_ascii=False, default=_plain)
    return plain if plain.isascii() and "\x7f" not in plain else _RAW.sub(_escaped, plain)


def _escaped(found: re.Match[str]) -> str:
    # As json does it: code points beyond 16 bits are two surrogates.
    return json.dumps(found[0])[1:-1]


def write(value: Any) -> None:
    """A document."""
    output.write(text(value) + "\n")


def write_parts(parts: Mapping[str, Any]) -> None:
    """Write a document member by member, with one line per row. A long table is never in memory as a whole."""
    before = "{"
    for name, part in parts.items():
        output.write(f"{before}\n  {text(name)}: ")
        if isinstance(part, Rows | BoundedRows):
            _write_rows(part)
        else:
            output.write(text(part).replace("\n", "\n  "))
        before = ","
    output.write("\n}\n")


def _write_rows(rows: Rows | BoundedRows) -> None:
    output.write("[")
    before = ""
    chunks = rows.table.json(rows.keys) if isinstance(rows, Rows) else (f"\n    {text(row, None)}" for row in rows.rows)
    for objects in chunks:
        output.write(before + objects)
        before = ","
    output.write("\n  ]" if before else "]")


def _plain(value: object) -> object:
    return sorted(value) if isinstance(value, frozenset) else str(value)
