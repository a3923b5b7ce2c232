"""Which captures an assistant may read: regular files below one directory, after symbolic links."""

from __future__ import annotations

import os
from pathlib import Path

from tracealyze.base.errors import MissingCapture, WrongUsage
from tracealyze.model.capture_input import capture_files
from tracealyze.model.capture_input.urls import is_url

_MAX_LISTED = 20


def files_below(root: Path, name: str) -> list[list[str]]:
    """The files of the captures that a name relative to the root stands for.

    Raises `WrongUsage` for names that lead out of it, whether the file exists or not."""
    if not name or name == capture_files.STDIN or "\0" in name or is_url(name):
        raise WrongUsage(f"give the name of a file below the root directory.{_listed(root)}")
    place = os.path.realpath(root / name)
    _must_be_below(root, place, name)
    try:
        captures = capture_files.files_of([place])
    except MissingCapture as error:
        raise MissingCapture(f"{name}: no such file below the root directory.{_listed(root)}") from error
    for file in (file for files in captures for file in files):
        _must_be_below(root, os.path.realpath(file), name)
        if not os.path.isfile(file):
            raise WrongUsage(f"{name}: not a regular file.")
    return captures


def _must_be_below(root: Path, place: str, name: str) -> None:
    if not Path(place).is_relative_to(os.path.realpath(root)):
        raise WrongUsage(f"{name}: outside of the root directory.")


def _listed(root: Path) -> str:
    """Some names, for a caller that cannot list a directory."""
    names = sorted(entry.name for entry in os.scandir(root) if not entry.name.startswith("."))
    more = ", …" if len(names) > _MAX_LISTED else ""
    return f" It contains {', '.join(names[:_MAX_LISTED])}{more}." if names else " It is empty."
