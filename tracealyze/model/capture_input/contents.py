"""Captures for `read()`: paths, URLs, contents of captures, and open files. Contents are written to temporary files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from tracealyze.base.errors import UnreadableCapture, WrongUsage
from tracealyze.model.capture_input import urls
from tracealyze.model.capture_input.temporary_files import TemporaryFiles

_CHUNK_BYTES = 1 << 20
_MAX_PATH = 4096
"""PATH_MAX of Linux. A longer text is not a path."""


@runtime_checkable
class Readable(Protocol):
    """An open file, or anything else with a method `read`."""

    def read(self, size: int = -1, /) -> str | bytes: ...


Source: TypeAlias = str | bytes | bytearray | os.PathLike[str] | os.PathLike[bytes] | Readable
"""A path, a URL, the content of a capture, or an open file."""


def is_source(value: object) -> bool:
    """Whether this is one source, not several."""
    return isinstance(value, str | bytes | bytearray | os.PathLike | Readable)


def names_of(sources: object, temporary: TemporaryFiles) -> list[str]:
    """The path of each source; contents and files without a path are written to temporary files.

    Raises `WrongUsage` for an object that is not a source."""
    if isinstance(sources, Iterable) and not is_source(sources):
        return [name for source in sources for name in _names(source, temporary)]
    return list(_names(sources, temporary))


def _names(source: object, temporary: TemporaryFiles) -> Sequence[str]:
    """The path of a source; a URL may name several files."""
    name = _name(source, temporary)
    return urls.fetched(name, temporary) if isinstance(source, str) and urls.is_url(name) else [name]


def _name(source: object, temporary: TemporaryFiles) -> str:
    if isinstance(source, str | bytes | bytearray):
        if not _is_content(source):
            return os.fsdecode(bytes(source) if isinstance(source, bytearray) else source)
        return temporary.add("capture", [_encoded(source)])
    if isinstance(source, os.PathLike):
        return os.fsdecode(source)
    if not isinstance(source, Readable):
        raise WrongUsage(
            f"read: an object of type {type(source).__name__} is not a capture; "
            "pass a path, a URL, the content of a capture as bytes, or an open file."
        )
    return _path_of(source) or temporary.add(_base_name(source), _parts(source))


def _is_content(text: str | bytes | bytearray) -> bool:
    """Captures have lines, compressed ones have any bytes, and names have neither line breaks nor NUL."""
    marks: tuple[Any, ...] = ("\n", "\0") if isinstance(text, str) else (b"\n", b"\0")
    return any(mark in text for mark in marks) or len(text) > _MAX_PATH


def _encoded(text: str | bytes | bytearray) -> bytes:
    return text.encode("utf-8", "surrogateescape") if isinstance(text, str) else bytes(text)


def _path_of(file: Readable) -> str | None:
    """The path of an open file that nothing was read from."""
    name = getattr(file, "name", None)
    try:
        is_at_start = getattr(file, "tell", lambda: None)() == 0
        if not is_at_start or not isinstance(name, str | bytes):
            return None
        # A member of an archive may be named like a file here.
        descriptor = file.fileno()  # type: ignore[attr-defined]
        is_this = os.path.isfile(name) and os.path.samestat(os.fstat(descriptor), os.stat(name))
    except (AttributeError, OSError, ValueError):
        return None
    return os.fsdecode(name) if is_this else None


def _base_name(file: Readable) -> str:
    name = getattr(file, "name", None)
    return (re.sub(r"[^\w.-]+", "", os.path.basename(name)) if isinstance(name, str) else "") or "capture"


def _parts(file: Readable) -> Iterator[bytes]:
    while part := _part(file):
        if not isinstance(part, str | bytes):
            raise WrongUsage(f"read: {type(file).__name__}.read() returns {type(part).__name__}, not bytes or text.")
        yield _encoded(part)


def _part(file: Readable) -> str | bytes:
    try:
        return file.read(_CHUNK_BYTES)
    except UnicodeDecodeError as error:
        encoding = getattr(file, "encoding", None) or error.encoding
        raise WrongUsage(f'read: the file is open as text, and is not {encoding}; open it with mode "rb".') from error
    except OSError as error:
        raise UnreadableCapture(f"read: the open file cannot be read: {error}.") from error
