"""Captures behind URLs, such as s3://bucket/run.strace: fsspec fetches them into temporary files."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tracealyze.base.errors import MissingCapture, UnreadableCapture, WrongUsage
from tracealyze.base.sanitize import shown

if TYPE_CHECKING:
    from tracealyze.model.capture_input.temporary_files import TemporaryFiles

_URL = re.compile(r"(?P<protocol>[A-Za-z][A-Za-z0-9+.-]*)(?:::|://)")
_SECRET = re.compile(r"(?<=://)[^/@\s]*@|\?.*", re.DOTALL)
"""User and password, and the query, which may be a signature."""
_CHUNK_BYTES = 1 << 20


def is_url(name: str) -> bool:
    """Whether this is a URL. Chained ones such as zip://a.strace::s3://bucket/all.zip count."""
    return "://" in name and bool(_URL.match(name)) and not os.path.exists(name)


def local_names(names: Iterable[str], temporary: TemporaryFiles) -> list[str]:
    """The names, with the paths of fetched files in place of URLs."""
    return [each for name in names for each in (fetched(name, temporary) if is_url(name) else [name])]


def fetched(url: str, temporary: TemporaryFiles) -> list[str]:
    """The paths of the files that a URL names, several if it has a wildcard, fetched into temporary files.

    Raises `WrongUsage` if a package is missing, `MissingCapture` and `UnreadableCapture`."""
    named = shown(_SECRET.sub("", url))
    try:
        files = _fsspec(named).open_files(url, "rb")
        if not files:
            raise MissingCapture(f"{named}: no file matches.")
        return temporary.add_together({_base_name(each.path, at): _parts(each) for at, each in enumerate(files)})
    except (MissingCapture, WrongUsage):
        raise
    except FileNotFoundError as error:
        raise MissingCapture(f"{named}: no such file.") from error
    except ImportError as error:
        raise WrongUsage(f"{named}: {_sentence(error)}") from error
    except Exception as error:
        # Each file system has errors of its own, and no common class.
        raise UnreadableCapture(f"{named}: cannot be read: {_sentence(error)}") from error


def _fsspec(named: str) -> Any:
    try:
        return import_module("fsspec")
    except ImportError as error:
        raise WrongUsage(f'{named}: URLs need fsspec; install it with: pip install "tracealyze[urls]".') from error


def _base_name(path: str, number: int) -> str:
    """The last part of the path. Files NAME.PID keep it, because they are parts of one capture."""
    name = re.sub(r"[^\w.-]+", "", posixpath.basename(path.partition("?")[0])) or "capture"
    return name if name.strip(".") else f"capture{number}"


def _parts(file: Any) -> Iterator[bytes]:
    with file as stream:
        while part := stream.read(_CHUNK_BYTES):
            yield part


def _sentence(error: BaseException) -> str:
    text = shown(_SECRET.sub("", str(error).strip())).rstrip(".") or type(error).__name__
    return f"{text}."
