"""Runs without a failure: how they ended, or that the capture does not show it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.program_names import process_of, short
from tracealyze.base.sanitize import shown
from tracealyze.model.capture_input.recapture import whole_command
from tracealyze.trace.outcome import hangs, known
from tracealyze.trace.outcome.failed_runs import ends_on_request
from tracealyze.trace.outcome.failures import as_usual, called, nearest_refusal, sentence, states, step, unexplained
from tracealyze.trace.outcome.interrupted import broken_off
from tracealyze.trace.outcome.messages import around, last_message
from tracealyze.trace.outcome.outcome import Describing, Outcome, Quoting, Verdict

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.model.trace_tables import TraceTables
    from tracealyze.trace.outcome.processes import EndedProcess

_IDLE = ("client", "event", "message", "signal", "time", "input", "thread", "child")
_NAMED = ("client", "event", "message", "input", "child")
"""Kinds of waits whose calls name what they wait for."""
_MIN_RESTING = 3
_MIN_ONLY_ENDS = 2
_MAX_CHILDREN = 2
_MAX_USUAL = 2
_MAX_STEPS = 3
_ATTACHING = frozenset(("process", "exit", "blank"))
"""Kinds of lines of a tracer that attaches and detaches."""
_LIBRARY = re.compile(r"\.so(\.[\d.]+)?$")


def loading(trace: TraceTables, processes: Sequence[EndedProcess]) -> Outcome | None:
    """That the capture ends on a library while its program has just started; None if it does not."""
    for process in processes:
        rows = [row for row in process.last_calls if _LIBRARY.search(row["target"] or "")]
        if rows and process.is_command:
            name = process.name(processes)
            return Outcome(
                Verdict.CANNOT_TELL,
                f"the capture ends while {name} is still loading libraries, before its main function",
                lines=(rows[-1]["last_line"],),
                unseen="what the program does",
                next=whole_command(trace.captures[0].format, attaches=True),
            )
    return None


def without_calls(trace: TraceTables) -> Outcome | None:
    """That the tracer attached to processes which made no call; None if the capture has other lines."""
    lines = {kind for capture in trace.captures for kind, number in capture.accounting.items() if number}
    if not all(capture.accounting.get("process") for capture in trace.captures) or not lines <= _ATTACHING:
        return None
    return Outcome(
        Verdict.CANNOT_TELL,
        "the traced process made no system call while the tracer was attached",
        ("It computes, or it is in a call that began before and that the tracer did not print.",),
        unseen="where it is",
        next="top -H -p PID; gdb -p PID -batch -ex 'thread apply all bt'",
        inert="no system call was made",
    )


def ending(trace: TraceTables, processes: Sequence[EndedProcess]) -> Outcome:
    """How a run without a failure ended."""
    process = next((each for each in processes if each.is_command), None)
    roots = [each for each in processes if each.ending["root"]]
    # One that made no call in the capture says nothing about it.
    process = process or next((each for each in roots if each.ending["calls"]), next(iter(roots), None))
    if process is None:
        return Outcome(Verdict.CANNOT_TELL, "")
    name = process.name(processes)
    if process.exit_code is not None and not (process.exit_code and ends_on_request(process)):
        return _exited(trace, process, processes)
    if process.is_told:
        return _told(trace, process, name)
    if asked := next((each for each in processes if each.signal_kind == "asked"), None):
        # The tracer may leave out the end of the process, and print those of its threads.
        return _told(trace, asked, name)
    if outcome := _awaits_child(trace, process, processes) or _resumed(trace, process, name):
        return outcome
    if outcome := _standing(trace, processes):
        return outcome
    if row := _idle(processes):
        on = f" on {row['target']}" if row["target"] else ""
        does = "sleeps" if row["kind"] == "time" else "waits for work"
        does = "waits for input" if hangs.reads_terminal(row) and not _is_socket(row) else does
        waiting = next((each for each in processes if row in each.last_calls), process)
        remark = _while_idle(waiting)
        return Outcome(
            Verdict.FINE,
            shown(f"{waiting.name(processes)} {does} in {row['syscall']}{on} when the capture ends"),
            (remark,) if remark else tuple(_usual(waiting)),
            (row["last_line"],),
            remark=remark,
        )
    if row := _lock(processes):
        return _locked(process, name, row)
    words = _last_words(process) or _said_around(process)
    first = _stuck_writer(processes) or _only_ends(trace)
    return Outcome(
        Verdict.CANNOT_TELL,
        f"the capture ends before {name} does",
        (*first, *(words or _last_failure(process)), *_resting_threads(process), *_last_steps(process)),
        unseen="how it goes on",
        remark=first[0] if first else Quoting(" ".join(words)),
        next=whole_command(trace.captures[0].format, attaches=True),
    )


def _standing(trace: TraceTables, processes: Sequence[EndedProcess]) -> Outcome | None:
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


def _resumed(trace: TraceTables, process: EndedProcess, name: str) -> Outcome | None:
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


def _lock(processes: Sequence[EndedProcess]) -> Row | None:
    """The wait for a lock or for another thread in which all traced threads are when the capture ends."""
    rows = [row for process in processes for row in process.last_calls]
    waits = all(row["kind"] == "thread" and row["requested_ns"] is None for row in rows)
    return rows[0] if rows and waits and len(rows) == sum(each.ending["threads"] for each in processes) else None


def _locked(process: EndedProcess, name: str, row: Row) -> Outcome:
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


def _awaits_child(trace: TraceTables, process: EndedProcess, processes: Sequence[EndedProcess]) -> Outcome | None:
    """That a process waits for a child which is in a call itself when the capture ends; None if it does not."""
    if not any(row["kind"] == "child" for row in process.last_calls):
        return None
    others = [row for row in trace.table("open_calls") if row["pid"] != process.pid and row["kind"] != "child"]
    if not others or any(row["idle"] for row in others):
        return None
    row = others[-1]
    on = f" on {row['target']}" if row["target"] else ""
    remark = shown(f"{process_of(row)} is in {row['syscall']}{on} (line {row['last_line']}), which has not returned.")
    return Outcome(
        Verdict.CANNOT_TELL,
        f"the capture ends while {process.name(processes)} waits for its child",
        (remark,),
        (row["last_line"],),
        unseen="whether it returns",
        next=hangs.command(row["pid"]),
        remark=remark,
    )


def _exited(trace: TraceTables, process: EndedProcess, processes: Sequence[EndedProcess]) -> Outcome:
    code = process.exit_code or 0
    name = process.name(processes)
    meaning = known.exit_status(short(process.ending["program"]), code)
    reason = f" ({meaning.text})" if meaning else ""
    details = list(_of_children(process, processes))
    failed = sum(row["calls"] for row in process.last_failures)
    serious = [row for row in process.last_failures if not row["recovered"] and not known.is_usual(row)]
    if failed and not serious:
        plural = "failure is" if failed == 1 else "failures are"
        end = "." if details else "; no process failed."
        details.append(f"{units.count(failed)} {plural} usual or recovered from{end}")
    has_times = bool(trace.window.wall_ns) or trace.captures[0].has.get("durations")
    return Outcome(
        Verdict.FINE,
        f"{name} exited with status {code}{reason}{_after_signal(process)}",
        tuple(details),
        (process.ending["last_line"],),
        unseen="" if has_times else "whether it was slow",
        next="" if has_times else _again(trace, process),
        inert=f"exited with status {code}",
    )


def _after_signal(process: EndedProcess) -> str:
    """The signal that asked a process to end, which then exits by itself; empty if none did."""
    signal = process.ending["told_by"] or ""
    meaning = known.signals().get(signal)
    return shown(f", after {signal}{f' ({meaning.text})' if meaning and meaning.text else ''}") if signal else ""


def _of_children(process: EndedProcess, processes: Sequence[EndedProcess]) -> Iterator[str]:
    """Children that ended with an error, or were killed, before the command itself ended well."""
    ended = [each for each in processes if each is not process and not each.ending["root"]]
    failed = [each for each in ended if each.signal_kind in ("crash", "killed") or _is_failed(each)]
    for child in failed[-_MAX_CHILDREN:]:
        how = f"was killed by {child.signal}" if child.signal else f"exited with status {child.exit_code}"
        message = last_message(child)
        yield shown(f"Its child {child.name(processes)} {how} (line {child.ending['last_line']}), and it went on.")
        if message and message.is_failure:
            yield Quoting(f"The child's last message: {message.quoted()}.")
    if process.failed_child:
        yield f"Its {process.failed_child} (line {process.ending['child_line']}); that child was not traced."
    if len(failed) > _MAX_CHILDREN:
        yield f"{len(failed) - _MAX_CHILDREN} more of its children failed."


def _is_failed(process: EndedProcess) -> bool:
    """Whether an exit status says that something failed, and is no answer such as that of grep."""
    code = process.exit_code
    meaning = known.exit_status(short(process.ending["program"]), code) if code else None
    message = last_message(process)
    return bool(code and not (meaning and meaning.is_fine) and message and message.is_failure)


def _again(trace: TraceTables, process: EndedProcess) -> str:
    """The command that captures the same with times."""
    again = whole_command(trace.captures[0].format)
    return again.replace("COMMAND", process.command_line or "COMMAND")


def _told(trace: TraceTables, process: EndedProcess, name: str) -> Outcome:
    signal = process.signal or process.ending["told_by"]
    known_signal = known.signals().get(signal)
    meaning = f" ({known_signal.text})" if known_signal and known_signal.text else ""
    row = _idle([process])
    waited = f" waited in {row['syscall']} until" if row else f"{_was_in(trace)} until"
    names = {each["syscall"] for each in trace.calls(by=["syscall"], quantiles=False)}
    waits = any(known.is_wait(name) or known.has_limit(name) for name in names)
    is_picked = row is None and len(names) == 1 and not waits
    is_fine = (row or process.signal_kind == "asked") and not is_picked
    remark = _while_idle(process) if row else ""
    return Outcome(
        Verdict.FINE if is_fine else Verdict.CANNOT_TELL,
        shown(f"{name}{waited} {signal}{meaning} ended it"),
        (remark,) if remark else tuple(_usual(process)),
        (process.ending["last_line"],),
        unseen="what it did besides, because only one kind of call was traced" if is_picked else "",
    )


def _was_in(trace: TraceTables) -> str:
    """` was in read`: the only call of the capture that a signal broke off, in which the process was when it came."""
    broken = broken_off(trace)
    reads = [row for row in broken if known.reads(row["syscall"])]
    return f" was in {called(reads[0])}" if len(broken) == 1 == len(reads) and reads[0]["calls"] == 1 else " ran"


def _idle(processes: Sequence[EndedProcess]) -> Row | None:
    """The call in which a process waits for work, if all its threads only wait."""
    rows = [row for process in processes for row in process.last_calls]
    # Threads that wait for each other do not wait for work, unless another one does.
    waits_for_threads = all(row["kind"] == "thread" for row in rows)
    is_idle = rows and all(row["kind"] in _IDLE for row in rows) and not waits_for_threads
    order = {kind: place for place, kind in enumerate(_IDLE)}
    # A program that waits for a person has other threads, which are idle.
    consoles = [
        row for process in processes for row in process.last_calls if hangs.reads_with_idle_threads([process], row)
    ]
    return min(consoles or rows, key=lambda row: order[row["kind"]]) if is_idle else None


def _is_socket(row: Row) -> bool:
    return bool((row["target"] or "").startswith("socket:"))


def _while_idle(process: EndedProcess) -> str:
    """What an idle program asked for, or what it was refused last; empty if nothing."""
    if asked := hangs.prompt(process):
        return Quoting(f"It asked: {asked.quoted()}.")
    refused = nearest_refusal(process)
    return f"It was refused before: {sentence(refused)}" if refused and not known.is_usual(refused) else ""


def next_child(trace: TraceTables, pid: int | None) -> Outcome | None:
    """That a process waits for another child when the capture ends, after earlier ones returned; None if it does not.

    Whether this one returns too is not known. None if the child was traced: then its calls say so."""
    row = next((each for each in trace.table("open_calls") if each["pid"] == pid and each["kind"] == "child"), None)
    if row is None or any(each["parent_pid"] == pid for each in trace.processes if each["pid"] != pid):
        return None
    waits = trace.select(pid=() if pid is None else pid, syscall=row["syscall"], where="ret > 0")
    if not (returned := waits.totals["calls"]):
        return None
    many = units.counted(returned, "earlier child returned", "earlier children returned")
    return Outcome(
        Verdict.CANNOT_TELL,
        shown(f"the capture ends while {process_of(row)} waits for its next child"),
        (f"{many}. This one was not traced.",),
        (row["last_line"],),
        unseen="whether it returns",
        next=whole_command(trace.captures[0].format, attaches=True),
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
    row = unexplained(process)
    for message in reversed(list(around(process))):
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


def _resting_threads(process: EndedProcess) -> list[str]:
    """The threads that are in the same wait for another thread when the capture ends, as idle ones of a pool are."""
    waits = [row["syscall"] for row in process.last_calls if row["kind"] == "thread" and row["requested_ns"] is None]
    name = max(waits, key=waits.count, default="")
    resting = waits.count(name)
    if resting < _MIN_RESTING:
        return []
    return [shown(f"{resting} of {process.ending['threads']} threads wait in {name} when it ends: idle, or blocked.")]


def _last_failure(process: EndedProcess) -> list[str]:
    """What failed last; it may be what the capture is about."""
    row = unexplained(process)
    return [f"Last failure: {sentence(row)}"] if row else _usual(process)


def _usual(process: EndedProcess) -> list[str]:
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
    rows = [row for row in rows if not _LIBRARY.search(row["target"])] or rows
    return [Describing(f"Its last steps: {'; '.join(map(step, rows[-_MAX_STEPS:]))}.")] if rows else []
