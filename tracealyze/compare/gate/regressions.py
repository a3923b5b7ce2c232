"""Regressions: failed metrics grouped by their cause.

Metrics are sums over places, and each place that grew has exactly one cause:

    6 more processes     their own calls, and what their parents do to start them
    450 ms more sleep    sleeps and expired timeouts
    more work of cat     all other calls of a program

Places of several runs are medians, and medians do not add up: the rest is work that differs from run to run. The shares
of the causes and the rest sum to the growth of a metric. A metric belongs to the cause with the largest share, and a
new finding to the cause of the calls that it is about.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, TypeAlias

from tracealyze.base import suggested, units
from tracealyze.base.program_names import short
from tracealyze.compare import syscalls
from tracealyze.compare.gate import call_sites, commands, explain, scripts
from tracealyze.compare.gate.call_rows import CallRow, call_rows, other_calls
from tracealyze.compare.gate.judgement import By, Judgement, amount
from tracealyze.compare.gate.places import Amounts, Place, Places, alike_named, places, weighed
from tracealyze.compare.gate.stats import exceeds
from tracealyze.compare.metrics import Class, Name, weigh

if TYPE_CHECKING:
    from tracealyze.compare.gate.baseline import Baseline
    from tracealyze.compare.run import Run

_MAX_ROWS = 5
_MAX_OTHERS = 3
# Calls of one kind that a parent makes to start a child: signal masks, pipes and descriptors of a shell.
_CALLS_PER_START = 8
_STARTS: Place = ("", "starts")
_WAITS: Place = ("", "waits")
# `/srv/work/H/bin`: H stands for a hash.
_PLACEHOLDER = re.compile(r"(?:^|/)H(?:/|$)")
_LEADS = ("processes", "execs", "deliberate_wait", "fsyncs", "hosts", "opens", "lookups_missed", "calls")


@dataclass(frozen=True)
class Grown:
    """A command line or call site that grew."""

    what: str
    before: int | None
    """None without a baseline."""
    after: int
    unit: str = ""
    by: str = ""
    """The program that started the command."""
    lines: tuple[explain.Line, ...] = ()
    """One line per capture: the last start or call, or the first of a new one. The last has its text."""

    @property
    def is_new(self) -> bool:
        """Whether the baseline does not have it."""
        return self.before == 0


@dataclass(frozen=True)
class Regression:
    """One cause, and the metrics over their limits that follow from it."""

    title: str
    judgements: tuple[Judgement, ...]
    """The most telling metric first."""
    rows: tuple[Grown, ...] = ()
    left_out: int = 0
    """Number of other places that grew."""
    shares: Mapping[str, int] = field(default_factory=dict)
    """The part of the growth of each metric, failed or not, that this cause explains."""
    rest: int = 0
    """Growth of the first metric in no cause: the runs differ, or there are more places than a baseline stores."""
    lines: tuple[explain.Line, ...] = ()
    """Evidence that is not about a row."""
    why: str = ""
    command: str = ""
    source: scripts.Source | None = None
    """The line of the project's source that makes the calls, if the capture has stacks with source lines."""
    script: scripts.Source | None = None
    """The line of a script of the project that started the grown command or the scenario."""

    @property
    def lead(self) -> Judgement:
        """The metric that names the regression."""
        return self.judgements[0]


Cause: TypeAlias = Place


def regressions(failed: Sequence[Judgement], baseline: Baseline | None, runs: Sequence[Run]) -> list[Regression]:
    """The failed metrics, grouped by cause. A metric without places is a regression of its own."""
    if not failed:
        return []
    growth = Growth(baseline, runs) if baseline is not None else None
    groups: dict[Cause | str, list[Judgement]] = {}
    for judgement in failed:
        cause = growth.main_cause(judgement) if growth else None
        is_time = judgement.cls is Class.CLOCK and judgement.by is By.BASELINE
        groups.setdefault(cause or ("times" if is_time else judgement.key), []).append(judgement)
    found: list[Regression] = []
    for key, group in groups.items():
        if all(each.by is By.FINDING for each in group):
            found += [_alone([each], runs) for each in group]
        elif growth and isinstance(key, tuple):
            found.append(_of_cause(key, group, growth))
        else:
            found.append(_alone(group, runs))
    return [each for _, each in sorted(enumerate(found), key=lambda item: (_rank(item[1]), item[0]))]


