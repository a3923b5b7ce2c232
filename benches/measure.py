"""Run programs in turn and keep the best of several rounds: time on the wall, most memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TRACEALYZE = ROOT / ".venv" / "bin" / "tracealyze"
ROUNDS = 3
# Others count fewest when they take bytes as they are.
BYTES_AS_THEY_ARE = {"LC_ALL": "C"}


@dataclass(frozen=True)
class Run:
    """One run of a program."""

    seconds: float
    peak_bytes: int
    written_bytes: int


def once(command: Sequence[str], scratch: str) -> Run:
    """Run a program in a folder of its own for what it writes. A failure ends the measurement."""
    # The capture named last is remembered; a measurement must not change what a user's next command means.
    environment = os.environ | BYTES_AS_THEY_ARE | {"XDG_STATE_HOME": scratch}
    # Not /dev/null: grep sees that nobody reads what it counts, and stops at the first match.
    written = os.path.join(scratch, "output")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    output = [(os.POSIX_SPAWN_OPEN, 1, written, flags, 0o600), (os.POSIX_SPAWN_DUP2, 1, 2)]
    begin = time.monotonic()
    pid = os.posix_spawnp(command[0], list(command), environment, file_actions=output)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.monotonic() - begin
    if status:
        sys.exit(f"exit code {os.waitstatus_to_exitcode(status)}: {' '.join(command)}\n{Path(written).read_text()}")
    peak_bytes = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Run(seconds, peak_bytes, os.path.getsize(written))


def best_in_turn(commands: Mapping[str, Sequence[str]], rounds: int = ROUNDS) -> dict[str, Run]:
    """The best of each, all programs in each round, so that a busy moment of the machine hits all alike."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(rounds):
            for name, command in commands.items():
                runs[name].append(once(command, scratch))
    return {
        name: Run(
            min(run.seconds for run in done),
            max(run.peak_bytes for run in done),
            max(run.written_bytes for run in done),
        )
        for name, done in runs.items()
    }


def printed(script: str, path: Path) -> list[str]:
    """What a script for the Python of tracealyze prints about a file, in each of several rounds."""
    command = [str(Path(tracealyze()).parent / "python"), "-c", script, str(path)]
    done = [subprocess.run(command, capture_output=True, text=True) for _ in range(ROUNDS)]
    failed = next((one for one in done if one.returncode), None)
    if failed:
        sys.exit(f"{path.name} could not be read:\n{failed.stderr}")
    return [one.stdout for one in done]


def tracealyze() -> str:
    """The program to measure, as `make setup` installs it."""
    if not TRACEALYZE.exists():
        sys.exit("tracealyze is not built yet; build it with: make setup")
    return str(TRACEALYZE)
