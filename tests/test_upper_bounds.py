"""Durations that are upper bounds: what shows that a task was in a call, and what is said where nothing does."""

from __future__ import annotations

from pathlib import Path

import pytest

import tracealyze
from tracealyze.findings.finding import Finding, Severity

_NO_NOTICE, _NOTICE = "", "7:\tread(3, 0x08047B40, 512)\t(sleeping...)\n"
_TRUSS = """\
Base time stamp:  1259020532.4127  [ Mon Nov 23 23:55:32 GMT 2009 ]
7:\t 0.0000\t 0.0000\t 0.0000\texecve("/bin/x", 0x08047A40, 0x08047A50)  argc = 1
7:\t 0.0100\t 0.0100\t 0.0001\topen("/a", O_RDONLY)\t= 3
7:\t 0.0101\t 0.0001\t 0.0001\tread(3, 0x08047B40, 512)\t= 3
{notice}7:\t 1.5401\t 1.5300\t {kernel}\tread(3, 0x08047B40, 512)\t= 3
7:\t 1.5402\t 0.0001\t 0.0001\tclose(3)\t= 0
7:\t 1.5403\t 0.0001\t 0.0001\t_exit(0)
"""
_STRACE = """\
7 1700000100.000000 execve("/bin/x", ["x"], 0x7ffd /* 1 var */) = 0
7 1700000100.010000 openat(AT_FDCWD, "/a", O_RDONLY) = 3
7 1700000100.010100 openat(AT_FDCWD, "/b", O_RDONLY) = 4
7 1700000101.550100 close(4) = 0
7 1700000101.550300 exit_group(0) = ?
7 1700000101.550400 +++ exited with 0 +++
"""


def _findings(text: str, folder: Path) -> list[Finding]:
    file = folder / "capture"
    file.write_text(text, encoding="utf-8")
    return tracealyze.read(file).findings


def test_a_long_bound_may_be_the_program_before_the_call(tmp_path: Path) -> None:
    (found,) = _findings(_TRUSS.format(notice=_NO_NOTICE, kernel="0.0001"), tmp_path)
    assert (found.name, found.severity, found.confidence) == ("dominant-call", Severity.INFO, "inferred")
    assert "read or in the program before it, 2 calls, up to 1.53 s" in found.message
    assert found.message.endswith("1.53 s of it in one call")


def test_a_long_bound_may_be_the_program_after_the_call(tmp_path: Path) -> None:
    found = _findings(_STRACE, tmp_path)[0]
    assert (found.name, found.severity) == ("dominant-call", Severity.INFO)
    assert "openat or in the program after it" in found.message


@pytest.mark.parametrize(
    ("notice", "kernel"), [(_NOTICE, "0.0001"), (_NO_NOTICE, "1.5000")], ids=["sleeping-notice", "kernel-time"]
)
def test_a_task_seen_in_the_call_spends_the_time_there(notice: str, kernel: str, tmp_path: Path) -> None:
    (found,) = _findings(_TRUSS.format(notice=notice, kernel=kernel), tmp_path)
    assert (found.name, found.severity, found.confidence) == ("dominant-call", Severity.ERROR, "inferred")
    assert "in the program" not in f"{found.message} {found.advice} {found.diagnosis}"
    assert "up to 1.53 s" in found.message


_PLACES = """\
7 1700000100.000000 execve("/bin/x", ["x"], 0x7ffd /* 1 var */) = 0
{quick}{slow}7 1700000109.000000 exit_group(0) = ?
7 1700000109.000100 +++ exited with 0 +++
"""


def _calls(line: str, count: int, start_ms: int, step_ms: int) -> str:
    stamps = (f"17000001{start_ms + at * step_ms:05}" for at in range(count))
    return "".join(f"7 {stamp[:10]}.{stamp[10:]}000 {line.format(at)}\n" for at, stamp in enumerate(stamps))


_STAT = 'stat("/{}/{{}}", {{{{st_mode=S_IFDIR|0755, st_size=4096, ...}}}}) = 0'


def test_slow_calls_on_one_target_agree(tmp_path: Path) -> None:
    quick, slow = _calls(_STAT.format("srv"), 30, 10, 1), _calls(_STAT.format("net"), 6, 100, 200)
    end = "7 1700000101.301000 close(9) = -1 EBADF (Bad file descriptor)\n"
    found = _findings(_PLACES.format(quick=quick, slow=slow + end).replace("109.000", "101.302"), tmp_path)[0]
    assert (found.name, found.severity, found.confidence) == ("slow-target", Severity.INFO, "inferred")
    assert "on /net take up to 1.20 s" in found.message
    assert "in the calls or in the program after them" in found.message


def test_one_long_call_does_not_make_a_target_slow(tmp_path: Path) -> None:
    quick, slow = _calls(_STAT.format("srv"), 30, 10, 1), _calls(_STAT.format("net"), 2, 100, 900)
    found = _findings(_PLACES.format(quick=quick, slow=slow), tmp_path)
    assert "slow-target" not in {name for each in found for name in (each.name, *each.also)}


def test_work_on_what_was_read_does_not_make_a_file_slow(tmp_path: Path) -> None:
    quick = _calls('read(3</srv/{}>, "x", 512) = 512', 30, 10, 1)
    slow = _calls('read(3</data/big>, "x", 512) = 512', 8, 100, 200)
    found = _findings(_PLACES.format(quick=quick, slow=slow), tmp_path)
    assert "slow-target" not in {name for each in found for name in (each.name, *each.also)}
