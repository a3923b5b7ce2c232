"""Intervals of a window: they sum to it, agree with `--from` and `--to`, and only real changes are told."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import ROOT, SAMPLES, Call, captures_of_samples

import tracealyze
from tracealyze.base.errors import UnusableInput, WrongUsage
from tracealyze.model.table import Row, Table
from tracealyze.trace.change_points import stretches
from tracealyze.trace.changes import changes
from tracealyze.trace.intervals import intervals

SCHEMA = json.loads((ROOT / "tests" / "schemas" / "intervals.json").read_text(encoding="utf-8"))
SSH = SAMPLES / "ssh-login" / "ssh-login.truss"
S = 1_000_000_000
SLOW = range(40, 70)


def database(seconds: int, slow: range) -> Iterator[str]:
    """A database that answers requests and syncs its log. While logrotate works, syncs are slow."""
    noise, now = random.Random(4), 1_700_000_000.0
    yield f'100 {now:.6f} execve("/usr/bin/postgres", ["postgres"], 0x0 /* 1 vars */) = 0 <0.000500>'
    start, has_started = now, False
    while now - start < seconds:
        is_slow = now - start >= slow.start and now - start < slow.stop
        if is_slow and not has_started:
            has_started = True
            yield f"100 {now:.6f} clone(child_stack=NULL, flags=SIGCHLD) = 200 <0.000100>"
            yield f'200 {now:.6f} execve("/usr/sbin/logrotate", ["logrotate"], 0x0 /* 1 vars */) = 0 <0.000100>'
            yield f"200 {now:.6f} +++ exited with 0 +++"
        sync = noise.lognormvariate(-5.5, 0.5) * (60 if is_slow else 1)
        for call, took in (
            ('recvfrom(5, "x", 100, 0, NULL, NULL) = 10', noise.uniform(0.01, 0.03)),
            ("fsync(7</var/lib/db/wal>) = 0", sync),
        ):
            yield f"100 {now:.6f} {call} <{took:.6f}>"
            now += took + 0.0002
    yield f"100 {now:.6f} +++ exited with 0 +++"


@pytest.fixture
def slow_syncs(strace: Callable[[str], Path]) -> Path:
    return strace("\n".join(database(100, SLOW)) + "\n")


@pytest.mark.parametrize("path", captures_of_samples(), ids=lambda path: path.name)
@pytest.mark.parametrize("parts", [1, 7])
def test_intervals_sum_to_the_window(path: Path, parts: int) -> None:
    trace = tracealyze.read(path)
    wall_ns = trace.window.wall_ns
    found = intervals(trace, -(-wall_ns // parts), with_findings=False)
    assert sum(each.dur_ns for each in found) == wall_ns
    for each in found:
        assert sum(row["exclusive_ns"] for row in each.path) == each.dur_ns
    by_class = {row["class"]: row["exclusive_ns"] for row in trace.partition_by(["class"])}
    total = sum(row["exclusive_ns"] for each in found for row in each.path if row["class"] == "user")
    assert total == by_class.get("user", 0)


def test_calls_are_in_the_interval_in_which_they_end(strace: Callable[[str], Path]) -> None:
    path = strace(
        "100 1700000100.000000 getpid() = 1 <0.000010>\n"
        '100 1700000100.900000 read(3, "", 10) = 0 <0.300000>\n'
        "100 1700000101.500000 getpid() = 1 <0.000010>\n"
        "100 1700000101.990000 nanosleep({tv_sec=5}, NULL) = 0 <5.000000>\n"
        "100 1700000107.000000 +++ exited with 0 +++\n"
    )
    found = intervals(tracealyze.read(path), S, with_findings=False)
    names = [sorted(row["syscall"] for row in each.calls) for each in found]
    assert names == [["getpid"], ["getpid", "read"], [], [], [], [], ["nanosleep"]]
    assert [row["exclusive_ns"] for row in found[3].path] == [S]


def test_an_interval_finds_what_its_time_bounds_find(slow_syncs: Path) -> None:
    trace = tracealyze.read(slow_syncs)
    for each in intervals(trace, 20 * S):
        bounds = [f"+{(ns - trace.first_ns) / S:.9f}" for ns in (each.start_ns, each.end_ns)]
        part = trace.select(from_=bounds[0], to=bounds[1])
        assert [finding.fingerprint for finding in each.findings] == [finding.fingerprint for finding in part.findings]


def test_a_slow_time_is_told_with_what_started_then(slow_syncs: Path, call: Call) -> None:
    trace = tracealyze.read(slow_syncs)
    first = changes(trace, intervals(trace, 5 * S, with_findings=False))[0]
    assert (first.kind, first.program, first.syscall) == ("p50", "postgres", "fsync")
    assert (first.first, first.last, first.lasts) == (8, 13, False)
    assert first.started == ("logrotate",)
    code, out, _ = call("summarize", "--every", "5s", slow_syncs)
    assert code == 0
    assert "From 22:14:00 to 22:14:30: fsync of postgres takes" in out.splitlines()[1]
    assert "logrotate started then." in out


def test_a_steady_load_does_not_change(strace: Callable[[str], Path]) -> None:
    trace = tracealyze.read(strace("\n".join(database(100, range(0))) + "\n"))
    assert changes(trace, intervals(trace, 5 * S, with_findings=False)) == []


def test_noise_has_one_level() -> None:
    noise = random.Random(5)
    series = [[noise.gauss(0, 1) for _ in range(length)] for length in range(6, 206)]
    false = sum(len(stretches(values, 0.1)) > 1 for values in series)
    assert false <= len(series) * 0.1


@pytest.mark.parametrize("height", [6, 20])
def test_a_level_that_differs_is_a_stretch(height: int) -> None:
    noise = random.Random(6)
    values = [noise.gauss(height * (30 <= at < 36), 1) for at in range(60)]
    assert [(each.first, each.last) for each in stretches(values, 0.1)] == [(0, 29), (30, 35), (36, 59)]


def test_the_document_fits_its_schema(slow_syncs: Path, call: Call) -> None:
    code, out, _ = call("summarize", "--every", "10s", "--json", slow_syncs, SSH)
    assert code == 0
    document = json.loads(out)
    jsonschema.validate(document, SCHEMA)
    assert [len(each["intervals"]) for each in document["captures"]] == [11, 2]
    assert document["captures"][0]["changes"][0]["syscall"] == "fsync"


def test_csv_has_a_row_per_interval_and_call(call: Call) -> None:
    code, out, _ = call("top-syscalls", "--every", "5s", "--top", "2", "--format", "csv", SSH)
    rows = [line.split(",") for line in out.splitlines()]
    assert code == 0
    assert rows[0][:4] == ["start_ns", "dur_ns", "program", "syscall"]
    assert [row[0] for row in rows[1:]] == ["0", "0", "5000000000", "5000000000", "10000000000", "10000000000"]
    assert [row[3] for row in rows[3:5]] == ["ioctl", "door_call"]


@pytest.mark.parametrize("every", ["1e400s", "1e30s", "0s", "1ns", "soon"])
def test_a_wrong_length_is_wrong_usage(every: str, call: Call) -> None:
    code, _, err = call("summarize", "--every", every, SSH)
    assert code == 2
    assert "--every" in err or every in err


def test_without_a_clock_there_are_no_intervals(strace: Callable[[str], Path]) -> None:
    with pytest.raises(UnusableInput, match="-ttt"):
        intervals(tracealyze.read(strace('read(3, "", 10) = 0\nclose(3) = 0\n')), S)


def test_tables_without_rows_are_not_filtered(slow_syncs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A filter took 0.1 ms, and each interval had one for each rule: two thirds of the time of many short intervals."""
    filtered: list[tuple[str, int]] = []
    matching = Table.matching

    def counted(table: Table, *arguments: Any, **options: Any) -> Iterator[tuple[int, Row]]:
        filtered.append((table.name, len(table)))
        return matching(table, *arguments, **options)

    monkeypatch.setattr(Table, "matching", counted)
    assert any(each.findings for each in intervals(tracealyze.read(slow_syncs), 10 * S))
    assert {rows for name, rows in filtered if name != "partition"} - {0}
    assert [name for name, rows in filtered if name != "partition" and not rows] == []


