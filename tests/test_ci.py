"""The action for GitHub, and the CI jobs in docs/ci.md, with captures made here."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

import oracle
import pytest
from conftest import ROOT, SAMPLES

from tracealyze import _engine

SSH = str(SAMPLES / "ssh-login" / "ssh-login.truss")
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash, the shell of the action, is not installed")
needs_strace = pytest.mark.skipif(oracle.why_not() is not None, reason=oracle.why_not() or "")


def script_of_the_action() -> str:
    """The shell script of the step that checks."""
    *_, script = re.findall(r"      run: \|\n((?:        .*\n|\n)+)", (ROOT / "action.yml").read_text(encoding="utf-8"))
    return textwrap.dedent(script)


@pytest.fixture
def command(tmp_path: Path) -> str:
    """A search path on which `tracealyze` is the one under test."""
    folder = tmp_path / "bin"
    folder.mkdir()
    wrapper = folder / "tracealyze"
    wrapper.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tracealyze "$@"\n', encoding="utf-8")
    wrapper.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def bash(script: str, folder: Path, path: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT)} | variables
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def act(folder: Path, path: str, inputs: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the step that checks like the runner."""
    names = "CAPTURES BASELINE BUDGETS FAIL_ON SARIF JUNIT DEMO ARGS BASE_DIR COMMAND SCENARIOS RUNS"
    variables = dict.fromkeys(names.split(), "") | {"DEMO": "false"} | dict(inputs)
    variables["RUNNER_TEMP"] = str(folder)
    files = {name: str(folder / name.lower()) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    return bash(script_of_the_action(), folder, path, **variables, **files)


@pytest.mark.parametrize(
    ("inputs", "code", "annotated"),
    [
        ({"CAPTURES": SSH, "BUDGETS": "processes <= 5\ncalls[ioctl] <= 900"}, 0, False),
        ({"CAPTURES": SSH, "BUDGETS": "processes <= 5\n\ncalls[ioctl] <= 3\n"}, 1, True),
        ({"CAPTURES": SSH, "FAIL_ON": "error"}, 1, True),
        ({"CAPTURES": SSH}, 2, True),
        ({"CAPTURES": SSH, "BUDGETS": "proceses <= 5"}, 2, False),
        ({"CAPTURES": "$(touch pwned)", "BUDGETS": "processes <= 5"}, 3, False),
        ({"DEMO": "true", "CAPTURES": ""}, 1, True),
    ],
)
def test_action_exits_like_check(
    inputs: dict[str, str], code: int, annotated: bool, tmp_path: Path, command: str
) -> None:
    done = act(tmp_path, command, inputs)
    assert done.returncode == code, done.stderr
    assert ("::error " in done.stdout) is annotated
    assert (tmp_path / "github_output").read_text(encoding="utf-8").splitlines()[-1] == f"exit-code={code}"
    assert not (tmp_path / "pwned").exists()


def test_action_writes_its_reports(tmp_path: Path, command: str) -> None:
    act(tmp_path, command, {"CAPTURES": SSH, "FAIL_ON": "error", "SARIF": "r.sarif", "JUNIT": "r.xml"})
    assert "### tracealyze check: failed" in (tmp_path / "github_step_summary").read_text(encoding="utf-8")
    assert '"version": "2.1.0"' in (tmp_path / "r.sarif").read_text(encoding="utf-8")
    assert "<testsuites" in (tmp_path / "r.xml").read_text(encoding="utf-8")


def test_action_names_its_reports(tmp_path: Path, command: str) -> None:
    act(tmp_path, command, {"CAPTURES": SSH, "FAIL_ON": "error", "ARGS": "--ignore\nhot-loop\n"})
    outputs = dict(line.split("=", 1) for line in (tmp_path / "github_output").read_text(encoding="utf-8").splitlines())
    assert "tracealyze check: " in Path(outputs["report"]).read_text(encoding="utf-8")
    document = json.loads(Path(outputs["json"]).read_text(encoding="utf-8"))
    assert "finding[hot-loop]" not in {each["metric"] for each in document["judgements"]}


_PYTHON = """
printf '%s\\n' "$*" >> "$CALLS"
case "$*" in
  "-c "*print*) echo 3.12 ;;
  "-m pip download "*) [ -z "$RELEASED" ] || touch "$RUNNER_TEMP/tracealyze-wheel/released.whl"; [ -n "$RELEASED" ] ;;
  "-m pip wheel "*) touch "$RUNNER_TEMP/tracealyze-wheel/built.whl" ;;
  "-m venv "*)
    mkdir -p "$3/bin"
    printf '#!%s\\nprintf "pip %%s\\\\n" "$*" >> "$CALLS"\\n' "$BASH" > "$3/bin/pip"
    chmod +x "$3/bin/pip" ;;
esac
"""
"""A python3 that notes how it is called, and has a released wheel if RELEASED is set."""

_OWN = _engine.__version__
_RUST = {"cargo": "echo cargo 1.100.0"}
_PYTHON_AND_RUST = {"python3": _PYTHON, **_RUST}


def step(name: str) -> str:
    """The shell script of a step of the action."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8").partition(f"- name: {name}")[2]
    return textwrap.dedent(re.findall(r"      run: \|.*\n((?:        .*\n|\n)+)", text)[0])


def install(tools: Mapping[str, str], version: str, released: bool, tmp_path: Path) -> tuple[str, list[str]]:
    """Run the steps that install like a runner with these tools. Returns the output, and the calls of Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bash", "chmod", "cut", "find", "head", "ls", "mkdir", "sed", "sha256sum", "sort", "touch", "xargs"):
        (folder / name).symlink_to(str(shutil.which(name)))
    for name, line in tools.items():
        (folder / name).write_text(f"#!{folder}/bash\n{line}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    calls, output = tmp_path / "calls", tmp_path / "output"
    calls.touch()
    variables = {"GITHUB_ACTION_PATH": str(ROOT), "GITHUB_OUTPUT": str(output), "GITHUB_PATH": str(tmp_path / "path")}
    variables |= {"CALLS": str(calls), "RUNNER_TEMP": str(tmp_path), "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64"}
    variables |= {"VERSION": version, "RELEASED": "yes" if released else ""}
    done = bash(step("Look for Python"), tmp_path, str(folder), **variables)
    found = (
        dict(line.split("=", 1) for line in output.read_text(encoding="utf-8").splitlines()) if output.exists() else {}
    )
    if done.returncode == 0 and "key" in found:
        variables |= {"WANTED": found["wanted"], "OWN": found["own"]}
        done = bash(step("Install tracealyze"), tmp_path, str(folder), **variables)
    assert done.returncode in (0, 3), done.stderr
    assert (done.returncode == 3) is ("::error title=tracealyze action::" in done.stdout)
    return done.stdout, calls.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    ("tools", "version", "expected"),
    [
        ({"tracealyze": "echo tracealyze 0.0.1"}, "", "The runner has tracealyze 0.0.1, the job needs "),
        ({}, "", "There is no python3."),
        ({"python3": '[ "${2%%print*}" = "$2" ] && exit 1; echo 3.10'}, "", "required, python3 is 3.10."),
        ({"python3": _PYTHON, **_RUST}, "0.0.1", "use the tag v0.0.1 of the action."),
        (
            {"python3": _PYTHON},
            "",
            f"no released wheel of tracealyze {_OWN} for this runner. There is no cargo to build it.",
        ),
        ({"python3": _PYTHON}, "source", "The job requests a build from source. There is no cargo to build it."),
        (
            {"python3": _PYTHON, "cargo": "echo cargo 1.75.0"},
            "",
            "Rust 1.88 or newer is required to build it, cargo is 1.75.0.",
        ),
    ],
)
def test_action_names_what_the_runner_lacks(tools: dict[str, str], version: str, expected: str, tmp_path: Path) -> None:
    """A runner with an old Python or without cargo showed a stack trace of the build."""
    output, _ = install(tools, version, False, tmp_path)
    [error] = [line for line in output.splitlines() if line.startswith("::error title=tracealyze action::")]
    assert expected in error


def test_action_uses_what_the_runner_has(tmp_path: Path) -> None:
    output, calls = install({"tracealyze": "echo tracealyze 0.0.1"}, "0.0.1", False, tmp_path)
    assert (output, calls) == ("", [])


@pytest.mark.parametrize(
    ("tools", "version", "released", "wheel"),
    [
        # A runner needs no Rust if there is a wheel, whatever the version of the action.
        ({"python3": _PYTHON}, "", True, "released"),
        ({"python3": _PYTHON}, "9.9.9", True, "released"),
        (_PYTHON_AND_RUST, "", False, "built"),
        (_PYTHON_AND_RUST, "source", True, "built"),
    ],
)
def test_action_installs_the_released_wheel_or_builds(
    tools: dict[str, str], version: str, released: bool, wheel: str, tmp_path: Path
) -> None:
    output, calls = install(tools, version, released, tmp_path)
    download = f"-m pip download --quiet --no-deps --only-binary :all: --dest {tmp_path}/tracealyze-wheel"
    assert (f"{download} tracealyze=={version or _OWN}" in calls) is (version != "source")
    assert (f"-m pip wheel --quiet --no-deps --wheel-dir {tmp_path}/tracealyze-wheel {ROOT}" in calls) is (
        wheel == "built"
    )
    assert calls[-1] == f"pip install --quiet {tmp_path}/tracealyze-wheel/{wheel}.whl"
    assert ("::notice title=tracealyze action::" in output) is (wheel == "built")
    assert (tmp_path / "path").read_text(encoding="utf-8") == f"{tmp_path}/tracealyze/bin\n"


def test_action_uses_the_wheel_in_its_cache(tmp_path: Path) -> None:
    (tmp_path / "tracealyze-wheel").mkdir()
    (tmp_path / "tracealyze-wheel" / "cached.whl").touch()
    _, calls = install({"python3": _PYTHON}, "", False, tmp_path)
    assert not [call for call in calls if call.startswith("-m pip ")]
    assert calls[-1] == f"pip install --quiet {tmp_path}/tracealyze-wheel/cached.whl"


def test_documented_jobs_pin_a_version_and_upload_the_captures() -> None:
    """The captures were lost after the job, so its advice could not be followed."""
    for job in re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL):
        assert "@main" not in job
        assert re.search(r"tracealyze(@v|==)\d", job)
        assert re.search(r"upload-artifact|paths:", job) and "run*.strace" in job.rpartition("artifact")[2]
        assert "cache" in job


