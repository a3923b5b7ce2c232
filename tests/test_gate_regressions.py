"""The gate groups failed metrics by cause: additional processes, longer sleeps, more work of a program."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest
from conftest import Run

from tracealyze import read
from tracealyze.compare.gate.baseline import baseline_of
from tracealyze.compare.gate.regressions import Growth
from tracealyze.compare.gate.stats import series_of
from tracealyze.compare.gate.verdict import Criteria, Verdict, verdict
from tracealyze.compare.metrics import WEIGHTS
from tracealyze.compare.run import Run as Measured

PROGRAMS = ("cat", "sed", "dd")
CALLS = {
    "open": 'openat(AT_FDCWD, "/etc/conf", O_RDONLY) = 3 <0.000020>',
    "miss": 'openat(AT_FDCWD, "/etc/none", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000020>',
    "read": 'read(3</etc/conf>, "x"..., 4096) = 4096 <0.000020>',
    "dents": "getdents64(3</etc>, 0x55 /* 3 entries */, 32768) = 80 <0.000020>",
    "stat": 'newfstatat(AT_FDCWD, "/etc", {st_mode=S_IFDIR|0755}, 0) = 0 <0.000020>',
    "alarm": "rt_sigaction(SIGALRM, NULL, {sa_handler=SIG_DFL}, 8) = 0 <0.000010>",
    "pipe": "rt_sigaction(SIGPIPE, NULL, {sa_handler=SIG_DFL}, 8) = 0 <0.000010>",
    "sync": "fsync(3</var/db>) = 0 <0.002000>",
    "sleep": "clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=200000000}, NULL) = 0 <0.200100>",
}


def capture(file: Path, children: list[tuple[str, list[str]]]) -> Path:
    """Write the capture of a script that starts these commands, each of which makes these calls."""
    lines = ['100 execve("./scenario.sh", ["./scenario.sh"], 0x7ffd /* 1 var */) = 0 <0.000500>']
    for pid, (command, calls) in enumerate(children, start=101):
        words = ", ".join(f'"{word}"' for word in command.split())
        lines.append(f"100 vfork() = {pid} <0.000100>")
        lines.append(f'{pid} execve("/usr/bin/{command.split()[0]}", [{words}], 0x7ffd /* 1 var */) = 0 <0.000500>')
        lines += [f"{pid} {CALLS[call]}" for call in calls]
        lines += [f"{pid} exit_group(0) = ?", f"{pid} +++ exited with 0 +++"]
        lines.append(f"100 wait4(-1, [{{WIFEXITED(s) && WEXITSTATUS(s) == 0}}], 0, NULL) = {pid} <0.000100>")
    lines += ["100 exit_group(0) = ?", "100 +++ exited with 0 +++"]
    stamped = (line.split(" ", 1) for line in lines)
    text = "".join(f"{pid} {1700000010 + at * 0.3:.6f} {rest}\n" for at, (pid, rest) in enumerate(stamped))
    file.write_text(text, encoding="utf-8")
    return file


def judged(before: Path, after: Path) -> Verdict:
    baseline = baseline_of([Measured(read(before))])
    return verdict([Measured(read(after))], Criteria(baseline=baseline, baseline_path="base.json"))


@pytest.mark.parametrize("seed", range(20))
def test_causes_sum_to_each_metric(seed: int, tmp_path: Path) -> None:
    """Causes had wrongly summed to 30 of 12 calls."""
    chance = random.Random(seed)

    def children() -> list[tuple[str, list[str]]]:
        programs = (f"{chance.choice(PROGRAMS)} {chance.randrange(3)}" for _ in range(chance.randrange(8)))
        return [(program, chance.choices(list(CALLS), k=chance.randrange(40))) for program in programs]

    before, after = (Measured(read(capture(tmp_path / f"{side}.strace", children()))) for side in "ab")
    growth = Growth(baseline_of([before]), [after])
    names = {name for side in (before, after) for name in side.values if name.startswith("calls[")}
    for name in sorted({*names, *WEIGHTS, "deliberate_wait"}):
        values = [side.values[name].value if name in side.values else 0 for side in (before, after)]
        assert growth.shares(name).total() == values[1] - values[0], name
    found = judged(tmp_path / "a.strace", tmp_path / "b.strace")
    grouped = sorted(judgement.key for regression in found.regressions for judgement in regression.judgements)
    assert grouped == sorted(judgement.key for judgement in found.judgements if judgement.outcome == "failed")
    for regression in found.regressions:
        if regression.rows and not regression.left_out and regression.lead.metric not in ("processes", "execs"):
            grown = sum(row.after - (row.before or 0) for row in regression.rows)
            assert grown >= regression.shares[regression.lead.metric]


WORK = ["open", "read", "read", "miss"]
SCENARIO = [("cat /etc/conf", WORK)] * 3 + [("sleep 0.05", [])]


def test_additional_processes_are_one_regression(tmp_path: Path) -> None:
    before = capture(tmp_path / "before.strace", SCENARIO)
    after = capture(tmp_path / "after.strace", [*SCENARIO, *SCENARIO[:1] * 5, ("dd if=x", ["open"] * 30)])
    [regression] = judged(before, after).regressions
    assert regression.title == "6 more processes (5 → 11, limit 5)"
    rows = [(row.what, row.before, row.after, row.by) for row in regression.rows]
    assert rows == [("cat /etc/conf", 3, 8, "scenario.sh"), ("dd if=x", 0, 1, "scenario.sh")]
    assert [row.lines[0].place for row in regression.rows] == ["after.strace:71", "after.strace:80"]
    assert {"execs", "calls", "opens", "calls[read]"} <= {each.metric for each in regression.judgements}


def test_more_work_per_process_is_not_blamed_on_processes(tmp_path: Path) -> None:
    before = capture(tmp_path / "before.strace", SCENARIO)
    after = capture(tmp_path / "after.strace", [("cat /etc/conf", [*WORK, *["stat"] * 20])] * 4 + SCENARIO[3:])
    starts, work = judged(before, after).regressions
    assert starts.title == "1 more process (5 → 6, limit 5)"
    assert work.title == "80 more calls in cat (26 → 113, limit 31)"
    assert [(row.what, row.before, row.after) for row in work.rows] == [("cat newfstatat(/etc)", 0, 80)]


def test_longer_sleep_is_a_regression_of_its_own(tmp_path: Path) -> None:
    before = capture(tmp_path / "before.strace", [("sleep 0.2", ["sleep"])])
    after = capture(tmp_path / "after.strace", [("sleep 0.2", ["sleep"] * 3)])
    [regression] = judged(before, after).regressions
    assert regression.title == "400 ms more requested sleep (deliberate_wait 200 ms → 600 ms, limit 250 ms)"
    assert [(row.before, row.after) for row in regression.rows] == [(200_000_000, 600_000_000)]


def test_rows_name_the_path_of_the_capture(tmp_path: Path) -> None:
    """A placeholder (`/srv/H/conf`) is no path that a person can look for."""
    before = capture(tmp_path / "before.strace", SCENARIO)
    after = capture(tmp_path / "after.strace", [("cat /etc/conf", [*WORK, *["stat"] * 20])] * 3 + SCENARIO[3:])
    text = after.read_text(encoding="utf-8").replace('AT_FDCWD, "/etc"', 'AT_FDCWD, "/srv/3f2a9bc1d4e5/conf"')
    after.write_text(text, encoding="utf-8")
    [work] = judged(before, after).regressions
    assert [row.what for row in work.rows] == ["cat newfstatat(/srv/3f2a9bc1d4e5/conf)"]


@pytest.fixture
def project(tmp_path: Path, run: Run) -> Path:
    """A project with a script, a baseline, and captures with more processes."""
    (tmp_path / "scenario.sh").write_text("#!/bin/sh\nsleep 0.05\ncat /etc/conf\n", encoding="utf-8")
    before = [capture(tmp_path / f"run{n}.strace", SCENARIO) for n in range(2)]
    for n in range(2):
        capture(tmp_path / f"new{n}.strace", [*SCENARIO, *SCENARIO[:1] * 5])
    assert run("baseline", "create", *before, cwd=tmp_path).returncode == 0
    return tmp_path


def test_annotations_point_at_the_script(project: Path, run: Run) -> None:
    """Annotations without a file attach to nothing, and a capture is in no repository."""
    outputs = [word for form in ("sarif", "gitlab") for word in ("--output", f"{form}={form}.json")]
    done = run("check", "new*.strace", "--output", "github", *outputs, cwd=project)
    assert done.returncode == 1
    assert done.stdout.startswith("::error file=scenario.sh,line=3,title=5 more processes")
    sarif = json.loads((project / "sarif.json").read_text(encoding="utf-8"))
    place = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("scenario.sh", 3)
    [entry, *_] = json.loads((project / "gitlab.json").read_text(encoding="utf-8"))
    assert entry["location"] == {"path": "scenario.sh", "lines": {"begin": 3}}


def test_annotations_point_at_the_budget_without_a_script(project: Path, run: Run) -> None:
    (project / "scenario.sh").unlink()
    settings = '[tool.tracealyze.check]\nfail-on = "never"\nbudgets = [\n  "processes <= 4",\n]\n'
    (project / "tracealyze.toml").write_text(settings, encoding="utf-8")
    (project / "tracealyze-baseline.json").unlink()
    shown = run("check", "new*.strace", "--output", "github", cwd=project).stdout
    assert shown.startswith("::error file=tracealyze.toml,line=4,title=processes 10")


def test_text_names_each_capture_and_the_command_to_accept(project: Path, run: Run) -> None:
    shown = run("check", "new*.strace", cwd=project).stdout
    assert re.search(r"cat /etc/conf  3 → 8\n +started by scenario.sh, new0.strace:\d+, new1.strace:\d+\n", shown)
    accept = "tracealyze check 'new*.strace' -b tracealyze-baseline.json --accept"
    assert shown.endswith(f"Intended? Accept it: {accept}\n")
    assert len(shown.splitlines()) < 14


def test_baseline_of_an_earlier_version_explains_by_program(project: Path, run: Run) -> None:
    file = project / "tracealyze-baseline.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    assert content.pop("commands") == {"cat /etc/conf": 3, "scenario.sh": 1, "sleep 0.05": 1}
    file.write_text(json.dumps(content), encoding="utf-8")
    assert "     cat  3 → 8\n" in run("check", "new*.strace", cwd=project).stdout


@pytest.mark.parametrize("seed", range(10))
def test_causes_of_several_runs_sum_to_each_metric(seed: int, tmp_path: Path) -> None:
    """Medians of places do not sum to the median of a metric: 3 of 7 calls had no cause."""
    chance = random.Random(seed)

    def run_of(name: str) -> Measured:
        children = [(f"cat {n}", chance.choices(list(CALLS), k=chance.randrange(20))) for n in range(3)]
        return Measured(read(capture(tmp_path / f"{name}.strace", children)))

    before, after = ([run_of(f"{side}{number}") for number in range(3)] for side in "ab")
    growth = Growth(baseline_of(before), after)
    then, now = series_of(before), series_of(after)
    for name in sorted({*WEIGHTS, "deliberate_wait"} & {*then, *now}):
        difference = sum(sign * side[name].whole.median for sign, side in ((1, now), (-1, then)) if name in side)
        assert growth.shares(name).total() + growth.rest(name) == difference, name
        for side in (before[:1], after[:1]):
            assert Growth(baseline_of(before[:1]), side).rest(name) == 0, name


def test_threads_and_their_calls_are_one_regression(tmp_path: Path, run: Run) -> None:
    """The calls of additional threads were a regression next to that of the threads."""

    def threads(name: str, number: int) -> None:
        lines = ['100 1700000010.000000 execve("/bin/tool", ["tool"], 0x7ffd /* 1 var */) = 0 <0.000500>']
        for tid in range(101, 101 + number):
            at = f"17000000{tid - 90}"
            lines.append(f"100 {at}.000000 clone3({{flags=CLONE_VM|CLONE_THREAD}}, 88) = {tid} <0.000100>")
            lines += [f"{tid} {at}.{n + 1:06} set_robust_list(0x7f, 24) = 0 <0.000010>" for n in range(9)]
            lines += [f"{tid} {at}.100000 exit(0) = ?", f"{tid} {at}.200000 +++ exited with 0 +++"]
        lines += ["100 1700000090.000000 exit_group(0) = ?", "100 1700000090.000100 +++ exited with 0 +++"]
        (tmp_path / name).write_text("\n".join([*lines, ""]), encoding="utf-8")

    threads("before.strace", 2)
    threads("after.strace", 30)
    assert run("baseline", "create", "before.strace", cwd=tmp_path).returncode == 0
    budgets = [word for budget in ("threads <= 3", "calls <= 24") for word in ("--budget", budget)]
    document = json.loads(run("check", "after.strace", *budgets, "--json", cwd=tmp_path).stdout)
    [regression] = document["regressions"]
    assert sorted(regression["metrics"]) == ["calls", "threads"]
