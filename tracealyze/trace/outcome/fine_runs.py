"""Runs without a failure: how they ended, or that the capture does not show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.program_names import process_of, short
from tracealyze.base.sanitize import shown
from tracealyze.model.capture_input.recapture import whole_command
from tracealyze.trace.outcome import cut_runs, hangs, known
from tracealyze.trace.outcome.failed_runs import ends_on_request
from tracealyze.trace.outcome.failures import called, nearest_refusal, sentence
from tracealyze.trace.outcome.interrupted import arriving, broken_off
from tracealyze.trace.outcome.messages import last_message
from tracealyze.trace.outcome.outcome import Outcome, Quoting, Verdict

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.model.trace_tables import TraceTables
    from tracealyze.trace.outcome.processes import EndedProcess

_IDLE = ("client", "event", "message", "signal", "time", "input", "thread", "child")
_MAX_CHILDREN = 2
_ATTACHING = frozenset(("process", "exit", "blank"))
"""Kinds of lines of a tracer that attaches and detaches."""


def loading(trace: TraceTables, processes: Sequence[EndedProcess]) -> Outcome | None:
    """That the capture ends on a library while its program has just started; None if it does not."""
    for process in processes:
        rows = [row for row in process.last_calls if cut_runs.LIBRARY.search(row["target"] or "")]
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


def of_functions(trace: TraceTables) -> Outcome | None:
    """That the only table of a capture counts functions of libraries; None if it has a system call."""
    is_table = any(capture.accounting.get("summary_table") for capture in trace.captures)
    if not is_table or len(trace.summary_rows) or trace.captures[0].format != "ltrace":
        return None
    return Outcome(
        Verdict.CANNOT_TELL,
        "the table counts functions of libraries, and none of them is a system call",
        ("Its times are wall times, and that of a function includes the functions that it calls.",),
        unseen="system calls",
        next="ltrace -S -c -p PID",
        inert="the table has no system call",
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
    if outcome := cut_runs.awaits_child(trace, process, processes) or cut_runs.resumed(trace, process, name):
        return outcome
    if outcome := cut_runs.standing(trace, processes) or cut_runs.contended(processes):
        return outcome
    if row := _idle(processes):
        on = f" on {row['target']}" if row["target"] else ""
        does = "sleeps" if row["kind"] == "time" else "waits for work"
        does = "waits for input" if hangs.reads_terminal(row) and not _is_socket(row) else does
        waiting = next((each for each in processes if row in each.last_calls), process)
        resting = cut_runs.resting_threads(waiting)
        remark = _while_idle(waiting) or _killed_child(waiting) or next(iter(resting), "") or arriving(trace)[0]
        return Outcome(
            Verdict.FINE,
            shown(f"{waiting.name(processes)} {does} in {row['syscall']}{on} when the capture ends"),
            (remark,) if remark else tuple(cut_runs.usual(waiting)),
            (row["last_line"],),
            remark=remark,
        )
    if row := cut_runs.lock(processes):
        return cut_runs.locked(process, name, row)
    return cut_runs.cut(trace, process, processes)


def _exited(trace: TraceTables, process: EndedProcess, processes: Sequence[EndedProcess]) -> Outcome:
    code = process.exit_code or 0
    name = process.name(processes)
    meaning = known.exit_status(short(process.ending["program"]), code)
    reason = f" ({meaning.text})" if meaning else ""
    failing = list(_of_children(process, processes))
    children = failing or list(_refused_elsewhere(trace, process))
    # That a child ended says little by itself; what it said, or what it was refused, says more than a note.
    says = not failing or any(isinstance(each, Quoting) for each in failing)
    details = [*children]
    failed = sum(row["calls"] for row in process.last_failures)
    serious = [row for row in process.last_failures if not row["recovered"] and not known.is_usual(row)]
    if failed and not serious:
        plural = "failure is" if failed == 1 else "failures are"
        end = "." if children else "; no process failed."
        details.append(f"{units.count(failed)} {plural} usual or recovered from{end}")
    has_times = bool(trace.window.wall_ns) or trace.captures[0].has.get("durations")
    return Outcome(
        Verdict.FINE,
        f"{name} exited with status {code}{reason}{_after_signal(process)}",
        tuple(details),
        (process.ending["last_line"],),
        remark=Quoting(" ".join(children)) if says else "",
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
        if (row := nearest_refusal(child)) and row["target"] and not known.is_usual(row):
            yield f"There, {sentence(row)}"
    if process.failed_child:
        yield f"Its {process.failed_child} (line {process.ending['child_line']}); that child was not traced."
    if len(failed) > _MAX_CHILDREN:
        yield f"{len(failed) - _MAX_CHILDREN} more of its children failed."


def _refused_elsewhere(trace: TraceTables, process: EndedProcess) -> Iterator[str]:
    """The only thing that another process was refused, in a capture whose processes report no failure."""
    errors = trace.table("error_counts")
    refused = [row for row in errors if (error := known.error(row["errno"])) and error.refusal and row["target"]]
    lasting = [row for row in refused if not row["last_succeeded"] and not known.is_usual({**row, "op": ""})]
    if len(lasting) == 1 and lasting[0]["pid"] not in (None, process.pid):
        yield shown(f"In {process_of(lasting[0])}: {sentence({**lasting[0], 'op': ''})}")


def _killed_child(process: EndedProcess) -> str:
    """The last child without lines that a signal killed which nobody sends to stop a program; empty if none did."""
    kind = known.signals().get(process.ending["child_end"] or "")
    if kind is None or kind.kind == "asked":
        return ""
    return f"Its {process.failed_child} (line {process.ending['child_line']}); that child was not traced."


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
    # A thread that waits does not write: SIGPIPE answers another one, whose peer is not known.
    is_elsewhere = row is not None and signal == "SIGPIPE"
    is_fine = (row or process.signal_kind == "asked") and not is_picked and not is_elsewhere
    remark = _while_idle(process) if row else ""
    unseen = "what it did besides, because only one kind of call was traced" if is_picked else ""
    if is_elsewhere:
        unseen = "the write, which another thread must have made, and who closed the other end"
    return Outcome(
        Verdict.FINE if is_fine else Verdict.CANNOT_TELL,
        shown(f"{name}{waited} {signal}{meaning} ended it"),
        (remark,) if remark else tuple(cut_runs.usual(process)),
        (process.ending["last_line"],),
        unseen=unseen,
        next=whole_command(trace.captures[0].format) if is_elsewhere else "",
    )


def _was_in(trace: TraceTables) -> str:
    """` was in read`: the only read of the capture that a signal broke off, in which the process was when it came."""
    reads = [row for row in broken_off(trace) if known.reads(row["syscall"])]
    return f" was in {called(reads[0])}" if len(reads) == 1 and reads[0]["calls"] == 1 else " ran"


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
