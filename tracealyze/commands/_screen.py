"""The screen of `watch`: drawn again in each interval, with keys as in `top`."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Console
from rich.control import Control
from rich.live import Live
from rich.text import Text

from tracealyze.base import units
from tracealyze.base.heuristics import MAX_WATCH_INTERVAL_NS, MIN_WATCH_INTERVAL_NS
from tracealyze.render.terminal import TextLine
from tracealyze.render.text import symbols
from tracealyze.render.watch import State, screen

if TYPE_CHECKING:
    from tracealyze.capture.watching import Watching
    from tracealyze.trace.live.last_minute import View

_TERMINAL = "/dev/tty"
_KEY_BYTES = 64


def run(watching: Watching, state: State, until_s: float | None = None) -> bool:
    """Show the screen until a key, the end of the trace or a moment. Returns whether the report is wanted."""
    drawn = symbols(sys.stdout)
    # The terminal is put in order on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    view: View | None = None
    with _keyboard() as keyboard, _alternate() as live:
        while not watching.has_ended and (until_s is None or time.monotonic() < until_s):
            seen = watching.view()
            # What is added meanwhile is taken all the same.
            view = view if state.is_paused and view is not None else seen
            due_s = time.monotonic() + state.interval_ns / units.S
            while True:
                size = live.console.size
                live.update(_text(screen(view, state, (size.width, size.height), drawn)), refresh=True)
                key = _key(keyboard, due_s - time.monotonic())
                if key in ("q", "Q", "\x03"):
                    return key == "q"
                if key is None:
                    break
                state = _after(key, state)
    return True


def _after(key: str, state: State) -> State:
    """What a key changes."""
    if key == " ":
        return replace(state, is_paused=not state.is_paused)
    if key in "h?":
        return replace(state, has_help=not state.has_help)
    if key == "g":
        return state.next_group()
    if key in "+-":
        factor_ns = state.interval_ns * 2 if key == "+" else state.interval_ns // 2
        return replace(state, interval_ns=min(max(factor_ns, MIN_WATCH_INTERVAL_NS), MAX_WATCH_INTERVAL_NS))
    return state


def _key(keyboard: int | None, timeout_s: float) -> str | None:
    """The next key that is pressed; None after the timeout."""
    timeout_s = max(timeout_s, 0)
    if keyboard is None:
        time.sleep(timeout_s)
        return None
    ready, _, _ = select.select([keyboard], [], [], timeout_s)
    return os.read(keyboard, _KEY_BYTES).decode(errors="replace")[:1] or None if ready else None


def _text(lines: list[TextLine]) -> Text:
    return Text("\n").join(Text.assemble(*line) for line in lines)


@contextmanager
def _alternate() -> Iterator[Live]:
    """The alternate screen, so that the terminal is as before at the end."""
    console = Console(highlight=False, markup=False, emoji=False)
    with Live(console=console, screen=True, auto_refresh=False, vertical_overflow="crop") as live:
        try:
            yield live
        finally:
            console.control(Control.show_cursor(True))


@contextmanager
def _keyboard() -> Iterator[int | None]:
    """The terminal's keys, one by one and unseen; None if there is no terminal to read from, as on Windows."""
    try:
        import termios
        import tty

        file = os.open(_TERMINAL, os.O_RDONLY | os.O_NOCTTY)
    except (ImportError, OSError):
        yield None
        return
    before = termios.tcgetattr(file)
    try:
        tty.setcbreak(file)
        yield file
    finally:
        termios.tcsetattr(file, termios.TCSADRAIN, before)
        os.close(file)
