"""Rules on the captures kept of small programs: those with a fault, and those that look alike and have none."""

from __future__ import annotations

import pytest
from conftest import SAMPLES
from rule_cases import CASES, KEPT, Case, told

import tracealyze
from tracealyze.findings.rule_set import rules


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rules_tell_programs_with_a_fault_from_those_without(case: Case) -> None:
    trace = tracealyze.read(case.kept)
    assert case.is_found(trace), told(trace)
    assert case.is_spared(trace), told(trace)


def test_a_capture_is_kept_of_each_program_as_it_stands() -> None:
    assert {case.kept.name for case in CASES} == {file.name for file in KEPT.iterdir()}


def test_cases_name_rules_that_exist() -> None:
    known = {rule.name for rule in rules()}
    assert {name for case in CASES for name in (*case.finds, *case.never)} <= known


# Rules that nothing captured here can show: what they say of a sample that has it, and of one that looks alike.
_SHOWN_BY_SAMPLES = {
    "silent-gap": ("kernel-shutdown/shutdown.log", "jail-start/staged-before.log"),
    "queued-items": ("jail-start/staged-before.log", "jail-start/staged-after.log"),
    "serial-items": ("jail-start/staged-serial.log", "jail-start/staged-after.log"),
    "hot-loop": ("ssh-login/ssh-login.truss", "boot-devices/boot-after-320.strace.xz"),
    "dominant-call": ("ssh-login/ssh-login.truss", "boot-devices/boot-after-320.strace.xz"),
}
# It is about several captures, and shown by the tests of scaling.
_SHOWN_BY_SCALING = {"superlinear"}


@pytest.mark.parametrize("name", _SHOWN_BY_SAMPLES)
def test_samples_show_rules_that_no_capture_made_here_can(name: str) -> None:
    has, has_not = (
        {name for finding in tracealyze.read(SAMPLES / sample).findings for name in (finding.name, *finding.also)}
        for sample in _SHOWN_BY_SAMPLES[name]
    )
    assert name in has
    assert name not in has_not


def test_each_rule_is_shown_a_real_capture_that_has_it_and_one_that_has_not() -> None:
    elsewhere = {*_SHOWN_BY_SAMPLES, *_SHOWN_BY_SCALING}
    known = {rule.name for rule in rules()}
    assert known - elsewhere - {name for case in CASES for name in case.finds} == set()
    assert known - elsewhere - {name for case in CASES for name in case.never} == set()
