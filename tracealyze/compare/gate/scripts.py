"""The script of the project that a capture ran. Annotations point there, because a capture is in no repository."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracealyze.compare.run import Run

_MAX_BYTES = 1_000_000
# The scenario is one of the first processes: the script, or a wrapper around it.
_FIRST_PROCESSES = 8


@dataclass(frozen=True)
class Source:
    """A line of a file in the project."""

    path: str
    line: int = 1


def source(run: Run, commands: Sequence[str]) -> Source | None:
    """The script that a run executed, at the line that names one of these commands; None if it is not here."""
    for path in dict.fromkeys(_scripts(run)):
        return Source(path, next((line for command in commands if (line := line_of(path, command))), 1))
    return None


def _scripts(run: Run) -> Iterator[str]:
    captured = {os.path.abspath(file) for file in run.trace.captures[0].files}
    for row in run.trace.processes.head(_FIRST_PROCESSES):
        for word in str(row["argv"] or "").split():
            if os.path.abspath(word) not in captured and _is_script_here(word):
                yield os.path.relpath(word)


def _is_script_here(word: str) -> bool:
    path = Path(word)
    try:
        if not path.is_file() or not path.resolve().is_relative_to(Path.cwd().resolve()):
            return False
        return 0 < path.stat().st_size <= _MAX_BYTES and b"\0" not in path.read_bytes()
    except (OSError, ValueError):
        return False


def line_of(path: str, text: str) -> int | None:
    """The first line of a file that contains a text; None if there is none."""
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    return next((number for number, line in enumerate(lines, start=1) if text in line), None)
