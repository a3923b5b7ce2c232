"""Crashes: a process was killed by a signal that a fault of its own code raised."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.program_names import short
from tracealyze.base.sanitize import shown
from tracealyze.base.suggested import quoted
from tracealyze.trace.outcome import hangs, known
from tracealyze.trace.outcome.failures import called, just_before, sentence, step
from tracealyze.trace.outcome.messages import last_message
from tracealyze.trace.outcome.outcome import Outcome, Quoting, Verdict

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.model.trace_tables import TraceTables
    from tracealyze.trace.outcome.processes import EndedProcess

_MAX_TARGETS = 3
_PAGE_BYTES = 4096
_MIN_REPEATED_FAULTS = 3
_MAX_EVENTS_OF_HANDLER = 24
"""Calls in which a handler reports a crash. A program that makes more has survived it."""
_RETURNS = ("rt_sigreturn", "sigreturn")
"""Calls by which a handler goes back to what the signal interrupted."""
_WITHOUT_ADDRESS = ("SEGV_CPERR",)
"""The kernel does not say which address was meant."""
_LIBRARY = re.compile(r"/lib[^/]*\.so(\.[\d.]+)?$")


def crash(trace: TraceTables, processes: Sequence[EndedProcess]) -> Outcome | None:
    """The crash that decides how a run went; None if its command did not fail because of one."""
    crashed = [each for each in processes if each.signal_kind == "crash"]
    if not crashed:
        return None
    command = next((each for each in processes if each.is_command), None)
    # A parent often dies of its child's signal, right after it: the first one has the cause.
    crashed.sort(key=lambda each: each.ending["signal_line"] or each.ending["last_line"])
    process = crashed[0]
    survives = command is not None and not command.signal and not command.exit_code
    if command and survives and _is_handled(command, crashed):
        return None
    name = process.name(processes)
    has_stack, limit = trace.has_stacks, known.signals()[process.signal].next
    is_known = has_stack or limit or process.ending["refused_promise"]
    unseen = "" if is_known else "the function that crashed"
    if process.signal == "SIGSYS" and not _refused_call(process):
        unseen, limit = "which call", "journalctl -k | grep -i seccomp"
    went_on = f", and {command.name(processes)} {_went_on(command)}" if command and survives else ""
    return Outcome(
        Verdict.CRASHED,
        f"{name} was killed by {process.signal}{went_on}",
        tuple(_details(process, crashed)),
        tuple(line for line in (process.ending["signal_line"], process.ending["last_line"]) if line),
        unseen=unseen,
        next=limit or _command(process, trace.captures[0].format),
        inert=f"killed by {process.signal}",
    )


def _is_handled(command: EndedProcess, crashed: Sequence[EndedProcess]) -> bool:
    """Whether a command that ended well had started another program to see whether that crashes.

    It does so once, and does not complain. A server whose own workers crash starts them again."""
    program = crashed[0].ending["program"]
    message = last_message(command)
    complains = message is not None and message.is_failure and message.line > crashed[0].ending["last_line"]
    return len(crashed) == 1 and program != command.ending["program"] and not complains


def _went_on(command: EndedProcess) -> str:
    return "went on" if command.exit_code is None else f"exited with status {command.exit_code}"


def caught(trace: TraceTables, processes: Sequence[EndedProcess]) -> Outcome | None:
    """A fault of a process's own code that did not kill it: its handler returns to it, or is at work at the end."""
    for process in processes:
        ending = process.ending
        if not ending["fault"] or process.signal_kind == "crash" or process.exit_code == 0:
            continue
        if ending["faults"] >= _MIN_REPEATED_FAULTS:
            return _repeated(process, processes)
        if ending["last_call"] in _RETURNS:
            return _returned(process, processes)
        if ending["events_after"] <= _MAX_EVENTS_OF_HANDLER and not known.handles_faults(short(ending["program"])):
            return _handled(process, processes, trace.captures[0].format)
    return None


