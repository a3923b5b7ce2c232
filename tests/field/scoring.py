"""What the findings about a capture are worth: held against the truth in its scenario.

A verdict has an answer and, after it, what must not be: rules that accused an innocent with a warning or an error, and
rules that promised to save more than the program takes without strace.

    right      the first finding names the cause: rule, program, target and seconds; or there is none, and none is found
    unclear    the cause is found, but not first, or with another program, target or number of seconds
    missed     no finding names it
"""

from __future__ import annotations

import lzma
import re
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from scenario import Scenario

import tracealyze
from tracealyze.findings.finding import Finding, Severity

_SECOND_NS = 1_000_000_000
# Untraced durations vary from run to run by this share, and by some milliseconds where they are short.
_SLACK_SHARE = 0.1
_SLACK_S = 0.02


@dataclass(frozen=True)
class Verdict:
    """The worth of the findings about one capture."""

    answer: str
    accused: tuple[str, ...] = ()
    overpromised: tuple[str, ...] = ()

    def __str__(self) -> str:
        wrong = (("accuses", self.accused), ("overpromises", self.overpromised))
        return "; ".join([self.answer, *(f"{verb} {', '.join(names)}" for verb, names in wrong if names)])


@contextmanager
def readable(scenario: Scenario) -> Iterator[Path]:
    """The capture as tracealyze reads it: files of `strace -ff` are unpacked."""
    if not scenario.is_per_thread:
        yield scenario.capture
        return
    with TemporaryDirectory(prefix="field-") as folder:
        with lzma.open(scenario.capture) as packed, tarfile.open(fileobj=packed) as archive:
            archive.extractall(folder, filter="data")
        yield Path(folder)


def judge(scenario: Scenario, findings: Sequence[Finding], untraced_s: float) -> Verdict:
    """Hold findings against the truth."""
    return Verdict(
        _answer(scenario, findings),
        tuple(sorted({each.name for each in findings if _accuses(scenario, each)})),
        tuple(sorted({each.name for each in findings if _overpromises(scenario, each, untraced_s)})),
    )


def _answer(scenario: Scenario, findings: Sequence[Finding]) -> str:
    if scenario.is_healthy:
        return "right"
    if findings and _names_the_cause(scenario, findings[0]):
        return "right"
    known = {*scenario.right, *scenario.acceptable}
    return "unclear" if any(known & {each.name, *each.also} for each in findings) else "missed"


def _names_the_cause(scenario: Scenario, finding: Finding) -> bool:
    low, high = scenario.seconds or (0.0, float("inf"))
    return (
        finding.name in scenario.right
        and _matches(scenario.who, finding.program, finding)
        and _matches(scenario.target, finding.target, finding)
        and low <= _saving_s(finding) <= high
    )


def _accuses(scenario: Scenario, finding: Finding) -> bool:
    if finding.name in scenario.never:
        return True
    if finding.severity == Severity.INFO:
        return False
    if finding.name not in (*scenario.right, *scenario.acceptable):
        return True
    return any(_matches(name, finding.program, finding) for name in scenario.innocent)


def _overpromises(scenario: Scenario, finding: Finding, untraced_s: float) -> bool:
    most_s = min(untraced_s * (1 + _SLACK_SHARE) + _SLACK_S, scenario.limits.get(finding.name, float("inf")))
    return _saving_s(finding) > most_s


def _saving_s(finding: Finding) -> float:
    return (finding.impact_ns or (0, 0))[1] / _SECOND_NS


def _matches(pattern: str, place: str | None, finding: Finding) -> bool:
    return bool(re.search(pattern, f"{place or ''}\n{finding.message}"))


@dataclass(frozen=True)
class Score:
    """A capture, the findings about it, and their worth."""

    scenario: Scenario
    findings: Sequence[Finding]
    untraced_s: float
    verdict: Verdict

    @property
    def promised_s(self) -> float:
        """The largest saving that a finding promises."""
        return max(map(_saving_s, self.findings), default=0.0)


def score(scenario: Scenario, untraced_s: float) -> Score:
    """Read its capture and hold the findings against the truth."""
    with readable(scenario) as capture:
        findings = tracealyze.read(capture).findings
        verdict = judge(scenario, findings, untraced_s)
        if scenario.gate_before:
            verdict = replace(verdict, answer="right" if _gate_fails(scenario, capture) else "missed")
    return Score(scenario, findings, untraced_s, verdict)


def _gate_fails(scenario: Scenario, capture: Path) -> bool:
    """Whether `check` fails on the capture with the other one as its baseline."""
    before = capture.with_name(f"{scenario.gate_before}.strace.xz")
    with TemporaryDirectory(prefix="field-") as folder:
        baseline = str(Path(folder) / "baseline.json")
        program = [sys.executable, "-m", "tracealyze"]
        subprocess.run([*program, "baseline", "create", str(before), "-b", baseline], check=True, capture_output=True)
        return subprocess.run([*program, "check", str(capture), "-b", baseline], capture_output=True).returncode == 1


def table(scores: Sequence[Score]) -> Iterator[str]:
    """A line per capture, then the totals."""
    yield f"{'capture':24} {'truth':8} {'untraced s':>10} {'promised s':>10}  verdict"
    for each in scores:
        truth = "healthy" if each.scenario.is_healthy else "cause"
        yield f"{each.scenario.name:24} {truth:8} {each.untraced_s:10.3f} {each.promised_s:10.3f}  {each.verdict}"
    yield from _totals(scores)


def _totals(scores: Sequence[Score]) -> Iterator[str]:
    causes = [each.verdict for each in scores if not each.scenario.is_healthy]
    answers = Counter(verdict.answer for verdict in causes)
    calm = sum(each.scenario.is_healthy and not each.verdict.accused for each in scores)
    accusing = sum(bool(each.verdict.accused) for each in scores)
    overpromising = sum(bool(each.verdict.overpromised) for each in scores)
    yield (
        f"{len(causes)} with a cause: {answers['right']} right first ({answers['right'] / len(causes):.0%}), "
        f"{answers['unclear']} unclear, {answers['missed']} missed"
    )
    yield f"{len(scores) - len(causes)} healthy: {calm} without a warning or an error"
    yield f"{len(scores)} in all: {accusing} accuse an innocent, {overpromising} promise more than the untraced run"
