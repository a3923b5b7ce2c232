"""A command that does not run before it is released, so that perf records it from its first call on."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tracealyze.capture import launch
from tracealyze.capture.programs import NOT_EXECUTABLE


@dataclass
class HeldCommand:
    """A child of this process with its own streams and environment."""

    pid: int
    _report: int
    status: int | None = None
    """Its exit status, negative for a signal; None while it runs."""

    @classmethod
    def begin(cls, command: Sequence[str], mask: set[Any]) -> HeldCommand:
        """Create the process, which waits. `mask` are the signals that the command is to block."""
        path = shutil.which(command[0]) or command[0]
        environment = launch.environment()
        waits, report = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(report)
            _run(waits, path, command, environment, mask)
        os.close(waits)
        return cls(pid, report)

    def release(self) -> None:
        """Run the command."""
        os.write(self._report, b".")
        os.close(self._report)

    def discard(self) -> None:
        """End the process without running the command."""
        os.close(self._report)
        os.waitpid(self.pid, 0)

    def reap(self) -> bool:
        """Whether it has exited."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def wait(self) -> None:
        """Wait until it has exited."""
        if self.status is None:
            _, status = os.waitpid(self.pid, 0)
            self.status = os.waitstatus_to_exitcode(status)


def _run(waits: int, path: str, command: Sequence[str], environment: Any, mask: set[Any]) -> None:
    """The child; it never returns."""
    try:
        if os.read(waits, 1):
            for number in launch.ignored_by_python():
                signal.signal(number, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            os.execve(path, list(command), environment)
    finally:
        os._exit(NOT_EXECUTABLE)
