"""Texts from a capture, made fit to be shown: a trace is hostile input and may hold escape sequences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_NAMED = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}

# C0, DEL, C1; marks that turn the direction of writing; separators of lines; blanks without width; lone surrogates.
_RANGES = (
    *((0x00, 0x1F), (0x7F, 0x9F), (0x61C, 0x61C), (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x2069)),
    *((0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB), (0xD800, 0xDFFF)),
)


def _escape(code: int) -> str:
    character = chr(code)
    return _NAMED.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


HIDDEN = [code for first, last in _RANGES for code in range(first, last + 1)]
"""Code points that control a terminal or cannot be seen."""

_ESCAPED = {code: _escape(code) for code in HIDDEN}


def shown(text: object) -> str:
    """A text in which nothing controls the terminal: `\\x1b[2J` instead of a cleared screen."""
    return str(text).translate(_ESCAPED)


@dataclass(frozen=True)
class Symbols:
    """The characters that a report draws with."""

    dot: str
    arrow: str
    times: str
    ellipsis: str
    blocks: str
    """Parts of a cell, the whole one last."""
    branch: str
    last_branch: str
    trunk: str
    micro: str

    def bar(self, share: float, width: int) -> str:
        """A bar of this share of the width; something is never shown as nothing."""
        parts = len(self.blocks)
        filled = round(min(max(share, 0.0), 1.0) * width * parts)
        filled = max(filled, 1) if share > 0 else 0
        whole, part = divmod(filled, parts)
        return self.blocks[-1] * whole + (self.blocks[part - 1] if part else "")

    def plain(self, text: str) -> str:
        """A text of our own in the characters of this set."""
        return text if self.micro == "µ" else text.replace("µ", self.micro).replace("×", self.times)


UNICODE = Symbols("·", "→", "×", "…", "▏▎▍▌▋▊▉█", "├─ ", "└─ ", "│  ", "µ")
ASCII = Symbols("-", "->", "x", "...", "#", "|- ", "`- ", "|  ", "u")


def symbols(stream: Any) -> Symbols:
    """What the encoding of a stream can show."""
    encoding = getattr(stream, "encoding", None) or "ascii"
    try:
        "·→×…█├─µ".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE
