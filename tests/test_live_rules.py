"""Rules on captures made on this machine, of the programs in `kept_rules/`: rules that must match do so anywhere.

They need strace, minutes and an idle machine, so plain `pytest` leaves them out: `pytest -m live`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import oracle
import pytest
from rule_cases import CAPTURED, Case, findings_text, matching_rules

import tracealyze

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(oracle.why_not() is not None, reason=oracle.why_not() or ""),
]

_ATTEMPTS = 4
# An idle machine takes 15 to 30.
_MAX_CALL_US = 80
_QUICK_CALLS = 500
# A program that takes more than this many times as long as in the repository's capture shows that the machine is slow.
_MAX_SLOWDOWN = 1.5


@pytest.mark.parametrize("case", [case for case in CAPTURED if case.rule in case.finds], ids=lambda case: case.name)
def test_rules_find_faults_of_programs_that_run_here(case: Case, tmp_path: Path) -> None:
    if missing := case.missing():
        pytest.skip(f"{', '.join(missing)} is not installed")
    # On a loaded machine quick calls may hide the slow ones; then the capture is made again.
    for attempt in range(_ATTEMPTS):
        trace = tracealyze.read(case.capture_here(tmp_path / str(attempt)))
        # A scheduler that is busy makes waits longer, and with them the share of other faults smaller.
        if case.rule in matching_rules(trace) and (not case.first or trace.findings[0].name == case.rule):
            return
    if why := _why_too_slow(case, trace, tmp_path):
        pytest.skip(f"{why}: quick calls cannot be distinguished from slow ones")
    pytest.fail(f"{case.claim}\n{findings_text(trace)}")


def _why_too_slow(case: Case, trace: tracealyze.Trace, folder: Path) -> str | None:
    times = trace.window.wall_ns / max(tracealyze.read(case.capture).window.wall_ns, 1)
    if times > _MAX_SLOWDOWN:
        return f"the program takes {times:.1f} times as long as on an idle machine"
    if case.rule != "overhead-dominates" and "overhead-dominates" in matching_rules(trace):
        return "tracing takes most of the window"
    if (each_us := _traced_call_us(folder)) > _MAX_CALL_US:
        return f"a traced call takes {each_us} µs on this machine at the moment"
    return None


def _traced_call_us(folder: Path) -> int:
    """The mean time from one trivial call to the next under the tracer, including all disturbances."""
    program = f"import os\nfor _ in range({_QUICK_CALLS}): os.getppid()"
    capture = oracle.capture_as([sys.executable, "-I", "-S", "-c", program], folder, "-f", "-ttt", "-T")
    stamps = [float(line.split()[1]) for line in capture.read_text().splitlines() if " getppid()" in line]
    return round(1e6 * (stamps[-1] - stamps[0]) / (len(stamps) - 1))


# Programs whose causes do not depend on the moment: captured again, with other ids and times, they are the same.
_STEADY = (
    "fixed-sleep/found-2",
    "retry-loop/found-2",
    "sync-storm/found-1",
    "process-storm/found-1",
    "lock-wait/found-1",
    "slowing-loop/found-1",
)


@pytest.mark.parametrize("name", _STEADY)
def test_fingerprints_are_the_same_in_a_second_capture(name: str, tmp_path: Path) -> None:
    case = next(case for case in CAPTURED if case.name == name)
    prints: list[set[str]] = []
    for attempt in range(_ATTEMPTS):
        prints = []
        for run in ("one", "other"):
            findings = tracealyze.read(case.capture_here(tmp_path / f"{run}{attempt}")).findings
            prints.append({finding.fingerprint for finding in findings if {finding.name, *finding.also} & case.finds})
        if prints[0] == prints[1] != set():
            return
    assert prints[0] == prints[1] != set()
