"""`check --base-command`: both sides are recorded in turn, and what they print stays out of the verdict."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from conftest import Run

needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A script in two versions, the second of which starts a program for each word, and a place for captures."""
    for name, loop in (("old", "cat /etc/passwd"), ("new", "for word in a b c; do cat /etc/passwd; done")):
        (tmp_path / name).mkdir()
        script = tmp_path / name / "tool"
        script.write_text(f"#!/bin/sh\necho {name} >> order\n{loop}\n", encoding="utf-8")
        script.chmod(0o755)
    (tmp_path / "temporary").mkdir()
    return tmp_path


def checked(folder: Path, run: Run, *arguments: str) -> tuple[int, str, str]:
    done = run("check", *arguments, cwd=folder, TMPDIR=str(folder / "temporary"))
    return done.returncode, done.stdout, done.stderr


@pytest.mark.live
@needs_strace
def test_sides_run_in_turn_after_a_warm_up(folder: Path, run: Run) -> None:
    checked(folder, run, "--base-command", "old/tool", "--runs", "2", "--", "new/tool")
    assert (folder / "order").read_text(encoding="utf-8").split() == ["old", "new"] * 3


@pytest.mark.live
@needs_strace
def test_more_work_of_the_head_fails(folder: Path, run: Run) -> None:
    code, text, notes = checked(folder, run, "--base-command", "old/tool", "--json", "--", "new/tool")
    found = json.loads(text)
    assert (code, found["verdict"], found["baseline"]) == (1, "failed", "old/tool")
    assert [Path(file).name for file in found["base"]] == [f"base-{number}.strace.zst" for number in (1, 2, 3)]
    assert found["regressions"][0]["title"].startswith("2 more processes")
    # The commands that the text proposes need the captures.
    assert all(Path(file).exists() for file in found["captures"])
    assert "The captures of new/tool are in" in notes


@pytest.mark.live
@needs_strace
def test_equal_commands_pass_and_leave_nothing(folder: Path, run: Run) -> None:
    code, text, notes = checked(folder, run, "--base-command", "old/tool", "--", "old/tool")
    assert (code, notes) == (0, "")
    assert text.startswith("old/tool: Passed: ")
    assert list((folder / "temporary").iterdir()) == []


@pytest.mark.live
@needs_strace
def test_a_passing_check_leaves_the_last_capture_as_it_was(folder: Path, run: Run) -> None:
    state = {"XDG_STATE_HOME": str(folder / "state")}
    sample = Path(__file__).parent.parent / "samples" / "ssh-login" / "ssh-login.truss"
    assert run("summarize", str(sample), cwd=folder, **state).returncode == 0
    assert run("check", "--base-command", "old/tool", "--", "old/tool", cwd=folder, **state).returncode == 0
    assert "ssh-login.truss" in run("summarize", "--brief", cwd=folder, **state).stderr


@pytest.mark.live
@needs_strace
def test_command_that_fails_is_shown(folder: Path, run: Run) -> None:
    """Two commands that fail at once make the same calls, which looks like a pass."""
    script = "sh -c 'echo no such table >&2; exit 4'"
    _, _, notes = checked(folder, run, "--base-command", script, "--", "true")
    assert notes.splitlines()[0] == "base: the command ends with status 4. It printed: no such table"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--base-command", "true"], "the command to check is missing"),
        (["--base-command", "", "--", "true"], "the command is empty"),
        (["--base-command", "make && true", "--", "true"], 'no shell runs the command, so "&&" has no effect'),
        (["--base-command", "echo 'a", "--", "true"], "No closing quotation"),
        (["--base-command", "true", "--base", "x.strace", "--", "true"], "Leave out --base and --baseline."),
    ],
)
def test_command_that_cannot_be_compared_is_an_error(
    folder: Path, run: Run, arguments: list[str], expected: str
) -> None:
    code, text, notes = checked(folder, run, *arguments)
    assert (code, text) == (2, "")
    assert expected in notes


@pytest.mark.live
@needs_strace
def test_side_with_an_unknown_program_is_named(folder: Path, run: Run) -> None:
    code, _, notes = checked(folder, run, "--base-command", "old/tol", "--", "new/tool")
    assert code == 2
    assert "base: old/tol: command not found" in notes


def test_missing_tracer_is_named_with_its_package(folder: Path, run: Run) -> None:
    done = run("check", "--base-command", "/bin/true", "--", "/bin/true", cwd=folder, PATH=str(folder))
    assert done.returncode == 3
    assert "strace is not installed" in done.stderr
    assert "apt-get install -y strace" in done.stderr
