"""What findings promise: never more than the cost that they show, and never more than there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT, captures_of_samples
from rule_cases import CASES

import tracealyze
from tracealyze.findings.basis import Basis

FIELD = (ROOT / "tests" / "field" / "captures").glob("*.strace.xz")
CAPTURES = sorted({case.capture for case in CASES} | set(captures_of_samples()) | set(FIELD))
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda file: "/".join(file.parts[-2:]))
def test_savings_are_within_costs_and_costs_within_the_window(capture: Path) -> None:
    """A loop promised the time between its calls as well, and subshells counted twice: 101% of the window."""
    trace = tracealyze.read(capture)
    for finding in trace.findings:
        assert all(float(each) <= 100 for each in _PERCENT.findall(f"{finding.message} {finding.diagnosis}")), finding
        assert finding.share is None or finding.share <= 1, finding
        if finding.impact_ns is None:
            continue
        low_ns, high_ns = finding.impact_ns
        assert 0 <= low_ns <= high_ns
        wall_ns = trace.wall_ns_of(finding.capture)
        if finding.basis is Basis.WALL and finding.share:
            assert high_ns <= finding.share * wall_ns + 1, finding
    if trace.window.wall_ns:
        low_ns, high_ns = trace.summary().saving_ns
        assert low_ns <= high_ns <= sum(trace.walls_ns)