def _rank(regression: Regression) -> int:
    family = Name.of(regression.lead.metric).family
    return _LEADS.index(family) if family in _LEADS else len(_LEADS)


class Growth:
    """The places before and after, each with its cause."""

    def __init__(self, baseline: Baseline, runs: Sequence[Run]) -> None:
        self.baseline = baseline
        self.runs = runs
        self.then, self.now = alike_named([baseline.places, places(runs)])
        self.before_starts, self.starts = (_starts(side) for side in (self.then, self.now))
        self.before_launches, self.launches = (_launches(side) for side in (self.then, self.now))
        processes = baseline.metrics.get("processes")
        forked = processes is not None and max(run.values["processes"].value for run in runs) > processes.whole.max
        self.has_starts = forked or self.starts.total() > self.before_starts.total()

    @cached_property
    def started(self) -> list[list[commands.Started]]:
        """The processes of each run."""
        return [commands.started(run) for run in self.runs]

    @cached_property
    def causes(self) -> dict[Place, Cause]:
        """The cause of each place that differs."""
        differ = sorted(place for place in {*self.then, *self.now} if self.then.get(place) != self.now.get(place))
        return {place: self._cause(place) for place in differ}

    def _cause(self, place: Place) -> Cause:
        program, shape = place
        before, after = self.then.get(place, Amounts()), self.now.get(place, Amounts())
        if before.wait_ns or after.wait_ns:
            return _WAITS
        if self.has_starts and (self._is_start(place) or self._is_in_proportion(program, shape, before, after)):
            return _STARTS
        return program, ""

    def _is_start(self, place: Place) -> bool:
        """Whether these calls create a process, or work on the file of a program that is started more often."""
        syscall = place[1].partition("(")[0]
        target = short(syscalls.target_of(syscall, place[1]))
        return syscall in syscalls.FORKS | syscalls.EXECS or self.starts[target] > self.before_starts[target]

    def _is_in_proportion(self, program: str, shape: str, before: Amounts, after: Amounts) -> bool:
        """Whether calls grow no more than the starts of their program, or the starts that it makes."""
        if self.starts[program] > (was := self.before_starts[program]) and (
            not was or _fits(before, after, self.starts[program] / was)
        ):
            return True
        more = self.launches[program] - (was := self.before_launches[program])
        if more <= 0:
            return False
        if was and _fits(before, after, self.launches[program] / was):
            return True
        has_path = "/" in syscalls.target_of(shape.partition("(")[0], shape)
        return not has_path and after.calls - before.calls <= _CALLS_PER_START * more

    def shares(self, metric: str) -> Counter[Cause]:
        """The growth of a metric by cause."""
        weight = weigh(Name.of(metric))
        found: Counter[Cause] = Counter()
        if weight is not None:
            then, now = weighed(self.then, weight), weighed(self.now, weight)
            for place, cause in self.causes.items():
                if difference := now[place] - then[place]:
                    found[cause] += difference
        return found

    def rest(self, metric: str) -> int:
        """The growth of a metric in no cause: of several runs, the medians of the places do not sum to the median."""
        if weigh(Name.of(metric)) is None:
            return 0
        before = self.baseline.metrics.get(metric)
        after = round(median(run.value(Name.of(metric)).value for run in self.runs))
        return after - (before.whole.median if before else 0) - self.shares(metric).total()

    def main_cause(self, judgement: Judgement) -> Cause | None:
        """The cause with the largest share of a metric; None if no place explains it."""
        if judgement.by is By.FINDING:
            return self._cause_of_finding(judgement)
        if judgement.metric in ("processes", "threads") and self.has_starts:
            return _STARTS
        # The calls that create threads are work of their program, and so are the calls of the threads.
        shares = self._creations() if judgement.metric == "threads" else self.shares(judgement.metric)
        return _largest_share(shares)

    def _creations(self) -> Counter[Cause]:
        """The growth of the calls that create tasks, by cause."""
        found: Counter[Cause] = Counter()
        for (program, shape), cause in self.causes.items():
            if shape.partition("(")[0] in syscalls.FORKS:
                found[cause] += self._more_calls((program, shape))
        return found

    def _cause_of_finding(self, judgement: Judgement) -> Cause | None:
        """The cause that grew most among the calls of a finding."""
        found: Counter[Cause] = Counter()
        for (program, shape), cause in self.causes.items():
            is_its_call = judgement.syscall in (None, shape.partition("(")[0])
            if program == judgement.program and is_its_call:
                found[cause] += self._more_calls((program, shape))
        return _largest_share(found)

    def _more_calls(self, place: Place) -> int:
        return self.now.get(place, Amounts()).calls - self.then.get(place, Amounts()).calls


