"""Scheduler events of the kernel, recorded by perf beside the tracer."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from tempfile import TemporaryDirectory

from tracealyze import _engine
from tracealyze.base.errors import UnusableInput
from tracealyze.capture.obstacles import CannotTrace
from tracealyze.capture.scheduler_access import missing_perf, obstacles_of_perf, perf_path
from tracealyze.model.engine_errors import translated

EVENTS = (
    *("sched:sched_switch", "sched:sched_waking", "sched:sched_process_fork"),
    *("sched:sched_process_exec", "sched:sched_process_exit"),
)

_READY_S = 10.0
_ENDING_S = 60.0
_BUFFER = "1M"
"""Per processor. At 100,000 events a second, of 100 bytes each, it is full after 100 ms."""


@dataclass
class SchedulerRecording:
    """perf, which records all processors until it is ended."""

    _perf: subprocess.Popen[bytes]
    _folder: TemporaryDirectory[str]
    _ends: tuple[int, int]
    """Our ends of the pipes to perf: it gives up when they are closed."""

    @classmethod
    def begin(cls) -> SchedulerRecording:
        """Start perf. Returns when it records.

        Raises `CannotTrace` with the cure if perf is missing or not permitted."""
        perf = perf_path()
        if perf is None:
            raise CannotTrace("perf is not installed.", [missing_perf()])
        folder = TemporaryDirectory(prefix="tracealyze-")
        control, answer = os.pipe(), os.pipe()
        arguments = [perf, "record", "-q", "-a", "-B", "-N", "-k", "CLOCK_MONOTONIC", "-m", _BUFFER, "-D", "-1"]
        arguments += ["--control", f"fd:{control[0]},{answer[1]}", "-o", _file(folder)]
        arguments += [word for event in EVENTS for word in ("-e", event)]
        with open(os.path.join(folder.name, "messages"), "wb") as messages:
            # In a session of its own: Ctrl-C is for the command.
            process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=messages,
                stderr=messages,
                pass_fds=(control[0], answer[1]),
                start_new_session=True,
            )
        os.close(control[0])
        os.close(answer[1])
        found = cls(process, folder, (control[1], answer[0]))
        if _enable(control[1], answer[0]):
            return found
        found._stop()
        with open(os.path.join(folder.name, "messages"), encoding="utf-8", errors="replace") as file:
            message = file.read()
        folder.cleanup()
        raise CannotTrace("perf cannot record scheduler events.", obstacles_of_perf(message))

    def end(self) -> bytes:
        """End perf. Returns the events that the capture needs, packed; empty if there are none."""
        self._stop()
        try:
            return translated(lambda: _engine.pack_scheduling(_file(self._folder)))
        except UnusableInput:
            return b""
        finally:
            self._folder.cleanup()

    def discard(self) -> None:
        """End perf, and remove what it recorded."""
        self._stop()
        self._folder.cleanup()

    def _stop(self) -> None:
        self._perf.send_signal(signal.SIGINT)
        try:
            self._perf.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            self._perf.kill()
            self._perf.wait()
        for end in self._ends:
            os.close(end)


def works() -> CannotTrace | None:
    """Whether scheduler events can be recorded here; if not, why."""
    try:
        SchedulerRecording.begin().discard()
    except CannotTrace as refusal:
        return refusal
    return None


def _file(folder: TemporaryDirectory[str]) -> str:
    return os.path.join(folder.name, "perf.data")


def _enable(control: int, answer: int) -> bool:
    """Begin to record, and wait until perf does."""
    with suppress(BrokenPipeError):
        os.write(control, b"enable\n")
    end_s = time.monotonic() + _READY_S
    while (left_s := end_s - time.monotonic()) > 0:
        ready, _, _ = select.select([answer], [], [], left_s)
        if not ready:
            return False
        text = os.read(answer, 16)
        if not text or b"ack" in text:
            return bool(text)
    return False
