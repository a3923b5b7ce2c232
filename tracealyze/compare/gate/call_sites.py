"""The line of the project's source from which calls are made, where the tracer printed stacks with source lines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tracealyze.base.program_names import file_and_line
from tracealyze.compare.gate.scripts import Source

if TYPE_CHECKING:
    from tracealyze.compare.gate.places import Place
    from tracealyze.compare.run import Run
    from tracealyze.model.table import Row


def call_site(run: Run, place: Place) -> Source | None:
    """The line that makes most of the calls of a place; None if it is unknown or not in the project."""
    if not run.trace.has_stacks:
        return None
    program, shape = place
    keys = ("program_name", "shape", "source")
    rows = run.trace.narrowed(syscalls=[shape.partition("(")[0]]).calls(by=keys, quantiles=False)
    of_program = [row for row in rows if (row["program_name"] or "") == program]
    # The shape of a wait is not that of its calls: `clock_nanosleep() of 200 ms`.
    alike = [row for row in of_program if row["shape"] == shape] or of_program
    return next(filter(None, (in_project(row["source"]) for row in sorted(alike, key=_weight))), None)


def _weight(row: Row) -> tuple[int, int]:
    return -row["calls"], -(row["total_ns"] or 0)


def in_project(source: str | None) -> Source | None:
    """A place in the source, if its file is below the working directory."""
    if not source:
        return None
    file, line = file_and_line(source)
    here = Path.cwd().resolve()
    try:
        path = Path(file).resolve()
        if line and path.is_file() and path.is_relative_to(here):
            return Source(path.relative_to(here).as_posix(), line)
    except (OSError, ValueError):
        # A name that no file system accepts.
        return None
    return None
