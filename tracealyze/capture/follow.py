"""Following files that are still being written: what was added since the last look.

app.strace       whole lines │ the line that is being written
app.strace.4711  one per process (strace -ff); new ones are found
-                standard input, which is copied to a file at once, so that its writer never waits
"""

from __future__ import annotations

import glob
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from tempfile import NamedTemporaryFile
from typing import IO, Any

from tracealyze.base.errors import UnreadableCapture, WrongUsage
from tracealyze.base.sanitize import is_utf8
from tracealyze.model.capture_input.capture_files import STDIN
from tracealyze.trace.live.slices import Added

_MAX_FIRST_BYTES = 32 << 20
"""Of a file that is longer already, the end: more than a minute of most tracers."""
_MAX_BYTES = 64 << 20
"""Maximum text that is taken at once."""
_MAX_LINE_BYTES = 16 << 20
"""No tracer writes longer lines. What is longer is cut."""
_COPY_BYTES = 1 << 20
_COMPRESSED = (".zst", ".xz", ".gz", ".bz2", ".lz4")


@dataclass
class _File:
    """A file and the part of it that was not taken yet."""

    stream: IO[bytes]
    rest: bytes = b""
    """The line that is being written."""
    skips_line: bool = False
    """Whether reading began within a line."""

    def added(self) -> bytes:
        """Whole lines that were added."""
        if os.fstat(self.stream.fileno()).st_size < self.stream.tell():
            # It was emptied, and is written anew.
            self.stream.seek(0)
            self.rest = b""
        text = self.stream.read(_MAX_BYTES)
        if not text:
            return b""
        text = self.rest + text
        end = text.rfind(b"\n") + 1
        if not end and len(text) > _MAX_LINE_BYTES:
            end = len(text)
        lines, self.rest = text[:end], text[end:]
        if self.skips_line and lines:
            self.skips_line = False
            lines = lines[lines.find(b"\n") + 1 :]
        return lines


class Follower:
    """The files of one trace."""

    def __init__(self, name: str) -> None:
        """
        Raises:
            UnreadableCapture: There is no such file, and no files of `strace -ff` begin with this name.
            WrongUsage: The file is compressed."""
        self._name = name
        self._files: dict[str, _File] = {}
        self._copy: _Copy | None = None
        self._last_s = time.monotonic()
        if name == STDIN:
            self._copy = _Copy()
            self._open(self._copy.path)
        elif name.endswith(_COMPRESSED):
            raise WrongUsage(f"{name}: a compressed file is finished. For a finished capture: summarize.")
        else:
            self._find()
        if not self._files:
            raise UnreadableCapture(f"{name}: no such file, and none that begins with {name}.")

    @property
    def path(self) -> str:
        """What a report at the end is about."""
        return self._copy.path if self._copy else self._name

    @property
    def has_ended(self) -> bool:
        """Whether nothing will be added: standard input was closed. Nobody can tell that of a file."""
        return self._copy is not None and self._copy.has_ended and not self._is_behind()

    @property
    def silent_ns(self) -> int:
        """Time since something was added."""
        return round((time.monotonic() - self._last_s) * 1e9)

    def added(self) -> Mapping[str, Added]:
        """What was added to each file since the last call; of the files of one trace, all are there."""
        if self._copy is None:
            self._find()
        found = {name: Added(file.added(), file.rest) for name, file in self._files.items()}
        if any(each.lines for each in found.values()):
            self._last_s = time.monotonic()
        return found

    def close(self) -> None:
        """Close the files, and remove the copy of standard input."""
        for file in self._files.values():
            file.stream.close()
        if self._copy is not None:
            self._copy.remove()

    def _find(self) -> None:
        """Open the files that are new."""
        named = [self._name] if os.path.isfile(self._name) else glob.glob(f"{glob.escape(self._name)}.*[0-9]")
        for path in sorted(named):
            if path not in self._files:
                self._open(path)

    def _open(self, path: str) -> None:
        if not is_utf8(path):
            raise UnreadableCapture(
                f"{path}: the file name is not UTF-8. Rename the file, or read it from a pipe: tail -f FILE | watch -"
            )
        try:
            stream = open(path, "rb", buffering=0)  # noqa: SIM115
            size = os.fstat(stream.fileno()).st_size
        except OSError as error:
            raise UnreadableCapture(f"{path}: {error.strerror}.") from error
        is_long = size > _MAX_FIRST_BYTES
        if is_long:
            stream.seek(size - _MAX_FIRST_BYTES)
        self._files[path] = _File(stream, skips_line=is_long)
        written_s = time.time() - os.fstat(stream.fileno()).st_mtime
        self._last_s = min(self._last_s, time.monotonic() - max(written_s, 0))

    def _is_behind(self) -> bool:
        return any(file.stream.tell() < os.fstat(file.stream.fileno()).st_size for file in self._files.values())


class _Copy:
    """Copies standard input to a file, in a thread of its own."""

    def __init__(self) -> None:
        file = NamedTemporaryFile(prefix="tracealyze-", suffix=".trace", delete=False)  # noqa: SIM115
        self.path, self._file = file.name, file
        self.has_ended = False
        threading.Thread(target=self._run, daemon=True).start()

    def remove(self) -> None:
        os.unlink(self.path)

    def _run(self) -> None:
        target: Any = self._file.file
        while text := os.read(0, _COPY_BYTES):
            target.write(text)
            target.flush()
        self.has_ended = True
