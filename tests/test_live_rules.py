"""Rules on captures made here and now: small programs that have a fault, and some that look alike and have none.

The programs are data: `live_rules/*.toml`, a `[[case]]` each.

    name = "what the program does"
    language = "python" or "sh"
    program = "its text"
    options = ["-f", "-ttt", "-T", "-y"]   of strace; these are the usual ones. `-e inject=fsync:delay_enter=20000`
                                           makes calls slow on any machine
    edit = "truncate -s -9 own.strace"     what happens to the capture then, in sh
    needs = ["gcc"]                        programs without which the case is skipped
    finds = ["sync-storm"]                 rules that must match, as findings or below more specific ones
    first = "sync-storm"                   the rule of the first finding
    calm = true                            no finding is a warning or an error
    never = ["tiny-io"]                    rules that must not; how fast the machine is must make no difference to them
"""

from __future__ import annotations

import shutil
import sys
import textwrap
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import oracle
import pytest
from conftest import SAMPLES

import tracealyze
from tracealyze.finding import Severity
from tracealyze.ruleset import rules

pytestmark = pytest.mark.skipif(oracle.why_not() is not None, reason=oracle.why_not() or "")


@dataclass(frozen=True)
class Case:
    """A program, how to capture it, and what the rules must and must not say about it."""

    name: str
    program: str
    language: str = "python"
    options: tuple[str, ...] = ("-f", "-ttt", "-T", "-y")
    edit: str = ""
    needs: tuple[str, ...] = ()
    finds: tuple[str, ...] = ()
    first: str = ""
    never: tuple[str, ...] = ()
    calm: bool = False

    def command(self) -> list[str]:
        """How it is started: without what an installation adds to the start of Python."""
        text = textwrap.dedent(self.program)
        return [sys.executable, "-I", "-S", "-c", text] if self.language == "python" else ["/bin/sh", "-c", text]


def _case(table: dict[str, Any]) -> Case:
    facts: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    return Case(**facts)


def _cases() -> list[Case]:
    files = sorted((Path(__file__).parent / "live_rules").glob("*.toml"))
    return [_case(table) for file in files for table in tomllib.loads(file.read_text(encoding="utf-8"))["case"]]


def _captured(case: Case, folder: Path) -> Path:
    capture = oracle.capture_as(case.command(), folder, *case.options)
    if case.edit:
        oracle.run(["sh", "-c", case.edit], folder)
    return capture


_ATTEMPTS = 4
# A quiet machine takes 15 to 30.
_MOST_US = 80
_QUICK_CALLS = 500
CASES = _cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rules_tell_programs_with_a_fault_from_those_without(case: Case, tmp_path: Path) -> None:
    missing = [tool for tool in case.needs if not shutil.which(tool)]
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed")
    # A loaded machine may stretch what is quick into what is slow; the capture is made again then.
    for attempt in range(_ATTEMPTS):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        findings = tracealyze.read(_captured(case, folder)).findings
        found = {name for finding in findings for name in (finding.name, *finding.also)}
        told = "\n".join(
            f"{each.severity} {each.name}: {each.message} (also {', '.join(each.also)})" for each in findings
        )
        is_first = not case.first or (bool(findings) and findings[0].name == case.first)
        is_calm = not case.calm or all(finding.severity == Severity.INFO for finding in findings)
        if set(case.finds) <= found and not set(case.never) & found and is_first and is_calm:
            return
    if "overhead-dominates" in found and "overhead-dominates" not in case.finds:
        pytest.skip("tracing takes most of the time on this machine: quick calls cannot be told from slow ones")
    if (each_us := _traced_call_us(tmp_path)) > _MOST_US:
        pytest.skip(
            f"a traced call takes {each_us} µs on this machine just now: quick ones cannot be told from slow ones"
        )
    pytest.fail(told)


def _traced_call_us(folder: Path) -> int:
    """The mean time from one call that does nothing to the next, under the tracer and with all that disturbs it."""
    program = f"import os\nfor _ in range({_QUICK_CALLS}): os.getppid()"
    capture = oracle.capture_as([sys.executable, "-I", "-S", "-c", program], folder, "-f", "-ttt", "-T")
    stamps = [float(line.split()[1]) for line in capture.read_text().splitlines() if " getppid()" in line]
    return round(1e6 * (stamps[-1] - stamps[0]) / (len(stamps) - 1))


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
            folder = tmp_path / f"{run}{attempt}"
            folder.mkdir()
            found = tracealyze.read(_captured(case, folder)).findings
            prints.append({finding.fingerprint for finding in found if finding.severity != Severity.INFO})
        if prints[0] == prints[1] != set():
            return
    assert prints[0] == prints[1] != set()
