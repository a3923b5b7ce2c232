"""JSON on standard output: one document, safe for a terminal too."""

from __future__ import annotations

import json
from typing import Any

from tracealyze.render import output
from tracealyze.render.text import HIDDEN

# json escapes C0 itself; the others would reach the terminal or break the encoding.
_RAW = {code: f"\\u{code:04x}" for code in HIDDEN if code >= 0x7F}


def text(value: Any, indent: int | None = 2) -> str:
    """A value as JSON."""
    return json.dumps(value, indent=indent, ensure_ascii=False, default=_plain).translate(_RAW)


def write(value: Any) -> None:
    """A document."""
    output.write(text(value) + "\n")


def _plain(value: object) -> object:
    return sorted(value) if isinstance(value, frozenset) else str(value)
