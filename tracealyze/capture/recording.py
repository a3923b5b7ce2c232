"""Runs the tracer on a command or on processes, and compresses what it prints until an end."""

from __future__ import annotations

import os
import platform
import select
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from tracealyze.base.errors import UnusableInput
from tracealyze.capture import launch, overhead, processes, snapshot, untraced_run
from tracealyze.capture.attaching import refusal_of, wait_for_tracer
from tracealyze.capture.capture_file import CaptureFile, RingFile, new_frame
from tracealyze.capture.guard import Guard
from tracealyze.capture.live_screen import LiveScreen
from tracealyze.capture.scheduler import SchedulerRecording
from tracealyze.capture.tracer import Profile, Tracer, has_filter

if TYPE_CHECKING:
    from tracealyze.capture.trigger import Trigger

READABLE_AFTER_S = 1.0
"""Upper bound on the age of text that is lost if `record` is killed."""

_READ_BYTES = launch.PIPE_BYTES
_PAUSE_S = 0.02
"""Time without reading while the pipe is far from full: waking the reader for each line slows the tracer down."""
_POLL_S = 0.1
_NOTE_AFTER_S = 2.0
_LAST_CHILD_S = 0.5
_MAX_NAMED = 4


class Ended(StrEnum):
    """Why a capture ends."""

    EXIT = "exit"
    """All traced processes exited."""
    TIME = "time limit"
    SIZE = "size limit"
    TRIGGER = "trigger"
    INTERRUPT = "interrupt"
    TRACER = "the end of the tracer"
    """The tracer was killed; its processes go on."""
    FULL = "a full disk"
    """The file cannot be written any more."""


@dataclass(frozen=True)
class Limits:
    """When to stop before the processes exit, and how much to keep."""

    for_s: float | None = None
    max_bytes: int | None = None
    ring_bytes: int | None = None
    trigger: Trigger | None = None
    after_s: float = 0.0

    @property
    def may_end_early(self) -> bool:
        """Whether processes may outlive the tracing."""
        return self.for_s is not None or self.max_bytes is not None or self.trigger is not None


@dataclass(frozen=True)
class Outcome:
    """How a recording ended."""

    ended: Ended
    status: int | None = None
    """Exit status of the command, negative for a signal; None if there is no command."""
    dropped: bool = False
    """Whether the ring has dropped the beginning."""
    pid: int | None = None
    """The command, if it goes on without the tracer."""
    was_killed: bool = False
    """Whether the command was ended because the capture did."""


