"""The script and the style of the viewer, built from the sources in `viewer/` by `make viewer`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@cache
def script() -> str:
    """The script: it draws the data of `tracealyze.render.viewer.data`, and needs nothing else."""
    return (_FOLDER / "viewer.js").read_text(encoding="utf-8").strip()


@cache
def style() -> str:
    """The style of what the script adds."""
    return (_FOLDER / "viewer.css").read_text(encoding="utf-8").strip()
