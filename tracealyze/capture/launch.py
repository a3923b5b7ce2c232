"""Starts the tracer on a command, which stays a child of this process, or on processes that run."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from tracealyze.capture import processes
from tracealyze.capture.tracer import Tracer

PIPE_BYTES = 1 << 20
"""A tracer that need not wait for the reader takes 2.1 instead of 2.4 s for 20,000 calls; a file takes 1.6 s."""

_ENDING_S = 2.0
"""Time for a command to end after SIGTERM."""
_PAUSE_S = 0.02
_HANDLED = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM)


class Pipe:
    """What the tracer writes. It opens the pipe by name, so that the command does not inherit it."""

    def __init__(self) -> None:
        self.readable, self._writable = os.pipe()
        self.name = f"/proc/{os.getpid()}/fd/{self._writable}"
        with suppress(OSError):
            # Not permitted above /proc/sys/fs/pipe-max-size.
            fcntl.fcntl(self.readable, fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    def release(self) -> None:
        """From now on, reading ends when the tracer does."""
        if self._writable >= 0:
            os.close(self._writable)
            self._writable = -1


def block_signals() -> set[Any]:
    """Keep signals to this process pending, so that none is lost before the command runs. Returns the mask before."""
    return set(signal.pthread_sigmask(signal.SIG_BLOCK, _HANDLED))


def next_signal() -> signal.struct_siginfo | None:
    """A pending signal."""
    return signal.sigtimedwait(_HANDLED, 0)


def is_from_terminal(received: signal.struct_siginfo) -> bool:
    """Whether the kernel sent the signal: then the command, in the same process group, has it too."""
    return received.si_code > 0


def pass_signals_on(command: int | None) -> bool:
    """Pass pending signals on to a command that runs. Returns whether one is for this process, as no command runs."""
    while received := next_signal():
        if command is None:
            return True
        if not is_from_terminal(received):
            os.kill(command, received.si_signo)
    return False


def end(command: int, has_exited: Callable[[], bool]) -> None:
    """End a command and the processes that it started: with SIGTERM, and if that does not help with SIGKILL."""
    with Descendants(command) as others:
        for number in (signal.SIGTERM, signal.SIGKILL):
            if not has_exited():
                os.kill(command, number)
            others.send(number)
            end_s = time.monotonic() + _ENDING_S
            while not has_exited() or others.run():
                if number != signal.SIGKILL and time.monotonic() >= end_s:
                    break
                time.sleep(_PAUSE_S)


class Descendants:
    """The processes that a process has started, and those that they have. What became a daemon is none."""

    def __init__(self, pid: int) -> None:
        self._handles: list[int] = []
        for each in processes.descendants([pid]):
            with suppress(OSError):
                self._handles.append(os.pidfd_open(each))

    def __enter__(self) -> Descendants:
        return self

    def __exit__(self, *_error: object) -> None:
        for handle in self._handles:
            os.close(handle)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to those that run."""
        for handle in self._handles:
            with suppress(OSError):
                signal.pidfd_send_signal(handle, number)

    def run(self) -> bool:
        """Whether any of them has not ended."""
        ended = select.poll()
        for handle in self._handles:
            ended.register(handle, select.POLLIN)
        return len(ended.poll(0)) < len(self._handles)


def start_command(tracer: Tracer, flags: Sequence[str], command: Sequence[str], pipe: Pipe, mask: set[Any]) -> int:
    """Returns the process id of the command, whose parent, streams, descriptors and environment are its own."""
    arguments = [tracer.path, *tracer.daemonized(), *flags, "-o", pipe.name, "--", *command]
    return os.posix_spawn(tracer.path, arguments, environment(), setsigmask=mask, setsigdef=ignored_by_python())


def attach(tracer: Tracer, flags: Sequence[str], pids: Sequence[int], pipe: Pipe, messages: int) -> int:
    """Returns the process id of the tracer, which is in a session of its own."""
    targets = [word for pid in pids for word in ("-p", str(pid))]
    return os.posix_spawn(
        tracer.path,
        [tracer.path, "-q", *flags, "-o", pipe.name, *targets],
        environment(),
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, messages, 2),
            (os.POSIX_SPAWN_DUP2, messages, 1),
        ],
        setsid=True,
        setsigmask=[],
        setsigdef=[*ignored_by_python(), *_HANDLED],
    )


def ignored_by_python() -> list[signal.Signals]:
    """Signals that a command must not ignore because this process does."""
    return [signal.SIGPIPE, signal.SIGXFSZ]


def environment() -> Mapping[bytes, bytes]:
    """The environment that this process was started with: Python may have set LC_CTYPE since."""
    try:
        with open("/proc/self/environ", "rb") as file:
            pairs = (entry.partition(b"=") for entry in file.read().split(b"\0") if entry)
            return {name: value for name, _, value in pairs}
    except OSError:
        return os.environb
