"""The verdict as text, one block per regression."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from textwrap import wrap
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.sanitize import shown
from tracealyze.compare.gate.judgement import By, Judgement, Outcome
from tracealyze.render.gate import times
from tracealyze.render.gate.words import DOUBTFUL, advice, body, by_reason, cut, headline, title

if TYPE_CHECKING:
    from tracealyze.compare.gate.call_rows import CallRow
    from tracealyze.compare.gate.verdict import Verdict

_EXPLAINED = 10
_NAMED = 6
_SMALL = 5
_WIDTH = 100


def rendered(verdict: Verdict) -> str:
    """As text without commands that a CI runner would execute."""
    text = "".join(f"{line}\n" for line in _lines(verdict))
    return _COMMAND.sub(_apart, text) if os.environ.get("GITHUB_ACTIONS") == "true" else text


# The GitHub runner executes `::error::` at the start of a line, and `##[error]` anywhere.
_COMMAND = re.compile(r"^[ \t]*::|##\[", re.MULTILINE)


def _apart(match: re.Match[str]) -> str:
    return f"{match[0][:-1]} {match[0][-1]}"


def _lines(verdict: Verdict) -> Iterator[str]:
    yield headline(verdict)
    for note in verdict.notes:
        yield f"  {shown(note)}"
    yield from times.lines(verdict)
    for number, regression in enumerate(verdict.regressions[:_EXPLAINED], start=1):
        yield f"\n{number}. {shown(regression.title)}"
        yield from (part for line in body(regression) for part in _wrapped(line))
    if others := verdict.regressions[_EXPLAINED:]:
        titles = "; ".join(shown(each.title) for each in others)
        yield f"\nand {units.counted(len(others), 'more regression')}: {titles}"
    if verdict.regressions:
        yield ""
    yield from _doubtful(verdict.of(*DOUBTFUL))
    held = [judgement for judgement in verdict.of(Outcome.PASSED) if judgement.by is By.BUDGET]
    for judgement in held:
        yield f"ok      {title(judgement)}"
    yield from _named("Improved", [replace(each, limit=None) for each in verdict.of(Outcome.IMPROVED)])
    for first in verdict.first_runs:
        why = f": {first.because}" if first.because else ""
        yield f"Not compared: {shown(first.capture)}, because only the first run does this{why}."
        yield from _calls(first.rows)
    yield from _small(verdict.small_changes)
    yield from advice(verdict)


def _small(changes: Sequence[CallRow]) -> Iterator[str]:
    """Calls that are new, but too few for a limit."""
    if not changes:
        return
    yield "New calls, within the limits:"
    yield from _calls(changes)


def _calls(changes: Sequence[CallRow]) -> Iterator[str]:
    for row in changes[:_SMALL]:
        yield f"  {cut(shown(row.text), _WIDTH)} {row.before} → {row.after}"
    if len(changes) > _SMALL:
        yield f"  and {units.counted(len(changes) - _SMALL, 'other')}"


def _wrapped(line: str) -> list[str]:
    text = line.lstrip()
    # Commands stay on one line, so that they can be copied.
    if text.startswith("Inspect:") or len(line) <= _WIDTH:
        return [f"     {line}"]
    indent = " " * (5 + len(line) - len(text))
    return _fill(text, indent)


def _fill(text: str, indent: str = "") -> list[str]:
    below = f"{indent}  "
    return wrap(
        text, _WIDTH, initial_indent=indent, subsequent_indent=below, break_on_hyphens=False, break_long_words=False
    )


def _doubtful(judgements: Sequence[Judgement]) -> Iterator[str]:
    """What is over a limit and does not fail, grouped by the reason."""
    for why, group in by_reason(judgements).items():
        yield from _named(why[:1].upper() + why[1:], group)


def _named(what: str, judgements: Sequence[Judgement]) -> Iterator[str]:
    if judgements:
        more = f" and {len(judgements) - _NAMED} more" if len(judgements) > _NAMED else ""
        yield from _fill(f"{what}: {'; '.join(title(judgement) for judgement in judgements[:_NAMED])}{more}.")
