"""Excerpts that people paste in issues, mails and blogs: their cause comes first, and no bystander is accused."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from rule_cases import findings_text, matching_rules

import tracealyze
from tracealyze.findings.finding import Severity

_FOLDER = Path(__file__).parent / "kept_excerpts"
_CASES: dict[str, dict[str, Any]] = tomllib.loads((_FOLDER / "cases.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", _CASES)
def test_excerpt_names_its_cause_first(name: str) -> None:
    case, trace = _CASES[name], tracealyze.read(_FOLDER / f"{name}.txt")
    shown = f"{case['claim']}\n{findings_text(trace)}"
    if "first" in case:
        assert trace.findings, shown
        assert trace.findings[0].name == case["first"], shown
        assert case.get("advice", "") in trace.findings[0].advice
        assert case.get("message", "") in trace.findings[0].message, shown
    else:
        assert all(each.severity is Severity.INFO for each in trace.findings), shown
    assert case.get("says", "") in " ".join(each.text for each in trace.summary().diagnosis), shown
    assert case.get("severity") in (None, *(each.severity for each in trace.findings[:1])), shown
    assert not set(case.get("never", ())) & matching_rules(trace), shown


@pytest.mark.parametrize("name", _CASES)
def test_excerpt_calls_no_bound_measured(name: str) -> None:
    trace = tracealyze.read(_FOLDER / f"{name}.txt")
    capture = trace.captures[0]
    exact = capture.has.get("durations") and capture.dur_kind == "exact"
    costly = [each for each in trace.findings if each.impact_ns and each.impact_ns[1]]
    if not exact and not capture.has.get("summary_table"):
        assert [each.name for each in costly if each.confidence == "measured"] == []


def test_each_excerpt_has_a_case() -> None:
    assert {file.stem for file in _FOLDER.glob("*.txt")} == set(_CASES)
