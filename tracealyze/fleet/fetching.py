"""The files of captures as local paths: those behind URIs are copied, those in archives extracted."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from tracealyze.base.sanitize import shown
from tracealyze.fleet import locations
from tracealyze.fleet.sources import INSIDE, Item, etag_of
from tracealyze.model.capture_input.capture_files import parted

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_CHUNK_BYTES = 1 << 20


def captures_of(item: Item, files: Sequence[str]) -> dict[str, list[str]]:
    """By URI, the files of each capture of an item: one, unless files that look like parts are not."""
    if len(files) == 1 or len(parts := parted(list(files))) == 1:
        return {item.uri: list(files)}
    return {_uri_of(item, files.index(each[0])): each for each in parts}


def _uri_of(item: Item, number: int) -> str:
    name = shown(item.files[number])
    if item.archive:
        return f"{item.uri.partition(INSIDE)[0]}{INSIDE}{name}"
    return name if item.is_local else f"{item.uri.rpartition('/')[0]}/{name.rpartition('/')[2]}"


def opened_items(items: Sequence[Item], folder: Path) -> list[Callable[[], list[str]]]:
    """For each item a function that returns the paths of its files here; an archive is read once per batch."""
    archives: dict[str, _Archive] = {}
    for number, item in enumerate(items):
        if item.archive:
            place = folder / f"archive{number}"
            known = archives.setdefault(item.root + item.archive, _Archive(item, place))
            known.want(number, item.files)
    return [_opener(item, number, folder, archives) for number, item in enumerate(items)]


def _opener(item: Item, number: int, folder: Path, archives: Mapping[str, _Archive]) -> Callable[[], list[str]]:
    if item.archive:
        return lambda: archives[item.root + item.archive].extracted(item.files)
    if item.is_local:
        return lambda: list(item.files)
    return lambda: _fetched(item, folder / str(number))


def _fetched(item: Item, into: Path) -> list[str]:
    """Copy the files of a URI. Raises `OSError` if one is not what was listed."""
    system = _system_of(item.root)
    into.mkdir()
    found = []
    for number, path in enumerate(item.files):
        name = shown(path.rpartition("/")[2]) or str(number)
        locations.retried(partial(_copied, system, path, into / name))
        found.append(str(into / name))
    if etag_of(system.get_file_info(list(item.files))) != item.etag:
        raise locations.ChangedSource(f"{item.uri}: changed since it was listed")
    return found


@lru_cache(maxsize=4)
def _system_of(root: str) -> FileSystem:
    """The file system of a source, whose connections its captures share."""
    return locations.located(root)[0]


def _copied(system: FileSystem, path: str, target: Path) -> None:
    size = system.get_file_info(path).size
    with system.open_input_stream(path) as source, target.open("wb") as file:
        while part := source.read(_CHUNK_BYTES):
            file.write(part)
        written = file.tell()
    if size is not None and written != size:
        raise OSError(f"{path}: only {written} of {size} bytes arrived")


class _Archive:
    """An archive, and the members of it that a batch needs. The first of them extracts all."""

    def __init__(self, item: Item, folder: Path) -> None:
        self._item = item
        self._folder = folder
        self._wanted: dict[str, Path] = {}
        self._is_extracted = False

    def want(self, number: int, names: Sequence[str]) -> None:
        """Remember the members of an item. Numbers at the end of names say which files belong together."""
        for name in names:
            self._wanted[name] = self._folder / str(number) / Path(name).name

    def extracted(self, names: Sequence[str]) -> list[str]:
        """The paths of the extracted members of an item. Raises `KeyError` if one is not in the archive."""
        if not self._is_extracted:
            self._is_extracted = True
            self._extract()
        for name in names:
            if not self._wanted[name].exists():
                raise KeyError(f"{name} cannot be extracted from the archive")
        return [str(self._wanted[name]) for name in names]

    def _extract(self) -> None:
        self._folder.mkdir(parents=True)
        path = self._item.archive
        if not self._item.is_local:
            path = _fetched(replace(self._item, files=(path,), archive=""), self._folder / "whole")[0]
        for name, stream in _members(path, set(self._wanted)):
            target = self._wanted[name]
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as file:
                shutil.copyfileobj(stream, file, _CHUNK_BYTES)


def _members(path: str, names: set[str]) -> Iterator[tuple[str, BinaryIO]]:
    if path.endswith(".zip"):
        with zipfile.ZipFile(path) as packed:
            for name in sorted(names & set(packed.namelist())):
                yield name, packed.open(name)  # type: ignore[misc]
        return
    with tarfile.open(path) as tar:
        for member in tar:
            stream = tar.extractfile(member) if member.name in names and member.isfile() else None
            if stream is not None:
                yield member.name, stream  # type: ignore[misc]