def test_action_uses_all_its_inputs() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    declared = re.findall(r"^  ([a-z-]+):$", text.partition("outputs:")[0].partition("inputs:")[2], flags=re.MULTILINE)
    assert declared
    assert set(declared) == set(re.findall(r"\$\{\{ inputs\.([a-z-]+) \}\}", text))


def shell_of(job: str) -> list[str]:
    """The lines of a job in docs/ci.md, without those that install."""
    lines = re.findall(r"^ +- (?:run: )?((?:for|tracealyze) .*)$", job, flags=re.MULTILINE)
    return [line.strip("\"'") if line[0] in "\"'" else line for line in lines]


@pytest.mark.live
@needs_strace
def test_documented_jobs_work(tmp_path: Path, command: str) -> None:
    jobs = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
    assert len(jobs) == 2
    scenario = tmp_path / "scenario.sh"
    scenario.write_text("#!/bin/sh\n/bin/cat scenario.sh > /dev/null\n", encoding="utf-8")
    scenario.chmod(0o755)
    accepted = re.search(r"^tracealyze check .* --accept$", PAGE, flags=re.MULTILINE)
    assert accepted
    for at, job in enumerate(jobs):
        lines = shell_of(job)
        assert any("strace -f" in line for line in lines)
        if at == 0:
            captured = bash("\n".join(lines), tmp_path, command)
            assert captured.returncode == 0, captured.stderr
            assert bash(accepted.group(), tmp_path, command).returncode == 0
            inputs = {"CAPTURES": "run*.strace", "BUDGETS": "processes <= 40\ndeliberate_wait <= 200ms"}
            assert "processes <= 40" in job
            assert act(tmp_path, command, inputs).returncode == 0
        else:
            done = bash("\n".join(lines), tmp_path, command)
            assert done.returncode == 0, done.stdout + done.stderr
            assert {"junit.xml", "codequality.json"} <= {file.name for file in tmp_path.iterdir()}
    scenario.write_text("#!/bin/sh\n/bin/cat scenario.sh > /dev/null\n/bin/sleep 0.3\n", encoding="utf-8")
    worse = bash("\n".join(shell_of(jobs[1])), tmp_path, command)
    assert worse.returncode == 1
    assert "deliberate_wait" in worse.stdout