@dataclass
class Recording:
    """One capture while it is made."""

    tracer: Tracer
    profile: Profile
    path: str
    limits: Limits = field(default_factory=Limits)
    labels: Mapping[str, str] = field(default_factory=dict)
    overwrites: bool = False
    note: Callable[[str], object] = len
    """Called with a sentence for the user."""
    rewritten: Callable[[CaptureFile], CaptureFile] = lambda file: file
    """What stands before the file, such as the removal of secrets."""
    facts_of: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
    """Metadata as it is stored."""
    kills: bool = False
    """Whether the command is ended when the capture ends before it."""
    has_scheduling: bool = False
    """Whether scheduler events of the kernel are recorded, too."""
    screen: LiveScreen | None = None
    """Shows the trace meanwhile."""
    _scheduler: SchedulerRecording | None = None
    runs_untraced: bool = False
    """Whether the command runs once more without the tracer, to measure what tracing costs."""
    _watch: _Watch | None = None
    _mask: set[Any] | None = None

    def of_command(self, command: Sequence[str]) -> Outcome:
        """Run a command and trace it with its children. What it leaves running is traced until it exits.

        At a limit, this returns while the command goes on: `wait_for_command` has to follow."""
        flags = self.tracer.flags(self.profile, may_filter=not self.limits.may_end_early)
        capture, pipe = self._begin(flags, {"argv": list(command)}), launch.Pipe()
        self._mask = mask = launch.block_signals()
        guard = Guard(pipe, kills=has_filter(flags))
        try:
            pid = launch.start_command(self.tracer, flags, command, pipe, mask)
            self._watch = watch = _Watch(self, capture, pipe, has_filter(flags), command=pid)
            ended = watch.until_the_end()
        finally:
            guard.release()
            if self._watch is None:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if not watch.has_text:
            capture.discard()
            self.wait_for_command()
            raise UnusableInput(f"the tracer wrote nothing, and the command ended with {_shown(watch.status)}.")
        if self.kills:
            watch.end_command()
        if self.runs_untraced and ended is Ended.EXIT:
            self._run_untraced(command, watch, mask)
        return self._end(capture, ended, watch)

    def _run_untraced(self, command: Sequence[str], watch: _Watch, mask: set[Any]) -> None:
        """The same command after the capture, when files are in the cache as they were for it."""
        watch.untraced_ns = untraced_run.wall_ns(command, watch.status, mask)
        if watch.untraced_ns is None:
            self.note("--untraced: without the tracer, the command ended otherwise. Its time is not used.")

    def wait_for_command(self) -> int | None:
        """The exit status of the command, if there is one. Until it exits, signals to this process are for it."""
        if self._watch is None or self._mask is None:
            return None
        self._watch.wait_for_command()
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
        return self._watch.status

    def of_pids(self, pids: Sequence[int]) -> Outcome:
        """Trace processes that run already, with the children that they have and create."""
        children = processes.descendants(pids)
        if children:
            self.note(with_children(children))
        every = [*pids, *children]
        flags = self.tracer.flags(self.profile, may_filter=False)
        capture, pipe = self._begin(flags, {"pids": list(pids)}, every), launch.Pipe()
        mask = launch.block_signals()
        guard = Guard(pipe, kills=False)
        with TemporaryFile() as messages:
            try:
                pid = launch.attach(self.tracer, flags, every, pipe, messages.fileno())
                wait_for_tracer(pid, pids[0])
                watch = _Watch(self, capture, pipe, False, attached=pid)
                ended = watch.until_the_end()
                watch.wait_for_command()
            finally:
                guard.release()
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            messages.seek(0)
            text = messages.read().decode(errors="replace").strip()
        # Silence is no failure: a process that computes or is stopped makes no call.
        if not watch.has_text and watch.status and ended in (Ended.EXIT, Ended.TRACER):
            capture.discard()
            raise refusal_of(text, pids)
        return self._end(capture, ended, watch)

    def _begin(self, flags: Sequence[str], target: Mapping[str, Any], pids: Sequence[int] = ()) -> CaptureFile:
        """Create the file. Before, trace a small program: this shows whether anything can be traced here."""
        all_facts: dict[str, Any] = {
            "record": 1,
            "profile": self.profile.value,
            **target,
            "flags": list(flags),
            "tracer": self.tracer.version,
            "overhead_ns": overhead.measured_ns(self.tracer, flags),
            "kernel": platform.release(),
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "started": round(time.time(), 3),
            "labels": dict(self.labels),
        }
        if self.has_scheduling:
            self._scheduler = SchedulerRecording.begin()
        # The library is loaded now, so that it does not take time from the command.
        new_frame()
        if pids:
            all_facts["attached"] = snapshot.taken(pids)
        facts = self.facts_of(all_facts)
        if self.limits.ring_bytes is None:
            return self.rewritten(CaptureFile(self.path, facts, overwrites=self.overwrites))
        return self.rewritten(RingFile(self.path, facts, self.limits.ring_bytes, overwrites=self.overwrites))

    def _end(self, capture: CaptureFile, ended: Ended, watch: _Watch) -> Outcome:
        """Complete the file."""
        failure = watch.failure
        if not failure:
            try:
                capture.close(watch.facts(ended), self._scheduling())
                return self._outcome(capture, ended, watch)
            except OSError as error:
                failure = error
        with suppress(OSError):
            capture.abandon(watch.facts(Ended.FULL))
        self.note(f"tracealyze: {self.path}: {failure.strerror}. The capture ends there; the command went on.")
        return self._outcome(capture, Ended.FULL, watch)

    def _scheduling(self) -> bytes:
        """The scheduler events; empty if there are none."""
        if self._scheduler is None:
            return b""
        scheduler, self._scheduler = self._scheduler, None
        packed = scheduler.end()
        if not packed:
            self.note("tracealyze: perf recorded no scheduler events, so the capture has none.")
        return packed

    def end_scheduler(self) -> None:
        """End perf, if it still records because the recording failed."""
        if self._scheduler is not None:
            self._scheduler.discard()
            self._scheduler = None

    def _outcome(self, capture: CaptureFile, ended: Ended, watch: _Watch) -> Outcome:
        dropped = capture.dropped_parts > 0
        return Outcome(ended, watch.command_status, dropped, watch.running_command, watch.was_killed)


