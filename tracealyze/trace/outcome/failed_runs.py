"""Failures: a command that exited with an error, or reported one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.program_names import short
from tracealyze.base.sanitize import shown
from tracealyze.model.capture_input.recapture import whole_command
from tracealyze.trace.outcome import known
from tracealyze.trace.outcome.causes import Cause, cause_of, elsewhere, failed_children
from tracealyze.trace.outcome.failures import (
    called,
    closed_by_peer,
    command,
    failed_function,
    failure_at_end,
    left_by_peer,
    lone_failure,
    lost_output,
    nearest_refusal,
    never_started,
    only_failure,
    said_of_only_failure,
    sentence,
    stated_failure,
    states,
    unexplained,
)
from tracealyze.trace.outcome.messages import (
    Message,
    certain_failure,
    failure_of_child,
    last_message,
    last_progress,
    rejection,
    reported,
)
from tracealyze.trace.outcome.outcome import Outcome, Quoting, Verdict
from tracealyze.trace.outcome.questions import unanswered

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.model.trace_tables import TraceTables
    from tracealyze.trace.outcome.processes import EndedProcess

_MAX_NAMED = 2
_MAX_LINES_TO_REPORT = 4
"""Lines between the end of a child and the report of its parent: a wait, and a signal."""
_NEAR_EVENTS = 16
"""Calls between a message and the end of a cut capture in which a program that gives up frees what it has."""


def failure(trace: TraceTables, processes: Sequence[EndedProcess]) -> Outcome | None:
    """How the command failed, or a process that the tracer attached to; None if it did not."""
    mains = [each for each in processes if each.is_command] or _roots(trace, processes)
    for process in [*mains, *_begun(mains, processes)]:
        if found := _of(trace, process, processes):
            return found
    return None


def _begun(mains: Sequence[EndedProcess], processes: Sequence[EndedProcess]) -> list[EndedProcess]:
    """In a capture of a whole system, the processes that began and ended in it: what it was taken for."""
    if len(mains) == 1 or any(each.has_ended for each in mains):
        return []
    return [each for each in processes if each.ending["born"] and each.has_ended][::-1]


def _roots(trace: TraceTables, processes: Sequence[EndedProcess]) -> list[EndedProcess]:
    """The processes whose parents are not in the capture, without those that another one of them killed."""
    roots = [each for each in processes if each.ending["root"]]
    pids = {each.pid for each in roots}
    killed = {row["pid"] for row in trace.table("stops") if row["kind"] == "killed" and row["sender_pid"] in pids}
    return [each for each in roots if each.pid not in killed] or roots


def rejections(processes: Sequence[EndedProcess]) -> Iterator[str]:
    """The last answer of a peer to each process, if it refuses what was requested."""
    for process in processes:
        if answer := rejection(process):
            yield Quoting(f"Last answer: {answer.quoted()}.")


def _of(trace: TraceTables, process: EndedProcess, processes: Sequence[EndedProcess]) -> Outcome | None:
    code = process.exit_code
    if killed := _killed_by(process):
        return _outcome(trace, process, processes, f"was killed by {killed}")
    if code:
        meaning = known.exit_status(short(process.ending["program"]), code)
        if (meaning and meaning.is_fine) or ends_on_request(process):
            return None
        reason = f" ({meaning.text})" if meaning else ""
        return _outcome(trace, process, processes, f"exited with status {code}{reason}")
    if certain := certain_failure(process):
        later = last_message(process)
        message = later if later and later.is_failure and later.line >= certain.line else certain
        if how := _end_after(process, message):
            return _outcome(trace, process, processes, f"reported an error, and {how}", message)
    if code == 0:
        return _although_well(trace, process, processes)
    return None if process.has_ended or process.is_told else _soon_cut(trace, process, processes)


def _killed_by(process: EndedProcess) -> str:
    """The signal that killed a process which did not end by itself; empty if none did."""
    if process.signal_kind == "killed":
        return f"{process.signal}{_sender(process)}"
    # Of a pipe, this is how its reader ends the program.
    return process.signal if process.signal == "SIGPIPE" and left_by_peer(process) else ""


def _soon_cut(trace: TraceTables, process: EndedProcess, processes: Sequence[EndedProcess]) -> Outcome | None:
    """The failure soon after which a capture ends; None if there is none."""
    if stated := stated_failure(process):
        return _outcome(trace, process, processes, "reported an error, and the capture ends soon after", stated)
    if said := said_of_only_failure(process):
        return _outcome(trace, process, processes, "reported the error of the only call that failed", said)
    if row := never_started(process):
        how = f"failed in {row['syscall']} with {row['errno']}, and did not start its program"
        return _outcome(trace, process, processes, how)
    if row := failure_at_end(process):
        how = f"failed in {row['syscall']} with {row['errno']}, and the capture ends soon after"
        return _outcome(trace, process, processes, how)
    return None


def _although_well(trace: TraceTables, process: EndedProcess, processes: Sequence[EndedProcess]) -> Outcome | None:
    """What failed in a process that exited as if nothing had; None if nothing did."""
    how = "exited with status 0, although"
    if row := lost_output(process):
        return _outcome(trace, process, processes, f"{how} {row['syscall']} failed with {row['errno']}")
    if process.failed_child and (said := failure_of_child(process)):
        return _outcome(trace, process, processes, f"{how} its {process.failed_child}", said)
    if child := _refused_child(process, processes):
        return _outcome(trace, process, processes, f"{how} its child {child.name(processes)} failed")
    return None


def _refused_child(process: EndedProcess, processes: Sequence[EndedProcess]) -> EndedProcess | None:
    """The last child, if it failed and states what it was refused: nothing after it made up for that."""
    children = [each for each in processes if each is not process and not each.ending["root"] and each.has_ended]
    last = max(children, key=lambda each: each.ending["last_line"], default=None)
    if last is None or not last.exit_code:
        return None
    message, refused = last_message(last), nearest_refusal(last)
    is_stated = refused is not None and message is not None and message.is_failure and states(message, refused)
    return last if is_stated and refused and not known.is_usual(refused) else None


def said_around_table(trace: TraceTables) -> str:
    """What the text around a tracer's table says of a failure, in words that programs use for nothing else."""
    found = [message for message in reported(trace.table("foreign_lines")) if message.is_certain]
    return Quoting(f"The text around the table says: {found[-1].quoted()}.") if found else ""


