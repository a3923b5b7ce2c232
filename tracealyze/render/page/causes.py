"""The diagnosis at the top of the page: each cause with its saving and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from tracealyze.findings.grouping import that_doubt_times
from tracealyze.render import finding_block
from tracealyze.render.page.markup import element, escaped

if TYPE_CHECKING:
    from tracealyze.findings.grouping import FindingGroup
    from tracealyze.render.page.part import Part

_MAX_ADVICE = 2
"""Pieces of advice; the others are with the findings."""


def causes(part: Part) -> Iterator[str]:
    """The sentences of the diagnosis, those about one finding together. The same advice is given once."""
    yield '<ul class="causes">\n'
    given: set[str] = set()
    for finding, sentences in groupby(part.summary.diagnosis, key=lambda each: each.finding):
        group = _group_of(part, finding)
        text = " ".join(each.text for each in sentences)
        yield from _cause(part, group, text, given) if group else (f"<li>{_answer(text)}</li>\n",)
    yield "</ul>\n"


def _group_of(part: Part, finding: int | None) -> FindingGroup | None:
    if finding is None:
        return None
    stated = part.summary.findings[finding]
    if stated.name in that_doubt_times():
        # It is said first, and is no cause: badges are in the order of the causes.
        return None
    return next((group for group in part.groups if stated in group.members), None)


def _cause(part: Part, group: FindingGroup, text: str, given: set[str]) -> Iterator[str]:
    number = part.groups.index(group) + 1
    severity = escaped(group.first.severity)
    yield f'<li><a class="badge {severity}" href="#{part.finding_id(number)}" aria-label="Finding {number}">'
    yield f"{number}</a> {_answer(text)}"
    if worth := finding_block.saving(part.trace, group):
        yield f' <span class="worth">{escaped(worth)}</span>'
    advice = group.first.advice
    if advice and len(given) < _MAX_ADVICE and not any(advice in each for each in given):
        given.add(advice)
        yield element("p", advice, class_="advice")
    yield "</li>\n"


def _answer(text: str) -> str:
    return element("span", text, class_="answer").rstrip()
