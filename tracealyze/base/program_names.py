"""Names of programs and processes as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def short(program: str | None) -> str:
    """The last part of a program's path, which is the same on machines with different folders; empty if unknown."""
    return str(program).rsplit("/", 1)[-1] if program else ""


def file_and_line(source: str) -> tuple[str, int]:
    """The two parts of a place in the source: `quota.c:118`. The line is 0 if there is none."""
    file, _, line = source.rpartition(":")
    return (file, int(line)) if file and line.isdecimal() else (source, 0)


def process_of(row: Mapping[str, Any]) -> str:
    """The process that a row is about, for a sentence: `sh (pid 12)`."""
    pid, program = row.get("pid"), short(row.get("program"))
    if program:
        return f"{program} (pid {pid})" if pid is not None else program
    return f"pid {pid}" if pid is not None else "the traced process"


def subject(row: Mapping[str, Any]) -> str:
    """The process that a row is about: `pid 12 /bin/sh`."""
    pid, program = row.get("pid"), row.get("program")
    return (
        " ".join(part for part in (f"pid {pid}" if pid is not None else "", program or "") if part)
        or "the traced process"
    )
