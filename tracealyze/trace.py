"""A trace: captures in memory, and the tables made from them. Lazy and silent; times are integers of ns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike, fsdecode
from os.path import isfile
from typing import TYPE_CHECKING, TypeAlias

from tracealyze import _engine, units
from tracealyze.capture_input import capture_files
from tracealyze.capture_input.capture_info import Accounting, Capture, Window
from tracealyze.engine_errors import answered
from tracealyze.errors import WrongUsage, did_you_mean
from tracealyze.sanitize import shown
from tracealyze.schema import SCHEMA
from tracealyze.selection import Floor, Scope, Selection
from tracealyze.table import Table

if TYPE_CHECKING:
    from tracealyze.expression import Expression
    from tracealyze.findings.finding import Diagnosis, Finding
    from tracealyze.findings.rule_set import Rule
    from tracealyze.summary import Summary

Progress: TypeAlias = Callable[[int, int], None]


class Trace:
    """One or more captures in memory, or a selection of their events."""

    def __init__(
        self, source: _engine.Trace, selection: Selection | None = None, chosen: Sequence[Rule] | None = None
    ) -> None:
        self._source = source
        self._chosen = chosen
        self.selection = selection or Selection()
        self._selected = self.selection.for_engine()
        self._calls: dict[tuple[tuple[str, ...], bool], Table] = {}
        self._tables: dict[str, Table] = {}

    def select(
        self,
        *,
        pids: Iterable[int] | int = (),
        programs: Iterable[str] | str = (),
        start: str | None = None,
        end: str | None = None,
        root: int | None = None,
        syscalls: Iterable[str] | str = (),
        where: str | Expression | None = None,
    ) -> Trace:
        """The same trace, of which only these events count.

        `pids`, `programs` and `syscalls` are one or several; `where` is a condition such as `dur_ns >= 10ms`."""
        if isinstance(where, str):
            from tracealyze import expression

            where = expression.parse(where, "events", kind="condition", origin="where")
        if where and "args" in where.columns:
            self._must_be_readable_again()
        numbers = (pids,) if isinstance(pids, int) else tuple(pids)
        selection = Selection(numbers, _several(programs), start, end, root, _several(syscalls), where)
        return Trace(self._source, selection, self._chosen)

    def with_rules(self, rules: Sequence[Rule]) -> Trace:
        """The same trace, about which these rules speak."""
        return Trace(self._source, self.selection, rules)

    @property
    def rules(self) -> Sequence[Rule]:
        """The rules that speak about it; those of the package unless others were chosen."""
        from tracealyze.findings.rule_set import rules

        return rules() if self._chosen is None else self._chosen

    def _must_be_readable_again(self) -> None:
        """Arguments are not kept in memory."""
        gone = [file for each in self.captures for file in each.files if not isfile(file)]
        if gone:
            name = "standard input" if gone[0] == capture_files.STDIN else gone[0]
            raise WrongUsage(f"args are read from the file once more, and {name} is none; keep the capture in a file.")

    def of_capture(self, number: int) -> Trace:
        """The same, of which only one capture counts: one file of several, or one run of a tracer that appended."""
        return Trace(self._source, replace(self.selection, capture=number), self._chosen)

    def narrowed(self, *, pids: Iterable[int] = (), syscalls: Iterable[str] = ()) -> Trace:
        """Of what is selected already, these processes and these calls only."""
        chosen = self.selection
        narrower = replace(chosen, pids=tuple(pids) or chosen.pids, syscalls=tuple(syscalls) or chosen.syscalls)
        return Trace(self._source, narrower, self._chosen)

    @cached_property
    def captures(self) -> tuple[Capture, ...]:
        """What was read."""
        only = self.selection.capture
        return self._everything if only is None else self._everything[only : only + 1]

    @cached_property
    def _everything(self) -> tuple[Capture, ...]:
        return tuple(Capture.of(facts) for facts in self._source.captures())

    def capture_of(self, number: int) -> Capture | None:
        """The capture with this number, whichever count."""
        return self._everything[number] if 0 <= number < len(self._everything) else None

    @property
    def accounting(self) -> Accounting:
        """Lines of each kind, over all captures. They sum to the number of lines."""
        total: Counter[str] = Counter()
        for each in self.captures:
            total.update(each.accounting)
        return Accounting(total)

    @property
    def tick_ns(self) -> int:
        """The smallest step of the clock; of the coarsest one, if captures differ."""
        return max((each.tick_ns for each in self.captures if each.clock != "none"), default=units.US)

    @property
    def first_ns(self) -> int:
        """The start of the first event of all captures; 0 without a clock."""
        return min((each.first_ns for each in self.captures if each.first_ns is not None), default=0)

    @property
    def dur_tick_ns(self) -> int:
        """The same for the durations of calls, which may be measured more finely than the stamps."""
        steps = (each.dur_tick_ns or each.tick_ns for each in self.captures if each.clock != "none" or each.dur_tick_ns)
        return max(steps, default=units.US)

    @cached_property
    def totals(self) -> dict[str, int]:
        """processes, threads, calls, failed, interrupted, open, signals."""
        return answered(lambda: self._source.totals(self._selected))

    @cached_property
    def windows(self) -> tuple[Window, ...]:
        """The stretch of wall time that is accounted for, of each capture."""
        return tuple(Window(**facts) for facts in answered(lambda: self._source.windows_of(self._selected)))

    @cached_property
    def walls_ns(self) -> tuple[int, ...]:
        """Length of the window of each capture, by its number; 0 if there is none."""
        known = {each.capture: each.wall_ns for each in self.windows}
        return tuple(known.get(number, 0) for number in range(len(self._everything)))

    def wall_ns_of(self, capture: int) -> int:
        """Length of the window of a capture; 0 if there is none."""
        return self.walls_ns[capture] if 0 <= capture < len(self.walls_ns) else 0

    @property
    def window(self) -> Window:
        """The stretch of wall time that is accounted for; over several captures, the sum of their lengths."""
        if len(self.windows) == 1:
            return self.windows[0]
        reasons = [each.reason for each in self.windows]
        return Window(
            wall_ns=sum(each.wall_ns for each in self.windows),
            left_out_ns=sum(each.left_out_ns for each in self.windows),
            reason=None if None in reasons else next(iter(reasons), "empty"),
            capture=None,
            outlived=sum(each.outlived for each in self.windows),
            cut_calls=sum(each.cut_calls for each in self.windows),
            outside_ns=sum(each.outside_ns for each in self.windows),
            root_ended=all(each.root_ended for each in self.windows),
        )

    @property
    def events(self) -> Table:
        """One row per event."""
        return self.events_of()

    def events_of(self, columns: Sequence[str] | None = None, limit: int | None = None) -> Table:
        """Events with these columns only, at most so many. `args` is read from the file and has to be asked for."""
        known = [name for table, name, *_ in SCHEMA if table == "events"]
        for column in columns or ():
            if column not in known:
                raise WrongUsage(
                    f'there is no column "{column}" in table events ({", ".join(known)}).{did_you_mean(column, known)}'
                )
        return self._table(lambda: self._source.events(self._selected, columns, limit))

    def calls(self, by: Sequence[str] | str = ("syscall",), *, quantiles: bool = True) -> Table:
        """Counts and times of calls, one row for each combination of these keys.

        Without `quantiles` there is no p50_ns, p90_ns and p99_ns, and it takes half the time."""
        keys = tuple(dict.fromkeys(_several(by)))
        if (keys, quantiles) not in self._calls:
            self._calls[keys, quantiles] = self._table(lambda: self._source.calls(keys, self._selected, quantiles))
        return self._calls[keys, quantiles]

    @cached_property
    def tasks(self) -> Table:
        """One row per task: creator, life, end, programs, calls, time in calls and between them."""
        return self._table(lambda: self._source.tasks(self._selected))

    @cached_property
    def chain(self) -> Table:
        """One row per process: time on the path with what it waited for, for whom it waited longest, and slack."""
        return self._table(lambda: self._source.chain(self._selected, False))

    @cached_property
    def longest_chain(self) -> Table:
        """The process that the window is seen from, the one for which it waited longest, and so on: a row each."""
        return self._table(lambda: self._source.chain(self._selected, True))

    @cached_property
    def processes(self) -> Table:
        """One row per process, its threads taken together."""
        return self._table(lambda: self._source.processes(self._selected))

    @cached_property
    def partition(self) -> Table:
        """Where the wall time of the window went. Disjoint; sums to it exactly."""
        return self._table(lambda: self._source.partition(self._selected))

    def partition_by(
        self,
        by: Sequence[str] | None,
        within: Scope | None = None,
        *,
        apart_from: Iterable[Scope] = (),
        at_least_ns: int = 0,
        most: int | None = None,
    ) -> Table:
        """The partition taken together by some of its columns, the largest groups first; all of it without any.

        A column that is no key has a value where all pieces of a group agree. `targets`, `processes` and `pieces` say
        how many were taken together. Groups below `at_least_ns` and those after the first `most` are left out."""
        scope = within.for_engine() if within else None
        others = [each.for_engine() for each in apart_from]
        return self._table(lambda: self._source.partition(self._selected, by, at_least_ns, most, scope, others))

    @cached_property
    def critical_path(self) -> Table:
        """The segments behind the partition, in order of time."""
        return self.path_from(0)

    def path_from(self, at_least_ns: int, most: int | None = None) -> Table:
        """The path in stretches of at least this length; short segments of one task are taken together.

        With `most`, the so many longest of all stretches."""
        return self._table(lambda: self._source.path(self._selected, at_least_ns, most))

    @cached_property
    def loops(self) -> Table:
        """Sequences of calls that a task repeats."""
        return self.table("loops")

    @property
    def stages(self) -> Table:
        """Messages of a log that differ in a number or name only: the silence after them, and the stay of items."""
        return self.table("stages")

    @property
    def items(self) -> Table:
        """What the same messages of a log are said of again and again, and what each further one costs."""
        return self.table("items")

    def table(self, name: str) -> Table:
        """A table by its name, as rules ask for it; `tracealyze rules --columns` lists them."""
        if name in _KEPT:
            return _KEPT[name](self)
        if name not in self._tables:
            self._tables[name] = self._table(lambda: self._source.table(name, self._selected))
        return self._tables[name]

    def tables(self, asked: Mapping[str, Floor | None]) -> dict[str, Table]:
        """Several tables; of those with a floor, maybe only the rows that reach it.

        The engine makes them on all cores, and what no row can reach it need not make."""
        known = {name: self.table(name) for name in asked if name in self._tables or name in _KEPT}
        made = {name: floor for name, floor in asked.items() if name not in known}
        floors = [(name, (floor.within, floor.least_ns) if floor else None) for name, floor in made.items()]
        found = dict(zip(made, map(Table, answered(lambda: self._source.tables(self._selected, floors))), strict=True))
        self._tables |= {name: table for name, table in found.items() if made[name] is None}
        return known | found

    @property
    def gaps(self) -> Table:
        """Spans of a task between two of its calls."""
        return self.gaps_from(0)

    def gaps_from(self, at_least_ns: int) -> Table:
        """Gaps of at least this length."""
        return self._table(lambda: self._source.gaps(self._selected, at_least_ns))

    @property
    def is_summary_only(self) -> bool:
        """Whether there is nothing but tables that tracers printed (`strace -c`)."""
        return bool(len(self.summary_rows)) and not any(each.has.get("events") for each in self.captures)

    @cached_property
    def summary_rows(self) -> Table:
        """Rows of summary tables that tracers printed (`strace -c`)."""
        return self._table(self._source.summary_rows)

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """The findings, and what none of them explains."""
        from tracealyze.findings.finding import diagnosis

        return diagnosis(self, self.rules)

    @property
    def findings(self) -> list[Finding]:
        """What the rules say about this trace, the costliest first."""
        return self.diagnosis.findings

    def claims(
        self, claims: Sequence[Sequence[Scope | tuple[Table, list[int]]]], most: int
    ) -> tuple[list[tuple[int, int, int, list[tuple[int, int]]]], Table, int]:
        """Divide the path among claims, each on pieces of the partition or on the events behind rows of a table.

        An earlier claim goes first. Per claim: its time, the part of it that no earlier one has, what of that tracing
        costs at least, and the parts that earlier ones have, with their numbers. Then the `most` largest pieces that
        nobody claims, and the sum of all."""
        asked = [
            [one.for_engine() if isinstance(one, Scope) else (one[0]._source, one[1]) for one in claim]
            for claim in claims
        ]
        shares, rest, rest_ns = answered(lambda: self._source.claims(self._selected, asked, most))
        return shares, Table(rest), rest_ns

    def summary(self) -> Summary:
        """All that `tracealyze summarize` shows, as data."""
        from tracealyze.summary import summary

        return summary(self)

    def quote(self, lines: Sequence[int], capture: int = 0, file: str | None = None) -> list[str]:
        """The text of these lines of a file, as it stands there; nothing if it can no longer be read.

        A capture of several files counts lines in each, so the file has to be named."""
        several = len(self.captures[capture].files) > 1 if capture < len(self.captures) else False
        if several and not file:
            return []
        try:
            return self._source.quote(capture, list(lines), file)
        except OSError:
            return []

    def proof(self, found: Iterable[Finding], most: int) -> dict[tuple[int, str, int], str]:
        """The text of the first lines that prove findings, by capture, file and line.

        Each file is read once: reading a compressed one to some line takes as long as to many."""
        asked: dict[tuple[int, str], set[int]] = {}
        for finding in found:
            for file, line in finding.places[:most]:
                asked.setdefault((finding.capture, file), set()).add(line)
        known: dict[tuple[int, str, int], str] = {}
        for (number, file), lines in asked.items():
            texts = self.quote(sorted(lines), number, file or None)
            known |= {(number, file, line): text for line, text in zip(sorted(lines), texts, strict=False)}
        return known

    def __repr__(self) -> str:
        names = ", ".join(each.path for each in self.captures)
        return f"<tracealyze trace of {shown(names)}>"

    def _table(self, make: Callable[[], _engine.Table]) -> Table:
        return Table(answered(make))


def _several(names: Iterable[str] | str) -> tuple[str, ...]:
    """One name, or several: a text is one, not its letters."""
    return (names,) if isinstance(names, str) else tuple(names)


_KEPT: Mapping[str, Callable[[Trace], Table]] = {
    "calls": Trace.calls,
    "tasks": lambda trace: trace.tasks,
    "processes": lambda trace: trace.processes,
}
"""Tables with properties of their own, by the names that rules give them."""


def read(
    captures: str | bytes | PathLike[str] | Iterable[str | PathLike[str]],
    *,
    input_format: str | None = None,
    progress: Progress | None = None,
) -> Trace:
    """Read a capture, or several: files, `-`, folders or prefixes of `-ff` files, globs."""
    named = [captures] if isinstance(captures, str | bytes | PathLike) else list(captures)
    if not named:
        raise WrongUsage("no capture: name a file, a folder, or - for standard input.")
    return read_files(capture_files.files_of(fsdecode(name) for name in named), input_format, progress)


def read_files(files: Sequence[Sequence[str]], input_format: str | None, progress: Progress | None) -> Trace:
    """Read captures whose files are known already."""
    if input_format is not None and input_format not in _engine.FORMATS:
        known = ", ".join(_engine.FORMATS)
        raise WrongUsage(f'no format "{input_format}" ({known}).{did_you_mean(input_format, _engine.FORMATS)}')
    return Trace(answered(lambda: _engine.read(files, input_format, progress)))
