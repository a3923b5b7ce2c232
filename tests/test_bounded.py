"""Documents of bounded size: the rows they show, and the folded rows for the others."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path

import pytest
from conftest import captures_of_samples
from hypothesis import given
from hypothesis import strategies as st

import tracealyze
from tracealyze.model.trace_tables import errors_of
from tracealyze.trace import bounded
from tracealyze.trace.summary import _MAX_BYTES

each_sample = pytest.mark.parametrize("capture", captures_of_samples(), ids=lambda file: file.name)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that every sample exceeds."""
    monkeypatch.setattr(bounded, "_PIECES_BYTES", 2_000)
    monkeypatch.setattr(bounded, "_FOLDED_BYTES", (1_000, 600, 10_000))


@each_sample
@pytest.mark.usefixtures("short")
def test_folded_rows_keep_all_sums(capture: Path) -> None:
    trace = tracealyze.read(capture)
    full, shown = trace.summary().partition(full=True), trace.summary().partition()
    assert len(shown) < len(full) or len(full) < 8
    for key in ("exclusive_ns", "calls"):
        assert sum(row[key] for row in shown) == sum(row[key] for row in full)
    assert sum(row.get("folded", 1) for row in shown) == len(full)
    assert sum(row["share"] or 0 for row in shown) == pytest.approx(sum(row["share"] or 0 for row in full))
    for row in shown:
        assert row["exclusive_ns"] > 0
        assert row["class"] is not None
    by_class = [Counter[str](), Counter[str]()]
    for sums, rows in zip(by_class, (full, shown), strict=True):
        for row in rows:
            sums[row["class"]] += row["exclusive_ns"]
    assert by_class[0] == by_class[1]


@each_sample
@pytest.mark.usefixtures("short")
def test_largest_pieces_are_shown_as_they_are(capture: Path) -> None:
    trace = tracealyze.read(capture)
    full, shown = trace.summary().partition(full=True), trace.summary().partition()
    whole = [row for row in shown if "folded" not in row]
    assert whole == full[: len(whole)]


@given(
    st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.floats(allow_nan=False) | st.lists(st.text()))
)
def test_the_length_of_a_row_is_that_of_its_json(row: dict[str, object]) -> None:
    text = json.dumps(row, ensure_ascii=False, default=str, indent=2)
    assert bounded.indented_bytes(row) == len(text.encode(errors="replace"))


def _many_processes(number: int) -> bytes:
    lines = ['1 1700000000.000000 execve("/bin/sh", ["sh"], 0x7ffd /* 1 var */) = 0 <0.000100>']
    for at in range(number):
        start, pid = 1_700_000_000.001 + at * 0.002, at + 2
        lines += [
            f"1 {start:.6f} clone(child_stack=NULL, flags=SIGCHLD) = {pid} <0.000050>",
            f'{pid} {start + 0.0002:.6f} execve("/bin/tool", ["tool", "{at}"], 0x7ffd /* 1 var */) = 0 <0.000100>',
            f'{pid} {start + 0.0004:.6f} openat(AT_FDCWD, "/data/{at}", O_RDONLY) = 3 <0.000300>',
            f"{pid} {start + 0.0009:.6f} exit_group(0) = ?",
            f"{pid} {start + 0.0010:.6f} +++ exited with 0 +++",
            f"1 {start + 0.0011:.6f} wait4(-1, [{{WIFEXITED(s) && WEXITSTATUS(s) == 0}}], 0, NULL) = {pid} <0.000010>",
        ]
    return "\n".join(lines).encode() + b"\n"


def test_document_of_many_processes_is_bounded() -> None:
    summary = tracealyze.read(io.BytesIO(_many_processes(15_000))).summary()
    document = summary.document()
    assert len(json.dumps(document, indent=2)) < 2_000_000 < len(json.dumps(summary.document(full=True)))
    assert sum(row["exclusive_ns"] for row in document["partition"]) == document["window"]["wall_ns"]
    shown, every = document["counts"]["processes"]
    assert (shown, every) == (len(document["processes"]), 15_001)
    longest = max(summary.document(full=True)["processes"], key=lambda row: row["exclusive_ns"])
    assert longest in document["processes"]
    assert summary.document(full=True)["counts"] == {}


def test_bounds_of_all_lists_are_within_those_of_a_document() -> None:
    assert sum(_MAX_BYTES.values()) + bounded._PIECES_BYTES + sum(bounded._FOLDED_BYTES) < 2_000_000


@each_sample
@pytest.mark.parametrize(
    "order", ["total_ns", "calls", "failed", "exclusive_ns", "mean_ns", "p99_ns", "max_ns", "bytes"]
)
def test_largest_groups_of_calls_are_the_first_of_all(capture: Path, order: str) -> None:
    trace = tracealyze.read(capture)
    by = ["syscall", "op", "target"]
    every = [row[order] or 0 for row in trace.calls(by, order=order)]
    assert every == sorted((row[order] or 0 for row in trace.calls(by)), reverse=True)
    assert list(trace.calls(by, order=order, limit=7)) == list(trace.calls(by, order=order))[:7]


@each_sample
def test_calls_that_meet_a_condition_are_those_rows(capture: Path) -> None:
    trace = tracealyze.read(capture)
    keys = ("pid", "syscall", "errno", "outcome")
    form = ("and", ("==", ("column", "outcome"), "failed"), ("!=", ("column", "errno"), "EAGAIN"))
    found = trace.calls_matching(keys, form)
    assert list(found) == [
        row for row in trace.calls(keys) if row["outcome"] == "failed" and row["errno"] not in (None, "EAGAIN")
    ]


@each_sample
def test_errors_are_those_of_calls_that_failed(capture: Path) -> None:
    trace = tracealyze.read(capture)
    rows = trace.calls_matching(["syscall", "errno"], ("==", ("column", "outcome"), "failed"))
    assert errors_of(trace) == [(row["syscall"], row["errno"] or "", row["failed"]) for row in rows]
