"""Standard output and standard error, and what happens when nobody reads them any more."""

from __future__ import annotations

import codecs
import os
import sys
from contextlib import suppress

from tracealyze.sanitize import shown

_PLAIN = "tracealyze-plain"
_SIGNS = {"…": "...", "→": "->", "←": "<-", "⇠": "<~", "·": "-", "µ": "u", "×": "x", "±": "+-", "–": "-"}
"""Our own signs, for encodings that do not have them."""


def _plainly(error: UnicodeError) -> tuple[str | bytes, int]:
    text = error.object[error.start : error.start + 1] if isinstance(error, UnicodeEncodeError) else ""
    if isinstance(error, UnicodeEncodeError) and text in _SIGNS:
        return _SIGNS[text], error.start + 1
    return codecs.backslashreplace_errors(error)


def write(text: str) -> None:
    """Text to standard output, as it is."""
    sys.stdout.write(text)


def note(text: str) -> None:
    """A remark beside the data, on standard error. That nobody can read it changes nothing else."""
    with suppress(OSError):
        sys.stderr.write(f"{shown(text)}\n")


def prepare() -> None:
    """Let no character stop the output: what the encoding cannot show is told in plain signs, or escaped."""
    codecs.register_error(_PLAIN, _plainly)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # Closed by who started this (`>&-`): as if it went nowhere.
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=_PLAIN)


def abandon() -> None:
    """Nobody reads standard output any more: throw the rest away, also what the interpreter flushes at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
