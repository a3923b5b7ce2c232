"""What each question prints at 80 columns, about a made-up store.

TRACEALYZE_BLESS=1 writes the files anew; read the difference.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, SAMPLES, Run

sys.path.insert(0, str(ROOT / "benches"))
fleet_store: Any = import_module("fleet_store")

GOLDEN = ROOT / "tests" / "golden_fleet"
QUESTIONS = {
    "top": ["top", "--top", "5"],
    "top-program": ["top", "--by", "program", "--top", "5"],
    "like": ["like", str(SAMPLES / "ssh-login" / "ssh-login.truss"), "--top", "3"],
    "trend": ["trend", "--over", "version", "--top", "5"],
    "compare": ["compare", 'version ~ "^4[.].$"', 'version ~ "^4[.]3.$"', "--top", "3"],
    "outliers": ["outliers", "--top", "3"],
    "failures": ["failures", "--top", "3"],
    "query": ["query", "findings", "--where", 'version == "4.3" and share >= 40%', "--top", "3"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store, so that its name is short."""
    place = tmp_path_factory.mktemp("golden")
    fleet_store.write_store(str(place / "store"), 4_000, per_commit=2_000)
    return place


@pytest.mark.parametrize("name", QUESTIONS)
def test_answer_equals_the_golden_file(name: str, folder: Path, run: Run) -> None:
    done = run("fleet", *QUESTIONS[name], "--store", "store", cwd=folder, COLUMNS="80")
    assert done.returncode == 0, done.stderr
    # Rows of a query have all columns, whatever the width.
    assert name == "query" or max(map(len, done.stdout.splitlines())) <= 80
    shown = done.stdout + done.stderr
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("TRACEALYZE_BLESS") or not golden.exists():
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")


def test_every_question_has_a_golden_file() -> None:
    assert {file.stem for file in GOLDEN.iterdir()} == set(QUESTIONS)