def filtered(processes: Sequence[EndedProcess]) -> Outcome | None:
    """That a filter refuses several calls of a process, which goes on; None if it refuses none, or kills it."""
    for process in processes:
        ending = process.ending
        if ending["fault"] == "SIGSYS" and ending["faults"] > 1 and not process.has_ended:
            times = units.counted(ending["faults"], "time")
            remark = shown(f"Refused: {ending['refused_calls']}.") if ending["refused_calls"] else ""
            refuses = "a filter of system calls (seccomp) refuses its calls"
            return Outcome(
                Verdict.CANNOT_TELL,
                f"{process.name(processes)} received SIGSYS {times}: {refuses}",
                tuple(filter(None, [remark])),
                (ending["signal_line"],),
                unseen="what its handler does instead, and whether that is on purpose, as in sandboxes",
                remark=remark,
                inert=f"received SIGSYS {times}",
            )
    return None


def _repeated(process: EndedProcess, processes: Sequence[EndedProcess]) -> Outcome:
    fault, times = shown(process.ending["fault"]), units.counted(process.ending["faults"], "time")
    address = _address(process.ending)
    return Outcome(
        Verdict.BUSY,
        f"{process.name(processes)} receives {fault} again and again: {times} among its last events",
        tuple(filter(None, [address, "Its handler returns to the instruction that fails, so that this has no end."])),
        (process.ending["signal_line"],),
        unseen="the function that fails",
        next=hangs.command(process.pid),
        inert=f"receives {fault} again and again",
    )


def _returned(process: EndedProcess, processes: Sequence[EndedProcess]) -> Outcome:
    """That a handler went back to the instruction that failed, and the capture ends before it may fail again."""
    fault, line = shown(process.ending["fault"]), process.ending["signal_line"]
    address = _address(process.ending)
    return Outcome(
        Verdict.CANNOT_TELL,
        f"{process.name(processes)} received {fault} (line {line}), and its own handler returned to it",
        tuple(filter(None, [address, "If the same instruction fails again, this has no end."])),
        (line,),
        unseen="whether it fails again",
        next=hangs.command(process.pid),
        inert=f"received {fault} (line {line}), and went on",
    )


def _handled(process: EndedProcess, processes: Sequence[EndedProcess], tracer: str) -> Outcome:
    fault, line = shown(process.ending["fault"]), process.ending["signal_line"]
    return Outcome(
        Verdict.CRASHED,
        f"{process.name(processes)} received {fault} (line {line}), and its own handler caught it",
        tuple(_details(process, [process])),
        (line,),
        unseen="the function that crashed",
        next=_command(process, tracer),
        inert=f"received {fault} (line {line})",
    )


def gone(processes: Sequence[EndedProcess]) -> Outcome | None:
    """The one process that vanished in a call while others went on; None if there is none.

    Where others end, too, it may be a thread of theirs: a tracer can be told to print no ends (strace -qq)."""
    vanished = [(process, row) for process in processes for row in process.last_calls if row["gone"]]
    if len(vanished) != 1 or any(each.has_ended for each in processes):
        return None
    process, row = vanished[0]
    if process.ending["threads"] > 1:
        return None
    waiting = [each for each in processes if each is not process and each.last_calls]
    names = ", ".join(each.name(processes) for each in waiting[:_MAX_TARGETS])
    others = (f"Those that wait at the end are the consequence: {names}.",) if waiting else ()
    return Outcome(
        Verdict.CRASHED,
        shown(f"{process.name(processes)} never returned from {called(row)} (line {row['last_line']})"),
        ("It was killed in that call: by a filter of system calls (seccomp), or by SIGKILL.", *others),
        (row["last_line"],),
        unseen="who killed it",
        next="dmesg | grep -iE 'seccomp|audit|killed process'",
        inert=f"never returned from a call (line {row['last_line']})",
    )


def _details(process: EndedProcess, crashed: Sequence[EndedProcess]) -> Iterator[str]:
    ending = process.ending
    known_signal = known.signals().get(process.signal)
    if refused := _refused(process):
        yield refused
    elif text := _address(ending):
        yield text
        if line := ending["unmapped_line"]:
            yield f"The process itself had unmapped this address (line {line}), and still used it."
    elif row := _interrupted(process):
        yield shown(f"It never returned from {called(row)} (line {row['last_line']}).")
    elif known_signal and known_signal.text:
        yield f"{known_signal.text[0].upper()}{known_signal.text[1:]}."
    if message := last_message(process):
        yield Quoting(f"Last message: {message.quoted()}.")
    steps = [step(row) for row in process.last_targets if _tells(row["target"])][-_MAX_TARGETS:]
    if steps:
        yield f"Just before: {'; '.join(steps)}."
    if row := just_before(process):
        yield f"Right before: {sentence(row)}"
    if len(crashed) > 1:
        others = [f"{short(each.ending['program']) or 'pid'} {each.pid or ''}".strip() for each in crashed[1:]]
        yield shown(f"Then {units.counted(len(others), 'more process', 'more processes')}: {', '.join(others[:4])}.")


