"""Names of files that stand for the standard output of this process."""

from __future__ import annotations

import os

_FOLDERS = ("/dev/", "/proc/")


def is_standard_output(path: str | os.PathLike[str]) -> bool:
    """Whether a path such as /dev/stdout names what standard output is.

    It must not be opened again: a pipe whose reader is gone would never open, and if standard output is a file, the
    link that leads to it must not become another file."""
    name = os.path.abspath(path)
    if not name.startswith(_FOLDERS):
        return False
    try:
        return os.path.samestat(os.stat(name), os.fstat(1))
    except (OSError, ValueError):
        return False
