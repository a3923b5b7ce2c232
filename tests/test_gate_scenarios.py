"""Scenarios in the settings: `check --all` records each in both directories and reports them together."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import jsonschema
import pytest
from conftest import ROOT, Run

needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")

SETTINGS = """
[tool.tracealyze.check.scenarios.print]
command = "./tool"
setup = "touch was-prepared"
budgets = ["processes <= 9"]

[tool.tracealyze.check.scenarios.help]
command = "true"
"""


@pytest.fixture
def head(tmp_path: Path) -> Path:
    """The checkout of the head, with that of the base next to it. The tool prints a file of its own."""
    for name, files in (("base", "$PWD/text"), ("head", "$PWD/text $PWD/text")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "text").write_text("text\n", encoding="utf-8")
        (folder / "tool").write_text(f"#!/bin/sh\nfor file in {files}; do cat $file; done\n", encoding="utf-8")
        (folder / "tool").chmod(0o755)
    (tmp_path / "temporary").mkdir()
    (tmp_path / "head" / "tracealyze.toml").write_text(SETTINGS, encoding="utf-8")
    return tmp_path / "head"


def checked(head: Path, run: Run, *arguments: str) -> tuple[int, str, str]:
    done = run("check", *arguments, cwd=head, TMPDIR=str(head.parent / "temporary"))
    return done.returncode, done.stdout, done.stderr


@pytest.mark.live
@needs_strace
def test_all_scenarios_are_compared_with_another_directory(head: Path, run: Run) -> None:
    code, text, _ = checked(head, run, "--all", "--base-dir", "../base", "--json", "--runs", "2")
    found = json.loads(text)
    verdicts = {name: each["verdict"] for name, each in found["scenarios"].items()}
    assert (code, found["exit_code"], verdicts) == (1, 1, {"print": "failed", "help": "passed"})
    schema = json.loads((ROOT / "tests" / "schemas" / "json.json").read_text(encoding="utf-8"))
    for each in found["scenarios"].values():
        jsonschema.validate(each, schema)
    assert (head / "was-prepared").exists()
    assert (head.parent / "base" / "was-prepared").exists()


@pytest.mark.live
@needs_strace
def test_file_of_both_directories_is_the_same_file(head: Path, run: Run) -> None:
    """The paths of two checkouts differ, and each file of the head looked like a new one."""
    for folder, number in ((head.parent / "base", 20), (head, 40)):
        (folder / "tool").write_text("#!/bin/sh\n" + 'read word < "$PWD/text"\n' * number, encoding="utf-8")
    _, text, _ = checked(head, run, "--base-dir", "../base", "--json", "--", "./tool")
    rows = [row for each in json.loads(text)["regressions"] for row in each["rows"]]
    [opened] = [row for row in rows if "openat" in row["what"]]
    # A long number in a path counts for any: this test runs in a folder with the number of the test run.
    what, expected = (re.sub(r"\d{2,}", "N", text) for text in (opened["what"], f"tool openat({head}/text)"))
    assert (what, opened["before"], opened["after"]) == (expected, 20, 40)


@pytest.mark.live
@needs_strace
def test_texts_of_scenarios_name_them(head: Path, run: Run) -> None:
    _, text, _ = checked(
        head, run, "--all", "--base-dir", "../base", "--runs", "2", "--output", "text", "--output", "github=-"
    )
    assert "print: Failed: " in text
    assert "help: Passed: " in text
    assert "title=print%3A 1 more process" in text


@pytest.mark.live
@needs_strace
def test_scenario_needs_no_base_if_it_has_budgets(head: Path, run: Run) -> None:
    settings = '[tool.tracealyze.check.scenarios.print]\ncommand = "./tool"\nbudgets = ["processes <= 2"]\nruns = 1\n'
    (head / "tracealyze.toml").write_text(settings, encoding="utf-8")
    code, text, _ = checked(head, run, "--all")
    assert (code, "processes 3, limit 2" in text) == (1, True)


@pytest.mark.live
@needs_strace
def test_ignored_metric_does_not_fail(head: Path, run: Run) -> None:
    settings = SETTINGS.replace('setup = "touch was-prepared"', 'ignore = ["processes", "hot-loop"]')
    (head / "tracealyze.toml").write_text(settings, encoding="utf-8")
    _, text, _ = checked(head, run, "--all", "--base-dir", "../base", "--json", "--runs", "2")
    found = json.loads(text)["scenarios"]["print"]
    assert "Not compared, as configured: processes." in found["notes"]
    assert [each["by"] for each in found["judgements"] if each["metric"] == "processes"] == ["budget"]


@pytest.mark.parametrize(
    ("scenario", "arguments", "expected"),
    [
        ("", ["--all"], "--all: there is no scenario"),
        ('x = "./tool"', ["--all"], "scenarios must be tables"),
        ("x.comand = 1", ["--all"], 'there is no key "comand". Did you mean "command"?'),
        ('x.setup = "make"', ["--all"], "the command is missing"),
        ("x.command = 1", ["--all"], "command must be a string"),
        ('x = {command = "true", runs = 0}', ["--all"], "runs must be a number of 1 or more"),
        ('x.command = "true"', ["--all"], "scenario x: nothing to compare with"),
        ('x.command = "a | b"', ["--all", "--base-dir", "."], 'scenario x, command: no shell runs the command, so "|"'),
        ('x = {command = "true", ignore = ["hot-lop"]}', ["--all", "--base-dir", "."], 'Did you mean "hot-loop"?'),
        ('x = {command = "true", ignore = ["proceses"]}', ["--all", "--base-dir", "."], 'Did you mean "processes"?'),
        ('x.command = "true"', ["--all", "--", "true"], "--all takes the commands from the settings"),
        ('x.command = "true"', ["--all", "--base-dir", "none"], "there is no such directory"),
        ('x.command = "true"', ["--all", "--base", "x.strace"], "Leave out --base and --baseline"),
        ('x.command = "true"', ["--all", "--output", "junit"], "--output junit has one scenario"),
    ],
)
def test_mistake_is_found_before_anything_runs(
    head: Path, run: Run, scenario: str, arguments: list[str], expected: str
) -> None:
    text = f"[tool.tracealyze.check.scenarios]\n{scenario}\n"
    (head / "tracealyze.toml").write_text(text, encoding="utf-8")
    code, shown, notes = checked(head, run, *arguments)
    assert (code, shown) == (2, "")
    assert expected in notes
