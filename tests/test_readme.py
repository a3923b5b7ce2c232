"""The commands in the documents work and print what the documents show."""

from __future__ import annotations

import json
import os
import re
import shlex
from importlib import import_module
from itertools import takewhile
from pathlib import Path

import pytest
from conftest import ROOT, Run

from tracealyze.findings.rule_file import KEYS, PLACEHOLDERS
from tracealyze.findings.rule_set import rules

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
INDEX_OF_SITE = ROOT / "docs" / "site" / "index.md"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *TUTORIALS, INDEX_OF_SITE]
DOCUMENTS = [*PAGES, *sorted((ROOT / "samples").glob("*/README.md"))]


def shown_commands(document: Path) -> list[str]:
    """Lines that call tracealyze, after a prompt in console blocks or indented."""
    text = document.read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL)
    prompted = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ tracealyze ")]
    indented = [line.strip() for line in text.splitlines() if line.startswith("    tracealyze ")]
    return prompted + indented


# On these pages, each command has its output below it, which another test compares.
COMMANDS = [
    (document, command)
    for document in DOCUMENTS
    if document not in (*TUTORIALS, INDEX_OF_SITE)
    for command in shown_commands(document)
]


@pytest.mark.parametrize(("document", "command"), COMMANDS, ids=lambda case: str(case)[-60:])
def test_commands_in_documents_work(document: Path, command: str, run: Run) -> None:
    # A command may depend on earlier ones in its document, such as the last capture used.
    for earlier in shown_commands(document):
        words = shlex.split(earlier, comments=True)[1:]
        done = run(*takewhile(lambda word: word not in ("|", ">"), words))
        if earlier == command:
            assert done.returncode == 0, done.stderr
            return


_CONSOLE = re.compile(r"(?<=```console\n)\$ tracealyze .*?(?=```)", re.DOTALL)


def shown_output(document: Path) -> list[tuple[str, list[str]]]:
    """Commands after a prompt in console blocks, with the output shown below each."""
    blocks = _CONSOLE.findall(document.read_text(encoding="utf-8"))
    pieces = [piece.splitlines() for block in blocks for piece in re.split(r"(?m)^\$ ", block)]
    shown = [(lines[0], lines[1:]) for lines in pieces if lines and lines[0].startswith("tracealyze ")]
    return [(command, lines) for command, lines in shown if lines or document in (*TUTORIALS, INDEX_OF_SITE)]


def printed_lines(command: str, run: Run) -> list[str]:
    """The standard output of a command, or the part of it that `head` or `tail` leaves."""
    call, _, part = command.partition(" | ")
    done = run(*shlex.split(call)[1:])
    assert done.returncode == 0 or call.startswith("tracealyze check "), done.stderr
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    if not part:
        return lines
    end, number = part.split(" -n ")
    return {"head": lines[: int(number)], "tail": lines[-int(number) :]}[end]


WITH_OUTPUT = [page for page in PAGES if shown_output(page)]


@pytest.mark.parametrize("page", WITH_OUTPUT, ids=lambda page: page.stem)
def test_shown_output_is_what_the_command_prints(page: Path, run: Run) -> None:
    """TRACEALYZE_BLESS=1 writes the output into the pages."""
    for command, lines in shown_output(page):
        printed = printed_lines(command, run)
        if os.environ.get("TRACEALYZE_BLESS"):
            before, after = ("\n".join([f"$ {command}", *each]) + "\n```" for each in (lines, printed))
            text = page.read_text(encoding="utf-8")
            assert before in text, f"one command per block with output: {command}"
            page.write_text(text.replace(before, after), encoding="utf-8")
        else:
            assert printed == lines, command


def test_stories_have_a_tutorial_each() -> None:
    assert {page.stem for page in TUTORIALS} == {file.parent.name for file in (ROOT / "samples").glob("*/README.md")}


def python_blocks() -> list[tuple[str, str]]:
    blocks = (
        (page.name, re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)) for page in PAGES
    )
    return [(f"{name}-{number}", code) for name, found in blocks for number, code in enumerate(found)]


@pytest.mark.parametrize(("name", "code"), python_blocks(), ids=[name for name, _ in python_blocks()])
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_shown_python_runs(name: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "duckdb" in code:
        pytest.importorskip("duckdb")
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    exec(compile(code, name, "exec"), names)
    for expression, value in re.findall(r"(?m)^(trace\S*|verdict\S*)  # (<.*>|\[.*\]|\{.*\}|[\d_]+|False)$", code):
        shown = eval(value, {}) if value[0] not in "<[" else value
        printed = eval(expression, names)
        assert shown == (printed if not isinstance(shown, str) else repr(printed)), expression


def test_shown_rule_is_valid(tmp_path: Path) -> None:
    blocks = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "rules.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    [rule] = [block for block in blocks if block.startswith("code =")]
    (tmp_path / "slow-config.toml").write_text(rule, encoding="utf-8")
    assert "MINE001" in [known.code for known in rules(tmp_path)]


def test_rule_keys_are_documented() -> None:
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    documented = {key for row in re.findall(r"(?m)^\| (`.*?`) \|", text) for key in re.findall(r"`([^`]+)`", row)}
    assert not {*KEYS, *PLACEHOLDERS} - documented


def test_links_of_documents_exist() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 160


def test_example_notebook_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """`python examples/run_notebook.py examples/*.ipynb` stores its outputs."""
    monkeypatch.syspath_prepend(ROOT / "examples")
    run_notebook = import_module("run_notebook")
    [notebook] = (ROOT / "examples").glob("*.ipynb")
    stored = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    for before, now in zip(stored, run_notebook.executed(notebook)["cells"], strict=True):
        outputs = [each.get("outputs", []) for each in (before, now)]
        assert len(outputs[0]) == len(outputs[1])
        # The text of other libraries' objects depends on their versions.
        if "to_pandas" not in (source := "".join(now["source"])) and "trace" in source:
            # The style is that of the report, whose tests are elsewhere.
            stored_text, text = (re.sub(r"<style>.*?</style>", "", json.dumps(each)) for each in outputs)
            assert stored_text == text
