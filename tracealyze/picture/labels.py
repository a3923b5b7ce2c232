"""Labels: names of a capture in the room that a picture has."""

from __future__ import annotations

from tracealyze.render.terminal import cells
from tracealyze.sanitize import shown

_MAX_TEXT = 2_000
_ELLIPSIS = "…"


def fitted(text: str, width: int) -> str:
    """The text cut to this number of columns, where wide characters have two."""
    text = shown(text[:_MAX_TEXT])
    if cells(text) <= width:
        return text
    cut = text[:width]
    while cells(cut) > width - 1:
        cut = cut[:-1]
    return f"{cut}{_ELLIPSIS}"
