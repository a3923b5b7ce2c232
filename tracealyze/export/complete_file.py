"""A file that has its name only once it is complete."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tracealyze.base.errors import WrongUsage


@contextmanager
def complete_file(target: str | os.PathLike[str], captures: Sequence[str], *, packs: bool) -> Iterator[BinaryIO]:
    """The stream to write to; compressed with `packs` if its name ends in .gz. Equal contents give equal files.

    Raises `WrongUsage` if the target is one of the captures."""
    path = Path(target)
    if any(path.exists() and os.path.exists(file) and path.samefile(file) for file in captures):
        raise WrongUsage(f"{path} is the capture. Write to another file.")
    is_special = path.exists() and not path.is_file()
    part = path if is_special else path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as plain:
            if packs and path.suffix == ".gz":
                with gzip.GzipFile(filename="", mode="wb", fileobj=plain, mtime=0, compresslevel=6) as packed:
                    yield packed  # type: ignore[misc]
            else:
                yield plain
        if not is_special:
            part.replace(path)
    finally:
        if not is_special:
            part.unlink(missing_ok=True)
