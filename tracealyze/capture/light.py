"""`record --light`: perf alone records calls and scheduler events, without a tracer that stops the program.

command   |-- held --|-- runs ------------------------------|
perf          |--------------- calls of the command ---------------|
perf          |--------------- scheduler events of all processors ----|
                                       then: the text of the calls, and packed events, go to the file
"""

from __future__ import annotations

import os
import platform
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tracealyze import _engine
from tracealyze.base.errors import UnusableInput
from tracealyze.capture import launch, processes, snapshot, untraced_run
from tracealyze.capture.capture_file import CaptureFile, new_frame
from tracealyze.capture.held_command import HeldCommand
from tracealyze.capture.obstacles import CannotTrace
from tracealyze.capture.perf import PerfRecording
from tracealyze.capture.recording import Ended, Outcome, with_children
from tracealyze.capture.scheduler import SchedulerRecording
from tracealyze.capture.scheduler_access import perf_version
from tracealyze.model.engine_errors import translated

EVENTS = (
    *("raw_syscalls:sys_enter", "raw_syscalls:sys_exit"),
    *("sched:sched_process_exec", "signal:signal_deliver", "signal:signal_generate"),
)

_BUFFER = "4M"
"""Per processor. At 500,000 calls a second, of 220 bytes each, it is full after 40 ms."""
_PAUSE_S = 0.02
_NOTE_AFTER_S = 2.0
_COPY_BYTES = 1 << 20
_SYSCALL_WORDS = 9
"""Of /proc/PID/task/TID/syscall: the number, six arguments, and two registers."""

RunningCall: TypeAlias = tuple[int, int, int, int, Sequence[int]]
"""A call that began before the recording: process, thread, when it was seen, number, arguments."""


