"""The same run has the same answer, however it was captured. Random runs are in test_random_runs.py."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tracealyze
from tracealyze import Trace
from tracealyze.findings.finding import Severity

_VFORK = {
    100: """\
{0}1700000000.000000 execve("/usr/bin/make", ["make"], 0x7ffc /* 4 vars */) = 0 <0.001000>
{0}1700000000.010000 vfork() = 101 <0.500200>
{0}1700000000.510500 wait4(101, [{{WIFEXITED(s) && WEXITSTATUS(s) == 0}}], 0, NULL) = 101 <0.000010>
{0}1700000000.510600 exit_group(0) = ?
{0}1700000000.510700 +++ exited with 0 +++
""",
    101: """\
{0}1700000000.010100 execve("/bin/true", ["true"], 0x7ffc /* 9 vars */) = 0 <0.500000>
{0}1700000000.510300 exit_group(0) = ?
{0}1700000000.510400 +++ exited with 0 +++
""",
}


def _partition(trace: Trace) -> dict[tuple[object, ...], int]:
    return {(row["pid"], row["program"], row["syscall"]): row["exclusive_ns"] for row in trace.partition}


def _warnings(text: str) -> list[str]:
    found = tracealyze.read(text.encode()).findings
    return [each.name for each in found if each.severity != Severity.INFO]


def test_a_child_of_vfork_owns_its_whole_execve(tmp_path: Path) -> None:
    lines = "".join(text.format(f"{pid} ") for pid, text in _VFORK.items()).splitlines()
    lines.sort(key=lambda line: line.split()[1])
    text = "\n".join(lines) + "\n"
    text = text.replace("vfork() = 101 <0.500200>", "vfork( <unfinished ...>")
    text = text.replace(
        "101 1700000000.510300", "100 1700000000.510200 <... vfork resumed>) = 101 <0.500200>\n101 1700000000.510300"
    )
    for pid, own in _VFORK.items():
        (tmp_path / f"run.{pid}").write_text(own.format(""), encoding="utf-8")
    together, apart = tracealyze.read(text.encode()), tracealyze.read(tmp_path)
    assert _partition(together) == _partition(apart)
    assert _partition(together)[101, "/usr/bin/make", "execve"] == 500_000_000


def test_a_child_that_ends_before_its_clone_returns_ran_the_program_of_its_creator(tmp_path: Path) -> None:
    files = {
        100: """\
{0}1700000000.000000 execve("/usr/bin/make", ["make"], 0x7ffc /* 4 vars */) = 0 <0.001000>
{0}1700000000.010000 clone(child_stack=NULL, flags=SIGCHLD) = 101 <0.006000>
{0}1700000000.020000 wait4(101, [{{WIFEXITED(s) && WEXITSTATUS(s) == 0}}], 0, NULL) = 101 <0.000010>
{0}1700000000.020100 exit_group(0) = ?
{0}1700000000.020200 +++ exited with 0 +++
""",
        101: """\
{0}1700000000.010100 execve("/bin/true", ["true"], 0x7ffc /* 9 vars */) = 0 <0.000300>
{0}1700000000.010500 exit_group(0) = ?
{0}1700000000.010600 +++ exited with 0 +++
""",
    }
    lines = "".join(text.format(f"{pid} ") for pid, text in files.items()).splitlines()
    lines.sort(key=lambda line: line.split()[1])
    text = "\n".join(lines) + "\n"
    clone = "100 1700000000.010000 clone(child_stack=NULL, flags=SIGCHLD"
    text = text.replace(f"{clone}) = 101 <0.006000>", f"{clone} <unfinished ...>")
    text = text.replace("100 1700000000.020000", "100 1700000000.016000 <... clone resumed>) = 101 <0.006000>\n"
                        "100 1700000000.020000")  # fmt: skip
    for pid, own in files.items():
        (tmp_path / f"run.{pid}").write_text(own.format(""), encoding="utf-8")

    def programs(trace: Trace) -> list[str | None]:
        rows = trace.events.to_arrow().to_pylist()
        return [row["program"] for row in rows if row["pid"] == 101 and row["syscall"] == "execve"]

    together, apart = tracealyze.read(text.encode()), tracealyze.read(tmp_path)
    assert programs(together) == programs(apart) == ["/usr/bin/make"]


def test_a_child_of_a_child_has_the_descriptors_that_both_inherit_late() -> None:
    text = """\
