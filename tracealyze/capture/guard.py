"""A process that ends the tracing if `record` is killed: a tracer without a reader would go on forever."""

from __future__ import annotations

import os
import signal

from tracealyze.capture.launch import Pipe
from tracealyze.capture.processes import end_tracing

_DONE = b"."


class Guard:
    """Waits in a session of its own until `record` reports the end, or is killed."""

    def __init__(self, pipe: Pipe, *, kills: bool) -> None:
        watched, self._report = os.pipe()
        self._pid = os.fork()
        if not self._pid:
            os.close(self._report)
            _watch(watched, pipe, kills)
        os.close(watched)

    def release(self) -> None:
        """End it without action: nothing is traced any more."""
        os.write(self._report, _DONE)
        os.close(self._report)
        os.waitpid(self._pid, 0)


def _watch(watched: int, pipe: Pipe, kills: bool) -> None:
    """The guard itself; it never returns."""
    try:
        os.setsid()
        pipe.release()
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        # The reader of the command's output must not wait for the guard.
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nowhere, standard)
        if not os.read(watched, 1):
            end_tracing(pipe.readable, kills=kills)
    finally:
        os._exit(0)
