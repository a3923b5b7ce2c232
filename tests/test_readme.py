"""The commands that documents show are commands that work."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from conftest import ROOT, Run

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "samples").glob("*/README.md"))]


def shown_commands(document: Path) -> list[str]:
    """Lines behind a prompt in console blocks, and indented lines, that call tracealyze."""
    text = document.read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL)
    prompted = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ tracealyze ")]
    indented = [line.strip() for line in text.splitlines() if line.startswith("    tracealyze ")]
    return prompted + indented


COMMANDS = [(document, command) for document in DOCUMENTS for command in shown_commands(document)]


@pytest.mark.parametrize(("document", "command"), COMMANDS, ids=lambda case: str(case)[-60:])
def test_a_command_in_a_document_works(document: Path, command: str, run: Run) -> None:
    # A document may build on its earlier commands, such as the capture named last.
    for earlier in shown_commands(document):
        words = shlex.split(earlier.split("|")[0].split(">")[0], comments=True)[1:]
        done = run(*words)
        if earlier == command:
            assert done.returncode == 0, done.stderr
            return
