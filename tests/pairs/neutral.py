"""Neutral comparisons: a version with itself, on a machine with another load, with cold caches, and once more."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

from pair import CACHE, RUNS, Pair, alive, record, run

_BUSY = "while True: pass"


def neutral(pair: Pair) -> Iterator[tuple[str, list[str]]]:
    """Captures of the version that makes more calls, for each kind of comparison."""
    with alive(pair, pair.more):
        run(pair)
        with _busy():
            yield "other load", _recorded(pair, "load")
    with alive(pair, pair.more):
        _cool(pair.live)
        yield "cold caches", _recorded(pair, "cold")
    with alive(pair, pair.more):
        run(pair)
        yield "again", _recorded(pair, "again")


def _recorded(pair: Pair, name: str) -> list[str]:
    """As many runs as `check` records. Of fewer, it could not tell a first run that fills a cache from more work: black
    22.6.0 writes a cache in its second run, because the folder of the cache is missing in the first."""
    files = [CACHE / "captures" / pair.name / f"{name}-{number}.strace.zst" for number in range(1, RUNS + 1)]
    return [record(pair, file) for file in files]


@contextmanager
def _busy() -> Iterator[None]:
    """A busy process on each processor."""
    started = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def _cool(folder: Path) -> None:
    """Have the first run compile, and read from the disk."""
    for compiled in list(folder.rglob("__pycache__")):
        rmtree(compiled)
    for file in folder.rglob("*"):
        if file.is_file() and not file.is_symlink():
            with file.open("rb") as opened:
                os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
