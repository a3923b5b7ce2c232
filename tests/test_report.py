"""The report of `summarize`: the answer comes first, and it fits on a screen."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from conftest import SAMPLES, Run, captures_of_samples
from rule_cases import CASES, Case

import tracealyze
from tracealyze.findings.compiled_rules import INCUBATOR
from tracealyze.findings.grouping import grouped
from tracealyze.findings.rule_set import rules
from tracealyze.render import evidence, lanes, report
from tracealyze.render.path_rows import path_rows, whole_percents
from tracealyze.render.text import ASCII, UNICODE

FOUND = [case for case in CASES if case.name.split("/")[1].startswith("found")]
CAPTURES = sorted({case.capture for case in CASES} | set(captures_of_samples()))
each_capture = pytest.mark.parametrize("capture", CAPTURES, ids=lambda file: "/".join(file.parts[-2:]))


Lines = Callable[[Path, int], list[str]]


@pytest.fixture
def lines_of(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lines:
    """The report of a capture in a terminal of some columns."""

    def lines(capture: Path, columns: int) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(columns))
        trace = tracealyze.read(capture).with_rules(rules(INCUBATOR))
        report.show(trace, trace.summary(), 10)
        return capsys.readouterr().out.splitlines()

    return lines


@pytest.mark.parametrize("case", FOUND, ids=lambda case: case.name)
def test_cause_is_in_the_first_twelve_lines(case: Case, lines_of: Lines) -> None:
    begin = " ".join(" ".join(lines_of(case.capture, 80)[:12]).split())
    trace = tracealyze.read(case.capture).with_rules(rules(INCUBATOR))
    findings = [each for each in trace.findings if case.rule in (each.name, *each.also)]
    assert any(_is_shown(" ".join(each.diagnosis.split()), begin) for each in findings), begin


def _is_shown(diagnosis: str, begin: str) -> bool:
    """Whether a text has the diagnosis. One that quotes a long message is cut in its third line."""
    cuts = (diagnosis[:end].rstrip() + "…" for end in range(2 * 70, len(diagnosis)))
    # How much of it is tracing may follow.
    wholes = (diagnosis, f"{diagnosis.removesuffix('.')}; about ")
    return any(each in begin for each in (*wholes, *cuts))


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


SCHEMA = json.loads((Path(__file__).parent / "schemas" / "summary.json").read_text(encoding="utf-8"))
SSH = SAMPLES / "ssh-login" / "ssh-login.truss"
SHUTDOWN = SAMPLES / "shutdown" / "before.strace.xz"


@pytest.mark.parametrize("capture", captures_of_samples(), ids=lambda file: file.name)
def test_summary_matches_its_schema(capture: Path, run: Run) -> None:
    jsonschema.validate(json.loads(run("summarize", "--json", capture).stdout), SCHEMA)


def test_findings_of_one_cause_are_combined() -> None:
    [finding] = tracealyze.read(SSH).findings
    message = finding.message.replace("pid 12200", "pid 12300").replace("9.74 s", "97.4 ms")
    twin = replace(finding, pid=12300, message=message, lines=(5000,))
    [group] = grouped([finding, twin])
    assert group.members == (finding, twin)
    assert group.impact_ns == (0, 2 * (finding.impact_ns or (0, 0))[1])
    others = [
        replace(finding, program="/usr/bin/zfs"),
        replace(finding, capture=1),
        replace(finding, message=finding.message.replace("ZFS_IOC_OBJSET_STATS", "ZFS_IOC_POOL_STATS")),
    ]
    assert [len(group.members) for group in grouped([finding, *others])] == [1, 1, 1, 1]


def test_fixed_sleeps_after_different_signals_stay_apart() -> None:
    groups = grouped(tracealyze.read(SHUTDOWN).findings)
    assert [len(group.members) for group in groups] == [1, 1, 1, 1]


def test_quoted_line_keeps_its_result() -> None:
    [finding] = tracealyze.read(SSH).findings
    text = f'12 1700000010.000000 openat(AT_FDCWD, "{"x" * 200}", O_RDONLY) = -1 ENOENT (No such file) <0.000012>'
    quote = evidence.quote(7, text, finding, 80, "…")
    assert len(quote.text) == 80
    assert quote.text.endswith("…) = -1 ENOENT (No such file) <0.000012>")
    marked = "".join(each if mark == "^" else " " for each, mark in zip(quote.text, quote.marks, strict=False))
    assert marked.split() == ["openat", "=", "-1", "ENOENT", "<0.000012>"]


def test_quoted_line_without_a_call_has_no_marks() -> None:
    [finding] = tracealyze.read(SSH).findings
    assert evidence.quote(7, "[    1.486287] md: stopping all md devices.", finding, 80, "…").marks == ""


def test_timeline_has_each_moment_on_one_lane_at_most() -> None:
    trace = tracealyze.read(SHUTDOWN)
    found = lanes.lanes(trace, path_rows(trace), 60, UNICODE)
    assert found[0][0] == "sleep 5 ×4"
    for at in range(60):
        assert sum(bar.ljust(60)[at] == "█" for _, bar in found) <= 1
    assert sum(bar.count("█") for _, bar in found) >= 55
    assert [bar.replace("█", "#").replace("─", "-") for _, bar in found] == [
        bar for _, bar in lanes.lanes(trace, path_rows(trace), 60, ASCII)
    ]


def test_four_sleeps_are_one_row() -> None:
    rows = path_rows(tracealyze.read(SHUTDOWN))
    assert [(row.name, row.percent) for row in rows[:2]] == [("sleep 5 ×4", 49), ("sleep 10", 24)]


def test_normal_captures_get_no_remarks(run: Run) -> None:
    shown = run("summarize", SHUTDOWN).stdout
    assert "note: " not in shown.replace("= note: ", "")
    assert "parsed" not in shown and "complete" not in shown


def test_full_report_has_processes_calls_and_the_capture(run: Run) -> None:
    short, full = (run("summarize", SHUTDOWN, *options).stdout for options in ((), ("--full",)))
    for section in ("Processes", "Top calls", "Where the time went", "Capture"):
        assert f"\n{section}" in full and f"\n{section}" not in short
    assert "also matches fixed-sleep" in " ".join(full.split())


def test_tracers_table_names_its_largest_call(tmp_path: Path) -> None:
    rule = "------ ----------- ----------- --------- --------- ----------------\n"
    (tmp_path / "own.strace").write_text(
        "% time     seconds  usecs/call     calls    errors syscall\n"
        + rule
        + " 60.00    0.000600          60        10         2 openat\n"
        " 40.00    0.000400          20        20           read\n"
        + rule
        + "100.00    0.001000                    30         2 total\n",
        encoding="utf-8",
    )
    [sentence] = tracealyze.read(tmp_path / "own.strace").summary().diagnosis
    assert sentence.text == "In the tracer's own table, openat has 10 of 30 calls and 60% of the time."


@pytest.mark.parametrize(("seconds", "is_told"), [("30.000000", True), ("0.010000", False)])
def test_tracers_table_names_its_time_next_to_a_failing_call(seconds: str, is_told: bool, tmp_path: Path) -> None:
    (tmp_path / "own.strace").write_text(
        "% time     seconds  usecs/call     calls    errors syscall\n"
        "------ ----------- ----------- --------- --------- ----------------\n"
        f" 96.08   {seconds}       30053      1008         9 futex\n"
        "  0.15    0.050000           9      5364      4860 connect\n"
        "  0.14    0.049000           8      5585           close\n",
        encoding="utf-8",
    )
    texts = [each.text for each in tracealyze.read(tmp_path / "own.strace").summary().diagnosis]
    assert "connect fails 4,860 times" in texts[0]
    told = "of the time in the table, in 1,008 calls: threads wait there for others."
    assert any(told in text for text in texts) == is_told, texts


@pytest.mark.parametrize(("processes", "is_share"), [(6, False), (1, True)])
def test_hardly_more_lines_than_processes_give_no_share(processes: int, is_share: bool, tmp_path: Path) -> None:
    calls = (
        f" {at * 100}.050 ( 0.250 ms): worker/{700 + at % processes} read(fd: 5, buf: 0x7ffc, count: 8) = 8\n"
        for at in range(8)
    )
    (tmp_path / "own.trace").write_text("".join(calls), encoding="utf-8")
    text = tracealyze.read(tmp_path / "own.trace").summary().diagnosis[0].text
    assert ("outside system calls" in text) == is_share, text
    assert ("8 calls of 6 processes are too few" in text) != is_share, text


def test_tracers_table_says_that_most_of_its_largest_call_fail(tmp_path: Path) -> None:
    rule = "------ ----------- ----------- --------- --------- ----------------\n"
    (tmp_path / "own.strace").write_text(
        "% time     seconds  usecs/call     calls    errors syscall\n"
        + rule
        + " 60.00    0.000600          15        40        20 write\n"
        " 40.00    0.000400          20        20           read\n"
        + rule
        + "100.00    0.001000                    60        20 total\n",
        encoding="utf-8",
    )
    [sentence] = tracealyze.read(tmp_path / "own.strace").summary().diagnosis
    assert sentence.text.endswith("write has 40 of 60 calls and 60% of the time; 20 of these calls fail.")


def test_wait_for_a_child_is_said_with_its_length(strace: Callable[[str], Path]) -> None:
    text = """\
wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 3136 <68.242025>
rt_sigprocmask(SIG_BLOCK, [CHLD], [], 8) = 0 <0.000019>
ioctl(255, TIOCSPGRP, [3116]) = 0 <0.000018>
rt_sigprocmask(SIG_SETMASK, [CHLD], NULL, 8) = 0 <0.000017>
ioctl(255, TCGETS, {B38400 opost isig icanon echo ...}) = 0 <0.000017>
ioctl(255, TIOCGWINSZ, {ws_row=42, ws_col=160, ws_xpixel=0, ws_ypixel=0}) = 0 <0.000016>
rt_sigprocmask(SIG_SETMASK, [], NULL, 8) = 0 <0.000017>
rt_sigaction(SIGINT, NULL, {sa_handler=SIG_DFL, sa_mask=[], sa_flags=0}, 8) = 0 <0.000017>
"""
    texts = [each.text for each in tracealyze.read(strace(text)).summary().diagnosis]
    assert any(each.endswith("is wait4 in the traced process: it waits 68.24 s for a child.") for each in texts)


def test_trace_without_findings_names_the_largest_part(strace: Callable[[str], Path]) -> None:
    text = """\
100 1700000010.000000 execve("/bin/tool", ["tool"], 0x7ffd /* 1 var */) = 0 <0.001000>
100 1700000010.060000 exit_group(0) = ?
100 1700000010.060100 +++ exited with 0 +++
"""
    summary = tracealyze.read(strace(text)).summary()
    assert [each.text for each in summary.diagnosis] == [
        "tool exited with status 0.",
        "No cause stands out. Most of the wall time, 98%, is between the traced calls, in tool.",
    ]
