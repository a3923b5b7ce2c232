"""What changed over time: calls that become slow or fast, and rates of calls, with what started then.

p99 of fsync   2 ms  2 ms  3 ms │ 480 ms  510 ms  470 ms │ 2 ms      "fsync of postgres takes 480 ms, …"
started                       logrotate
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import exp, log
from typing import TYPE_CHECKING, Literal, TypeAlias

from tracealyze import _engine
from tracealyze.base import units
from tracealyze.base.heuristics import (
    MIN_CALLS_OF_LEVEL,
    MIN_CHANGE_RATIO,
    MIN_INTERVALS_OF_CHANGE,
    MIN_NOISE_OF_LATENCY_LOG,
    MIN_NOISE_OF_RATE_LOG,
    MIN_RATE_CALLS,
    MIN_SHARE_OF_CHANGE,
)
from tracealyze.base.program_names import short
from tracealyze.base.sanitize import shown
from tracealyze.trace.change_points import Stretch, stretches
from tracealyze.trace.intervals import Group, groups_of

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.trace.intervals import Interval
    from tracealyze.trace.trace import Trace

Kind: TypeAlias = Literal["p50", "p99", "rate"]

_MAX_GROUPS = 40
_MAX_STARTED = 2


@dataclass
class Life:
    """From the first birth of a process of a program to the last death; None if one lives on."""

    first_ns: int
    last_ns: int | None

    def has_all_of(self, interval: Interval) -> bool:
        """Whether it lasts for a whole interval."""
        return self.first_ns <= interval.start_ns and (self.last_ns is None or self.last_ns >= interval.end_ns)


@dataclass(frozen=True)
class Change:
    """A level that differs from the one before, from interval `first` to interval `last`."""

    kind: Kind
    program: str | None
    syscall: str | None
    """None for all calls of a program."""
    first: int
    last: int
    lasts: bool
    """Whether it goes on until the end."""
    before: float
    """ns, or calls per second."""
    after: float
    path_share: float
    """Share of the critical path that the calls have in these intervals."""
    path_ns: int
    """The same in ns."""
    started: tuple[str, ...] = ()
    """Programs that ran for the first time when it began."""

    def document(self, found: Sequence[Interval]) -> dict[str, object]:
        """As JSON."""
        return {
            "kind": self.kind,
            "program": self.program,
            "syscall": self.syscall,
            "start_ns": found[self.first].start_ns,
            "end_ns": found[self.last].end_ns,
            "lasts": self.lasts,
            "before": round(self.before, 3),
            "after": round(self.after, 3),
            "path_share": round(self.path_share, 6),
            "path_ns": self.path_ns,
            "started": list(self.started),
        }

    def text(self, when: Callable[[int], str], starts: Sequence[int], ends: Sequence[int], tick_ns: int) -> str:
        """The change in a sentence. `when` shows a moment of the capture's clock."""
        since = f"From {when(starts[self.first])}"
        until = " on" if self.lasts else f" to {when(ends[self.last])}"
        of = f" of {shown(self.program)}" if self.program else ""
        if self.kind == "rate":
            what = f"calls{of}: {_rate(self.after)} per second, {_rate(self.before)} before"
        else:
            after, before = (units.duration(round(each), tick_ns) for each in (self.after, self.before))
            quantile = "median" if self.kind == "p50" else "99th percentile"
            share = f", {units.share(self.path_share)} of the critical path" if self.path_share else ""
            what = f"{shown(self.syscall or 'call')}{of} takes {after}, {before} before ({quantile}){share}"
        started = f" {_list(self.started)} started then." if self.started else ""
        return f"{since}{until}: {what}.{started}"


def changes(trace: Trace, found: Sequence[Interval]) -> list[Change]:
    """The changes of the intervals of a trace, those that cost most on the critical path first."""
    if len(found) < MIN_INTERVALS_OF_CHANGE:
        return []
    lives = _lives(trace)
    calls, path_ns = _calls_by_group(found), _path_by_group(found)
    latencies = [
        change
        for group in islice(groups_of(found), _MAX_GROUPS)
        for change in _latencies(found, group, calls[group], path_ns.get(group, {}))
    ]
    # Slow calls make a program make fewer of them: that is no change of its own.
    rates = [
        change
        for program in _programs(found)
        for change in _rates(found, program, lives.get(program or ""))
        if not any(other.program == program and _overlap(change, other) for other in latencies)
    ]
    latencies.sort(key=lambda change: (change.after < change.before, -change.path_ns, change.first))
    rates.sort(key=lambda change: (change.first, change.program or ""))
    return [replace(change, started=_started(change, found, lives)) for change in (*latencies, *rates)]


def _calls_by_group(found: Sequence[Interval]) -> dict[Group, dict[int, Row]]:
    """The calls of each group by interval."""
    rows: dict[Group, dict[int, Row]] = {}
    for interval in found:
        for row in interval.calls:
            rows.setdefault((row["program"], row["syscall"]), {})[interval.number] = row
    return rows


