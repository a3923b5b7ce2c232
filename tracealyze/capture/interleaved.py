"""Records two commands in turn, so that a change of the machine meanwhile is in the runs of both.

```
base  warm-up   1   2   3
head    warm-up   1   2   3      one after the other: base, head, base, head …
```

The warm-up is not recorded. The first run of a program fills caches (compiled files, answers of name servers), which
later runs only read.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING

from tracealyze.base.errors import UnusableInput, WrongUsage
from tracealyze.base.sanitize import shown
from tracealyze.capture import programs
from tracealyze.capture.tracer import Profile, find

if TYPE_CHECKING:
    from tracealyze.capture.tracer import Tracer

_TAIL_BYTES = 400
_TAIL_LINES = 3


@dataclass(frozen=True)
class Side:
    """A command to record, and the name of its captures."""

    name: str
    command: Sequence[str]
    setup: Sequence[str] = ()
    """Run before each run and not recorded."""
    folder: str | None = None
    """The working directory; None for that of this process. Captures have the path of the latter."""


def record(sides: Sequence[Side], runs: int, folder: Path, note: Callable[[str], object]) -> list[list[str]]:
    """Record each side `runs` times. Returns the captures of each side, in this folder.

    Raises `WrongUsage` if a command cannot be run here, `CannotTrace` without a tracer, and `UnusableInput` if a run
    leaves no capture."""
    tracer = find()
    for side in sides:
        with _inside(side):
            _must_run(side)
    for side in sides:
        _warm_up(side, note)
    found: list[list[str]] = [[] for _ in sides]
    for number in range(1, runs + 1):
        for side, files in zip(sides, found, strict=True):
            files.append(_recorded(side, tracer, folder / f"{side.name}-{number}.strace.zst"))
    return found


def _must_run(side: Side) -> None:
    for command in filter(None, (side.setup, side.command)):
        if refusal := programs.check(command[0], "tracealyze check --base-command CMD --"):
            raise WrongUsage(f"{side.name}: {refusal[1]}")


def _warm_up(side: Side, note: Callable[[str], object]) -> None:
    """Run once without a tracer. A command that fails is probably not the one to compare, so this is shown."""
    with TemporaryFile() as printed:
        _set_up(side)
        done = subprocess.run(
            side.command, cwd=side.folder, stdin=subprocess.DEVNULL, stdout=printed, stderr=printed, check=False
        )
        if done.returncode:
            end = f"signal {-done.returncode}" if done.returncode < 0 else f"status {done.returncode}"
            note(f"{side.name}: the command ends with {end}.{_tail(printed)}")


def _set_up(side: Side) -> None:
    if not side.setup:
        return
    with TemporaryFile() as printed:
        done = subprocess.run(
            side.setup, cwd=side.folder, stdin=subprocess.DEVNULL, stdout=printed, stderr=printed, check=False
        )
        if done.returncode:
            raise UnusableInput(f"{side.name}: its set-up failed with {done.returncode}.{_tail(printed)}")


def _tail(printed: IO[bytes]) -> str:
    """` It printed: …`, the last lines of a file."""
    printed.seek(max(printed.seek(0, os.SEEK_END) - _TAIL_BYTES, 0))
    lines = printed.read().decode(errors="replace").splitlines()[-_TAIL_LINES:]
    return f" It printed: {shown(' / '.join(lines))}" if lines else ""


def _recorded(side: Side, tracer: Tracer, file: Path) -> str:
    # Needs modules that only Unix has.
    from tracealyze.capture.recording import Ended, Recording
    from tracealyze.capture.relocated_file import RelocatedFile

    notes: list[str] = []
    here = os.getcwd()
    _set_up(side)
    with TemporaryFile() as printed, _inside(side), _streams(printed.fileno()):
        recording = Recording(tracer, Profile.FULL, str(file), overwrites=True, note=notes.append)
        if here != (there := os.getcwd()):
            recording.rewritten = lambda inner: RelocatedFile(inner, there, here)
        try:
            outcome = recording.of_command(side.command)
        finally:
            recording.wait_for_command()
    if outcome.ended is Ended.INTERRUPT or outcome.status == -signal.SIGINT:
        raise KeyboardInterrupt
    if outcome.ended is not Ended.EXIT:
        raise UnusableInput(f"{side.name}: the recording was ended by {outcome.ended.value}. {' '.join(notes)}".strip())
    return str(file)


@contextmanager
def _inside(side: Side) -> Iterator[None]:
    """In the working directory of a side."""
    before = os.getcwd()
    try:
        os.chdir(side.folder or before)
        yield
    finally:
        os.chdir(before)


@contextmanager
def _streams(printed: int) -> Iterator[None]:
    """What a command prints must not end up in the verdict. A file, because some programs do less for /dev/null."""
    sys.stdout.flush()
    with suppress(OSError):
        sys.stderr.flush()
    saved = [os.dup(number) for number in range(3)]
    null = os.open(os.devnull, os.O_RDONLY)
    try:
        for number, stream in enumerate((null, printed, printed)):
            os.dup2(stream, number)
        yield
    finally:
        os.close(null)
        for number, stream in enumerate(saved):
            os.dup2(stream, number)
            os.close(stream)
