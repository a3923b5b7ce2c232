"""`check --base-command` and `check --all`: both sides are recorded here, and compared."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from tracealyze.base.errors import WrongUsage
from tracealyze.base.sanitize import shown
from tracealyze.capture.interleaved import Side, record
from tracealyze.commands._judging import Against, judged
from tracealyze.model.capture_input import capture_files
from tracealyze.render import output

if TYPE_CHECKING:
    from tracealyze.commands._judging import Requested
    from tracealyze.commands._options import CaptureOptions
    from tracealyze.compare.gate.check_settings import CheckSettings
    from tracealyze.compare.gate.scenarios import Scenario
    from tracealyze.compare.gate.verdict import Verdict
    from tracealyze.findings.rule_set import Rule

# Words that only a shell understands. A program would get them as arguments.
_OF_SHELL = frozenset(("&&", "||", ";", "|", "&", ">", ">>", "<", "2>&1"))


@dataclass(frozen=True)
class Pair:
    """The commands of both sides, and how often each is recorded. Without a base, only budgets are checked."""

    head: Side
    base: Side | None
    runs: int
    name: str

    @classmethod
    def of(cls, head: Sequence[str] | None, other: Other, runs: int) -> Pair:
        """From the words after `--`, and the other side."""
        if not head:
            raise WrongUsage(
                "the command to check is missing. Write: tracealyze check --base-command 'CMD' -- CMD, "
                "or tracealyze check --base-dir DIR -- CMD"
            )
        words = words_of(other.command, "--base-command") if other.command is not None else list(head)
        return cls(Side("head", head), Side("base", words, folder=other.folder), runs, shlex.join(head))

    @classmethod
    def of_scenario(cls, scenario: Scenario, other: Other, runs: int) -> Pair:
        """From a scenario of the settings."""
        where = f"scenario {scenario.name}"
        setup = words_of(scenario.setup, f"{where}, setup") if scenario.setup else ()
        head = Side("head", words_of(scenario.command, f"{where}, command"), setup)
        base: Side | None = None
        if scenario.base_command is not None or other.folder is not None:
            words = words_of(scenario.base_command or scenario.command, f"{where}, base-command")
            base = Side("base", words, setup, other.folder)
        elif not scenario.budgets:
            raise WrongUsage(
                f"{where}: nothing to compare with. Use --base-dir DIR, or give it a base-command or budgets."
            )
        return cls(head, base, scenario.runs or runs, scenario.name)

    @property
    def label(self) -> str:
        """The other side, for a headline."""
        if self.base is None or self.base.folder is None:
            return shlex.join(self.base.command) if self.base else ""
        return f"{shlex.join(self.base.command)} in {self.base.folder}"


@dataclass(frozen=True)
class Other:
    """The other side of recordings: a command, or the same in another directory."""

    command: str | None = None
    folder: str | None = None

    def __post_init__(self) -> None:
        if self.folder is not None and not os.path.isdir(self.folder):
            raise WrongUsage(f"--base-dir {self.folder}: there is no such directory. Make it with: git worktree add")

    @property
    def is_given(self) -> bool:
        """Whether there is another side to record."""
        return self.command is not None or self.folder is not None


def must_be_alone(against: Against, other: Other, named: Sequence[str] | None, all_scenarios: bool) -> None:
    """Recordings leave no room for another thing to compare with. Raises `WrongUsage` if there is one."""
    if against.base or against.baseline:
        raise WrongUsage("check records both sides here. Leave out --base and --baseline.")
    if all_scenarios and (named or other.command is not None):
        raise WrongUsage("--all takes the commands from the settings. Leave out the command and --base-command.")


def words_of(text: str, where: str) -> list[str]:
    """The words of a command. Raises `WrongUsage` if there is none, or if it needs a shell."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise WrongUsage(f"{where}: {error}: {text}") from None
    if not words:
        raise WrongUsage(f"{where}: the command is empty.")
    if found := [word for word in words if word in _OF_SHELL]:
        raise WrongUsage(f"{where}: no shell runs the command, so \"{found[0]}\" has no effect. Write sh -c '…'.")
    return words


def recorded(pair: Pair, source: CaptureOptions, rules: Sequence[Rule], requested: Requested) -> Verdict:
    """Record both sides in turn, and judge the head. Captures of a failure are kept, for the commands that it names."""
    folder = Path(mkdtemp(prefix="tracealyze-check-"))
    used_before = capture_files.last()
    is_needed = False
    try:
        sides = [pair.base, pair.head] if pair.base else [pair.head]
        *base, head = record(sides, pair.runs, folder, output.note)
        against = Against(base=base[0], label=pair.label) if base else Against()
        found = judged(replace(source, captures=head), rules, replace(requested, against=against))
        is_needed = not found.has_passed
    finally:
        if not is_needed:
            shutil.rmtree(folder, ignore_errors=True)
            # The next command without a capture must not look for one of these.
            capture_files.remember(used_before)
    if is_needed:
        output.note(f"The captures of {shown(pair.name)} are in {shown(str(folder))}")
    return replace(found, named=(), scenario=pair.name)


def all_recorded(
    settings: CheckSettings,
    other: Other,
    runs: int,
    source: CaptureOptions,
    rules: Sequence[Rule],
    requested: Requested,
) -> list[Verdict]:
    """Record and judge each scenario of the settings."""
    if not settings.scenarios:
        raise WrongUsage(
            "--all: there is no scenario. Add to tracealyze.toml: [tool.tracealyze.check.scenarios.start] "
            'with command = "./tool --help"'
        )
    known = {name for rule in rules for name in (rule.name, rule.code)}
    # All mistakes in the settings are found before the first recording.
    planned = [
        (scenario, Pair.of_scenario(scenario, other, runs), *scenario.ignored(known)) for scenario in settings.scenarios
    ]
    found = []
    for scenario, pair, ignored_rules, ignored_metrics in planned:
        chosen = [rule for rule in rules if not ignored_rules & {rule.name, rule.code}]
        budgets = [*requested.budgets, *scenario.budgets]
        limits = replace(requested, budgets=budgets, budgets_file=settings.file, ignored=ignored_metrics)
        found.append(recorded(pair, source, chosen, limits))
    return found
