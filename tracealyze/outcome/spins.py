"""Runs that do one thing only, without success: each call fails, or a wait returns at once again and again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracealyze import units
from tracealyze.heuristics import MIN_SPIN_CALLS, MIN_SPIN_SHARE, MIN_UNIFORM_CALLS
from tracealyze.outcome import hangs, known
from tracealyze.outcome.outcome import Outcome, Verdict
from tracealyze.sanitize import shown

if TYPE_CHECKING:
    from tracealyze.outcome.processes import EndedProcess
    from tracealyze.table import Row
    from tracealyze.trace_tables import TraceTables


def in_table(trace: TraceTables) -> Outcome | None:
    """A call that has nearly all calls of the tracer's own table; None if none has, or if it may be the work itself."""
    rows = list(trace.summary_rows) if trace.is_summary_only else []
    calls = sum(row["calls"] for row in rows)
    largest = max(rows, key=lambda row: row["calls"], default=None)
    if largest is None or calls < MIN_SPIN_CALLS or largest["calls"] < MIN_SPIN_SHARE * calls:
        return None
    is_failing = largest["failed"] >= MIN_SPIN_SHARE * largest["calls"]
    if not is_failing and not known.is_wait(largest["syscall"]):
        return None
    name = shown(largest["syscall"])
    returns = "A wait that is called so often returns at once: nobody takes what it reports."
    return Outcome(
        Verdict.BUSY,
        f"{name} has {units.count(largest['calls'])} of {units.counted(calls, 'call')} in the tracer's table",
        ("Each of them failed." if is_failing else returns,),
        unseen="which descriptor or address it is about",
        next="strace -f -ttt -T -yy -p PID",
        inert=f"{name} has nearly all calls of the table",
    )


def of_failures(trace: TraceTables, processes: Sequence[EndedProcess]) -> Outcome | None:
    """That all calls of a capture are the same one, and each of them fails; None if not."""
    calls = trace.totals["calls"]
    if calls < MIN_UNIFORM_CALLS or len(processes) != 1 or processes[0].has_ended:
        return None
    failures = processes[0].last_failures
    if len(failures) != 1 or failures[0]["calls"] != calls:
        return None
    row = failures[0]
    on = f" on {row['target']}" if row["target"] else ""
    fails = f"it fails with {row['errno']} each time"
    return Outcome(
        Verdict.BUSY,
        shown(f"{processes[0].name()} calls {row['syscall']}{on} again and again; {fails}"),
        tuple(f"{text[0].upper()}{text[1:]}." for text in [_meaning(row)] if text),
        (row["first_line"], row["last_line"]),
        unseen="for how long",
        next=hangs.command(processes[0].pid),
        inert=f"repeats one call that fails with {row['errno']}",
    )


def _meaning(row: Row) -> str:
    """What an error means of a call."""
    error = known.error(row["errno"])
    return (error.calls.get(row["syscall"]) or error.text) if error else ""
