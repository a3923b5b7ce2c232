"""Claims that hold for any valid run, on random ones: `make invariants` checks 5,000 of them.

TRACEALYZE_RUNS and TRACEALYZE_SEED set how many runs there are, and the first seed. A failure names the seed, and
`python tests/random_runs.py SEED` prints that run."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import random_runs
from conftest import Run
from random_runs import Printed, Record

import tracealyze
from tracealyze import Trace, _engine
from tracealyze.capture.redaction import verify
from tracealyze.compare.gate.baseline import baseline_of
from tracealyze.compare.gate.verdict import Criteria, verdict
from tracealyze.compare.run import Run as Measured
from tracealyze.findings.finding import FindingList, Severity

RUNS = int(os.environ.get("TRACEALYZE_RUNS", "300"))
FIRST = int(os.environ.get("TRACEALYZE_SEED", "0"))
BATCH = 25
MAX_SHARE = 1.0 + 1e-9

Place = tuple[object, ...]


class RandomRun:
    """A run, read in the usual way, and in others on request."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.seed = seed
        self.folder = folder
        self.records: list[Record] = random_runs.records_of(seed)
        self.text = Printed().one_file(self.records)
        self.chance = random.Random(seed)

    @cached_property
    def trace(self) -> Trace:
        return tracealyze.read(self.text.encode())

    @cached_property
    def file(self) -> Path:
        file = self.folder / f"{self.seed}.strace"
        file.write_text(self.text, encoding="utf-8")
        return file

    def printed(self, **how: Any) -> Trace:
        """The same run, printed in another way."""
        return tracealyze.read(Printed(**how).one_file(self.records).encode())

    @property
    def processes(self) -> set[int]:
        return {record.task for record in self.records}


def places(trace: Trace, first_id: int = Printed.first_id, step: int = Printed.step) -> Counter[Place]:
    """What the partition charges, by place, with tasks instead of ids."""

    def task(pid: object) -> object:
        return (pid - first_id) // step if isinstance(pid, int) else pid

    rows: Counter[Place] = Counter()
    for row in trace.partition:
        target = row["target"]
        # Where there is only one, the id is printed.
        if row["syscall"] in ("wait4", "kill") and target and target.isdigit():
            target = task(int(target))
        rows[task(row["pid"]), row["program"], row["syscall"], row["op"], target] += row["exclusive_ns"]
    return rows


def findings(trace: Trace) -> list[Place]:
    return sorted((each.name, each.severity, each.calls, each.impact_ns, each.lines) for each in trace.findings)


def without_lines(trace: Trace) -> list[Place]:
    return sorted(found[:-1] for found in findings(trace))


def accusations(trace: Trace) -> FindingList:
    """Findings that ask for a change."""
    return FindingList(each for each in trace.findings if each.severity != Severity.INFO)


def numbers(value: object) -> Iterator[tuple[str, float]]:
    """All named numbers in a document."""
    pending = [("", value)]
    while pending:
        name, item = pending.pop()
        if isinstance(item, dict):
            pending += list(item.items())
        elif isinstance(item, list):
            pending += [(name, each) for each in item]
        elif isinstance(item, int | float) and not isinstance(item, bool):
            yield name, item


def partition_is_the_window(run: RandomRun) -> None:
    assert sum(places(run.trace).values()) == run.trace.window.wall_ns


def path_is_the_window(run: RandomRun) -> None:
    segments = list(run.trace.critical_path)
    assert sum(row["dur_ns"] for row in segments) == run.trace.window.wall_ns


def nothing_is_negative_and_shares_are_up_to_one(run: RandomRun) -> None:
    document = run.trace.summary().document(full=True)
    json.loads(json.dumps(document, allow_nan=False))
    for name, number in numbers(document):
        assert number >= 0 or not name.endswith(("_ns", "share", "calls")), (name, number)
        assert number <= MAX_SHARE or not name.endswith("share"), (name, number)
    for table in (run.trace.processes, run.trace.tasks, run.trace.gaps, run.trace.loops):
        for name, number in numbers(list(table)):
            assert number >= 0 or not name.endswith("_ns"), (name, number)


def savings_are_within_the_window(run: RandomRun) -> None:
    for each in run.trace.findings:
        if each.impact_ns is not None:
            assert 0 <= each.impact_ns[0] <= each.impact_ns[1] <= run.trace.window.wall_ns, each
    saved = sum(each.impact_ns[1] for each in run.trace.findings if each.impact_ns and not each.also)
    assert saved <= run.trace.window.wall_ns


def each_line_is_accounted_for(run: RandomRun) -> None:
    assert sum(run.trace.accounting.values()) == run.text.count("\n")
    calls = [each for each in run.records if not each.before.startswith(("---", "+++"))]
    assert run.trace.totals["calls"] == len(calls)
    assert run.trace.totals["threads"] == len(run.processes)


