"""Sanitizing texts from a capture for display: a trace is hostile input and may contain escape sequences."""

from __future__ import annotations

import re
from typing import NewType

Shown = NewType("Shown", str)
"""A text that may be displayed. Only this module makes one, so mypy refuses other texts where one is required."""

_NAMED = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}

# C0, DEL, C1; line separators; bidirectional controls; lone surrogates; and what Unicode calls default ignorable code
# points (DerivedCoreProperties.txt of Unicode 16). They are invisible; some, such as the tags from U+E0000 on, spell
# words that only programs read. U+FE00 to U+FE0F stay: they choose the form of the character before them, as in emojis.
HIDDEN_RANGES = (
    *((0x00, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5)),
    *((0x180B, 0x180F), (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xD800, 0xDFFF)),
    *((0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A)),
    (0xE0000, 0xE0FFF),
)
"""Ranges of code points that control a terminal or are invisible."""


def _any_of(*ranges: tuple[int, int]) -> re.Pattern[str]:
    return re.compile(f"[{''.join(f'{chr(first)}-{chr(last)}' for first, last in ranges)}]")


_HIDDEN = _any_of(*HIDDEN_RANGES)
_HIDDEN_IN_LINES = _any_of((0x00, 0x08), (0x0B, 0x1F), *HIDDEN_RANGES[1:])
"""Without tab and newline."""


def _escape(found: re.Match[str]) -> str:
    character, code = found[0], ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:
        # Python's form of a byte of a file name that is not UTF-8.
        return f"\\x{code - 0xDC00:02x}"
    if code >= 0x10000:
        return f"\\U{code:08x}"
    return _NAMED.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def shown(text: object) -> Shown:
    """The text with such code points escaped: `\\x1b[2J` instead of a cleared screen."""
    plain = str(text)
    return Shown(plain if _is_plain(plain) else _HIDDEN.sub(_escape, plain))


def shown_lines(text: str) -> Shown:
    """The same for whole lines: newlines and tabs stay."""
    is_plain = _is_plain(text.replace("\n", "").replace("\t", ""))
    return Shown(text if is_plain else _HIDDEN_IN_LINES.sub(_escape, text))


def _is_plain(text: str) -> bool:
    """Whether a text is certainly without such code points. This test is much faster than a search for them."""
    return text.isascii() and text.isprintable()


def is_utf8(text: str) -> bool:
    """Whether a text from the command line is UTF-8: Python has surrogates for other bytes."""
    return text.encode(errors="replace").decode() == text
