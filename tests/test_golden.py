"""Golden files of the output that users see. TRACEALYZE_BLESS=1 rewrites them; a missing one is written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import ROOT, Run, captures_of_samples

GOLDEN = ROOT / "tests" / "golden"
COMMANDS = {
    "summarize": ["summarize"],
    "summarize-160": ["summarize"],
    "summarize-markdown": ["summarize", "--format", "markdown"],
    "top-syscalls": ["top-syscalls", "--top", "10"],
    "tree": ["tree"],
    "critical-path": ["critical-path"],
    "loops": ["loops", "--top", "10"],
    "gaps": ["gaps", "--top", "10"],
    "stages": ["stages"],
}

# Every capture has a report, and every log its stages; other commands have the first capture of each sample.
FIRST = {file.parent: file for file in reversed(captures_of_samples())}
CASES = [
    (capture, name)
    for capture in captures_of_samples()
    for name in COMMANDS
    if name == "summarize" or (capture.suffix == ".log" if name == "stages" else capture == FIRST[capture.parent])
]

PICTURES = ["ssh-login/ssh-login.truss", "shutdown/before.strace.xz", "kernel-shutdown/shutdown.log"]
"""Timeline and icicle: of calls of several processes, of sleeps, and of a log."""

WHAT_IF = {
    "ssh-login/ssh-login.truss": ["--fix", "hot-loop", "--without", 'syscall == "nanosleep"'],
    "shutdown/before.strace.xz": ["--fix", "1", "--fix", "2", "--fix", "3", "--parallel", "sh"],
}
"""Fixes that are hidden behind each other, and fixes that add up."""


def equals_golden(shown: str, golden: Path) -> None:
    """Compare with a golden file, after writing it if asked to or if there is none."""
    if os.environ.get("TRACEALYZE_BLESS") or not golden.exists():
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize(("capture", "name"), CASES, ids=lambda case: getattr(case, "name", case))
def test_output_equals_the_golden_file(capture: Path, name: str, run: Run) -> None:
    relative = capture.relative_to(ROOT)
    columns = "160" if name.endswith("-160") else "80"
    shown = run(*COMMANDS[name], relative, COLUMNS=columns)
    assert shown.returncode == 0, shown.stderr
    equals_golden(shown.stdout, GOLDEN / capture.parent.name / f"{capture.name}.{name}.txt")


@pytest.mark.parametrize("capture", WHAT_IF)
def test_what_if_equals_the_golden_file(capture: str, run: Run) -> None:
    shown = run("what-if", f"samples/{capture}", *WHAT_IF[capture], COLUMNS="80")
    assert shown.returncode == 0, shown.stderr
    equals_golden(shown.stdout, GOLDEN / f"{capture}.what-if.txt")


@pytest.mark.parametrize("capture", PICTURES)
def test_picture_equals_the_golden_file(capture: str, run: Run) -> None:
    # Text, and so the same on all machines; what a browser draws of a report is compared in tests/browser.
    shown = run("export", f"samples/{capture}", "--to", "svg")
    assert shown.returncode == 0, shown.stderr
    equals_golden(shown.stdout, GOLDEN / f"{capture}.svg")


def test_golden_files_belong_to_samples() -> None:
    known = {f"{capture.parent.name}/{capture.name}.{name}.txt" for capture, name in CASES}
    known |= {f"{capture}.svg" for capture in PICTURES}
    known |= {f"{capture}.what-if.txt" for capture in WHAT_IF}
    assert {str(file.relative_to(GOLDEN)) for file in GOLDEN.glob("*/*.*")} <= known
