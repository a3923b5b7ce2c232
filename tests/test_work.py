"""The work of a capture: bounded however many shapes there are, with the same sums."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import tracealyze
from tracealyze.compare import syscalls, work
from tracealyze.compare.run import Run
from tracealyze.compare.work import Work

FOLDER = Path(__file__).parent.parent
CAPTURES = [
    "samples/ssh-login/ssh-login.truss",
    "samples/jail-start/before.strace.xz",
    "samples/shutdown/before.strace.xz",
    "tests/kept_rules/missing-file-storm/found-1.strace.xz",
    "tests/kept_rules/thread-churn/found-1.strace.xz",
    "tests/kept_rules/futex-convoy/found-1.strace.xz",
]


def _sums(rows: list[Work]) -> Counter[tuple[str, str, str | None, str | None, str]]:
    sums: Counter[tuple[str, str, str | None, str | None, str]] = Counter()
    for row in rows:
        sums[row.program, row.syscall, row.op, row.errno, row.outcome] += row.calls
    return sums


@pytest.mark.parametrize("capture", CAPTURES)
def test_metrics_are_the_same_when_few_shapes_are_listed(capture: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Run(tracealyze.read(FOLDER / capture))
    assert len(whole.work) > 4
    monkeypatch.setattr(work, "MAX_SHAPES", 4)
    few = Run(tracealyze.read(FOLDER / capture))
    assert few.values == whole.values
    assert _sums(few.work) == _sums(whole.work)
    # The largest by calls and by bytes, all programs started, and the others.
    kinds_of_targets = 3
    starts = sum(row.syscall in syscalls.EXECS for row in whole.work)
    assert len(few.work) <= 4 + starts + kinds_of_targets * len(_sums(whole.work))
    assert any(work.OTHER_TARGETS in row.shape for row in few.work)


def test_other_targets_are_one_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "MAX_SHAPES", 2)
    names = "abcdefgh"
    lines = [
        f'1 1700000000.00000{at} openat(AT_FDCWD, "/{name}", O_RDONLY) = 3 <0.000001>\n'
        for at, name in enumerate(names)
    ]
    (tmp_path / "a.strace").write_text("".join(lines))
    rows = work.work_of(tracealyze.read(tmp_path / "a.strace"))
    assert [(row.shape, row.calls) for row in rows] == [("openat(/a)", 1), ("openat(other targets)", 7)]