def git(folder: Path, *words: str) -> None:
    settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *settings, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of depth 1, as that of a pull request: its commits build a tool that starts one, then three programs.

    The main branch has gone on since, to a tool that fails."""
    origin = tmp_path / "origin"
    origin.mkdir()
    git(origin, "init", "--quiet", "--initial-branch", "start")
    (origin / "Makefile").write_text("all:\n\tcp tool.in tool\n\tchmod +x tool\n", encoding="utf-8")
    switches = (["checkout", "-b", "main"], ["checkout", "-b", "change"], ["checkout", "main"])
    for switch, script in zip(
        switches, ("cat tool.in", "cat tool.in; cat tool.in; cat tool.in", "exit 1"), strict=True
    ):
        git(origin, *switch)
        (origin / "tool.in").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        git(origin, "add", ".")
        git(origin, "commit", "--quiet", "-m", script)
    git(tmp_path, "clone", "--quiet", "--depth", "1", "--branch", "change", origin.as_uri(), "checkout")
    return tmp_path / "checkout"


@pytest.mark.live
@needs_strace
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize(
    ("base_ref", "target", "code"), [("", "main", 1), ("change", "main", 0), ("none", "main", 3), ("", "", 1)]
)
def test_action_compares_base_and_head(
    checkout: Path, tmp_path: Path, command: str, base_ref: str, target: str, code: int
) -> None:
    """The default is the merge base: the main branch has gone on, and its tool must not be what is compared with."""
    temporary, output = tmp_path / "temporary", tmp_path / "github_output"
    temporary.mkdir()
    variables = {"BASE_REF": base_ref, "TARGET": target, "BUILD": "cp tool.in tool\nchmod +x tool"}
    variables |= {"RUNNER_TEMP": str(temporary), "GITHUB_OUTPUT": str(output)}
    made = bash(step("Check out and build the base"), checkout, command, **variables)
    if code == 3:
        assert (made.returncode, "The base none cannot be fetched" in made.stdout) == (3, True)
        return
    assert made.returncode == 0, made.stderr
    base = dict(line.split("=", 1) for line in output.read_text(encoding="utf-8").splitlines())["dir"]
    inputs = {"BASE_DIR": base, "COMMAND": "./tool 'one word'", "RUNS": "2", "GITHUB_OUTPUT": str(output)}
    variables = dict.fromkeys(("CAPTURES", "BASELINE", "BUDGETS", "FAIL_ON", "SARIF", "JUNIT", "ARGS", "SCENARIOS"), "")
    variables |= {"RUNNER_TEMP": str(temporary), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"), "DEMO": "false"}
    done = bash(script_of_the_action(), checkout, command, **variables, **inputs)
    assert done.returncode == code, done.stdout + done.stderr
    comment = (temporary / "tracealyze-comment.md").read_text(encoding="utf-8")
    assert comment.startswith(f"### System calls: {'1 worse' if code else 'none worse'} of 1 scenario")
    assert "<code>./tool 'one word'</code>" in comment
    assert f"comment={temporary}/tracealyze-comment.md" in output.read_text(encoding="utf-8")


def test_workflow_for_pull_requests_is_short() -> None:
    page = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
    [workflow] = [each for each in re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL) if "pull_request" in each]
    assert len(workflow.splitlines()) <= 10
    inputs = set(re.findall(r"(\w+): ", workflow.partition("with: {")[2]))
    assert inputs <= set(
        re.findall(r"^  ([a-z-]+):$", (ROOT / "action.yml").read_text(encoding="utf-8"), flags=re.MULTILINE)
    )
