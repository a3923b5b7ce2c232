"""The page about two sides: both charts on one scale, which findings are new or no longer there, what changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracealyze.compare.diff import VIEWS
from tracealyze.page import sections
from tracealyze.page.markup import element, table
from tracealyze.page.sections import Part
from tracealyze.program_names import short
from tracealyze.render import diff as changes
from tracealyze.render.capture_notes import name_of_capture
from tracealyze.render.report import headline

if TYPE_CHECKING:
    from tracealyze.compare.diff import Diff
    from tracealyze.findings.grouping import FindingGroup

_MAX_FINDINGS = 60


def whole(steps: Sequence[Part], found: Diff, top: int) -> str:
    """All sections of a comparison of captures in order of time; the first and the last are compared in full."""
    return "".join((*_heading(steps), *_charts(steps), *_findings(steps[0], steps[-1]), *_views(found, top)))


def _heading(steps: Sequence[Part]) -> Iterator[str]:
    names = [name_of_capture(part.summary.captures[0]) for part in steps]
    yield "<header>\n"
    yield element("h1", " → ".join(names))
    walls = [part.summary.window.wall_ns for part in steps]
    if all(walls):
        yield element("p", f"Wall time {changes.wall_change(walls[0], walls[-1])}", class_="verdict")
    else:
        yield element("p", "Only counts are compared: at least one side has no wall clock.", class_="verdict")
    for name, part in zip(names, steps, strict=True):
        cause = part.summary.diagnosis[0].text if part.summary.diagnosis else "Nothing stands out."
        yield element("p", f"{name}: {headline(part.trace, part.summary)}. {cause}", class_="answer")
    yield "</header>\n"


def _charts(steps: Sequence[Part]) -> Iterator[str]:
    for part in steps:
        yield from sections.timeline(part, name_of_capture(part.summary.captures[0]))


def _findings(before: Part, after: Part) -> Iterator[str]:
    yield '<section id="findings">\n'
    yield element("h2", "Findings")
    counts = [Counter(map(_key, part.groups)) for part in (before, after)]
    for title, keys in (
        ("No longer there", counts[0] - counts[1]),
        ("New", counts[1] - counts[0]),
        ("In both", counts[0] & counts[1]),
    ):
        if not keys:
            continue
        yield element("h3", title)
        source = after if title != "No longer there" else before
        listed = [group.first for group in source.groups if _key(group) in keys][:_MAX_FINDINGS]
        items = (f"{each.severity} {each.code}: {each.diagnosis or each.message}" for each in listed)
        yield f"<ul>{''.join(element('li', text) for text in items)}</ul>\n"
    if not any(counts):
        yield element("p", "No findings on either side.")
    yield "</section>\n"


def _key(group: FindingGroup) -> tuple[str, str]:
    return group.first.name, short(group.first.program) or ""


def _views(found: Diff, top: int) -> Iterator[str]:
    for view in VIEWS:
        rows = found.views[view.name]
        if rows:
            yield f'<section id="{view.name}">\n'
            yield element("h2", changes.TITLES[view.name])
            yield table(changes.drawn(view, changes.largest(rows, top), found.wall_ns is not None))
            yield "</section>\n"
