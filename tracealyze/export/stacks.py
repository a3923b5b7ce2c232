"""The partition as stacks of frames: programs from parent to child, class, call, sub-operation, target.

    sshd;sshd;ksh;quota;disk;ioctl;ZFS_IOC_OBJSET_STATS;/dev/zfs    9,741,200,000 ns, 297 calls

Where the tracer printed stacks (`strace -k`), the functions of the program come between the program and the call, and
the class is left out:

    quota;main;quota_lookup;ioctl;ZFS_IOC_OBJSET_STATS;/dev/zfs

The stacks sum to the window. Captures without a window have the elapsed times of calls instead, or their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from tracealyze.base.program_names import short
from tracealyze.findings.basis import Basis
from tracealyze.model.time_names import class_name

if TYPE_CHECKING:
    from tracealyze.model.table import Row, Table
    from tracealyze.model.trace_tables import TraceTables

Frames: TypeAlias = tuple[str, ...]
"""Names from the outermost frame to the innermost."""

MAX_PROGRAMS = 64
"""Programs of a chain of parents that are frames. Of a longer chain, the programs nearest to the process are."""
MAX_NAME_LENGTH = 300
"""Characters of a name that are kept. The rest of a longer one is replaced by an ellipsis."""
SMALLER = "(smaller stacks)"
"""The frame of the stacks that are merged."""

_FRAMES = ("syscall", "op", "target")
_LABELS = ("capture", "pid", "tid", "class", "resolved")


@dataclass(frozen=True)
class Stack:
    """Some of the time, or of the calls, with the frames it was spent in."""

    frames: Frames
    ns: int
    calls: int
    labels: Mapping[str, Any] = field(default_factory=dict)
    """The process and the class, for formats with labels."""


@dataclass(frozen=True)
class Profile:
    """The stacks of a trace, the largest first."""

    basis: Basis
    table: Table
    trace: TraceTables

    def stacks(self) -> Iterator[Stack]:
        """The stacks, one for each piece of the partition."""
        programs = Programs(self.trace)
        functions = Functions(self.trace)
        is_summary = self.trace.is_summary_only
        for row in self.table.dicts():
            if is_summary:
                yield Stack((row["syscall"] or "?",), row["total_ns"] or 0, row["calls"])
                continue
            frames = (*programs.of(row), *frames_below(row, functions))
            yield Stack(frames, row["exclusive_ns"], row["calls"], {name: row[name] for name in _LABELS})

    def merged(self, max_stacks: int) -> tuple[dict[Frames, tuple[int, int]], int]:
        """Time and calls by stack, and the number of pieces that were merged because there are too many stacks.

        These keep their programs and their class."""
        sums: dict[Frames, tuple[int, int]] = {}
        merged = 0
        for stack in self.stacks():
            frames = stack.frames
            if frames not in sums and len(sums) >= max_stacks:
                merged += 1
                frames = (class_name(str(stack.labels.get("class") or "?")), SMALLER)
            ns, calls = sums.get(frames, (0, 0))
            sums[frames] = (ns + stack.ns, calls + stack.calls)
        return sums, merged

    @property
    def notes(self) -> list[str]:
        """What the stacks do not contain."""
        if self.basis is Basis.WALL:
            notes = [
                "Only the critical path: while a process is blocked on another one, the time belongs to the other one."
            ]
        elif self.basis is Basis.ELAPSED:
            notes = ["Without a wall clock there is no critical path: times are sums of call durations."]
        else:
            notes = ["Without timestamps and durations there are no times: the values are numbers of calls."]
        if self.trace.has_stacks:
            notes.append("Functions are those of the stacks in the capture; time between calls has no stack.")
        if self.trace.selection.where is not None and self.basis is Basis.WALL:
            notes.append("--where filters events; the critical path covers the whole window.")
        return notes


def profile(trace: TraceTables) -> Profile:
    """The stacks of a trace, of the first basis that has any."""
    if trace.is_summary_only:
        has_times = any(trace.summary_rows["total_ns"])
        return Profile(Basis.ELAPSED if has_times else Basis.COUNTS, trace.summary_rows, trace)
    if trace.window.reason is None:
        return Profile(Basis.WALL, trace.stack_times if trace.has_stacks else trace.partition, trace)
    elapsed = _by_calls(trace, Basis.ELAPSED)
    if any(each.has.get("durations") for each in trace.captures) and len(elapsed):
        return Profile(Basis.ELAPSED, elapsed, trace)
    return Profile(Basis.COUNTS, _by_calls(trace, Basis.COUNTS), trace)


def _by_calls(trace: TraceTables, basis: Basis) -> Table:
    return trace.stack_times_of(basis) if trace.has_stacks else trace.partition_by(None, basis=basis)


class Programs:
    """The programs of processes and of their parents, outermost first."""

    def __init__(self, trace: TraceTables) -> None:
        self._tasks = {row["task"]: row for row in trace.tasks}
        self._of_pid: dict[tuple[int, int], list[Row]] = {}
        for row in self._tasks.values():
            if not row["is_thread"]:
                self._of_pid.setdefault((row["capture"], row["pid"]), []).append(row)
        self._parents: dict[int, Frames] = {}

    def of(self, row: Row) -> Frames:
        """The programs of the process that a row is about, the row's own program last."""
        task = self._task_of(row)
        name = short(row["program"]) or (f"pid {row['pid']}" if row.get("pid") is not None else "")
        return (*(self._parents_of(task) if task else ()), *((name,) if name else ()))

    def _task_of(self, row: Row) -> Row | None:
        if row.get("task") is not None:
            return self._tasks.get(row["task"])
        candidates = self._of_pid.get((row.get("capture") or 0, row["pid"]), [])
        # An id that was reused belongs to the process that ran the program.
        return next(
            (each for each in candidates if each["program"] == row["program"]), candidates[-1] if candidates else None
        )

    def _parents_of(self, task: Row) -> Frames:
        found = self._parents.get(task["task"])
        if found is None:
            found = self._parents[task["task"]] = tuple(self._walk(task))
        return found

    def _walk(self, task: Row) -> list[str]:
        names: list[str] = []
        pid, seen = task["pid"], {task["task"]}
        while (creator := task["creator"]) is not None and creator in self._tasks and creator not in seen:
            seen.add(creator)
            task = self._tasks[creator]
            if task["pid"] != pid:
                pid = task["pid"]
                names.append(short(task["program"]) or f"pid {pid}")
            if len(names) == MAX_PROGRAMS:
                names.append("…")
                break
        return names[::-1]


