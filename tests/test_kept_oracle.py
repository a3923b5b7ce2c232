"""Our counts from kept logs equal those that strace wrote at their end."""

from __future__ import annotations

import gzip
from pathlib import Path

import oracle
import pytest

import tracealyze

LOGS = sorted((Path(__file__).parent / "kept_oracle").glob("*.strace.gz"))


@pytest.fixture(params=LOGS, ids=lambda path: path.name.removesuffix(".strace.gz"))
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A log of a program of test_oracle.py; the name ends in -stderr if strace's messages stand among its lines."""
    packed: Path = request.param
    path = tmp_path / packed.name.removesuffix(".gz")
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    return path


def test_logs_are_kept() -> None:
    assert len(LOGS) >= 20


def test_calls_and_errors_equal_the_counts_of_strace(log: Path) -> None:
    oracle.assert_counts_equal(tracealyze.read(log), log)


def test_lines_are_counted_once_and_none_is_lost(log: Path) -> None:
    trace = tracealyze.read(log)
    assert sum(trace.accounting.values()) == log.read_bytes().count(b"\n")
    assert [loss for capture in trace.captures for loss in capture.losses] == []


def test_log_split_into_files_per_thread_counts_the_same(log: Path, tmp_path: Path) -> None:
    if log.name.endswith("-stderr.strace"):
        pytest.skip("the lines of a log with messages do not all start with an id")
    lines = oracle.split(log, tmp_path / "thread")
    trace = tracealyze.read(tmp_path / "thread")
    oracle.assert_counts_equal(trace, log)
    assert sum(trace.accounting.values()) == lines
