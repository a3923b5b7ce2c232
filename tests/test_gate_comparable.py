"""Captures that cannot be compared with a baseline, such as filtered or truncated ones, neither pass nor fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Run

START = 'execve("./job", ["./job"], 0x7ffd /* 1 var */) = 0 <0.0005>'
NOT_STARTED = 'execve("./job", ["./job"], 0x7ffd /* 1 var */) = -1 ENOENT (No such file or directory) <0.0001>'
MEMORY = "brk(NULL) = 0x5581 <0.00001>"
OPEN = 'openat(AT_FDCWD, "/etc/conf", O_RDONLY) = 3 <0.00002>'
CLOSE = "close(3) = 0 <0.00001>"
FORK = "clone(child_stack=NULL, flags=SIGCHLD) = 101 <0.0001>"
GOOD = ("exit_group(0) = ?", "+++ exited with 0 +++")
WHOLE = (START, MEMORY, *[OPEN, CLOSE] * 20, *GOOD)
TABLE = """% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.00    0.000600           1        20           openat
 40.00    0.000400           1        20           close
------ ----------- ----------- --------- --------- ----------------
100.00    0.001000           1        40           total
"""


def capture(file: Path, *lines: str) -> str:
    """Write a capture of one process with these lines, one per millisecond; a table is written unchanged."""
    stamped = (f"100 1700000010.{at:03}000 {line}\n" for at, line in enumerate(lines))
    file.write_text(lines[0] if lines[0] == TABLE else "".join(stamped), encoding="utf-8")
    return file.name


FILES_ONLY = (START, *[OPEN] * 20, "+++ exited with 0 +++")
FORKS = (START, MEMORY, FORK, *GOOD)
FOLLOWED = (START, MEMORY, FORK, *GOOD, f"\0101 1700000010.9 {OPEN}")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (WHOLE, (*WHOLE[:-2], "exit_group(3) = ?", "+++ exited with 3 +++"), "ended with exit 3, but with"),
        (WHOLE, (*WHOLE[:-2], "+++ killed by SIGSEGV +++"), "ended with SIGSEGV, but with exit 0 in the baseline"),
        (WHOLE, WHOLE[:-2], "the capture does not show the program's exit"),
        (WHOLE, (NOT_STARTED, *GOOD), "the capture does not show the program's start"),
        (WHOLE[:-2], WHOLE, "the baseline does not show the program's exit"),
        (WHOLE, FILES_ONLY, "this capture has no memory calls"),
        (FILES_ONLY, WHOLE, "the baseline has no memory calls"),
        (WHOLE, (TABLE,), "this capture has only a summary table (-c)"),
        ((TABLE,), WHOLE, "the baseline has only a summary table (-c)"),
    ],
)
def test_incomparable_captures_have_their_own_verdict(
    before: tuple[str, ...], after: tuple[str, ...], expected: str, tmp_path: Path, run: Run
) -> None:
    """Fewer calls were wrongly reported as progress when the program had crashed or the tracer had filtered them."""
    old, new = capture(tmp_path / "old.strace", *before), capture(tmp_path / "new.strace", *after)
    assert run("baseline", "create", old, cwd=tmp_path).returncode == 0
    done = run("check", new, cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert done.stdout.startswith("Not comparable: ")
    assert expected in done.stdout
    assert "mproved" not in done.stdout
    assert run("baseline", "update", new, cwd=tmp_path).returncode == 1
    assert run("baseline", "update", new, "--accept-new", cwd=tmp_path).returncode == 0
    assert run("check", new, cwd=tmp_path).returncode == 0


def test_truncated_capture_over_a_limit_fails(tmp_path: Path, run: Run) -> None:
    old = capture(tmp_path / "old.strace", *WHOLE)
    new = capture(tmp_path / "new.strace", START, MEMORY, *[OPEN, CLOSE] * 60)
    assert run("baseline", "create", old, cwd=tmp_path).returncode == 0
    assert run("check", new, cwd=tmp_path).returncode == 1


def test_baseline_accepts_every_exit_of_its_runs(tmp_path: Path, run: Run) -> None:
    killed = capture(tmp_path / "killed.strace", *WHOLE[:-2], "+++ killed by SIGTERM +++")
    good = capture(tmp_path / "good.strace", *WHOLE)
    assert run("baseline", "create", killed, good, cwd=tmp_path).returncode == 0
    assert run("check", killed, cwd=tmp_path).returncode == 0
    assert run("check", good, cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--program", "job"], "the baseline covers all events, this capture --program job"),
        (["--where", "syscall == 'openat'"], "this capture --where syscall == 'openat'"),
        (["--from", "+0.005"], "this capture --from"),
    ],
)
def test_part_of_a_capture_is_not_compared_with_a_whole_one(
    options: list[str], expected: str, tmp_path: Path, run: Run
) -> None:
    """A part of a capture was wrongly compared with the whole capture in the baseline."""
    old = capture(tmp_path / "old.strace", *WHOLE)
    assert run("baseline", "create", old, cwd=tmp_path).returncode == 0
    done = run("check", old, *options, cwd=tmp_path)
    assert done.returncode == 2
    assert expected in done.stdout
    assert run("baseline", "create", old, *options, cwd=tmp_path).returncode == 0
    assert run("check", old, *options, cwd=tmp_path).returncode == 0


def test_runs_that_differ_are_named(tmp_path: Path, run: Run) -> None:
    old = capture(tmp_path / "old.strace", *WHOLE)
    table = capture(tmp_path / "table.strace", TABLE)
    cut = capture(tmp_path / "cut.strace", *WHOLE[:9])
    (tmp_path / cut).write_text((tmp_path / cut).read_text(encoding="utf-8")[:-9], encoding="utf-8")
    done = run("baseline", "create", old, table, cut, cwd=tmp_path)
    assert done.returncode == 0
    assert (
        "table.strace: captured differently from the first run: this capture has only a summary table (-c)."
        in done.stderr
    )
    assert "cut.strace: the capture is truncated, so counts are too low." in done.stderr


def test_memory_calls_do_not_make_captures_incomparable(tmp_path: Path, run: Run) -> None:
    """A regression must fail if both sides have memory calls, whatever else is missing."""
    old = capture(tmp_path / "old.strace", START, MEMORY, *[OPEN] * 3, *GOOD)
    new = capture(tmp_path / "new.strace", *WHOLE)
    assert run("baseline", "create", old, cwd=tmp_path).returncode == 0
    assert run("check", new, cwd=tmp_path).returncode == 1
