"""Tracers and traced processes, as /proc shows them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from time import monotonic, sleep

_POLL_S = 0.02
_MAX_DETACHING_S = 2.0
_KILLING_ROUNDS = 3
"""Processes may create others while they are looked for."""


def pids() -> Iterator[int]:
    """All processes that this process can see."""
    for name in os.listdir("/proc"):
        if name.isdecimal():
            yield int(name)


def status(pid: int | str) -> dict[str, str]:
    """The fields of /proc/PID/status; empty if there is no such process."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            pairs = (line.partition(":") for line in file)
            return {name: value.strip() for name, _, value in pairs}
    except OSError:
        return {}


def descendants(of: Iterable[int]) -> list[int]:
    """The processes that these have created, and those that they created in turn; without this process and its own."""
    children: dict[int, list[int]] = {}
    for pid in pids():
        children.setdefault(int(status(pid).get("PPid", "0")), []).append(pid)
    found, left = [], list(of)
    known = {*left, os.getpid()}
    while left:
        new = [pid for pid in children.get(left.pop(0), ()) if pid not in known]
        known.update(new)
        found += new
        left += new
    return found


def tracer_of(pid: int) -> int:
    """The tracer of a process; 0 if there is none."""
    return int(status(pid).get("TracerPid", "0"))


def traced_by(tracers: set[int]) -> set[int]:
    """Processes with a thread that one of these traces."""
    found = set()
    for pid in pids():
        with suppress(OSError):
            threads = os.listdir(f"/proc/{pid}/task")
            if any(int(status(f"{pid}/task/{each}").get("TracerPid", "0")) in tracers for each in threads):
                found.add(pid)
    return found


def writers_of(pipe: int) -> set[int]:
    """The other processes that have the pipe open: the tracer that writes to it."""
    name, found = f"pipe:[{os.fstat(pipe).st_ino}]", set()
    for pid in pids():
        if pid == os.getpid():
            continue
        with suppress(OSError):
            for number in os.listdir(f"/proc/{pid}/fd"):
                if os.readlink(f"/proc/{pid}/fd/{number}") == name and _is_written(pid, number):
                    found.add(pid)
    return found


def _is_written(pid: int, number: str) -> bool:
    with open(f"/proc/{pid}/fdinfo/{number}", encoding="ascii") as file:
        flags = next((line.split()[1] for line in file if line.startswith("flags:")), "0")
    return bool(int(flags, 8) & os.O_ACCMODE)


def end_tracing(pipe: int, *, kills: bool, take: Callable[[bytes], object] = len) -> None:
    """Make the tracer that writes to this pipe detach, and `take` what it still writes.

    With `kills`, end the processes, which cannot run without the tracer."""
    tracers = writers_of(pipe)
    if kills:
        for _ in range(_KILLING_ROUNDS):
            _send(traced_by(tracers), signal.SIGKILL)
    _send(tracers, signal.SIGTERM)
    end = monotonic() + _MAX_DETACHING_S
    while tracers and monotonic() < end:
        sleep(_POLL_S)
        _drain(pipe, take)
        tracers = {pid for pid in tracers if status(pid).get("State", "Z")[0] not in "ZX"}
    _send(tracers, signal.SIGKILL)
    _drain(pipe, take)


def _drain(pipe: int, take: Callable[[bytes], object]) -> None:
    """Read what the tracer still writes, so that it is not blocked on a full pipe."""
    os.set_blocking(pipe, False)
    with suppress(BlockingIOError):
        while text := os.read(pipe, 1 << 20):
            take(text)


def _send(to: set[int], number: signal.Signals) -> None:
    # Parents first, as a rule: a shell reports children that were killed.
    for pid in sorted(to):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
