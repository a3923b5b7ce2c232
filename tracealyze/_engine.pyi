"""The border to the engine: reading, and tables. Times are integers of nanoseconds, texts are str, missing is None."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

__version__: Final[str]
"""The version of the engine, which is that of the package."""

FORMATS: Final[list[str]]
"""Names of the formats, in the order in which they are tried."""

DEFAULT_MEMORY: Final[int]
"""How much memory traces may use unless `limit_memory` was called, in bytes."""

KINDS: Final[list[str]]
"""Kinds of lines, in the order in which they are reported."""

TABLES: Final[list[tuple[str, str, str]]]
"""(name, sentence, whose times) of every table."""

SCHEMA: Final[list[tuple[str, str, str, str, str, str]]]
"""(table, column, type, unit, sentence, how values merge) of every column of every table."""

CHOSEN_NS: Final[list[int]]
"""Durations that people choose as delays and timeouts, in ascending order."""

class Syscall:
    """What is known of a syscall. A variant, such as `read_nocancel`, names the call that it is in `alias_of`."""

    name: Final[str]
    alias_of: Final[str | None]
    families: Final[frozenset[str]]

SYSCALLS: Final[dict[str, Syscall]]
"""The syscalls by their names, variants included."""

class Redactor:
    """Rewrites captures with one key."""

    def __init__(
        self,
        key: bytes,
        *,
        keep: str | None = None,
        keeps_programs: bool = False,
        input_format: str | None = None,
        has_map: bool = False,
    ) -> None: ...
    def feed(self, text: bytes) -> bytes:
        """Take the next bytes of a capture; returns what can be written by now."""

    def settle(self) -> bytes:
        """Decide the format from what came so far, if there is a whole line; returns what can be written."""

    def finish(self) -> bytes:
        """The capture ends; returns the rest."""

    def copy(self, path: str, write: Callable[[bytes, list[tuple[bytes, bytes]]], object]) -> bool:
        """Read a capture and hand over its pieces, each with pairs of words and what replaced them. Returns whether
        compressed data ended early."""

    def name(self, name: bytes) -> bytes:
        """What replaces a single name."""

def verify_redacted(
    original: str, redacted: str, *, keep: str | None = None
) -> tuple[int, int, list[tuple[int, int, str]]]:
    """Number of lines, number of findings, and the first findings as (line, column, problem)."""

class EngineError(Exception):
    """The base of all errors of the engine."""

class UnreadableInput(EngineError):
    """A file cannot be read. args: (path, reason)."""

class NoRoom(EngineError):
    """A trace is larger than the memory it may use, and its rest cannot go to a file. args: (folder, reason, bytes)."""

class UnrecognisedInput(EngineError):
    """No format fits. args: (path, formats tried)."""

class OtherTool(EngineError):
    """The output of a tool that is no tracer. args: (path, tool)."""

class EmptyInput(EngineError):
    """A file has nothing but whitespace in it. args: (path,)."""

class NoMatchingLine(EngineError):
    """No line matches a time bound. args: (path, /pattern/)."""

class NoSuchLine(EngineError):
    """A time bound is past the last line. args: (path, number of lines)."""

class UnknownName(EngineError):
    """A name that does not exist. args: (kind, name, known names)."""

class InvalidTime(EngineError):
    """Not a time bound. args: (text, examples of valid ones)."""

class InvalidPattern(EngineError):
    """Not a valid regular expression. args: (text, reason)."""

class InvalidExpression(EngineError):
    """Not a valid condition. args: (reason,)."""

class Array:
    """An array for consumers of the Arrow PyCapsule protocol. Nothing else refers to its memory."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class Table:
    """A small or lazily produced table: columns with names, taken by Arrow consumers as it is."""

    name: str
    columns: list[str]
    @staticmethod
    def of_columns(name: str, columns: Sequence[tuple[str, Sequence[Any]]]) -> Table:
        """A table with these columns, such as one that was pickled. Its rows do not know their events."""

    def __len__(self) -> int: ...
    def column(self, name: str) -> list[Any]: ...
    def rows(self, limit: int | None = None) -> list[tuple[Any, ...]]: ...
    @property
    def knows_events(self) -> bool: ...
    def pick(self, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        """These rows; not of events."""

    def where(self, condition: object) -> list[int]:
        """The numbers of the rows that meet a condition, given as `Expression.for_engine` has it."""

    def reaching(self, rows: list[int], cost: str, group: Sequence[str], least: Sequence[int]) -> list[int]:
        """Of these rows those above 0 in a column of costs whose groups, by other columns, cost enough, by capture."""

    def frame_columns(self) -> list[tuple[str, Array, Array | None, Array | None]] | None:
        """The events as whole columns: name, values, whether each is missing (if one is), and words. With words, values
        are their numbers, -1 for none. None for other tables, with arguments, or if texts are too long for Arrow."""

    def part_of(self, columns: Sequence[str], start: int, stop: int) -> list[tuple[Any, ...]]:
        """Some rows with these columns; not of events."""

    def json(self, columns: Sequence[str], hidden: Sequence[tuple[int, int]], start: int, stop: int) -> str:
        """Rows as JSON objects with these members, separated by commas; not of events.

        Code points in the hidden ranges are escaped."""

    def json_lines(self, hidden: Sequence[tuple[int, int]], write: Callable[[bytes], object]) -> None:
        """Hand over all rows as JSON objects, one per line, a piece at a time."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

class Pattern:
    """A regular expression, found in time linear to the text."""

    def __init__(self, text: str) -> None: ...
    def found_in(self, text: str) -> bool:
        """Whether it is found anywhere in the text."""

class Selection:
    """Which events count. Empty lists and None mean all; several conditions must all hold."""

    def __init__(
        self,
        pids: Sequence[int] = (),
        programs: Sequence[str] = (),
        from_: str | None = None,
        to: str | None = None,
        root: int | None = None,
        syscalls: Sequence[str] = (),
        condition: object | None = None,
        capture: int | None = None,
    ) -> None:
        """`condition` is one on the columns of events, as `Expression.for_engine` has it."""

_Conditions: TypeAlias = Sequence[tuple[str, Sequence[object]]]
"""Keys, each with values of which one must be there."""

_Scope: TypeAlias = tuple[_Conditions, _Conditions]
"""What must hold, and what must not."""

_Claimant: TypeAlias = tuple[Table, Sequence[int]] | _Scope
"""Rows of a table that knows their events, or pieces of the partition."""

_Recorded: TypeAlias = (
    tuple[
        int | None,
        bool,
        Sequence[tuple[int, int]],
        Sequence[tuple[int, bytes, bytes]],
        Sequence[tuple[int, int]],
        int | None,
    ]
    | None
)

class Trace:
    """One or more captures in memory."""

    def captures(self) -> list[dict[str, Any]]:
        """Per capture: path, files, run, runs, first_line, format, wrappers (what is around the lines, the outermost
        first), sender, is_logged_clock, is_folded, lines, bytes, accounting {kind: lines}, losses [{kind, lines,
        events, first_line, remedy}], first_foreign_line, has {durations, tids, wall_clock, events, summary_table},
        dur_kind, clock, tick_ns, base_ns, first_ns, last_ns, cut, backward_steps, is_newest_first,
        unseen_children, presumed_children,
        order_inferred, has_unfollowed_children, filtered, families, overhead_floor_ns, overhead_share."""

    def totals(self, selection: Selection) -> dict[str, int]:
        """processes, threads, calls, failed, interrupted, open, signals."""

    def windows_of(self, selection: Selection) -> list[dict[str, Any]]:
        """Per capture: capture, start_ns, end_ns, wall_ns, root_pid, root_program, reason (why there is no wall
        partition: no_clock, per_thread_clock, empty, no_process), left_out_ns, cut_calls, outside_ns, outlived,
        root_ended."""

    def witness(self, selection: Selection) -> dict[str, Any] | None:
        """The critical path according to the kernel: outside {ns, cpu_ns, ready_ns, blocked_ns, tracing_ns, unknown_ns,
        faults}, inside (the same), ran_instead [(name, ns)], processes [{pid, program, ns, ...}], recordings
        [{capture, events, lost, offset_ns, clock, compared, fitting}]. None without scheduler events."""

    def verdicts(self, selection: Selection, at_least_ns: int) -> Table:
        """The inferred waker of each wait of this length, and what the kernel saw."""

    def partition(
        self,
        selection: Selection,
        by: Sequence[str] | None = None,
        at_least_ns: int = 0,
        most: int | None = None,
        within: _Scope | None = None,
        apart_from: Sequence[_Scope] = (),
        basis: str = "wall",
    ) -> Table:
        """capture, pid, tid, program, class, syscall, op, target, exclusive_ns, share, calls, resolved; they sum
        to wall_ns. Captures without a wall clock have pieces only with another basis: "elapsed", the
        elapsed times of their calls, or "counts", which has 1 ns for each call of unknown duration.

        Grouped `by` some of the keys, a column that is no key has a value where all pieces of a group agree, and
        first_line, last_line, targets and processes (number of different ones) and pieces (of the finest partition)
        follow. Keys: capture, pid, tid, program, class, syscall, op, target, resolved. The largest come first; groups
        below `at_least_ns` and those after the first `most` are left out."""

    def program_times(self, selection: Selection) -> list[tuple[str, int, int]]:
        """The partition by names of programs, which are the last parts of their paths: name, exclusive_ns and
        the number of processes that ran each program. Conditions on the partition may have the key program_name."""

    def path(self, selection: Selection, at_least_ns: int = 0, most: int | None = None) -> Table:
        """Segments of the path in time order: start_ns, dur_ns, task, pid, tid, program, class, what, syscall, op,
        target, line, pieces. Segments shorter than at_least_ns are taken together where one task's follow each other,
        or left out; with most, all but the so many longest are left out instead."""

    def stack_times(self, selection: Selection, basis: str) -> Table:
        """The partition divided further by the stacks of calls: capture, task, pid, tid, program, class, syscall, op,
        target, exclusive_ns, calls, resolved, tag, stack."""

    def stack_frames(self, stacks: Sequence[int] | None = None) -> Table:
        """The frames of these stacks, or of all, from the outermost on: stack, depth, function, source, module."""

    def has_stacks(self) -> bool: ...
    def callers(
        self, selection: Selection, called: Sequence[tuple[Sequence[_Claimant], str | None, str | None]]
    ) -> list[tuple[str, str | None, str | None, int, int, int] | None]:
        """For each list of claimants the function that makes most of their calls of a name and an operation: function,
        source, module, its calls, their time on the path, and the number of all these calls."""

    def tasks(self, selection: Selection) -> Table: ...
    def chain(self, selection: Selection, longest: bool) -> Table:
        """task, capture, pid, program, waits_for_task, waits_for_pid, waits_for_ns, waits_for_how, waits_for_sure;
        of all inclusive_ns, slack_ns."""

    def processes(self, selection: Selection, most: int | None = None) -> tuple[Table, int]:
        """As `processes` of the JSON: pid, parent_pid, program, argv, birth_ns, death_ns, exit_code, exit_signal,
        wall_ns, exclusive_ns, in_call_ns, gap_ns, calls, failed, threads, capture, task, parent_task, first_line.

        With `most`, only this number of processes with the most time on the critical path. The second part of the
        result is the number of all processes."""

    def threaded_processes(self, selection: Selection) -> list[tuple[int | None, str | None]]:
        """Pid and program of each process with several threads."""

    def calls(
        self,
        by: Sequence[str],
        selection: Selection,
        quantiles: bool,
        condition: object | None = None,
        order: str | None = None,
        most: int | None = None,
    ) -> Table:
        """Keys of `by` (syscall, op, shape, target, normalized_target, errno, outcome, program, pid, tid, task), then
        calls, failed, total_ns, exclusive_ns, min_ns, mean_ns, p50_ns, p90_ns, p99_ns, max_ns, bytes, first_line,
        last_line."""

    def errors(self, selection: Selection) -> list[tuple[str, str, int]]:
        """The failed calls by syscall and error: both names and the number of calls, the longest total first."""

    def work(
        self, selection: Selection, max_shapes: int, most: int, listed: Sequence[str]
    ) -> tuple[Table, Table | None]:
        """Calls by name of the program and shape, the largest first: program_name, syscall, op, errno, outcome,
        target_kind, shape, calls, bytes, exclusive_ns, first_line, last_line, loose_calls, loose_bytes. Loose are
        those of programs with threads.

        If there are more than `max_shapes`, only `most` of those with the most calls and with the most bytes, and all
        of the listed syscalls. The second table then has the sums of all shapes that differ only in their targets."""

    def has_more_targets(self, selection: Selection, most: int) -> bool:
        """Whether calls have more than so many different targets."""

    def call_histograms(self, by: Sequence[str], selection: Selection) -> list[list[tuple[int, int]]]:
        """Per row of `calls` with these keys, its durations in buckets up to 1.6 % wide: number of bucket, count."""

    def events(self, selection: Selection, columns: Sequence[str] | None = None, limit: int | None = None) -> Table: ...
    def table(self, name: str, selection: Selection) -> Table:
        """A table by its name: loops, slow_targets, … Its columns are those of SCHEMA. Its rows know their events."""

    def longest_loops(self, selection: Selection, most: int | None, min_calls: int) -> tuple[Table, int]:
        """The first rows of table loops with so many calls, which are the longest, and the number of all of these."""

    def tables(
        self, selection: Selection, requested: Sequence[tuple[str, tuple[str, Sequence[int]] | None]]
    ) -> list[Table]:
        """Several tables by their names. With a threshold (row, process, program or capture, and the minimum path time
        per capture), rows whose group in that scope does not reach it may be left out."""

    def claims(
        self, selection: Selection, claims: Sequence[Sequence[_Claimant]], most: int
    ) -> tuple[list[tuple[int, int, int, list[tuple[int, int]]]], Table, int]:
        """Divide the path among claims, an earlier one goes first. Per claim: its time on the path, the part of it that
        no earlier claim has, what of that tracing costs at least, and the parts that earlier ones have. Then the
        largest unclaimed pieces, and the sum of all such pieces."""

    def replayed(
        self,
        selection: Selection,
        capture: int,
        changes: Sequence[Selection | Sequence[_Claimant]],
        parallel: Sequence[str],
        variants: Sequence[tuple[Sequence[tuple[int, int]], int, bool]],
    ) -> list[tuple[int, list[tuple[int, str | None, int]]] | None]:
        """Replay the window of a capture once for each variant: numbers of changes with the share of them that remains
        in millionths, what of tracing is left out (0 nothing, 1 the minimum, else so many percent of the mean), whether
        serial children of the programs `parallel` run beside each other. Per variant the length of the window, and the
        tasks with most of it: pid, program and time. None for a capture without a window."""

    def gaps(self, selection: Selection, at_least_ns: int = 0) -> Table: ...
    def places(self, capture: int, lines: Sequence[tuple[int, int]]) -> list[tuple[int, int, int] | None]:
        """Task, start and end of the events of these lines, each given by the position of its file in the capture and
        its number; None for a line that begins no event."""

    def chart_rows(
        self, selection: Selection, limits: tuple[int, int], window: tuple[int, int], least: tuple[int, int]
    ) -> dict[str, Any]:
        """The rows of a static timeline. Limits: the number of processes up to which all have a row, and of rows for
        the small ones of a program. Window: start and length. Least: time on the path, or life, of a process with a
        row. has_ids, listed [(depth, main task of the creator, is_leaf, start_ns, end_ns, exclusive_ns)], processes
        (those as a table), groups [(program, None for all others; number, exclusive_ns, spans)], of_task [row]."""

    def pictures(self, selection: Selection, budget_bytes: int) -> list[dict[str, Any] | None]:
        """Per window the data of a drawn timeline, in about so many bytes; None without a window. sections [{name,
        rows, columns, raw_bytes, bytes}], limits {name: number}, folded_ns {class: ns}, classes, wake_kinds,
        confidences."""

    def intervals(self, selection: Selection, width_ns: int) -> tuple[Table, Table]:
        """The first window in intervals of a width. Calls by the interval in which they end: interval, program,
        syscall, calls, failed, total_ns, p50_ns, p99_ns, max_ns, first_line. The critical path: interval, program,
        class, tag, syscall, exclusive_ns."""

    def path_intervals(self, selection: Selection, width_ns: int) -> Table:
        """The critical path of the first window in intervals of a width: the second table of `intervals`."""

    def summary_rows(self) -> Table:
        """Rows of summary tables found in the captures: capture, syscall, calls, failed, total_ns."""

    def quote(self, capture: int, lines: Sequence[int], file: str | None = None) -> list[str]:
        """The text of these lines of this file of the capture, else of its first; lossily decoded, not escaped."""

def are_parts(files: Sequence[str]) -> bool:
    """Whether files whose names end in numbers are parts of one capture (strace -ff), not captures of their own."""

def format_of(file: str) -> str | None:
    """The format of a file by its first lines; None if no format fits or the file is empty."""

def without_random_name(path: bytes) -> bytes:
    """A path without the random part of the name of a temporary file or directory."""

TreeRow: TypeAlias = tuple[tuple[int | None, int | None, int | None, int], tuple[int, list[tuple[str, int]]] | None]
"""Numbers of the row in the tables of processes or else of tasks, and in the chain, and its depth; for processes that
are taken together, their number and sums by column."""

FoundMoment: TypeAlias = tuple[str, int, int, str, str, int]
"""A finding: its title, its moment and its length, its rule and its message, and the number of a task."""

class Timeline:
    """What programs that draw timelines get. Time 0 is `start_ns`, or the first birth."""

    def __init__(
        self,
        trace: Trace,
        selection: Selection,
        *,
        tasks: Table,
        most_slices: int,
        start_ns: int | None,
        path: tuple[Table, Sequence[str]] | None,
        hidden: Sequence[tuple[int, int]],
    ) -> None: ...
    @property
    def min_ns(self) -> int:
        """Calls below this length are taken together with their neighbors; 0 if none are."""

    @property
    def zero_ns(self) -> int:
        """Time 0 of the file, on the capture's clock."""

    @property
    def has_reused_ids(self) -> bool:
        """Whether an id was reused, so that its later lives have another number in the file."""

    def write_perfetto(self, findings: Sequence[FoundMoment], write: Callable[[bytes], object]) -> None:
        """Hand over a Perfetto trace, in pieces."""

    def write_chrome(self, notes: Sequence[str], write: Callable[[bytes], object]) -> None:
        """Hand over the JSON of chrome://tracing, in pieces. The notes tell what it leaves out."""

def tree(
    processes: Table,
    chain: Table,
    tasks: Table | None,
    *,
    is_flat: bool,
    max_depth: int | None,
    min_ns: int,
    min_folded: int | None,
    most: int,
) -> tuple[list[TreeRow], int, int]:
    """The first `most` rows of the tree of processes, with threads if there is a table of tasks; the number of all
    rows, and that of all processes and threads. If `is_flat`, all rows in the order of the tables."""

class EventStream:
    """The events of captures, which can be taken once, by Arrow consumers."""

    def captures(self) -> list[dict[str, Any]]:
        """As `Trace.captures`, without what follows from an analysis."""

    def json_lines(self, hidden: Sequence[tuple[int, int]], write: Callable[[bytes], object]) -> None:
        """As `Table.json_lines`. This takes the events."""

    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

def stream_events(
    captures: Sequence[Sequence[str]],
    folder: str,
    input_format: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    recorded: Sequence[_Recorded] = (),
) -> EventStream:
    """Read captures as `read` does, for their events only; rows are kept in an unnamed temporary file."""

def read(
    captures: Sequence[Sequence[str]],
    input_format: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    recorded: Sequence[_Recorded] = (),
    scheduling: Sequence[tuple[str, bytes | None]] = (),
) -> Trace:
    """Read captures, each a list of files that belong together ("-" is standard input). `scheduling` are sources of
    scheduler events: the name of each file, and its content if it is no file.

    progress(bytes done, bytes in all or 0) is called now and then. `recorded` has for each capture what `record`
    stored about it, or None: when tracing ended, in ns since 1970, if processes still lived; whether durations were
    printed; the ids of the process and of the thread of those that ran when the tracer attached; the id, path and
    command line of these processes; the ids of each of them and of its parent; and how long the command took without
    the tracer. Such a capture may be empty.
    """

def limit_memory(limit: int) -> None:
    """How much memory this process may use for traces, in bytes. What is larger goes to an unnamed file."""

def pack_scheduling(file: str, tids: Sequence[int] = ()) -> bytes:
    """The scheduler events of a file that a capture of these threads needs, compressed. Without threads, they are those
    that a tracer stopped."""

def write_calls(
    file: str,
    output: str,
    command: int | None = None,
    status: int | None = None,
    running: Sequence[tuple[int, int, int, int, Sequence[int]]] = (),
) -> tuple[int, int, list[int]]:
    """Write the calls of a perf.data as text to a new file. Of a process that was to run a command, what it did before
    that is left out; `status` is how it ended. `running` are calls that began before: process, thread,
    time, number and arguments. Returns the number of calls, that of lost events, and the threads."""

def has_scheduling(file: str) -> bool:
    """Whether a file is perf.data with scheduler events."""
