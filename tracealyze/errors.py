"""What can go wrong, and the exit code of each kind. A message says what, where, and what to do."""

from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
    """What the process tells the one who called it."""

    FINE = 0
    GATE_FAILED = 1
    WRONG_USAGE = 2
    UNUSABLE_INPUT = 3
    BUG = 70
    INTERRUPTED = 130


class TracealyzeError(Exception):
    """All errors that a user can act on."""

    exit_code = ExitCode.BUG

    @property
    def lines(self) -> tuple[str, ...]:
        """The message, and what it shows of the place below it."""
        return (str(self),)


class GateFailed(TracealyzeError):
    """The capture was read and does not meet what was asked of it."""

    exit_code = ExitCode.GATE_FAILED


class WrongUsage(TracealyzeError):
    """An option, a name or a configuration that does not exist or does not fit."""

    exit_code = ExitCode.WRONG_USAGE


class UnusableInput(TracealyzeError):
    """A capture that cannot be found, read or recognised."""

    exit_code = ExitCode.UNUSABLE_INPUT


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` Did you mean "x"?` for the known name next to this one, nothing if none is near."""
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f' Did you mean "{near[0]}"?' if near else ""
