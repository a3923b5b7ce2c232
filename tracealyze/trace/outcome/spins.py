"""Runs that do one thing only, without success: each call fails, or a wait returns at once again and again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.heuristics import (
    MAX_CALLS_BETWEEN_LOOKS,
    MAX_SPIN_INTERVAL_NS,
    MIN_CYCLE_SHARE,
    MIN_FINAL_TURNS,
    MIN_SPIN_CALLS,
    MIN_SPIN_SHARE,
    MIN_SPINS_OF_PROGRAM,
    MIN_UNIFORM_CALLS,
)
from tracealyze.base.sanitize import shown
from tracealyze.trace.outcome import hangs, known
from tracealyze.trace.outcome.failures import command
from tracealyze.trace.outcome.outcome import Outcome, Verdict

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.model.trace_tables import TraceTables
    from tracealyze.trace.outcome.processes import EndedProcess

_MAX_BODY = 4
_MAX_EXCERPT_CALLS = 1_000
_SETTING_TIMERS = ("timerfd_settime", "timer_settime", "setitimer")
_OF_LIMITS = ("ETIMEDOUT", "ETIME")


def in_table(trace: TraceTables) -> Outcome | None:
    """A call that has nearly all calls of the tracer's own table; None if none has, or if it may be the work itself."""
    rows = list(trace.summary_rows) if trace.is_summary_only else []
    calls = sum(row["calls"] for row in rows)
    largest = max(rows, key=lambda row: row["calls"], default=None)
    if largest is None or calls < MIN_SPIN_CALLS or largest["calls"] < MIN_SPIN_SHARE * calls:
        return None
    is_failing = largest["failed"] >= MIN_SPIN_SHARE * largest["calls"]
    is_lock = known.is_lock(largest["syscall"])
    if not is_failing and not is_lock and not known.is_wait(largest["syscall"]):
        return None
    name = shown(largest["syscall"])
    returns = "A wait that is called so often returns at once: nobody takes what it reports."
    if is_lock:
        returns = "Threads take and release the same locks again and again."
    return Outcome(
        Verdict.BUSY,
        f"{name} has {units.count(largest['calls'])} of {units.counted(calls, 'call')} in the tracer's table",
        ("Each of them failed." if is_failing else returns,),
        unseen="which descriptor or address it is about",
        next="strace -f -ttt -T -yy -p PID",
        inert=f"{name} has nearly all calls of the table",
    )


def looking(trace: TraceTables, processes: Sequence[EndedProcess]) -> Outcome | None:
    """That an excerpt looks for events again and again without waiting, and does nothing with what it finds."""
    is_excerpt = trace.totals["calls"] <= _MAX_EXCERPT_CALLS and not trace.captures[0].filtered
    if not is_excerpt or not processes or any(each.has_ended or each.is_command for each in processes):
        return None
    rows = trace.select(where='requested_ns == 0 and ret == 0 and outcome == "ok"').calls(by=["syscall"])
    looks = {row["syscall"]: row["calls"] for row in rows if known.is_wait(row["syscall"])}
    others = trace.select(where='requested_ns > 0 or bytes > 0 or outcome == "open"').totals["calls"]
    is_most = sum(looks.values()) * MAX_CALLS_BETWEEN_LOOKS >= trace.totals["calls"]
    pauses = trace.window.wall_ns > sum(looks.values()) * MAX_SPIN_INTERVAL_NS
    if sum(looks.values()) < MIN_UNIFORM_CALLS or others or not is_most or pauses:
        return None
    syscall, times = max(looks.items(), key=lambda each: each[1])
    process = processes[0]
    many, name = units.counted(times, "time"), shown(syscall)
    return _excerpt(
        process,
        f"{process.name(processes)} asks {name} for events {many} with a limit of 0",
        "It returns at once each time and reports nothing: the process spins instead of waiting.",
        f"{name} with a limit of 0, {many}",
    )


