"""The partition taken together: groups add up to the whole, and say what their pieces have in common."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from conftest import SAMPLES, captures_of_samples

import tracealyze
from tracealyze.errors import WrongUsage
from tracealyze.render.json import text, write_parts
from tracealyze.selection import Scope

KEYS = ("capture", "pid", "tid", "program", "class", "syscall", "op", "target", "resolved", "tag")
each_sample = pytest.mark.parametrize("capture", captures_of_samples(), ids=lambda file: file.name)


@pytest.fixture(scope="module")
def trace() -> tracealyze.Trace:
    return tracealyze.read(SAMPLES / "ssh-login" / "ssh-login.truss")


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2.6594", "14.0814"),
        ("line:9", "line:4101"),
        ("/fcntl.*F_SETFL/", "14.0814"),
        ("+0", "/12186:.*write.*= 64$/"),
        ("/^408:.*fcntl/", "/^12186:.*\\| : \\{/"),
    ],
)
def test_the_login_is_the_same_however_its_window_is_named(start: str, end: str, trace: tracealyze.Trace) -> None:
    login = trace.select(start=start, end=end)
    (quota,) = (row for row in login.partition_by(["pid"]) if row["pid"] == 12200)
    assert quota["exclusive_ns"] == 10_260_900_000
    (stats,) = (row for row in login.partition_by(["op"]) if row["op"] == "ZFS_IOC_OBJSET_STATS")
    assert stats["exclusive_ns"] == 9_741_200_000
    assert login.window.wall_ns == 11_422_000_000 or start == "+0"


@pytest.mark.parametrize("by", [["pid"], ["program", "class"], ["syscall", "op", "target"], list(KEYS)])
def test_groups_are_the_sums_of_their_pieces(by: list[str], trace: tracealyze.Trace) -> None:
    sums: Counter[tuple[object, ...]] = Counter()
    for row in trace.partition:
        sums[tuple(row[key] for key in by)] += row["exclusive_ns"]
    assert {tuple(row[key] for key in by): row["exclusive_ns"] for row in trace.partition_by(by)} == sums


def test_a_column_that_is_no_key_tells_what_all_pieces_agree_in(trace: tracealyze.Trace) -> None:
    for group in trace.partition_by(["pid"]):
        pieces = [row for row in trace.partition if row["pid"] == group["pid"]]
        assert group["pieces"] == len(pieces)
        assert group["targets"] == len({row["target"] for row in pieces})
        for key in KEYS:
            values = {row[key] for row in pieces}
            assert group[key] == (values.pop() if len(values) == 1 else None)


def test_what_a_scope_has_and_what_is_apart_from_it_are_the_whole(trace: tracealyze.Trace) -> None:
    scope = Scope({"pid": [12200], "syscall": ["ioctl", None]}, {"op": ["ZFS_IOC_OBJSET_STATS"]})
    inside = sum(trace.partition_by(["class"], scope).column("exclusive_ns"))
    outside = sum(trace.partition_by(["class"], apart_from=[scope]).column("exclusive_ns"))
    assert 0 < inside < inside + outside == trace.window.wall_ns


def test_small_groups_and_further_ones_are_left_out(trace: tracealyze.Trace) -> None:
    costs = trace.partition_by(["syscall"]).column("exclusive_ns")
    assert trace.partition_by(["syscall"], at_least_ns=costs[2]).column("exclusive_ns") == costs[:3]
    assert trace.partition_by(["syscall"], most=2).column("exclusive_ns") == costs[:2]


def test_a_misspelt_key_is_told_with_the_right_one(trace: tracealyze.Trace) -> None:
    with pytest.raises(WrongUsage, match='Did you mean "program"'):
        trace.partition_by(["pid"], Scope({"progam": ["sh"]}))


@each_sample
def test_the_document_written_by_its_parts_is_the_document(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = tracealyze.read(capture).summary()
    write_parts(summary.parts())
    written = capsys.readouterr().out
    assert json.loads(written) == json.loads(text(summary.document()))
    assert written.count("\n") < text(summary.document()).count("\n"), "rows of long tables are a line each"


def test_calls_over_an_edge_that_was_asked_for_are_told(trace: tracealyze.Trace) -> None:
    assert trace.window.cut_calls == 0
    # From the middle of an ioctl on, to its end: sums of calls have what lies before, the path has not.
    cut = trace.select(start="4.12", end="4.1525").window
    assert cut.wall_ns == 32_500_000
    assert cut.cut_calls >= 1
    assert cut.outside_ns >= 4_120_000_000 - 4_113_400_000
