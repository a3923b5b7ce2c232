"""The symbols of reports, in Unicode or ASCII, depending on the encoding of the output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tracealyze.render.output import is_ascii_locale, plainly


@dataclass(frozen=True)
class Symbols:
    """The symbols of reports."""

    dot: str
    arrow: str
    times: str
    ellipsis: str
    blocks: str
    """Fractions of a cell, the full cell last."""
    branch: str
    last_branch: str
    trunk: str
    micro: str
    blocked_on: str
    """From a waiting process to the process that it is blocked on."""
    blocked_on_inferred: str
    """The same where the process that ended the wait is inferred."""
    alive: str
    """A process that exists, in a timeline."""

    def bar(self, share: float, width: int) -> str:
        """A bar of this share of the width. A share above 0 is always visible."""
        parts = len(self.blocks)
        filled = round(min(max(share, 0.0), 1.0) * width * parts)
        filled = max(filled, 1) if share > 0 else 0
        whole, part = divmod(filled, parts)
        return self.blocks[-1] * whole + (self.blocks[part - 1] if part else "")

    def plain(self, text: str) -> str:
        """Our own text in these symbols."""
        return text if self.micro == "µ" else plainly(text)


UNICODE = Symbols("·", "→", "×", "…", "▏▎▍▌▋▊▉█", "├─ ", "└─ ", "│  ", "µ", "→", "⇢", "─")
ASCII = Symbols("-", "->", "x", "...", "#", "|- ", "`- ", "|  ", "u", "->", "~>", "-")


def symbols(stream: Any) -> Symbols:
    """The symbols that the encoding of a stream supports, and the user's locale."""
    if is_ascii_locale():
        return ASCII
    encoding = getattr(stream, "encoding", None) or "ascii"
    try:
        "·→×…█├─µ".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE
