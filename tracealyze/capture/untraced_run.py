"""The command once more, without the tracer: how long it takes, and so what tracing costs."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

from tracealyze.capture.launch import environment, ignored_by_python


def wall_ns(command: Sequence[str], status: int | None, mask: set[Any]) -> int | None:
    """The wall time of the command with no input and no output; None if it ends otherwise than before."""
    nothing = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in range(3)]
    start_ns = time.monotonic_ns()
    pid = os.posix_spawnp(
        command[0], list(command), environment(), file_actions=nothing, setsigmask=mask, setsigdef=ignored_by_python()
    )
    _, ended = os.waitpid(pid, 0)
    took_ns = time.monotonic_ns() - start_ns
    return took_ns if os.waitstatus_to_exitcode(ended) == status else None
