"""Labels: names of a capture in the room that a picture has."""

from __future__ import annotations

from tracealyze.base.sanitize import shown
from tracealyze.render.terminal import cells

_MAX_TEXT = 2_000


def fitted(text: str, width: int, ellipsis: str = "…") -> str:
    """The text cut to this number of columns, where wide characters have two."""
    text = shown(text[:_MAX_TEXT])
    if cells(text) <= width:
        return text
    cut = text[:width]
    while cut and cells(cut) > width - len(ellipsis):
        cut = cut[:-1]
    return f"{cut}{ellipsis}"
