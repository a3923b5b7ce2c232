"""Places: local paths and URIs of any file system that pyarrow or fsspec reaches, with bounded retries."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

from tracealyze.base.errors import MissingCapture, UnreadableCapture, WrongUsage
from tracealyze.base.sanitize import is_utf8, shown

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_Value = TypeVar("_Value")

_ATTEMPTS = 6
_FIRST_PAUSE_S = 0.1
_STORAGE_LIBRARIES = ("adlfs", "aiobotocore", "aiohttp", "azure", "botocore", "gcsfs", "google", "requests", "urllib3")
_ARROW_SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "file")


_TIMES = ("mtime", "LastModified", "last_modified", "updated", "modified")
"""How the file systems of fsspec name the time of modification."""


class ChangedSource(OSError):
    """A file is not what it was when it was listed."""


def is_uri(name: str) -> bool:
    """Whether a name has a scheme, such as s3://."""
    return "://" in name and not os.path.exists(name)


def located(name: str) -> tuple[FileSystem, str]:
    """The file system of a path or URI, and the path in it. Raises `WrongUsage` and `UnreadableCapture`."""
    from pyarrow import fs

    if not is_utf8(name):
        raise UnreadableCapture(f"{without_secrets(name)}: the name is not UTF-8; rename this file or folder.")
    if not is_uri(name):
        return fs.LocalFileSystem(), os.path.abspath(name)
    scheme = urlsplit(name).scheme
    try:
        if scheme == "s3":
            return _s3(name)
        if scheme in _ARROW_SCHEMES:
            return fs.FileSystem.from_uri(name)
        return _fsspec(name)
    except ImportError as error:
        advice = 'install it with: pip install "tracealyze[urls]"'
        raise WrongUsage(f"{without_secrets(name)}: needs a package ({error}); {advice}.") from error
    except (OSError, ValueError) as error:
        raise UnreadableCapture(f"{without_secrets(name)}: {_sentence(error)}") from error


def _fsspec(name: str) -> tuple[FileSystem, str]:
    """Any file system that fsspec knows, without its memory of listings: other writers are seen at once."""
    from pyarrow import fs

    base: Any = fs.FSSpecHandler

    class Handler(base):  # type: ignore[misc]
        """With the times of modification that tell whether a file has changed."""

        @staticmethod
        def _create_file_info(path: str, info: Mapping[str, Any]) -> Any:
            times = (info.get(key) for key in _TIMES)
            time_of = next((each for each in times if isinstance(each, datetime | float | int)), None)
            return base._create_file_info(path, {**info, "mtime": time_of})

    options = {"use_listings_cache": False, "skip_instance_cache": True}
    system, path = import_module("fsspec").core.url_to_fs(name, **options)
    return fs.PyFileSystem(Handler(system)), path


def _s3(name: str) -> tuple[FileSystem, str]:
    """S3, with a shorter limit of retries than that of the library, which repeats for minutes."""
    from pyarrow import fs

    parts = urlsplit(name)
    options: dict[str, Any] = dict(parse_qsl(parts.query))
    known: Any = {
        key: options[key]
        for key in ("endpoint_override", "scheme", "region", "access_key", "secret_key")
        if key in options
    }
    if os.environ.get("AWS_ENDPOINT_URL") and "endpoint_override" not in known:
        endpoint = urlsplit(os.environ["AWS_ENDPOINT_URL"])
        known |= {"endpoint_override": endpoint.netloc, "scheme": endpoint.scheme}
    if options.get("anonymous") == "true":
        known["anonymous"] = True
    if "region" not in known and known.get("endpoint_override"):
        known["region"] = os.environ.get("AWS_REGION", "us-east-1")
    known["retry_strategy"] = fs.AwsStandardS3RetryStrategy(max_attempts=5)
    opened: Any = fs.S3FileSystem
    try:
        # A small file is one request instead of three.
        system = opened(**known, allow_delayed_open=True)
    except TypeError:
        # Older versions of pyarrow lack that.
        system = opened(**known)
    return system, f"{parts.netloc}{parts.path}"


def joined(parent: str, *names: str) -> str:
    """The path of a file in a folder of any file system."""
    return "/".join((parent.rstrip("/"), *names))


def without_secrets(name: str) -> str:
    """A URI without its query, user and password, for messages and the store."""
    head, separator, rest = name.partition("://")
    if not separator:
        return name
    rest = rest.partition("?")[0]
    place, slash, path = rest.partition("/")
    return f"{head}://{place.rpartition('@')[2]}{slash}{path}"


def retried(action: Callable[[], _Value], pause: Callable[[float], None] = time.sleep) -> _Value:
    """The value of an action on storage, which is repeated a few times if storage fails; then the error is raised."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return action()
        except (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, ChangedSource):
            raise
        except Exception as error:
            if attempt == _ATTEMPTS or not is_of_storage(error):
                raise
            pause(_FIRST_PAUSE_S * 2 ** (attempt - 1) * (0.5 + random.random()))
    raise AssertionError


def is_of_storage(error: BaseException) -> bool:
    """Whether storage failed. Not all errors of libraries below fsspec, such as botocore and aiohttp, are `OSError`."""
    return isinstance(error, OSError) or type(error).__module__.partition(".")[0] in _STORAGE_LIBRARIES


def missing(name: str) -> MissingCapture:
    """The error for a place where nothing is."""
    return MissingCapture(f"{shown(without_secrets(name))}: no such file or folder.")


def _sentence(error: BaseException) -> str:
    return f"{shown(str(error).strip()).rstrip('.') or type(error).__name__}."