def with_children(pids: Sequence[int]) -> str:
    named = [f"{processes.status(pid).get('Name', '?')} (pid {pid})" for pid in pids[:_MAX_NAMED]]
    more = f" and {len(pids) - _MAX_NAMED} more" if len(pids) > _MAX_NAMED else ""
    return f"Traced too, as children: {', '.join(named)}{more}."


def _shown(status: int | None) -> str:
    return f"signal {-status}" if status is not None and status < 0 else f"status {status}"


class _Watch:
    """Copies from the tracer to the file, and looks after signals, the command and the limits meanwhile."""

    def __init__(
        self, recording: Recording, capture: CaptureFile, pipe: launch.Pipe, filters: bool, **child: int
    ) -> None:
        self._recording, self._limits = recording, recording.limits
        self._capture, self._pipe, self._filters = capture, pipe, filters
        self._command, self._attached = child.get("command"), child.get("attached")
        self._begun_s = self._due_s = time.monotonic()
        self._exited_s: float | None = None
        self._stop_s: float | None = None
        self._has_noted = False
        self._began_ns = time.time_ns()
        self._last_facts: dict[str, Any] = {}
        self.status: int | None = None
        self.was_killed = False
        self.untraced_ns: int | None = None
        self.has_text = False
        self.failure: OSError | None = None

    def until_the_end(self) -> Ended:
        """Returns why it ended. Then nothing is traced, but the command may go on."""
        try:
            ended = self._copy()
        except OSError as error:
            # The command needs a reader, or no tracer; with a filter of seccomp it needs the tracer.
            ended, self.failure = Ended.FULL, error
            if self._filters:
                self._discard()
        if ended is Ended.EXIT:
            return Ended.TRACER if self._has_lost_tracer() else Ended.EXIT
        self._look_at_processes()
        take = len if self.failure else self._capture.write
        try:
            processes.end_tracing(self._pipe.readable, kills=self._filters, take=take)
            if not self.failure:
                self._capture.add_facts(self.facts(ended))
        except OSError as error:
            ended, self.failure = Ended.FULL, error
            processes.end_tracing(self._pipe.readable, kills=self._filters)
        return ended

    def _look_at_processes(self) -> None:
        """What the traced processes do now. Their open calls last at least until then."""
        pids = partial(processes.traced_by, processes.writers_of(self._pipe.readable))
        self._last_facts = {"ended_ns": time.time_ns(), "detached": snapshot.taken(pids)}

    def _has_lost_tracer(self) -> bool:
        """Whether the tracer ended before what it traced. The command's end is known soon after."""
        end_s = time.monotonic() + _LAST_CHILD_S
        while self.status is None and time.monotonic() < end_s:
            self._reap()
            time.sleep(_PAUSE_S)
        is_lost = self.status is None or (self._attached is not None and self.status < 0)
        if is_lost:
            self._last_facts = {"ended_ns": time.time_ns()}
        return is_lost

    def facts(self, ended: Ended) -> dict[str, Any]:
        """Metadata that is known when nothing is traced any more."""
        trigger = self._limits.trigger
        fired = trigger.fired if trigger is not None else None
        known = {"trigger": fired, "exit": self.command_status, "untraced_ns": self.untraced_ns}
        found = {name: value for name, value in known.items() if value is not None}
        # On a full disk, there may be no room for more than the reason.
        last = {
            name: value for name, value in self._last_facts.items() if ended is not Ended.FULL or name == "ended_ns"
        }
        return {"ended": ended.value, "began_ns": self._began_ns} | last | found

    @property
    def command_status(self) -> int | None:
        """The exit status of the command, if there is one and it has exited."""
        return self.status if self._command is not None else None

    @property
    def running_command(self) -> int | None:
        """The command, if there is one and it has not exited."""
        return self._command if self.status is None else None

    def wait_for_command(self) -> None:
        """Pass signals on to the command, which goes on without a tracer, until it exits."""
        while self.status is None:
            self._handle_signals()
            self._reap()
            time.sleep(_PAUSE_S)

    def end_command(self) -> None:
        """End the command if it still runs."""
        self._reap()
        if (command := self.running_command) is not None:
            self.was_killed = True
            launch.end(command, self._has_exited)

    def _has_exited(self) -> bool:
        self._reap()
        return self.status is not None

    def _discard(self) -> None:
        """Read on without a file until the processes exit, or a signal ends it."""
        while not self._handle_signals():
            ready, _, _ = select.select([self._pipe.readable], [], [], _POLL_S)
            if ready and not os.read(self._pipe.readable, _READ_BYTES):
                return
            self._reap()

    def _copy(self) -> Ended:
        while True:
            ready, _, _ = select.select([self._pipe.readable], [], [], _POLL_S)
            if ready and not self._read():
                return Ended.EXIT
            self._reap()
            now_s = time.monotonic()
            if now_s >= self._due_s + READABLE_AFTER_S:
                self._capture.end_frame()
                self._due_s = now_s
            if ended := self._handle_signals() or self._limit(now_s) or self._closed_screen():
                return ended
            self._note_what_is_left(now_s)

    def _read(self) -> bool:
        """Whether the tracer still writes."""
        text = os.read(self._pipe.readable, _READ_BYTES)
        if not text:
            return False
        if not self.has_text:
            self.has_text = True
            self._pipe.release()
        stored = self._capture.write(text)
        if self._limits.trigger is not None:
            # Its check writes to a temporary file.
            self._limits.trigger.add(stored)
        if self._recording.screen is not None:
            self._recording.screen.take(stored)
        if len(text) < _READ_BYTES // 4:
            time.sleep(_PAUSE_S)
        return True

    def _reap(self) -> None:
        child = self._command or self._attached
        if self.status is not None or child is None:
            return
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            self.status = os.waitstatus_to_exitcode(status)
            self._exited_s = time.monotonic()
            # A tracer that never opened the pipe cannot close it.
            self._pipe.release()

    def _handle_signals(self) -> Ended | None:
        """Pass signals on to the command. Without one, they end the capture."""
        return Ended.INTERRUPT if launch.pass_signals_on(self.running_command) else None

    def _closed_screen(self) -> Ended | None:
        """Closing the screen ends the capture of running processes. A command goes on, and so does its capture."""
        screen = self._recording.screen
        is_closed = self._command is None and screen is not None and screen.has_ended
        return Ended.INTERRUPT if is_closed else None

    def _limit(self, now_s: float) -> Ended | None:
        limits = self._limits
        if limits.for_s is not None and now_s >= self._begun_s + limits.for_s:
            return Ended.TIME
        if limits.max_bytes is not None and self._capture.size(limits.max_bytes) >= limits.max_bytes:
            return Ended.SIZE
        if limits.trigger is not None and self._stop_s is None and limits.trigger.has_fired(now_s):
            self._stop_s = now_s + limits.after_s
        return Ended.TRIGGER if self._stop_s is not None and now_s >= self._stop_s else None

    def _note_what_is_left(self, now_s: float) -> None:
        """The shell's prompt does not come back while processes that the command left are traced: show why."""
        if self._command is None or self._exited_s is None or self._has_noted or now_s < self._exited_s + _NOTE_AFTER_S:
            return
        self._has_noted = True
        self._recording.note(
            "The command has exited; processes that it started are still traced. Ctrl-C ends the capture."
        )
