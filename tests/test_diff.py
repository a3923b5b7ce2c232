"""diff: what changed between runs, the largest change first."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import oracle
import pytest
from conftest import SAMPLES, Run

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "diff.json").read_text(encoding="utf-8"))
SHUTDOWN = (SAMPLES / "shutdown" / "before.strace.xz", SAMPLES / "shutdown" / "after.strace.xz")


def capture(file: Path, pid: int, sleep_ms: int, program: str = "sleep", argument: str = "1") -> Path:
    """Write the capture of a shell that runs one sleeping program."""
    child = pid + 1
    length = f"{sleep_ms / 1000:.6f}"
    end = 10 + sleep_ms / 1000
    lines = [
        f'{pid} 1700000010.000000 execve("/bin/sh", ["sh", "x.sh"], 0x7f /* 1 var */) = 0 <0.0001>',
        f"{pid} 1700000010.001000 vfork() = {child} <0.001>",
        f'{child} 1700000010.001500 execve("/bin/{program}", ["{program}", "{argument}"], 0x7f) = 0 <0.0002>',
        f"{pid} 1700000010.002500 wait4(-1, NULL, 0, NULL) = {child} <{end - 9.9:.6f}>",
        f"{child} 1700000010.003000 nanosleep({{tv_sec=9, tv_nsec=0}}, NULL) = 0 <{length}>",
        f"{child} 17000000{end + 0.01:09.6f} exit_group(0) = ?",
        f"{child} 17000000{end + 0.02:09.6f} +++ exited with 0 +++",
        f"{pid} 17000000{end + 0.2:09.6f} exit_group(0) = ?",
        f"{pid} 17000000{end + 0.21:09.6f} +++ exited with 0 +++",
    ]
    file.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return file


def document(run: Run, *arguments: str | Path) -> Any:
    done = run("diff", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    jsonschema.validate(found, SCHEMA)
    return found


def test_diff_matches_processes_by_command_line_not_pid(run: Run, tmp_path: Path) -> None:
    before, after = capture(tmp_path / "a", 100, 1000), capture(tmp_path / "b", 7000, 3000)
    found = document(run, before, after)
    [process] = [each for each in found["processes"] if each["program"] == "sleep"]
    assert (process["status"], process["argv"], process["before_processes"]) == ("changed", "sleep 1", 1)
    assert process["change_ns"] == pytest.approx(2_000_000_000, rel=0.01)


def test_diff_marks_rows_on_one_side_only(run: Run, tmp_path: Path) -> None:
    before = capture(tmp_path / "a", 100, 1000, program="sleep")
    after = capture(tmp_path / "b", 100, 1000, program="snooze")
    status = {each["program"]: each["status"] for each in document(run, before, after)["processes"]}
    assert (status["sleep"], status["snooze"]) == ("vanished", "new")


def test_diff_compares_medians_of_several_runs(run: Run, tmp_path: Path) -> None:
    before = [capture(tmp_path / f"a{ms}", 100, ms) for ms in (1000, 1010, 9000)]
    after = [capture(tmp_path / f"b{ms}", 100, ms) for ms in (1000, 2000, 2010)]
    sides = [word for file in before for word in ("--before", file)] + [
        word for file in after for word in ("--after", file)
    ]
    found = document(run, *sides)
    assert found["wall_ns"]["after"] - found["wall_ns"]["before"] == pytest.approx(990_000_000, abs=1_000_000)
    assert len(found["before"]) == 3


def test_diff_of_equal_captures_is_empty(run: Run, tmp_path: Path) -> None:
    found = document(run, capture(tmp_path / "a", 100, 1000), capture(tmp_path / "b", 900, 1000))
    assert not any(found[view] for view in ("classes", "processes", "calls", "targets"))


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a"],
        ["a", "b", "c", "--only", "calls"],
        ["a", "b", "--before", "c"],
        ["--before", "a"],
        ["a", "--before", "b", "--after", "c"],
    ],
)
def test_diff_does_not_guess_the_sides(arguments: list[str], run: Run) -> None:
    done = run("diff", *arguments)
    assert done.returncode == 2
    assert "BEFORE and AFTER" in done.stderr


@pytest.mark.parametrize(
    ("sample", "before", "after", "words"),
    [
        (
            "shutdown",
            "before.strace.xz",
            "after.strace.xz",
            ["41.27 s → 16.60 s", "vanished  sleep 5", "vanished  sleep 10"],
        ),
        ("shutdown", "after.strace.xz", "parallel.strace.xz", ["16.60 s → 7.05 s"]),
        ("jail-start", "before.strace.xz", "after.strace.xz", ["2.1 times as fast", "rc.conf"]),
        ("jail-start", "staged-before.log", "staged-after.log", ['silence after "jail N: has the lock"']),
        ("boot-devices", "boot-160.strace.xz", "boot-after-160.strace.xz", ["12,720 → 0", "readlink(dev/diskN)"]),
    ],
)
def test_diff_explains_the_samples(sample: str, before: str, after: str, words: list[str], run: Run) -> None:
    done = run("diff", SAMPLES / sample / before, SAMPLES / sample / after, COLUMNS="110")
    assert done.returncode == 0, done.stderr
    for each in words:
        assert each in done.stdout


def test_diff_lists_the_largest_change_first(run: Run) -> None:
    found = document(run, *SHUTDOWN)
    assert found["classes"][0]["class"] == "sleep"
    assert found["calls"][0]["shape"] == "clock_nanosleep()"
    longest = [abs(each["change_ns"]) for each in found["processes"][:4]]
    assert longest == sorted(longest, reverse=True)


@pytest.mark.parametrize("view", ["classes", "processes", "calls", "targets"])
def test_rows_are_in_the_order_of_their_first_column(view: str, run: Run) -> None:
    """Rows were wrongly in the order of calls, which is not the first column."""
    sides = [SAMPLES / "shutdown" / f"{name}.strace.xz" for name in ("before", "after")]
    lines = run("diff", *sides, "--only", view).stdout.splitlines()
    rows = lines[next(number for number, line in enumerate(lines) if line.startswith("path ±")) + 1 :]
    changes = [abs(float(row.split()[0].lstrip("<").replace(",", ""))) for row in rows if row]
    assert len(changes) > 1 and changes == sorted(changes, reverse=True)


def test_diff_forms_show_the_same_changes(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(run("diff", *SHUTDOWN, "--format", "csv", "--only", "processes").stdout)))
    assert [row["argv"] for row in rows] == [row["argv"] for row in document(run, *SHUTDOWN)["processes"]]
    assert "| sleep 5 |" in run("diff", *SHUTDOWN, "--format", "markdown").stdout
    assert "Targets" not in run("diff", *SHUTDOWN, "--only", "calls").stdout


@pytest.mark.live
@pytest.mark.skipif(oracle.why_not() is not None, reason=oracle.why_not() or "")
def test_diff_reports_the_change_of_a_real_program(run: Run, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x\n", encoding="utf-8")
    for name, script in (("before", "/bin/cat data; /bin/true"), ("after", "/bin/cat data data data; /bin/echo")):
        oracle.capture_as(["/bin/sh", "-c", script], tmp_path, "-f", "-ttt", "-T", "-y").rename(tmp_path / name)
    found = document(run, tmp_path / "before", tmp_path / "after")
    status = {each["program"]: each["status"] for each in found["processes"]}
    assert (status["true"], status["echo"]) == ("vanished", "new")
    [opened] = [
        each
        for each in found["calls"]
        if each["program"] == "cat" and each["shape"].startswith("openat(") and "data" in each["shape"]
    ]
    assert (opened["before_calls"], opened["after_calls"]) == (1, 3)


def sleeper(file: Path, sleep_s: int) -> Path:
    """Write the capture of a program that sleeps once."""
    sleep = f"clock_nanosleep(CLOCK_REALTIME, 0, {{tv_sec={sleep_s}, tv_nsec=0}}, NULL) = 0 <{sleep_s}.000000>"
    lines = [
        '100 1700000010.000000 execve("/bin/app", ["app"], 0x7f /* 1 var */) = 0 <0.000100>',
        *([f"100 1700000010.001000 {sleep}"] if sleep_s else []),
        f"100 17000000{10 + sleep_s}.002000 exit_group(0) = ?",
        f"100 17000000{10 + sleep_s}.002100 +++ exited with 0 +++",
    ]
    file.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return file


def test_diff_begins_with_causes(run: Run, tmp_path: Path) -> None:
    """The terminal printed 69 lines of numbers, and the reader had to find the cause in them."""
    slow, fast = sleeper(tmp_path / "a", 3), sleeper(tmp_path / "b", 0)
    [cause] = document(run, slow, fast)["causes"]
    assert (cause["status"], cause["rule"], cause["after_ns"]) == ("gone", "fixed-sleep", 0)
    assert cause["before_ns"] == pytest.approx(3_000_000_000, rel=0.01)
    text = run("diff", slow, fast).stdout
    assert text.index("Gone\n  3.00 s  app (pid 100) sleeps") < text.index("Time by class")
    assert "New\n  3.00 s" in run("diff", fast, slow).stdout
    both = run("diff", slow, sleeper(tmp_path / "c", 1)).stdout
    assert "In both\n  3.00 s → 1.00 s" in both
    assert "In both" not in run("diff", slow, fast, "--only", "calls").stdout
    assert "| gone |" in run("diff", slow, fast, "--format", "markdown").stdout


def test_time_without_calls_has_the_name_that_reports_use(run: Run) -> None:
    text = run("diff", *SHUTDOWN, COLUMNS="160").stdout
    assert "outside syscalls" in text and "(user)" not in text
    names = {row["class"]: row["class_name"] for row in document(run, *SHUTDOWN)["classes"]}
    assert names["user"] == "outside syscalls" and names["sleep"] == "sleep"
