"""Rules on captures without timestamps, and without durations: the kept captures, with these removed from their lines.

A rule's `needs_window` states that it stays silent there, and its `[counted]` section that counts alone suffice.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from rule_cases import CASES, KEPT, Case, findings_text, matching_rules

import tracealyze
from tracealyze import Trace
from tracealyze.findings.basis import Basis
from tracealyze.findings.finding import Severity
from tracealyze.findings.rule_set import rules

_RULES = {rule.name: rule for rule in rules()}
_NEED_WINDOW = {rule.name for rule in rules() if rule.needs_window}
_COUNTED = {rule.name for rule in rules() if rule.counted}
_STAMP = re.compile(r"(?m)^(\d+ +|\[pid +\d+\] )?\d{10}\.\d+ ")
_DURATION = re.compile(r"(?m) <\d+\.\d+>$")
_STAMPED = [
    case
    for case in CASES
    if case.is_text and case.capture.is_relative_to(KEPT) and not {"-r", "-t", "-tt", "-c"} & set(case.options)
]

Untimed = Callable[[Case, bool], Trace]


@pytest.fixture(scope="module")
def untimed(tmp_path_factory: pytest.TempPathFactory) -> Untimed:
    folder = tmp_path_factory.mktemp("untimed")
    return cache(lambda case, durations: _untimed(case, folder, durations))


def _untimed(case: Case, folder: Path, durations: bool) -> Trace:
    """The capture of a case without timestamps, with or without durations."""
    text = lzma.decompress(case.capture.read_bytes()).decode(errors="surrogateescape")
    text = _STAMP.sub(lambda match: match[1] or "", text)
    file = folder / f"{case.name.replace('/', '-')}-{durations}"
    file.write_bytes((text if durations else _DURATION.sub("", text)).encode(errors="surrogateescape"))
    return tracealyze.read(file)


_ONLY_TIME = {
    "connect-stall/found-1": "the connection takes long, and succeeds",
}
"""Faults of such rules that no count shows."""


@pytest.mark.parametrize("case", [case for case in _STAMPED if case.finds & _COUNTED], ids=lambda case: case.name)
def test_counts_alone_show_the_fault(case: Case, untimed: Untimed) -> None:
    trace = untimed(case, False)
    is_found = case.finds & _COUNTED <= matching_rules(trace)
    assert is_found is (case.name not in _ONLY_TIME), findings_text(trace)


def test_each_counted_rule_has_a_capture() -> None:
    assert {name for case in _STAMPED for name in case.finds & _COUNTED} == _COUNTED


@pytest.mark.parametrize("case", _STAMPED, ids=lambda case: case.name)
def test_untimed_look_alikes_stay_quiet(case: Case, untimed: Untimed) -> None:
    trace = untimed(case, False)
    accused = {each.name for each in trace.findings if each.severity != Severity.INFO}
    assert not accused & case.never, findings_text(trace)
    if case.rule == "healthy" or case.no_warnings:
        assert not accused, findings_text(trace)


@pytest.mark.parametrize("durations", [False, True], ids=["untimed", "durations"])
@pytest.mark.parametrize("case", _STAMPED, ids=lambda case: case.name)
def test_findings_without_a_window_are_labelled(case: Case, durations: bool, untimed: Untimed) -> None:
    for finding in untimed(case, durations).findings:
        assert finding.name not in _NEED_WINDOW
        assert finding.basis is not Basis.WALL
        assert "window" not in finding.message.replace(finding.program or "\0", "")
        if finding.basis is Basis.COUNTS:
            assert (finding.impact_ns, finding.share) == (None, None)
            assert finding.severity is not Severity.ERROR


@pytest.mark.parametrize("case", [case for case in _STAMPED if case.rule == "healthy"], ids=lambda case: case.name)
def test_healthy_programs_with_durations_alone_stay_quiet(case: Case, untimed: Untimed) -> None:
    trace = untimed(case, True)
    assert all(finding.severity == Severity.INFO for finding in trace.findings), findings_text(trace)


@pytest.mark.parametrize("stamps", ["of the day", "none"])
def test_sleep_until_a_time_of_day_has_a_limit(tmp_path: Path, stamps: str) -> None:
    until = "CLOCK_REALTIME, TIMER_ABSTIME, {tv_sec=1700000012, tv_nsec=0}, NULL"
    lines = {
        "12:00:00.000000": "clock_gettime(CLOCK_REALTIME, {tv_sec=1700000010, tv_nsec=0}) = 0 <0.000010>",
        "12:00:00.000020": f"clock_nanosleep({until}) = 0 <1.999990>",
        "12:00:02.000100": "exit_group(0) = ?",
    }
    capture = tmp_path / "sleep.strace"
    text = "".join(f"7 {at} {call}\n" if stamps == "of the day" else f"{call}\n" for at, call in lines.items())
    capture.write_text(text if stamps == "of the day" else _DURATION.sub("", text), encoding="utf-8")
    requested_ns = tracealyze.read(capture).events.to_arrow().column("requested_ns").to_pylist()
    assert requested_ns[1] == pytest.approx(2e9, abs=1e5)