2 1700000000.000000 execve("/bin/sh", ["sh"], 0x7ffc /* 4 vars */) = 0 <0.000100>
2 1700000000.001000 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000100>
2 1700000000.001200 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
3 1700000000.001300 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
4 1700000000.001400 clone(child_stack=NULL, flags=SIGCHLD) = 5 <0.000100>
2 1700000000.001600 <... clone resumed>) = 4 <0.000400>
3 1700000000.001700 <... clone resumed>) = 6 <0.000400>
5 1700000000.001800 poll([{fd=0, events=POLLIN}], 1, 66) = 0 (Timeout) <0.066000>
6 1700000000.001900 getpid() = 6 <0.000010>
5 1700000000.068000 exit_group(0) = ?
"""
    rows = tracealyze.read(text.encode()).events.to_arrow().to_pylist()
    assert [row["target"] for row in rows if row["syscall"] == "poll"] == ["stdin"]


def test_without_durations_vfork_lasts_as_long_as_the_execve_of_its_child() -> None:
    text = """\
100 1700000000.000000 execve("/usr/bin/make", ["make"], 0x7ffc /* 4 vars */) = 0
100 1700000000.010000 vfork( <unfinished ...>
101 1700000000.010100 execve("/bin/true", ["true"], 0x7ffc /* 9 vars */) = 0
100 1700000000.510200 <... vfork resumed>) = 101
101 1700000000.510300 exit_group(0) = ?
101 1700000000.510400 +++ exited with 0 +++
100 1700000000.510500 wait4(101, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 101
100 1700000000.510600 exit_group(0) = ?
"""
    costs = _partition(tracealyze.read(text.encode()))
    assert costs[101, "/usr/bin/make", "execve"] == 500_100_000
    assert costs[100, "/usr/bin/make", "vfork"] == 100_000


def test_without_durations_the_next_line_of_a_child_of_vfork_may_come_first() -> None:
    text = """\
100 1700000000.000000 execve("/usr/bin/make", ["make"], 0x7ffc /* 4 vars */) = 0
100 1700000000.010000 vfork( <unfinished ...>
101 1700000000.010050 rt_sigprocmask(SIG_SETMASK, [], NULL, 8) = 0
101 1700000000.010100 execve("/bin/true", ["true"], 0x7ffc /* 9 vars */) = 0
101 1700000000.510150 brk(NULL) = 0x55d0c1000
100 1700000000.510200 <... vfork resumed>) = 101
100 1700000000.510250 wait4(101, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL <unfinished ...>
101 1700000000.510300 exit_group(0) = ?
101 1700000000.510400 +++ exited with 0 +++
100 1700000000.510500 <... wait4 resumed>) = 101
100 1700000000.510600 exit_group(0) = ?
"""
    costs = _partition(tracealyze.read(text.encode()))
    assert costs[101, "/usr/bin/make", "execve"] == 500_050_000
    assert costs[100, "/usr/bin/make", "vfork"] < 1_000_000


@pytest.mark.parametrize("first", [3, 45, 998, 4545], ids=["one digit", "two digits", "both lengths", "four digits"])
def test_ids_of_children_make_one_target_whatever_their_length(first: int) -> None:
    lines = ['2 1700000000.000000 execve("/bin/sh", ["sh"], 0x7ffc /* 4 vars */) = 0 <0.000100>']
    for number in range(3):
        child, second = first + number, number + 1
        lines += [
            f"2 170000000{second}.001000 clone(child_stack=NULL, flags=SIGCHLD) = {child} <0.000100>",
            f"{child} 170000000{second}.002000 exit_group(0) = ?",
            f"{child} 170000000{second}.003000 +++ exited with 0 +++",
            f"2 170000000{second}.004000 wait4({child}, 0x7ffd, 0, NULL) = {child} <0.001000>",
        ]
    trace = tracealyze.read("\n".join([*lines, "2 1700000005.000000 exit_group(0) = ?\n"]).encode())
    assert [(row["target"], row["calls"]) for row in trace.partition if row["syscall"] == "wait4"] == [("N", 3)]


def _limits_of_pauses(text: str) -> list[int]:
    rows = tracealyze.read(text.encode()).events.to_arrow().to_pylist()
    return [row["requested_ns"] for row in rows if row["syscall"] == "pause"]


def test_a_timer_that_is_set_in_halves_limits_the_pause() -> None:
    timer = "setitimer(ITIMER_REAL, {it_interval={tv_sec=0, tv_usec=0}, it_value={tv_sec=0, tv_usec=200000}}, "
    text = f"""\
7 1700000000.000000 {timer}END
7 1700000000.000200 pause() = ? ERESTARTNOHAND (To be restarted if no handler) <0.200001>
7 1700000000.200300 --- SIGALRM {{si_signo=SIGALRM, si_code=SI_KERNEL}} ---
7 1700000000.200400 exit_group(0) = ?
"""
    whole = text.replace("END", "NULL) = 0 <0.000050>")
    halves = text.replace("END", "<unfinished ...>\n8 1700000000.000030 getpid() = 8 <0.000001>\n"
                         "7 1700000000.000050 <... setitimer resumed>NULL) = 0 <0.000050>")  # fmt: skip
    limits = [_limits_of_pauses(each) for each in (whole, halves)]
    assert limits[0] == limits[1] == [199_800_000]


_START = '7 1700000000.000000 execve("/bin/x", ["x"], 0x7ffd /* 1 var */) = 0 <0.000100>\n'
_BLIND = {
    "a sync before work": """\
7 1700000000.010000 fsync(3) = 0 <0.052000>
7 1700000000.364000 openat(AT_FDCWD, "/b", O_RDONLY) = 3 <0.000100>
7 1700000000.364200 exit_group(0) = ?
""",
    "one slow sync of several": """\
7 1700000000.010000 fsync(3) = 0 <0.000100>
7 1700000000.010200 fsync(3) = 0 <0.000100>
7 1700000000.010400 fsync(3) = 0 <0.000100>
7 1700000000.010600 fsync(3) = 0 <0.000100>
7 1700000000.010800 fsync(3) = 0 <0.000100>
7 1700000000.364000 openat(AT_FDCWD, "/b", O_RDONLY) = 3 <0.000100>
7 1700000000.364200 exit_group(0) = ?
""",
    "short waits before work": """\
7 1700000000.010000 poll([{fd=0, events=POLLIN}], 1, 15) = 0 (Timeout) <0.015003>
7 1700000000.042000 close(3) = 0 <0.000039>
7 1700000000.042123 poll([{fd=0, events=POLLIN}], 1, 66) = 0 (Timeout) <0.066044>
7 1700000000.111392 lseek(0, 0, SEEK_CUR) = -1 ESPIPE (Illegal seek) <0.000010>
7 1700000000.111592 exit_group(0) = ?
""",
    "a fork before work": """\
7 1700000000.010000 clone(child_stack=NULL, flags=SIGCHLD) = 8 <0.000100>
8 1700000000.010200 exit_group(0) = ?
8 1700000000.010300 +++ exited with 0 +++
7 1700000000.364000 wait4(8, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 8 <0.000100>
7 1700000000.364200 exit_group(0) = ?
""",
    "three programs that are started, of which one works at once": """\
7 1700000000.080000 clone(child_stack=NULL, flags=SIGCHLD) = 8 <0.000100>
8 1700000000.080200 execve("/bin/y", ["y"], 0x7ffd /* 1 var */ <unfinished ...>
7 1700000000.080300 wait4(8,  <unfinished ...>
8 1700000000.200000 <... execve resumed>) = 0 <0.119800>
8 1700000000.500000 exit_group(0) = ?
8 1700000000.500100 +++ exited with 0 +++
7 1700000000.500200 <... wait4 resumed>[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 8 <0.419900>
7 1700000000.500300 clone(child_stack=NULL, flags=SIGCHLD) = 9 <0.000100>
9 1700000000.500500 execve("/bin/y", ["y"], 0x7ffd /* 1 var */ <unfinished ...>
7 1700000000.500600 wait4(9,  <unfinished ...>
9 1700000000.620000 <... execve resumed>) = 0 <0.119500>
9 1700000001.300000 exit_group(0) = ?
9 1700000001.300100 +++ exited with 0 +++
7 1700000001.300200 <... wait4 resumed>[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 9 <0.799600>
7 1700000001.300300 exit_group(0) = ?
""",
    "work after the last call of a thread": """\
7 1700000000.010000 clone(child_stack=0x7f10, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD) = 8 <0.000100>
7 1700000000.010200 futex(0x7f20, FUTEX_WAIT, 8, NULL <unfinished ...>
8 1700000000.010300 madvise(0x7f30, 4096, MADV_DONTNEED) = 0 <0.000010>
7 1700000000.610000 <... futex resumed>) = 0 <0.599800>
7 1700000000.610200 exit_group(0) = ?
""",
}


@pytest.mark.parametrize("lines", _BLIND.values(), ids=_BLIND.keys())
def test_without_durations_nobody_else_is_accused(lines: str) -> None:
    text = _START + lines
    assert set(_warnings(re.sub(r"(?m) <\d+\.\d+>$", "", text))) <= set(_warnings(text))
