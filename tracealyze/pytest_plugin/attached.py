"""strace on this process, from one moment to another.

    this process   |-- write(-1, begin) --|-- the test --|-- write(-1, end) --|
    strace        attach … first line                               … last line  detach

The tracer must not be a child of this process: a test that waits for any child would wait for the tracer. So a shell
starts it in the background and exits. Before it attaches, this process permits it to: Yama allows nothing else.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import time
from contextlib import suppress
from pathlib import Path

from tracealyze.base.errors import UnusableInput
from tracealyze.capture.attaching import refusal_of
from tracealyze.capture.obstacles import CannotTrace
from tracealyze.capture.tracer import Profile, Tracer

_TIME_LIMIT_S = 20.0
"""A loaded machine may need seconds. This only bounds the wait for a tracer that hangs."""
_PAUSE_S = 0.0005
_PR_SET_PTRACER = 0x59616D61

# The inner shell prints its process id, waits for a line, and becomes the tracer under the same id.
_START = """exec 3<&0
sh -c 'echo $$; read -r go && exec "$@" <&- 3<&- >&2' sh "$@" <&3 3<&- &"""


class Attachment:
    """A tracer that is attached to this process and follows its children."""

    def __init__(self, tracer: Tracer, file: Path) -> None:
        self.file = file
        self._messages = file.with_suffix(".messages")
        self._pid, go = self._start([tracer.path, "-q", *tracer.flags(Profile.FULL, may_filter=False)])
        try:
            self._handle = os.pidfd_open(self._pid)
            _permit(self._pid)
            os.write(go, b"\n")
        finally:
            os.close(go)
        self._wait_for_first_line()

    def _start(self, command: list[str]) -> tuple[int, int]:
        """Returns the process id of the future tracer, and the descriptor on which it waits for a line."""
        control, go = os.pipe()
        reply, report = os.pipe()
        words = ["sh", "-c", _START, "sh", *command, "-o", str(self.file), "-p", str(os.getpid())]
        try:
            messages = os.open(self._messages, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            actions = [(os.POSIX_SPAWN_DUP2, number, at) for at, number in enumerate((control, report, messages))]
            # Ctrl-C is for the tests: the tracer ends when it is told to.
            shell = os.posix_spawn("/bin/sh", words, os.environ, file_actions=actions, setsid=True, setsigmask=[])
            os.close(messages)
            os.waitpid(shell, 0)
        except BaseException:
            os.close(go)
            raise
        finally:
            os.close(control)
            os.close(report)
        with os.fdopen(reply, "rb") as answer:
            return int(answer.readline()), go

    def _wait_for_first_line(self) -> None:
        """Repeat a marker until the tracer prints it: from then on, every call of this process is traced."""
        end_s = time.monotonic() + _TIME_LIMIT_S
        while not self._exited(0):
            mark(b"attached;")
            # Reading to the end would not end: each read adds a line.
            if self.file.exists() and b"tracealyze:attached;" in _head(self.file):
                return
            if time.monotonic() > end_s:
                self.stop()
                raise UnusableInput(f"strace did not attach within {_TIME_LIMIT_S:.0f} s.")
            time.sleep(_PAUSE_S)
        raise self._refusal()

    def _refusal(self) -> CannotTrace:
        text = self._messages.read_text(encoding="utf-8", errors="replace")
        self._remove_messages()
        return refusal_of(text, [os.getpid()])

    def stop(self) -> None:
        """Detach. Afterwards the file is complete, and this process and those it left running are not traced."""
        for each in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, each)
            if self._exited(_TIME_LIMIT_S):
                break
        os.close(self._handle)
        self._remove_messages()

    def _exited(self, limit_s: float) -> bool:
        return bool(select.select([self._handle], [], [], limit_s)[0])

    def _remove_messages(self) -> None:
        self._messages.unlink(missing_ok=True)


def mark(name: bytes) -> None:
    """Make a call that does nothing but stand in the trace: writing to no descriptor."""
    with suppress(OSError):
        os.write(-1, b"tracealyze:" + name)


def _permit(pid: int) -> None:
    """Without Yama this is an unknown option, and not necessary."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PTRACER, ctypes.c_ulong(pid), 0, 0, 0)


def _head(file: Path, size_bytes: int = 1 << 16) -> bytes:
    with file.open("rb", buffering=0) as opened:
        return opened.read(size_bytes)