def _largest_share(shares: Counter[Cause]) -> Cause | None:
    """The cause with the largest share; None if none of them grew."""
    cause = max(shares, key=lambda each: (shares[each], each), default=None)
    return cause if cause is not None and shares[cause] > 0 else None


def _fits(before: Amounts, after: Amounts, ratio: float) -> bool:
    return not (
        exceeds(round(before.calls * ratio), after.calls, Class.LARGE, "")
        or exceeds(round(before.bytes * ratio), after.bytes, Class.LARGE, "bytes")
    )


def _starts(side: Places) -> Counter[str]:
    """How often each program was started."""
    found: Counter[str] = Counter()
    for (_, shape), number in _executions(side).items():
        # The table of a tracer counts starts, but does not name the programs.
        if name := short(syscalls.target_of(shape.partition("(")[0], shape)):
            found[name] += number
    return found


def _launches(side: Places) -> Counter[str]:
    """How many programs each program started."""
    found: Counter[str] = Counter()
    for (program, _), number in _executions(side).items():
        found[program] += number
    return found


def _executions(side: Places) -> Counter[Place]:
    weight = weigh(Name("execs"))
    return weighed(side, weight) if weight else Counter()


def _of_cause(cause: Cause, group: Sequence[Judgement], growth: Growth) -> Regression:
    judgements = tuple(sorted(group, key=_telling))
    lead = judgements[0]
    shares = {each.metric: share for each in judgements if (share := growth.shares(each.metric)[cause])}
    rows = _started(growth) if cause == _STARTS else _call_sites(cause, lead, growth)
    others = _other_calls(cause, group, rows, growth) if cause[0] else []
    return Regression(
        title=_title(cause, lead, shares.get(lead.metric)),
        judgements=judgements,
        rows=tuple(_with_lines([*rows[:_MAX_ROWS], *others[:_MAX_OTHERS]], growth)),
        left_out=max(len(rows) - _MAX_ROWS, 0) + max(len(others) - _MAX_OTHERS, 0),
        shares=shares,
        rest=growth.rest(lead.metric),
        why="\n".join(f"{_new_finding(each)}: {each.why}" for each in judgements if each.by is By.FINDING),
        command=_inspect(cause, lead, growth.runs[-1]),
        source=_source(group, rows, growth.runs[-1]),
        script=scripts.source(growth.runs[-1], [_wanted(*row) for row in rows[:1]]),
    )


def _source(group: Sequence[Judgement], rows: Sequence[_Row], run: Run) -> scripts.Source | None:
    """The source line of the call site that grew most, or of a new finding."""
    sites = (call_sites.call_site(run, where) for _, where in rows[:1] if isinstance(where, tuple))
    explained = (each.explanation.source for each in group if each.explanation)
    return next(filter(None, (*sites, *explained)), None)


def _wanted(row: Grown, where: _Where) -> str:
    """What a script contains at the place to change: a command line, or the name of a program."""
    return where[0] if isinstance(where, tuple) else row.what


