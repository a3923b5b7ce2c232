"""Recordings made by hand, as `record` writes them: one for each way in which a recording ends."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tracealyze.capture.capture_file import CaptureFile

S = 1_000_000_000
BEGAN_NS = 1_700_000_000 * S
FACTS = {
    "record": 1,
    "profile": "full",
    "tracer": "strace -- version 6.1",
    "flags": ["-f", "--absolute-timestamps=format:unix,precision:ns", "--syscall-times=ns", "-y"],
    "overhead_ns": 20_000,
    "kernel": "6.1.0",
    "cores": 2,
    "labels": {"version": "4"},
}

RUN = """\
100 1700000000.000000000 execve("/usr/bin/sleep", ["sleep", "30"], 0x7ff /* 9 vars */) = 0 <0.000300000>
100 1700000000.001000000 openat(AT_FDCWD, "/etc/none", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000020000>
"""
SLEEPS = "100 1700000000.002000000 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=30, tv_nsec=0}, "
DONE = SLEEPS + "NULL) = 0 <0.998000000>\n"
OPEN = SLEEPS + " <detached ...>\n"


def thread(tid: int, *, cpu_ns: int = 0, state: str = "S", **more: Any) -> dict[str, Any]:
    return {"tid": tid, "name": "x", "state": state, "cpu_ns": cpu_ns} | more


def process(pid: int, *argv: str, threads: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    state = more.get("state", "S")
    known = {
        "pid": pid,
        "name": argv[0],
        "path": f"/usr/bin/{argv[0]}",
        "argv": list(argv),
        "parent": 1,
        "state": state,
    }
    return known | {"threads": threads or [thread(pid, state=state)], "fds": []} | more


def snapshot(*processes: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"at_ns": BEGAN_NS, "processes": list(processes), "left_out": 0, "locks": [], "others": []} | more


def attached(begin: Mapping[str, Any], end: Mapping[str, Any] | None = None, seconds: int = 2) -> dict[str, Any]:
    """Facts of a recording of processes that ran already. The first one is that which the user named."""
    return {
        "pids": [begin["processes"][0]["pid"]],
        "attached": begin,
        "detached": end or begin,
        "ended": "time limit",
        "began_ns": BEGAN_NS,
        "ended_ns": BEGAN_NS + seconds * S,
    }


_CAT = snapshot(process(100, "cat"))
_STOPPED = snapshot(process(100, "a", state="T"))
_NO_THREADS = {"pid": 100, "threads": [{"tid": 1 << 50}, {}], "argv": [None, "\ud800"]}

ENDINGS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "exit": (RUN + DONE + "100 1700000001.000000000 +++ exited with 0 +++\n", {"ended": "exit", "exit": 0}),
    "failure": (RUN + "100 1700000001.000000000 +++ exited with 7 +++\n", {"ended": "exit", "exit": 7}),
    "signal": (RUN + OPEN + "100 1700000001.000000000 +++ killed by SIGTERM +++\n", {"ended": "exit", "exit": -15}),
    "interrupt": (RUN + OPEN, {"ended": "interrupt", "began_ns": BEGAN_NS, "ended_ns": BEGAN_NS + S}),
    "time limit": (RUN + OPEN, {"ended": "time limit", "exit": None, "ended_ns": BEGAN_NS + S, "detached": _CAT}),
    "size limit": (RUN, {"ended": "size limit", "ended_ns": BEGAN_NS + S}),
    "trigger": (RUN + DONE, {"ended": "trigger", "trigger": "100 …", "ended_ns": BEGAN_NS + S}),
    "full disk": (RUN, {"ended": "a full disk", "exit": 3}),
    "tracer killed": (RUN, {"ended": "the end of the tracer", "ended_ns": BEGAN_NS + S}),
    "record killed": (RUN, {}),
    "detached": ("100 1700000000.000000000 read(0<pipe:[7]>, <detached ...>\n", attached(_CAT)),
    "stopped": (
        "100 1700000000.000000000 --- stopped by SIGSTOP ---\n",
        attached(snapshot(process(100, "a", state="T"))),
    ),
    "empty": ("", attached(snapshot(process(100, "python3", "spin.py")))),
    "empty, by an older version": ("", {"ended": "time limit", "exit": None}),
    "hostile": (
        RUN + OPEN,
        dict.fromkeys(("exit", "labels", "began_ns", "detached", "future"))
        | {"ended": "time limit", "ended_ns": 1 << 70, "pids": [None, -1, 1 << 40, "7"], "cores": None, "flags": [None]}
        | {
            "attached": {
                "processes": [None, 7, {"pid": 100, "threads": [{"tid": 1 << 50}, {}], "argv": [None, "\ud800"]}]
            }
        },
    ),
    "hostile end": (RUN + OPEN, {"ended": "time limit", "ended_ns": (1 << 62) - 1, "attached": [], "pids": {}}),
}
"""Lines and last facts by the way in which the recording ends."""


def write(file: Path, text: str, facts: Mapping[str, Any]) -> Path:
    """A recording with these lines."""
    first = {name: facts[name] for name in ("pids", "attached") if name in facts}
    capture = CaptureFile(str(file), FACTS | first)
    if text:
        capture.write(text.encode())
    last = {name: value for name, value in facts.items() if name not in first}
    if last:
        capture.close(last)
    else:
        # As if it were killed.
        capture.end_frame()
        capture._file.close()
    return file
