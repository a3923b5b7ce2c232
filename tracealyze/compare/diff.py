"""Differences between captures: per process, call, target and class of time. Largest first.

Processes are matched by program and arguments, calls by program and shape, because ids and addresses differ between
any two runs. Several captures on one side are runs of one scenario; their median is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Any

from tracealyze.base import units
from tracealyze.base.data_packages import must_have
from tracealyze.base.errors import WrongUsage, did_you_mean
from tracealyze.base.heuristics import MIN_DIFF_NS, MIN_DIFF_SHARE
from tracealyze.base.program_names import short
from tracealyze.base.sanitize import shown
from tracealyze.compare import syscalls
from tracealyze.compare.causes import Cause, causes
from tracealyze.compare.name_patterns import Key, families, without_numbers
from tracealyze.compare.run import Run
from tracealyze.compare.work import Work
from tracealyze.model.html_tables import ROWS_SHOWN, element, in_notebook, table_element
from tracealyze.model.selection import Scope
from tracealyze.model.time_names import class_name, silence_after

if TYPE_CHECKING:
    import pandas

SCHEMA = "tracealyze.diff/1"


# What normalisation leaves of ids and addresses.
_NAMELESS = frozenset(("", "N", "0xN"))


class Status(StrEnum):
    """Whether a key occurs on both sides."""

    NEW = "new"
    VANISHED = "vanished"
    CHANGED = "changed"


@dataclass(frozen=True)
class Amounts:
    """Amounts of one key on one side."""

    number: int = 0
    """Number of processes; 0 where calls are counted."""
    calls: int = 0
    bytes: int = 0
    path_ns: int = 0

    def __bool__(self) -> bool:
        return bool(self.number or self.calls or self.bytes or self.path_ns)


@dataclass(frozen=True)
class Change:
    """One key with its amounts on both sides."""

    key: Key
    before: Amounts
    after: Amounts

    @property
    def status(self) -> Status:
        """Whether it is new, changed or vanished."""
        if not self.before:
            return Status.NEW
        return Status.CHANGED if self.after else Status.VANISHED

    @property
    def path_ns(self) -> int:
        """Change of path time, in ns."""
        return self.after.path_ns - self.before.path_ns

    @property
    def calls(self) -> int:
        """Change of the number of calls."""
        return self.after.calls - self.before.calls

    def matters(self, min_ns: int) -> bool:
        """Whether it differs by more than any two runs do."""
        same = (self.before.number, self.before.calls) == (self.after.number, self.after.calls)
        return not same or abs(self.path_ns) >= min_ns


@dataclass(frozen=True)
class View:
    """A grouping of the work, with its keys."""

    name: str
    keys: tuple[str, ...]
    amounts: Callable[[Run], Mapping[Key, Amounts]]


@dataclass(frozen=True, repr=False)
class Diff:
    """All changes, by view: classes, processes, calls and targets."""

    before: Sequence[Run]
    after: Sequence[Run]
    wall_ns: tuple[int, int] | None
    views: Mapping[str, Sequence[Change]]
    has_table_times: bool = False
    """Whether the times are those of tables that the tracers printed, which are not of a critical path."""

    def __repr__(self) -> str:
        return f"<Diff: {self._headline}>"

    def _repr_html_(self) -> str:
        rows = self._rows("calls")
        cells = (list(each.values()) for each in rows[:ROWS_SHOWN])
        kinds = {name: "ns" for name in (rows[0] if rows else ()) if name.endswith("_ns")}
        table = table_element(list(rows[0]) if rows else [], cells, len(rows), kinds)
        return in_notebook(element("p", self._headline, class_="verdict") + table)

    @property
    def _headline(self) -> str:
        paths = [", ".join(run.path for run in runs) for runs in (self.before, self.after)]
        walls = [f" ({units.duration(wall_ns)})" for wall_ns in self.wall_ns] if self.wall_ns else ["", ""]
        return " to ".join(f"{shown(path)}{wall}" for path, wall in zip(paths, walls, strict=True))

    def to_pandas(self, view: str = "calls") -> pandas.DataFrame:
        """One row per change: `classes`, `processes`, `calls` or `targets`. Raises `WrongUsage` for another view."""
        must_have("pandas")
        import pandas

        if view not in self.views:
            raise WrongUsage(f'there is no view "{view}" ({", ".join(self.views)}).{did_you_mean(view, self.views)}')
        return pandas.DataFrame(self._rows(view))

    def _rows(self, view: str) -> list[dict[str, Any]]:
        [found] = [each for each in VIEWS if each.name == view]
        return [row(found, change) for change in self.views[view]]

    @cached_property
    def causes(self) -> list[Cause]:
        """What explains the difference."""
        return causes(self.before, self.after)

    def document(self) -> dict[str, Any]:
        """The difference as it appears in JSON."""
        wall = dict(zip(("before", "after"), self.wall_ns, strict=True)) if self.wall_ns else None
        return {
            "schema": SCHEMA,
            "before": [run.path for run in self.before],
            "after": [run.path for run in self.after],
            "wall_ns": wall,
            "causes": [each.document() for each in self.causes],
        } | {view.name: [row(view, change) for change in self.views[view.name]] for view in VIEWS}


def row(view: View, change: Change) -> dict[str, Any]:
    """A change as a row, by the names of its columns."""
    numbers: dict[str, Any] = {"status": str(change.status)} | dict(zip(view.keys, change.key, strict=True))
    if view.name == "classes":
        numbers["class_name"] = class_name(change.key[0])
    for side, amounts in (("before", change.before), ("after", change.after)):
        if view.name == "processes":
            numbers[f"{side}_processes"] = amounts.number
        numbers |= {f"{side}_calls": amounts.calls, f"{side}_bytes": amounts.bytes, f"{side}_ns": amounts.path_ns}
    return numbers | {"change_calls": change.calls, "change_ns": change.path_ns}


def diff(before: Sequence[Run], after: Sequence[Run]) -> Diff:
    """The difference between two sets of runs."""
    walls = _wall(before), _wall(after)
    min_ns = max(MIN_DIFF_NS, int(max(wall or 0 for wall in walls) * MIN_DIFF_SHARE))
    timed = walls[0] is not None and walls[1] is not None
    return Diff(
        before=before,
        after=after,
        wall_ns=(walls[0] or 0, walls[1] or 0) if timed else None,
        views={view.name: _changes(view, before, after, min_ns) for view in VIEWS},
        has_table_times=all(_has_table_times(run) for run in (*before, *after)),
    )


def _has_table_times(run: Run) -> bool:
    return run.trace.is_summary_only and any(row["total_ns"] for row in run.trace.summary_rows)


def _wall(runs: Sequence[Run]) -> int | None:
    windows = [run.trace.window for run in runs]
    if any(window.reason is not None for window in windows):
        return None
    return round(median(window.wall_ns for window in windows))


def _changes(view: View, before: Sequence[Run], after: Sequence[Run], min_ns: int) -> list[Change]:
    each = [view.amounts(run) for run in (*before, *after)]
    family = families({key for amounts in each for key in amounts})
    grouped = [_sums((family[key], amount) for key, amount in amounts.items()) for amounts in each]
    then, now = _medians(grouped[: len(before)]), _medians(grouped[len(before) :])
    nothing = Amounts()
    changes = (Change(key, then.get(key, nothing), now.get(key, nothing)) for key in {**then, **now})
    significant = [change for change in changes if change.matters(min_ns)]
    # Changes within the noise of times are sorted by the change of calls.
    return sorted(significant, key=lambda each: (-_beyond(each.path_ns, min_ns), -abs(each.calls), each.key))


def _beyond(change_ns: int, min_ns: int) -> int:
    return abs(change_ns) if abs(change_ns) >= min_ns else 0


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
    return _sums([*_of_work(run), *_times_of_table(run), *_between_calls(run)])


def _of_work(run: Run) -> Iterator[tuple[Key, Amounts]]:
    for each in run.work:
        yield (each.program, each.shape), Amounts(0, each.calls, each.bytes, each.exclusive_ns)


def _times_of_table(run: Run) -> Iterator[tuple[Key, Amounts]]:
    """The sums of a tracer's table, whose counts are work."""
    for row in run.trace.summary_rows if run.trace.is_summary_only else ():
        yield ("", f"{row['syscall']}()"), Amounts(path_ns=row["total_ns"] or 0)


