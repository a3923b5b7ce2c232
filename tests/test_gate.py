"""The gate: what fails, what only warns, and how it is explained. All captures are written here."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import ROOT, SAMPLES, Run

from tracealyze import read
from tracealyze.base.errors import WrongUsage
from tracealyze.compare.gate.baseline import baseline_of
from tracealyze.compare.gate.baseline_file import read as read_baseline
from tracealyze.compare.gate.baseline_file import write as write_baseline
from tracealyze.compare.gate.budget import budget_of
from tracealyze.compare.gate.judgement import Outcome
from tracealyze.compare.gate.stats import chance_of_shift, limit
from tracealyze.compare.gate.verdict import Criteria, Status, Verdict, verdict
from tracealyze.compare.metrics import METRICS, Class
from tracealyze.compare.run import Run as Measured

Write = Callable[..., Path]

START = '100 1700000010.000000 execve("/usr/bin/tool", ["tool"], 0x7ffd /* 1 var */) = 0 <0.000500>'
END = ("100 1700000019.000000 exit_group(0) = ?", "100 1700000019.000100 +++ exited with 0 +++")
OPEN = 'openat(AT_FDCWD, "/etc/conf", O_RDONLY) = 3 <0.000020>'
MISS = 'openat(AT_FDCWD, "/etc/none", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000020>'
SLEEP = "clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=300000000}, NULL) = 0 <0.300100>"
SYNC = "fsync(3</var/db>) = 0 <0.002000>"
EXPIRED = "poll([{fd=3, events=POLLIN}], 1, 250) = 0 (Timeout) <0.250100>"
FUTEX_EXPIRED = (
    "futex(0x5581, FUTEX_WAIT_PRIVATE, 1, {tv_sec=0, tv_nsec=250000000}) = -1 ETIMEDOUT (Connection timed out) <0.2501>"
)
CUT_SHORT = "nanosleep({tv_sec=60, tv_nsec=0}, 0x7ffd) = -1 EINTR (Interrupted system call) <0.100000>"
FUTEX = "futex(0x5581, FUTEX_WAKE_PRIVATE, 1) = 0 <0.000010>"
CONNECT = 'connect(4, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("10.0.0.7")}, 16) = 0 <0.000100>'
READ = 'read(3</etc/conf>, "x"..., 4096) = 4096 <0.000020>'
PIPE = 'read(5<pipe:[77]>, "x"..., 4096) = 10 <0.000020>'


@pytest.fixture
def capture(tmp_path: Path) -> Write:
    """Write a capture of one process that makes these calls, 10 ms apart."""

    def written(name: str, calls: Iterable[str], wall_ms: int = 0) -> Path:
        lines = [START]
        lines += [f"100 17000000{10 + at * 0.01:09.6f} {call}" for at, call in enumerate(calls, start=1)]
        end = [f"100 17000000{10 + wall_ms / 1000:09.6f} exit_group(0) = ?"] if wall_ms else END
        file = tmp_path / f"{name}.strace"
        file.write_text("\n".join([*lines, *end, ""]), encoding="utf-8")
        return file

    return written


def measured(*files: Path) -> list[Measured]:
    return [Measured(read(file)) for file in files]


def judged(before: Iterable[Path], after: Iterable[Path]) -> Verdict:
    return verdict(measured(*after), Criteria(baseline=baseline_of(measured(*before)), baseline_path="base.json"))


def failed(before: Path, after: Path) -> set[str]:
    return {judgement.metric for judgement in judged([before], [after]).of(Outcome.FAILED)}


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        ([OPEN] * 20, [OPEN] * 20, set()),
        ([OPEN] * 20, [OPEN] * 25, set()),
        ([OPEN] * 20, [OPEN] * 26, {"opens", "calls[openat]", "calls"}),
        ([OPEN] * 200, [OPEN] * 209, set()),
        ([OPEN] * 200, [OPEN] * 212, {"opens", "calls[openat]", "calls"}),
        ([], [SYNC], {"fsyncs"}),
        ([], [CONNECT], {"hosts"}),
        ([], [SLEEP], {"deliberate_wait"}),
        ([SLEEP], [SLEEP.replace("300000000", "340000000")], set()),
        ([], [EXPIRED], {"deliberate_wait"}),
        ([], [CUT_SHORT], set()),
        ([], [FUTEX_EXPIRED] * 9, set()),
        ([], [MISS] * 6, {"calls[openat]", "calls[openat, ENOENT]", "calls", "failed", "lookups_missed"}),
        ([READ], [READ] * 2, {"bytes_read"}),
        ([], [FUTEX] * 50, set()),
        ([PIPE] * 10, [PIPE] * 50, {"bytes_read"}),
    ],
)
def test_counts_over_their_limit_fail_by_name(
    before: list[str], after: list[str], names: set[str], capture: Write
) -> None:
    found = failed(capture("before", before), capture("after", after))
    assert {name for name in found if not name.startswith("finding")} == names


@pytest.mark.parametrize(
    ("before", "cls", "unit", "expected"),
    [
        (3, Class.SMALL, "", 3),
        (10, Class.LARGE, "", 15),
        (1000, Class.LARGE, "", 1050),
        (100, Class.LARGE, "ns", 50_000_100),
        (1_000_000_000, Class.CLOCK, "ns", 1_250_000_000),
        (200_000_000, Class.CLOCK, "ns", 300_000_000),
    ],
)
def test_limit_is_a_share_and_an_amount(before: int, cls: Class, unit: str, expected: int) -> None:
    assert limit(before, cls, unit) == expected


def test_metric_that_varies_between_runs_is_unstable(capture: Write) -> None:
    before = [capture("one", [SYNC]), capture("two", [SYNC, SYNC])]
    [judgement] = [
        each for each in judged(before, [capture("three", [SYNC] * 9)]).judgements if each.metric == "fsyncs"
    ]
    assert judgement.outcome is Outcome.UNSTABLE
    assert "1 to 2" in judgement.why


@pytest.fixture
def threaded(tmp_path: Path) -> Write:
    """Write a capture of one process with a second thread, which makes these calls."""

    def written(name: str, calls: Iterable[str]) -> Path:
        begun = [START, "100 1700000010.001000 clone3({flags=CLONE_VM|CLONE_THREAD|CLONE_FILES}, 88) = 101 <0.0001>"]
        lines = [f"101 1700000010.{2000 + at:06} {call}" for at, call in enumerate(calls)]
        file = tmp_path / f"{name}.strace"
        file.write_text("\n".join([*begun, *lines, *END, ""]), encoding="utf-8")
        return file

    return written


@pytest.mark.parametrize(
    "call",
    [
        OPEN.replace("/etc/conf", "/proc/self/status"),
        OPEN.replace("/etc/conf", "/sys/devices/system/cpu/online"),
        SYNC,
        "futex(0x5581, FUTEX_WAKE_PRIVATE, 1) = 0 <0.000010>",
        'write(5<anon_inode:[eventfd]>, "x", 8) = 8 <0.000010>',
        "madvise(0x7f3394000000, 4096, MADV_DONTNEED) = 0 <0.000010>",
    ],
)
def test_calls_of_threads_that_depend_on_scheduling_warn(threaded: Write, call: str) -> None:
    found = judged([threaded("before", [call] * 20)], [threaded("after", [call] * 90)])
    assert found.status is Status.PASSED
    warned = {judgement.metric: judgement for judgement in found.of(Outcome.WARNED)}
    name = f"calls[{call.partition('(')[0]}]"
    assert {name, "calls"} <= set(warned)
    assert warned[name].cls is Class.SCHEDULE


@pytest.mark.parametrize("call", [OPEN, MISS, READ, 'newfstatat(AT_FDCWD, "/etc/conf", 0x7ffd, 0) = 0 <0.000020>'])
def test_more_work_of_threads_on_files_fails(threaded: Write, call: str) -> None:
    found = judged([threaded("before", [call] * 20)], [threaded("after", [call] * 90)])
    assert found.status is Status.FAILED
    assert {f"calls[{call.partition('(')[0]}]", "calls"} <= {each.metric for each in found.of(Outcome.FAILED)}
    assert judged([threaded("one", [call] * 20)], [threaded("same", [call] * 20)]).status is Status.PASSED


def test_program_with_new_threads_fails(capture: Write, tmp_path: Path) -> None:
    after = tmp_path / "after.strace"
    begun = "100 1700000010.001000 clone3({flags=CLONE_VM|CLONE_THREAD|CLONE_FILES}, 88) = 101 <0.0001>"
    after.write_text("\n".join([START, begun, f"101 1700000010.002 {OPEN}", *END, ""]), encoding="utf-8")
    assert "threads" in failed(capture("before", [OPEN]), after)


def test_clocks_need_four_runs_a_side_and_a_rank_test(capture: Write) -> None:
    fast = [capture(f"fast{at}", [OPEN], wall_ms=1000 + at) for at in range(4)]
    slow = [capture(f"slow{at}", [OPEN], wall_ms=2000 + at) for at in range(4)]
    mixed = [slow[0], slow[1], slow[2], fast[0]]

    def wall(before: list[Path], after: list[Path]) -> Outcome:
        return next(each.outcome for each in judged(before, after).judgements if each.metric == "wall.median")

    assert wall(fast, slow) is Outcome.FAILED
    assert wall(fast, slow[:3]) is Outcome.INCONCLUSIVE
    assert wall(fast[:3], slow) is Outcome.INCONCLUSIVE
    assert wall(fast, fast) is Outcome.PASSED
    assert wall(slow, fast) is Outcome.PASSED
    assert wall(fast, mixed) is Outcome.INCONCLUSIVE


def test_clocks_are_not_compared_on_a_slower_machine(capture: Write) -> None:
    slower = OPEN.replace("0.000020", "0.000090")
    close, slow_close = "close(3) = 0 <0.000005>", "close(3) = 0 <0.000050>"
    before = [capture(f"fast{at}", [OPEN, close], wall_ms=1000 + at) for at in range(4)]
    after = [capture(f"slow{at}", [slower, slow_close], wall_ms=5000 + at) for at in range(4)]
    found = judged(before, after)
    assert found.status is Status.PASSED
    [wall] = [each for each in found.judgements if each.metric == "wall.median"]
    assert wall.outcome is Outcome.REFUSED
    assert "10.0 times" in wall.why


@pytest.mark.parametrize(
    ("before", "after", "chance"),
    [
        # Of 70 ways to choose four of eight, one has the four highest ranks.
        ([1, 2, 3, 4], [5, 6, 7, 8], 1 / 70),
        ([5, 6, 7, 8], [1, 2, 3, 4], 1.0),
        ([1, 2, 3, 5], [4, 6, 7, 8], 2 / 70),
        ([1], [2], 0.5),
        ([7, 7, 7], [7, 7, 7], 1.0),
        # Ties: {2, 3} against {1, 2}; ranks 1, 2.5, 2.5, 4; two of six pairs have a sum of 6.5 or more.
        ([1, 2], [2, 3], 2 / 6),
    ],
)
def test_rank_test_counts_all_permutations(before: list[int], after: list[int], chance: float) -> None:
    assert chance_of_shift(before, after) == pytest.approx(chance)


@pytest.mark.parametrize(
    ("text", "value", "holds"),
    [
        ("processes <= 40", 40, True),
        ("processes<40", 40, False),
        ("calls[openat, ENOENT] <= 200", 201, False),
        ("deliberate_wait <= 200ms", 200_000_000, True),
        ("finding[fixed-sleep] == 0", 1, False),
        ("wall.median <= 3s", 3_000_000_001, False),
        ("bytes_read <= 4KiB", 4096, True),
        ("exclusive[my-tool.sh] < 1.5 s", 1_400_000_000, True),
        ('exclusive["two words"] < 1s', 1, True),
    ],
)
def test_budget_compares_a_metric_with_its_limit(text: str, value: int, holds: bool) -> None:
    assert budget_of(text).holds(value) is holds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("proceses <= 40", 'Did you mean "processes"?'),
        ("processes < = 40", "column 13"),
        ("processes", "column 10"),
        ("wall.median <= 3", "10ms or 1.5s"),
        ("wall.median <= 3 parsecs", "column 18"),
        ("processes <= 3s", "processes is a number"),
        ("processes <= 3.5", "a whole number"),
        ("calls[openat, ENOENT, sh] <= 1", "does not take 3 arguments"),
    ],
)
def test_wrong_budget_is_an_error_with_a_position(text: str, expected: str) -> None:
    with pytest.raises(WrongUsage, match=re.escape(expected)):
        budget_of(text)


@pytest.mark.parametrize(
    ("budget", "code", "expected"),
    [
        ("processes <= 5", 0, "ok      processes 5, limit 5"),
        ("processes <= 4", 1, "1. processes 5, limit 4"),
        ("calls[ioctl] <= 899", 1, "calls[ioctl] 900, limit 899"),
        ("calls[ioctl, ENOTSUP] <= 297", 0, "ok      calls[ioctl, ENOTSUP] 297"),
        ("finding[hot-loop] == 0", 1, "ssh-login.truss:199:"),
        ("execs[quota] <= 1", 0, "ok "),
        ("finding[hotloop] == 0", 2, 'Did you mean "hot-loop"?'),
        ("calls[ioclt] == 0", 2, 'Did you mean "ioctl"?'),
        ("calls[ioctl, ENOTSUPP] == 0", 2, 'Did you mean "ENOTSUP"?'),
        ("exclusive[qouta] <= 1s", 2, 'Did you mean "quota"?'),
        ("calls[io_uring_enter] == 0", 0, "ok "),
        ("proceses <= 1", 2, 'Did you mean "processes"?'),
    ],
)
def test_budgets_decide_the_exit_code(budget: str, code: int, expected: str, run: Run) -> None:
    done = run("check", SAMPLES / "ssh-login" / "ssh-login.truss", "--budget", budget)
    assert done.returncode == code
    assert expected in done.stdout + done.stderr


def test_budget_met_by_some_runs_only_is_unstable(capture: Write, run: Run) -> None:
    files = [capture("few", [OPEN] * 3), capture("many", [OPEN] * 9)]
    done = run("check", *files, "--budget", "opens <= 5")
    assert done.returncode == 0
    assert "the runs differ (3 to 9), 1 of 2 are within the limit: opens 6" in done.stdout
    assert "3 to 9" in done.stdout


def test_wall_of_several_runs_is_their_median(capture: Write, run: Run) -> None:
    files = [capture(f"run{wall}", [OPEN], wall_ms=wall) for wall in (1000, 1100, 9000)]
    assert run("check", *files, "--budget", "wall.median <= 1.2s").returncode == 0
    assert run("check", *files, "--budget", "wall.median <= 1.05s").returncode == 1


@pytest.fixture
def accepted(capture: Write, tmp_path: Path) -> tuple[Path, Path]:
    """A capture, and the baseline made of it."""
    good, file = capture("good", [OPEN, MISS]), tmp_path / "base.json"
    write_baseline(baseline_of(measured(good)), file)
    return good, file


def test_baseline_reads_back_as_written(accepted: tuple[Path, Path]) -> None:
    good, file = accepted
    assert read_baseline(file) == baseline_of(measured(good))
    document = json.loads(file.read_text(encoding="utf-8"))
    assert list(document) == sorted(document)
    assert list(document["metrics"]) == sorted(document["metrics"])
    assert document["schema"] == "tracealyze.baseline/1"
    assert document["metrics"]["opens"] == {"class": "A-large", "max": 1, "median": 1, "min": 1, "n": 1}
    assert document["captured"]["argv"] == "tool"


def with_metrics(**metrics: object) -> str:
    """The text of a baseline with these metrics."""
    return json.dumps({"schema": "tracealyze.baseline/1", "captured": {}, "runs": 1, "metrics": metrics})


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "no such baseline"),
        ("", "cannot be read as a baseline"),
        ("[]", "not a baseline of this version"),
        ('{"schema": "tracealyze.baseline/99"}', "not a baseline of this version"),
        ('{"schema": "tracealyze.baseline/1"}', "damaged"),
        ('{"schema": "tracealyze.baseline/1", "captured": {}, "runs": "x"}', '"runs" is of the wrong type'),
        ('{"schema": "tracealyze.baseline/1", "captured": {"argv": null}}', 'captured: "argv" is of the wrong type'),
        ('{"schema": "tracealyze.baseline/1", "captured": {"seen": [1]}}', 'captured: "seen" is of the wrong type'),
        (with_metrics(calls=None), "metrics, calls is of the wrong type"),
        (with_metrics(calls={"median": 1, "min": 1, "max": True, "n": 1}), '"max" is of the wrong type'),
        (with_metrics(calls={"median": 1, "min": 1, "n": 1}), '"max" is missing'),
        (with_metrics(exexs={}), 'Did you mean "execs"?'),
        ("[" * 100_000, "cannot be read as a baseline"),
    ],
)
def test_unreadable_baseline_has_its_own_verdict(
    content: str | None, expected: str, capture: Write, tmp_path: Path, run: Run
) -> None:
    file = tmp_path / "b.json"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    done = run("check", capture("good", [OPEN]), "--baseline", file, "--output", f"junit={tmp_path / 'r.xml'}")
    assert done.returncode == 2
    assert expected in done.stdout
    suite = ElementTree.parse(tmp_path / "r.xml").getroot()
    assert (suite.get("errors"), suite.get("failures")) == ("1", "0")


def test_check_without_baseline_or_budget_does_not_pass(capture: Write, tmp_path: Path, run: Run) -> None:
    done = run("check", capture("good", [OPEN]), cwd=tmp_path)
    assert done.returncode == 2
    advice = "tracealyze check CAPTURE… --accept -b tracealyze-baseline.json"
    assert advice in done.stdout
    assert done.stderr == ""
    assert advice in run("check", capture("good", [OPEN]), "--json", cwd=tmp_path).stderr
    assert run("check", capture("good", [OPEN]), "--fail-on", "never", cwd=tmp_path).returncode == 2


def test_failure_explains_the_difference(accepted: tuple[Path, Path], capture: Write, run: Run) -> None:
    worse = capture("worse", [OPEN, MISS] + [MISS] * 10)
    done = run("check", worse, "--baseline", accepted[1])
    assert done.returncode == 1
    for words in (
        "1. 10 more failed lookups in tool (lookups_missed 1 → 11, limit 6)",
        "tool openat(/etc/none) ENOENT  1 → 11\n         worse.strace:13\n",
        "also over the limit: calls 4 → 14",
        f"Inspect: tracealyze top-syscalls {worse} --program tool --by shape --sort calls",
        f"Intended? Accept it: tracealyze check {worse} -b {accepted[1]} --accept\n",
    ):
        assert words in done.stdout


def test_new_findings_fail_from_the_requested_severity(capture: Write, run: Run, tmp_path: Path) -> None:
    base = tmp_path / "base.json"
    good = capture("good", [OPEN])
    slept = capture("slept", [SLEEP.replace("0.300100", "2.000000")], wall_ms=3000)
    assert run("baseline", "create", good, "-o", base).returncode == 0
    done = run("check", slept, "--baseline", base, "--json")
    assert findings_of(done.stdout)["finding[fixed-sleep]"] == "failed"
    never = run("check", slept, "--baseline", base, "--json", "--fail-on", "never")
    assert "failed" not in findings_of(never.stdout).values()
    alone = run("check", slept, "--fail-on", "error", cwd=tmp_path)
    assert alone.returncode == 1
    assert "fixed-sleep" in alone.stdout
    assert run("check", slept, "--fail-on", "eror", cwd=tmp_path).returncode == 2


def findings_of(stdout: str) -> dict[str, str]:
    judgements = json.loads(stdout)["judgements"]
    return {each["metric"]: each["outcome"] for each in judgements if each["by"] == "finding"}


def test_filtered_capture_is_neither_worse_nor_better(capture: Write) -> None:
    """Fewer kinds of calls were wrongly reported as progress, and more of them as a regression."""
    memory = "mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7f00 <0.000010>"
    # The calls of every program at its start.
    starts = ["brk(NULL) = 0x5581 <0.000010>", "close(3) = 0 <0.000010>"]
    starts += ["mprotect(0x7f00, 4096, PROT_READ) = 0 <0.000010>", READ]
    whole, only_opens = capture("whole", [*starts, *[OPEN, memory] * 60]), capture("opens", [OPEN] * 110)
    lines = only_opens.read_text(encoding="utf-8").splitlines(keepends=True)
    only_opens.write_text("".join(line for line in lines if "exit_group" not in line), encoding="utf-8")
    for before, after, which in ((whole, only_opens, "this capture"), (only_opens, whole, "the baseline")):
        found = judged([before], [after])
        assert not found.of(Outcome.FAILED, Outcome.IMPROVED)
        assert any(f"only {which} is filtered" in note for note in found.notes)


def test_argument_cut_by_the_tracer_is_the_same_command(capture: Write) -> None:
    def running(name: str, word: str) -> Path:
        file = capture(name, [OPEN])
        file.write_text(file.read_text(encoding="utf-8").replace('["tool"]', f'["tool", {word}]'), encoding="utf-8")
        return file

    short, long, other = running("a", '"/srv/data/in"...'), running("b", '"/srv/data/input"'), running("c", '"/srv/x"')
    assert not any("the baseline ran" in note.lower() for note in judged([short], [long]).notes)
    assert any("the baseline ran" in note.lower() for note in judged([short], [other]).notes)


def test_absolute_sleeps_of_different_lengths_are_one_place(capture: Write) -> None:
    """The targets have different lengths, so the median over the runs of each was half of it or zero."""
    until = "clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, {{tv_sec=1856, tv_nsec=191570242}}, NULL) = 0 <{}>"
    slept = [capture(f"run{n}", [until.format(took)]) for n, took in enumerate(("0.200170", "0.203618", "0.200111"))]
    sleep = next(each for each in judged([capture("none", [])], slept).of(Outcome.FAILED))
    (place,) = sleep.explanation.differences if sleep.explanation else ()
    assert (sleep.metric, place.shape) == ("deliberate_wait", "clock_nanosleep() of about 200 ms")
    assert place.after == sleep.after


def test_places_that_differ_only_in_numbers_are_one(capture: Write) -> None:
    def opens(times: int) -> list[str]:
        return [OPEN.replace("conf", f"f{number}") for number in range(8)] * times

    failed = judged([capture("one", opens(1))], [capture("three", opens(3))]).of(Outcome.FAILED)
    explained = next(each.explanation for each in failed if each.metric == "calls[openat]")
    assert explained is not None
    assert [(each.shape, each.before, each.after) for each in explained.differences] == [("openat(/etc/fN)", 8, 24)]
    assert len(explained.lines) == 1


def test_known_finding_does_not_fail(capture: Write, run: Run, tmp_path: Path) -> None:
    base, slept = tmp_path / "base.json", capture("slept", [SLEEP] * 4)
    assert run("baseline", "create", slept, "-o", base).returncode == 0
    assert run("check", slept, "--baseline", base, "--fail-on", "info").returncode == 0


def test_baseline_captured_differently_warns_and_refuses_times(capture: Write, run: Run, tmp_path: Path) -> None:
    base = tmp_path / "base.json"
    assert run("baseline", "create", SAMPLES / "ssh-login" / "ssh-login.truss", "-o", base).returncode == 0
    done = run("check", capture("other", [OPEN] * 900 + [SYNC]), "--baseline", base)
    assert done.returncode == 2
    assert "the baseline is truss-solaris, this capture is strace" in done.stdout
    assert ": fsyncs 0 → 1" in " ".join(done.stdout.split())


def test_update_accepts_regressions_only_on_request(accepted: tuple[Path, Path], capture: Write, run: Run) -> None:
    _, base = accepted
    before = base.read_bytes()
    worse = capture("worse", [OPEN, MISS, SYNC])
    refused = run("baseline", "update", worse, "-b", base)
    assert refused.returncode == 1
    assert "fsyncs 0 → 1" in refused.stdout
    assert base.read_bytes() == before
    taken = run("baseline", "update", worse, "-b", base, "--accept-new")
    assert taken.returncode == 0
    assert "Newly accepted:\n  fsyncs 0 → 1" in taken.stdout
    assert run("check", worse, "-b", base).returncode == 0


def test_baseline_is_written_through_links_and_to_devices(capture: Write, run: Run, tmp_path: Path) -> None:
    """A link and a device were wrongly replaced by a regular file."""
    kept, link = tmp_path / "kept.json", tmp_path / "link.json"
    link.symlink_to(kept)
    assert run("baseline", "create", capture("good", [OPEN]), "-o", link).returncode == 0
    assert link.is_symlink()
    assert read_baseline(kept).runs == 1
    done = run("baseline", "create", capture("good", [OPEN]), "-o", "/dev/stdout")
    assert '"schema": "tracealyze.baseline/1"' in done.stdout
    full = run("baseline", "create", capture("good", [OPEN]), "-o", "/dev/full")
    assert (full.returncode, full.stdout) == (2, "")
    assert "/dev/full: cannot be written: No space left on device" in full.stderr


@pytest.mark.parametrize("verb", ["update", "prune"])
def test_closed_pipe_changes_neither_baseline_nor_exit_code(
    verb: str, accepted: tuple[Path, Path], capture: Write
) -> None:
    _, base = accepted
    before = base.read_bytes()
    other = capture("other", [OPEN, MISS, SYNC] if verb == "update" else [OPEN])
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "wb") as pipe:
        # Unbuffered: already the first line meets a closed pipe.
        command = [sys.executable, "-u", "-m", "tracealyze", "baseline", verb, str(other), "-b", str(base)]
        done = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE)
    assert done.returncode == (1 if verb == "update" else 0)
    assert (base.read_bytes() == before) == (verb == "update")


def test_update_reports_growth_within_the_limits(accepted: tuple[Path, Path], capture: Write, run: Run) -> None:
    _, base = accepted
    done = run("baseline", "update", capture("grown", [OPEN] * 4 + [MISS]), "-b", base)
    assert done.returncode == 0
    assert "Grown within the limits:\n" in done.stdout
    assert "  calls[openat, ENOENT] 1 → 1\n" not in done.stdout


def test_update_reports_a_different_program(accepted: tuple[Path, Path], capture: Write, run: Run) -> None:
    _, base = accepted
    other = capture("other", [OPEN])
    other.write_text(other.read_text(encoding="utf-8").replace('["tool"]', '["tool", "-x"]'), encoding="utf-8")
    done = run("baseline", "update", other, "-b", base)
    assert 'the baseline ran "tool", this capture ran "tool -x"' in done.stdout


def test_metrics_with_the_same_cause_are_explained_once(capture: Write, run: Run, tmp_path: Path) -> None:
    base = tmp_path / "base.json"
    run("baseline", "create", capture("few", [MISS] * 10), "-o", base)
    printed = run("check", capture("many", [MISS] * 40), "-b", base).stdout
    assert printed.count("tool openat(/etc/none) ENOENT  10 → 40\n") == 1
    assert "also over the limit: " in printed


def test_evidence_names_its_file_among_several(run: Run, tmp_path: Path) -> None:
    base = tmp_path / "base.json"
    for folder, calls in (("before", []), ("after", [MISS] * 9 + [SLEEP])):
        (tmp_path / folder).mkdir()
        parent = ["clone(child_stack=NULL, flags=SIGCHLD) = 101 <0.000100>", "exit_group(0) = ?"]
        for tid, own in ((100, [START[4:].split(" ", 1)[1], *parent]), (101, [*calls, "exit_group(0) = ?"])):
            stamped = [f"17000000{10 + at * 0.5 + tid % 100:09.6f} {call}" for at, call in enumerate(own)]
            (tmp_path / folder / f"t.{tid}").write_text("\n".join([*stamped, ""]), encoding="utf-8")
    assert run("baseline", "create", tmp_path / "before", "-o", base).returncode == 0
    printed = run("check", tmp_path / "after", "-b", base).stdout
    assert "t.101:1" in printed
    assert "t.101:10" in printed


def test_improvements_suggest_to_tighten_the_baseline(capture: Write, run: Run, tmp_path: Path) -> None:
    base = tmp_path / "base.json"
    run("baseline", "create", capture("many", [OPEN] * 40), "-o", base)
    few = capture("few", [OPEN] * 20)
    done = run("check", few, "--baseline", base)
    assert done.returncode == 0
    assert "improved by more than 20%" in done.stdout
    assert run("baseline", "update", few, "-b", base).returncode == 0
    assert "improved" not in run("check", few, "--baseline", base).stdout


def test_prune_removes_what_no_longer_occurs(capture: Write, run: Run, tmp_path: Path) -> None:
    base = tmp_path / "base.json"
    run("baseline", "create", capture("old", [OPEN] * 10 + [SLEEP] * 4), "-o", base)
    assert "fixed-sleep" in run("baseline", "show", base).stdout
    done = run("baseline", "prune", capture("new", [OPEN] * 10), "-b", base)
    assert done.returncode == 0
    assert "calls[clock_nanosleep]" in done.stdout
    document = json.loads(run("baseline", "show", base, "--json").stdout)
    assert "fixed-sleep" not in {known["name"] for known in document["findings"].values()}
    assert "calls[clock_nanosleep]" not in document["metrics"]
    assert document["metrics"]["calls[openat]"]["median"] == 10


@pytest.mark.parametrize(
    ("settings", "code", "expected"),
    [
        ('budgets = ["opens <= 1"]', 0, "ok      opens 1"),
        ('budgets = ["opens <= 0"]', 1, "1. opens 1"),
        ('budget = ["opens <= 0"]', 2, 'Did you mean "budgets"?'),
        ("budgets = 3", 2, "must be a list of strings"),
        ('fail-on = "eror"', 2, 'Did you mean "error"?'),
        ('baseline = "none.json"', 2, "none.json: no such baseline"),
        ('baseline = "none.json', 2, "cannot be read"),
        ('output = ["jsn"]', 2, '.toml, output jsn: there is no form "jsn"'),
        ('budgets = ["opens <= 9"]\noutput = ["json=a\\u0000b"]', 2, "cannot be written: embedded null byte"),
    ],
)
@pytest.mark.parametrize("file", ["pyproject.toml", "tracealyze.toml"])
def test_settings_are_read_from_the_project(
    file: str, settings: str, code: int, expected: str, capture: Write, run: Run, tmp_path: Path
) -> None:
    good = capture("good", [OPEN])
    (tmp_path / file).write_text(f"[tool.tracealyze.check]\n{settings}\n", encoding="utf-8")
    done = run("check", good, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert expected in done.stdout + done.stderr


def test_command_line_overrides_settings(capture: Write, run: Run, tmp_path: Path) -> None:
    good = capture("good", [OPEN])
    (tmp_path / "tracealyze.toml").write_text('[tool.tracealyze.check]\nbudgets = ["opens <= 0"]\n', encoding="utf-8")
    assert run("check", good, "--budget", "opens <= 1", cwd=tmp_path).returncode == 0


def test_metrics_lists_all_metrics(run: Run) -> None:
    shown = run("check", "--metrics").stdout
    assert all(metric.shown in shown and metric.sentence in shown for metric in METRICS)
    assert {row["metric"] for row in json.loads(run("check", "--metrics", "--json").stdout)} == {
        m.shown for m in METRICS
    }


def test_crash_is_not_a_failed_gate(capture: Write, run: Run, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import tracealyze.compare.gate.verdict as v\n"
        "def broken(*_): raise RuntimeError('broken')\n"
        "v.verdict = broken\n",
        encoding="utf-8",
    )
    done = run("check", capture("good", [OPEN]), "--fail-on", "info", PYTHONPATH=f"{tmp_path}:{ROOT}")
    assert done.returncode not in (0, 1)
    assert "bug in tracealyze" in done.stderr
    assert run("check", tmp_path / "nowhere", "--budget", "opens <= 1").returncode == 3
