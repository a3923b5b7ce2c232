"""`reply`, `skill` and `summarize --brief --evidence`: short answers for people and for models."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from conftest import Run, captures_of_samples

import tracealyze
from tracealyze.render.brief import brief, tokens_of
from tracealyze.render.reply import MAX_LINES, reply

_CASES: dict[str, dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "outcomes" / "cases.toml").read_text(encoding="utf-8")
)


def _capture(folder: Path, name: str) -> Path:
    file = folder / "capture.strace"
    file.write_text(_CASES[name]["trace"].removeprefix("\n"), encoding="utf-8")
    return file


@pytest.mark.parametrize("capture", captures_of_samples(), ids=lambda file: file.name)
def test_reply_is_short(capture: Path) -> None:
    trace = tracealyze.read(capture)
    lines = reply(trace, trace.summary())
    assert 1 < len(lines) <= MAX_LINES
    assert all(line and line == line.strip() for line in lines)


@pytest.mark.parametrize("name", _CASES)
def test_reply_quotes_nothing_that_a_program_wrote(name: str, tmp_path: Path) -> None:
    trace = tracealyze.read(_capture(tmp_path, name))
    text = "\n".join(reply(trace, trace.summary()))
    assert _CASES[name]["verdict"].replace("-", " ").upper() in text
    assert not any(words in text for words in ("cannot listen", "Can't locate", "access denied", "round 2"))


def test_reply_as_markdown_is_a_list(tmp_path: Path, run: Run) -> None:
    lines = run("reply", "--markdown", _capture(tmp_path, "port-in-use")).stdout.splitlines()
    assert lines[0] == "- FAILED: webapp exited with status 1 (7 calls)."
    assert all(line.startswith("- ") for line in lines)


@pytest.mark.parametrize("name", _CASES)
def test_evidence_is_marked_as_data_and_bounded(name: str, tmp_path: Path) -> None:
    trace = tracealyze.read(_capture(tmp_path, name))
    text = brief(trace, 2000, evidence=True)
    assert tokens_of(text) <= 2000
    said = " ".join(line.removeprefix("> ") for line in text.splitlines() if line.startswith("> "))
    assert all(words in said for words in _CASES[name]["says"][:1])


def test_evidence_needs_brief(tmp_path: Path, run: Run) -> None:
    done = run("summarize", "--evidence", _capture(tmp_path, "port-in-use"))
    assert done.returncode == 2
    assert "--brief" in done.stderr


def test_skill_names_commands_that_exist(run: Run) -> None:
    text = run("skill").stdout
    assert text.startswith("---\nname: tracealyze\n")
    assert run("summarize", "--help").stdout.count("--evidence") >= 1
    assert "summarize FILE --brief --evidence" in text
