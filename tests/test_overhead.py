"""The overhead of tracing is not blamed on the traced program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Run

import tracealyze
from tracealyze.base import units
from tracealyze.findings.finding import Finding, Severity
from tracealyze.render.brief import brief
from tracealyze.trace.outcome import untraced
from tracealyze.trace.outcome.verdict import saving_ns, saving_of

_CALLS = 900


def _lines(read_us: int, quick_us: int, after_us: int) -> Iterator[str]:
    """A program that sets signal masks and then reads, under a tracer that stops it for some time after each call."""
    now_us = 0
    calls = [("rt_sigaction(SIGINT, NULL, NULL, 8) = 0", quick_us)] * 60 + [('read(3, "x", 1) = 1', read_us)] * _CALLS
    for text, dur_us in [('execve("/bin/tool", ["tool"], []) = 0', 100), *calls, ("exit_group(0) = ?", 0)]:
        yield f"100 1700000010.{now_us:06} {text} <0.{dur_us:06}>".removesuffix(" <0.000000>")
        now_us += dur_us + after_us


def _loop(folder: Path, read_us: int, quick_us: int, after_us: int) -> Finding | None:
    capture = folder / "own.strace"
    capture.write_text("\n".join(_lines(read_us, quick_us, after_us)) + "\n")
    return next((each for each in tracealyze.read(capture).findings if each.name == "hot-loop"), None)


@pytest.mark.parametrize(
    ("read_us", "quick_us", "after_us", "severity"),
    [
        # As quick as trivial calls: the tracer takes the time.
        (62, 60, 90, Severity.INFO),
        (200, 180, 300, Severity.INFO),
        # Slower than these, but as quick as the time between two calls, in which the program does nothing.
        (200, 60, 190, Severity.INFO),
        # Ten times as slow as these.
        (600, 60, 90, Severity.WARNING),
        # Slow while trivial calls are quick.
        (200, 5, 10, Severity.WARNING),
    ],
)
def test_loop_of_quick_calls_is_not_blamed_for_the_tracer(
    read_us: int, quick_us: int, after_us: int, severity: Severity, tmp_path: Path
) -> None:
    found = _loop(tmp_path, read_us, quick_us, after_us)
    assert found is not None
    assert found.severity is severity


def test_impact_excludes_tracing_overhead(tmp_path: Path) -> None:
    found = _loop(tmp_path, read_us=600, quick_us=60, after_us=90)
    assert found is not None
    least_ns = _CALLS * (60_000 + 90_000)
    assert found.tracing_ns == pytest.approx(least_ns, rel=0.02)
    assert found.impact_ns
    assert found.impact_ns[1] <= _CALLS * 690_000 - found.tracing_ns


def test_report_shows_the_tracing_overhead(tmp_path: Path, run: Run) -> None:
    _loop(tmp_path, read_us=600, quick_us=60, after_us=90)
    shown = run("summarize", tmp_path / "own.strace", COLUMNS="120").stdout
    assert "includes about 13" in shown
    _loop(tmp_path, read_us=600, quick_us=6, after_us=9)
    assert "of tracing overhead" not in run("summarize", tmp_path / "own.strace", COLUMNS="120").stdout


@pytest.mark.parametrize(
    ("capture", "names"),
    [
        # Infos: the loop could save a tenth of the window at most, the storm a fifth.
        ("field/captures/cp-many.strace.xz", ["hot-loop", "overhead-dominates"]),
        ("kept_rules/process-storm/found-2.strace.xz", ["process-storm", "overhead-dominates"]),
        # A warning.
        ("kept_rules/slowing-loop/found-1.strace.xz", ["slowing-loop", "overhead-dominates"]),
    ],
)
def test_dominating_overhead_precedes_infos_of_little_impact(capture: str, names: list[str]) -> None:
    found = tracealyze.read(Path(__file__).parent / capture).findings
    assert [each.name for each in found if each.name in names] == names


def test_one_figure_for_the_cost_of_tracing(tmp_path: Path, run: Run) -> None:
    """The headline, `--full`, the rule and JSON had three figures, from 14 to 39 % of one window."""
    _loop(tmp_path, read_us=62, quick_us=60, after_us=90)
    file = tmp_path / "own.strace"
    trace = tracealyze.read(file)
    without_ns = trace.summary().document()["untraced"]["wall_ns"]
    rule = next(each for each in trace.findings if each.name == "overhead-dominates")
    tracing_ns = trace.window.wall_ns - without_ns
    assert tracing_ns == next(iter(trace.table("captures")))["tracing_ns"]
    assert units.duration(tracing_ns, trace.tick_ns) in rule.message
    share = units.share(tracing_ns / trace.window.wall_ns)
    assert share in rule.message
    for options in ((), ("--full",)):
        shown = run("summarize", file, *options, COLUMNS="200").stdout
        assert " traced, " in shown.partition("\n\n")[0]
        assert "per call, " not in shown


def test_saving_is_less_than_the_run_without_tracer(tmp_path: Path) -> None:
    _loop(tmp_path, read_us=600, quick_us=60, after_us=90)
    document = tracealyze.read(tmp_path / "own.strace").summary().document()
    assert document["impact_ns"][1] <= document["untraced"]["wall_ns"]


def test_all_reports_promise_the_same_saving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a program that takes a tenth without the tracer, no report promises more than that."""
    _loop(tmp_path, read_us=600, quick_us=60, after_us=90)
    trace = tracealyze.read(tmp_path / "own.strace")
    wall_ns = trace.window.wall_ns
    monkeypatch.setattr(untraced, "untraced_of", lambda _: untraced.Untraced(wall_ns, wall_ns - wall_ns // 10, True))
    assert saving_ns(trace, trace.findings)[1] > wall_ns // 10
    low_ns, high_ns = trace.summary().saving_ns
    assert high_ns == wall_ns // 10
    assert saving_of(low_ns, high_ns, wall_ns, trace.tick_ns) in brief(trace, 2000)
    assert saving_of(low_ns, high_ns, 0, trace.tick_ns) in repr(trace)
