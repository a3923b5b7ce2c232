"""Standard output: its console, and what happens when nobody reads it any more."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    """The console on standard output: width and colours as the terminal has them, 80 columns and none in a pipe."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=False)


def write(text: str) -> None:
    """Text to standard output, as it is."""
    sys.stdout.write(text)


def note(text: str) -> None:
    """A remark beside the data, on standard error."""
    from tracealyze.render.text import shown

    sys.stderr.write(f"{shown(text)}\n")


def prepare() -> None:
    """Let no character stop the output: what the encoding cannot show is escaped."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def abandon() -> None:
    """Nobody reads standard output any more: throw the rest away, also what the interpreter flushes at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