def yielding(trace: TraceTables, processes: Sequence[EndedProcess]) -> Outcome | None:
    """That an excerpt hardly does anything but give the processor away, as threads do that spin for a lock."""
    calls = trace.totals["calls"]
    is_excerpt = calls <= _MAX_EXCERPT_CALLS and not trace.captures[0].filtered
    if not is_excerpt or not processes or any(each.has_ended or each.is_command for each in processes):
        return None
    made = {row["syscall"]: row["calls"] for row in trace.calls(by=["syscall"], quantiles=False)}
    times = sum(number for name, number in made.items() if known.yields(name))
    pauses = trace.window.wall_ns > times * MAX_SPIN_INTERVAL_NS
    if times < MIN_UNIFORM_CALLS or times < MIN_CYCLE_SHARE * calls or pauses:
        return None
    process, many = processes[0], units.counted(times, "time")
    name = shown(max(filter(known.yields, made), key=lambda each: made[each]))
    return _excerpt(
        process,
        f"{process.name(processes)} calls {name} {many}, and hardly anything else",
        "It gives the processor away and waits for nothing: it spins until another thread is done.",
        f"{name}, {many}",
    )


def _excerpt(process: EndedProcess, text: str, detail: str, inert: str) -> Outcome:
    """A spin of which the lines show neither the begin nor the end."""
    return Outcome(Verdict.BUSY, text, (detail,), unseen="for how long", next=hangs.command(process.pid), inert=inert)


def in_cycle(processes: Sequence[EndedProcess]) -> Outcome | None:
    """The sequence of calls that a process repeats in vain until the capture ends; None if there is none."""
    for process in processes:
        for row in process.last_cycles:
            goes_on = process.exit_code is None and process.signal_kind != "crash"
            is_spin = spins(process, row)
            is_much = _is_most(row) or (is_spin and row["turns"] >= MIN_SPINS_OF_PROGRAM)
            is_in_vain = is_spin or _is_in_vain(row) or _leaves_ready(row) or _expires_at_once(row)
            if goes_on and is_much and is_in_vain and (row["turns"] >= MIN_UNIFORM_CALLS or _is_proven(row)):
                return _busy(process, processes, row)
    return None


def _is_most(row: Row) -> bool:
    """Whether a capture contains little else, or a program ends up in it."""
    if row["turns"] >= MIN_FINAL_TURNS:
        return True
    # The first turn of a copied text may be cut, and the last one may not be over.
    whole: int = row["calls"] - row["period"]
    # Somebody may have copied the loop twice, once without the lines between.
    made = row["turns"] * row["period"] if row["turns"] < MIN_UNIFORM_CALLS else row["alike"]
    return bool(made >= MIN_CYCLE_SHARE * whole)


def _is_proven(row: Row) -> bool:
    """Whether two turns show by themselves that more follow: a wait reports something, and nobody takes it."""
    is_quick = row["turn_ns"] is None or row["turn_ns"] <= MAX_SPIN_INTERVAL_NS
    is_shut = row["empty"] and row["targets"] == 1 and _naps(row)
    return bool(is_quick and (row["ready"] or is_shut) and row["period"] > 1)


def _naps(row: Row) -> bool:
    """Whether a turn sleeps, but for so short that it keeps a processor busy."""
    return bool(row["idle"] and 0 < (row["pause_ns"] or 0) <= MAX_SPIN_INTERVAL_NS)


def _expires_at_once(row: Row) -> bool:
    """Whether a turn is only a wait for a moment that has passed, or for a timer of its own that expires at once."""
    sets_timers = _timers_of(row)
    is_quick = row["turn_ns"] is not None and row["turn_ns"] <= MAX_SPIN_INTERVAL_NS
    others = row["period"] - row["ready"] - row["quick"] - row["registers"] - row["counters"] - sets_timers
    is_only_timer = sets_timers and row["ready"] and others <= 0 and (row["past"] or is_quick)
    return bool(not row["bytes"] and (is_only_timer or (row["past"] and not sets_timers)))


def _timers_of(row: Row) -> int:
    return sum(name.split()[0] in _SETTING_TIMERS for name in row["body"])


def _is_in_vain(row: Row) -> bool:
    """Whether a turn moves nothing and does not succeed. Idle programs wait until their limits again and again, too."""
    if row["bytes"] or row["errno"] == "EINTR":
        return False
    call = _failing_call(row)
    fails_as_usual = bool(row["failing"]) and known.is_usual({**row, "syscall": call})
    # A search tries other names or folders each time, and so do programs that look at what is there.
    looks = row["errno"] in ("ENOENT", "ENOTDIR") or known.looks_up(call)
    is_search = row["targets"] > 1 and (fails_as_usual or looks)
    # A futex fails with EAGAIN where its value has changed meanwhile, which is no limit.
    over = _OF_LIMITS if call == "futex" else (*_OF_LIMITS, "EAGAIN")
    is_over = known.has_limit(call) and row["errno"] in over
    is_idle = row["idle"] and (fails_as_usual or not row["failing"]) and not (row["empty"] and _naps(row))
    # Daemons close all descriptors that they may have inherited.
    closes_all = call == "close" and row["errno"] == "EBADF"
    is_usual = is_idle or is_search or is_over or closes_all or _misses_client(row, call)
    return bool((row["failing"] or row["empty"]) and not is_usual)


