"""Captures in memory and the tables made from them. Tables are lazy; times are integers of nanoseconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from os.path import isfile
from typing import TYPE_CHECKING, Any, Self, TypeVar

from tracealyze import _engine
from tracealyze.base import units
from tracealyze.base.errors import WrongUsage, did_you_mean
from tracealyze.base.heuristics import MAX_TRACING_ERROR, MIN_TABLE_RATIO
from tracealyze.base.program_names import short
from tracealyze.base.sanitize import HIDDEN_RANGES
from tracealyze.model.capture_input import capture_files
from tracealyze.model.capture_input.capture_info import Accounting, Capture, Window
from tracealyze.model.capture_input.witness import Witness
from tracealyze.model.claims import Caller, Claim, ClaimShare, ClaimShares, TakenShare
from tracealyze.model.engine_errors import translated
from tracealyze.model.expression.schema import SCHEMA, TABLES
from tracealyze.model.selection import Scope, Selection, Threshold
from tracealyze.model.table import Row, Table

if TYPE_CHECKING:
    from tracealyze.model.expression import Expression, Form

_Value = TypeVar("_Value")

MAX_CALL_KEYS = 12
"""Number of keys that calls can be grouped by at a time."""


class LeftOut(IntEnum):
    """What a replay leaves out of the time that tracing added to calls: percents of the estimated mean, or these."""

    NOTHING = 0
    MINIMUM = 1
    MOST = round(100 * (1 + MAX_TRACING_ERROR))


@dataclass(frozen=True)
class Variant:
    """What changes in one replay."""

    shares: tuple[tuple[int, int], ...] = ()
    """Numbers of changes, and the share of them that remains, in millionths."""
    tracing: LeftOut = LeftOut.NOTHING
    """What of the time that tracing added is left out."""
    is_parallel: bool = False
    """Whether serial children run beside each other."""


@dataclass(frozen=True)
class Gain:
    """The time that a task has more in one replay than in another."""

    pid: int
    program: str | None
    ns: int

    @property
    def name(self) -> str:
        """Its program, or its pid."""
        return short(self.program) or f"pid {self.pid}"


@dataclass(frozen=True)
class Replayed:
    """The window in a replay."""

    wall_ns: int
    tasks: list[tuple[int, str | None, int]]
    """The tasks with most of it: pid, program and time."""

    def most_gained(self, before: Replayed) -> Gain | None:
        """The task that has most more of it than in another replay; None if none has more."""
        known = {(pid, program): ns for pid, program, ns in before.tasks}
        gains = [Gain(pid, program, ns - known.get((pid, program), 0)) for pid, program, ns in self.tasks]
        most = max(gains, key=lambda gain: gain.ns, default=None)
        return most if most and most.ns > 0 else None


class TraceTables:
    """One or more captures in memory, or a selection of their events: everything that needs no rules.

    Methods raise `WrongUsage` for unknown names and `UnusableInput` for time bounds that no line matches."""

    def __init__(self, source: _engine.Trace, selection: Selection | None = None) -> None:
        self._source = source
        self.selection = selection or Selection()
        self._selected = self.selection.for_engine()
        self._calls: dict[tuple[tuple[str, ...], bool, int | None, str], Table] = {}
        self._tables: dict[str, Table] = {}

    def _copy(self, selection: Selection) -> Self:
        return self._with_captures(type(self)(self._source, selection))

    def _with_captures(self, other: Self) -> Self:
        """The other selection, with the captures if they are known. A file may contain thousands of runs."""
        if "_all_captures" in vars(self):
            other._all_captures = self._all_captures
        return other

    def select(
        self,
        *,
        pid: Iterable[int] | int = (),
        program: Iterable[str] | str = (),
        from_: str | None = None,
        to: str | None = None,
        root: int | None = None,
        syscall: Iterable[str] | str = (),
        where: str | Expression | None = None,
        pids: Iterable[int] | int = (),
        programs: Iterable[str] | str = (),
        start: str | None = None,
        end: str | None = None,
        syscalls: Iterable[str] | str = (),
    ) -> Self:
        """The same captures, restricted to some events; replaces an earlier selection.

        Arguments are named like the options of the command line. `pids`, `programs`, `start`, `end` and `syscalls` are
        other names of `pid`, `program`, `from_`, `to` and `syscall`.

        Arguments:
            pid, program, syscall: One value or several.
            from_, to: Time bounds such as `12.5`, `+12.5`, `09:30:00`, `line:N` or `/REGEX/`.
            root: The window is the lifetime of this process.
            where: A condition on the columns of events.

        Raises:
            WrongUsage: A name or condition is wrong, or both names of an argument are used.

        Example:
            >>> import tracealyze
            >>> trace = tracealyze.read("samples/ssh-login/ssh-login.truss")
            >>> trace.select(where='syscall == "ioctl" and dur_ns >= 40ms').totals["calls"]
            107
        """
        if isinstance(where, str):
            from tracealyze.model import expression

            where = expression.parse(where, "events", kind="condition", origin="where")
        pid = _one_of("pid", pid, "pids", pids)
        return self.with_selection(
            Selection(
                (pid,) if isinstance(pid, int) else tuple(pid),
                _as_tuple(_one_of("program", program, "programs", programs)),
                _one_of("from_", from_, "start", start),
                _one_of("to", to, "end", end),
                root,
                _as_tuple(_one_of("syscall", syscall, "syscalls", syscalls)),
                where,
            )
        )

    def with_selection(self, selection: Selection) -> Self:
        """The same captures with another selection."""
        if selection.where and "args" in selection.where.columns:
            self._must_be_readable_again()
        return self._copy(selection)

    def _must_be_readable_again(self) -> None:
        """Arguments are not held in memory."""
        missing = [file for each in self.captures for file in each.files if not isfile(file)]
        if missing:
            name = "standard input" if missing[0] == capture_files.STDIN else missing[0]
            raise WrongUsage(
                f"args are read from the capture file again, and {name} is not a regular file. Save the capture to one."
            )

    def of_capture(self, number: int) -> Self:
        """The same selection within one capture: one of several files, or one run of a tracer that appended."""
        return self._copy(replace(self.selection, capture=number))

    def narrowed(self, *, pids: Iterable[int] = (), syscalls: Iterable[str] = ()) -> Self:
        """The current selection, further restricted to these processes and calls."""
        selection = self.selection
        return self._copy(
            replace(selection, pids=tuple(pids) or selection.pids, syscalls=tuple(syscalls) or selection.syscalls)
        )

    def between(self, start: str, end: str) -> Self:
        """The current selection with other time bounds."""
        return self._copy(replace(self.selection, start=start, end=end))

    @cached_property
    def captures(self) -> tuple[Capture, ...]:
        """The selected captures."""
        only = self.selection.capture
        return self._all_captures if only is None else self._all_captures[only : only + 1]

    @cached_property
    def _all_captures(self) -> tuple[Capture, ...]:
        return tuple(Capture.of(fields) for fields in self._source.captures())

    @property
    def capture_numbers(self) -> range:
        """The numbers of the selected captures."""
        only = self.selection.capture
        return range(len(self._all_captures)) if only is None else range(only, only + 1)

    def capture_of(self, number: int) -> Capture | None:
        """The capture with this number, selected or not."""
        return self._all_captures[number] if 0 <= number < len(self._all_captures) else None

    @cached_property
    def start_of(self) -> Callable[[Row], int]:
        """A function that returns the start of the capture to which a row belongs, by its task or file."""
        starts = {number: each.first_ns or 0 for number, each in enumerate(self.captures, self.selection.capture or 0)}
        if len(starts) == 1:
            return lambda _row: self.first_ns
        of_tasks = {row["task"]: starts.get(row["capture"], self.first_ns) for row in self.tasks}
        of_files = {file: each.first_ns or 0 for each in self.captures for file in each.files}
        return lambda row: of_tasks.get(row["task"], of_files.get(row.get("file") or "", self.first_ns))

    @property
    def accounting(self) -> Accounting:
        """Number of lines of each kind, over all captures. They sum to the number of lines."""
        total: Counter[str] = Counter()
        for each in self.captures:
            total.update(each.accounting)
        return Accounting(total)

    @property
    def tick_ns(self) -> int:
        """Timestamp resolution; the coarsest one, if captures differ."""
        return max((each.tick_ns for each in self.captures if each.clock != "none"), default=units.US)

    @property
    def first_ns(self) -> int:
        """Start of the first event of all captures; 0 without a clock."""
        return min((each.first_ns for each in self.captures if each.first_ns is not None), default=0)

    @property
    def dur_tick_ns(self) -> int:
        """Resolution of call durations, which may be finer than that of timestamps."""
        steps = (each.dur_tick_ns or each.tick_ns for each in self.captures if each.clock != "none" or each.dur_tick_ns)
        return max(steps, default=units.US)

    @cached_property
    def totals(self) -> dict[str, int]:
        """Counts of processes, threads, calls, failed, interrupted, open and signals."""
        return translated(lambda: self._source.totals(self._selected))

    @cached_property
    def windows(self) -> tuple[Window, ...]:
        """The wall time to account for, one window per capture."""
        return tuple(Window(**fields) for fields in translated(lambda: self._source.windows_of(self._selected)))

    @cached_property
    def walls_ns(self) -> tuple[int, ...]:
        """Length of each capture's window, by number of the capture; 0 if it has none."""
        known = {each.capture: each.wall_ns for each in self.windows}
        return tuple(known.get(number, 0) for number in range(len(self._all_captures)))

    def wall_ns_of(self, capture: int) -> int:
        """Length of a capture's window; 0 if it has none."""
        return self.walls_ns[capture] if 0 <= capture < len(self.walls_ns) else 0

    @cached_property
    def busy_walls_ns(self) -> dict[int, int]:
        """The window of each capture without the time on its path in which a server was idle."""
        idle = self.partition_by(("capture", "tag"), Scope({"tag": ("idle",)}))
        idle_ns = {row["capture"]: row["exclusive_ns"] for row in idle}
        return {number: wall_ns - idle_ns.get(number, 0) for number, wall_ns in enumerate(self.walls_ns)}

    @property
    def window(self) -> Window:
        """The wall time to account for; over several captures, the sum of their windows."""
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
        events = translated(lambda: self._source.events(self._selected, None, None))
        return Table(events, self._zero_ns, lambda condition: self.select(where=condition).events)

    def events_of(self, columns: Sequence[str] | None = None, limit: int | None = None) -> Table:
        """The first `limit` events with these columns; all columns but `args`, which is read from the file, if None."""
        known = [column.name for column in SCHEMA if column.table == "events"]
        for column in columns or ():
            if column not in known:
                raise WrongUsage(
                    f'there is no column "{column}" in table events ({", ".join(known)}).{did_you_mean(column, known)}'
                )
        return self._table(lambda: self._source.events(self._selected, columns, limit))

    def calls(
        self,
        by: Sequence[str] | str = ("syscall",),
        *,
        quantiles: bool = True,
        limit: int | None = None,
        order: str = "total_ns",
    ) -> Table:
        """Counts and times of calls, one row per combination of these keys, the largest total first.

        `limit` returns only the largest rows by the column `order`, which saves time and memory where there are many.
        Without `quantiles`, p50_ns, p90_ns and p99_ns are left out, which takes half the time."""
        keys = tuple(dict.fromkeys(_as_tuple(by)))
        if len(keys) > MAX_CALL_KEYS:
            raise WrongUsage(f"calls: group by at most {MAX_CALL_KEYS} keys, not {len(keys)}.")
        question = (keys, quantiles, limit, order)
        if question not in self._calls:
            self._calls[question] = self._table(
                lambda: self._source.calls(keys, self._selected, quantiles, order=order, most=limit)
            )
        return self._calls[question]

    def work(self, max_shapes: int, most: int, listed: Iterable[str]) -> tuple[Table, Table | None]:
        """Calls by program and shape; if they are many, the largest, and sums of all: see `_engine.Trace.work`."""
        shapes, sums = translated(lambda: self._source.work(self._selected, max_shapes, most, sorted(listed)))
        return Table(shapes, self._zero_ns), Table(sums, self._zero_ns) if sums else None

    def has_more_targets(self, most: int) -> bool:
        """Whether calls have more than so many different targets: a group for each would cost much memory."""
        return translated(lambda: self._source.has_more_targets(self._selected, most))

    def call_histograms(self, by: Sequence[str]) -> list[list[tuple[int, int]]]:
        """For each row of `calls(by)`, its durations as pairs of a bucket and a count, which can be merged."""
        return translated(lambda: self._source.call_histograms(by, self._selected))

    def calls_matching(self, by: Sequence[str], condition: Form | None) -> Table:
        """As `calls`, of the calls that meet a condition on events only."""
        return self._table(lambda: self._source.calls(by, self._selected, True, condition))

    @cached_property
    def tasks(self) -> Table:
        """One row per task: creator, life, exit status, programs, calls, time in calls and between them."""
        return self._table(lambda: self._source.tasks(self._selected))

    @cached_property
    def chain(self) -> Table:
        """One row per process: inclusive time on the path, the process it waited on longest, and slack."""
        return self._table(lambda: self._source.chain(self._selected, False))

    def tree(self, *, threads: bool, **query: Any) -> tuple[list[_engine.TreeRow], int, int]:
        """The first rows of the tree of processes, the number of all, and of all processes: see `_engine.tree`."""
        tasks = self.tasks._source if threads else None
        return _engine.tree(self.processes._source, self.chain._source, tasks, **query)

    @cached_property
    def longest_chain(self) -> Table:
        """The window's root process, the process it waited on longest, and so on: one row each."""
        return self._table(lambda: self._source.chain(self._selected, True))

    @cached_property
    def witness(self) -> Witness | None:
        """The critical path according to scheduler events of the kernel; None if the trace was read without any."""
        found = translated(lambda: self._source.witness(self._selected))
        return Witness.of(found) if found else None

    def verdicts(self, at_least_ns: int = 0) -> Table:
        """Waits of at least this length: the waker that follows from the lines alone, and what the kernel saw.

        Without scheduler events the table is empty."""
        return self._table(lambda: self._source.verdicts(self._selected, at_least_ns))

    @cached_property
    def processes(self) -> Table:
        """One row per process, its threads merged."""
        return self.largest_processes(None)[0]

    def largest_processes(self, limit: int | None) -> tuple[Table, int]:
        """The processes with the most time on the critical path, in the order of `processes`, and the number of all."""
        return self._largest(lambda: self._source.processes(self._selected, limit))

    @cached_property
    def threaded_processes(self) -> list[tuple[int | None, str | None]]:
        """Pid and program of each process with several threads."""
        return translated(lambda: self._source.threaded_processes(self._selected))

    @cached_property
    def partition(self) -> Table:
        """Where the wall time of the window went. Pieces are disjoint and sum to the window exactly."""
        return self._table(lambda: self._source.partition(self._selected))

    @cached_property
    def classes(self) -> Table:
        """The partition by class of time."""
        return self.partition_by(["class"])

    def partition_by(
        self,
        by: Sequence[str] | None,
        within: Scope | None = None,
        *,
        apart_from: Iterable[Scope] = (),
        min_ns: int = 0,
        limit: int | None = None,
        basis: str = "wall",
    ) -> Table:
        """The partition grouped by some of its columns, the largest groups first; ungrouped if `by` is None.

        Columns outside `by` have a value where all pieces of a group agree. `targets`, `processes` and `pieces` are
        the numbers of distinct values in the group. Groups shorter than `min_ns` are left out, and all but the first
        `limit`. Captures without a wall clock have groups only with another `basis`: "elapsed" for the elapsed times of
        calls, "counts" for 1 ns per call."""
        scope = within.for_engine() if within else None
        others = [each.for_engine() for each in apart_from]
        return self._table(lambda: self._source.partition(self._selected, by, min_ns, limit, scope, others, basis))

    def program_times(self) -> list[tuple[str, int, int]]:
        """The partition by names of programs, which are few: name, time and number of processes."""
        return self._source.program_times(self._selected)

    @cached_property
    def has_stacks(self) -> bool:
        """Whether the tracer printed stacks (`strace -k`)."""
        return self._source.has_stacks()

    @cached_property
    def stack_times(self) -> Table:
        """The partition divided further by the stacks of calls; the rows sum to the window."""
        return self.stack_times_of("wall")

    def stack_times_of(self, basis: str) -> Table:
        """The same for another basis, as in `partition_by`."""
        return self._table(lambda: self._source.stack_times(self._selected, basis))

    @cached_property
    def stack_frames(self) -> Table:
        """The frames of all stacks, each from the outermost to the innermost."""
        return self._table(self._source.stack_frames)

    def callers(self, called: Sequence[tuple[Sequence[Claim], str | None, str | None]]) -> list[Caller | None]:
        """For some claims, the function that makes most of their calls of a name and an operation; None without one."""
        if not self.has_stacks:
            return [None] * len(called)
        requests = [(_for_engine(claim), syscall, op) for claim, syscall, op in called]
        found = translated(lambda: self._source.callers(self._selected, requests))
        return [Caller(*each) if each else None for each in found]

    @cached_property
    def calls_of_processes(self) -> dict[tuple[int, int | None], tuple[int, int]]:
        """Elapsed time in calls, and their number, by capture and pid, and with None for a pid, of a whole capture."""
        sums: dict[tuple[int, int | None], tuple[int, int]] = {}
        table = self.processes
        for capture, pid, in_call_ns, calls in zip(
            *map(table.column, ("capture", "pid", "in_call_ns", "calls")), strict=True
        ):
            for key in {(capture, pid), (capture, None)}:
                elapsed_ns, number = sums.get(key, (0, 0))
                sums[key] = (elapsed_ns + (in_call_ns or 0), number + calls)
        for row in self.summary_rows if self.is_summary_only else ():
            elapsed_ns, number = sums.get((row["capture"], None), (0, 0))
            sums[row["capture"], None] = (elapsed_ns + (row["total_ns"] or 0), number + row["calls"])
        return sums

    @cached_property
    def least_walls_ns(self) -> dict[int, int]:
        """A lower bound of the length of each capture without a clock: how long one of its tasks asked to wait."""
        sums: dict[tuple[str, int, int], int] = {}
        for name in ("sleeps", "timeouts"):
            table = self.table(name)
            for capture, tid, cost_ns in zip(*map(table.column, ("capture", "tid", "exclusive_ns")), strict=True):
                sums[name, capture, tid] = sums.get((name, capture, tid), 0) + cost_ns
        least: dict[int, int] = {}
        for (_, capture, _), sum_ns in sums.items():
            least[capture] = max(least.get(capture, 0), sum_ns)
        return least

    @cached_property
    def critical_path(self) -> Table:
        """The segments of the critical path, in order of time."""
        return self.path_from(0)

    def path_from(self, min_ns: int, limit: int | None = None) -> Table:
        """Stretches of the critical path of at least this length; shorter segments of one task are merged.

        With `limit`, the longest stretches only."""
        return self._table(lambda: self._source.path(self._selected, min_ns, limit))

    def timeline(self, max_slices: int, path: Table | None = None, names: Sequence[str] = ()) -> _engine.Timeline:
        """What programs that draw timelines get: at most about so many slices, and a critical path with its names."""
        return translated(
            lambda: _engine.Timeline(
                self._source,
                self._selected,
                tasks=self.tasks._source,
                most_slices=max_slices,
                start_ns=self.window.start_ns,
                path=(path._source, names) if path else None,
                hidden=HIDDEN_RANGES,
            )
        )

    @cached_property
    def loops(self) -> Table:
        """Sequences of calls that a task repeats."""
        return self.table("loops")

    def longest_loops(self, limit: int | None, min_calls: int = 0) -> tuple[Table, int]:
        """The first rows of `loops` with so many calls, which are the longest, and the number of all of these.

        Only those are measured, which saves much time where loops are thousands."""
        return self._largest(lambda: self._source.longest_loops(self._selected, limit, min_calls))

    @property
    def stages(self) -> Table:
        """Log messages grouped by their text without numbers and names: the silence after them, and time per item."""
        return self.table("stages")

    @property
    def items(self) -> Table:
        """Items for which a log repeats the same messages, and the cost of each additional item."""
        return self.table("items")

    def table(self, name: str) -> Table:
        """A table by its name; `tracealyze explain --columns` lists them."""
        if name in _BY_NAME:
            return _BY_NAME[name](self)
        if name in TABLES and TABLES[name].spans_captures:
            raise WrongUsage(f'table "{name}" spans several captures; tracealyze {name} builds it.')
        if name not in self._tables:
            self._tables[name] = self._table(lambda: self._source.table(name, self._selected))
        return self._tables[name]

    def tables(self, thresholds: Mapping[str, Threshold | None]) -> dict[str, Table]:
        """Several tables by name. A table with a threshold may omit rows that do not reach it.

        The engine builds them on all cores and skips tables in which no row can reach the threshold."""
        cached = {name: self.table(name) for name in thresholds if name in self._tables or name in _BY_NAME}
        missing = {name: threshold for name, threshold in thresholds.items() if name not in cached}
        requests = [(name, each.for_engine() if each else None) for name, each in missing.items()]
        made = translated(lambda: self._source.tables(self._selected, requests))
        built = dict(zip(missing, (Table(each, self._zero_ns) for each in made), strict=True))
        self._tables |= {name: table for name, table in built.items() if missing[name] is None}
        return cached | built

    @property
    def gaps(self) -> Table:
        """Spans of a task between two of its calls."""
        return self.gaps_from(0)

    def gaps_from(self, min_ns: int) -> Table:
        """Gaps of at least this length."""
        return self._table(lambda: self._source.gaps(self._selected, min_ns))

    def intervals_of(self, width_ns: int) -> tuple[Table, Table]:
        """The first window in intervals of this width: its calls by the interval in which they end, by program and
        name; and its critical path by interval, program, class, tag and name of the call."""
        calls, path = translated(lambda: self._source.intervals(self._selected, width_ns))
        return Table(calls, self._zero_ns), Table(path, self._zero_ns)

    def path_intervals_of(self, width_ns: int) -> Table:
        """The critical path of the first window in intervals of this width: by interval, the largest part first."""
        return self._table(lambda: self._source.path_intervals(self._selected, width_ns))

    def chart_rows(self, limits: tuple[int, int], least_ns: tuple[int, int]) -> dict[str, Any]:
        """The rows of a static timeline of the window, as the engine has them."""
        window = self.window.start_ns or 0, self.window.wall_ns
        found = translated(lambda: self._source.chart_rows(self._selected, limits, window, least_ns))
        return found | {"processes": Table(found["processes"], self._zero_ns)}

    def pictures(self, budget_bytes: int) -> list[dict[str, Any] | None]:
        """Per window the data of a drawn timeline in about so many bytes, as the engine has it; None without one."""
        return translated(lambda: self._source.pictures(self._selected, budget_bytes))

    def evidence(self, capture: int, places: Sequence[tuple[str, int]]) -> list[tuple[int, int, int] | None]:
        """Task, start and end of the events of these lines, each with its file; None for a line without an event."""
        files = list(self._all_captures[capture].files)
        numbers = [(files.index(file) if file in files else 0, line) for file, line in places]
        return self._source.places(capture, numbers)

    @property
    def is_summary_only(self) -> bool:
        """Whether the captures contain only summary tables that tracers printed (`strace -c`)."""
        return bool(len(self.summary_rows)) and not any(each.has.get("events") for each in self.captures)

    @property
    def is_mostly_table(self) -> bool:
        """Whether the tables that tracers printed count many more calls than there are lines of calls (`strace -C`)."""
        counted = sum(self.summary_rows.column("calls")) if len(self.summary_rows) else 0
        calls = self.totals["calls"]
        return self.is_summary_only or (bool(calls) and counted > MIN_TABLE_RATIO * calls)

    @cached_property
    def summary_rows(self) -> Table:
        """Rows of summary tables that tracers printed (`strace -c`)."""
        return self._table(self._source.summary_rows)

    def claims(self, claims: Sequence[Sequence[Claim]], limit: int) -> ClaimShares:
        """Divide the critical path among claims, each the union of its parts. Earlier claims take precedence.

        `limit` is the number of unclaimed pieces in the answer."""
        requests = [_for_engine(claim) for claim in claims]
        shares, unclaimed, unclaimed_ns = translated(lambda: self._source.claims(self._selected, requests, limit))
        return ClaimShares(
            tuple(
                ClaimShare(total_ns, own_ns, tracing_ns, tuple(TakenShare(*each) for each in taken))
                for total_ns, own_ns, tracing_ns, taken in shares
            ),
            Table(unclaimed),
            unclaimed_ns,
        )

    def replayed(
        self,
        capture: int,
        changes: Sequence[Sequence[Claim] | Selection],
        parallel: Sequence[str],
        variants: Sequence[Variant],
    ) -> list[Replayed]:
        """The window of a capture, replayed once for each variant; empty if the capture has no window.

        A change is the events of a finding, or selected ones. Serial children of the programs `parallel` may run beside
        each other."""
        requests = [each.for_engine() if isinstance(each, Selection) else _for_engine(each) for each in changes]
        wanted = [(list(each.shares), int(each.tracing), each.is_parallel) for each in variants]
        answers = translated(lambda: self._source.replayed(self._selected, capture, requests, list(parallel), wanted))
        return [Replayed(*each) for each in answers if each is not None]

    def quote(self, lines: Sequence[int], capture: int = 0, file: str | None = None) -> list[str]:
        """The text of these lines of a capture file, unchanged; empty if the file can no longer be read.

        Line numbers of a capture of several files count within each file, so `file` is required there."""
        several = len(self.captures[capture].files) > 1 if capture < len(self.captures) else False
        if several and not file:
            return []
        try:
            return self._source.quote(capture, list(lines), file)
        except OSError:
            return []

    def _table(self, build: Callable[[], _engine.Table]) -> Table:
        return Table(translated(build), self._zero_ns)

    def _largest(self, build: Callable[[], tuple[_engine.Table, int]]) -> tuple[Table, int]:
        table, number = translated(build)
        return Table(table, self._zero_ns), number

    @cached_property
    def _zero_ns(self) -> int | None:
        """The date of the clock's zero, in nanoseconds since 1970; None if it is unknown or captures differ."""
        zeros = {0 if each.clock == "epoch" else each.base_ns for each in self.captures}
        return zeros.pop() if len(zeros) == 1 else None


