"""Processes that made no call while the tracer was attached: the first line says what they did, who could end it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import recordings
from conftest import Run
from recordings import S, attached, process, snapshot, thread

import tracealyze
from tracealyze.capture.snapshot import Snapshot, taken
from tracealyze.model.capture_input.attached import AttachedState

_AT = "1700000000.000000000"


def _line(folder: Path, text: str, facts: Mapping[str, Any]) -> str:
    """The first sentences of the report."""
    trace = tracealyze.read(recordings.write(folder / "a.strace.zst", text, facts))
    return " ".join(sentence.text for sentence in trace.summary().diagnosis)


def _spin(cpu_ns: int, state: str = "R") -> Mapping[str, Any]:
    states = [thread(100, state=state, cpu_ns=used) for used in (5 * S, 5 * S + cpu_ns)]
    begin, end = (snapshot(process(100, "python3", "spin.py", threads=[each])) for each in states)
    return attached(begin, end)


def test_process_without_a_call_computes(tmp_path: Path) -> None:
    """Silence of the tracer was taken for its failure, and nothing was written."""
    line = _line(tmp_path, "", _spin(2 * S))
    assert line.startswith("BUSY: python3 spin.py (pid 100) made no system call in 2.00 s and used 2.00 s of CPU time")
    assert "perf top -p 100, py-spy dump --pid 100, gdb -p 100" in line
    assert "Other processes" not in line


def test_process_that_shares_a_processor_computes_too(tmp_path: Path) -> None:
    assert "it computes. Other processes used the processors too" in _line(tmp_path, "", _spin(S // 2))


def test_process_that_gets_no_processor_does_not_compute(tmp_path: Path) -> None:
    assert "was ready to run and got 0 s of CPU time" in _line(tmp_path, "", _spin(0))


def test_silent_process_in_the_kernel_does_not_compute(tmp_path: Path) -> None:
    line = _line(tmp_path, "", _spin(0, "D"))
    assert line.startswith("HUNG: python3 spin.py (pid 100) was in the kernel for at least 2.00 s (state D")


def test_stopped_process_is_said_to_be_stopped(tmp_path: Path) -> None:
    begin, end = (snapshot(process(100, "a", state=state)) for state in "Tt")
    line = _line(tmp_path, f"100 {_AT} --- stopped by SIGSTOP ---\n", attached(begin, end))
    assert line.startswith("HUNG: a (pid 100) is stopped (state T)")
    assert "kill -CONT 100" in line


def _reads(*ends: Mapping[str, Any]) -> Mapping[str, Any]:
    fds = [{"fd": 7, "path": "pipe:[9]", "ends": list(ends)}]
    feeder = {"pid": 90, "name": "feeder", "argv": ["/opt/feeder", "a b"], "parent": 1, "state": "S"}
    return attached(snapshot(process(100, "cat", fds=fds), others=[feeder]))


_READ = f"100 {_AT} read(7<pipe:[9]>, <detached ...>\n"


def test_writer_of_a_pipe_is_named(tmp_path: Path) -> None:
    line = _line(tmp_path, _READ, _reads({"pid": 90, "role": "writer"}))
    assert line.startswith("HUNG: cat (pid 100) was in read on pipe:[9] (descriptor 7) for at least 2.00 s")
    assert "The writer is feeder 'a b' (pid 90)." in line
    assert "tracealyze record --for 2s --pid 100,90" in line


def test_pipe_whose_other_end_nobody_else_has_is_a_deadlock(tmp_path: Path) -> None:
    assert "Only the process itself has the other end" in _line(tmp_path, _READ, _reads({"pid": 100, "role": "writer"}))


def test_short_capture_is_not_called_a_hang(tmp_path: Path) -> None:
    facts = dict(_reads()) | {"ended_ns": recordings.BEGAN_NS + S // 10}
    assert _line(tmp_path, _READ, facts).startswith("CANNOT TELL: cat (pid 100) was in read")


def test_process_that_completes_a_call_does_not_hang(tmp_path: Path) -> None:
    text = f"100 {_AT} read(7<pipe:[9]>, "
    assert "HUNG" not in _line(tmp_path, f'{text}"x", 1) = 1 <0.100000000>\n', _reads())


def test_locks_of_two_processes_that_wait_for_each_other_are_a_deadlock(tmp_path: Path) -> None:
    locks = [
        {"pid": 100, "holder": 200, "kind": "FLOCK", "path": "/b"},
        {"pid": 200, "holder": 100, "kind": "FLOCK", "path": "/a"},
    ]
    other = {"pid": 200, "name": "b", "argv": ["b"], "parent": 1, "state": "S"}
    facts = attached(snapshot(process(100, "a"), others=[other], locks=locks))
    line = _line(tmp_path, f"100 {_AT} flock(4</b>, LOCK_EX <detached ...>\n", facts)
    assert line.startswith("HUNG: a (pid 100) was in flock (LOCK_EX) on /b")
    assert (
        "The holder of the lock (flock) is b (pid 200), which waits for a lock of a (pid 100) in turn: a deadlock."
        in line
    )


_WAITS = "".join(f"{tid} {_AT} futex(0x55{tid}, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>\n" for tid in (101, 102))
_JOINS = f"100 {_AT} futex(0x7f10, FUTEX_WAIT_BITSET, 101, NULL, FUTEX_BITSET_MATCH_ANY <detached ...>\n"


@pytest.mark.parametrize("owners", [(0, 0), (102, 101)])
def test_threads_that_all_wait_for_threads_are_a_deadlock(owners: tuple[int, int], tmp_path: Path) -> None:
    threads = [thread(100), *(thread(tid, owner=owner) for tid, owner in zip((101, 102), owners, strict=True))]
    line = _line(tmp_path, _WAITS + _JOINS, attached(snapshot(process(100, "app", threads=threads))))
    assert line.startswith("HUNG: app (pid 100): all of its 3 threads were in futex for at least 2.00 s")
    known = "Thread 101 waits for a mutex of thread 102; thread 102 waits for a mutex of thread 101: a deadlock."
    assert (known in line) == bool(owners[0])
    assert ("Only a signal can end this" in line) != bool(owners[0])


def test_threads_of_an_attached_process_are_not_processes(tmp_path: Path) -> None:
    facts = attached(snapshot(process(100, "app", threads=[thread(100), thread(101), thread(102)])))
    trace = tracealyze.read(recordings.write(tmp_path / "a.strace.zst", _WAITS + _JOINS, facts))
    assert (trace.totals["processes"], trace.totals["threads"]) == (1, 3)


def test_server_without_events_is_fine(tmp_path: Path) -> None:
    facts = attached(snapshot(process(100, "server")))
    line = _line(tmp_path, f"100 {_AT} epoll_wait(4<anon_inode:[eventpoll]>, <detached ...>\n", facts)
    assert line.startswith("FINE: server (pid 100) waited for an event in epoll_wait")


def test_sleep_that_goes_on_has_the_name_that_proc_showed(tmp_path: Path) -> None:
    facts = attached(snapshot(process(100, "sleep", "60", threads=[thread(100, call="clock_nanosleep")])))
    text = f"100 {_AT} restart_syscall(<... resuming interrupted read ...> <detached ...>\n"
    line = _line(tmp_path, text, facts)
    assert line.startswith("HUNG: sleep 60 (pid 100) was in clock_nanosleep for at least 2.00 s")
    assert "idle" not in line and "-T" not in line


def test_first_line_of_the_report_says_it(tmp_path: Path, run: Run) -> None:
    file = recordings.write(tmp_path / "a.strace.zst", _READ, _reads({"pid": 90, "role": "writer"}))
    text = run("summarize", file).stdout
    assert text.startswith("HUNG: cat (pid 100) was in read on pipe:[9]")
    assert "no event has a timestamp" not in text and "2.00 s wall time" in text


def test_names_of_a_hostile_process_are_escaped(tmp_path: Path) -> None:
    facts = attached(snapshot(process(100, "\x1b[2J", "\u202e")))
    assert "\x1b" not in _line(tmp_path, _READ, facts)


def _proc(root: Path, pid: int, comm: str, state: str = "S", **files: str) -> None:
    folder = root / "proc" / str(pid)
    stat = f"{pid} ({comm}) {state} 1 {' '.join(['0'] * 9)} 150 50 {' '.join(['0'] * 30)}\n"
    for name in ("", f"task/{pid}/"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "stat").write_text(stat)
        (folder / name / "comm").write_text(f"{comm}\n")
    (folder / "fd").mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)


def test_snapshot_has_names_descriptors_and_locks_of_processes(tmp_path: Path) -> None:
    _proc(tmp_path, 100, "we) ird", cmdline="python3\0worker.py\0")
    _proc(tmp_path, 90, "feeder", cmdline="feeder\0")
    for pid, flags in ((100, "00"), (90, "01")):
        os.symlink("pipe:[9]", tmp_path / f"proc/{pid}/fd/7")
        (tmp_path / f"proc/{pid}/fdinfo").mkdir()
        (tmp_path / f"proc/{pid}/fdinfo/7").write_text(f"pos:\t0\nflags:\t{flags}\n")
    (tmp_path / "proc/locks").write_text(
        "1: FLOCK  ADVISORY  WRITE 90 08:01:5 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 100 08:01:5 0 EOF\n"
    )
    facts = Snapshot([100, 77], str(tmp_path)).facts()
    state = AttachedState.of({"ended_ns": 1, "pids": [100], "attached": facts, "detached": facts})
    assert state is not None
    assert state.named(100) == "python3 worker.py (pid 100)"
    assert state.cpu_ns(100, 100) == 0
    descriptor, lock = state.descriptor(100, 7), state.lock_of(100)
    assert descriptor is not None and [(end.pid, end.role) for end in descriptor.ends] == [(90, "writer")]
    assert lock is not None and (lock.holder, lock.kind) == (90, "FLOCK")
    assert state.named(90) == "feeder (pid 90)"


def test_snapshot_of_what_is_gone_is_empty(tmp_path: Path) -> None:
    assert taken([7], str(tmp_path))["processes"] == []