def _telling(judgement: Judgement) -> int:
    family = Name.of(judgement.metric).family
    is_sum = not Name.of(judgement.metric).arguments
    if judgement.by is By.FINDING:
        return len(_LEADS) + 1
    return _LEADS.index(family) if is_sum and family in _LEADS else len(_LEADS)


_NOUNS = {
    "processes": "process|processes",
    "execs": "program started|programs started",
    "threads": "thread|threads",
    "fsyncs": "sync|syncs",
    "hosts": "network host|network hosts",
    "calls": "call|calls",
    "failed": "failed call|failed calls",
    "opens": "file opened|files opened",
    "lookups_missed": "failed lookup|failed lookups",
    "bytes_read": "read|read",
    "bytes_written": "written|written",
    "deliberate_wait": "requested sleep|requested sleep",
}


def _title(cause: Cause, lead: Judgement, share: int | None) -> str:
    """`6 more processes (6 → 12, limit 6)`: the share of the cause, and the metric."""
    name = Name.of(lead.metric)
    where = f" in {cause[0]}" if cause[0] else ""
    more = lead.after - (lead.before or lead.limit or 0) if share is None else share
    if more <= 0 or name.family not in _NOUNS:
        return f"{lead.metric}{where} {lead.change}"
    one, many = _NOUNS[name.family].split("|")
    noun = one if more == 1 else many
    noun = f"{noun} of {', '.join(name.arguments)}" if name.arguments else noun
    number = f"{amount(more, lead.unit)} more" if lead.unit != "ns" else f"{units.duration(more, units.US)} more"
    # The name that a budget uses, if the words differ.
    metric = "" if name.family in ("processes", "threads", "calls", "fsyncs", "hosts") else f"{lead.metric} "
    return f"{number} {noun}{where} ({metric}{lead.change})"


_Where: TypeAlias = "Place | commands.Started | None"
_Row: TypeAlias = tuple[Grown, _Where]


def _started(growth: Growth) -> list[_Row]:
    """The command lines that were started more often, or programs if the baseline has no command lines."""
    if not growth.baseline.commands:
        more = growth.starts - growth.before_starts
        names = sorted(more, key=lambda name: (-more[name], name))
        return [(Grown(name, growth.before_starts[name], growth.starts[name]), None) for name in names]
    now = commands.commands(growth.runs)
    sides = [growth.baseline.commands, now]
    (before, after), named = commands.alike(sides), commands.common_names(sides)
    # A program with other arguments, but as many starts as before, is not an additional process.
    programs = [Counter[str](), Counter[str]()]
    for side, of_program in zip((before, after), programs, strict=True):
        for name, number in side.items():
            of_program[name.partition(" ")[0]] += number
    grown = programs[1] - programs[0]
    more = Counter({name: number for name, number in (after - before).items() if grown[name.partition(" ")[0]]})
    latest: dict[str, list[commands.Started]] = {}
    for start in growth.started[-1]:
        latest.setdefault(named.get(start.command, start.command), []).append(start)
    found: list[_Row] = []
    for name in sorted(more, key=lambda name: (-more[name], name)):
        starts = latest.get(name)
        chosen = starts[-1] if starts else None
        found.append((Grown(name, before[name], after[name], by=chosen.by if chosen else ""), chosen))
    return found


def _call_sites(cause: Cause, lead: Judgement, growth: Growth) -> list[_Row]:
    """The places of a cause that grew, and those that shrank for waits: a sleep that became longer is two places."""
    weight = weigh(Name.of(lead.metric))
    if weight is None:
        return []
    then, now = (weighed(side, weight) for side in (growth.then, growth.now))
    mine = [place for place, its in growth.causes.items() if its == cause and then[place] != now[place]]
    grown = [row for row in call_rows(mine, then, now) if row.growth > 0 or cause == _WAITS]
    return [_grown(row, lead.unit) for row in grown]


