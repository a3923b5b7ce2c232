"""Times that hyperfine measured without a tracer, next to the counts of a verdict. They never decide.

    hyperfine --export-json times.json 'old/tool' 'new/tool'
    tracealyze check --base-command 'old/tool' --hyperfine times.json -- new/tool

A result belongs to a side if its command, or the name that `hyperfine -n` gave it, is the command of that side, `base`
or `head`, or the name of the scenario. If none of them fits, two results are those of the base and the head, in this
order, and one result is that of the head.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracealyze.base.errors import UnusableInput, WrongUsage
from tracealyze.base.toml_file import content_of
from tracealyze.compare.gate.timing import Times, Timing

if TYPE_CHECKING:
    from tracealyze.compare.gate.verdict import Verdict

_HOW = "Make it with: hyperfine --export-json FILE COMMAND..."
_NUMBERS = ("mean", "stddev", "median", "min", "max", "user", "system")
# A time that nobody measures, in seconds. It also excludes infinity, which JSON of Python may contain.
_MAX_S = 1e9
_MAX_NAMED = 5


@dataclass(frozen=True)
class Export:
    """A file of `hyperfine --export-json`."""

    file: str
    results: tuple[Timing, ...]

    def beside(self, verdicts: Sequence[Verdict]) -> list[Verdict]:
        """The verdicts with their times. Raises `WrongUsage` if no result belongs to any of them."""
        found = [replace(verdict, times=self._times_of(verdict, len(verdicts) == 1)) for verdict in verdicts]
        if not any(verdict.times for verdict in found):
            named = ", ".join(f'"{each.command}"' for each in self.results[:_MAX_NAMED])
            raise WrongUsage(
                f"{self.file}: no result belongs to the checked command. It has {named}. Name the results: "
                f"hyperfine -n {'SCENARIO' if len(verdicts) > 1 else 'base CMD -n head'} CMD"
            )
        return found

    def _times_of(self, verdict: Verdict, is_alone: bool) -> Times | None:
        before, after = verdict.commands
        name = verdict.scenario
        # One command in two directories has one text, which does not say which side a result is of.
        same = _words(before) == _words(after)
        base = self._result(f"{name} base", *(["base"] if is_alone else []), *([] if same else [before]))
        head = self._result(f"{name} head", *(["head"] if is_alone else []), name, *([] if same else [after]))
        if base is None and head is None and is_alone:
            base, head = self._in_order(bool(before))
        if base is None and head is None and same:
            head = self._result(after)
        return Times(self.file, base, head) if base or head else None

    def _result(self, *names: str) -> Timing | None:
        """The first result with one of these names or commands."""
        wanted = [_words(name) for name in names if name]
        return next((each for words in wanted for each in self.results if _words(each.command) == words), None)

    def _in_order(self, has_base: bool) -> tuple[Timing | None, Timing | None]:
        if len(self.results) == 1:
            return None, self.results[0]
        if len(self.results) == 2 and has_base:
            return self.results[0], self.results[1]
        return None, None


def _words(command: str) -> list[str]:
    """A command without its quotes: a capture has its words only."""
    try:
        return " ".join(shlex.split(command)).split()
    except ValueError:
        return command.split()


def read(file: str) -> Export:
    """Read an export. Raises `UnusableInput` if it cannot be read or is another file."""
    try:
        content = json.loads(content_of(Path(file), file))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UnusableInput(f"{file}: no such file. {_HOW}") from error
    except WrongUsage as error:
        raise UnusableInput(str(error)) from error
    except (ValueError, RecursionError) as error:
        raise UnusableInput(f"{file}: not JSON. {_HOW}") from error
    results = content.get("results") if isinstance(content, dict) else None
    if not isinstance(results, list) or not results:
        raise UnusableInput(f"{file}: not an export of hyperfine: it has no results. {_HOW}")
    return Export(file, tuple(_timing(each, f"{file}, result {at}") for at, each in enumerate(results, start=1)))


def _timing(result: object, where: str) -> Timing:
    if not isinstance(result, Mapping) or not isinstance(result.get("command"), str):
        raise UnusableInput(f"{where}: it has no command. {_HOW}")
    numbers = {f"{name}_ns": _nanoseconds(result.get(name), f"{where}, {name}") for name in _NUMBERS}
    mean_ns = numbers.pop("mean_ns")
    if mean_ns is None:
        raise UnusableInput(f"{where}: it has no mean. {_HOW}")
    times = result.get("times")
    return Timing(result["command"], len(times) if isinstance(times, list) else 0, mean_ns, **numbers)


def _nanoseconds(value: Any, where: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MAX_S:
        raise UnusableInput(f"{where}: not a time in seconds. {_HOW}")
    return round(value * 1e9)
