"""The verdict as markdown, for job summaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from tracealyze.base.sanitize import shown
from tracealyze.compare.gate.judgement import Judgement, Outcome, amount
from tracealyze.render.gate import times
from tracealyze.render.gate.words import DOUBTFUL, advice, body, details, headline
from tracealyze.render.listing import markdown_cell

if TYPE_CHECKING:
    from tracealyze.compare.gate.verdict import Verdict

# A job summary is limited to 1 MiB.
_MAX_ROWS = 200
_EXPLAINED = 20


def rendered(verdict: Verdict) -> str:
    """As markdown."""
    return "".join(f"{line}\n" for line in _lines(verdict))


def _lines(verdict: Verdict) -> Iterator[str]:
    yield f"### tracealyze check: {verdict.status}"
    yield ""
    yield _plain(headline(verdict))
    for note in verdict.notes:
        yield f"\n> {_plain(note)}"
    if verdict.times:
        yield from ("", "```", *times.lines(verdict), "```")
    for number, regression in enumerate(verdict.regressions[:_EXPLAINED], start=1):
        yield f"\n#### {number}\\. {_plain(shown(regression.title))}\n"
        yield from (f"{'  - ' if line[0] == ' ' else '- '}{_plain(line.strip())}" for line in body(regression))
    for line in advice(verdict):
        yield f"\n{_plain(line)}"
    listed = [*verdict.of(Outcome.FAILED), *verdict.of(*DOUBTFUL), *verdict.of(Outcome.IMPROVED)]
    if listed:
        yield "\n<details><summary>All metrics that changed</summary>"
        yield from _table(listed)
        yield "\n</details>"
    for judgement in verdict.of(*DOUBTFUL)[:_EXPLAINED]:
        yield from _details(judgement)


def _table(judgements: Sequence[Judgement]) -> Iterator[str]:
    if not judgements:
        return
    yield ""
    yield "| | metric | before | after | limit |"
    yield "|---|---|---:|---:|---:|"
    for each in judgements[:_MAX_ROWS]:
        numbers = (amount(number, each.unit) if number is not None else "" for number in _numbers(each))
        yield f"| {each.outcome} | {markdown_cell(each.metric)} | {' | '.join(numbers)} |"
    if len(judgements) > _MAX_ROWS:
        yield f"\nand {len(judgements) - _MAX_ROWS} more"


def _numbers(judgement: Judgement) -> tuple[int | None, int | None, int | None]:
    return judgement.before, judgement.after, judgement.limit


def _details(judgement: Judgement) -> Iterator[str]:
    lines = list(details(judgement))
    if lines:
        yield f"\n<details><summary>{escape(judgement.metric)}</summary>\n"
        yield from (f"- {_plain(line)}" for line in lines)
        yield "\n</details>"


def _plain(text: str) -> str:
    """A text escaped for markdown."""
    return markdown_cell(text)
