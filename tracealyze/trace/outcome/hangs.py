"""Hangs: threads that wait for each other, and calls that never returned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.heuristics import MIN_DEADLOCKED_SHARE, MIN_STANDSTILL_NS
from tracealyze.base.sanitize import shown
from tracealyze.trace.outcome import known
from tracealyze.trace.outcome.messages import Message, last_progress
from tracealyze.trace.outcome.outcome import Outcome, Quoting, Verdict

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding
    from tracealyze.model.table import Row
    from tracealyze.model.trace_tables import TraceTables
    from tracealyze.trace.outcome.processes import EndedProcess

_INWARD = ("thread", "file lock")
_STUCK = ("kernel", "reader")
_SOURCES = ("input", "client", "message")
_RESTING = ("thread", "time", "event", "signal")
_MIN_ROWS_AFTER = 50
_MIN_SHARE_AFTER = 0.1
"""Of all events of the capture: a call that was open for so long while others went on did not just begin."""
_MAX_LISTED = 4
_MIN_FIRST_WAITS = 2
_MIN_SHARED_WAITS = 3
_MIN_RETURNS = 10
"""Calls of the same kind that returned before: the process repeats them, and the capture ends in one by chance."""


def hang(trace: TraceTables, processes: Sequence[EndedProcess]) -> Outcome | None:
    """The hang that the ends of the processes show; None if they show none."""
    for process in processes:
        if _waits_for_itself(process):
            return _deadlock(process, processes, has_clock=bool(trace.window.wall_ns))
    if _all_wait_for_threads(trace, processes):
        return _standstill(processes)
    if found := _child_stands(processes):
        return found
    all_rows = sum(trace.accounting.get(kind, 0) for kind in ("call", "call_start", "signal"))
    stuck = [
        (row["rows_after"], process, row)
        for process in processes
        for row in process.last_calls
        if _is_stuck(row, all_rows) or _is_full(trace, row)
    ]
    if not stuck:
        return None
    _, process, row = max(stuck, key=lambda each: each[0])
    return _stuck(process, processes, row)


def ends_by_chance(processes: Sequence[EndedProcess], findings: Sequence[Finding]) -> bool:
    """Whether the call in which the capture ends, as the first finding says, is no sign of a hang."""
    lines = findings[0].lines if findings else ()
    return any(
        row["last_line"] in lines
        and (
            _repeats(row)
            or _awaits_input(row)
            or reads_with_idle_threads(processes, row)
            or _is_end_of_paste(row)
            or prompt(process) is not None
        )
        for process in processes
        for row in process.last_calls
    )


def _repeats(row: Row) -> bool:
    return bool(row["same_before"] >= _MIN_RETURNS and row["kind"] != "thread")


def _reads_console(row: Row) -> bool:
    """Whether a call waits for more on standard input: of a person, or of the client of a server that inetd started."""
    is_input = row["standard_input"] or (row["target"] or "").startswith(("socket:[fd 0 ", "stdin"))
    return bool(is_input and row["kind"] in _SOURCES)


def _awaits_input(row: Row) -> bool:
    # Other threads go on meanwhile: this one reads commands. In gVisor, the terminal is a descriptor of the host.
    is_of_host = (row["target"] or "").startswith("host:[") and row["before"]
    return bool(_reads_console(row) and (row["same_before"] or row["rows_after"] or is_of_host))


def reads_with_idle_threads(processes: Sequence[EndedProcess], row: Row) -> bool:
    """Whether a thread waits for a person, and the others have nothing to do, as in programs in Go."""
    others = [each for process in processes for each in process.last_calls if each is not row]
    return bool(others and _reads_console(row) and all(each["kind"] in _RESTING for each in others))


def prompt(process: EndedProcess) -> Message | None:
    """The question that a process printed before it reads the answer: a text without a line end. None without one."""
    reads = [row for row in process.last_calls if row["kind"] in _SOURCES and reads_terminal(row)]
    printed = [row for row in process.last_texts if row["printed"]]
    if not reads or not printed or printed[-1]["text"].endswith(("\n", "…")):
        return None
    text, line = printed[-1]["text"].strip(), printed[-1]["last_line"]
    # The prompt of a shell is no message: "# ".
    is_sign = not any(map(str.isalnum, text))
    asked = Message(text, line, is_failure=False, is_certain=False) if is_sign else last_progress(process)
    if asked is None:
        return None
    return asked if printed[-1]["last_line"] < reads[0]["last_line"] else None


def reads_terminal(row: Row) -> bool:
    """Whether a call is about standard input without a name, or about a terminal."""
    target: str = row["target"] or ""
    return bool(
        row["standard_input"] or target.startswith(("stdin", "terminal", "/dev/tty", "/dev/pts/", "/dev/console"))
    )


def _is_end_of_paste(row: Row) -> bool:
    """Whether a capture was copied up to a message that the program prints, or to a call that waits for nothing."""
    is_output = row["kind"] == "reader" and (row["fd"] in (1, 2) or (row["target"] or "") in ("stdout", "stderr"))
    has_no_object = row["kind"] == "kernel" and row["fd"] is None and not row["target"]
    return bool((is_output or has_no_object) and not row["rows_after"])


def command(pid: int | None) -> str:
    """Where each thread of a process is."""
    return f"gdb -p {'PID' if pid is None else pid} -batch -ex 'thread apply all bt'"


def children_of(pid: int | None) -> str:
    """The children that a process waits for, and in which function of the kernel each of them is."""
    return f"ps -o pid,stat,wchan:20,args --ppid {'PID' if pid is None else pid}"


def _waits_for_itself(process: EndedProcess) -> bool:
    """Whether all threads of a process that had to be killed wait for other threads, without a limit."""
    rows = process.last_calls
    is_killed = process.signal_kind in ("asked", "killed") or bool(process.ending["told_by"])
    threads = process.ending["threads"]
    return (
        is_killed
        and threads > 1
        and len(rows) > 1
        and len(rows) >= MIN_DEADLOCKED_SHARE * threads
        and all(row["kind"] in _INWARD and not row["limited"] for row in rows)
    )


def _all_wait_for_threads(trace: TraceTables, processes: Sequence[EndedProcess]) -> bool:
    """Whether each thread of the capture waits for another one at its end, without a limit, some as never before.

    Idle threads of a pool wait again and again for the same, and one thread of the program waits for work."""
    rows = [row for process in processes for row in process.last_calls]
    threads = sum(process.ending["threads"] for process in processes)
    lives = not any(process.has_ended or process.is_told for process in processes)
    waits = all(row["kind"] == "thread" and not row["limited"] for row in rows)
    first = [row for row in rows if row["before"] and not row["same_before"]]
    if not lives or not waits or len(rows) != threads or len(rows) < _MIN_FIRST_WAITS:
        return False
    # Locks that several wait for, in memory of one process only: the tracer printed ids of its threads.
    private = [row["target"] for row in rows if "PRIVATE" in (row["op"] or "")]
    are_shared = len(private) == len(rows) > len(set(private)) and len(rows) >= _MIN_SHARED_WAITS
    if are_shared:
        return True
    is_complete = len(processes) == 1 and all(row["complete"] for row in trace.table("open_calls"))
    return is_complete or len(first) >= _MIN_FIRST_WAITS


def _child_stands(processes: Sequence[EndedProcess]) -> Outcome | None:
    """That a process waits for a child, most threads of which wait for others, and none returns; None if none does."""
    children = {str(each.pid): each for each in processes if each.pid is not None}
    for process in processes:
        awaited = next((row for row in process.last_calls if row["kind"] == "child"), None)
        child = children.get((awaited["target"] or "") if awaited else "")
        if awaited is None or child is None or child is process or child.ending["calls"] != len(child.last_calls):
            continue
        waits = [row for row in child.last_calls if row["kind"] == "thread" and not row["limited"]]
        is_named = any(row["kind"] in _SOURCES for row in child.last_calls)
        if len(waits) > 1 and len(waits) >= MIN_DEADLOCKED_SHARE * len(child.last_calls) and not is_named:
            shown_child = child.name(processes)
            return Outcome(
                Verdict.HUNG,
                shown(
                    f"{process.name(processes)} waits for {shown_child}, {len(waits)} threads of which wait for others"
                ),
                (shown(f"{_listed(waits)}, …. None of its threads returns from its call in this capture."),),
                (awaited["last_line"], *(row["last_line"] for row in waits[:_MAX_LISTED])),
                unseen="for how long",
                next=command(child.pid),
                inert=f"{len(waits)} threads of a child wait",
            )
    return None


def _standstill(processes: Sequence[EndedProcess]) -> Outcome:
    rows = [row for process in processes for row in process.last_calls]
    more = f" and {len(rows) - _MAX_LISTED} more" if len(rows) > _MAX_LISTED else ""
    return Outcome(
        Verdict.HUNG,
        f"all {len(rows)} threads of the capture wait for other threads when it ends",
        (
            shown(f"{_listed(rows)}{more}."),
            "No thread is left to wake them: a deadlock, or threads that were not traced.",
        ),
        tuple(row["last_line"] for row in rows[:_MAX_LISTED]),
        next=command(processes[0].pid),
        inert=f"{len(rows)} threads wait for each other",
    )


def _listed(rows: Sequence[Row]) -> str:
    """`34213 futex 0x2830 (line 212), …`."""
    shown_rows = rows[:_MAX_LISTED]
    return ", ".join(
        f"{row['tid'] or '?'} {row['syscall']} {row['target'] or ''} (line {row['last_line']})" for row in shown_rows
    )


def _deadlock(process: EndedProcess, processes: Sequence[EndedProcess], *, has_clock: bool) -> Outcome:
    rows = process.last_calls
    signal = process.signal or process.ending["told_by"]
    threads = units.counted(len(rows), "thread")
    more = f" and {len(rows) - _MAX_LISTED} more" if len(rows) > _MAX_LISTED else ""
    details: list[str] = [shown(f"{_listed(rows)}{more}.")]
    if progress := last_progress(process):
        details.append(Quoting(f"Last progress: {progress.quoted()}."))
    details.append("No thread was left to wake them: a lost wake-up, or a deadlock.")
    return Outcome(
        Verdict.HUNG,
        shown(f"{threads} of {process.name(processes)} wait for each other, until {_signal(signal)}"),
        tuple(details),
        tuple(row["last_line"] for row in rows[:_MAX_LISTED]),
        unseen="" if has_clock else "for how long",
        next=command(process.pid),
        inert=f"{threads} of a process wait for each other",
    )


def _signal(name: str) -> str:
    """`SIGINT (Ctrl-C)`."""
    signal = known.signals().get(name)
    return f"{name} ({signal.text})" if signal and signal.text.startswith("Ctrl") else name


def _is_stuck(row: Row, all_rows: int) -> bool:
    is_kind = row["kind"] in _STUCK and row["syscall"] not in ("io_uring_enter", "exit", "exit_group")
    is_long = row["rows_after"] >= max(_MIN_ROWS_AFTER, _MIN_SHARE_AFTER * all_rows)
    # Files of single threads follow each other as files, not in time: only timestamps show how long the call was open.
    seen_ns = row["seen_ns"]
    return is_kind and is_long and (seen_ns is None or seen_ns >= MIN_STANDSTILL_NS)


def _is_full(trace: TraceTables, row: Row) -> bool:
    """Whether a write that began before the capture stays open while the limit of another thread runs out."""
    if row["kind"] != "reader" or row["before"] or not row["rows_after"]:
        return False
    expired = [each for each in trace.table("timeouts") if each["first_line"] > row["last_line"]]
    return max((each["requested_ns"] or 0 for each in expired), default=0) >= MIN_STANDSTILL_NS


def _stuck(process: EndedProcess, processes: Sequence[EndedProcess], row: Row) -> Outcome:
    call = " ".join(part for part in (row["syscall"], row["op"]) if part)
    on = f" on {row['target']}" if row["target"] else f" on descriptor {row['fd']}" if row["fd"] is not None else ""
    details = [f"The call never returns; {units.counted(row['rows_after'], 'event')} of other threads follow."]
    if row["syscall"].startswith(("write", "send", "pwrite")):
        details.append("What it writes to is full: its reader does not read.")
    others = [
        f"{other['tid'] or '?'} {other['syscall']}"
        for each in processes
        for other in each.last_calls
        if other["last_line"] != row["last_line"] and other["kind"] in _INWARD
    ]
    if others:
        details.append(shown(f"Meanwhile {', '.join(others[:_MAX_LISTED])} wait, too."))
    details += list(_end(process))
    pid = "PID" if process.pid is None else str(process.pid)
    look = f"; ls -l /proc/{pid}/fd/{row['fd']}" if row["fd"] is not None else ""
    return Outcome(
        Verdict.HUNG,
        shown(f"{process.name(processes)} is stuck in {call}{on} (line {row['last_line']})"),
        tuple(details),
        (row["last_line"],),
        next=f"cat /proc/{pid}/stack{look}",
        inert=f"stuck in a call (line {row['last_line']})",
    )


def _end(process: EndedProcess) -> Iterator[str]:
    if signal := process.signal or process.ending["told_by"]:
        yield f"Then {shown(_signal(signal))} ended the process."
