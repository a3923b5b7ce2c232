"""Temporary files for captures that are not files here: contents, open files, URLs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path


class TemporaryFiles:
    """Contents in files of a temporary directory, which is removed with this object. Pickled with its contents."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self._number = 0

    def add(self, name: str, parts: Iterable[bytes]) -> str:
        """Write a file with this name, and return its path."""
        return self.add_together({name: parts})[0]

    def add_together(self, contents: Mapping[str, Iterable[bytes]]) -> list[str]:
        """Write files with these names into one folder, and return their paths."""
        if self.folder is None:
            # Loading these takes time, and the command line does not need them.
            import shutil
            import tempfile
            import weakref

            self.folder = Path(tempfile.mkdtemp(prefix="tracealyze-"))
            weakref.finalize(self, shutil.rmtree, self.folder, True)
        self._number += 1
        folder = self.folder / str(self._number)
        folder.mkdir()
        for name, parts in contents.items():
            with (folder / name).open("wb") as into:
                into.writelines(parts)
        return [str(folder / name) for name in contents]

    def contents(self) -> dict[str, bytes]:
        """The content of each file, by its path."""
        files = sorted(self.folder.glob("*/*")) if self.folder else []
        return {str(file): file.read_bytes() for file in files}
