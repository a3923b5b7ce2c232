"""perf, which records events of the kernel into a file until it is ended."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from tempfile import TemporaryDirectory

from tracealyze.capture.obstacles import CannotTrace
from tracealyze.capture.scheduler_access import missing_perf, obstacles_of_perf, perf_path

_READY_S = 10.0
_ENDING_S = 60.0


@dataclass
class PerfRecording:
    """perf while it records."""

    _perf: subprocess.Popen[bytes]
    _folder: TemporaryDirectory[str]
    _ends: tuple[int, int]
    """Our ends of the pipes to perf: it gives up when they are closed."""

    @classmethod
    def begin(cls, events: Sequence[str], whose: Sequence[str], buffer: str, what: str) -> PerfRecording:
        """Start perf. Returns when it records.

        `whose` are its options for what is recorded, `buffer` is the size of the buffer of each processor, and `what`
        is named if it refuses. Raises `CannotTrace` with the cure if perf is missing or not permitted."""
        perf = perf_path()
        if perf is None:
            raise CannotTrace("perf is not installed.", [missing_perf()])
        folder = TemporaryDirectory(prefix="tracealyze-")
        control, answer = os.pipe(), os.pipe()
        arguments = [perf, "record", "-q", *whose, "-B", "-N", "-k", "CLOCK_MONOTONIC", "-m", buffer, "-D", "-1"]
        arguments += ["--control", f"fd:{control[0]},{answer[1]}", "-o", os.path.join(folder.name, "perf.data")]
        arguments += [word for event in events for word in ("-e", event)]
        with open(os.path.join(folder.name, "messages"), "wb") as messages:
            # In a session of its own: Ctrl-C is for the command.
            process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=messages,
                stderr=messages,
                pass_fds=(control[0], answer[1]),
                start_new_session=True,
                # This process may keep signals pending. perf ends by one.
                preexec_fn=_heeds_signals,
            )
        os.close(control[0])
        os.close(answer[1])
        found = cls(process, folder, (control[1], answer[0]))
        if _enable(control[1], answer[0]):
            return found
        found.stop()
        message = found.message()
        found.remove()
        raise CannotTrace(f"perf cannot record {what}.", obstacles_of_perf(message))

    @property
    def file(self) -> str:
        """What it recorded, once it has ended."""
        return os.path.join(self._folder.name, "perf.data")

    def path(self, name: str) -> str:
        """A file next to it, which `remove` removes too."""
        return os.path.join(self._folder.name, name)

    def message(self) -> str:
        """What perf printed."""
        with open(self.path("messages"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def has_ended(self) -> bool:
        """Whether perf ended by itself: all that it was to record has exited."""
        return self._perf.poll() is not None

    def stop(self) -> None:
        """End perf, and wait until its file is complete."""
        self._perf.send_signal(signal.SIGINT)
        try:
            self._perf.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            self._perf.kill()
            self._perf.wait()
        for end in self._ends:
            os.close(end)

    def remove(self) -> None:
        """Remove what it recorded."""
        self._folder.cleanup()


def _heeds_signals() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


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
