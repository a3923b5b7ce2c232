"""Traces that are larger than the memory they may use: the same answers, from a file without a name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Run

from tracealyze.base.errors import WrongUsage
from tracealyze.model import memory

_LINES = 150_000
_LINUX_ONLY = pytest.mark.skipif(sys.platform != "linux", reason="on other systems all of a trace is in memory")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Several segments of events, of two processes, with paths of their own and calls in two halves."""
    calls = []
    for number in range(_LINES // 3):
        at = f"1700000000.{number:06d}" if number < 1_000_000 else ""
        calls.append(f'71 {at} openat(AT_FDCWD, "/srv/{number % 977}/{number}", O_RDONLY) = 3 <0.000004>\n')
        calls.append(f"72 {at} read(5, <unfinished ...>\n")
        calls.append(f'72 {at} <... read resumed>"x", 1) = 1 <0.000001>\n')
    file = tmp_path_factory.mktemp("large") / "large.strace"
    file.write_text("".join(calls), encoding="utf-8")
    return file


@pytest.mark.parametrize("command", ["summarize", "top-syscalls", "critical-path"])
@pytest.mark.parametrize("way", ["file", "stdin"])
def test_answers_do_not_depend_on_the_memory(run: Run, large: Path, tmp_path: Path, command: str, way: str) -> None:
    stdin = None if way == "file" else large.read_text(encoding="utf-8")
    words = (command, "--json", large if way == "file" else "-")
    usual = run(*words, stdin=stdin)
    folder = tmp_path / "spill"
    folder.mkdir()
    small = run(*words, stdin=stdin, TRACEALYZE_MEMORY="0", TMPDIR=str(folder))
    assert usual.returncode == 0
    assert (small.returncode, small.stderr, small.stdout) == (0, usual.stderr, usual.stdout)
    assert not list(folder.iterdir())


@_LINUX_ONLY
def test_a_folder_that_is_not_there_is_an_error_with_a_remedy(run: Run, large: Path, tmp_path: Path) -> None:
    done = run("summarize", large, TRACEALYZE_MEMORY="0", TMPDIR=str(tmp_path / "none"))
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        f"tracealyze: {tmp_path}/none: no room for the part of the trace that does not fit into 0 bytes of memory:"
        " No such file or directory, after 0 bytes. Set TMPDIR to a folder on a disk with more room,"
        " or TRACEALYZE_MEMORY=8G (for example) to use more memory.\n"
    )


@_LINUX_ONLY
def test_a_full_disk_is_an_error_with_a_remedy(large: Path, tmp_path: Path) -> None:
    limited = f'ulimit -f 4000; exec "{sys.executable}" -m tracealyze summarize "{large}"'
    done = subprocess.run(
        ["sh", "-c", limited],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        env={"PATH": "/usr/bin:/bin", "TRACEALYZE_MEMORY": "1M", "TMPDIR": str(tmp_path)},
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert "File too large, after " in done.stderr
    assert "Set TMPDIR to a folder" in done.stderr


def test_another_capture_is_read_after_one_that_was_too_large(
    large: Path, strace_line: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tracealyze

    monkeypatch.setenv("TRACEALYZE_MEMORY", "0")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    if sys.platform == "linux":
        with pytest.raises(tracealyze.UnusableInput, match="no room"):
            tracealyze.read(large)
    monkeypatch.delenv("TRACEALYZE_MEMORY")
    assert len(tracealyze.read(strace_line).events) == 1


@pytest.fixture
def strace_line(tmp_path: Path) -> Path:
    file = tmp_path / "one.strace"
    file.write_text("71 1700000000.000001 close(3) = 0 <0.000001>\n", encoding="utf-8")
    return file


@pytest.mark.parametrize(("text", "expected"), [("0", 0), ("8G", 8 << 30), ("300M", 300 << 20), ("", 2 << 30)])
def test_the_variable_is_a_size(monkeypatch: pytest.MonkeyPatch, text: str, expected: int) -> None:
    monkeypatch.setenv(memory.VARIABLE, text)
    assert memory.limit() == expected


@pytest.mark.parametrize("text", ["much", "-1G", "1Q", "nan"])
def test_a_variable_that_is_no_size_is_wrong_usage(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(memory.VARIABLE, text)
    with pytest.raises(WrongUsage, match=memory.VARIABLE):
        memory.limit()