def _misses_client(row: Row, call: str) -> bool:
    """Whether a worker finds no client after a wait: a client wakes several workers, and one of them gets it."""
    waits = row["turn_ns"] is not None and row["turn_ns"] > MAX_SPIN_INTERVAL_NS
    return bool(waits and call in ("accept", "accept4") and row["errno"] == "EAGAIN")


def _leaves_ready(row: Row) -> bool:
    """Whether a turn is only a wait that reports something at once, and calls that take nothing of it."""
    others = row["period"] - row["ready"] - row["quick"] - row["registers"] - _timers_of(row)
    return bool(row["ready"] and not row["bytes"] and not others)


def spins(process: EndedProcess, row: Row) -> bool:
    """Whether a process does nothing but read clocks and yield.

    A program that just starts may measure its clock, and one that also waits counts what is left of its limit."""
    least = MIN_SPINS_OF_PROGRAM if process.ending["born"] or row["waits"] else MIN_UNIFORM_CALLS
    return bool(row["quick"] == row["period"] and row["turns"] > least)


def _failing_call(row: Row) -> str:
    """The name of the first call of a turn that fails."""
    return next((name.split()[0] for name in row["body"] if name.endswith(f" {row['errno']}")), "")


def _busy(process: EndedProcess, processes: Sequence[EndedProcess], row: Row) -> Outcome:
    body = ", ".join(row["body"][:_MAX_BODY]) + (" …" if row["period"] > _MAX_BODY else "")
    on = f" on {row['target']}" if row["target"] and row["period"] == 1 else ""
    times = units.counted(row["turns"], "time")
    does = f"calls {body}{on}" if row["period"] == 1 else f"repeats {body}"
    vain = "" if row["quick"] == row["period"] or _expires_at_once(row) else " without success"
    failed = {**row, "syscall": _failing_call(row), "op": ""}
    return Outcome(
        Verdict.BUSY,
        shown(f"{process.name(processes)} {does} {times}{vain}, until the capture ends"),
        tuple(_explained(process, row, failed)),
        (row["first_line"], row["last_line"]),
        unseen="for how long",
        next=(row["failing"] and not row["past"] and command(failed, process.pid)) or hangs.command(process.pid),
        inert=f"repeats a sequence of {units.counted(row['period'], 'call')} {times}{vain}",
    )


def _printed_to(process: EndedProcess) -> str:
    """The stream on which a process printed all that it said last; empty if there are several, or none."""
    streams = {row["fd"] for row in process.last_texts if row["printed"]}
    return {1: "standard output", 2: "standard error"}.get(streams.pop(), "") if len(streams) == 1 else ""


def _at_once(row: Row) -> str:
    if row["past"]:
        return "It waits for a moment that has passed already, so each wait returns at once: it spins."
    return f"The timer that it sets expires at once, once every {units.duration(row['turn_ns'])}: it spins."


def _explained(process: EndedProcess, row: Row, failed: Row) -> Iterator[str]:
    on = f" on {row['target']}" if row["target"] else ""
    if _expires_at_once(row):
        yield _at_once(row)
    elif row["failing"]:
        meaning = known.meaning(row["errno"], failed["syscall"])
        yield shown(f"{failed['syscall']}{on} fails with {row['errno']} each time{': ' if meaning else ''}{meaning}.")
        if row["errno"] == "EPIPE" and (stream := _printed_to(process)):
            yield f"Nobody reads its {stream} any more, so that what it says is lost."
    elif row["empty"]:
        yield shown(f"A read{on} returns 0 each time: the other end is closed, or there is no more data.")
    elif row["ready"]:
        yield "No call takes what the wait reports, so the next one returns at once: it spins."
    else:
        yield "None of these calls waits: it spins."
    if row["idle"] and not row["past"]:
        yield "It pauses in between."