def _for_engine(claim: Sequence[Claim]) -> list[Any]:
    return [part.for_engine() if isinstance(part, Scope) else (part.table._source, part.numbers) for part in claim]


def _one_of(name: str, value: _Value, other: str, other_value: _Value) -> _Value:
    """The value of an argument with two names."""
    if value not in ((), None) and other_value not in ((), None):
        raise WrongUsage(f"select: {name} and {other} are the same argument. Pass one of them.")
    return other_value if value in ((), None) else value


def _as_tuple(names: Iterable[str] | str) -> tuple[str, ...]:
    """One name or several: a text is one name, not its letters."""
    return (names,) if isinstance(names, str) else tuple(names)


_BY_NAME: Mapping[str, Callable[[TraceTables], Table]] = {
    "calls": TraceTables.calls,
    "tasks": lambda trace: trace.tasks,
    "processes": lambda trace: trace.processes,
    "events": lambda trace: trace.events,
    "gaps": lambda trace: trace.gaps,
    "call_intervals": lambda trace: trace.intervals_of(max(trace.window.wall_ns, 1))[0],
    "path_intervals": lambda trace: trace.intervals_of(max(trace.window.wall_ns, 1))[1],
    "chain": lambda trace: trace.chain,
    "verdicts": lambda trace: trace.verdicts(),
    "partition": lambda trace: trace.partition,
    "path": lambda trace: trace.critical_path,
    "stack_times": lambda trace: trace.stack_times,
    "stack_frames": lambda trace: trace.stack_frames,
    "summary_rows": lambda trace: trace.summary_rows,
}
"""Tables that have properties of their own, by the names that rules use."""


def errors_of(trace: TraceTables) -> list[tuple[str, str, int]]:
    """The failed calls by syscall and error: both names and the number of calls, the longest total first."""
    return translated(lambda: trace._source.errors(trace._selected))