def _between_calls(run: Run) -> Iterator[tuple[Key, Amounts]]:
    """Path time outside of calls: user code, and silences of a log."""
    for row in run.trace.partition_by(["program", "class", "syscall"]):
        if row["syscall"] is None and row["class"] != "gap":
            yield (short(row["program"]), f"({row['class']})"), Amounts(path_ns=row["exclusive_ns"])
    for row in run.trace.partition_by(["target"], Scope({"class": ["gap"]})):
        yield (
            ("", without_numbers(silence_after(row["target"]))),
            Amounts(calls=row["calls"], path_ns=row["exclusive_ns"]),
        )


def _targets(run: Run) -> Mapping[Key, Amounts]:
    named = ((_target(each), each) for each in run.work)
    return _sums(
        ((target,), Amounts(0, each.calls, each.bytes, each.exclusive_ns))
        for target, each in named
        if target not in _NAMELESS
    )


def _target(work: Work) -> str:
    """The target after the sub-operation: `/dev/zfs` in `ioctl(ZFS_IOC_OBJSET_STATS, /dev/zfs)`."""
    return syscalls.target_of(work.syscall, work.shape).removeprefix(work.op or "").removeprefix(", ")


VIEWS = (
    View("classes", ("class",), _classes),
    View("processes", ("program", "argv"), _processes),
    View("calls", ("program", "shape"), _calls),
    View("targets", ("target",), _targets),
)
"""All views, in the order of reports."""