def test_too_many_intervals_name_the_least_length() -> None:
    with pytest.raises(WrongUsage, match="Use at least"):
        intervals(tracealyze.read(SSH), 1000)


@pytest.mark.parametrize(
    ("budget", "code", "told"),
    [
        ("calls[fsync] >= 20", 1, "in 5 of 20 intervals, first from +45 to +50"),
        ("calls[fsync] <= 400", 0, "calls[fsync]"),
        ("calls[fsync] <= 150", 1, "first from +"),
    ],
)
def test_a_budget_must_hold_in_each_interval(budget: str, code: int, told: str, slow_syncs: Path, call: Call) -> None:
    found, out, _ = call("check", slow_syncs, "--every", "5s", "--budget", budget)
    assert (found, told in out) == (code, True), out
    # On the whole run, the limits say nothing.
    assert call("check", slow_syncs, "--budget", "calls[fsync] >= 20", "--fail-on", "never")[0] == 0


def test_a_broken_interval_is_inspected_with_its_bounds(slow_syncs: Path, call: Call) -> None:
    _, out, _ = call("check", slow_syncs, "--every", "5s", "--budget", "calls >= 40")
    assert "--from +45.000000000 --to +50.000000000" in " ".join(out.split())


@pytest.mark.parametrize("arguments", [("--every", "5s"), ("--every", "5s", "--budget", "calls <= 1", "--base", "x")])
def test_intervals_are_checked_with_budgets_only(arguments: tuple[str, ...], call: Call) -> None:
    code, _, err = call("check", SSH, *arguments)
    assert code == 2
    assert "--every" in err


