"""The commands in the documents work and print what the documents show."""

from __future__ import annotations

import re
import shlex
from itertools import takewhile
from pathlib import Path

import pytest
from conftest import ROOT, Run

from tracealyze.findings.rule_set import rules

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "samples").glob("*/README.md"))]


def shown_commands(document: Path) -> list[str]:
    """Lines that call tracealyze, after a prompt in console blocks or indented."""
    text = document.read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL)
    prompted = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ tracealyze ")]
    indented = [line.strip() for line in text.splitlines() if line.startswith("    tracealyze ")]
    return prompted + indented


COMMANDS = [(document, command) for document in DOCUMENTS for command in shown_commands(document)]


@pytest.mark.parametrize(("document", "command"), COMMANDS, ids=lambda case: str(case)[-60:])
def test_commands_in_documents_work(document: Path, command: str, run: Run) -> None:
    # A command may depend on earlier ones in its document, such as the last capture used.
    for earlier in shown_commands(document):
        words = shlex.split(earlier, comments=True)[1:]
        done = run(*takewhile(lambda word: word not in ("|", ">"), words))
        if earlier == command:
            assert done.returncode == 0, done.stderr
            return


def shown_output(document: Path) -> list[tuple[str, list[str]]]:
    """Commands after a prompt in console blocks, with the output shown below each."""
    blocks = re.findall(r"```console\n(.*?)```", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    pieces = [piece.splitlines() for block in blocks for piece in re.split(r"(?m)^\$ ", block)]
    return [(lines[0], lines[1:]) for lines in pieces if len(lines) > 1 and lines[0].startswith("tracealyze ")]


def test_readme_output_is_what_the_command_prints(run: Run) -> None:
    shown = shown_output(ROOT / "README.md")
    assert shown
    for command, lines in shown:
        printed = run(*shlex.split(command)[1:]).stdout.splitlines()
        assert [line.rstrip() for line in printed] == lines, command


def test_readme_python_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    assert "11_423_300_000" in code
    assert names["trace"].window.wall_ns == 11_423_300_000  # type: ignore[attr-defined]


def test_readme_rule_is_valid(tmp_path: Path) -> None:
    blocks = re.findall(r"```toml\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    [rule] = [block for block in blocks if block.startswith("code =")]
    (tmp_path / "slow-config.toml").write_text(rule, encoding="utf-8")
    assert "MINE001" in [known.code for known in rules(tmp_path)]