def _path_by_group(found: Sequence[Interval]) -> dict[Group, dict[int, int]]:
    """The time on the critical path of each group by interval."""
    sums: dict[Group, dict[int, int]] = {}
    for interval in found:
        for group, ns in interval.path_of_calls.items():
            sums.setdefault(group, {})[interval.number] = ns
    return sums


def _latencies(
    found: Sequence[Interval], group: Group, rows: Mapping[int, Row], path_ns: Mapping[int, int]
) -> list[Change]:
    """Changes of the duration of a kind of call: of its median, else of its 99th percentile."""
    program, syscall = group
    if syscall is None or waits_by_itself(syscall):
        return []
    told: list[Change] = []
    for kind in ("p50", "p99"):
        known = [at for at, row in rows.items() if row[f"{kind}_ns"] and row["calls"] >= MIN_CALLS_OF_LEVEL]
        values = [log(rows[at][f"{kind}_ns"]) for at in known]
        for before, now, lasts in _steps(stretches(values, MIN_NOISE_OF_LATENCY_LOG)):
            first, last = known[now.first], known[now.last]
            on_path_ns = sum(path_ns.get(at, 0) for at in range(first, last + 1))
            share = on_path_ns / max(sum(each.dur_ns for each in found[first : last + 1]), 1)
            levels = exp(before.level), exp(now.level)
            change = Change(kind, program, syscall, first, last, lasts, *levels, share, on_path_ns)
            if share >= MIN_SHARE_OF_CHANGE and not any(_overlap(change, other) for other in told):
                told.append(change)
    return told


def waits_by_itself(syscall: str) -> bool:
    """Whether a call waits for a time or for an event of its own choice: how long says nothing about its cost."""
    known = _engine.SYSCALLS.get(syscall)
    return known is not None and "scheduled" in known.families


def _rates(found: Sequence[Interval], program: str | None, life: Life | None) -> list[Change]:
    """Changes of the number of calls, or messages, of a program per second, while it runs."""
    # A shorter interval at the end has another noise, as has one in which the program starts or ends.
    whole = [each for each in found if each.dur_ns == found[0].dur_ns and (life is None or life.has_all_of(each))]
    counts = [sum(row["calls"] for row in each.calls if row["program"] == program) for each in whole]
    values = [log(count + 1) for count in counts]
    told = []
    for before, now, lasts in _steps(stretches(values, MIN_NOISE_OF_RATE_LOG)):
        levels = exp(before.level) - 1, exp(now.level) - 1
        if max(levels) >= MIN_RATE_CALLS:
            before_rate, after_rate = (level * units.S / found[0].dur_ns for level in levels)
            first, last = whole[now.first].number, whole[now.last].number
            told.append(Change("rate", program, None, first, last, lasts, before_rate, after_rate, 0.0, 0))
    return told


def _steps(found: Sequence[Stretch]) -> Iterable[tuple[Stretch, Stretch, bool]]:
    """Stretches that differ enough from the one before, unless they return to the level before that; and whether they
    are the last."""
    for at in range(1, len(found)):
        before, now = found[at - 1], found[at]
        if before.last == 0 or now.first == found[-1].last:
            # A single interval at the start or the end is a start or an end.
            continue
        returns = at > 1 and not _differs(found[at - 2], now) and _differs(found[at - 2], before)
        if _differs(before, now) and not returns:
            yield before, now, at == len(found) - 1


def _differs(one: Stretch, other: Stretch) -> bool:
    return abs(one.level - other.level) >= log(MIN_CHANGE_RATIO)


def _overlap(one: Change, other: Change) -> bool:
    return one.first <= other.last and other.first <= one.last


def _programs(found: Sequence[Interval]) -> list[str | None]:
    return list(dict.fromkeys(row["program"] for each in found for row in each.calls))[:_MAX_GROUPS]


def _lives(trace: Trace) -> dict[str, Life]:
    """When processes of each program ran."""
    found: dict[str, Life] = {}
    for row in trace.processes:
        name, birth_ns = short(row["program"]), row["birth_ns"]
        if name and birth_ns is not None:
            life = found.setdefault(name, Life(birth_ns, 0))
            death_ns = row["death_ns"]
            life.first_ns = min(life.first_ns, birth_ns)
            life.last_ns = None if death_ns is None or life.last_ns is None else max(life.last_ns, death_ns)
    return found


def _started(change: Change, found: Sequence[Interval], lives: Mapping[str, Life]) -> tuple[str, ...]:
    """Programs that ran for the first time in the interval of a change, or in the one before."""
    since_ns = found[max(change.first - 1, 0)].start_ns
    until_ns = found[change.first].end_ns
    starts = {name: life.first_ns for name, life in lives.items() if name != change.program}
    names = [name for name, ns in starts.items() if since_ns <= ns < until_ns]
    return tuple(sorted(names, key=starts.__getitem__)[:_MAX_STARTED]) if change.first else ()


def _rate(per_second: float) -> str:
    return units.count(round(per_second)) if per_second >= 1 or not per_second else f"{per_second:.2g}"


def _list(names: Sequence[str]) -> str:
    return " and ".join(shown(name) for name in names)
