"""Processes and threads for formats that know them by numbers: each life of a reused id has a number of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracealyze.base.program_names import short
from tracealyze.render.processes import command_of

if TYPE_CHECKING:
    from tracealyze.trace.trace import Trace

FIRST_SYNTHETIC = 1 << 22
"""Above the largest process id of Linux."""


@dataclass(frozen=True)
class Owner:
    """A thread, with its process."""

    task: int
    process: int
    """The task that stands for the process."""
    pid: int
    """The id of the process in the file; not that of the capture if it was used before."""
    tid: int
    parent: int | None
    """The task of the parent process."""
    is_thread: bool
    birth_ns: int | None
    name: str
    argv: str


def owners(trace: Trace) -> dict[int, Owner]:
    """The threads by task, in order of birth."""
    found: dict[int, Owner] = {}
    used: set[tuple[int, int]] = set()
    synthetic = FIRST_SYNTHETIC
    latest: dict[tuple[int, int], Owner] = {}
    for row in sorted(trace.tasks, key=lambda row: (row["is_thread"], row["birth_ns"] or 0, row["task"])):
        capture, pid = row["capture"], row["pid"] if row["pid"] is not None else 0
        tid = row["tid"] if row["tid"] is not None else pid
        process = latest.get((capture, pid)) if row["is_thread"] else None
        if process is None:
            known = (0, pid) in used
            number, shown_tid = (synthetic, synthetic) if known else (pid, tid)
            owner_task, parent = row["task"], row["creator"]
        else:
            known = (1, tid) in used
            number, shown_tid = process.pid, synthetic if known else tid
            owner_task, parent = process.task, None
        synthetic += known
        used |= {(0, number), (1, shown_tid)}
        name = short(row["program"]) or f"pid {pid}"
        argv = command_of(row) or name
        owner = Owner(
            row["task"], owner_task, number, shown_tid, parent, process is not None, row["birth_ns"], name, argv
        )
        found[row["task"]] = owner
        if process is None:
            latest[capture, pid] = owner
    return found


def reuse_notes(threads: dict[int, Owner]) -> list[str]:
    """A sentence if ids were reused."""
    if all(owner.tid < FIRST_SYNTHETIC and owner.pid < FIRST_SYNTHETIC for owner in threads.values()):
        return []
    return [f"An id that was reused has a number from {FIRST_SYNTHETIC} on in its later lives."]
