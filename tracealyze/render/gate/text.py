"""The verdict as text. The main failures are explained, the others listed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tracealyze.compare.gate.judgement import By, Judgement, Outcome
from tracealyze.render.gate.words import DOUBTFUL, advice, apart, details, headline, judged_by, title
from tracealyze.sanitize import shown

if TYPE_CHECKING:
    from tracealyze.compare.gate.verdict import Verdict

_EXPLAINED = 6
_NAMED = 12


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
    failed, also_failed = apart(verdict.of(Outcome.FAILED), _EXPLAINED)
    for judgement in failed:
        yield from _explained("FAILED", judgement)
    yield from _named("Also over the limit", also_failed)
    doubtful, also_doubtful = apart(verdict.of(*DOUBTFUL), _EXPLAINED)
    for judgement in doubtful:
        yield from _explained(judgement.outcome.upper(), judgement)
    yield from _named("Other remarks", also_doubtful)
    held = [judgement for judgement in verdict.of(Outcome.PASSED) if judgement.by is By.BUDGET]
    for judgement in held:
        yield f"ok      {title(judgement)}"
    yield from _named("Improved", [replace(each, limit=None) for each in verdict.of(Outcome.IMPROVED)])
    yield from advice(verdict)


def _explained(word: str, judgement: Judgement) -> Iterator[str]:
    yield f"{word:<7} {title(judgement)}  ({judged_by(judgement)})"
    for line in details(judgement):
        yield f"    {line}"


def _named(what: str, judgements: Sequence[Judgement]) -> Iterator[str]:
    if judgements:
        more = f" and {len(judgements) - _NAMED} more" if len(judgements) > _NAMED else ""
        yield f"{what}: {'; '.join(title(judgement) for judgement in judgements[:_NAMED])}{more}."
