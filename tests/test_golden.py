"""What users see, kept as files. TRACEALYZE_BLESS=1 writes them anew; a missing one is written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import ROOT, Run, captures_of_samples

GOLDEN = ROOT / "tests" / "golden"
COMMANDS = {
    "summarize": ["summarize"],
    "summarize-160": ["summarize"],
    "top-syscalls": ["top-syscalls", "--top", "10"],
    "tree": ["tree"],
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("capture", captures_of_samples(), ids=lambda file: file.parent.name + "-" + file.name)
def test_the_output_is_the_one_that_was_reviewed(capture: Path, name: str, run: Run) -> None:
    relative = capture.relative_to(ROOT)
    columns = "160" if name.endswith("-160") else "80"
    shown = run(*COMMANDS[name], relative, COLUMNS=columns)
    assert shown.returncode == 0, shown.stderr
    golden = GOLDEN / capture.parent.name / f"{capture.name}.{name}.txt"
    if os.environ.get("TRACEALYZE_BLESS") or not golden.exists():
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(shown.stdout, encoding="utf-8")
    assert shown.stdout == golden.read_text(encoding="utf-8")


def test_each_golden_file_belongs_to_a_sample() -> None:
    known = {f"{file.parent.name}/{file.name}.{name}.txt" for file in captures_of_samples() for name in COMMANDS}
    assert {str(file.relative_to(GOLDEN)) for file in GOLDEN.glob("*/*.txt")} <= known