def ends_on_request(process: EndedProcess) -> bool:
    """Whether a process exits because it was asked to, and reports nothing: programs in Go then exit with status 2."""
    told_line = process.ending["told_line"]
    message = last_message(process)
    is_near = bool(told_line) and process.ending["last_line"] - told_line <= _NEAR_EVENTS
    return bool(is_near and process.ending["told_by"] == "SIGINT" and not (message and message.is_failure))


def _end_after(process: EndedProcess, message: Message) -> str:
    """What followed the message of a process that no error ended; empty if it went on."""
    if process.exit_code == 0:
        return "exited with status 0"
    if process.is_told or process.signal:
        return f"was ended by {process.signal or process.ending['told_by']}"
    is_near = process.ending["last_line"] - message.line <= _NEAR_EVENTS
    return "the capture ends soon after" if is_near else ""


def _outcome(
    trace: TraceTables,
    process: EndedProcess,
    processes: Sequence[EndedProcess],
    how: str,
    said: Message | None = None,
) -> Outcome:
    cause = cause_of(trace, process, processes, said)
    culprit, message, failed = cause.culprit, cause.message, cause.failed
    lines = [message.line if message else None, failed["last_line"] if failed else None, process.ending["last_line"]]
    return Outcome(
        Verdict.FAILED,
        f"{process.name(processes)} {shown(how)}",
        (*_killed_in(trace, process, processes), *_details(trace, process, processes, cause, elsewhere(trace, cause))),
        tuple(line for line in lines if line),
        unseen=_unseen(trace, process, message),
        next=_next(trace, culprit, message, failed),
        inert=_inert(process, failed),
    )


