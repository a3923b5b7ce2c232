"""What was read: captures, their windows, and what of them was lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


class Accounting(dict[str, int]):
    """Lines by kind."""

    def to_pandas(self) -> pandas.DataFrame:
        """One row per kind: kind, lines."""
        import pandas

        return pandas.DataFrame({"kind": list(self), "lines": list(self.values())})


@dataclass(frozen=True)
class Window:
    """The stretch of wall time that is accounted for, and whose it is."""

    start_ns: int | None = None
    end_ns: int | None = None
    wall_ns: int = 0
    root_pid: int | None = None
    root_program: str | None = None
    reason: str | None = None
    """Why there is no wall time to account for; None if there is."""
    left_out_ns: int = 0
    """Leading time in which every task only waited idly."""
    capture: int | None = 0
    """Number of the capture; None if this is the sum over several."""
    outlived: int = 0
    """Processes that live on after the end."""
    cut_calls: int = 0
    """Calls that lie over an edge that was asked for. Sums of calls have them whole; time on the path is cut there."""
    outside_ns: int = 0
    """How much of their time lies outside."""
    root_ended: bool = True
    """Whether the capture shows the end of the root; else its last event is taken."""

    def to_pandas(self) -> pandas.DataFrame:
        """One row."""
        import pandas

        return pandas.DataFrame([{item.name: getattr(self, item.name) for item in fields(self)}])


@dataclass(frozen=True)
class Loss:
    """Input that could not be used: how much, where it begins, and how to capture without losing it."""

    kind: str
    lines: int
    events: int | None = None
    """Events that these lines say were lost, where they speak of events that have no line."""
    first_line: int | None = None
    remedy: str | None = None


@dataclass(frozen=True)
class Capture:
    """What was read: one file, or several that belong together."""

    path: str
    files: list[str] = field(default_factory=list)
    run: int = 1
    """Number of the tracer's run in a file that it appended to, from 1. Each run is a capture."""
    runs: int = 1
    first_line: int = 1
    """Line of the file with which the run begins."""
    format: str = ""
    wrappers: tuple[str, ...] = ()
    """What a logger, a page or a mail put around the lines, the outermost first: syslog, timestamps, json …"""
    sender: str | None = None
    """The program, container or file whose lines were read, where a log may have several."""
    is_logged_clock: bool = False
    """Stamps tell when a line was logged: the lines have none of their own."""
    is_folded: bool = False
    """A terminal or a mail folded long lines into several, and what they said is lost."""
    lines: int = 0
    bytes: int = 0
    accounting: Mapping[str, int] = field(default_factory=dict)
    losses: tuple[Loss, ...] = ()
    has: Mapping[str, bool] = field(default_factory=dict)
    dur_kind: str = "none"
    clock: str = "none"
    tick_ns: int = 1
    dur_tick_ns: int = 0
    """The step of the durations that the tracer printed; 0 if it is that of the clock."""
    base_ns: int | None = None
    first_ns: int | None = None
    last_ns: int | None = None
    cut: bool = False
    backward_steps: int = 0
    """Lines whose stamp lies before that of an earlier line."""
    unseen_children: int = 0
    """Children that were created but of which nothing is in the capture."""
    presumed_children: int = 0
    """Children that speak under other ids than their creators know them by, joined where no other can be meant."""
    order_inferred: bool = False
    """The order of lines in different files, and so their times, follow from what each thread could do (`-ff -r`)."""
    has_unfollowed_children: bool = False
    """Children were created, and nothing of any of them is in the capture: it was not asked to follow them."""
    filtered: bool = False
    """Whether calls are certainly missing that the traced programs made."""
    families: tuple[str, ...] = ()
    """The kinds of calls that were seen: file, descriptor, network, process, memory …"""
    overhead_floor_ns: int | None = None
    """Time that tracing adds to each call, from calls that do next to nothing."""
    overhead_share: float | None = None
    """The same for all calls, as part of the window."""
    first_foreign_line: int | None = None

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Capture:
        """From what the engine says; facts that have no place here are left out."""
        known = {item.name for item in fields(cls)}
        kept = {name: value for name, value in facts.items() if name in known}
        kept["wrappers"] = tuple(facts.get("wrappers", ()))
        kept["families"] = tuple(facts.get("families", ()))
        kept["losses"] = tuple(Loss(**loss) for loss in facts.get("losses", ()))
        return cls(**kept)
