"""Live captures of one program in one file (-f) and in a file per thread (-ff) must give the same answer."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import oracle
import pytest

import tracealyze

pytestmark = [pytest.mark.live, pytest.mark.skipif(oracle.why_not() is not None, reason=str(oracle.why_not()))]

# Sleepers run one after the other, each awaited differently: a child, a thread, a pipe from a grandchild.
PROGRAM = """
import os, subprocess, threading, time
if os.fork() == 0:
    time.sleep(0.3)
    os._exit(0)
os.wait()
thread = threading.Thread(target=time.sleep, args=(0.35,))
thread.start()
thread.join()
subprocess.run(["sh", "-c", "echo $(sleep 0.4; echo done)"], stdout=subprocess.PIPE)
"""
ATTEMPTS = 5
REQUESTED_NS = {"a child": 300_000_000, "a thread": 350_000_000, "a program": 400_000_000}


def path_time(trace: tracealyze.Trace) -> Counter[str]:
    """The path time of each sleeper, and the path time of waits without a known cause."""
    sums: Counter[str] = Counter()
    for row in trace.partition:
        if row["class"] == "sleep":
            is_program = (row["program"] or "").rsplit("/", 1)[-1] == "sleep"
            who = "a program" if is_program else "a thread" if row["tid"] != row["pid"] else "a child"
            sums[who] += row["exclusive_ns"]
        elif not row["resolved"]:
            sums["unresolved"] += row["exclusive_ns"]
    return sums


def is_complete(trace: tracealyze.Trace) -> bool:
    """Whether nearly all sleep is on the path; on a busy machine, other tasks may still be working."""
    sums = path_time(trace)
    slept = all(sums[who] >= 0.8 * requested_ns for who, requested_ns in REQUESTED_NS.items())
    return slept and sums["unresolved"] <= 0.1 * trace.window.wall_ns


@pytest.mark.parametrize("options", [["-f"], ["-ff"], ["-f", "-y"], ["-ff", "-y"]], ids=" ".join)
def test_files_per_thread_give_the_same_critical_path(options: list[str], tmp_path: Path) -> None:
    for attempt in range(ATTEMPTS):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        log = oracle.capture_as([sys.executable, "-S", "-c", PROGRAM], folder, *options, "-ttt", "-T")
        trace = tracealyze.read(log)
        assert sum(row["exclusive_ns"] for row in trace.partition) == trace.window.wall_ns
        if is_complete(trace):
            return
    pytest.fail(f"in none of {ATTEMPTS} captures: {dict(path_time(trace))}")
