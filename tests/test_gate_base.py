"""`check --base`: captures are compared with captures, and the verdict is that of a baseline made of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Run

BEGIN = '100 1700000010.000000 execve("/usr/bin/tool", ["tool"], 0x7ffd /* 1 var */) = 0 <0.000500>\n'
MISS = (
    '100 1700000010.001000 openat(AT_FDCWD, "/etc/none", O_RDONLY) = -1 ENOENT (No such file or directory) <0.00002>\n'
)
END = "100 1700000012.000000 exit_group(0) = ?\n100 1700000012.000100 +++ exited with 0 +++\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three runs of each side, the second side with 40 more failed lookups, and a run that crashed."""
    for number in (1, 2, 3):
        (tmp_path / f"base{number}.strace").write_text(BEGIN + END, encoding="utf-8")
        (tmp_path / f"head{number}.strace").write_text(BEGIN + MISS * 40 + END, encoding="utf-8")
    (tmp_path / "crashed.strace").write_text(BEGIN + END.replace("exited with 0", "killed by SIGSEGV"), "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("head", "base", "code"),
    [("head*", "base*", 1), ("base*", "base*", 0), ("base*", "head*", 0), ("crashed", "base*", 2)],
)
def test_verdict_is_that_of_a_baseline(folder: Path, run: Run, head: str, base: str, code: int) -> None:
    assert run("baseline", "create", f"{base}.strace", cwd=folder).returncode == 0
    with_file = run("check", f"{head}.strace", cwd=folder)
    (folder / "tracealyze-baseline.json").unlink()
    without = run("check", f"{head}.strace", "--base", f"{base}.strace", cwd=folder)
    assert (with_file.returncode, without.returncode) == (code, code), without.stderr
    # Only a file can be updated, so the advice about it differs.
    advice = ("tighten the baseline: tracealyze baseline update ", "Accept it: tracealyze check ")
    kept = [line for line in with_file.stdout.splitlines() if not any(words in line for words in advice)]
    found = without.stdout.replace(f"against {base}.strace", "against tracealyze-baseline.json")
    assert found.splitlines() == kept


def test_base_takes_all_names_that_follow(folder: Path, run: Run) -> None:
    """A shell expands base*.strace before the program sees it: the second name must not become a capture to check."""
    names = [[f"{side}{number}.strace" for number in (1, 2, 3)] for side in ("head", "base")]
    done = run("check", *names[0], "--base", *names[1], "--json", cwd=folder)
    found = json.loads(done.stdout)
    assert (found["captures"], found["base"], done.returncode) == (names[0], names[1], 1)
    after = run("check", "--base", *names[1], "--fail-on", "never", *names[0], "--json", cwd=folder)
    assert json.loads(after.stdout)["base"] == names[1]
    dashes = run("check", "--base", *names[1], "--json", "--", *names[0], cwd=folder)
    assert json.loads(dashes.stdout)["captures"] == names[0]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--base", "base1.strace", "head1.strace"], "there is no capture to check"),
        (["head1.strace", "--base", "base1.strace", "--baseline", "b.json"], "Use one of them"),
    ],
)
def test_base_without_a_capture_to_check_is_an_error(
    folder: Path, run: Run, arguments: list[str], expected: str
) -> None:
    done = run("check", *arguments, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr


def test_missing_base_is_not_a_pass(folder: Path, run: Run) -> None:
    assert run("check", "head1.strace", "--base", "none.strace", cwd=folder).returncode == 3


def test_difference_within_the_base_is_named(folder: Path, run: Run) -> None:
    done = run("check", "head1.strace", "--base", "base1.strace", "crashed.strace", "head1.strace", cwd=folder)
    assert done.returncode == 0
    assert "Not gated: the runs of the baseline differ" in " ".join(done.stdout.split())
