"""The workflow of ten lines in docs/gate.md: valid, and its steps run here as the runner would run them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from composite_action import Action
from conftest import ROOT
from test_ci import checkout, command, git, needs_strace
from test_job_comment import Forge, bodies, forge, job

__all__ = ["checkout", "command", "forge", "job"]

pytestmark = [
    pytest.mark.skipif(shutil.which("bash") is None, reason="bash, the shell of the action, is not installed"),
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
    pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed"),
    needs_strace,
]


def inputs_of_the_workflow() -> dict[str, str]:
    page = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
    [workflow] = [each for each in re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL) if "pull_request" in each]
    [step] = re.findall(r"uses: OWNER/tracealyze@.*\n +with: \{(.*)\}", workflow)
    return dict(each.split(": ", 1) for each in step.split(", "))


@pytest.fixture
def action(checkout: Path, command: str, job: dict[str, str], tmp_path: Path) -> Action:
    """The action in the checkout of a pull request."""
    github = {"token": job["GITHUB_TOKEN"], "base_ref": "main", "event_name": "pull_request"}
    variables = {name: value for name, value in job.items() if name != "GITHUB_TOKEN"} | {
        "MAKEFILES": f"{tmp_path}/Makefile"
    }
    return Action(checkout, tmp_path / "temporary", command, inputs_of_the_workflow(), github, variables)


def test_workflow_finds_and_comments_what_a_change_adds(action: Action, forge: Forge, tmp_path: Path) -> None:
    assert not action.run()
    steps = ["Look for Python and tracealyze", "Check out and build the base", "Check the captures"]
    assert list(action.done) == [*steps, "Comment on the pull request"], action.done
    found = {name: done.returncode for name, done in action.done.items()}
    assert found == dict.fromkeys(steps[:2], 0) | {steps[2]: 1, "Comment on the pull request": 0}, action.done
    [body] = bodies(forge)
    assert "System calls: 1 worse of 1 scenario" in body
    assert "<code>./tool --version</code> | worse" in body
    assert "cat tool.in" in body
    assert forge.tokens == {"Bearer secret"}
    assert "### tracealyze check: failed" in (tmp_path / "summary").read_text(encoding="utf-8")
    assert action.outputs["check", "exit-code"] == "1"


def test_second_run_updates_the_comment(action: Action, forge: Forge, checkout: Path) -> None:
    action.run()
    git(checkout, "worktree", "remove", "--force", str(action.temporary / "tracealyze-base"))
    (checkout / "tool.in").write_text("#!/bin/sh\ncat tool.in\n", encoding="utf-8")
    assert action.run(), action.done
    [body] = bodies(forge)
    assert "System calls: none worse of 1 scenario" in body


def test_fork_without_permission_gets_the_summary(action: Action, forge: Forge, tmp_path: Path) -> None:
    forge.refuses = {"POST": 403}
    action.run()
    assert action.done["Comment on the pull request"].returncode == 0
    assert bodies(forge) == []
    assert "System calls: 1 worse of 1 scenario" in (tmp_path / "summary").read_text(encoding="utf-8")


def test_push_has_no_comment(action: Action, forge: Forge, checkout: Path) -> None:
    action.github = {"token": "secret", "event_name": "push"}
    git(checkout, "fetch", "--quiet", "--unshallow", "origin")
    action.run()
    assert action.done["Check the captures"].returncode == 1
    assert "Comment on the pull request" not in action.done
    assert forge.requests == []
