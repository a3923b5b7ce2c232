"""The characters that a report draws with, as far as the encoding of the output has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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
    waited: str
    """From a waiting process to the process that it is blocked on."""
    waited_perhaps: str
    """The same where the process that ended the wait is inferred."""

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


UNICODE = Symbols("·", "→", "×", "…", "▏▎▍▌▋▊▉█", "├─ ", "└─ ", "│  ", "µ", "→", "⇢")
ASCII = Symbols("-", "->", "x", "...", "#", "|- ", "`- ", "|  ", "u", "->", "~>")


def symbols(stream: Any) -> Symbols:
    """What the encoding of a stream can show."""
    encoding = getattr(stream, "encoding", None) or "ascii"
    try:
        "·→×…█├─µ".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE
