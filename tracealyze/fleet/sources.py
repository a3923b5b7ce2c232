"""The captures that sources name: files, globs, folders and archives, here or behind a URI."""

from __future__ import annotations

import os
import re
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import translate
from hashlib import blake2b
from typing import TYPE_CHECKING, BinaryIO

from tracealyze.base.errors import UnreadableCapture, UnusableInput
from tracealyze.base.sanitize import is_utf8, shown
from tracealyze.fleet import locations
from tracealyze.model.capture_input import capture_files

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

    from tracealyze.fleet.labels import Labels

INSIDE = "!/"
"""Between the path of an archive and that of a capture in it."""
_TAR = re.compile(r"\.(tar|tgz|tbz2|txz|tar\.(gz|bz2|xz))\Z")
_NO_CAPTURES = re.compile(r"\.(csv|json|md|toml|py|sh|c|go|h|js|pl|rb|rs|parquet|png|html)\Z")


@dataclass(frozen=True, slots=True)
class Item:
    """What is read as one capture: a file, or the files that `strace -ff` wrote."""

    uri: str
    files: tuple[str, ...]
    """Paths in the file system of the root, or in the archive."""
    etag: str
    bytes: int
    root: str = ""
    """A URI of the file system, if it is not the local one, with the options that open it."""
    archive: str = ""
    """The path of the archive that contains the files."""
    labels: tuple[tuple[str, str], ...] = ()

    @property
    def is_local(self) -> bool:
        """Whether the files are in the local file system."""
        return not self.root

    @property
    def labels_hash(self) -> str:
        """Changes when the labels change."""
        return blake2b(repr(self.labels).encode(errors="surrogateescape"), digest_size=6).hexdigest()


def items(sources: Iterable[str], labels: Labels) -> list[Item]:
    """The captures of all sources, each once, in order of their URIs. Raises `UnusableInput` for a missing source."""
    found = {item.uri: item for source in sources for item in _of(source)}
    return [replace(found[uri], labels=tuple(sorted(labels.of_path(uri).items()))) for uri in sorted(found)]


def _of(source: str) -> Iterator[Item]:
    system, path = locations.located(source)
    root = source if locations.is_uri(source) else ""
    try:
        infos = locations.retried(lambda: _listed(system, path))
    except OSError as error:
        raise UnreadableCapture(f"{shown(locations.without_secrets(source))}: {error}") from error
    if infos is None:
        raise locations.missing(source)
    plain = []
    for info in infos:
        if not is_archive(info.path):
            plain.append(info)
            continue
        yield from _in_archive(system, root, info)
    named = len(infos) == 1 and infos[0].path.rstrip("/") == path.rstrip("/")
    yield from _grouped([info for info in plain if named or not _NO_CAPTURES.search(info.path)], root)


def _listed(system: FileSystem, path: str) -> list[FileInfo] | None:
    from pyarrow import fs

    if any(character in path for character in "*?["):
        folder = path[: re.search(r"[*?[]", path).start()].rpartition("/")[0] or "/"  # type: ignore[union-attr]
        fits = re.compile(translate(path.replace("**/", "*")))
        every = system.get_file_info(fs.FileSelector(folder, allow_not_found=True, recursive=True))
        found = _without_loops(every, folder, system)
        deep = "**" in path
        infos = [each for each in found if fits.match(each.path) and (deep or each.path.count("/") == path.count("/"))]
        infos = [each for each in infos if each.type == fs.FileType.File]
        return infos or None
    info = system.get_file_info(path)
    if info.type == fs.FileType.Directory:
        infos = _without_loops(system.get_file_info(fs.FileSelector(path, recursive=True)), path, system)
        # What is hidden, such as the folder .git, is not a capture. The folder itself may be in a hidden one.
        inside = len(path.rstrip("/"))
        return [each for each in infos if each.type == fs.FileType.File and "/." not in each.path[inside:]]
    return None if info.type == fs.FileType.NotFound else [info]


