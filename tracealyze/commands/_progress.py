"""Progress on a terminal while a long capture is read and analyzed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

from tracealyze.base import units

if TYPE_CHECKING:
    from tracealyze.trace.trace import Progress

_DELAY_S = 0.5
"""Captures that are read faster than this show no progress."""
_INTERVAL_S = 0.1
_ANALYSIS_INTERVAL_S = 0.5


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
def analyzing() -> Iterator[None]:
    """Show on a terminal that the engine works, and for how long; the line is removed at the end."""
    if not sys.stderr.isatty():
        yield
        return
    start, done = monotonic(), Event()

    def show() -> None:
        while not done.wait(_ANALYSIS_INTERVAL_S):
            if monotonic() - start > _DELAY_S:
                sys.stderr.write(f"\ranalyzing: {monotonic() - start:.0f} s\x1b[K")
                sys.stderr.flush()

    ticker = Thread(target=show, daemon=True)
    ticker.start()
    try:
        yield
    finally:
        done.set()
        ticker.join()
        if monotonic() - start > _DELAY_S:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
