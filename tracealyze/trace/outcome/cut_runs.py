"""Runs whose end is not in the capture: what they wait for, what failed last, what they worked on."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.program_names import process_of
from tracealyze.base.sanitize import shown
from tracealyze.model.capture_input.recapture import whole_command
from tracealyze.trace.outcome import hangs, known
from tracealyze.trace.outcome.failures import as_usual, called, only_failure, sentence, states, step, unexplained
from tracealyze.trace.outcome.messages import around, last_message
from tracealyze.trace.outcome.outcome import Describing, Outcome, Quoting, Verdict
from tracealyze.trace.outcome.questions import unanswered

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.model.trace_tables import TraceTables
    from tracealyze.trace.outcome.processes import EndedProcess

_NAMED = ("client", "event", "message", "input", "child")
"""Kinds of waits whose calls name what they wait for."""
_MIN_RESTING = 3
_MIN_ONLY_ENDS = 2
_MAX_USUAL = 2
_MAX_STEPS = 3
_NEAR_CALLS = 40
"""Calls between what failed and the end of a capture that may still be about it."""
_MIN_DOUBLED = 4
"""Lengths of sleeps, each twice the one before, that are no chance."""
LIBRARY = re.compile(r"\.so(\.[\d.]+)?$")


def cut(trace: TraceTables, process: EndedProcess, processes: Sequence[EndedProcess]) -> Outcome:
    """That the capture ends before the process does, with what it says, waits for and did last."""
    words = _last_words(process) or _said_around(process)
    asked = [told for each in processes for told in unanswered(each)]
    gone = _looks_for(processes)
    first = _stuck_writer(processes) or _only_ends(trace) or _backs_off(trace) or asked or gone
    # What one of several processes failed to do is not what the capture is about.
    failed = unexplained(process) if len(processes) == 1 else None
    remark = first[0] if first else Quoting(" ".join(words)) if words or failed is None else _last_failure(process)[0]
    return Outcome(
        Verdict.CANNOT_TELL,
        f"the capture ends before {process.name(processes)} does",
        (
            *first,
            *(words or ([] if gone else _last_failure(process))),
            *resting_threads(process),
            *_last_steps(process),
        ),
        unseen="how it goes on",
        remark=remark,
        next=whole_command(trace.captures[0].format, attaches=True),
    )


def standing(trace: TraceTables, processes: Sequence[EndedProcess]) -> Outcome | None:
    """That no thread returns from the call in which the tracer found it, and that it is not known what all wait for.

    None if a call returned, or if the calls name what they wait for."""
    rows = [row for process in processes for row in process.last_calls]
    resumed = [row for row in rows if row["syscall"] == "restart_syscall"]
    is_named = any(row["kind"] in _NAMED and row not in resumed for row in rows)
    if len(rows) < 2 or len(rows) != trace.totals["calls"] or is_named or not resumed:
        return None
    names = sorted({row["syscall"] for row in rows})
    calls = ", ".join(f"{sum(row['syscall'] == name for row in rows)} in {name}" for name in names)
    return Outcome(
        Verdict.CANNOT_TELL,
        f"none of the {len(rows)} threads that the capture shows returns from its call",
        (shown(f"They are {calls}: idle, or hung."),),
        tuple(row["last_line"] for row in rows[:2]),
        unseen="for how long, and what each of them waits for",
        next=hangs.command(processes[0].pid),
        inert=f"{len(rows)} threads do not return",
    )


def resumed(trace: TraceTables, process: EndedProcess, name: str) -> Outcome | None:
    """That the only call is a wait which began before the tracer attached; None if there are others."""
    row = process.last_calls[0] if process.last_calls else None
    if row is None or row["syscall"] != "restart_syscall" or trace.totals["calls"] > 1:
        return None
    return Outcome(
        Verdict.CANNOT_TELL,
        shown(f"{name} is in a wait with a limit that began before the capture, and makes no other call"),
        ("The tracer prints such a wait as restart_syscall: it was a poll, a sleep, or a wait for a thread.",),
        (row["last_line"],),
        unseen="what it waits for",
        next=hangs.command(process.pid),
    )


def lock(processes: Sequence[EndedProcess]) -> Row | None:
    """The wait for a lock or for another thread in which all traced threads are when the capture ends."""
    rows = [row for process in processes for row in process.last_calls]
    waits = all(row["kind"] == "thread" and not row["limited"] for row in rows)
    return rows[0] if rows and waits and len(rows) == sum(each.ending["threads"] for each in processes) else None


def locked(process: EndedProcess, name: str, row: Row) -> Outcome:
    """That all traced threads wait for a lock, or for a thread that is not in the capture."""
    on = f" on {row['target']}" if row["target"] else ""
    # futex(2): a futex without this mark may lie in memory that processes share.
    is_shared = row["syscall"] == "futex" and row["op"] == "FUTEX_WAIT"
    shared = (
        "The address may be in memory that processes share, such as a database: one that died may still hold the lock."
    )
    own = "Another thread of the process has to end this wait, and none is in the capture."
    remark = shared if is_shared else own
    return Outcome(
        Verdict.CANNOT_TELL,
        shown(f"the capture ends while {name} waits in {row['syscall']} {row['op'] or ''}{on}"),
        (remark,),
        (row["last_line"],),
        unseen="who should end the wait",
        next=hangs.command(process.pid),
        remark=remark,
    )


def contended(processes: Sequence[EndedProcess]) -> Outcome | None:
    """That several threads wait for one lock when the capture ends; None if they do not.

    Threads that wait for work do not expect the state of a lock."""
    rows = contending(processes)
    if len(rows) < _MIN_RESTING:
        return None
    remark = "It shows neither which thread holds the lock, nor whether it will be released."
    return Outcome(
        Verdict.CANNOT_TELL,
        shown(f"the capture ends while {len(rows)} threads wait for one lock, {called(rows[0])}"),
        (remark,),
        tuple(row["last_line"] for row in rows[:2]),
        unseen="who holds the lock, and for how long they wait",
        next=hangs.command(rows[0]["pid"]),
        remark=remark,
    )


def contending(processes: Sequence[EndedProcess]) -> list[Row]:
    """The calls of the threads that wait, without a limit, for the lock that most of them wait for.

    Without a call that created them, threads look like processes. A private lock has waiters in one process only, while
    processes that take turns at a shared one, as servers do to accept, are idle."""
    waiting = [
        ((row["op"], row["target"], 0 if "PRIVATE" in row["op"] else number), row)
        for number, each in enumerate(processes)
        for row in each.last_calls
        if row["contended"] and not row["limited"] and row["target"]
    ]
    locks = [lock for lock, _ in waiting]
    most = max(locks, key=locks.count, default=None)
    return [row for lock, row in waiting if lock == most]


def awaits_child(trace: TraceTables, process: EndedProcess, processes: Sequence[EndedProcess]) -> Outcome | None:
    """That a process waits for a child which is at work when the capture ends; None if it does not."""
    waits = [row for row in process.last_calls if row["kind"] == "child"]
    if not waits:
        return None
    others = [row for row in trace.table("open_calls") if row["pid"] != process.pid]
    if any(row["idle"] for row in others):
        return None
    in_call = [row for row in others if row["kind"] != "child"]
    # One that had ended would have ended the wait.
    children = [] if others else [row for row in trace.processes if row["parent_pid"] == process.pid and row["calls"]]
    if in_call:
        row = in_call[-1]
        on = f" on {row['target']}" if row["target"] else ""
        where = f"{process_of(row)} is in {row['syscall']}{on} (line {row['last_line']}), which has not returned."
    elif children:
        row = children[-1]
        where = f"{process_of(row)} is at work when it ends."
    else:
        return None
    remark = shown(where)
    return Outcome(
        Verdict.CANNOT_TELL,
        f"the capture ends while {process.name(processes)} waits for its child",
        (remark,),
        (row["last_line"] if in_call else waits[-1]["last_line"],),
        unseen="whether it returns",
        next=hangs.command(row["pid"]),
        remark=remark,
    )


def _last_words(process: EndedProcess) -> list[str]:
    """What the process said last, if that is about a failure, and what failed."""
    message = last_message(process)
    if message is None or not message.is_failure:
        return []
    row = unexplained(process)
    return [Quoting(f"Last message: {message.quoted()}."), *([f"Last failure: {sentence(row)}"] if row else [])]


def _said_around(process: EndedProcess) -> list[str]:
    """What the text around the capture says of a failure: how a shell reports the end, or the last error."""
    last = unexplained(process)
    for message in reversed(list(around(process))):
        row = last or only_failure(process, message)
        if message.is_certain or (row and states(message, row)):
            said = Quoting(f"The text around the capture says: {message.quoted()}.")
            return [said, *([f"Last failure: {sentence(row)}"] if row else [])]
    return []


def _stuck_writer(processes: Sequence[EndedProcess]) -> list[str]:
    """A write that began before the capture and never returns, while other threads go on."""
    for process in processes:
        for row in process.last_calls:
            goes_on = any(each["before"] for each in process.last_calls)
            if row["kind"] == "reader" and not row["before"] and row["rows_after"] and goes_on:
                on = f" on {row['target']}" if row["target"] else f" on descriptor {row['fd']}"
                thread = f", thread {row['tid']}," if row["tid"] not in (None, process.pid) else ""
                does = f"{process.name(processes)}{thread} does not return from {row['syscall']}{on}"
                text = f"{does} (line {row['last_line']}): its reader is slow, or has stopped."
                return [shown(f"T{text[1:]}" if text.startswith("the ") else text)]
    return []


def _only_ends(trace: TraceTables) -> list[str]:
    """That the lines are second halves only, as if somebody had picked the long ones."""
    ends = trace.accounting.get("call_end", 0)
    others = sum(trace.accounting.get(kind, 0) for kind in ("call", "call_start"))
    if ends < _MIN_ONLY_ENDS or others:
        return []
    return [f"The {units.count(ends)} lines are second halves of calls: what they waited on stood in the first ones."]


def _backs_off(trace: TraceTables) -> list[str]:
    """That a process looks again and again for something, and sleeps twice as long after each time."""
    rows = [row for row in trace.table("sleeps") if row["asked_ns"] and row["calls"] > 1]
    by_process: dict[tuple[int | None, str], dict[int, int]] = {}
    for row in rows:
        asked = by_process.setdefault((row["pid"], row["syscall"]), {})
        asked[row["asked_ns"]] = asked.get(row["asked_ns"], 0) + row["calls"]
    for (pid, syscall), asked in by_process.items():
        steps = next((chain for first in sorted(asked) if len(chain := _doubled(asked, first)) >= _MIN_DOUBLED), [])
        made = sum(asked[ns] for ns in steps)
        if steps and made > trace.totals["calls"] / 2:
            process = shown(process_of({"pid": pid, "program": None}))
            lengths = f"{units.duration(steps[0])}, {units.duration(steps[1])} … {units.duration(steps[-1])}"
            text = f"{process} looks for something again and again, and sleeps longer each time: {lengths} ({syscall})"
            return [shown(f"{text}. Another thread or process has to bring it about.")]
    return []


def _looks_for(processes: Sequence[EndedProcess]) -> list[str]:
    """That the process which a signal was meant for does not exist: the sender does not know yet, or does not mind."""
    for process in processes:
        near = [row for row in process.last_failures if row["calls_after"] <= _NEAR_CALLS and not row["recovered"]]
        for row in reversed(near):
            if row["errno"] == "ESRCH" and known.signals_process(row["syscall"]):
                return [sentence(row, "there is no such process, or it has ended")]
    return []


def _doubled(asked: Collection[int], first: int) -> list[int]:
    """The lengths of sleeps from the first one on, each twice the one before."""
    steps = [first]
    while 2 * steps[-1] in asked:
        steps.append(2 * steps[-1])
    return steps


def resting_threads(process: EndedProcess) -> list[str]:
    """The threads that are in the same wait for another thread when the capture ends, as idle ones of a pool are."""
    waits = [row["syscall"] for row in process.last_calls if row["kind"] == "thread" and not row["limited"]]
    name = max(waits, key=waits.count, default="")
    resting = waits.count(name)
    if resting < _MIN_RESTING:
        return []
    return [shown(f"{resting} of {process.ending['threads']} threads wait in {name} when it ends: idle, or blocked.")]


def _last_failure(process: EndedProcess) -> list[str]:
    """What failed last; it may be what the capture is about."""
    row = unexplained(process)
    return [f"Last failure: {sentence(row)}"] if row else usual(process)


def usual(process: EndedProcess) -> list[str]:
    """The failures of a process that has only such that healthy programs have, too: one sentence for each error."""
    if any(not row["recovered"] and not known.is_usual(row) for row in process.last_failures):
        return []
    last: dict[tuple[str, str], Row] = {}
    for row in filter(known.is_usual, process.last_failures):
        key = row["syscall"], row["errno"]
        calls = row["calls"] + (last[key]["calls"] if key in last else 0)
        last[key] = {**row, "calls": calls}
    rows = sorted(last.values(), key=lambda row: row["last_line"])[-_MAX_USUAL:]
    if process.last_failures and not rows:
        return ["It went on after each failure."]
    return [as_usual(row) for row in rows]


def _last_steps(process: EndedProcess) -> list[Describing]:
    """What the process worked on last, with success: files, devices, peers, and libraries if there is nothing else."""
    rows = [row for row in process.last_targets if "/" in row["target"] or ":" in row["target"]]
    rows = [row for row in rows if not LIBRARY.search(row["target"])] or rows
    return [Describing(f"Its last steps: {'; '.join(map(step, rows[-_MAX_STEPS:]))}.")] if rows else []
