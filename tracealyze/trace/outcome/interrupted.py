"""Calls that signals interrupt again and again, so that they never get to their end.

clone ERESTARTNOINTR | SIGPROF | rt_sigreturn | clone ERESTARTNOINTR | SIGPROF | rt_sigreturn | …
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.heuristics import (
    MAX_SPIN_INTERVAL_NS,
    MIN_CYCLE_SHARE,
    MIN_OBSERVED_SHARE,
    MIN_UNIFORM_CALLS,
)
from tracealyze.base.sanitize import shown
from tracealyze.trace.outcome import hangs, known
from tracealyze.trace.outcome.failures import called
from tracealyze.trace.outcome.outcome import Outcome, Verdict

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.model.trace_tables import TraceTables
    from tracealyze.trace.outcome.processes import EndedProcess

_PER_SIGNAL = 2
"""Calls that a turn has at least: the interrupted one, and the return from the handler."""
_MIN_SIGNALS = 2
_MAX_SIGNALS = 4


def interrupted(trace: TraceTables, processes: Sequence[EndedProcess]) -> Outcome | None:
    """That hardly anything happens but a call which a signal breaks off each time; None if it does not."""
    rows = [row for row in trace.table("signals") if row["interrupted"] >= MIN_UNIFORM_CALLS]
    signal = max(rows, key=lambda row: row["interrupted"], default=None)
    if signal is None or any(each.has_ended or each.is_command for each in processes):
        return None
    times: int = signal["interrupted"]
    if times * _PER_SIGNAL < MIN_CYCLE_SHARE * (trace.totals["calls"] - _PER_SIGNAL):
        return None
    broken = broken_off(trace)
    row = max(broken, key=lambda row: row["calls"], default=None)
    if row is None or row["calls"] < MIN_UNIFORM_CALLS or _returned(trace, row):
        return None
    sender = known.sender(signal["signal"])
    every = f", once every {units.duration(signal['interval_ns'])}" if signal["interval_ns"] else ""
    return Outcome(
        _verdict(row, signal),
        shown(f"{signal['signal']} interrupts {called(row)} {units.counted(times, 'time')}{every}"),
        ("The call begins anew each time, and never gets to its end in these lines.", *([sender] if sender else ())),
        (signal["first_line"], signal["last_line"]),
        unseen="for how long" if sender else "who sends the signal",
        next=hangs.command(signal["pid"]),
        inert=f"a signal interrupts a call {units.counted(times, 'time')}",
    )


def arriving(trace: TraceTables) -> tuple[str, int]:
    """The signals that come often, as seen from the number of calls, as a sentence, and their number; else empty."""
    rows = list(trace.table("signals"))
    delivered = sum(row["delivered"] for row in rows)
    if delivered < _MIN_SIGNALS or delivered < MIN_OBSERVED_SHARE * trace.totals["calls"]:
        return "", 0
    names: Counter[str] = Counter()
    for row in rows:
        names[row["signal"]] += row["delivered"]
    ordered = sorted(names.items(), key=lambda each: (-each[1], each[0]))
    told = [f"{name} {units.counted(times, 'time')}" for name, times in ordered[:_MAX_SIGNALS]]
    broken = sum(row["interrupted"] for row in rows)
    interrupts = f", which interrupt {units.counted(broken, 'call')}" if broken else ""
    return shown(f"Signals arrive: {', '.join(told)}{interrupts}."), delivered


def broken_off(trace: TraceTables) -> list[Row]:
    """The calls that were interrupted, apart from returns from handlers, which report what they go back to."""
    selected = trace.select(where='outcome == "interrupted" or errno == "EINTR"')
    rows = selected.calls(by=["syscall", "op", "target"], quantiles=False)
    return [row for row in rows if not row["syscall"].endswith(("sigreturn", "sigsuspend"))]


def _returned(trace: TraceTables, row: Row) -> bool:
    """Whether such a call also returned."""
    calls = trace.calls(by=["syscall", "op", "target"], quantiles=False)
    key = (row["syscall"], row["op"], row["target"])
    return any((each["syscall"], each["op"], each["target"]) == key and each["calls"] > row["calls"] for each in calls)


def _verdict(row: Row, signal: Row) -> Verdict:
    """Work that is begun anew each time keeps a processor busy. A wait does not, and what it waits for is not known."""
    is_quick = 0 < (signal["interval_ns"] or 0) <= MAX_SPIN_INTERVAL_NS
    return Verdict.BUSY if is_quick or known.creates(row["syscall"]) else Verdict.CANNOT_TELL
