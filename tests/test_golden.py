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


@pytest.mark.parametrize(("capture", "name"), CASES, ids=lambda case: getattr(case, "name", case))
def test_output_equals_the_golden_file(capture: Path, name: str, run: Run) -> None:
    relative = capture.relative_to(ROOT)
    columns = "160" if name.endswith("-160") else "80"
    shown = run(*COMMANDS[name], relative, COLUMNS=columns)
    assert shown.returncode == 0, shown.stderr
    golden = GOLDEN / capture.parent.name / f"{capture.name}.{name}.txt"
    if os.environ.get("TRACEALYZE_BLESS") or not golden.exists():
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(shown.stdout, encoding="utf-8")
    assert shown.stdout == golden.read_text(encoding="utf-8")


def test_golden_files_belong_to_samples() -> None:
    known = {f"{capture.parent.name}/{capture.name}.{name}.txt" for capture, name in CASES}
    assert {str(file.relative_to(GOLDEN)) for file in GOLDEN.glob("*/*.txt")} <= known
