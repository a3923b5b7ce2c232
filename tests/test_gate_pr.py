"""The comment on a pull request, as golden files, and the numbers for other systems."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT, Run
from test_golden import equals_golden

from tracealyze import read
from tracealyze.compare.gate.baseline import baseline_of
from tracealyze.compare.gate.verdict import Criteria, Verdict, verdict, without_baseline
from tracealyze.compare.run import Run as Measured
from tracealyze.render.gate import pr

FOLDER = ROOT / "tests" / "golden_gate"

BEGIN = '100 1700000010.000000 execve("/usr/bin/tool", ["tool"], 0x7ffd /* 1 var */) = 0 <0.000500>'
OPEN = '100 1700000010.001000 openat(AT_FDCWD, "/etc/conf", O_RDONLY) = 3 <0.000020>'
MISS = (
    '100 1700000010.002000 openat(AT_FDCWD, "/opt/@me/#1", O_RDONLY) = -1 ENOENT (No such file or directory) <0.00002>'
)
SLEEP = "100 1700000010.100000 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=300000000}, NULL) = 0 <0.300100>"
READ = '100 1700000010.003000 read(3</etc/conf>, "x"..., 4096) = 4096 <0.000020>'
FUTEX = "100 1700000010.004000 futex(0x5581, FUTEX_WAKE_PRIVATE, 1) = 0 <0.000010>"
END = ("100 1700000012.000000 exit_group(0) = ?", "100 1700000012.000100 +++ exited with 0 +++")
CHILD = (
    "100 1700000011.000000 clone(child_stack=NULL, flags=SIGCHLD) = 101 <0.0001>",
    '101 1700000011.001000 execve("/usr/bin/git", ["git", "status"], 0x7ffd /* 1 var */) = 0 <0.0005>',
    "101 1700000011.100000 exit_group(0) = ?",
    "101 1700000011.100100 +++ exited with 0 +++",
)


class Bench:
    """Compares made-up runs in a folder, which is the working directory."""

    def __init__(self) -> None:
        self.number = 0

    def runs(self, calls: Sequence[str]) -> list[Measured]:
        self.number += 1
        file = Path(f"{self.number}.strace")
        file.write_text("\n".join([BEGIN, *calls, *END, ""]), encoding="utf-8")
        return [Measured(read(file))]

    def verdict(self, scenario: str, before: Sequence[str], after: Sequence[str]) -> Verdict:
        accepted = baseline_of(self.runs(before))
        return replace(verdict(self.runs(after), Criteria(baseline=accepted, baseline_path="base")), scenario=scenario)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.chdir(tmp_path)
    return Bench()


def compare(name: str, text: str) -> None:
    equals_golden(text, FOLDER / f"{name}.md")


def test_scenarios_are_one_comment(bench: Bench) -> None:
    """Changed ones first, whatever their order; unchanged ones are folded."""
    same = bench.verdict("help", [OPEN, READ], [OPEN, READ])
    worse = bench.verdict("status", [OPEN, READ], [OPEN, READ, *[MISS] * 9, SLEEP, *CHILD])
    better = bench.verdict("build", [OPEN, *[MISS] * 30], [OPEN])
    threads = bench.verdict("serve", [OPEN], [OPEN, *[FUTEX] * 40])
    crashed = replace(without_baseline((), "base.json", "base.json: no such baseline."), scenario="new")
    compare("pr-several", pr.together([same, worse, better, threads, crashed]))


def test_unchanged_scenario_is_folded(bench: Bench) -> None:
    compare("pr-unchanged", pr.rendered(bench.verdict("help", [OPEN], [OPEN, OPEN])))


def test_comment_fits_into_a_comment(bench: Bench) -> None:
    worse = bench.verdict("status " * 20, [OPEN], [OPEN, *[MISS] * 9, SLEEP, *CHILD])
    text = pr.together([worse] * 100)
    assert len(text) < 65_536
    assert "more scenarios, without reasons here." in text


def test_text_of_a_capture_notifies_nobody(bench: Bench) -> None:
    """A path with @name would notify a person, and #1 would link to an issue, in each update of the comment."""
    text = pr.rendered(bench.verdict("a", [OPEN], [OPEN, *[MISS] * 9]))
    for line in text.splitlines():
        outside = "".join(part.rpartition("</code>")[2] for part in line.split("<code>"))
        assert "@me" not in outside
    assert "@me" in text


def test_numbers_have_no_times(bench: Bench, run: Run) -> None:
    bench.runs([OPEN])
    done = run("check", "1.strace", "--base", "1.strace", "--output", "bmf", cwd=Path.cwd())
    [measures] = json.loads(done.stdout).values()
    assert measures["calls"] == {"value": 3, "lower_value": 3, "upper_value": 3}
    assert not {name for name in measures if name.startswith(("wall", "exclusive"))}
    done = run("check", "1.strace", "--base", "1.strace", "--output", "github-benchmark", cwd=Path.cwd())
    entries = {each["name"]: each for each in json.loads(done.stdout)}
    assert entries["1.strace: opens"] == {"name": "1.strace: opens", "unit": "number", "value": 1}
