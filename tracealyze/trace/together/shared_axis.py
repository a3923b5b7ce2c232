"""Captures on one axis: how far the clock of each is from the clock of the first that has one.

    app.strace    time of day     ├──────────── 4.39 s ────────────┤
    journal.log   since 1970      ····├──── 3.20 s ────┤                shifted by whole days

Clocks that count from different midnights differ by whole days, and those of different time zones by whole quarters
of an hour. The shift counts with which the captures overlap. Another time zone is believed only between calls and a
log, and only if one shift fits: two captures of an hour overlap in any time zone. Moments that the user names are
always believed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import PurePath
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.errors import WrongUsage
from tracealyze.base.heuristics import DAY_NS, MAX_AXIS_RATIO, MAX_ZONES_NS, ZONE_STEP_NS
from tracealyze.base.sanitize import shown
from tracealyze.trace.together.connections import Ends, connections_of, difference_ns

if TYPE_CHECKING:
    from tracealyze.model.trace_tables import TraceTables

_TIME_OF_DAY = re.compile(r"\d\d:\d\d:\d\d")
_ZONED = re.compile(r"\d\d:\d\d:\d\d(?:[.,]\d+)? ?(?:Z\b|UTC|GMT|[+-]\d\d:?\d\d)")


class Basis(StrEnum):
    """Why two clocks are known to be this far apart."""

    CLOCK = "clock"
    """They are the same clock."""
    DAYS = "days"
    """Whole days: one of them has no date."""
    ZONE = "zone"
    """Whole quarters of an hour."""
    CONNECTION = "connection"
    """What one of them received, the other had sent before."""
    GIVEN = "given"
    """The user named a moment of each."""


@dataclass(frozen=True)
class Extent:
    """When a capture was made, in nanoseconds of its own clock."""

    name: str
    clock: str = "none"
    is_log: bool = False
    is_local: bool = False
    """Whether its lines have a time of day without the zone that it is of."""
    start_ns: int | None = None
    end_ns: int | None = None
    moment_ns: int | None = None
    """The moment that the user named, which is the same in all captures."""
    connections: Mapping[tuple[str, str], Ends] = field(default_factory=dict)

    @property
    def is_dated(self) -> bool:
        """Whether its clock counts since 1970."""
        return self.clock == "epoch"

    @property
    def has_midnight(self) -> bool:
        """Whether its clock counts from some midnight."""
        return self.clock in ("epoch", "time-of-day", "since-new-year")


@dataclass(frozen=True)
class Shift:
    """What has to be added to the moments of a capture."""

    ns: int
    basis: Basis = Basis.CLOCK


def extents_of(traces: Sequence[TraceTables], aligned: Iterable[str] = ()) -> list[Extent]:
    """The extents of traces of one capture each, with the connections between them.

    Raises `WrongUsage` if a text of `aligned` names no capture, or no moment of it."""
    found = [extent_of(trace, aligned) for trace in traces]
    must_name_captures(aligned, found)
    if sum(not each.is_log for each in found) < 2:
        return found
    return [replace(each, connections=connections_of(trace)) for each, trace in zip(found, traces, strict=True)]


def extent_of(trace: TraceTables, aligned: Iterable[str] = ()) -> Extent:
    """The extent of a trace of one capture. `aligned` has texts such as `app.strace=line:120`: capture and moment.

    Raises `WrongUsage` if the text of this capture names no moment."""
    capture = trace.captures[0] if trace.captures else None
    if capture is None:
        return Extent("")
    window = trace.window
    moment = next((each for text in aligned if (each := _moment_of(capture.path, text)) is not None), None)
    at_ns = None if moment is None else trace.select(start=moment).window.start_ns
    if moment is not None and at_ns is None:
        raise WrongUsage(f"--align: {moment} names no moment of {capture.path}.")
    is_log = capture.dur_kind == "gap"
    found = Extent(
        *(capture.path, capture.clock, is_log, is_log and _is_local(trace)),
        *(window.start_ns, window.end_ns),
        moment_ns=at_ns,
    )
    # truss -d prints the date of its zero.
    zero_ns = capture.base_ns if not found.has_midnight else None
    return _dated(found, zero_ns) if zero_ns else found


def _is_local(trace: TraceTables) -> bool:
    """Whether the first message has a time of day without its zone."""
    # The head of a table needs no other package.
    lines = [row["line"] for row in trace.events_of(("line",), limit=1).head(1)]
    text = "".join(trace.quote(lines))
    return _TIME_OF_DAY.search(text) is not None and _ZONED.search(text) is None


def _dated(extent: Extent, zero_ns: int) -> Extent:
    def since_1970(ns: int | None) -> int | None:
        return None if ns is None else ns + zero_ns

    start_ns, end_ns, moment_ns = map(since_1970, (extent.start_ns, extent.end_ns, extent.moment_ns))
    return replace(extent, clock="epoch", start_ns=start_ns, end_ns=end_ns, moment_ns=moment_ns)


def must_name_captures(aligned: Iterable[str], extents: Sequence[Extent]) -> None:
    """Raises `WrongUsage` for a text that begins with no name of these captures."""
    for text in aligned:
        if all(_moment_of(each.name, text) is None for each in extents):
            names = ", ".join(each.name for each in extents)
            raise WrongUsage(f"--align {text}: write CAPTURE=TIME; the captures are {names}.")


def _moment_of(path: str, text: str) -> str | None:
    """The moment in a text that begins with a name of a capture: its path, or the last part of it."""
    for name in (path, PurePath(path).name):
        if name and text.startswith(f"{name}="):
            return text[len(name) + 1 :]
    return None


def shifts(extents: Sequence[Extent]) -> list[Shift | None]:
    """The shift of each capture to the clock of one of them; None where nothing tells."""
    reference = _reference(extents)
    return [None if reference is None else _shift(each, reference) for each in extents]


def _reference(extents: Sequence[Extent]) -> Extent | None:
    timed = [each for each in extents if each.start_ns is not None]
    for is_fit in (
        lambda each: each.moment_ns is not None and each.is_dated,
        lambda each: each.moment_ns is not None,
        lambda each: each.is_dated,
        lambda each: each.has_midnight,
    ):
        if found := next(filter(is_fit, timed), None):
            return found
    return None


def _shift(extent: Extent, reference: Extent) -> Shift | None:
    if extent is reference:
        return Shift(0)
    if extent.moment_ns is not None and reference.moment_ns is not None:
        return Shift(reference.moment_ns - extent.moment_ns, Basis.GIVEN)
    if (difference := difference_ns(reference.connections, extent.connections)) is not None:
        return _of_connections(*difference)
    if not (extent.has_midnight and reference.has_midnight):
        return None
    is_one_clock = extent.clock == reference.clock
    if is_one_clock and _overlap(extent, reference, 0):
        return Shift(0)
    return _of_midnights(extent, reference) or (Shift(0) if is_one_clock else None)


def _of_midnights(extent: Extent, reference: Extent) -> Shift | None:
    """The shift by whole days, or by the difference of time zones, with which the captures overlap."""
    days_ns = 0
    if not (extent.is_dated and reference.is_dated):
        days_ns = round(((reference.start_ns or 0) - (extent.start_ns or 0)) / DAY_NS) * DAY_NS
        for ns in (days_ns, days_ns - DAY_NS, days_ns + DAY_NS):
            if _overlap(extent, reference, ns):
                return Shift(ns, Basis.DAYS)
    # A tracer's clock since 1970 is of no zone. A log may print local time.
    if not (extent.is_local or reference.is_local) or extent.is_log == reference.is_log:
        return None
    zones = range(-MAX_ZONES_NS, MAX_ZONES_NS + 1, ZONE_STEP_NS)
    fitting = [days_ns + ns for ns in zones if _overlap(extent, reference, days_ns + ns)]
    return Shift(fitting[0], Basis.ZONE) if len(fitting) == 1 else None


def _of_connections(least_ns: int | None, most_ns: int | None) -> Shift:
    """The middle of the bounds; no shift if clocks that agree explain what was sent and received."""
    least_ns, most_ns = most_ns if least_ns is None else least_ns, least_ns if most_ns is None else most_ns
    if least_ns is None or most_ns is None or least_ns <= 0 <= most_ns:
        return Shift(0)
    return Shift((least_ns + most_ns) // 2, Basis.CONNECTION)


def _overlap(extent: Extent, reference: Extent, ns: int) -> bool:
    starts, ends = (extent.start_ns, reference.start_ns), (extent.end_ns, reference.end_ns)
    if None in starts or None in ends:
        return False
    return (starts[0] or 0) + ns <= (ends[1] or 0) and (starts[1] or 0) <= (ends[0] or 0) + ns


@dataclass(frozen=True)
class Axis:
    """The axis of several captures, in nanoseconds: where each begins on it, and its length."""

    before_ns: tuple[int | None, ...]
    """For each capture, the time from the start of the axis; None for one that is not on it."""
    span_ns: int

    def on(self, number: int) -> tuple[int, int] | None:
        """Where a capture begins, and the length of the axis; None if the capture is not on it."""
        before_ns = self.before_ns[number]
        return None if before_ns is None else (before_ns, self.span_ns)


def axis_of(extents: Sequence[Extent]) -> Axis | None:
    """The axis of the captures that were made at the same time; None if fewer than two were."""
    placed = {
        number: (each.start_ns + shift.ns, each.end_ns + shift.ns)
        for number, (each, shift) in enumerate(zip(extents, shifts(extents), strict=True))
        if shift is not None and each.start_ns is not None and each.end_ns is not None
    }
    if len(placed) < 2:
        return None
    start_ns, end_ns = min(start for start, _ in placed.values()), max(end for _, end in placed.values())
    longest_ns = max(end - start for start, end in placed.values())
    is_one_time = end_ns - start_ns <= sum(end - start for start, end in placed.values())
    shortest_ns = min(end - start for start, end in placed.values())
    if not is_one_time or longest_ns > MAX_AXIS_RATIO * shortest_ns:
        return None
    before = (placed[number][0] - start_ns if number in placed else None for number in range(len(extents)))
    return Axis(tuple(before), end_ns - start_ns)


def notes(extents: Sequence[Extent]) -> list[str]:
    """What has to be said about the shifts of captures."""
    found = (note(extent, shift) for extent, shift in zip(extents, shifts(extents), strict=True))
    return [text for text in found if text is not None]


def note(extent: Extent, shift: Shift | None) -> str | None:
    """What has to be said about a shift that was inferred; None about the others."""
    if shift is None or shift.basis not in (Basis.ZONE, Basis.CONNECTION):
        return None
    of_day_ns = abs(shift.ns) if shift.basis is Basis.CONNECTION else abs(shift.ns) % DAY_NS or DAY_NS
    reason = ": another time zone" if shift.basis is Basis.ZONE else ", by what the hosts sent each other"
    side = "behind" if shift.ns > 0 else "ahead"
    return f"The clock of {shown(extent.name)} is {units.duration(of_day_ns)} {side}{reason}."
