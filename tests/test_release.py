"""What the workflows for releases promise, and what programs that check workflows find in them: make release-check."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
# Where `make release-check` installs programs.
_INSTALLED = f"{Path(sys.executable).parent}{os.pathsep}{ROOT / '.cache' / 'bin'}"


def run(*command: str) -> None:
    """Run a program that checks; skip if it is not installed."""
    program = shutil.which(command[0]) or shutil.which(command[0], path=_INSTALLED)
    if program is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run([program, *command[1:]], cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("file", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda file: file.name)
def test_actions_are_pinned_by_commit(file: Path) -> None:
    """A tag can be moved to other code, a commit cannot. The comment is what dependabot updates."""
    uses = re.findall(r"uses: (.*)", file.read_text(encoding="utf-8"))
    assert uses
    for each in uses:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each), each


def test_one_action_has_one_version() -> None:
    texts = [file.read_text(encoding="utf-8") for file in [*WORKFLOWS, ROOT / "action.yml"]]
    used = {use for text in texts for use in re.findall(r"uses: (.*)", text)}
    assert len(used) == len({use.partition("@")[0] for use in used})


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_workflows_have_no_permissions_that_no_job_requests(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert "\npermissions: {}\n" in text
    assert "persist-credentials: true" not in text
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")
    for job in re.split(r"(?m)^  (?=[a-z-]+:$)", text.partition("\njobs:\n")[2])[1:]:
        assert re.search(r"(?m)^    permissions:", job), job.partition(":")[0]
        assert re.search(r"(?m)^    timeout-minutes:", job), job.partition(":")[0]


def test_each_platform_has_a_wheel() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    names = re.findall(r"- \{name: ([\w-]+), runner", text)
    assert len(names) == 7
    assert f'wc -l)" = {len(names)} ]' in text
    for image in re.findall(r"wheel: ([\w-]+)\}", text):
        assert image in names


def test_owner_is_filled_in_everywhere(tmp_path: Path) -> None:
    """A release whose links lead to another account would be worse than one without links."""
    for name in ("tracealyze/render/addresses.py", "README.md", "packaging/owner", "packaging/man/tracealyze.1"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    subprocess.run([tmp_path / "packaging" / "owner", "some-body"], check=True)
    addresses = (tmp_path / "tracealyze" / "render" / "addresses.py").read_text(encoding="utf-8")
    assert "https://some-body.github.io/tracealyze/" in addresses
    for file in [*tmp_path.glob("*.md"), *(tmp_path / "docs").glob("*.md"), tmp_path / "packaging/man/tracealyze.1"]:
        assert "OWNER/" not in file.read_text(encoding="utf-8"), file
    refused = subprocess.run([tmp_path / "packaging" / "owner", "a/b;c"], capture_output=True, check=False)
    assert refused.returncode == 2


@pytest.mark.release
def test_actionlint_finds_nothing() -> None:
    run("actionlint")


@pytest.mark.release
@pytest.mark.parametrize("page", ["ci.md", "gate.md"])
def test_actionlint_finds_nothing_in_workflows_of_documents(page: str, tmp_path: Path) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    workflows = [each for each in re.findall(r"```yaml\n(.*?)```", text, flags=re.DOTALL) if each.startswith("on:")]
    assert workflows
    for number, workflow in enumerate(workflows):
        file = tmp_path / f"{number}.yml"
        file.write_text(workflow, encoding="utf-8")
        run("actionlint", str(file))


@pytest.mark.release
def test_zizmor_finds_nothing() -> None:
    run("zizmor", "--quiet", "--offline", "--pedantic", ".github", "action.yml")


@pytest.mark.release
def test_hadolint_finds_nothing() -> None:
    run("hadolint", "Containerfile")


@pytest.mark.release
def test_crates_have_permitted_licences_and_sources() -> None:
    """Advisories need a database from the network: ci.yml checks them."""
    if shutil.which("cargo-deny") is None:
        pytest.skip("cargo-deny is not installed")
    run("cargo", "deny", "--offline", "check", "licenses", "bans", "sources")
