"""A compressed capture with metadata in skippable frames, which all readers of zstd step over."""

from __future__ import annotations

import os
import shutil
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from tracealyze import _engine
from tracealyze.model.capture_input.recorded import metadata_frame, scheduling_frame

FRAME_BYTES = 8 << 20
"""Text per compressed frame. A file that ends within a frame loses what that frame contains."""

_RING_PARTS = 8
_OF_PYTHON = ("compression.zstd", "backports.zstd")


class Frame(Protocol):
    """Text that is compressed as it comes, until the end."""

    def write(self, text: bytes) -> None: ...

    def end(self) -> Any:
        """The frame, as bytes or a buffer of them."""


class _OfPython:
    def __init__(self, compressor: Any) -> None:
        self._compressor, self._parts = compressor, bytearray()

    def write(self, text: bytes) -> None:
        self._parts += self._compressor.compress(text)

    def end(self) -> bytearray:
        self._parts += self._compressor.flush()
        return self._parts


class _OfEngine:
    """Compressed at the end of the frame, by the engine."""

    def __init__(self) -> None:
        self._text = bytearray()

    def write(self, text: bytes) -> None:
        self._text += text

    def end(self) -> bytes:
        return _engine.zstd_frame(bytes(self._text))


def new_frame() -> Frame:
    """A frame of zstd. Python has it from 3.14 on, and before as a package: these files have 0.6 times the size."""
    for name in _OF_PYTHON:
        with suppress(ImportError):
            return _OfPython(import_module(name).ZstdCompressor())
    return _OfEngine()


class CaptureFile:
    """Compresses text as it comes. Frames that are complete stay readable if the writer is killed."""

    dropped_parts = 0
    """Number of parts at the beginning that a ring has dropped."""

    def __init__(self, path: str, facts: Mapping[str, Any], *, overwrites: bool = False) -> None:
        self._path, self._facts = path, facts
        self._frame: Frame | None = None
        self._in_frame = self._whole_bytes = 0
        self._file = open(path, "wb" if overwrites else "xb")  # noqa: SIM115
        try:
            self._write_first_facts()
        except OSError:
            with suppress(OSError):
                self._file.close()
            if not overwrites:
                os.unlink(path)
            raise

    def _write_first_facts(self) -> None:
        write_metadata(self._file, self._facts)
        self._file.flush()
        self._whole_bytes = self._file.tell()

    def write(self, text: bytes) -> bytes:
        """Returns the text as it is stored."""
        if self._frame is None:
            self._frame = new_frame()
        self._frame.write(text)
        self._in_frame += len(text)
        if self._in_frame >= FRAME_BYTES:
            self.end_frame()
        return text

    def end_frame(self) -> None:
        """Complete the frame, so that everything written so far can be read."""
        if self._frame is not None:
            self._write_frame(self._frame.end())
            self._frame, self._in_frame = None, 0

    def _write_frame(self, frame: Any) -> None:
        self._file.write(frame)
        self._file.flush()
        self._whole_bytes = self._file.tell()

    def size(self, limit: int) -> int:
        """Bytes in the file, compared with a limit: the open frame is completed if it may exceed that."""
        if self._file.tell() + self._in_frame >= limit:
            self.end_frame()
        return self._file.tell()

    def add_facts(self, facts: Mapping[str, Any]) -> None:
        """Facts that are known now; later ones have to repeat them."""
        self.end_frame()
        write_metadata(self._file, facts)
        self._file.flush()

    def close(self, facts: Mapping[str, Any], scheduling: bytes = b"") -> None:
        """Complete the file, with packed scheduler events if there are any."""
        self.end_frame()
        _write_end(self._file, facts, scheduling)
        self._file.close()

    def abandon(self, facts: Mapping[str, Any]) -> None:
        """Close the file after a write that failed. What was complete before can be read.

        Raises `OSError` if there is no room for the facts."""
        self._remove_torn_frame()
        with open(self._path, "ab") as file:
            write_metadata(file, facts)

    def _remove_torn_frame(self) -> None:
        with suppress(OSError):
            self._file.close()
        os.truncate(self._path, self._whole_bytes)

    def discard(self) -> None:
        """Remove the file: there is nothing in it."""
        self._file.close()
        os.unlink(self._path)


class RingFile(CaptureFile):
    """Keeps the last part of a capture, in several files that `close` joins. Each of them can be read."""

    def __init__(self, path: str, facts: Mapping[str, Any], max_bytes: int, *, overwrites: bool = False) -> None:
        self._name, self._part_bytes = path, max_bytes // _RING_PARTS
        self._parts: deque[str] = deque()
        self._number, self._has_frame = 0, False
        # Reserves the name, and shows at once that it cannot be written.
        with open(path, "wb" if overwrites else "xb"):
            self._parts.append(self._next_part())
        try:
            super().__init__(self._parts[0], facts, overwrites=True)
        except OSError:
            self._remove_all()
            raise

    def _next_part(self) -> str:
        self._number += 1
        name = Path(self._name)
        stem, _, suffix = name.name.partition(".")
        return str(name.with_name(f"{stem}-part{self._number}.{suffix or 'zst'}"))

    def write(self, text: bytes) -> bytes:
        super().write(text)
        if self._file.tell() + self._in_frame >= self._part_bytes:
            self.end_frame()
        return text

    def _write_frame(self, frame: Any) -> None:
        if self._has_frame and self._file.tell() + len(frame) > self._part_bytes:
            self._rotate()
        super()._write_frame(frame)
        self._has_frame = True

    def _rotate(self) -> None:
        self._file.close()
        part = self._next_part()
        self._file = open(part, "wb")  # noqa: SIM115
        self._path, self._whole_bytes = part, 0
        self._parts.append(part)
        self._write_first_facts()
        while len(self._parts) > _RING_PARTS:
            os.unlink(self._parts.popleft())
            self.dropped_parts += 1

    def close(self, facts: Mapping[str, Any], scheduling: bytes = b"") -> None:
        super().close({})
        self._join({**facts, "dropped_parts": self.dropped_parts}, scheduling)

    def abandon(self, facts: Mapping[str, Any]) -> None:
        """What comes first makes room for the other parts, and for the facts."""
        self._remove_torn_frame()
        if len(self._parts) > 1:
            os.unlink(self._parts.popleft())
            self.dropped_parts += 1
        self._join({**facts, "dropped_parts": self.dropped_parts})

    def _join(self, facts: Mapping[str, Any], scheduling: bytes = b"") -> None:
        # The first part has the name at once, so that this is never an empty file. If there is no room for a later
        # part, the file with those before it is the first of the parts that are left.
        os.replace(self._parts[0], self._name)
        self._parts[0] = self._name
        with open(self._name, "ab") as joined:
            while len(self._parts) > 1:
                with open(self._parts[1], "rb") as file:
                    shutil.copyfileobj(file, joined)
                os.unlink(self._parts[1])
                del self._parts[1]
            _write_end(joined, facts, scheduling)

    def discard(self) -> None:
        self._file.close()
        self._remove_all()

    def _remove_all(self) -> None:
        for name in (self._name, *self._parts):
            with suppress(FileNotFoundError):
                os.unlink(name)


def _write_end(file: BinaryIO, facts: Mapping[str, Any], scheduling: bytes) -> None:
    """The last metadata, which says how long the events before it are."""
    if scheduling:
        file.write(scheduling_frame(scheduling))
        facts = {**facts, "sched_bytes": len(scheduling)}
    write_metadata(file, facts)
    file.flush()


def write_metadata(file: BinaryIO, facts: Mapping[str, Any]) -> None:
    file.write(metadata_frame(facts))
