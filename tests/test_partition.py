"""Groups of the partition add up to the window, and show what their pieces have in common."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import SAMPLES, Run, captures_of_samples

import tracealyze
from tracealyze.base.errors import WrongUsage
from tracealyze.model.selection import Scope
from tracealyze.render.json import text, write_parts
from tracealyze.render.partition import folded

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
def test_window_is_the_same_however_it_is_named(start: str, end: str, trace: tracealyze.Trace) -> None:
    login = trace.select(start=start, end=end)
    (quota,) = (row for row in login.partition_by(["pid"]) if row["pid"] == 12200)
    assert quota["exclusive_ns"] == 10_260_900_000
    (stats,) = (row for row in login.partition_by(["op"]) if row["op"] == "ZFS_IOC_OBJSET_STATS")
    assert stats["exclusive_ns"] == 9_741_200_000
    assert login.window.wall_ns == 11_422_000_000 or start == "+0"


@pytest.mark.parametrize("by", [["pid"], ["program", "class"], ["syscall", "op", "target"], list(KEYS)])
def test_partition_groups_are_sums_of_their_pieces(by: list[str], trace: tracealyze.Trace) -> None:
    sums: Counter[tuple[object, ...]] = Counter()
    for row in trace.partition:
        sums[tuple(row[key] for key in by)] += row["exclusive_ns"]
    assert {tuple(row[key] for key in by): row["exclusive_ns"] for row in trace.partition_by(by)} == sums


@pytest.mark.parametrize("by", [["pid"], ["program"], ["class", "target"], ["syscall", "op"], ["resolved", "pid"], []])
def test_partition_column_shows_the_value_all_pieces_share(by: list[str], trace: tracealyze.Trace) -> None:
    for group in trace.partition_by(by):
        pieces = [row for row in trace.partition if all(row[key] == group[key] for key in by)]
        assert group["pieces"] == len(pieces)
        assert group["targets"] == len({row["target"] for row in pieces})
        # Each process of this capture has a different id.
        assert group["processes"] == len({row["pid"] for row in pieces})
        for key in KEYS:
            values = {row[key] for row in pieces}
            assert group[key] == (values.pop() if len(values) == 1 else None)


@pytest.mark.parametrize(
    "scope",
    [
        Scope({"pid": [12200], "syscall": ["ioctl", None]}, {"op": ["ZFS_IOC_OBJSET_STATS"]}),
        Scope({"syscall": ["ioctl", None]}, {"op": ["ZFS_IOC_OBJSET_STATS"]}),
        Scope({"program": ["/usr/sbin/quota"]}, {"target": ["/dev/zfs"]}),
    ],
)
def test_scope_and_its_complement_are_the_whole(scope: Scope, trace: tracealyze.Trace) -> None:
    inside = sum(trace.partition_by(["class"], scope).column("exclusive_ns"))
    outside = sum(trace.partition_by(["class"], apart_from=[scope]).column("exclusive_ns"))
    assert 0 < inside < inside + outside == trace.window.wall_ns


def test_partition_omits_small_and_further_groups(trace: tracealyze.Trace) -> None:
    costs = trace.partition_by(["syscall"]).column("exclusive_ns")
    assert trace.partition_by(["syscall"], min_ns=costs[2]).column("exclusive_ns") == costs[:3]
    assert trace.partition_by(["syscall"], limit=2).column("exclusive_ns") == costs[:2]


@each_sample
@pytest.mark.parametrize("limit", [1, 3, 40, 10_000])
@pytest.mark.parametrize(
    "by", [["pid"], ["capture", "pid", "program", "class"], ["pid", "tid", "target"], ["program"], ["class", "syscall"]]
)
def test_largest_groups_are_the_first_of_all(capture: Path, by: list[str], limit: int) -> None:
    trace = tracealyze.read(capture)
    for scope in (None, Scope({"class": ["disk", "user", "gap"]}), Scope({}, {"syscall": ["ioctl", "read"]})):
        assert list(trace.partition_by(by, scope, limit=limit)) == list(trace.partition_by(by, scope))[:limit]


@pytest.mark.parametrize("by", [["target"], ["syscall", "target"], ["pid", "target"], ["class"]])
@pytest.mark.parametrize(
    ("scope", "apart_from"),
    [
        (None, []),
        (Scope({"class": ["disk", "user"]}), []),
        (Scope({"pid": [12200]}), []),
        (Scope({}, {"target": ["/dev/zfs"]}), []),
        (Scope({"resolved": [False]}), [Scope({"syscall": ["ioctl"]})]),
    ],
)
def test_partition_groups_that_reach_a_minimum_are_those_of_all(
    by: list[str], scope: Scope | None, apart_from: list[Scope], trace: tracealyze.Trace
) -> None:
    rows = list(trace.partition_by(by, scope, apart_from=apart_from))
    assert rows
    for min_ns in {row["exclusive_ns"] for row in rows[::5]}:
        large = [row for row in rows if row["exclusive_ns"] >= min_ns]
        assert list(trace.partition_by(by, scope, apart_from=apart_from, min_ns=min_ns)) == large


def test_misspelt_key_error_names_the_right_one(trace: tracealyze.Trace) -> None:
    with pytest.raises(WrongUsage, match='Did you mean "program"'):
        trace.partition_by(["pid"], Scope({"progam": ["sh"]}))


@each_sample
def test_document_written_in_parts_is_the_document(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = tracealyze.read(capture).summary()
    write_parts(summary.parts())
    written = capsys.readouterr().out
    assert json.loads(written) == json.loads(text(summary.document()))
    assert written.count("\n") < text(summary.document()).count("\n"), "rows of long tables are a line each"


def test_window_reports_calls_across_its_boundary(trace: tracealyze.Trace) -> None:
    assert trace.window.cut_calls == 0
    # From the middle of an ioctl to its end: call totals include the time before the window, the path does not.
    cut = trace.select(start="4.12", end="4.1525").window
    assert cut.wall_ns == 32_500_000
    assert cut.cut_calls >= 1
    assert cut.outside_ns >= 4_120_000_000 - 4_113_400_000


def stamp(us: int) -> str:
    return f"{1_700_000_000 + us // 1_000_000}.{us % 1_000_000:06}"


def lines_of_many_processes(number: int, large: bool = False) -> str:
    """A shell that runs many programs one after the other, 10 ms each, and optionally one as long as all of them."""
    lines, at_us = [f'1 {stamp(0)} execve("/bin/sh", ["sh"], 0x7ffd /* 1 var */) = 0 <0.000100>'], 1000
    for pid in range(2, 2 + number + large):
        took_us = 10_000 * (number if pid == 2 + number else 1)
        begins, runs, reads, ends = map(stamp, (at_us, at_us + 100, at_us + 300, at_us + took_us))
        lines += [
            f"1 {begins} vfork() = {pid} <0.000050>",
            f'{pid} {runs} execve("/bin/{"cc" if pid % 2 else "as"}", ["x"], 0x7ffd /* 1 var */) = 0 <0.000100>',
            f"1 {runs} wait4({pid}, NULL, 0, NULL) = {pid} <{took_us / 1_000_000:.6f}>",
            f'{pid} {reads} read(3</etc/{pid}>, "", 8) = 0 <{took_us / 2_000_000:.6f}>',
            f"{pid} {ends} +++ exited with 0 +++",
        ]
        at_us += took_us + 1000
    return "\n".join([*lines, f"1 {stamp(at_us)} +++ exited with 0 +++", ""])


@pytest.mark.parametrize("limit", [1, 30, 150, 1000])
@pytest.mark.parametrize("by", [["pid"], ["pid", "target"], ["capture", "pid", "class"]])
def test_largest_groups_of_one_process_among_many(by: list[str], limit: int, strace: Callable[[str], Path]) -> None:
    lines = lines_of_many_processes(60).splitlines()[:-1]
    lines += [f'1 {stamp(700_000 + 100 * at)} read(3</etc/{at}>, "", 8) = 0 <0.0000{at % 90:02}>' for at in range(200)]
    trace = tracealyze.read(strace("\n".join([*lines, f"1 {stamp(800_000)} +++ exited with 0 +++", ""])))
    assert list(trace.partition_by(by, limit=limit)) == list(trace.partition_by(by))[:limit]


@pytest.mark.parametrize("large", [False, True])
def test_partition_groups_many_small_processes_by_program(large: bool, strace: Callable[[str], Path]) -> None:
    trace = tracealyze.read(strace(lines_of_many_processes(60, large)))
    pieces = folded(trace, 10)
    outer = {piece.name: piece for piece in pieces if piece.depth == 0}
    assert sum(piece.exclusive_ns for piece in outer.values()) == trace.window.wall_ns
    assert ("pid 62 /bin/as" in outer) == large
    assert outer["/bin/cc"].count == "30 processes"
    assert outer["/bin/as"].count == ("30 other processes" if large else "30 processes")
    reads = [piece for piece in pieces if piece.name == "read" and piece.count == "30 calls"]
    assert [(piece.target, piece.exclusive_ns) for piece in reads] == [("30 targets", 30 * 5_000_000)] * 2


def test_partition_lists_few_processes_one_by_one(strace: Callable[[str], Path]) -> None:
    trace = tracealyze.read(strace(lines_of_many_processes(6)))
    outer = [piece for piece in folded(trace, 6) if piece.depth == 0]
    assert [piece.name for piece in outer[:2]] == ["pid 2 /bin/as", "pid 3 /bin/cc"]
    # The shell itself, and each of the others before it ran its own program.
    assert outer[6].name == "1 more process"
    assert sum(piece.exclusive_ns for piece in outer) == trace.window.wall_ns


def test_path_of_many_processes_shows_its_longest_stretches(run: Run, strace: Callable[[str], Path]) -> None:
    capture = strace(lines_of_many_processes(300))
    shown = run("critical-path", capture, "--json")
    rows = json.loads(shown.stdout)
    assert [row["pid"] for row in rows] == list(range(2, 52))
    assert {row["dur_ns"] for row in rows} == {9_900_000}
    assert "in segments no longer than" in shown.stderr
    few = run("critical-path", strace(lines_of_many_processes(6)), "--min", "9ms", "--json")
    assert [row["pid"] for row in json.loads(few.stdout)] == list(range(2, 8))
    assert "in segments shorter than" in few.stderr


def test_time_without_calls_has_the_name_that_reports_have() -> None:
    """Only the class `user` was in JSON and Parquet, which nothing shows to be user code."""
    trace = tracealyze.read(SAMPLES / "shutdown" / "before.strace.xz")
    tables = [trace.partition, trace.critical_path]
    pairs = [set(zip(table.column("class"), table.column("class_name"), strict=True)) for table in tables]
    documents = [trace.summary().document(full=full) for full in (False, True)]
    pairs += [{(row["class"], row["class_name"]) for row in each["partition"]} for each in documents]
    for found in pairs:
        assert ("user", "outside syscalls") in found
        assert all(name == cls for cls, name in found if cls != "user")
