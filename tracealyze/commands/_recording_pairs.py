"""`check --base-command`: both sides are recorded here, and compared."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from tracealyze.capture.interleaved import Side, record
from tracealyze.commands._judging import Against, judged
from tracealyze.errors import WrongUsage
from tracealyze.render import output
from tracealyze.sanitize import shown

if TYPE_CHECKING:
    from tracealyze.commands._judging import Requested
    from tracealyze.commands._options import CaptureOptions
    from tracealyze.compare.gate.verdict import Verdict
    from tracealyze.findings.rule_set import Rule

# Words that only a shell understands. A program would get them as arguments.
_OF_SHELL = frozenset(("&&", "||", ";", "|", "&", ">", ">>", "<", "2>&1"))


@dataclass(frozen=True)
class Pair:
    """The commands of both sides."""

    base: Side
    head: Side

    @classmethod
    def of(cls, base: str, head: Sequence[str] | None, against: Against) -> Pair:
        """From the text of --base-command and the words after `--`."""
        if against.base or against.baseline:
            raise WrongUsage("--base-command records what to compare with. Leave out --base and --baseline.")
        if not head:
            raise WrongUsage(
                "--base-command: the command to check is missing. Write: tracealyze check --base-command 'CMD' -- CMD"
            )
        return cls(Side("base", words_of(base, "--base-command")), Side("head", head))


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


def recorded(pair: Pair, runs: int, source: CaptureOptions, rules: Sequence[Rule], requested: Requested) -> Verdict:
    """Record both sides in turn, and judge the head. Captures of a failure are kept, for the commands that it names."""
    folder = Path(mkdtemp(prefix="tracealyze-check-"))
    is_needed = False
    try:
        base, head = record([pair.base, pair.head], runs, folder, output.note)
        against = Against(base=base, label=shlex.join(pair.base.command))
        found = judged(replace(source, captures=head), rules, replace(requested, against=against))
        is_needed = not found.has_passed
    finally:
        if not is_needed:
            shutil.rmtree(folder, ignore_errors=True)
    if is_needed:
        output.note(f"The captures of both sides are in {shown(str(folder))}")
    return replace(found, named=(), scenario=shlex.join(pair.head.command))