def all_ways_of_reading_agree(run: RandomRun) -> None:
    expected = places(run.trace), findings(run.trace)
    data = run.text.encode()
    # Each run is read in one other way: together, the runs have all of them.
    source = (gzip.compress(data), run.file, io.BytesIO(data), lzma.compress(data))[run.seed % 4]
    trace = tracealyze.read(source)
    assert (places(trace), findings(trace)) == expected


def another_time_changes_nothing(run: RandomRun) -> None:
    later = run.printed(later=10**6 * random_runs.S)
    assert (places(later), findings(later)) == (places(run.trace), findings(run.trace))


def other_ids_change_nothing(run: RandomRun) -> None:
    expected = places(run.trace), findings(run.trace)
    first_id, step = ((2, 1), (95, 1), (3_000_000, 7))[run.seed % 3]
    other = run.printed(first_id=first_id, step=step)
    assert (places(other, first_id, step), findings(other)) == expected, first_id


def files_per_task_change_nothing(run: RandomRun) -> None:
    if len(run.processes) == 1:
        # A file alone has no order to infer, and its name is not known to be an id.
        return
    folder = run.folder / f"{run.seed}.ff"
    folder.mkdir()
    for task, text in Printed().per_task(run.records).items():
        (folder / f"run.{task}").write_text(text, encoding="utf-8")
    trace = tracealyze.read(folder)
    assert places(trace) == places(run.trace)
    assert without_lines(trace) == without_lines(run.trace)


def its_own_baseline_passes(run: RandomRun) -> None:
    measured = [Measured(run.trace)]
    found = verdict(measured, Criteria(baseline=baseline_of(measured), baseline_path="baseline"))
    assert found.has_passed, found


def nothing_changes_against_itself(run: RandomRun) -> None:
    document = tracealyze.diff(run.trace, run.trace).document()
    assert [document[view] for view in ("classes", "processes", "calls", "targets")] == [[], [], [], []]


def redaction_changes_nothing(run: RandomRun) -> None:
    made = run.folder / f"{run.seed}.redacted"
    redactor = _engine.Redactor(bytes(range(16)))
    with made.open("wb") as stream:
        redactor.copy(str(run.file), lambda text, _: stream.write(text))
    trace = tracealyze.read(made)
    assert findings(trace) == findings(run.trace)

    def named(rows: Counter[Place]) -> list[Place]:
        return sorted(((row[0], *row[2:4], cost) for row, cost in rows.items()), key=str)

    assert named(places(trace)) == named(places(run.trace))
    assert verify(str(run.file), str(made))[1] == 0


def any_cut_is_readable(run: RandomRun) -> None:
    data = run.text.encode()
    for _ in range(2):
        start = run.chance.randrange(len(data) // 2)
        first = data.index(b"\n", start) + 1 if run.chance.random() < 0.5 else 0
        # At least one line is whole.
        part = data[first : run.chance.randrange(data.index(b"\n", first) + 1, len(data) + 1)]
        trace = tracealyze.read(io.BytesIO(part))
        assert sum(places(trace).values()) == trace.window.wall_ns
        assert sum(trace.accounting.values()) == len(part.splitlines())
        assert all(each.share is None or each.share <= MAX_SHARE for each in trace.findings)


def without_durations_nobody_else_is_accused(run: RandomRun) -> None:
    blind = run.printed(durations=False)
    assert sum(places(blind).values()) == blind.window.wall_ns
    known = {name for each in accusations(run.trace) for name in (each.name, *each.also)}
    assert {each.name for each in accusations(blind)} <= known


CLAIMS: tuple[Callable[[RandomRun], None], ...] = (
    partition_is_the_window,
    path_is_the_window,
    nothing_is_negative_and_shares_are_up_to_one,
    savings_are_within_the_window,
    each_line_is_accounted_for,
    all_ways_of_reading_agree,
    another_time_changes_nothing,
    other_ids_change_nothing,
    files_per_task_change_nothing,
    its_own_baseline_passes,
    nothing_changes_against_itself,
    redaction_changes_nothing,
    any_cut_is_readable,
    without_durations_nobody_else_is_accused,
)


@pytest.mark.parametrize("first", range(FIRST, FIRST + RUNS, BATCH))
def test_claims_hold_for_random_runs(first: int, tmp_path: Path) -> None:
    broken: dict[str, list[int]] = {}
    example = ""
    for seed in range(first, min(first + BATCH, FIRST + RUNS)):
        run = RandomRun(seed, tmp_path)
        for claim in CLAIMS:
            try:
                claim(run)
            except AssertionError as error:
                broken.setdefault(claim.__name__, []).append(seed)
                example = example or f"{claim.__name__}, seed {seed}: {str(error)[:2000]}"
    assert not broken, example


@pytest.mark.parametrize("seed", range(FIRST, FIRST + 2))
def test_standard_input_gives_the_same_report(seed: int, tmp_path: Path, run: Run) -> None:
    file = RandomRun(seed, tmp_path).file
    reports = [
        json.loads(run("summarize", "--json", source, stdin=text).stdout)
        for source, text in (("-", file.read_text(encoding="utf-8")), (file, None))
    ]
    for report in reports:
        del report["captures"]
    assert reports[0] == reports[1]
