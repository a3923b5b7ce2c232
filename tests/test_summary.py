"""The document of `summarize --json`: its keys, and the identities that hold in every capture."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run, captures_of_samples

import tracealyze

KEYS = {
    "partition": "pid tid program class syscall op target exclusive_ns share calls",
    "processes": "pid parent_pid program argv birth_ns death_ns exit_code exit_signal wall_ns exclusive_ns in_call_ns "
    "gap_ns calls failed threads",
    "syscalls": "syscall calls failed total_ns exclusive_ns mean_ns p50_ns p99_ns max_ns errors",
    "loops": "pid tid program turns period body total_ns dominant first_line last_line",
    "findings": "code name severity confidence basis message pid program syscall target calls impact_ns share lines "
    "advice fingerprint",
    "captures": "path format lines accounting losses has",
}
SAMPLES = captures_of_samples()
each_sample = pytest.mark.parametrize("capture", SAMPLES, ids=lambda file: file.name)


@each_sample
def test_summary_has_the_promised_keys_and_adds_up(capture: Path, run: Run) -> None:
    document = json.loads(run("summarize", "--json", capture).stdout)
    assert document["schema"] == "tracealyze.summary/1"
    assert {"start_ns", "end_ns", "wall_ns", "root_pid", "root_program"} <= set(document["window"])
    totals = ["processes", "threads", "calls", "failed", "interrupted", "open", "signals"]
    assert set(totals) <= set(document["totals"])
    for name, keys in KEYS.items():
        for row in document[name]:
            assert set(keys.split()) <= set(row)
    charged = [row["exclusive_ns"] for row in document["partition"]]
    assert min(charged, default=0) >= 0
    assert sum(charged) == document["window"]["wall_ns"]
    assert 0 <= document["unexplained_ns"] <= document["window"]["wall_ns"]
    for read in document["captures"]:
        assert sum(read["accounting"].values()) == read["lines"]


@each_sample
def test_summary_rows_add_up_to_the_totals(capture: Path, run: Run) -> None:
    document = json.loads(run("summarize", "--json", capture).stdout)
    for name in ("processes", "syscalls"):
        assert sum(row["calls"] for row in document[name]) == document["totals"]["calls"]
        assert sum(row["failed"] for row in document[name]) == document["totals"]["failed"]
    for row in document["syscalls"]:
        assert sum(row["errors"].values()) == row["failed"]


@each_sample
def test_summary_is_the_same_when_read_twice(capture: Path, run: Run) -> None:
    assert run("summarize", "--json", capture).stdout == run("summarize", "--json", capture).stdout


def test_slack_is_known_if_only_the_exit_was_awaited(strace: Callable[[str], Path]) -> None:
    trace = tracealyze.read(strace(SLACK))
    rows = {row["pid"]: row["slack_ns"] for row in trace.summary().document()["processes"]}
    assert rows == {1: None, 2: 600_000_000, 3: 0, 4: None}


SLACK = """\
1 1700000010.000000 execve("/bin/sh", ["sh"], 0x7ffd /* 1 var */) = 0 <0.000100>
1 1700000010.001000 fork() = 2 <0.000100>
1 1700000010.002000 fork() = 3 <0.000100>
1 1700000010.003000 fork() = 4 <0.000100>
1 1700000010.004000 wait4(2, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 2 <0.396000>
2 1700000010.005000 read(0</dev/null>, "", 1) = 0 <0.390000>
3 1700000010.005000 read(0</dev/null>, "", 1) = 0 <0.990000>
4 1700000010.005000 read(0</dev/null>, "", 1) = 0 <0.090000>
4 1700000010.100000 +++ exited with 0 +++
2 1700000010.400000 +++ exited with 0 +++
1 1700000010.400000 wait4(3, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 3 <0.600000>
3 1700000011.000000 +++ exited with 0 +++
1 1700000011.001000 exit_group(0) = ?
1 1700000011.001100 +++ exited with 0 +++
"""
