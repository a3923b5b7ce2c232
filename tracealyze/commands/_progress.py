"""What a user can see and do while a long capture is read: a progress line on a terminal, and Ctrl-C."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from tracealyze import units

if TYPE_CHECKING:
    from tracealyze.trace import Progress

_DELAY_S = 0.5
"""Captures that are read faster than this show no progress."""
_INTERVAL_S = 0.1


def progress() -> Progress | None:
    """A callback that writes how much has been read; None if standard error is not a terminal."""
    if not sys.stderr.isatty():
        return None
    start = last = monotonic()

    def show(done: int, total: int) -> None:
        nonlocal last
        now = monotonic()
        if total and done >= total and last > start:
            sys.stderr.write("\r\x1b[K")
        elif now - start > _DELAY_S and now - last > _INTERVAL_S:
            last = now
            of_total = f" of {units.size(total)}, {units.share(done / total)}" if total else ""
            sys.stderr.write(f"\rreading: {units.size(done)}{of_total}\x1b[K")
        sys.stderr.flush()

    return show


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end the process at once.

    Python handles a signal between two of its own instructions, and the engine may wait for input without executing
    one: standard input can be an idle pipe, where no progress callback is called either. Nothing needs cleaning up
    while a capture is read, so the system's default action is safe."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
