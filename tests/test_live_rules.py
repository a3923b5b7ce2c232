"""Rules on captures made here and now, of the same small programs: what they must find, they find on any machine."""

from __future__ import annotations

import sys
from pathlib import Path

import oracle
import pytest
from rule_cases import CASES, Case, told

import tracealyze

pytestmark = pytest.mark.skipif(oracle.why_not() is not None, reason=oracle.why_not() or "")

_ATTEMPTS = 4
# A quiet machine takes 15 to 30.
_MOST_US = 80
_QUICK_CALLS = 500
# Above this many times the time that its kept capture took, a program shows how slow the machine is.
_MOST_TIMES = 1.5


@pytest.mark.parametrize("case", [case for case in CASES if case.finds], ids=lambda case: case.name)
def test_rules_find_the_fault_of_a_program_that_runs_here(case: Case, tmp_path: Path) -> None:
    if missing := case.missing():
        pytest.skip(f"{', '.join(missing)} is not installed")
    # A loaded machine may hide what is slow behind what is quick; the capture is made again then.
    for attempt in range(_ATTEMPTS):
        trace = tracealyze.read(case.captured(tmp_path / str(attempt)))
        if case.is_found(trace):
            return
    if why := _why_too_slow(case, trace, tmp_path):
        pytest.skip(f"{why}: quick calls cannot be told from slow ones")
    pytest.fail(told(trace))


def _why_too_slow(case: Case, trace: tracealyze.Trace, folder: Path) -> str | None:
    times = trace.window.wall_ns / max(tracealyze.read(case.kept).window.wall_ns, 1)
    if times > _MOST_TIMES:
        return f"the program takes {times:.1f} times as long as it does on a machine with nothing else to do"
    if (each_us := _traced_call_us(folder)) > _MOST_US:
        return f"a traced call takes {each_us} µs on this machine just now"
    return None


def _traced_call_us(folder: Path) -> int:
    """The mean time from one call that does nothing to the next, under the tracer and with all that disturbs it."""
    program = f"import os\nfor _ in range({_QUICK_CALLS}): os.getppid()"
    capture = oracle.capture_as([sys.executable, "-I", "-S", "-c", program], folder, "-f", "-ttt", "-T")
    stamps = [float(line.split()[1]) for line in capture.read_text().splitlines() if " getppid()" in line]
    return round(1e6 * (stamps[-1] - stamps[0]) / (len(stamps) - 1))


# Programs whose causes do not depend on the moment: captured again, with other ids and times, they are the same.
_STEADY = (
    "a shell sleeps",
    "a client gives up, after a pause more",
    "each line of a log is synced",
    "a tool for each of eighty items",
    "processes that hold one lock in turn",
    "each item that is added is compared with all before it",
)


@pytest.mark.parametrize("name", _STEADY)
def test_fingerprints_are_the_same_when_a_program_is_captured_again(name: str, tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == name)
    prints: list[set[str]] = []
    for attempt in range(_ATTEMPTS):
        prints = []
        for run in ("one", "other"):
            findings = tracealyze.read(case.captured(tmp_path / f"{run}{attempt}")).findings
            prints.append(
                {finding.fingerprint for finding in findings if {finding.name, *finding.also} & set(case.finds)}
            )
        if prints[0] == prints[1] != set():
            return
    assert prints[0] == prints[1] != set()
