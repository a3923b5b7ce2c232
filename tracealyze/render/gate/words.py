"""Texts about a verdict that all output forms share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracealyze.base import suggested, units
from tracealyze.base.sanitize import shown
from tracealyze.compare.gate.judgement import By, Judgement, Outcome, amount
from tracealyze.compare.gate.scripts import Source, line_of
from tracealyze.compare.gate.verdict import Status
from tracealyze.compare.metrics import Name

if TYPE_CHECKING:
    from tracealyze.compare.gate.explain import Line
    from tracealyze.compare.gate.regressions import Regression
    from tracealyze.compare.gate.verdict import Verdict

DOUBTFUL = (Outcome.WARNED, Outcome.UNSTABLE, Outcome.INCONCLUSIVE, Outcome.REFUSED)
_QUOTED = 200
_NAME = 100
_PLACES = 3
_MAX_FOLLOWING = 5


def remarks_of(verdict: Verdict) -> list[str]:
    """Titles of what is doubtful next to regressions: a reader has one message for each of these, and no more."""
    return [title(each) for each in verdict.of(*DOUBTFUL)] if verdict.regressions else []


def headline(verdict: Verdict) -> str:
    """The verdict in a sentence, after the name of the scenario."""
    name = f"{shown(verdict.scenario)}: " if verdict.scenario else ""
    return f"{name}{_sentence(verdict)}"


def _sentence(verdict: Verdict) -> str:
    if verdict.status is Status.NO_BASELINE:
        return "No baseline: nothing was compared."
    runs = units.counted(len(verdict.captures), "run")
    against = f" against {shown(verdict.baseline)}" if verdict.baseline else ""
    judged = f"{units.counted(len(verdict.judgements), 'metric')}, {runs}{against}"
    failed = len(verdict.of(Outcome.FAILED))
    if failed:
        return f"Failed: {units.counted(len(verdict.regressions), 'regression')}, {failed} of {judged}."
    doubtful = len(verdict.of(*DOUBTFUL))
    if verdict.is_open:
        return f"Not comparable: no verdict on {judged}."
    remarks = f" with {units.counted(doubtful, 'remark')}" if doubtful else ""
    return f"Passed{remarks}: {judged}."


def title(judgement: Judgement) -> str:
    """`execs 3 → 4, limit 3`."""
    return shown(f"{judgement.metric} {judgement.change}")


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


def by_reason(judgements: Sequence[Judgement]) -> dict[str, list[Judgement]]:
    """Judgements grouped by their reason."""
    reasons: dict[str, list[Judgement]] = {}
    for judgement in judgements:
        reasons.setdefault(shown(judgement.why), []).append(judgement)
    return reasons


def cut(text: str, width: int = _QUOTED) -> str:
    """A text truncated to a number of characters."""
    return text if len(text) <= width else text[: width - 1] + "…"


def body(regression: Regression) -> Iterator[str]:
    """What grew, with lines of each capture, the metrics that follow from it, and a command to see more."""
    yield from (shown(line) for line in regression.why.splitlines())
    width = max((len(cut(shown(row.what), _NAME)) for row in regression.rows), default=0)
    for row in regression.rows:
        before = "" if row.before is None else f"{amount(row.before, row.unit)} → "
        new = "  new" if row.is_new else ""
        yield f"{cut(shown(row.what), _NAME):<{width}}  {before}{amount(row.after, row.unit)}{new}"
        if where := ", ".join(filter(None, (f"started by {shown(row.by)}" if row.by else "", _places(row.lines)))):
            yield f"    {where}"
    if regression.left_out:
        yield f"and {units.counted(regression.left_out, 'other')}"
    for line in regression.lines:
        yield f"{shown(line.place)}: {cut(shown(line.text))}"
    if regression.rest > 0:
        yield f"{amount(regression.rest, regression.lead.unit)} of it cannot be attributed to one call site"
    if follows := _following(regression):
        yield f"also over the limit: {follows}"
    if regression.command:
        yield f"Inspect: {shown(regression.command)}"


def _places(lines: Sequence[Line]) -> str:
    return ", ".join(shown(line.place) for line in lines[-_PLACES:])


def _following(regression: Regression) -> str:
    """The other metrics: the sums by name, the single syscalls as a number."""
    others = [each for each in regression.judgements[1:] if each.by is not By.FINDING]
    sums = [each for each in others if not Name.of(each.metric).arguments]
    named = sums or others[:_MAX_FOLLOWING]
    rest = len(others) - len(named)
    more = [f"{rest} more" if not sums else f"{rest} calls[…]" if rest > 1 else others[-1].metric] if rest else []
    return ", ".join([*(shown(f"{each.metric} {_pair(each)}") for each in named), *more])


def _pair(judgement: Judgement) -> str:
    before = f"{amount(judgement.before, judgement.unit)} → " if judgement.before is not None else ""
    return f"{before}{amount(judgement.after, judgement.unit)}"


def place(regression: Regression, verdict: Verdict) -> Source:
    """A line of the project for an annotation: the source line of the calls or the script that made them, otherwise the
    settings file or the baseline."""
    if regression.source:
        return regression.source
    if regression.lead.by is By.BUDGET and verdict.budgets_file:
        return place_of(regression.lead, verdict)
    return regression.script or fallback(verdict)


def traced(regression: Regression) -> list[Line]:
    """Lines of the last capture that show the calls of a regression."""
    of_rows = [line for row in regression.rows for line in row.lines[-1:]]
    return [*of_rows, *regression.lines]


def place_of(judgement: Judgement, verdict: Verdict) -> Source:
    """A line of the project for a remark: the source line of the calls or the budget, otherwise the baseline or the
    settings file."""
    if judgement.explanation and judgement.explanation.source:
        return judgement.explanation.source
    if judgement.by is By.BUDGET and verdict.budgets_file:
        return Source(verdict.budgets_file, line_of(verdict.budgets_file, judgement.metric) or 1)
    return fallback(verdict)


def fallback(verdict: Verdict) -> Source:
    """The file of the project that a verdict is about: the baseline, the settings, or the last capture."""
    return Source(next(filter(None, (verdict.baseline_file, verdict.budgets_file, *verdict.captures[-1:])), "."))


def advice(verdict: Verdict) -> Iterator[str]:
    """What to do about the baseline."""
    if not verdict.baseline_file:
        return
    improved = verdict.of(Outcome.IMPROVED)
    captures = verdict.named or verdict.captures
    options = ("-b", verdict.baseline_file)
    if improved:
        # This refuses what got worse, which --accept would accept as well.
        update = suggested.command("baseline", "update", files=captures, options=options)
        yield f"{units.counted(len(improved), 'metric')} improved by more than 20%; tighten the baseline: {update}"
    if verdict.of(Outcome.FAILED):
        accept = suggested.command("check", files=captures, options=(*options, "--accept"))
        yield f"Intended? Accept it: {accept}"
