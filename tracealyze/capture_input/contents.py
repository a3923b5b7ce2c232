"""Captures for `read()`: paths, contents of captures, and open files. Contents are written to temporary files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

from tracealyze.errors import WrongUsage

_CHUNK_BYTES = 1 << 20
_MAX_PATH = 4096
"""PATH_MAX of Linux. A longer text is not a path."""


@runtime_checkable
class Readable(Protocol):
    """An open file, or anything else with a method `read`."""

    def read(self, size: int = -1, /) -> str | bytes: ...


Source: TypeAlias = str | bytes | bytearray | os.PathLike[str] | os.PathLike[bytes] | Readable
"""A path, the content of a capture, or an open file."""


def is_source(value: object) -> bool:
    """Whether this is one source, not several."""
    return isinstance(value, str | bytes | bytearray | os.PathLike | Readable)


class TemporaryFiles:
    """Contents in files of a temporary directory, which is removed with this object. Pickled with its contents."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self._number = 0

    def add(self, name: str, parts: Iterable[bytes]) -> str:
        """Write a file with this name, and return its path."""
        if self.folder is None:
            # Loading these takes time, and the command line does not need them.
            import shutil
            import tempfile
            import weakref

            self.folder = Path(tempfile.mkdtemp(prefix="tracealyze-"))
            weakref.finalize(self, shutil.rmtree, self.folder, True)
        self._number += 1
        file = self.folder / str(self._number) / name
        file.parent.mkdir()
        with file.open("wb") as into:
            into.writelines(parts)
        return str(file)

    def contents(self) -> dict[str, bytes]:
        """The content of each file, by its path."""
        files = sorted(self.folder.glob("*/*")) if self.folder else []
        return {str(file): file.read_bytes() for file in files}


def names_of(sources: object, temporary: TemporaryFiles) -> list[str]:
    """The path of each source; contents and files without a path are written to temporary files.

    Raises `WrongUsage` for an object that is not a source."""
    if isinstance(sources, Iterable) and not is_source(sources):
        return [_name(source, temporary) for source in sources]
    return [_name(sources, temporary)]


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
            "pass a path, the content of a capture as bytes, or an open file."
        )
    return _path_of(source) or temporary.add(_base_name(source), _parts(source))


def _is_content(text: str | bytes | bytearray) -> bool:
    """Captures have lines, and names do not."""
    line_break: Any = "\n" if isinstance(text, str) else b"\n"
    return line_break in text or len(text) > _MAX_PATH


def _encoded(text: str | bytes | bytearray) -> bytes:
    return text.encode("utf-8", "surrogateescape") if isinstance(text, str) else bytes(text)


def _path_of(file: Readable) -> str | None:
    """The path of an open file that nothing was read from."""
    name = getattr(file, "name", None)
    try:
        is_at_start = getattr(file, "tell", lambda: None)() == 0
    except OSError:
        return None
    is_file = isinstance(name, str | bytes) and os.path.isfile(name)
    return os.fsdecode(name) if is_file and is_at_start else None  # type: ignore[arg-type]


def _base_name(file: Readable) -> str:
    name = getattr(file, "name", None)
    return (re.sub(r"[^\w.-]+", "", os.path.basename(name)) if isinstance(name, str) else "") or "capture"


def _parts(file: Readable) -> Iterator[bytes]:
    while part := file.read(_CHUNK_BYTES):
        if not isinstance(part, str | bytes):
            raise WrongUsage(f"read: {type(file).__name__}.read() returns {type(part).__name__}, not bytes or text.")
        yield _encoded(part)
