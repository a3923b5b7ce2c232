"""Facts that tracers state in their own way: parents, births, losses, and threads that lines do not name."""

from __future__ import annotations

from pathlib import Path

import tracealyze
from tracealyze import Trace


def _read(tmp_path: Path, text: str) -> Trace:
    capture = tmp_path / "own.trace"
    capture.write_text(text)
    return tracealyze.read(str(capture))


def _mixed(with_threads: bool) -> str:
    """One thread makes slow ioctls, another one slow stats at the same time."""
    lines = []
    for turn in range(20):
        at = 0.05 * turn + 0.001
        for tid, end, dur, call in (
            (100123, at + 0.045, 0.044, "fstat(4,{ mode=-rw-r--r-- })"),
            (100124, at + 0.049, 0.0489, "ioctl(4,DIOCGMEDIASIZE,0x7ff)"),
        ):
            ids = f"  812 {tid}" if with_threads else "  812"
            lines.append(f"{ids}: {end:.9f} {dur:.9f} {call}\t\t = 0 (0x0)\n")
    return "".join(lines)


def test_mixed_threads_make_no_warning_on_a_loop(tmp_path: Path) -> None:
    trace = _read(tmp_path, _mixed(with_threads=False))
    assert trace.captures[0].mixed_calls >= 15
    assert {each.severity for each in trace.findings} <= {"info"}
    assert {each.confidence for each in trace.findings if each.impact_ns} <= {"inferred"}


def test_sleeps_of_mixed_threads_are_no_error(tmp_path: Path) -> None:
    """One thread reads all the time, another one sleeps."""
    reads = [(0.02 + 0.051 * turn + 0.05, 0.05, 'read(4,"x",4096)\t\t = 1 (0x1)') for turn in range(60)]
    sleeps = [(0.03 + 1.45 * turn + 1.4, 1.4, "nanosleep({ 1.400000000 })\t\t = 0 (0x0)") for turn in range(2)]
    lines = (f"  800: {end:.9f} {dur:.9f} {call}\n" for end, dur, call in sorted(reads + sleeps))
    trace = _read(tmp_path, "".join(lines))
    assert trace.captures[0].mixed_calls >= 50
    assert "fixed-sleep" in {each.name for each in trace.findings}
    assert {each.severity for each in trace.findings} == {"info"}


def test_named_threads_keep_the_warning(tmp_path: Path) -> None:
    trace = _read(tmp_path, _mixed(with_threads=True))
    assert trace.captures[0].mixed_calls == 0
    assert {each.severity for each in trace.findings} & {"warning", "error"}


def test_getpid_names_the_parent(tmp_path: Path) -> None:
    trace = _read(
        tmp_path,
        "6427:\tgetpid()\t\t\t\t\t= 6427 [6400]\n"
        "6428:\tgetpid()\t\t\t\t\t= 6428 [6427]\n"
        '6428:\twrite(1, "x", 1)\t\t\t\t= 1\n',
    )
    assert {row["pid"]: row["creator_pid"] for row in trace.tasks}[6428] == 6427


def test_birth_of_a_child_is_no_call(tmp_path: Path) -> None:
    trace = _read(
        tmp_path,
        "100:\t 0.0010\t 0.0010\tbrk(0)\t\t\t\t\t= 0\n"
        "100:\t 0.0020\t 0.0010\tforkx(0)\t\t\t\t\t= 101\n"
        "101:\t 0.0021\t 0.0021\tforkx()\t\t(returning as child ...)\t= 100\n"
        "101:\t 0.0030\t 0.0009\t_exit(0)\n",
    )
    assert {row["syscall"]: row["calls"] for row in trace.calls("syscall")}["forkx"] == 1
    assert {row["pid"]: row["creator_pid"] for row in trace.tasks}[101] == 100


def test_notices_of_dtrace_are_lost_events_not_lines(tmp_path: Path) -> None:
    error = (
        "dtrace: error on enabled probe ID 2172 (ID 161: syscall::write:return): "
        "invalid kernel access in action #12 at DIF offset 0\n"
    )
    drops = "dtrace: 12 dynamic variable drops with non-empty dirty list\n"
    call = 'read(0x3, "x\\0", 0x10)\t\t = 16 0\n'
    trace = _read(tmp_path, "SYSCALL(args) \t\t = return\n" + call + error + call + drops + call + error)
    (found,) = [each for each in trace.findings if each.name == "lossy-capture"]
    assert found.lines == (3, 5)
    assert "could not be used" not in found.message
    (loss,) = trace.captures[0].losses
    assert (loss.lines, loss.events) == (3, 14)
    assert loss.causes == {"no-variable-space": 12, "unreadable-argument": 2}
