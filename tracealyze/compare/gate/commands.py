"""The command lines that a scenario runs: how often each was started, by which program, and on which line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from statistics import median
from typing import TYPE_CHECKING

from tracealyze.base.program_names import short
from tracealyze.compare import syscalls
from tracealyze.compare.name_patterns import families, without_made_up_names
from tracealyze.findings.matching import file_of

if TYPE_CHECKING:
    from tracealyze.compare.run import Run

# A baseline stores this number of command lines, and this number of characters of each.
MAX_COMMANDS = 500
_MAX_LENGTH = 160


@dataclass(frozen=True)
class Started:
    """A process of a run: its command line, the program that started it, and the line of its start.

    `file` is the file of the line, if the capture has several."""

    command: str
    by: str
    file: str | None
    line: int | None


def started(run: Run) -> list[Started]:
    """The processes of a run that executed a program, in the order of their creation."""
    trace = run.trace
    rows = list(trace.processes)
    programs = {row["task"]: short(row["program"]) for row in rows}
    execs = trace.narrowed(syscalls=sorted(syscalls.EXECS)).calls(by=("tid", "pid", "outcome"), quantiles=False)
    lines = {row["pid"]: row for row in execs if row["outcome"] == "ok"}
    found = []
    for row in rows:
        start = lines.get(row["pid"])
        if start is not None:
            by = programs.get(row["parent_task"], "")
            found.append(Started(_command(row["argv"], row["program"]), by, file_of(trace, start), start["last_line"]))
    return found


def _command(argv: str | None, program: str | None) -> str:
    first, _, rest = (argv or program or "").partition(" ")
    return f"{PurePath(first).name or first} {rest}".strip()[:_MAX_LENGTH]


def commands(runs: Sequence[Run]) -> dict[str, int]:
    """The number of starts of each command line: the median over the runs."""
    each = alike([Counter(start.command for start in started(run)) for run in runs])
    return {name: number for name in sorted(set().union(*each)) if (number := round(median(run[name] for run in each)))}


def stored(numbers: Mapping[str, int]) -> dict[str, int]:
    """The most frequent command lines, as many as a baseline stores."""
    ranked = sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
    return dict(sorted(ranked[:MAX_COMMANDS]))


def alike(each: Sequence[Mapping[str, int]]) -> list[Counter[str]]:
    """Numbers of several runs under common names, those of the last run."""
    named = common_names(each)
    found: list[Counter[str]] = [Counter() for _ in each]
    for run, mine in zip(each, found, strict=True):
        for command, number in run.items():
            mine[named[command]] += number
    return found


def common_names(each: Sequence[Mapping[str, int]]) -> dict[str, str]:
    """The common name of each command line. Names of temporary files and, if they are many, numbers do not matter."""
    keys = dict.fromkeys((command,) for run in reversed(each) for command in sorted(run))
    made_up = without_made_up_names(keys)
    numbered = families(set(made_up.values()))
    return {key[0]: numbered[made_up[key]][0] for key in keys}