def _grown(row: CallRow, unit: str) -> _Row:
    return Grown(row.text, row.before, row.after, unit), row.example


def _other_calls(cause: Cause, group: Sequence[Judgement], listed: Sequence[_Row], growth: Growth) -> list[_Row]:
    """Call sites of the other metrics of a program that are over their limits."""
    names = [Name.of(each.metric) for each in group if each.by is not By.FINDING]
    failed = {name.arguments[0] for name in names if name.family == "calls" and name.arguments}
    mine = [place for place, its in growth.causes.items() if its == cause]
    then, now = (
        Counter({place: amounts.calls for place, amounts in side.items()}) for side in (growth.then, growth.now)
    )
    rows = other_calls(call_rows(mine, then, now), [where for _, where in listed if isinstance(where, tuple)], failed)
    return [_grown(row, "") for row in rows]


def _with_lines(rows: Sequence[_Row], growth: Growth) -> Iterator[Grown]:
    for row, where in rows:
        lines = [_line(number, run, row, where, growth) for number, run in enumerate(growth.runs)]
        what = _as_captured(row.what, where, growth.runs[-1]) if isinstance(where, tuple) else row.what
        yield replace(row, what=what, lines=tuple(line for line in lines if line is not None))


def _as_captured(what: str, place: Place, run: Run) -> str:
    """The same with the path as in the capture, where the shape has a placeholder for a generated folder."""
    program, shape = place
    syscall = shape.partition("(")[0]
    target = syscalls.target_of(syscall, shape)
    if not _PLACEHOLDER.search(target):
        return what
    rows = run.trace.narrowed(syscalls=[syscall]).calls(by=("program", "shape", "target"), quantiles=False)
    found = {row["target"] for row in rows if (short(row["program"]), row["shape"]) == (program, shape)}
    return what.replace(target, found.pop()) if len(found) == 1 and None not in found else what


def _line(number: int, run: Run, row: Grown, where: _Where, growth: Growth) -> explain.Line | None:
    """The last start or call in a run, or the first if it is new. Only that of the last run has its text."""
    is_last = run is growth.runs[-1]
    if isinstance(where, tuple):
        return explain.line_at(run, where, not row.is_new, is_last)
    starts = [start for start in growth.started[number] if where and start.command == where.command]
    start = starts[0 if row.is_new else -1] if starts else None
    return explain.quoted(run, start.file, start.line, is_last) if start and start.line else None


def _inspect(cause: Cause, lead: Judgement, run: Run) -> str:
    if cause == _STARTS:
        return suggested.command("timeline", files=[run.path], options=("--tree", *run.bounds))
    if cause == _WAITS:
        options = ("--by", "program", "--by", "shape", "--sort", "total")
        return suggested.command("top-syscalls", files=[run.path], options=[*options, *run.bounds])
    sort = {"ns": "total", "bytes": "bytes"}.get(lead.unit, "calls")
    program = ("--program", cause[0]) if cause[0] else ()
    options = (*program, "--by", "shape", "--sort", sort)
    return suggested.command("top-syscalls", files=[run.path], options=[*options, *run.bounds])


def _new_finding(judgement: Judgement) -> str:
    return f"new finding: {Name.of(judgement.metric).arguments[0]} ({judgement.change})"


def _alone(group: Sequence[Judgement], runs: Sequence[Run]) -> Regression:
    """A regression without places: a finding, a time, or a budget on work that did not grow."""
    lead = group[0]
    explanation = lead.explanation or explain.Explanation()
    title = f"{lead.metric} {lead.change}"
    if lead.by is By.FINDING:
        title = _new_finding(lead)
    rows = (
        Grown(" ".join(filter(None, (each.program, each.shape))), each.before, each.after, lead.unit)
        for each in explanation.differences
    )
    return Regression(
        title=title,
        judgements=tuple(group),
        rows=tuple(rows),
        lines=explanation.lines,
        left_out=explanation.left_out,
        why=lead.why,
        command=explanation.command,
        source=explanation.source,
        script=scripts.source(runs[-1], []),
    )