def _inert(process: EndedProcess, failed: Row | None) -> str:
    how = f"exited with status {process.exit_code}" if process.exit_code is not None else "ended by a signal"
    is_known = failed and failed["errno"] in known.errors()
    return f"{how}; {failed['errno']} (line {failed['last_line']})" if failed and is_known else how


def _own_timer(trace: TraceTables, process: EndedProcess) -> str:
    """That SIGALRM came once before a process gave up: the limit that it had set itself may have run out."""
    rows = [row for row in trace.table("signals") if row["signal"] == "SIGALRM" and row["pid"] == process.pid]
    if not process.exit_code or len(rows) != 1 or rows[0]["delivered"] != 1:
        return ""
    line = rows[0]["last_line"]
    return f"SIGALRM came before it (line {line}), as from a timer of its own: a limit may have run out."


def _details(
    trace: TraceTables, process: EndedProcess, processes: Sequence[EndedProcess], cause: Cause, other: Row | None
) -> Iterator[str]:
    culprit, message, failed = cause.culprit, cause.message, cause.failed
    yield from _of_child(process, processes, cause)
    if message:
        yield Quoting(f"Last message: {message.quoted()}.")
    elif answer := rejection(culprit):
        yield Quoting(f"Last answer: {answer.quoted()}.")
    elif output := last_progress(culprit):
        yield Quoting(f"Last output: {output.quoted()}.")
    if failed is None:
        yield from _without_answer(trace, process, culprit)
    if failed is None and trace.captures[0].format == "ltrace" and (function := failed_function(culprit)):
        yield Quoting(f"Before it: {function}")
    if failed:
        yield sentence(failed)
    elif other:
        yield shown(f"In pid {other['pid']} {other['program'] or ''}".rstrip() + f": {sentence(other)}")
    if not process.has_ended or (process.is_told and process.signal_kind != "killed"):
        yield from _waits(process, failed["last_line"] if failed else 0)
    if (failed or not other) and not never_started(culprit):
        yield from _earlier(culprit, failed, message)


def _of_child(process: EndedProcess, processes: Sequence[EndedProcess], cause: Cause) -> Iterator[str]:
    """The child whose failure a process passes on."""
    culprit, message = cause.culprit, cause.message
    if culprit is not process:
        yield shown(f"Its child {culprit.name(processes)} exited with status {culprit.exit_code}.")
    elif process.exit_code and process.failed_child:
        yield f"Its {process.failed_child} (line {process.ending['child_line']}); that child was not traced."
    elif child := _just_failed(process, processes, message):
        said = last_message(child) or last_progress(child)
        line = child.ending["last_line"]
        how = f"Its child {child.name(processes)} exited with status {child.exit_code} (line {line})"
        yield Quoting(f"{shown(how)}, after {said.quoted()}.") if said else shown(f"{how}.")


def _just_failed(
    process: EndedProcess, processes: Sequence[EndedProcess], message: Message | None
) -> EndedProcess | None:
    """The child whose failure a process reports at once, or ends with; None if there is none.

    Programs ask others for what these may not know, and go on: such a child failed earlier."""
    end = message.line if message else process.ending["last_line"]
    for child in failed_children(process, processes)[-1:]:
        if process.exit_code and 0 <= end - child.ending["last_line"] <= _MAX_LINES_TO_REPORT:
            return child
    return None


def _without_answer(trace: TraceTables, process: EndedProcess, culprit: EndedProcess) -> Iterator[str]:
    """What a process waited for in vain: the answer of a name server, the end of its own limit."""
    yield from unanswered(culprit)
    if closed := closed_by_peer(culprit):
        yield closed
    if timer := _own_timer(trace, process):
        yield timer


def _killed_in(trace: TraceTables, process: EndedProcess, processes: Sequence[EndedProcess]) -> Iterator[str]:
    """What a process was doing that SIGKILL ended, and for how long it had gone on after it was asked to end."""
    if process.signal_kind != "killed":
        return
    row = _stop_of(trace, process)
    if row and row["asked"] and row["deaf_ns"]:
        later = f"SIGKILL ends it {units.duration(row['deaf_ns'], trace.tick_ns)} later"
        yield shown(f"{process.name(processes)} does not end after {row['asked']}: {later}.")
    elif row and row["asked"]:
        yield shown(f"{row['asked']} had asked it to end (line {row['asked_line']}); it went on.")
    for call in process.last_calls[:1]:
        yield shown(f"It never returned from {called(call)} (line {call['last_line']}).")


