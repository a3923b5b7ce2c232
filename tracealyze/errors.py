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


class WrongUsage(TracealyzeError):
    """An option, a name or a setting that does not exist or does not fit."""

    exit_code = ExitCode.WRONG_USAGE


class UnusableInput(TracealyzeError):
    """A capture that cannot be found, read or recognised."""

    exit_code = ExitCode.UNUSABLE_INPUT


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` Did you mean "x"?` with the most similar known name; empty if none is similar."""
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f' Did you mean "{near[0]}"?' if near else ""
