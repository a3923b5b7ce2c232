"""What the engine answers, and its errors in the words of this package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from tracealyze import _engine
from tracealyze.capture_input import capture_files
from tracealyze.errors import UnusableInput, WrongUsage, did_you_mean

_Answer = TypeVar("_Answer")


def _unusable(path: str, reason: str, tried: Sequence[str] = ()) -> str:
    name = "standard input" if path == capture_files.STDIN else path
    if reason == "empty":
        return f"{name}: the file is empty. Did the tracer start, and was its output flushed?"
    if reason == "unrecognised":
        # One was tried alone: it was named.
        advice = "If you know the format, use --input-format NAME." if len(tried) > 1 else "Try without --input-format."
        return f"{name}: unknown format; tried {', '.join(tried)}. {advice}"
    if reason == "no_line":
        return f"{name}: no line matches {tried[0]}, or none after the --from line."
    if reason == "past_end":
        return f"{name}: there is no such line; the last line is line:{tried[0]}."
    return f"{name}: cannot be read: {reason}."


def translated(engine: Callable[[], _Answer]) -> _Answer:
    """What the engine answers; its errors in the words of this package."""
    try:
        return engine()
    except _engine.InputError as error:
        raise UnusableInput(_unusable(*error.args)) from error
    except OSError as error:
        raise UnusableInput(f"{error}.") from error
    except _engine.UsageError as error:
        what, name, known = error.args
        if what == "regular expression":
            raise WrongUsage(f'"{name}" is not a valid regular expression: {known[0]}.') from error
        if what == "time":
            raise WrongUsage(f'"{name}" is not a valid time; write it as one of {", ".join(known)}.') from error
        listed = f" ({', '.join(known)})" if known else ""
        raise WrongUsage(f'there is no {what} "{name}"{listed}.{did_you_mean(str(name), known)}') from error
