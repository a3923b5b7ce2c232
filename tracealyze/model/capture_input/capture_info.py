"""What the engine reports about captures: their properties, windows and losses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from tracealyze.base import units
from tracealyze.base.data_packages import must_have
from tracealyze.base.program_names import short
from tracealyze.base.sanitize import shown

if TYPE_CHECKING:
    import pandas


class Accounting(dict[str, int]):
    """Number of lines by kind."""

    def to_pandas(self) -> pandas.DataFrame:
        """One row per kind: kind, lines."""
        must_have("pandas")
        import pandas

        return pandas.DataFrame({"kind": list(self), "lines": list(self.values())})


@dataclass(frozen=True, repr=False)
class Window:
    """The stretch of wall time to account for, and the process that it belongs to. Times are in ns."""

    start_ns: int | None = None
    end_ns: int | None = None
    wall_ns: int = 0
    root_pid: int | None = None
    root_program: str | None = None
    reason: str | None = None
    """Why there is no wall time: no_clock, per_thread_clock, coarse_clock, empty or no_process. None if there is."""
    left_out_ns: int = 0
    """Leading time, before the window, in which all tasks were idle."""
    capture: int | None = 0
    """Number of the capture; None for the sum over several."""
    outlived: int = 0
    """Number of processes that outlive the window."""
    cut_calls: int = 0
    """Calls that cross a requested bound. Call totals include them whole; path time is clipped to the window."""
    outside_ns: int = 0
    """Time of these calls outside the window."""
    root_ended: bool = True
    """Whether the capture shows the exit of the root process. If not, the window ends with its last event."""

    def __repr__(self) -> str:
        if self.reason is not None:
            return f"<Window: none ({self.reason})>"
        root = f", pid {self.root_pid} {short(self.root_program)}".rstrip() if self.root_pid is not None else ""
        return f"<Window {units.duration(self.wall_ns)}{root}>"

    def to_pandas(self) -> pandas.DataFrame:
        """One row."""
        must_have("pandas")
        import pandas

        return pandas.DataFrame([{item.name: getattr(self, item.name) for item in fields(self)}])


@dataclass(frozen=True)
class Loss:
    """Input that could not be used: how much, the first line, and how to capture without losing it."""

    kind: str
    lines: int
    events: int | None = None
    """Number of events that these lines report as lost, if they do."""
    causes: Mapping[str, int] | None = None
    """These events by cause: full-buffers, no-variable-space or unreadable-argument."""
    formats: Mapping[str, Sequence[int]] | None = None
    """For lines of other formats: by format, their number, the first and the last of them."""
    first_line: int | None = None
    remedy: str | None = None


_WITHOUT_ARGUMENTS = (
    "No paths and no arguments: perf recorded only names of calls, durations, results and descriptors. Findings that "
    "need more are missing. Capture with strace -f -ttt -T -yy to include them."
)


@dataclass(frozen=True, repr=False)
class Capture:
    """One capture: a file, or several that belong together."""

    path: str
    files: list[str] = field(default_factory=list)
    run: int = 1
    """Number of the run, from 1, in a file that a tracer appended to. Each run is a capture."""
    runs: int = 1
    first_line: int = 1
    """First line of the run in the file."""
    format: str = ""
    wrappers: tuple[str, ...] = ()
    """Wrappers that a logger, web page or mail client added to lines, outermost first: syslog, timestamps, json …"""
    sender: str | None = None
    """The program, container or file whose lines were read, if the log may have several."""
    is_logged_clock: bool = False
    """Whether timestamps are those of the log, because the lines have none of their own."""
    is_folded: bool = False
    """Whether a terminal or mail client wrapped long lines, so that some results and durations are missing."""
    lines: int = 0
    bytes: int = 0
    accounting: Mapping[str, int] = field(default_factory=dict)
    losses: tuple[Loss, ...] = ()
    has: Mapping[str, bool] = field(default_factory=dict)
    dur_kind: str = "none"
    clock: str = "none"
    stamp: str = "none"
    """Which moment of a call its timestamp is: start, end or none."""
    tick_ns: int = 1
    dur_tick_ns: int = 0
    """Resolution of printed durations; 0 if it is that of the timestamps."""
    base_ns: int | None = None
    first_ns: int | None = None
    last_ns: int | None = None
    cut: bool = False
    backward_steps: int = 0
    """Number of lines with an earlier timestamp than the line before."""
    is_newest_first: bool = False
    """Whether the newest line of the log comes first (`journalctl -r`)."""
    unseen_children: int = 0
    """Number of children that were created but have no event in the capture."""
    presumed_children: int = 0
    """Number of children whose ids differ from those that their creators saw, matched because no other fits."""
    mixed_calls: int = 0
    """Number of calls that overlap another one of their process, where lines do not name threads."""
    run_ns: Sequence[int | None] = (None, None, None)
    """CPU time of the run in system calls and in its own code, and its wall time, as printed under a summary table."""
    mixes_threads: bool = False
    """Whether a process creates threads, and lines name processes only."""
    places_left_out: int = 0
    """Number of places where lines of a task are left out."""
    left_out_ns: int = 0
    """Time of these places, summed over all tasks."""
    order_inferred: bool = False
    """Whether the order of lines in different files, and so their times, is inferred from what each thread could do
    (`strace -ff -r`)."""
    has_unfollowed_children: bool = False
    """Whether children were created and none has an event: the tracer did not follow them."""
    may_be_threads: bool = False
    """Whether several tasks ran before the capture began, and nothing says which of them are threads of one process."""
    filtered: bool = False
    """Whether calls of the traced programs are certainly missing."""
    families: tuple[str, ...] = ()
    """Families of calls in the capture: file, descriptor, network, process, memory …"""
    overhead_floor_ns: int | None = None
    """Minimum tracing overhead per call, estimated from calls that do next to nothing."""
    overhead_share: float | None = None
    """The overhead of all calls as a share of the window."""
    first_foreign_line: int | None = None
    first_elision_line: int | None = None
    """First line that marks left out lines (`[...]`)."""

    def __repr__(self) -> str:
        run = f", run {self.run} of {self.runs}" if self.runs > 1 else ""
        return f"<Capture {shown(self.path)}: {self.format}, {units.counted(self.lines, 'line')}{run}>"

    @property
    def general_lack(self) -> str:
        """What all calls of the capture lack, which a reader has to know before the numbers; mostly empty."""
        return _WITHOUT_ARGUMENTS if self.format == "perf-data" else ""

    @classmethod
    def of(cls, reported: Mapping[str, Any]) -> Capture:
        """From the fields that the engine reports; unknown fields are ignored."""
        known = {item.name for item in fields(cls)}
        values = {name: value for name, value in reported.items() if name in known}
        values["wrappers"] = tuple(reported.get("wrappers", ()))
        values["families"] = tuple(reported.get("families", ()))
        values["losses"] = tuple(Loss(**loss) for loss in reported.get("losses", ()))
        return cls(**values)


def counted_processes(number: int, captures: Iterable[Capture]) -> str:
    """`5 processes`, or `5 processes or threads` where the lines do not say which they are."""
    unclear = " or threads" if number > 1 and any(each.may_be_threads for each in captures) else ""
    return f"{units.counted(number, 'process', 'processes')}{unclear}"
