"""What processes did that made no system call while the tracer was attached: they compute, hang, are stopped or idle.

HUNG: cat (pid 9188) was in read on pipe:[10515] (descriptor 0) for at least 2.00 s and made no other call. The
writer is sleep 50 (pid 9187).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from tracealyze.base import units
from tracealyze.base.heuristics import MIN_COMPUTING_SHARE, MIN_FREE_PROCESSOR_SHARE, MIN_STANDSTILL_NS
from tracealyze.base.sanitize import shown
from tracealyze.model.capture_input.attached import AttachedState, Descriptor, Process

OpenCalls = Sequence[Mapping[str, Any]]
"""Rows of the table `open_calls`."""

_MAX_CHAIN = 4
_STEP = units.MS
_IDLE_KINDS = ("client", "event", "signal")
_STOPPED = "Tt"
_LOCKS = {"FLOCK": "flock", "POSIX": "fcntl", "OFDLCK": "fcntl", "LEASE": "lease"}


class Condition(StrEnum):
    """What all traced processes did, or did not do."""

    COMPUTES = "computes"
    """A thread used the processor, without a call."""
    WAITS_FOR_PROCESSOR = "waits for a processor"
    """Ready to run, with little CPU time."""
    HUNG = "hung"
    """In a call that did not return."""
    DEADLOCK = "deadlock"
    """The same, and it waits for itself."""
    STOPPED = "stopped"
    IN_KERNEL = "in the kernel"
    """Uninterruptible: not even the tracer could stop it."""
    IDLE = "idle"
    """It waited for events or clients, as servers do."""
    UNKNOWN = "unknown"

    @property
    def word(self) -> str:
        """The first word of a report."""
        return _WORDS[self]


_WORDS = {
    Condition.COMPUTES: "BUSY",
    Condition.WAITS_FOR_PROCESSOR: "BUSY",
    Condition.HUNG: "HUNG",
    Condition.DEADLOCK: "HUNG",
    Condition.STOPPED: "HUNG",
    Condition.IN_KERNEL: "HUNG",
    Condition.IDLE: "FINE",
    Condition.UNKNOWN: "CANNOT TELL",
}


@dataclass(frozen=True)
class Standstill:
    """A capture of processes none of which completed a call."""

    condition: Condition
    pid: int
    text: str
    """One or two sentences about the first of them."""
    advice: str
    """What to do or to run."""

    @property
    def line(self) -> str:
        """The first line of a report."""
        return f"{self.condition.word}: {self.text}"


def standstill(state: AttachedState, rows: OpenCalls, completed: int) -> Standstill | None:
    """What the processes that the user named did; None if any traced process completed a call, or if they exited."""
    if completed or not state.pids or not state.traced_ns:
        return None
    living = [pid for pid in state.pids if pid in state.end.processes]
    found = [_judged(state, _Subject(state, rows, pid).found()) for pid in living]
    # A process that works for the others comes before those that wait for it.
    return min(found, key=lambda each: list(Condition).index(each.condition), default=None)


def _judged(state: AttachedState, found: Standstill) -> Standstill:
    """Any program may do nothing for a moment."""
    waits = found.condition in (Condition.HUNG, Condition.DEADLOCK, Condition.IDLE, Condition.IN_KERNEL)
    if not waits or state.traced_ns >= MIN_STANDSTILL_NS:
        return found
    return replace(found, condition=Condition.UNKNOWN, advice="Capture longer to see whether it goes on: --for 5s")


class _Subject:
    """One process, and what it was in."""

    def __init__(self, state: AttachedState, rows: OpenCalls, pid: int) -> None:
        self.state, self.rows, self.pid = state, rows, pid
        self.calls = [row for row in rows if row["pid"] == pid or self._owns(row["tid"])]
        self.traced = units.duration(state.traced_ns, _STEP)

    def _owns(self, tid: int | None) -> bool:
        processes = (each.processes.get(self.pid) for each in self.state.snapshots)
        return any(process.thread(tid) for process in processes if process and tid is not None)

    def found(self) -> Standstill:
        before, after = (each.processes.get(self.pid) for each in (self.state.begin, self.state.end))
        if _is_stopped(before, after):
            return self._stopped()
        waiting = {row["tid"] for row in self.calls}
        silent = [each.tid for each in (after.threads if after else ()) if each.tid not in waiting]
        for tid in silent:
            if (self.state.cpu_ns(self.pid, tid) or 0) >= MIN_COMPUTING_SHARE * self.state.traced_ns:
                return self._computes(tid)
        if silent and before and after:
            return self._silent(before, after, silent)
        return self._waits() if self.calls else self._unknown()

    def _made(self, condition: Condition, text: str, advice: str) -> Standstill:
        return Standstill(condition, self.pid, text, advice)

    def _unknown(self) -> Standstill:
        text = f"{self._name} made no system call in {self.traced}, and /proc does not show what it did."
        return self._made(Condition.UNKNOWN, text, f"Look at: cat /proc/{self.pid}/status")

    @property
    def _name(self) -> str:
        return self.state.named(self.pid)

    def _stopped(self) -> Standstill:
        text = (
            f"{self._name} is stopped (state T), and was for all of the {self.traced} of the capture. "
            "A stopped process does nothing until SIGCONT arrives."
        )
        advice = f"kill -CONT {self.pid} lets it go on. Job control (Ctrl-Z), a debugger or a person stopped it."
        return self._made(Condition.STOPPED, text, advice)

    def _computes(self, tid: int) -> Standstill:
        thread = "" if tid == self.pid else f", thread {tid},"
        used = units.duration(self.state.cpu_ns(self.pid, tid) or 0, 10 * units.MS)
        text = f"{self._name}{thread} made no system call in {self.traced} and used {used} of CPU time: it computes."
        if (self.state.cpu_ns(self.pid, tid) or 0) < MIN_FREE_PROCESSOR_SHARE * self.state.traced_ns:
            text += " Other processes used the processors too, or a limit (cgroup) applies."
        return self._made(Condition.COMPUTES, text, f"See where: {', '.join(self._profilers())}")

    def _profilers(self) -> list[str]:
        process = self.state.process(self.pid)
        name = process.command if process else ""
        pid = self.pid
        special = {
            "python": f"py-spy dump --pid {pid}",
            "java": f"jstack {pid}",
            "ruby": f"rbspy snapshot --pid {pid}",
        }
        found = [command for language, command in special.items() if name.startswith(language)]
        return [f"perf top -p {pid}", *found, f"gdb -p {pid} -batch -ex 'thread apply all bt'"]

    def _silent(self, before: Process, after: Process, silent: Sequence[int]) -> Standstill:
        states = {(thread.state if (thread := each.thread(tid)) else "") for each in (before, after) for tid in silent}
        if states == {"D"}:
            wchan = next((each.wchan for each in after.threads if each.tid in silent and each.wchan), "")
            within = f" in {shown(wchan)}" if wchan else ""
            text = f"{self._name} was in the kernel{within} for at least {self.traced} (state D: it cannot be stopped)."
            advice = f"Usually a disk or a network file system does not answer: dmesg, sudo cat /proc/{self.pid}/stack"
            return self._made(Condition.IN_KERNEL, text, advice)
        if "R" in states:
            used = units.duration(sum(self.state.cpu_ns(self.pid, tid) or 0 for tid in silent), 10 * units.MS)
            text = f"{self._name} made no system call in {self.traced}, was ready to run and got {used} of CPU time."
            return self._made(
                Condition.WAITS_FOR_PROCESSOR, text, "Others use the processors, or a limit (cgroup) applies: top"
            )
        return self._waits() if self.calls else self._unknown()

    def _waits(self) -> Standstill:
        row = next((row for row in self.calls if row["tid"] == self.pid), self.calls[0])
        if len(self.calls) > 1 and all(each["kind"] == "thread" for each in self.calls):
            return self._threads()
        if all(each["idle"] and each["kind"] in _IDLE_KINDS and not _is_unnamed(each) for each in self.calls):
            return self._idle(row)
        # Threads of a pool wait for the one that is in something else.
        others = [each for each in self.calls if each["kind"] != "thread"]
        row = row if row in others or not others else others[0]
        is_circle, ender = self._ender(row, (self.pid,))
        text = f"{self._name}{self._lwp(row)} was in {self._call(row)} for at least {self._seen(row)}"
        text += f" and made no other call. {ender}"
        return self._made(Condition.DEADLOCK if is_circle else Condition.HUNG, text, self._look(row))

    def _lwp(self, row: Mapping[str, Any]) -> str:
        return f", thread {row['tid']}," if row["tid"] not in (None, self.pid) else ""

    def _seen(self, row: Mapping[str, Any]) -> str:
        return units.duration(row["seen_ns"] or self.state.traced_ns, _STEP)

    def _idle(self, row: Mapping[str, Any]) -> Standstill:
        awaited = {"client": "a client", "signal": "a signal"}.get(row["kind"], "an event")
        text = (
            f"{self._name} waited for {awaited} in {self._call(row)} for at least {self._seen(row)}, and none came: "
            "nothing was to be done."
        )
        advice = "If it should have been busy, capture what should send it work, or while there is a request."
        return self._made(Condition.IDLE, text, advice)

    def _threads(self) -> Standstill:
        """All of its threads wait for threads."""
        circle = self._owners()
        number = units.counted(len(self.calls), "thread")
        text = f"{self._name}: all of its {number} were in futex for at least {self._seen(self.calls[0])}, "
        text += f"and none is left to wake another. {circle or _NO_WAKER}"
        return self._made(Condition.DEADLOCK, text, f"See where each of them is: {', '.join(self._profilers()[1:])}")

    def _owners(self) -> str:
        """Who owns the mutexes, where glibc shows it."""
        process = self.state.process(self.pid)
        owners = {each.tid: each.owner for each in (process.threads if process else ()) if each.owner}
        parts = [
            f"thread {tid} waits for a mutex of thread {owner}" for tid, owner in list(owners.items())[:_MAX_CHAIN]
        ]
        is_circle = any(owners.get(owner) for owner in owners.values())
        text = "; ".join(parts)
        return f"{text[:1].upper()}{text[1:]}{': a deadlock' if is_circle else ''}." if parts else ""

    def _call(self, row: Mapping[str, Any]) -> str:
        name: str = shown(row["syscall"] or "a call")
        if _is_unnamed(row):
            return self._unnamed(row)
        name = f"{name} ({row['op']})" if row["op"] and row["kind"] != "thread" else name
        known = self._descriptor(row)
        if known is None:
            return f"{name} on {shown(row['target'])}" if row["target"] else name
        # An address says more than the number of a socket.
        path = row["target"] if row["target"] and known.path.startswith("socket:") else known.path
        return f"{name} on {shown(path)} (descriptor {known.number})"

    def _unnamed(self, row: Mapping[str, Any]) -> str:
        """A sleep or a wait with a time limit that goes on after attaching. /proc showed before which one it is."""
        process = self.state.begin.processes.get(self.pid)
        thread = process.thread(row["tid"]) if process else None
        return shown(thread.call) if thread and thread.call else "a sleep or a wait with a time limit"

    def _descriptor(self, row: Mapping[str, Any]) -> Descriptor | None:
        if row["fd"] is not None:
            return self.state.descriptor(self.pid, row["fd"])
        target = str(row["target"] or "")
        inode = target.rpartition("[")[2].partition("]")[0].partition("->")[0]
        return self.state.on_path(self.pid, target) or self.state.on_path(self.pid, f"socket:[{inode}]")

    def _ender(self, row: Mapping[str, Any], seen: tuple[int, ...]) -> tuple[bool, str]:
        """Who could end a wait, as a sentence, and whether that waits for this process in turn."""
        if row["kind"] == "time" or _is_unnamed(row):
            return False, "Only the end of its time or a signal ends it."
        if row["kind"] == "child":
            pids, role = self.state.children(self.pid), "child"
        elif lock := self.state.lock_of(self.pid):
            pids, role = [lock.holder], f"holder of the lock ({_LOCKS.get(lock.kind, 'lock')})"
        else:
            known = self._descriptor(row)
            ends = known.ends if known else ()
            pids, role = [end.pid for end in ends], ends[0].role if ends else ""
        others = [pid for pid in pids if pid != self.pid]
        if pids and not others and role in ("writer", "reader"):
            return True, f"Only the process itself has the other end ({role}): no other process can end this."
        if not others:
            return False, _unknown_ender(row)
        text = f"The {role} is {self.state.named(others[0])}"
        text += f" or one of {len(others) - 1} more" if len(others) > 1 else ""
        return self._continued(others[0], text, (*seen,))

    def _continued(self, other: int, text: str, seen: tuple[int, ...]) -> tuple[bool, str]:
        """What the process does that could end the wait, if that is known."""
        if other in seen:
            return True, f"{text}: a deadlock."
        lock = self.state.lock_of(other)
        if lock and lock.holder in seen:
            return True, f"{text}, which waits for a lock of {self.state.named(lock.holder)} in turn: a deadlock."
        process = self.state.process(other)
        if process and process.state in _STOPPED:
            return False, f"{text}, which is stopped (state T)."
        row = next((row for row in self.rows if row["pid"] == other), None)
        if row is None or len(seen) >= _MAX_CHAIN:
            return False, f"{text}."
        subject = _Subject(self.state, self.rows, other)
        is_circle, ender = subject._ender(row, (*seen, other))
        return is_circle, f"{text}, which was in {subject._call(row)}. {ender}"

    def _look(self, row: Mapping[str, Any]) -> str:
        stack = f"gdb -p {self.pid} -batch -ex 'thread apply all bt'"
        if row["kind"] == "time" or _is_unnamed(row):
            return f"Who calls it: {', '.join(self._profilers()[1:])}"
        # What is in the capture already is in the sentence.
        enders = [pid for pid in self._pids_of(row) if pid != self.pid and pid not in self.state.end.processes]
        if enders:
            return f"Attach to the other process too: tracealyze record --for 2s --pid {self.pid},{enders[0]}"
        return f"See where: {stack}"

    def _pids_of(self, row: Mapping[str, Any]) -> list[int]:
        if row["kind"] == "child":
            return self.state.children(self.pid)
        if lock := self.state.lock_of(self.pid):
            return [lock.holder]
        known = self._descriptor(row)
        return [end.pid for end in known.ends] if known else []


_NO_WAKER = "Only a signal can end this: a deadlock, unless the program waits for a signal on purpose."


def _is_stopped(before: Process | None, after: Process | None) -> bool:
    """A tracer shows as state t what was T before."""
    return before is not None and before.state == "T" and (after is None or after.state in _STOPPED)


def _is_unnamed(row: Mapping[str, Any]) -> bool:
    """The kernel resumes sleeps and polls with a time limit by a call without arguments."""
    return str(row["syscall"]) == "restart_syscall"


def _unknown_ender(row: Mapping[str, Any]) -> str:
    if row["kind"] in ("peer", "connection", "reader", "event"):
        return "The other end is not on this machine, or not visible here."
    if row["kind"] == "input" and "/dev/" in str(row["target"] or ""):
        return "The person at the terminal, or a signal, can end it."
    if row["kind"] == "file lock":
        return "/proc/locks does not show who holds the lock."
    return "It is not visible here who could end it."
