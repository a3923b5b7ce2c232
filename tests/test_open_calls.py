"""Captures that end in a call that was seen open for a noticeable time: the first sentence of the report names it."""

from __future__ import annotations

import lzma
import random
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import renderings
from conftest import ROOT
from rule_cases import findings_text

import tracealyze

_HERE = Path(__file__).parent
_FOLDERS = ("kept_rules", "kept_excerpts", "kept_oracle", "kept_stacks", "field/captures", "open_calls")
_CAPTURES = {
    path.relative_to(ROOT).as_posix(): path
    for folder in (*(_HERE / name for name in _FOLDERS), ROOT / "samples")
    for path in sorted(folder.rglob("*"))
    if path.suffix in {".xz", ".gz", ".txt", ".truss", ".log"}
    and path.name != "programs.txt"
    and ".tar" not in path.suffixes
}
_OTHERS: dict[str, str] = tomllib.loads((_HERE / "open_calls" / "others.toml").read_text(encoding="utf-8"))
_MIN_SEEN_NS = 1_000_000_000


@cache
def _seen_open(name: str) -> frozenset[str]:
    """The calls of a capture that are open at its end, and were for a second or more, by syscall."""
    rows = tracealyze.read(_CAPTURES[name]).table("open_calls")
    return frozenset(row["syscall"] for row in rows if not row["killed_by"] and (row["seen_ns"] or 0) >= _MIN_SEEN_NS)


@pytest.mark.parametrize("name", _CAPTURES)
def test_report_says_first_what_the_capture_ends_in(name: str) -> None:
    trace = tracealyze.read(_CAPTURES[name])
    first = trace.summary().diagnosis[0].text if trace.summary().diagnosis else ""
    is_said = first.startswith("When the capture ends") and any(f"in {call}" in first for call in _seen_open(name))
    if _seen_open(name):
        assert is_said is (name not in _OTHERS), f"{first}\n{findings_text(trace)}"


def test_each_exception_is_a_capture_with_an_open_call() -> None:
    assert {name for name in _OTHERS if not _seen_open(name)} == set()


@pytest.mark.parametrize("name", [name for name in _CAPTURES if name.startswith("tests/open_calls/")])
def test_call_of_the_kernel_is_named_with_its_file_and_time(name: str) -> None:
    first = tracealyze.read(_CAPTURES[name]).summary().diagnosis[0].text
    assert first.startswith("When the capture ends") and " on /mnt/nfs" in first, first
    assert ("for at least 8.00 s" in first) is (not name.endswith("truss.txt")), first


_CUT = [name for name in _CAPTURES if name.startswith("tests/") and name.endswith(".strace.xz")]
_CUTS = 4
_MIN_LINES = 20
_QUICK_US = 100_000
# Any program may end within a wait for another one. These calls only work.
_WORK = ("execve", "openat", "clone", "clone3", "fork", "mmap", "mprotect", "munmap", "rt_sigreturn", "vfork")


def _cuts(lines: list[str], name: str) -> Iterator[str]:
    """The first lines of a capture, up to lines at random, and up to first halves of calls."""
    halves = [number for number, line in enumerate(lines) if line.endswith("<unfinished ...>\n") and number > 5]
    dice = random.Random(name)
    for number in range(_CUTS if len(lines) > _MIN_LINES else 0):
        place = dice.choice(halves) if halves and number % 2 else dice.randrange(5, len(lines))
        yield "".join(lines[: place + 1])


@pytest.mark.parametrize("name", _CUT)
def test_quick_calls_at_a_cut_are_not_called_a_hang(name: str, tmp_path: Path) -> None:
    whole = lzma.decompress(_CAPTURES[name].read_bytes()).decode(errors="surrogateescape")
    calls = renderings.story(whole).calls
    quick = {call.line for call in calls if call.name in _WORK and call.end_us - call.start_us < _QUICK_US}
    for number, text in enumerate(_cuts(whole.splitlines(keepends=True), name)):
        file = tmp_path / f"{number}.strace"
        file.write_text(text, encoding="utf-8", errors="surrogateescape")
        found = [each for each in tracealyze.read(file).findings if each.name == "open-call"]
        assert [each for each in found if quick.intersection(each.lines)] == []


def test_files_of_single_threads_without_timestamps_have_no_common_order(tmp_path: Path) -> None:
    """Events of another file were believed to follow the open call of the first one."""
    (tmp_path / "t.100").write_text("getpid() = 100\nread(3</run/fifo>, ")
    (tmp_path / "t.101").write_text("getpid() = 101\n" * 50 + "+++ exited with 0 +++\n")
    trace = tracealyze.read([tmp_path / "t.100", tmp_path / "t.101"])
    assert [row["rows_after"] for row in trace.table("last_calls")] == [0]
