"""tree: parents and children, which process waited for which, and slack."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import SAMPLES, Run, captures_of_samples

import tracealyze

SSH = SAMPLES / "ssh-login" / "ssh-login.truss"

THREADS = """\
7 1700000000.000000 execve("/bin/a", ["a"], 0x7ffd /* 1 var */) = 0 <0.001000>
7 1700000000.010000 clone(child_stack=0x1, flags=CLONE_VM|CLONE_THREAD) = 8 <0.001000>
8 1700000000.012000 nanosleep({tv_sec=1, tv_nsec=0}, NULL) = 0 <1.000000>
8 1700000001.013000 exit(0) = ?
8 1700000001.014000 +++ exited with 0 +++
7 1700000001.020000 exit_group(0) = ?
7 1700000001.021000 +++ exited with 0 +++
"""


def test_inclusive_time_contains_the_awaited_processes() -> None:
    rows = {row["pid"]: row for row in tracealyze.read(SSH).chain}
    waits = [rows[12196][f"waits_for_{what}"] for what in ("pid", "ns", "how", "sure")]
    assert waits == [12200, 10_260_900_000, "child", "inferred"]
    assert rows[12186]["inclusive_ns"] > rows[12196]["inclusive_ns"] > rows[12200]["inclusive_ns"] == 10_260_900_000


def test_tree_shows_the_chain_of_waits(run: Run) -> None:
    report = " ".join(run("summarize", SSH, COLUMNS="100").stdout.split())
    chain = "sshd 12186 (11.42 s) ⇢ ksh 12196 (10.61 s) ⇢ quota 12200 (10.26 s)"
    assert f"blocked on: {chain}; ⇢ is inferred" in report


def test_headings_for_people_have_one_unit(run: Run) -> None:
    heading, _, first = run("tree", SSH, "--format", "markdown").stdout.splitlines()[:3]
    cells = dict(zip(heading.split(" | "), first.split(" | "), strict=True))
    assert cells["start s"] == "+0.0000"
    assert "_ns s" not in heading


@pytest.mark.parametrize("capture", captures_of_samples(), ids=lambda file: file.name)
def test_times_fit_the_window_and_slack_is_not_negative(capture: Path) -> None:
    trace = tracealyze.read(capture)
    exclusive = {row["task"]: row["exclusive_ns"] for row in trace.processes}
    for row in trace.chain:
        assert exclusive.get(row["task"], 0) <= row["inclusive_ns"] <= trace.window.wall_ns
        assert row["slack_ns"] is None or row["slack_ns"] >= 0


def test_threads_are_below_their_process_on_request(run: Run, strace: Callable[[str], Path]) -> None:
    capture = strace(THREADS)
    folded = json.loads(run("tree", capture, "--json").stdout)
    assert [(row["pid"], row["threads"]) for row in folded] == [(7, 2)]
    rows = json.loads(run("tree", capture, "--threads", "--json").stdout)
    assert [(row["pid"], row["tid"]) for row in rows] == [(7, None), (7, 8)]
    assert "thread 8" in run("tree", capture, "--threads").stdout


def test_tree_notes_hidden_rows(run: Run, strace: Callable[[str], Path]) -> None:
    shown = run("tree", strace(THREADS), "--threads", "--top", "1")
    assert shown.stderr.splitlines()[-1] == "Hidden: 1 row of 2; use --top N to see more."


def test_tree_combines_siblings_that_ran_the_same_command(run: Run) -> None:
    capture = SAMPLES / "shutdown" / "after.strace.xz"
    folded, every = run("tree", capture), run("tree", capture, "--no-fold")
    rows = json.loads(run("tree", capture, "--json").stdout)
    assert len(every.stdout.splitlines()) == len(rows) + 1
    assert len(folded.stdout.splitlines()) < 40
    [row] = [line for line in folded.stdout.splitlines() if "65 × sleep 0.1" in line]
    assert row.split()[-3:] == [f"{65 * 37:,}", "exit", "0"]


def test_tree_hides_deep_and_short_processes(run: Run) -> None:
    capture = SAMPLES / "shutdown" / "after.strace.xz"
    shallow = run("tree", capture, "--depth", "1", "--no-fold")
    assert "├─" in shallow.stdout and "   ├─" not in shallow.stdout
    assert "Hidden by --depth or --min: " in shallow.stderr
    long = json.loads(run("tree", capture, "--min", "5s", "--json").stdout)
    # The short parent of a long process would stay; here each parent lives longer than its children.
    assert len(long) == 6 and all(row["wall_ns"] >= 5_000_000_000 for row in long)


def test_tree_markdown_has_the_columns_of_the_table(run: Run) -> None:
    table = run("tree", SSH, COLUMNS="300").stdout.splitlines()
    markdown = run("tree", SSH, "--format", "markdown").stdout.splitlines()
    for heading in ("lifetime s", "on path s", "blocked on", "calls", "end"):
        assert heading in table[0] and heading in markdown[0]
    assert len(markdown) == len(table) + 1


def test_tree_of_a_summary_table_says_what_is_missing(run: Run, strace: Callable[[str], Path]) -> None:
    """An empty table was wrongly the whole answer."""
    table = "% time     seconds  usecs/call     calls    errors syscall\n"
    table += "------ ----------- ----------- --------- --------- ----------------\n"
    table += "100.00    0.000072           1        72           close\n"
    table += "------ ----------- ----------- --------- --------- ----------------\n"
    table += "100.00    0.000072                    72           total\n"
    shown = run("tree", strace(table))
    assert shown.stdout == "" and "top-syscalls" in shown.stderr
