"""Recordings of one program in two folders: the same file has the same path in both captures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tracealyze.capture.capture_file import CaptureFile


class RelocatedFile(CaptureFile):
    """A capture file in which one folder is written as another.

    Otherwise each file of a second checkout looks like a new one. Only whole names are replaced: `/src/tool-2` is not
    in `/src/tool`."""

    def __init__(self, file: CaptureFile, folder: str, written_as: str) -> None:
        self._inner, self._rest = file, b""
        self._folder = re.compile(re.escape(folder.encode(errors="surrogateescape")) + rb"(?![\w.+~-])")
        self._written_as = written_as.encode(errors="surrogateescape")

    def write(self, text: bytes) -> bytes:
        whole, end, self._rest = (self._rest + text).rpartition(b"\n")
        return self._written(whole + end)

    def end_frame(self) -> None:
        self._inner.end_frame()

    def _written(self, text: bytes) -> bytes:
        return self._inner.write(self._folder.sub(lambda _: self._written_as, text)) if text else b""

    def size(self, limit: int) -> int:
        return self._inner.size(limit)

    @property
    def dropped_parts(self) -> int:  # type: ignore[override]
        return self._inner.dropped_parts

    def add_facts(self, facts: Mapping[str, Any]) -> None:
        self._finish()
        self._inner.add_facts(facts)

    def close(self, facts: Mapping[str, Any], scheduling: bytes = b"") -> None:
        self._finish()
        self._inner.close(facts, scheduling)

    def abandon(self, facts: Mapping[str, Any]) -> None:
        self._inner.abandon(facts)

    def discard(self) -> None:
        self._inner.discard()

    def _finish(self) -> None:
        rest, self._rest = self._rest, b""
        self._written(rest)