@dataclass
class LightRecording:
    """One capture while it is made."""

    path: str
    for_s: float | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    overwrites: bool = False
    note: Callable[[str], object] = len
    """Called with a sentence for the user."""
    kills: bool = False
    """Whether the command is ended when the capture ends before it."""
    runs_untraced: bool = False
    """Whether the command runs once more without perf, to measure what recording costs."""
    _command: HeldCommand | None = None
    _mask: set[Any] = field(default_factory=set)
    _was_killed: bool = False
    _running: list[RunningCall] = field(default_factory=list)

    def of_command(self, command: Sequence[str]) -> Outcome:
        """Run a command and record it with its children, and what it leaves running until that exits.

        At a limit, this returns while the command goes on: `wait_for_command` has to follow."""
        self._mask = launch.block_signals()
        held = HeldCommand.begin(command, self._mask)
        try:
            perf, scheduler = self._begin([held.pid])
        except BaseException:
            held.discard()
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
            raise
        self._command = held
        facts = self._facts({"argv": list(command)})
        held.release()
        began_ns = time.time_ns()
        ended = self._watch(perf)
        last = {"began_ns": began_ns} | self._last_facts(ended, [held.pid])
        perf.stop()
        scheduler.stop()
        if self.kills:
            self._end_command()
        if self.runs_untraced and ended is Ended.EXIT:
            untraced_ns = untraced_run.wall_ns(command, held.status, self._mask)
            if untraced_ns is None:
                self.note("--untraced: without perf, the command ended otherwise. Its time is not used.")
            else:
                last["untraced_ns"] = untraced_ns
        return self._written(perf, scheduler, facts, last, ended)

    def of_pids(self, pids: Sequence[int]) -> Outcome:
        """Record processes that run already, with the children that they have and create."""
        children = processes.descendants(pids)
        if children:
            self.note(with_children(children))
        every = [*pids, *children]
        self._mask = launch.block_signals()
        try:
            perf, scheduler = self._begin(every)
            self._running = list(running_calls(every))
            facts = self._facts({"pids": list(pids), "attached": snapshot.taken(every)})
            began_ns = time.time_ns()
            ended = self._watch(perf)
            last = {"began_ns": began_ns} | self._last_facts(ended, every)
            perf.stop()
            scheduler.stop()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
        return self._written(perf, scheduler, facts, last, ended)

    def wait_for_command(self) -> int | None:
        """The exit status of the command, if there is one. Until it exits, signals to this process are for it."""
        if self._command is None:
            return None
        while not self._command.reap():
            self._handle_signals()
            time.sleep(_PAUSE_S)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
        return self._command.status

    def _begin(self, pids: Sequence[int]) -> tuple[PerfRecording, SchedulerRecording]:
        """Start both. perf starts to record the processes last, so that its own start is not among the events."""
        if os.path.lexists(self.path) and not self.overwrites:
            raise FileExistsError(self.path)
        scheduler = SchedulerRecording.begin()
        try:
            whose = ["-p", ",".join(map(str, pids))]
            return PerfRecording.begin(EVENTS, whose, _BUFFER, "system calls"), scheduler
        except CannotTrace:
            scheduler.discard()
            raise

    def _facts(self, target: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "record": 1,
            "profile": "calls without arguments",
            **target,
            "flags": list(EVENTS),
            "tracer": perf_version(),
            "kernel": platform.release(),
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "started": round(time.time(), 3),
            "labels": dict(self.labels),
        }

    def _watch(self, perf: PerfRecording) -> Ended:
        """Returns why it ended. perf ends by itself when all that it records has exited."""
        begun_s, exited_s, has_noted = time.monotonic(), 0.0, False
        while not perf.has_ended():
            if self._handle_signals():
                return Ended.INTERRUPT
            now_s = time.monotonic()
            if self.for_s is not None and now_s >= begun_s + self.for_s:
                return Ended.TIME
            if self._command is not None and self._command.reap():
                exited_s = exited_s or now_s
                if not has_noted and now_s >= exited_s + _NOTE_AFTER_S:
                    has_noted = True
                    self.note(
                        "The command has exited; processes that it started are still recorded. Ctrl-C ends the capture."
                    )
            time.sleep(_PAUSE_S)
        if self._command is not None:
            self._command.wait()
        return Ended.EXIT

    def _handle_signals(self) -> bool:
        """Pass signals on to the command. Without one, they end the capture."""
        return launch.pass_signals_on(self._running_command)

    @property
    def _running_command(self) -> int | None:
        command = self._command
        return command.pid if command is not None and command.status is None else None

    def _last_facts(self, ended: Ended, pids: Sequence[int]) -> dict[str, Any]:
        if ended is Ended.EXIT:
            return {}
        living = [pid for pid in (*pids, *processes.descendants(pids)) if os.path.exists(f"/proc/{pid}")]
        return {"ended_ns": time.time_ns(), "detached": snapshot.taken(living)}

    def _end_command(self) -> None:
        """End the command if it still runs."""
        command = self._command
        if command is not None and not command.reap():
            self._was_killed = True
            launch.end(command.pid, command.reap)

    def _written(
        self,
        perf: PerfRecording,
        scheduler: SchedulerRecording,
        facts: dict[str, Any],
        last: dict[str, Any],
        ended: Ended,
    ) -> Outcome:
        """Write the file."""
        command = self._command
        text = perf.path("calls")
        tids: list[int] = []
        try:
            try:
                calls, lost, tids = _calls(perf, text, command, self._running)
            finally:
                packed = scheduler.packed(tids)
            if not calls and command is not None:
                self.wait_for_command()
                raise UnusableInput("perf recorded no call of the command.")
            if lost:
                self.note(f"tracealyze: perf lost {lost} events: the machine was too busy for all of them.")
            self._write_file(text, facts, last | {"ended": ended.value, **self._exit_fact()}, packed)
        finally:
            perf.remove()
        status = command.status if command else None
        return Outcome(ended, status, False, self._running_command, self._was_killed)

    def _exit_fact(self) -> dict[str, Any]:
        command = self._command
        return {"exit": command.status} if command is not None and command.status is not None else {}

    def _write_file(self, text: str, facts: dict[str, Any], last: dict[str, Any], packed: bytes) -> None:
        new_frame()
        capture = CaptureFile(self.path, facts, overwrites=self.overwrites)
        try:
            with open(text, "rb") as file:
                while part := file.read(_COPY_BYTES):
                    capture.write(part)
            capture.close(last, packed)
        except OSError as error:
            with suppress(OSError):
                capture.abandon(last | {"ended": Ended.FULL.value})
            self.note(f"tracealyze: {self.path}: {error.strerror}. The capture ends there.")


def running_calls(pids: Sequence[int]) -> Iterator[RunningCall]:
    """The calls in which threads of these processes are now. A thread that runs or has exited is in none."""
    for pid in pids:
        with suppress(OSError):
            for tid in os.listdir(f"/proc/{pid}/task"):
                with suppress(OSError), open(f"/proc/{pid}/task/{tid}/syscall", encoding="ascii") as file:
                    # Before it is read: the call may end at any moment after that.
                    now_ns = time.monotonic_ns()
                    words = file.read().split()
                    if len(words) == _SYSCALL_WORDS and int(words[0]) >= 0:
                        args = [int(word, 16) for word in words[1:7]]
                        yield pid, int(tid), now_ns, int(words[0]), args


def _calls(
    perf: PerfRecording, text: str, command: HeldCommand | None, running: Sequence[RunningCall]
) -> tuple[int, int, list[int]]:
    """Write the calls as text. perf writes no file if nothing happened."""
    if not os.path.exists(perf.file) or not os.path.getsize(perf.file):
        raise CannotTrace(f"perf recorded nothing: {perf.message().strip() or 'no message'}", [])
    pid, status = (command.pid, command.status) if command is not None else (None, None)
    return translated(lambda: _engine.write_calls(perf.file, text, pid, status, running))
