"""Why a metric changed: the programs, shapes and targets that made the difference, with lines of evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from tracealyze.base import suggested
from tracealyze.base.program_names import short
from tracealyze.compare import name_patterns, syscalls
from tracealyze.compare.gate.call_sites import call_site, in_project
from tracealyze.compare.gate.places import Place, Places, alike_named, places, weighed
from tracealyze.compare.metrics import Name, Weigh, weigh
from tracealyze.compare.work import Work
from tracealyze.findings.matching import file_of

if TYPE_CHECKING:
    from tracealyze.compare.gate.scripts import Source
    from tracealyze.compare.run import Run
    from tracealyze.findings.finding import Finding

_PLACES = 5
_LINES = 3


@dataclass(frozen=True)
class Difference:
    """One place that contributes to a metric."""

    program: str
    shape: str
    before: int | None
    """None without a baseline."""
    after: int


@dataclass(frozen=True)
class Line:
    """A line of a capture, quoted."""

    capture: str
    """The file that contains the line."""
    line: int
    text: str
    several: bool = False
    """Whether the capture has several files."""

    @property
    def place(self) -> str:
        """`new3.strace:12`."""
        return f"{PurePath(self.capture).name}:{self.line}"


@dataclass(frozen=True)
class Explanation:
    """Places that made the difference, lines of evidence, and a command that shows more."""

    differences: tuple[Difference, ...] = ()
    lines: tuple[Line, ...] = ()
    command: str = ""
    left_out: int = 0
    """Number of other places that differ."""
    source: Source | None = None
    """The line of the project that makes most of these calls, if the capture has stacks with source lines."""


def of_metric(name: Name, before: Places | None, runs: Sequence[Run]) -> Explanation:
    """Why a metric changed."""
    weight = _weight_of(name)
    command = _command(name, runs[-1])
    if weight is None:
        return Explanation(command=command)
    then, now = (weighed(side, weight) for side in alike_named([before or {}, places(runs)]))
    named = name_patterns.families(now.keys() | then.keys())
    before_of, now_of = _summed(then, named), _summed(now, named)
    # Work that was there before may break a budget.
    grown = (now_of - before_of) or now_of
    most = {named[place]: place for place, _ in reversed(((now - then) or now).most_common())}
    largest = [place for place, _ in grown.most_common(_PLACES)]
    differences = (Difference(*place, None if before is None else before_of[place], now_of[place]) for place in largest)
    return Explanation(
        differences=tuple(differences),
        lines=tuple(_lines(runs[-1], [most[place] for place in largest], then)),
        command=command,
        left_out=len(grown) - len(largest),
        source=next((call_site(runs[-1], most[place]) for place in largest[:1]), None),
    )


def of_programs(before: dict[str, int] | None, after: dict[str, int], run: Run) -> Explanation:
    """Why a time changed: the programs with more path time."""
    then = before or {}
    grown = Counter({name: after[name] - then.get(name, 0) for name in after if after[name] > then.get(name, 0)})
    known = dict.fromkeys(grown) if before is None else {name: then.get(name, 0) for name in grown}
    largest = tuple(Difference(name, "", known[name], after[name]) for name, _ in grown.most_common(_PLACES))
    return Explanation(
        largest,
        command=suggested.command("critical-path", files=[run.path], options=run.bounds),
        left_out=len(grown) - len(largest),
    )


def of_finding(finding: Finding, run: Run) -> Explanation:
    """The evidence of a finding."""
    quoted = run.trace.proof([finding], _LINES)
    return Explanation(
        lines=tuple(Line(file or run.path, line, _flat(text), bool(file)) for (_, file, line), text in quoted.items()),
        command=suggested.command("summarize", files=[run.path], options=run.bounds),
        source=in_project(finding.source),
    )


def _weight_of(name: Name) -> Weigh | None:
    if name.family in ("processes", "threads"):
        return lambda row: row.calls if row.ok and row.syscall in syscalls.EXECS | syscalls.FORKS else 0
    return weigh(name)


def _summed(numbers: Counter[Place], named: Mapping[name_patterns.Key, name_patterns.Key]) -> Counter[Place]:
    """The numbers by common name, for places whose names differ only in numbers."""
    sums: Counter[Place] = Counter()
    for place, number in numbers.items():
        program, shape = named[place]
        sums[program, shape] += number
    return sums


def _lines(run: Run, largest: Sequence[Place], before: Counter[Place]) -> Iterator[Line]:
    """One line per place: its last call if it had calls before, otherwise its first."""
    yield from filter(None, (line_at(run, place, bool(before[place])) for place in largest[:_LINES]))


def line_at(run: Run, place: Place, last: bool, with_text: bool = True) -> Line | None:
    """The last call at a place, or the first; None if the run has no such place or its lines are unknown."""
    row = run.rows.get(place)
    if row is None:
        return None
    file, number = _where(run, place, row, last)
    return quoted(run, file, number, with_text) if number else None


def quoted(run: Run, file: str | None, number: int, with_text: bool = True) -> Line | None:
    """A line of a run. Without its text, the file is not read again."""
    if not with_text:
        return Line(file or run.path, number, "", bool(file))
    for text in run.trace.quote([number], run.trace.selection.capture or 0, file):
        return Line(file or run.path, number, _flat(text), bool(file))
    return None


def _where(run: Run, place: Place, row: Work, last: bool) -> tuple[str | None, int | None]:
    """The file and line of the first or last call at a place.

    Line numbers of a capture of several files count within each, so the task that the line belongs to is looked up."""
    if row.file or len(run.trace.captures[0].files) == 1:
        return row.file, row.last_line if last else row.first_line
    of_tasks = run.trace.narrowed(syscalls=[row.syscall]).calls(by=("program", "shape", "tid", "pid"))
    alike = [each for each in of_tasks if (short(each["program"] or ""), each["shape"]) == place]
    if not alike:
        return None, None
    task = alike[-1 if last else 0]
    return file_of(run.trace, task), task["last_line" if last else "first_line"]


def _flat(text: str) -> str:
    return " ".join(text.split())


def _command(name: Name, run: Run) -> str:
    word, *options = _words(name)
    return suggested.command(word, files=[run.path], options=[*options, *run.bounds])


def _words(name: Name) -> tuple[str, ...]:
    if name.family in ("processes", "execs", "threads"):
        return ("timeline", "--tree")
    if name.family in ("wall.median", "exclusive"):
        return ("critical-path",)
    if name.family == "finding":
        return ("summarize",)
    if name.family == "call_duration":
        return ("top-syscalls", "--sort", "total")
    if name.family == "calls" and name.arguments:
        return ("events", "--syscall", name.arguments[0])
    sorts = {"deliberate_wait": "total", "bytes_read": "bytes", "bytes_written": "bytes"}
    sorts |= dict.fromkeys(("failed", "lookups_missed"), "failed")
    return ("top-syscalls", "--by", "program", "--by", "shape", "--sort", sorts.get(name.family, "calls"))
