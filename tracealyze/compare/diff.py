"""What changed from some captures to others: per process, call, target and class of time. Largest first.

Processes are matched by program and arguments, calls by program and shape, for ids and addresses differ in any two
runs. Several captures of a side are runs of one scenario, of which the median is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import Any

from tracealyze.compare import syscalls
from tracealyze.compare.metrics import Run, Work
from tracealyze.compare.name_patterns import Key, families, without_numbers
from tracealyze.program_names import short
from tracealyze.selection import Scope
from tracealyze.units import MS

SCHEMA = "tracealyze.diff/1"

# A change of time alone matters from this share of the longer window on; below it is what any two runs differ by.
_LEAST_SHARE = 0.01
_LEAST_NS = MS

# Ids and addresses, of which a normalised target has nothing left.
_NAMELESS = frozenset(("", "N", "0xN"))


class Status(StrEnum):
    """Whether something is on both sides."""

    NEW = "new"
    VANISHED = "vanished"
    CHANGED = "changed"


@dataclass(frozen=True)
class Amounts:
    """What there is of one thing on one side."""

    number: int = 0
    """Processes; 0 where calls are counted."""
    calls: int = 0
    bytes: int = 0
    path_ns: int = 0

    def __bool__(self) -> bool:
        return bool(self.number or self.calls or self.bytes or self.path_ns)


@dataclass(frozen=True)
class Change:
    """One thing on both sides."""

    key: Key
    before: Amounts
    after: Amounts

    @property
    def status(self) -> Status:
        """Whether it is new, or gone."""
        if not self.before:
            return Status.NEW
        return Status.CHANGED if self.after else Status.VANISHED

    @property
    def path_ns(self) -> int:
        """How much longer it takes on the path."""
        return self.after.path_ns - self.before.path_ns

    @property
    def calls(self) -> int:
        """How many calls more there are."""
        return self.after.calls - self.before.calls

    def matters(self, least_ns: int) -> bool:
        """Whether it differs by more than what any two runs differ by."""
        same = (self.before.number, self.before.calls) == (self.after.number, self.after.calls)
        return not same or abs(self.path_ns) >= least_ns


@dataclass(frozen=True)
class View:
    """One way to tell apart what was done."""

    name: str
    keys: tuple[str, ...]
    amounts: Callable[[Run], Mapping[Key, Amounts]]


@dataclass(frozen=True)
class Diff:
    """All that changed."""

    before: Sequence[Run]
    after: Sequence[Run]
    wall_ns: tuple[int, int] | None
    views: Mapping[str, Sequence[Change]]

    def document(self) -> dict[str, Any]:
        """As it stands in JSON."""
        wall = dict(zip(("before", "after"), self.wall_ns, strict=True)) if self.wall_ns else None
        return {
            "schema": SCHEMA,
            "before": [run.path for run in self.before],
            "after": [run.path for run in self.after],
            "wall_ns": wall,
        } | {view.name: [row(view, change) for change in self.views[view.name]] for view in VIEWS}


def row(view: View, change: Change) -> dict[str, Any]:
    """A change under the names of its columns."""
    numbers: dict[str, Any] = {"status": str(change.status)} | dict(zip(view.keys, change.key, strict=True))
    for side, amounts in (("before", change.before), ("after", change.after)):
        if view.name == "processes":
            numbers[f"{side}_processes"] = amounts.number
        numbers |= {f"{side}_calls": amounts.calls, f"{side}_bytes": amounts.bytes, f"{side}_ns": amounts.path_ns}
    return numbers | {"change_calls": change.calls, "change_ns": change.path_ns}


def diff(before: Sequence[Run], after: Sequence[Run]) -> Diff:
    """What changed from these captures to those."""
    walls = _wall(before), _wall(after)
    least_ns = max(_LEAST_NS, int(max(wall or 0 for wall in walls) * _LEAST_SHARE))
    timed = walls[0] is not None and walls[1] is not None
    return Diff(
        before=before,
        after=after,
        wall_ns=(walls[0] or 0, walls[1] or 0) if timed else None,
        views={view.name: _changes(view, before, after, least_ns) for view in VIEWS},
    )


def _wall(runs: Sequence[Run]) -> int | None:
    windows = [run.trace.window for run in runs]
    if any(window.reason is not None for window in windows):
        return None
    return round(median(window.wall_ns for window in windows))


def _changes(view: View, before: Sequence[Run], after: Sequence[Run], least_ns: int) -> list[Change]:
    each = [view.amounts(run) for run in (*before, *after)]
    family = families({key for amounts in each for key in amounts})
    told = [_sums((family[key], amount) for key, amount in amounts.items()) for amounts in each]
    then, now = _medians(told[: len(before)]), _medians(told[len(before) :])
    nothing = Amounts()
    changes = (Change(key, then.get(key, nothing), now.get(key, nothing)) for key in {**then, **now})
    kept = [change for change in changes if change.matters(least_ns)]
    # What is within the noise of times is put in order by how much more or less is done.
    return sorted(kept, key=lambda each: (-_beyond(each.path_ns, least_ns), -abs(each.calls), each.key))


def _beyond(change_ns: int, least_ns: int) -> int:
    return abs(change_ns) if abs(change_ns) >= least_ns else 0


def _medians(runs: Sequence[Mapping[Key, Amounts]]) -> Mapping[Key, Amounts]:
    if len(runs) == 1:
        return runs[0]
    nothing = Amounts()
    found = {}
    for key in {key for run in runs for key in run}:
        here = [run.get(key, nothing) for run in runs]
        each = zip(*((part.number, part.calls, part.bytes, part.path_ns) for part in here), strict=True)
        found[key] = Amounts(*(round(median(numbers)) for numbers in each))
    return found


def _sums(parts: Iterable[tuple[Key, Amounts]]) -> dict[Key, Amounts]:
    found: dict[Key, Amounts] = {}
    for key, mine in parts:
        known = found.get(key)
        found[key] = (
            mine
            if known is None
            else Amounts(
                known.number + mine.number,
                known.calls + mine.calls,
                known.bytes + mine.bytes,
                known.path_ns + mine.path_ns,
            )
        )
    return found


def _classes(run: Run) -> Mapping[Key, Amounts]:
    rows = run.trace.partition_by(["class"])
    return _sums(((row["class"],), Amounts(calls=row["calls"], path_ns=row["exclusive_ns"])) for row in rows)


def _processes(run: Run) -> Mapping[Key, Amounts]:
    return _sums(
        (
            (short(row["program"]), row["argv"] or ""),
            Amounts(1, row["calls"], 0, row["exclusive_ns"] or 0),
        )
        for row in run.trace.processes
    )


def _calls(run: Run) -> Mapping[Key, Amounts]:
    return _sums([*_of_work(run), *_between_calls(run)])


def _of_work(run: Run) -> Iterator[tuple[Key, Amounts]]:
    for each in run.work:
        yield (short(each.program), each.shape), Amounts(0, each.calls, each.bytes, each.exclusive_ns)


def _between_calls(run: Run) -> Iterator[tuple[Key, Amounts]]:
    """Time on the path that no call stands for: that of programs themselves, and of silences of a log."""
    for row in run.trace.partition_by(["program", "class", "syscall"]):
        if row["syscall"] is None and row["class"] != "gap":
            yield (short(row["program"]), f"({row['class']})"), Amounts(path_ns=row["exclusive_ns"])
    for row in run.trace.partition_by(["target"], Scope({"class": ["gap"]})):
        message = without_numbers(row["target"] or "")
        yield ("", f'silence after "{message}"'), Amounts(calls=row["calls"], path_ns=row["exclusive_ns"])


def _targets(run: Run) -> Mapping[Key, Amounts]:
    named = ((_target(each), each) for each in run.work)
    return _sums(
        ((target,), Amounts(0, each.calls, each.bytes, each.exclusive_ns))
        for target, each in named
        if target not in _NAMELESS
    )


def _target(work: Work) -> str:
    """What stands behind the sub-operation: `/dev/zfs` of `ioctl(ZFS_IOC_OBJSET_STATS, /dev/zfs)`."""
    return syscalls.target_of(work.syscall, work.shape).removeprefix(work.op or "").removeprefix(", ")


VIEWS = (
    View("classes", ("class",), _classes),
    View("processes", ("program", "argv"), _processes),
    View("calls", ("program", "shape"), _calls),
    View("targets", ("target",), _targets),
)
"""The ways to look at a difference, in the order in which they are shown."""
