"""Errors and their exit codes. A message states what is wrong, where, and what to do."""

from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the process."""

    FINE = 0
    GATE_FAILED = 1
    WRONG_USAGE = 2
    UNUSABLE_INPUT = 3
    BUG = 70
    INTERRUPTED = 130


class TracealyzeError(Exception):
    """The base of all errors that a user can act on."""

    exit_code = ExitCode.BUG

    @property
    def lines(self) -> tuple[str, ...]:
        """The message, followed by lines that show the place it is about."""
        return (str(self),)


class GateFailed(TracealyzeError):
    """The capture was read, and fails a check."""

    exit_code = ExitCode.GATE_FAILED


class WrongUsage(TracealyzeError, ValueError):
    """An option, a name or a setting that does not exist or does not fit. Also a `ValueError`."""

    exit_code = ExitCode.WRONG_USAGE


class UnusableInput(TracealyzeError, ValueError):
    """A capture that cannot be found, read or parsed. Also a `ValueError`."""

    exit_code = ExitCode.UNUSABLE_INPUT


class MissingCapture(UnusableInput, FileNotFoundError):
    """No file has the name of the capture. Also a `FileNotFoundError`."""


class UnreadableCapture(UnusableInput, OSError):
    """The file or directory of a capture cannot be read. Also an `OSError`."""


class UnknownFormat(UnusableInput):
    """No format fits the capture, or the requested one does not."""

    def __init__(self, message: str, advice: str = "", option: str = "") -> None:
        super().__init__(f"{message} {advice}".rstrip())
        self._shown = f"{message} {option}".rstrip()

    @property
    def lines(self) -> tuple[str, ...]:
        """The message with the advice for the command line."""
        return (self._shown,)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` Did you mean "x"?` with the most similar known name; empty if none is similar."""
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f' Did you mean "{near[0]}"?' if near else ""
