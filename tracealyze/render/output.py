"""Standard output and standard error, and what happens when they are closed or full."""

from __future__ import annotations

import codecs
import os
import sys
from contextlib import suppress
from enum import StrEnum
from typing import TextIO

from tracealyze.base.sanitize import shown, shown_lines

_PLAIN = "tracealyze-plain"
_SIGNS = {"…": "...", "→": "->", "⇢": "~>", "·": "-", "µ": "u", "×": "x", "±": "+-", "–": "-"}
"""Our own signs in ASCII, for encodings that lack them."""


def _plainly(error: UnicodeError) -> tuple[str | bytes, int]:
    text = error.object[error.start : error.start + 1] if isinstance(error, UnicodeEncodeError) else ""
    if isinstance(error, UnicodeEncodeError) and text in _SIGNS:
        return _SIGNS[text], error.start + 1
    return codecs.backslashreplace_errors(error)


codecs.register_error(_PLAIN, _plainly)


def plainly(text: str) -> str:
    """A text in ASCII: our own signs have another form, all other characters are escaped."""
    return text.encode("ascii", _PLAIN).decode("ascii")


def is_ascii_locale() -> bool:
    """Whether the user's locale has only ASCII. Python prints UTF-8 there, but a terminal may not show it (PEP 540)."""
    chosen = next((value for name in ("LC_ALL", "LC_CTYPE", "LANG") if (value := os.environ.get(name))), "")
    return chosen in ("C", "POSIX")


class Color(StrEnum):
    """When to use colors: the values of `--color`."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


_color = Color.AUTO


def use_color(when: Color) -> Color:
    """Set when to use colors."""
    global _color
    _color = when
    return when


def has_styles() -> bool:
    """Whether standard output gets colors and bold text: on a terminal, unless an option or variable decides."""
    if _color is not Color.AUTO:
        return _color is Color.ALWAYS
    forced = os.environ.get("CLICOLOR_FORCE", "0") not in ("", "0") and not os.environ.get("NO_COLOR")
    return forced or bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()


def must_have_colors() -> bool | None:
    """True if an option or variable requests colors although standard output may not be a terminal."""
    is_forced = os.environ.get("CLICOLOR_FORCE", "0") not in ("", "0")
    return True if _color is Color.ALWAYS or (_color is Color.AUTO and is_forced) else None


_WITH_LINKS = (
    *("DOMTERM", "GHOSTTY_RESOURCES_DIR", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "WEZTERM_PANE", "WT_SESSION"),
    "ALACRITTY_WINDOW_ID",
)
_PROGRAMS_WITH_LINKS = ("Hyper", "Tabby", "WezTerm", "ghostty", "iTerm.app", "rio", "vscode", "zed")
_TERMS_WITH_LINKS = ("alacritty", "contour", "foot", "rio", "wezterm", "xterm-ghostty", "xterm-kitty")
# VTE prints a wrong character in versions before this one: https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda
_MIN_VTE_VERSION = 5000


def has_links() -> bool:
    """Whether standard output is a terminal that is known to support hyperlinks (OSC 8).

    FORCE_HYPERLINK=1 or 0 decides for terminals that are not known. In a pipe there are none."""
    if not sys.stdout.isatty() or not has_styles():
        return False
    variables = os.environ
    if forced := variables.get("FORCE_HYPERLINK"):
        return forced != "0"
    term = variables.get("TERM", "")
    # tmux and screen show what is inside of them, and pass links on only in recent versions.
    if variables.get("CI") or term in ("", "dumb", "linux") or term.startswith(("screen", "tmux")):
        return False
    vte = variables.get("VTE_VERSION", "")
    return (
        term.startswith(_TERMS_WITH_LINKS)
        or variables.get("TERM_PROGRAM") in _PROGRAMS_WITH_LINKS
        or (vte.isdecimal() and int(vte) >= _MIN_VTE_VERSION)
        or any(variables.get(name) for name in _WITH_LINKS)
    )


def write(text: str) -> None:
    """Write lines to standard output. Control characters that are still in them are escaped."""
    sys.stdout.write(shown_lines(text))


def write_styled(text: str) -> None:
    """Write text without any text of a trace to standard output, unchanged: it may have styles."""
    sys.stdout.write(text)


def note(text: str) -> None:
    """Write a line to standard error, next to the data. If that fails, the command goes on."""
    with suppress(OSError):
        sys.stderr.write(f"{shown(text)}\n")


def prepare() -> None:
    """Replace characters that the encoding of a stream lacks: our own signs by ASCII, all others by escapes."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # Closed by the caller (`>&-`): behave as if it were /dev/null.
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            # Buffered also where PYTHONUNBUFFERED is set, so that a closed pipe is found at the same place.
            reconfigure(errors=_PLAIN, write_through=False)


def abandon(stream: TextIO | None = None) -> None:
    """Discard what is left in a stream, standard output by default, and what is written to it later.

    Used when its reader has exited or it cannot be written. Otherwise the interpreter would try once more at its
    exit, fail, and change the exit code to 120."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, (stream or sys.stdout).fileno())
    os.close(nowhere)


def flush(stream: TextIO) -> OSError | None:
    """Write out a stream. If that fails, abandon it and return the error."""
    try:
        stream.flush()
    except OSError as error:
        abandon(stream)
        return error
    return None
