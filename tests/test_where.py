"""`--where`: conditions on events, the same in every command, in Python and in the engine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import SAMPLES, Run, captures_of_samples
from hypothesis import given, settings
from hypothesis import strategies as st

import tracealyze
from tracealyze import _engine
from tracealyze.base.errors import WrongUsage
from tracealyze.model.expression import evaluate, parse

SSH = SAMPLES / "ssh-login" / "ssh-login.truss"
COMMANDS = ("events", "top-syscalls", "tree", "critical-path", "loops", "gaps", "summarize")
COLUMNS = [name for table, name, *_ in _engine.SCHEMA if table == "events"]

TWO = """\
100 1700000010.000000 execve("/bin/sh", ["sh"], 0x7ffd /* 1 var */) = 0 <0.001000>
100 1700000010.002000 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 101 <0.000100>
101 1700000010.003000 openat(AT_FDCWD, "/etc/x", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000010>
101 1700000010.004000 openat(AT_FDCWD, "/etc/y", O_RDONLY|O_CLOEXEC) = 3</etc/y> <0.000020>
101 1700000010.005000 read(3</etc/y>, "abc", 4096) = 3 <0.030000>
101 1700000010.040000 exit_group(0) = ?
101 1700000010.041000 +++ exited with 0 +++
100 1700000010.002200 wait4(-1, [{WIFEXITED(s)}], 0, NULL) = 101 <0.039000>
100 1700000010.042000 --- SIGCHLD {si_signo=SIGCHLD, si_pid=101} ---
100 1700000010.050000 exit_group(0) = ?
100 1700000010.051000 +++ exited with 0 +++
"""


@pytest.mark.parametrize(
    ("condition", "lines"),
    [
        ('syscall == "openat"', [3, 4]),
        ('syscall ~ "^open" and outcome == "failed"', [3]),
        ('errno != "EACCES"', [3]),
        ('not (errno == "EACCES") and syscall == "openat"', [3, 4]),
        ('target == "/etc/y"', [4, 5]),
        ("dur_ns >= 20us and dur_ns < 1ms", [2, 4]),
        ('pid == 101 and kind == "call"', [3, 4, 5, 6]),
        ("bytes in (3, 4)", [5]),
        ("bytes / 3 == 1", [5]),
        ('kind == "signal"', [9]),
        ('args ~ "O_CLOEXEC"', [4]),
        ("line in (1, 2, 3) and ret == 101", [2]),
        ("start_ns > 1700000010.0420001s", [10, 11]),
        ("end_ns - start_ns != dur_ns", []),
        ("errno is missing and ret is not missing and line > 4", [5, 8]),
    ],
)
def test_where_selects_the_matching_events(condition: str, lines: list[int], strace: Callable[[str], Path]) -> None:
    trace = tracealyze.read(strace(TWO)).select(where=condition)
    assert sorted(trace.events.column("line")) == lines
    assert trace.totals["calls"] == sum(kind == "call" for kind in trace.events.column("kind"))


_VALUES = {
    "i32": st.integers(-1, 13_000).map(str),
    "u32": st.integers(0, 6).map(str),
    "u64": st.integers(0, 4200).map(str),
    "i64": st.integers(-1, 200).map(str),
    "ns": st.integers(0, 20_000).map(lambda number: f"{number}ms"),
    "dict": st.sampled_from(["read", "ENOENT", "/dev/zfs", "ok", "call", "ioctl", "quota", "exact"]),
}


@st.composite
def _tests(draw: st.DrawFn) -> str:
    _, name, kind, unit, *_ = draw(st.sampled_from([known for known in _engine.SCHEMA if known[0] == "events"]))
    if draw(st.booleans()) and draw(st.booleans()):
        return f"{name} is {draw(st.sampled_from(['', 'not']))} missing"
    value = draw(_VALUES["ns" if unit == "ns" else kind])
    if kind == "dict":
        return f'{name} {draw(st.sampled_from(["==", "!=", "~", "!~"]))} "{value}"'
    return f"{name} {draw(st.sampled_from(['==', '!=', '<', '<=', '>', '>=']))} {value}"


_CONDITIONS = st.recursive(
    _tests(),
    lambda inner: st.one_of(
        inner.map(lambda one: f"not ({one})"),
        st.builds(lambda one, word, two: f"({one}) {word} ({two})", inner, st.sampled_from(["and", "or"]), inner),
    ),
    max_leaves=4,
)


@pytest.fixture(scope="module")
def whole() -> tuple[tracealyze.Trace, list[dict[str, object]]]:
    trace = tracealyze.read(SSH)
    return trace, [dict(row) for row in trace.events_of(COLUMNS)]


@settings(deadline=None, max_examples=60)
@given(condition=_CONDITIONS)
def test_where_selects_the_same_events_as_a_check_of_each_row(
    condition: str, whole: tuple[tracealyze.Trace, list[dict[str, object]]]
) -> None:
    trace, rows = whole
    expression = parse(condition, "events")
    found = trace.select(where=expression).events.column("line")
    assert found == [row["line"] for row in rows if evaluate(expression, row)]


@pytest.mark.parametrize("capture", captures_of_samples(), ids=lambda file: file.name)
def test_where_and_its_negation_split_the_events(capture: Path) -> None:
    trace = tracealyze.read(capture)
    for condition in ("dur_ns >= 1ms", 'target ~ "/lib"', 'outcome == "ok" and program is not missing'):
        parts = [trace.select(where=text).events.column("line") for text in (condition, f"not ({condition})")]
        assert len(parts[0]) + len(parts[1]) == len(trace.events)


@pytest.mark.parametrize("command", COMMANDS)
def test_where_is_an_option_of_every_command(command: str, run: Run) -> None:
    capture = SAMPLES / "shutdown" / "after.strace.xz"
    done = run(command, capture, "--where", 'syscall in ("read", "wait4") and dur_ns >= 1ms', "--json")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)) <= len(json.loads(everything := run(command, capture, "--json").stdout))
    assert len(done.stdout) < len(everything)


@pytest.mark.parametrize("command", COMMANDS)
def test_where_error_comes_before_the_capture_is_read(command: str, run: Run) -> None:
    done = run(command, "nowhere.strace", "--where", 'pid == 1 and syscal == "read"')
    assert (done.returncode, done.stdout) == (2, "")
    first, text, caret = done.stderr.splitlines()
    assert first == 'tracealyze: --where, column 14: no column "syscal" in table events. Did you mean "syscall"?'
    assert text == '  pid == 1 and syscal == "read"'
    assert caret == "               ^^^^^^"


def test_where_combines_with_the_other_filters(run: Run) -> None:
    shown = run("events", SSH, "--pid", "12203", "--where", 'outcome == "failed"', "--json").stdout
    rows = json.loads(shown)
    assert rows
    assert {row["pid"] for row in rows} == {12203}
    assert {row["outcome"] for row in rows} == {"failed"}


def test_where_lists_only_processes_with_matching_events(run: Run) -> None:
    rows = json.loads(run("tree", SSH, "--where", 'op == "ZFS_IOC_OBJSET_STATS"', "--json").stdout)
    assert [row["pid"] for row in rows] == [12200]


def test_where_without_a_match_is_a_note_not_an_error(run: Run) -> None:
    done = run("events", SSH, "--where", "dur_ns > 1h")
    assert done.returncode == 0
    assert "No event matches --where." in done.stderr


def test_where_keeps_the_error_for_an_unknown_process(run: Run) -> None:
    assert run("events", SSH, "--pid", "7", "--where", "dur_ns > 1ms").returncode == 3
    assert run("events", SSH, "--pid", "12203", "--where", "dur_ns > 1h").returncode == 0


def test_where_on_arguments_needs_a_readable_file(run: Run, strace: Callable[[str], Path]) -> None:
    done = run("events", "-", "--where", 'args ~ "O_CLOEXEC"', stdin=TWO)
    assert done.returncode == 2
    assert "standard input is not a regular file. Save the capture to one." in done.stderr
    file = strace(TWO)
    trace = tracealyze.read(file)
    file.unlink()
    with pytest.raises(WrongUsage, match="args are read from the capture file again"):
        trace.select(where='args ~ "x"')


def test_where_shows_only_path_segments_of_matching_events(run: Run) -> None:
    rows = json.loads(run("critical-path", SSH, "--min", "0s", "--where", 'syscall == "mmapobj"', "--json").stdout)
    assert {row["syscall"] for row in rows if row["what"] == "call"} == {"mmapobj"}


def test_where_without_a_match_hides_the_table_of_the_tracer(run: Run, strace: Callable[[str], Path]) -> None:
    table = """\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
100.00    0.001000        1000         1           read
------ ----------- ----------- --------- --------- ----------------
100.00    0.001000        1000         1           total
"""
    shown = run("top-syscalls", strace(TWO + table), "--where", "dur_ns > 1h", "--json")
    assert json.loads(shown.stdout) == [], shown.stderr
    assert json.loads(run("top-syscalls", strace(table), "--json").stdout)[0]["calls"] == 1


def test_events_table_stays_whole_when_events_are_selected(strace: Callable[[str], Path]) -> None:
    trace = tracealyze.read(strace(TWO))
    whole = len(trace.events)
    pid = trace.events[0]["pid"]
    assert {row["pid"] for row in trace.events.where(f"pid == {pid}")} == {pid}
    assert len(trace.events) == whole