def test_the_page_draws_intervals(slow_syncs: Path, tmp_path: Path, call: Call) -> None:
    page = tmp_path / "page.html"
    assert call("report", slow_syncs, "--every", "5s", "-o", page)[0] == 0
    section = page.read_text(encoding="utf-8").partition('<section id="over-time">')[2].partition("</section>")[0]
    assert "fsync of postgres takes" in section
    assert section.count("<g><title>") == 21
    paths = re.findall(r'<path d="(M[^"]*)" fill="none"', section)
    assert [path.count("L") for path in paths[:2]] == [19, 19]
    shares = re.findall(r"<title>[^<]*; ([^<]*)</title>", section)
    assert shares[10].startswith("disk 9")
    assert shares[2].startswith("network")


def test_a_window_without_length_is_one_interval(strace: Callable[[str], Path], tmp_path: Path, call: Call) -> None:
    """The widths of its columns were divided by zero."""
    file = strace("7 1700000000.000000 getpid() = 7 <0.000000>\n" * 2)
    code, _, stderr = call("report", file, "--every", "1s", "-o", tmp_path / "page.html")
    assert code == 0, stderr


def test_without_every_the_page_has_no_intervals(tmp_path: Path, call: Call) -> None:
    page = tmp_path / "page.html"
    assert call("report", SSH, "-o", page)[0] == 0
    assert "over-time" not in page.read_text(encoding="utf-8")


def test_names_of_a_trace_are_text_in_the_chart(strace: Callable[[str], Path], tmp_path: Path, call: Call) -> None:
    lines = [line.replace("/usr/bin/postgres", "/usr/bin/<b>&\x1b[2J") for line in database(20, range(0))]
    page = tmp_path / "page.html"
    assert call("report", strace("\n".join(lines) + "\n"), "--every", "5s", "-o", page)[0] == 0
    text = page.read_text(encoding="utf-8")
    assert "<b>&" not in text.partition('<section id="over-time">')[2].partition("</section>")[0]
    assert "\x1b" not in text