def _without_loops(infos: Sequence[FileInfo], folder: str, system: FileSystem) -> list[FileInfo]:
    """Each file once, by its shortest path. A link to a folder above it repeats all files until paths are too long."""
    if system.type_name != "local":
        return list(infos)
    try:
        paths = [each.path for each in infos]
    except UnicodeDecodeError:
        raise OSError(f"{_odd_name(folder)} is not UTF-8; rename this file") from None
    first: dict[tuple[str, str], int] = {}
    folders: dict[str, str] = {}
    for at in sorted(range(len(paths)), key=lambda at: (len(paths[at]), paths[at])):
        parent, name = os.path.split(paths[at])
        if parent not in folders:
            folders[parent] = os.path.realpath(parent)
        first.setdefault((folders[parent], name), at)
    return [infos[at] for at in sorted(first.values())]


def _odd_name(folder: str) -> str:
    """The first name below a folder that is not UTF-8."""
    names = (name for _, folders, files in os.walk(folder) for name in (*folders, *files))
    odd = next((name for name in names if not is_utf8(name)), None)
    return repr(os.fsencode(odd)) if odd else "the name of a file below it"


def _grouped(infos: Sequence[FileInfo], root: str) -> Iterator[Item]:
    """One item per file, apart from files NAME.PID, which are parts of one capture."""
    by_path = {info.path: info for info in infos}
    for files in _sets(list(by_path), is_local=not root):
        parts = [by_path[file] for file in files]
        first = files[0] if len(files) == 1 else _common(files)
        yield Item(
            uri=shown(_uri(root, first)),
            files=tuple(files),
            etag=etag_of(parts),
            bytes=sum(each.size or 0 for each in parts),
            root=root,
        )


def etag_of(infos: Sequence[FileInfo]) -> str:
    """Changes when a file changes: sizes and times of modification."""
    text = ",".join(f"{each.size}@{each.mtime_ns}" for each in infos)
    return text if len(infos) == 1 else blake2b(text.encode(), digest_size=8).hexdigest()


def _sets(paths: Sequence[str], *, is_local: bool) -> list[list[str]]:
    if is_local:
        return capture_files.joined(paths)
    return capture_files.joined_by_name(paths)


def _common(files: Sequence[str]) -> str:
    """What the names of the files of one capture have in common: all but the number at the end."""
    name = re.sub(r"\.(gz|bz2|xz|zst)\Z", "", files[0])
    return f"{os.path.splitext(name)[0]}."


def _uri(root: str, path: str) -> str:
    return f"{root.partition('://')[0]}://{path.lstrip('/')}" if root else path


def is_archive(path: str) -> bool:
    """Whether a file contains captures as files."""
    return path.endswith(".zip") or bool(_TAR.search(path))


def _in_archive(system: FileSystem, root: str, info: FileInfo) -> Iterator[Item]:
    """The captures of an archive. An archive that cannot be read is an item that fails."""
    uri = shown(_uri(root, info.path))
    whole = Item(uri, (info.path,), etag_of([info]), info.size or 0, root)
    try:
        with system.open_input_file(info.path) as file:
            sizes = dict(_members(file, info.path))  # type: ignore[arg-type]
    except (OSError, EOFError, ValueError, tarfile.TarError, zipfile.BadZipFile, UnusableInput):
        yield whole
        return
    names = [name for name in sizes if not _NO_CAPTURES.search(name)]
    for files in capture_files.joined_by_name(names):
        name = files[0] if len(files) == 1 else _common(files)
        size = sum(sizes[file] for file in files)
        yield replace(whole, uri=f"{uri}{INSIDE}{shown(name)}", files=tuple(files), archive=info.path, bytes=size)


def _members(file: BinaryIO, path: str) -> Iterator[tuple[str, int]]:
    if path.endswith(".zip"):
        with zipfile.ZipFile(file) as archive:
            yield from ((each.filename, each.file_size) for each in archive.infolist() if not each.is_dir())
        return
    with tarfile.open(fileobj=file) as archive:
        yield from ((each.name, each.size) for each in archive if each.isfile())