def _interrupted(process: EndedProcess) -> Row | None:
    """The call in which another process, or the kernel, killed it; None if it sent the signal itself."""
    by_itself = any(row["signals"] for row in process.last_calls)
    return None if by_itself or not process.signal else next(iter(process.last_calls), None)


def _refused(process: EndedProcess) -> str:
    """Which call the system refused to let it make, as a sentence; empty if it refused none."""
    if refused := _refused_call(process):
        return shown(f"Its call {refused} is not allowed: a filter of system calls (seccomp) refuses it.")
    ending = process.ending
    if not ending["refused_promise"]:
        return ""
    needs = f'it needs the promise "{ending["refused_promise"]}", which the process has not made'
    return shown(f"pledge(2) refused its call of {ending['promise_call']} (line {ending['promise_line']}): {needs}.")


def _refused_call(process: EndedProcess) -> str:
    """The call that SIGSYS reports; where the tracer printed no report, the last one, if it did not return."""
    if "SIGSYS" not in (process.signal, process.ending["fault"]):
        return ""
    if refused := process.ending["refused_call"]:
        return f"{refused}(2)"
    # A call that returned was allowed: a thread without lines may have made the other one.
    last = process.ending["last_call"]
    return f"{last}(2)" if any(row["syscall"] == last for row in process.last_calls) else ""


def _address(ending: Row) -> str:
    """Which address could not be used, and why."""
    code = ending["signal_code"] or ""
    if (ending["fault"] or ending["signal"]) in known.without_address():
        return ""
    meaning = known.signal_codes().get(code, "")
    reason = f"{shown(code)}: {meaning}" if meaning else shown(code)
    address = ending["fault_address"]
    if code in _WITHOUT_ADDRESS:
        return f"{reason[0].upper()}{reason[1:]}." if reason else ""
    if address is None or code.startswith("SI_TKILL"):
        return f"Raised with {reason}." if meaning else ""
    # The kernel prints no address for these.
    is_unknown = code == "SI_KERNEL"
    value = 0 if address == "NULL" else int(address, 16) if address.startswith("0x") else None
    if text := known.fault_addresses().get(address):
        return f"Address {shown(address)}: {text}."
    place = "" if value is None or is_unknown else _place(value)
    return f"Address {shown(address)} ({reason}){place}." if reason else f"Address {shown(address)}{place}."


def _place(address: int) -> str:
    """What lies at an address; empty if it says nothing."""
    if address < _PAGE_BYTES:
        return ", a null pointer" if address == 0 else ", a null pointer plus an offset"
    meaning = next((text for first, last, text in known.fault_ranges() if first <= address <= last), "")
    return f", {meaning}" if meaning else ""


def _tells(target: str) -> bool:
    """Whether a target says what the program was about to do: a file or a peer, but not a library or an id."""
    return ("/" in target or ":" in target) and not _LIBRARY.search(target)


_OF_CORES = {
    "kdump": "gdb {program} {program}.core",
    "truss-freebsd": "gdb {program} {program}.core",
    "truss-solaris": "pstack core; mdb core",
    "truss-aix": "dbx {program} core",
    "dtruss": "ls ~/Library/Logs/DiagnosticReports",
}
"""What reads a crash where there is no systemd: core(5) of FreeBSD and OpenBSD, pstack(1) of illumos, dbx(1) of AIX."""


def _command(process: EndedProcess, tracer: str) -> str:
    program = short(process.ending["program"])
    if of_core := _OF_CORES.get(tracer):
        return of_core.format(program=quoted(program) if program and not program.startswith("-") else "PROGRAM")
    if command := process.command_line:
        return f"gdb -ex run -ex bt --args {command}"
    options_end = "-- " if str(program).startswith("-") else ""
    return f"coredumpctl gdb {options_end}{quoted(program)}" if program else "coredumpctl gdb"
