"""The gate on real regressions, planted in a program and captured here, and on the unchanged program."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import oracle
import pytest

from tracealyze import read
from tracealyze.compare.gate.baseline import Baseline, baseline_of
from tracealyze.compare.gate.judgement import Outcome
from tracealyze.compare.gate.new_findings import FailOn
from tracealyze.compare.gate.verdict import Criteria, Status, Verdict, verdict
from tracealyze.compare.run import Run

pytestmark = [pytest.mark.live, pytest.mark.skipif(oracle.why_not() is not None, reason=oracle.why_not() or "")]

FILES = [f"file{number}" for number in range(12)]
PROGRAM = """\
/bin/cat {files} > copy
/bin/sleep {pause}
for turn in {turns}; do [ -e ready ]; done
{more}
cat < copy > /dev/null
"""
AS_IT_WAS = {"files": " ".join(FILES), "pause": "0", "turns": "1", "more": ""}
CHANGES = {
    "one more exec": ({"more": "/bin/true"}, "execs"),
    "doubled opens": ({"files": " ".join(FILES * 2)}, "opens"),
    "a sleep of 300 ms": ({"pause": "0.3"}, "deliberate_wait"),
    "a retry loop": ({"turns": " ".join(map(str, range(30)))}, "lookups_missed"),
}
RUNS = 3
RECAPTURES = 10


def captured(folder: Path, name: str, change: dict[str, str] | None = None) -> Run:
    """Run the program, changed or not, under strace."""
    for file in FILES:
        (folder / file).write_text(f"{file}\n" * 20, encoding="utf-8")
    (folder / "program.sh").write_text(PROGRAM.format_map(AS_IT_WAS | (change or {})), encoding="utf-8")
    log = oracle.capture_as(["/bin/sh", "program.sh"], folder, "-f", "-ttt", "-T", "-y")
    return Run(read(log.rename(folder / f"{name}.strace")))


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Baseline:
    folder = tmp_path_factory.mktemp("accepted")
    return baseline_of([captured(folder, f"run{number}") for number in range(RUNS)])


def checked(baseline: Baseline, *runs: Run) -> Verdict:
    return verdict(runs, Criteria(baseline=baseline, baseline_path="base.json", fail_on=FailOn.WARNING))


def failures(found: Verdict) -> list[str]:
    return [f"{each.metric} {each.change} {each.why}" for each in found.of(Outcome.FAILED)]


@pytest.mark.parametrize("kind", CHANGES)
def test_gate_fails_on_the_planted_regression(kind: str, accepted: Baseline, tmp_path: Path) -> None:
    change, metric = CHANGES[kind]
    found = checked(accepted, captured(tmp_path, "worse", change))
    assert found.status is Status.FAILED
    names = [judgement.metric for judgement in found.of(Outcome.FAILED)]
    assert metric in names, failures(found)
    explained = next(each for each in found.of(Outcome.FAILED) if each.metric == metric).explanation
    assert explained is not None
    assert explained.differences
    assert explained.lines


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Put load on the machine."""
    running = [subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"]) for _ in range(processes)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


def test_gate_passes_the_unchanged_program_under_load(accepted: Baseline, tmp_path: Path) -> None:
    idle = [captured(tmp_path, f"idle{number}") for number in range(RECAPTURES)]
    with busy(8):
        loaded = [captured(tmp_path, f"loaded{number}") for number in range(RECAPTURES)]
    for run in [*idle, *loaded]:
        found = checked(accepted, run)
        assert found.status is Status.PASSED, failures(found)
    for runs in (idle, loaded, idle + loaded):
        found = checked(accepted, *runs)
        assert found.status is Status.PASSED, failures(found)
