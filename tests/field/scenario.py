"""Scenarios of the field lab: real programs, a cause built in on purpose or none, and the truth about it, as data.

`scenarios/*.toml` holds a `[[scenario]]` each:

    name = "curl-retry"                 file name of its capture, too
    about = "what happens, in a sentence"
    points = [3]                        points of "Right on real software" that it covers
    uses = ["curl"]                     names in programs.toml; without them the scenario is skipped
    files = { "name" = "text" }         written to the working folder first
    setup = "bash"                      once: start servers, make data
    before = "bash"                     before each run, traced or not: undo the last run, hold a lock
    run = "sh"                          the traced program
    options = "-f -ttt -T -y"           of strace
    attach = "bash"                     prints the process ids for -p; `run` then drives these from outside

The truth. Without `right` the program is healthy, and no finding may be a warning or an error.

    right = ["retry-loop"]              rules that name the cause
    acceptable = ["connect-stall"]      rules that may warn as well
    who = "curl"                        the finding's program, or its message, matches this
    target = '127\\.0\\.0\\.1:9'        its target, or its message, matches this
    seconds = [2.7, 3.3]                bounds of the saving that the finding may promise
    innocent = ["sleep"]                programs that no warning or error may name
    never = ["cpu-bound"]               rules that may not match at all
    limits = { poll-loop = 0.15 }       most seconds that findings of a rule may promise
    gate_before = "node-opens-before"   the gate, with that capture as its baseline, must fail on this one
"""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CAPTURES = HERE / "captures"
RECORDED = HERE / "recorded.toml"
PROGRAMS = HERE / "programs.toml"


@dataclass(frozen=True)
class Scenario:
    """How to run and capture a program, and the truth about it."""

    name: str
    about: str
    run: str
    uses: tuple[str, ...]
    options: str = "-f -ttt -T -y"
    points: tuple[int, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    setup: str = ""
    before: str = ""
    attach: str = ""
    right: tuple[str, ...] = ()
    acceptable: tuple[str, ...] = ()
    who: str = ""
    target: str = ""
    seconds: tuple[float, float] | None = None
    innocent: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    limits: dict[str, float] = field(default_factory=dict)
    gate_before: str = ""

    @property
    def is_healthy(self) -> bool:
        """Whether there is nothing to find."""
        return not self.right and not self.gate_before

    @property
    def is_per_thread(self) -> bool:
        """Whether strace writes a file per thread."""
        return "-ff" in self.options.split()

    @property
    def capture(self) -> Path:
        """The recorded capture: a file, or an archive of the files of `strace -ff`."""
        return CAPTURES / f"{self.name}{'.tar.xz' if self.is_per_thread else '.strace.xz'}"

    @property
    def made_by(self) -> str:
        """Digest of everything that the recording depends on."""
        parts = (self.run, self.options, sorted(self.files.items()), self.setup, self.before, self.attach)
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:8]


def scenarios() -> list[Scenario]:
    """All scenarios, by name."""
    files = sorted((HERE / "scenarios").glob("*.toml"))
    found = [_scenario(table) for file in files for table in _toml(file)["scenario"]]
    return sorted(found, key=lambda scenario: scenario.name)


def recorded() -> dict[str, dict[str, Any]]:
    """What the recorder noted, by scenario: date, versions, durations without strace."""
    return _toml(RECORDED) if RECORDED.exists() else {}


def programs() -> dict[str, dict[str, str]]:
    """The real programs: how each is installed, and the command that prints its version."""
    return _toml(PROGRAMS)


def _scenario(table: dict[str, Any]) -> Scenario:
    facts: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    return Scenario(**facts)


def _toml(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))
