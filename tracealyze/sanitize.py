"""Sanitizing texts from a capture for display: a trace is hostile input and may contain escape sequences."""

from __future__ import annotations

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


def shown(text: object) -> str:
    """The text with such code points escaped: `\\x1b[2J` instead of a cleared screen."""
    return str(text).translate(_ESCAPED)
