"""TOML files that users write: rules and settings."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from tracealyze.base.errors import WrongUsage

_MAX_BYTES = 4 << 20
"""A file of rules or settings has a few kB. A pyproject.toml with long lists may have some hundred."""


def content_of(file: Path, origin: str) -> bytes:
    """The content of a regular file; `origin` is what messages call it.

    Raises `FileNotFoundError` or `NotADirectoryError` if it does not exist, and `WrongUsage` if it cannot be read: a
    pipe may never end, and a device has no end."""
    try:
        # A pipe without a writer must not block.
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise _unreadable(origin, error) from error
    try:
        with open(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise WrongUsage(f"{origin}: cannot be read: it is not a regular file. Copy its content to one.")
            content = stream.read(_MAX_BYTES + 1)
    except OSError as error:
        raise _unreadable(origin, error) from error
    if len(content) > _MAX_BYTES:
        raise WrongUsage(f"{origin}: cannot be read: it is larger than {_MAX_BYTES >> 20} MiB.")
    return content


def _unreadable(origin: str, error: OSError) -> WrongUsage:
    return WrongUsage(f"{origin}: cannot be read: {error.strerror or error}.")


def parsed(content: bytes, origin: str) -> dict[str, Any]:
    """The tables of a file. Raises `WrongUsage` with the place of a mistake."""
    import tomllib

    try:
        return tomllib.loads(content.decode())
    except ValueError as error:
        raise WrongUsage(f"{origin}: {error}.") from error
    except RecursionError as error:
        raise WrongUsage(f"{origin}: brackets are nested too deeply.") from error
