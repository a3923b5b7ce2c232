"""Sanitizing texts from a capture for display: a trace is hostile input and may contain escape sequences."""

from __future__ import annotations

from typing import NewType

Shown = NewType("Shown", str)
"""A text that may be displayed. Only this module makes one, so mypy refuses other texts where one is required."""

_NAMED = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}

# C0, DEL, C1; bidirectional controls; line separators; zero-width spaces; lone surrogates.
HIDDEN_RANGES = (
    *((0x00, 0x1F), (0x7F, 0x9F), (0x61C, 0x61C), (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x2069)),
    *((0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB), (0xD800, 0xDFFF)),
)


def _escape(code: int) -> str:
    character = chr(code)
    if 0xDC80 <= code <= 0xDCFF:
        # Python's form of a byte of a file name that is not UTF-8.
        return f"\\x{code - 0xDC00:02x}"
    return _NAMED.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


HIDDEN = [code for first, last in HIDDEN_RANGES for code in range(first, last + 1)]
"""Ranges of code points that control a terminal or are invisible."""

_ESCAPED = {code: _escape(code) for code in HIDDEN}
_ESCAPED_IN_LINES = {code: text for code, text in _ESCAPED.items() if chr(code) not in "\t\n"}


def shown(text: object) -> Shown:
    """The text with such code points escaped: `\\x1b[2J` instead of a cleared screen."""
    plain = str(text)
    # None of them is printable, and this test is much faster.
    return Shown(plain if plain.isprintable() else plain.translate(_ESCAPED))


def shown_lines(text: str) -> Shown:
    """The same for whole lines: newlines and tabs stay."""
    is_plain = text.replace("\n", "").replace("\t", "").isprintable()
    return Shown(text if is_plain else text.translate(_ESCAPED_IN_LINES))
