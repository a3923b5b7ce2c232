"""Errors of the engine as errors of this package, with a message that says what to do."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from tracealyze import _engine
from tracealyze.base.errors import (
    TracealyzeError,
    UnknownFormat,
    UnreadableCapture,
    UnusableInput,
    WrongUsage,
    did_you_mean,
)
from tracealyze.base.units import size
from tracealyze.model import memory
from tracealyze.model.capture_input import capture_files, recorded
from tracealyze.model.capture_input.nearest import nearest
from tracealyze.model.capture_input.other_tools import OTHER_TOOLS

_Answer = TypeVar("_Answer")


def translated(request: Callable[[], _Answer]) -> _Answer:
    """The engine's answer to a request. Its errors are raised as `UnusableInput` or `WrongUsage`."""
    try:
        return request()
    except _engine.EngineError as error:
        raise _TRANSLATIONS[type(error)](*error.args) from error
    except BrokenPipeError:
        # Not of the capture: who takes the output has closed it.
        raise
    except OSError as error:
        raise UnreadableCapture(f"{error}.") from error


def _unreadable(path: str, reason: str) -> UnusableInput:
    return UnreadableCapture(f"{_shown(path)}: cannot be read: {reason}.")


def _unrecognised(path: str, tried: Sequence[str]) -> UnusableInput:
    # Only one format is tried if the user named it.
    advice, option = (
        ("If you know the format, pass input_format=NAME.", "If you know the format, use --input-format NAME.")
        if len(tried) > 1
        else ("Try without input_format.", "Try without --input-format.")
    )
    found = nearest(path) if len(tried) > 1 and path != capture_files.STDIN else ""
    why = f" {found}" if found else ""
    return UnknownFormat(f"{_shown(path)}: unknown format; tried {', '.join(tried)}.{why}", advice, option)


def _other_tool(path: str, tool: str) -> UnknownFormat:
    return UnknownFormat(f"{_shown(path)}: {OTHER_TOOLS[tool]}")


def _empty(path: str) -> UnusableInput:
    if made := recorded.recording_without_events(path):
        return UnusableInput(f"{_shown(path)}: {made}")
    return UnusableInput(f"{_shown(path)}: the file is empty. Did the tracer start, and was its output flushed?")


def _no_room(folder: str | os.PathLike[str], reason: str, written: int) -> UnusableInput:
    what = reason.partition(" (os error")[0]
    return UnusableInput(
        f"{os.fspath(folder)}: no room for the part of the trace that does not fit into {size(memory.limit())} of"
        f" memory: {what}, after {size(written)}. Set TMPDIR to a folder on a disk with more room,"
        " or TRACEALYZE_MEMORY=8G (for example) to use more memory."
    )


def _no_matching_line(path: str, pattern: str) -> UnusableInput:
    return UnusableInput(f"{_shown(path)}: no line matches {pattern}, or none after the --from line.")


def _no_such_line(path: str, lines: int) -> UnusableInput:
    return UnusableInput(f"{_shown(path)}: there is no such line; the last line is line:{lines}.")


def _unknown_name(kind: str, name: str, known: Sequence[str]) -> WrongUsage:
    listed = f" ({', '.join(known)})" if known else ""
    return WrongUsage(f'there is no {kind} "{name}"{listed}.{did_you_mean(name, known)}')


def _invalid_time(text: str, examples: Sequence[str]) -> WrongUsage:
    return WrongUsage(f'"{text}" is not a valid time; write it as one of {", ".join(examples)}.')


def _invalid_pattern(text: str, reason: str) -> WrongUsage:
    return WrongUsage(f'"{text}" is not a valid regular expression: {reason}.')


def _invalid_expression(reason: str) -> WrongUsage:
    return WrongUsage(f"not a valid condition: {reason}.")


_TRANSLATIONS: Mapping[type[Exception], Callable[..., TracealyzeError]] = {
    _engine.UnreadableInput: _unreadable,
    _engine.UnrecognisedInput: _unrecognised,
    _engine.OtherTool: _other_tool,
    _engine.EmptyInput: _empty,
    _engine.NoRoom: _no_room,
    _engine.NoMatchingLine: _no_matching_line,
    _engine.NoSuchLine: _no_such_line,
    _engine.UnknownName: _unknown_name,
    _engine.InvalidTime: _invalid_time,
    _engine.InvalidPattern: _invalid_pattern,
    _engine.InvalidExpression: _invalid_expression,
}
"""By the engine's class, whose `args` are the arguments."""


def _shown(path: str) -> str:
    return "standard input" if path == capture_files.STDIN else path
