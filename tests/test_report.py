"""The report of `summarize`: the answer comes first, and it fits on a screen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run, captures_of_samples
from rule_cases import CASES, Case

import tracealyze
from tracealyze.render import report
from tracealyze.render.path_rows import path_rows, whole_percents

FOUND = [case for case in CASES if case.name.split("/")[1].startswith("found")]
CAPTURES = sorted({case.capture for case in CASES} | set(captures_of_samples()))
each_capture = pytest.mark.parametrize("capture", CAPTURES, ids=lambda file: "/".join(file.parts[-2:]))


Lines = Callable[[Path, int], list[str]]


@pytest.fixture
def lines_of(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lines:
    """The report of a capture in a terminal of some columns."""

    def lines(capture: Path, columns: int) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(columns))
        trace = tracealyze.read(capture)
        report.show(trace, trace.summary(), 10)
        return capsys.readouterr().out.splitlines()

    return lines


@pytest.mark.parametrize("case", FOUND, ids=lambda case: case.name)
def test_cause_is_in_the_first_twelve_lines(case: Case, lines_of: Lines) -> None:
    begin = " ".join(" ".join(lines_of(case.capture, 80)[:12]).split())
    findings = [each for each in tracealyze.read(case.capture).findings if case.rule in (each.name, *each.also)]
    assert any(each.diagnosis in begin for each in findings), begin


@each_capture
def test_report_fits_in_sixty_lines(capture: Path, lines_of: Lines) -> None:
    for columns in (80, 100, 160):
        lines = lines_of(capture, columns)
        assert len(lines) <= report.MAX_LINES
        assert max(map(len, lines)) <= columns


@each_capture
def test_percentages_of_the_critical_path_add_up(capture: Path) -> None:
    trace = tracealyze.read(capture)
    rows = [row for row in path_rows(trace) if row.depth == 0]
    assert sum(row.exclusive_ns for row in rows) == trace.window.wall_ns
    assert sum(row.percent for row in rows) == (100 if rows else 0)


def test_whole_percents_add_up() -> None:
    assert whole_percents([1, 1, 1], 100) == [34, 33, 33]
    assert whole_percents([999, 1], 100) == [100, 0]
    assert whole_percents([0, 0], 100) == [0, 0]


@pytest.mark.parametrize("case", FOUND, ids=lambda case: case.name)
def test_first_finding_is_in_the_first_24_lines(case: Case, lines_of: Lines) -> None:
    text = "\n".join(lines_of(case.capture, 80)[:24])
    assert "= help: " in text


RUN = """\
{pid} {at}0.000000 execve("/bin/sleep", ["sleep", "{seconds}"], 0x7ffd /* 1 var */) = 0 <0.001000>
{pid} {at}0.002000 clock_nanosleep(CLOCK_REALTIME, 0, {{tv_sec={seconds}, tv_nsec=0}}, NULL) = 0 <{seconds}.000100>
{pid} {at}{seconds}.003000 exit_group(0) = ?
{pid} {at}{seconds}.004000 +++ exited with 0 +++
"""


def runs(*seconds: int) -> str:
    return "".join(
        RUN.format(pid=100 + number, at=170000000 + number, seconds=each) for number, each in enumerate(seconds)
    )


def test_several_runs_begin_with_an_overview(strace: Callable[[str], Path], run: Run) -> None:
    shown = run("summarize", strace(runs(1, 3, 2))).stdout
    lines = shown.splitlines()
    assert lines[0] == "3 runs: 1.00 s to 3.00 s wall time, median 2.00 s"
    assert [line.split()[:3] for line in lines[3:6]] == [
        ["run", "1", "1.004"],
        ["run", "2", "3.004"],
        ["run", "3", "2.004"],
    ]
    assert "in all: fixed-sleep" in shown
    assert "The slowest is run 2" in shown
    assert "run 2 of 3" in shown and "run 1 of 3" not in shown
    assert len(lines) <= report.MAX_LINES
    each = run("summarize", strace(runs(1, 3, 2)), "--each").stdout
    assert [f"run {number} of 3" in each for number in (1, 2, 3)] == [True] * 3


def test_overview_of_many_runs_shows_the_slowest(strace: Callable[[str], Path], run: Run) -> None:
    shown = run("summarize", strace(runs(*[1] * 15, 5, *[1] * 4))).stdout
    assert "20 runs: " in shown and "8 faster runs: --each" in shown
    assert shown.splitlines()[3].startswith("run 16")
    assert len(shown.splitlines()) <= report.MAX_LINES


def test_finding_about_a_run_is_not_shown_for_others(strace: Callable[[str], Path]) -> None:
    # A table with a row per run gave the finding of one run to all of them.
    quick = "".join(f"200 1800000000.{at:06} getppid() = 1 <0.000002>\n" for at in range(1000, 90000, 40))
    start = '200 1800000000.000000 execve("/bin/tool", ["tool"], 0x7ffd /* 1 var */) = 0 <0.000400>\n'
    trace = tracealyze.read(strace(runs(1) + start + quick + "200 1800000000.090000 exit_group(0) = ?\n"))
    names = [{finding.name for finding in trace.of_capture(number).findings} for number in (0, 1)]
    assert "narrow-filter" in names[1]
    assert "narrow-filter" not in names[0]


def test_diagnosis_of_the_summary_refers_to_its_findings() -> None:
    for capture in captures_of_samples():
        document = tracealyze.read(capture).summary().document()
        assert 1 <= len(document["diagnosis"]) <= 3
        for sentence in document["diagnosis"]:
            assert set(sentence) == {"text", "share", "finding"}
            assert sentence["share"] is None or 0 <= sentence["share"] <= 1
            assert sentence["finding"] is None or sentence["finding"] < len(document["findings"])
        assert 0 <= document["impact_ns"][0] <= document["impact_ns"][1] <= document["window"]["wall_ns"]
