"""Times of hyperfine next to the counts: which result belongs to which side, and how both look."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import ROOT, Run
from test_golden import equals_golden

from tracealyze.base.errors import WrongUsage
from tracealyze.compare.gate import hyperfine
from tracealyze.compare.gate.verdict import Status, Verdict

GOLDEN = ROOT / "tests" / "golden_gate"


def result(command: str, mean_s: float = 0.002, **others: Any) -> dict[str, Any]:
    numbers = {"stddev": mean_s / 20, "median": mean_s, "min": mean_s / 2, "max": mean_s * 2}
    numbers |= {"user": mean_s / 2, "system": mean_s / 4}
    return {"command": command, "mean": mean_s, **numbers, "times": [mean_s] * 10, "exit_codes": [0] * 10} | others


def export(folder: Path, *results: object) -> str:
    (folder / "times.json").write_text(json.dumps({"results": list(results)}), encoding="utf-8")
    return str(folder / "times.json")


def capture(folder: Path, name: str, argv: list[str], reads: int) -> str:
    words = ", ".join(f'"{word}"' for word in argv)
    lines = [f'7 1700000010.000000 execve("/bin/{argv[0]}", [{words}], 0x7ffd /* 1 var */) = 0 <0.0005>']
    lines += [f'7 1700000010.{at + 1:06} read(3</etc/conf>, "x", 1) = 1 <0.00001>' for at in range(reads)]
    lines += ["7 1700000012.000000 exit_group(0) = ?", "7 1700000012.000100 +++ exited with 0 +++"]
    (folder / name).write_text("\n".join([*lines, ""]), encoding="utf-8")
    return name


@pytest.fixture
def sides(tmp_path: Path) -> list[str]:
    """The arguments of a check of two captures."""
    base = capture(tmp_path, "base.strace", ["tool", "--old", "a b"], 20)
    return [capture(tmp_path, "head.strace", ["tool", "--new", "a b"], 50), "--base", base]


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        (["tool --new 'a b'", "tool --old 'a b'"], [1, 0]),
        (["x", "head", "base"], [2, 1]),
        (["first", "second"], [0, 1]),
        (["only"], [None, 0]),
        (["tool --new 'a b'", "x", "y"], [None, 0]),
        (["tool --old 'a b'", "x", "y"], [0, None]),
        (["tool --new 'a b", "x"], [0, 1]),
    ],
)
def test_results_belong_to_sides(
    results: list[str], expected: list[int | None], sides: list[str], tmp_path: Path, run: Run
) -> None:
    file = export(tmp_path, *(result(command, 0.001 * (at + 1)) for at, command in enumerate(results)))
    done = run("check", *sides, "--hyperfine", file, "--json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    schema = json.loads((ROOT / "tests" / "schemas" / "json.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, schema)
    found = [document["hyperfine"][side] for side in ("before", "after")]
    assert [side and side["mean_ns"] // 1_000_000 - 1 for side in found] == expected


def test_results_of_one_command_in_two_directories_need_names(tmp_path: Path) -> None:
    """The text of such a command does not say which side it is."""
    verdict = Verdict(Status.PASSED, (), commands=("./tool", "./tool"))
    [found] = hyperfine.read(export(tmp_path, result("./tool", 1), result("./tool", 2))).beside([verdict])
    assert found.times and found.times.before and found.times.after
    assert (found.times.before.mean_ns, found.times.after.mean_ns) == (10**9, 2 * 10**9)
    [found] = hyperfine.read(export(tmp_path, result("./tool", 3))).beside([verdict])
    assert found.times and found.times.before is None and found.times.after


def test_results_of_scenarios_have_their_names(tmp_path: Path) -> None:
    verdicts = [
        Verdict(Status.PASSED, (), commands=("tool", "tool"), scenario="start"),
        Verdict(Status.PASSED, (), commands=("tool build", "tool build"), scenario="build"),
        Verdict(Status.PASSED, (), commands=("tool x", "tool x"), scenario="other"),
    ]
    named = [result("start base"), result("start head"), result("tool build")]
    start, build, other = hyperfine.read(export(tmp_path, *named)).beside(verdicts)
    assert start.times and start.times.before and start.times.after
    assert build.times and build.times.after and not build.times.before
    assert other.times is None
    with pytest.raises(WrongUsage, match="hyperfine -n SCENARIO CMD"):
        hyperfine.read(export(tmp_path, result("another"))).beside(verdicts)


@pytest.mark.parametrize("form", ["text", "markdown", "pr"])
def test_times_stand_next_to_counts(form: str, sides: list[str], tmp_path: Path, run: Run) -> None:
    export(tmp_path, result("base", 0.002), result("head", 0.0039))
    done = run("check", *sides, "--hyperfine", "times.json", "--output", form, cwd=tmp_path)
    equals_golden(done.stdout, GOLDEN / f"hyperfine.{'txt' if form == 'text' else f'{form}.md'}")


def test_times_never_decide(sides: list[str], tmp_path: Path, run: Run) -> None:
    file = export(tmp_path, result("base", 0.001), result("head", 100))
    done = run("check", sides[2], "--base", sides[2], "--hyperfine", file, cwd=tmp_path)
    assert (done.returncode, "100.00 s" in done.stdout) == (0, True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not JSON"),
        ("[]", "not an export of hyperfine: it has no results"),
        ('{"results": []}', "not an export of hyperfine: it has no results"),
        ('{"results": [1]}', "result 1: it has no command"),
        ('{"results": [{"command": "x"}]}', "result 1: it has no mean"),
        ('{"results": [{"command": "x", "mean": "1"}]}', "result 1, mean: not a time in seconds"),
        ('{"results": [{"command": "x", "mean": NaN}]}', "result 1, mean: not a time in seconds"),
        ('{"results": [{"command": "x", "mean": -1}]}', "result 1, mean: not a time in seconds"),
        ('{"results": [{"command": "x", "mean": 1, "stddev": 1e999}]}', "result 1, stddev: not a time in seconds"),
        (None, "no such file"),
    ],
)
def test_files_that_are_not_exports_are_refused(
    content: str | None, message: str, sides: list[str], tmp_path: Path, run: Run
) -> None:
    if content is not None:
        (tmp_path / "times.json").write_text(content, encoding="utf-8")
    done = run("check", *sides, "--hyperfine", "times.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert f"times.json{', ' if message.startswith('result') else ': '}{message}" in done.stderr
    assert "Make it with: hyperfine --export-json FILE" in done.stderr


def test_results_of_other_commands_are_refused(sides: list[str], tmp_path: Path, run: Run) -> None:
    file = export(tmp_path, *map(result, ("a", "b", "c")))
    done = run("check", *sides, "--hyperfine", file, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert 'no result belongs to the checked command. It has "a", "b", "c".' in done.stderr


@pytest.mark.skipif(shutil.which("hyperfine") is None, reason="hyperfine is not installed")
def test_real_exports_are_read(sides: list[str], tmp_path: Path, run: Run) -> None:
    words = ["hyperfine", "--runs", "2", "--style", "none", "--export-json", "times.json", "-n", "base", "true"]
    subprocess.run([*words, "-n", "head", "true"], cwd=tmp_path, check=True, capture_output=True)
    done = run("check", *sides, "--hyperfine", "times.json", "--json", cwd=tmp_path)
    found = json.loads(done.stdout)["hyperfine"]
    assert (found["before"]["command"], found["after"]["command"], found["after"]["runs"]) == ("base", "head", 2)
