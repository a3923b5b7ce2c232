"""Rules on the captures in `kept_rules/`: programs with a fault, and programs that look alike and have none."""

from __future__ import annotations

import pytest
from rule_cases import CAPTURED, CASES, Case, digests, findings_text, kept_captures

import tracealyze
from tracealyze.findings.compiled_rules import INCUBATOR
from tracealyze.findings.rule_set import rules

ALL = rules(INCUBATOR)
RULES = {rule.name for rule in ALL}
# It compares several captures; the tests of scaling cover it.
ACROSS_CAPTURES = {"superlinear"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rules_find_faults_and_spare_look_alikes(case: Case) -> None:
    trace = tracealyze.read(case.capture).with_rules(ALL)
    assert case.is_found(trace), f"{case.claim}\n{findings_text(trace)}"
    assert case.is_quiet(trace), f"{case.claim}\n{findings_text(trace)}"


def test_captures_are_of_the_programs_as_they_are() -> None:
    """`python tests/rule_cases.py` captures programs that are new or have changed."""
    assert digests() == {case.name: case.digest for case in CAPTURED}
    assert kept_captures() == {case.capture for case in CAPTURED}


def test_cases_name_rules_that_exist() -> None:
    assert {name for case in CASES for name in case.finds | case.never} <= RULES


def test_each_rule_has_a_capture_with_the_fault_and_one_without() -> None:
    assert {name for case in CASES for name in case.finds} == RULES - ACROSS_CAPTURES
    assert {name for case in CASES for name in case.never} == RULES - ACROSS_CAPTURES
