"""Texts about a verdict that all output forms share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracealyze import units
from tracealyze.compare.gate.judgement import By, Judgement, Outcome, amount
from tracealyze.compare.gate.verdict import Status
from tracealyze.sanitize import shown

if TYPE_CHECKING:
    from tracealyze.compare.gate.verdict import Verdict

DOUBTFUL = (Outcome.WARNED, Outcome.UNSTABLE, Outcome.INCONCLUSIVE, Outcome.REFUSED)
_QUOTED = 200
_JUDGED_BY = {By.BUDGET: "limit from budget", By.BASELINE: "limit from baseline", By.FINDING: "new finding"}


def headline(verdict: Verdict) -> str:
    """The verdict in a sentence."""
    if verdict.status is Status.NO_BASELINE:
        return "No baseline: nothing was compared."
    runs = units.counted(len(verdict.captures), "run")
    against = f" against {shown(verdict.baseline)}" if verdict.baseline else ""
    judged = f"{units.counted(len(verdict.judgements), 'metric')}, {runs}{against}"
    failed = len(verdict.of(Outcome.FAILED))
    if failed:
        return f"Failed: {failed} of {judged}."
    doubtful = len(verdict.of(*DOUBTFUL))
    if verdict.is_open:
        return f"Not comparable: no verdict on {judged}."
    remarks = f" with {units.counted(doubtful, 'remark')}" if doubtful else ""
    return f"Passed{remarks}: {judged}."


def apart(judgements: Sequence[Judgement], limit: int) -> tuple[list[Judgement], list[Judgement]]:
    """Up to `limit` judgements to explain, and the others. Judgements with the same explanation are explained once."""
    explained_by: dict[object, Judgement] = {}
    for judgement in judgements:
        why = judgement.explanation.differences if judgement.explanation else ()
        explained_by.setdefault(why or judgement.key, judgement)
    explained = list(explained_by.values())[:limit]
    return explained, [judgement for judgement in judgements if judgement not in explained]


def title(judgement: Judgement) -> str:
    """`execs 3 → 4, limit 3`."""
    return shown(f"{judgement.metric} {judgement.change}")


def judged_by(judgement: Judgement) -> str:
    """Where the limit comes from."""
    return _JUDGED_BY[judgement.by]


def details(judgement: Judgement) -> Iterator[str]:
    """The reason, the calls that made the difference, lines that prove it, and a command to see more."""
    if judgement.why:
        yield shown(judgement.why)
    explanation = judgement.explanation
    if explanation is None:
        return
    for each in explanation.differences:
        place = " ".join(part for part in (each.program, each.shape) if part)
        before = "" if each.before is None else f"{amount(each.before, judgement.unit)} → "
        yield shown(f"{place}: {before}{amount(each.after, judgement.unit)}")
    if explanation.left_out:
        yield f"and {units.counted(explanation.left_out, 'other place')}"
    for line in explanation.lines:
        yield f"{shown(line.place)}: {cut(shown(line.text))}"
    if explanation.command:
        yield f"Inspect: {shown(explanation.command)}"


def cut(text: str, width: int = _QUOTED) -> str:
    """A text truncated to a number of characters."""
    return text if len(text) <= width else text[: width - 1] + "…"


def advice(verdict: Verdict) -> Iterator[str]:
    """What to do about the baseline."""
    improved = verdict.of(Outcome.IMPROVED)
    if improved and verdict.baseline:
        yield (
            f"{units.counted(len(improved), 'metric')} improved by more than 20%; tighten the baseline: "
            f"tracealyze baseline update CAPTURE… -b {shown(verdict.baseline)}"
        )
    if verdict.baseline and verdict.of(Outcome.FAILED):
        yield (f"Intended? Accept it: tracealyze baseline update CAPTURE… -b {shown(verdict.baseline)} --accept-new")