class Functions:
    """The functions of stacks that the tracer printed, outermost first."""

    def __init__(self, trace: TraceTables) -> None:
        self._places: dict[str, FunctionPlace] = {}
        self._stacks: dict[int, Frames] = {}
        if trace.has_stacks:
            self._take(trace.stack_frames)

    def _take(self, table: Table) -> None:
        stacks: dict[int, list[str]] = {}
        for stack, function, source, module in zip(
            *map(table.column, ("stack", "function", "source", "module")), strict=True
        ):
            # A frame without a symbol is shown by its module, as perf does.
            name = clipped(function or f"[{short(module) or 'unknown'}]")
            stacks.setdefault(stack, []).append(name)
            if function:
                self._places.setdefault(name, FunctionPlace(source, module))
        self._stacks = {stack: tuple(names) for stack, names in stacks.items()}

    def of(self, row: Row) -> Frames:
        """The functions of a row's stack; none without a stack."""
        return self._stacks.get(row.get("stack"), ())  # type: ignore[arg-type]

    def place_of(self, name: str) -> FunctionPlace | None:
        """Where a frame is in the source, if it is a function."""
        return self._places.get(name)


@dataclass(frozen=True)
class FunctionPlace:
    """Where a function is."""

    source: str | None
    """File and line of its first call in a stack."""
    module: str | None


def _below(row: Row) -> Iterator[str]:
    """The frames within a program."""
    tag = row.get("tag")
    yield f"{row['class']} ({tag})" if tag else row["class"] or "?"
    yield from _call(row)


def _call(row: Row) -> Iterator[str]:
    return (clipped(row[name]) for name in _FRAMES if row[name])


def frames_below(row: Row, functions: Functions) -> Frames:
    """The frames of a row within its program."""
    if stack := functions.of(row):
        return (*stack, *_call(row))
    return tuple(_below(row))


def clipped(name: str) -> str:
    """The name, if it is long its beginning."""
    return name if len(name) <= MAX_NAME_LENGTH else f"{name[:MAX_NAME_LENGTH]}…"