def _stop_of(trace: TraceTables, process: EndedProcess) -> Row | None:
    """How a process was killed, as the table of stops has it."""
    return next((row for row in trace.table("stops") if row["kind"] == "killed" and row["pid"] == process.pid), None)


def _waits(process: EndedProcess, after_line: int) -> Iterator[str]:
    # A copied text may end in the message that the program prints, or in a call that waits for nothing. Other threads
    # may have waited before the failure.
    waits = [row for row in process.last_calls if row["kind"] not in ("reader", "kernel")]
    for row in [each for each in waits if each["last_line"] > after_line][:1]:
        limit = f" of {units.duration(row['requested_ns'])}" if (row["requested_ns"] or 0) > 0 else ""
        yield shown(f"Then it waits in {row['syscall']}{limit} (line {row['last_line']}).")


def _earlier(process: EndedProcess, failed: Row | None, message: Message | None) -> Iterator[str]:
    """Other failures that deserve a line, and how many were usual."""
    others = [
        row for row in process.last_failures if row is not failed and not row["recovered"] and not known.is_usual(row)
    ]
    weight = {name: error.weight for name, error in known.errors().items()}
    others = [row for row in others if weight.get(row["errno"], 0) >= weight["EPERM"]]
    for row in others[-_MAX_NAMED:]:
        yield f"Earlier: {sentence(row)}"
    if others:
        return
    is_passed_on = known.signal_of_status(process.exit_code or 0) or process.failed_child
    if not failed and not is_passed_on and (nearest := nearest_refusal(process) or unexplained(process)):
        yield f"Before it: {sentence(nearest)}"
        return
    if not failed and not is_passed_on and (only := only_failure(process, message)):
        yield f"The only call that failed: {sentence(only)}"
        return
    usual = sum(row["calls"] for row in process.last_failures) - (failed["calls"] if failed else 0)
    if usual:
        # Without a failure that explains the end, one of these may.
        which = "as usual for healthy programs" if failed else "all of kinds that healthy programs have, too"
        if not failed and (lone := lone_failure(process)):
            yield f"A failure that healthy programs have, too: {sentence(lone)}"
            return
        yield f"{'Other failures' if failed else 'Failures'} before: {units.count(usual)}, {which}."


def _sender(process: EndedProcess) -> str:
    sender = process.ending["sender_pid"]
    return f" from pid {sender}" if sender is not None else ""


def _unseen(trace: TraceTables, process: EndedProcess, message: Message | None) -> str:
    if message and known.message_words().set_uid.search(message.text):
        return "the program as it runs untraced: strace of an ordinary user takes away set-uid rights"
    if message is None and trace.captures[0].first_elision_line:
        return "the error message, which is not among these lines"
    # Where writes were traced, a message would have been among them.
    if message is None and trace.captures[0].filtered and not process.last_texts:
        return f"the error message, because only {_traced(trace)} were traced"
    return ""


def _traced(trace: TraceTables) -> str:
    families = trace.captures[0].families
    return f"{', '.join(families)} calls" if families else "some calls"


def _next(trace: TraceTables, process: EndedProcess, message: Message | None, failed: Row | None) -> str:
    if message and known.message_words().set_uid.search(message.text):
        return "sudo strace -f -ttt -T -yy -u USER -o FILE COMMAND"
    if message and (lacks := known.message_words().loader.match(message.text)):
        return f"ldd {lacks['program']}"
    if failed and (text := command(failed, process.pid)):
        return text
    if process.signal == "SIGKILL" and (row := _stop_of(trace, process)) and row["asked"]:
        return f"grep -E 'Sig(Ign|Cgt)' /proc/{process.pid or 'PID'}/status"
    if process.signal == "SIGKILL":
        return "dmesg | grep -iE 'killed process|out of memory'"
    if message is None:
        return whole_command(trace.captures[0].format)
    return ""
