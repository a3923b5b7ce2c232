"""The page about two sides: both on one scale, which findings are new or no longer there, what changed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.compare.causes import key_of
from tracealyze.compare.diff import VIEWS
from tracealyze.render import diff as changes
from tracealyze.render import finding_block
from tracealyze.render.capture_notes import name_of_capture
from tracealyze.render.page import sections
from tracealyze.render.page.markup import NUMBER, element, escaped, table, verdict
from tracealyze.render.picture.class_bar import class_bar, legend
from tracealyze.render.report import headline

if TYPE_CHECKING:
    from tracealyze.compare.diff import Diff
    from tracealyze.findings.grouping import FindingGroup
    from tracealyze.render.page.part import Part

_MAX_FINDINGS = 60
_MAX_ROWS = 8
"""Rows of each chart, so that the second one is in sight with the first."""


def whole(steps: Sequence[Part], found: Diff, top: int) -> str:
    """All sections of a comparison of captures in order of time; the first and the last are compared in full."""
    return "".join((*_heading(steps), *_charts(steps), *_findings(steps[0], steps[-1]), *_views(found, top)))


def names_of(steps: Sequence[Part]) -> tuple[str, list[str]]:
    """The folder that all captures are in, and the rest of their names. Equal names are numbered."""
    names = [name_of_capture(part.summary.captures[0]) for part in steps]
    folders = {os.path.dirname(name) for name in names}
    folder = folders.pop() if len(folders) == 1 else ""
    rests = [name.removeprefix(f"{folder}/") if folder else name for name in names]
    are_equal = len(set(rests)) < len(rests)
    return folder, [f"{name} ({number})" if are_equal else name for number, name in enumerate(rests, start=1)]


def _heading(steps: Sequence[Part]) -> Iterator[str]:
    folder, names = names_of(steps)
    yield "<header>\n"
    yield element("h1", f"{f'{folder}: ' if folder else ''}{' → '.join(names)}")
    walls = [part.summary.window.wall_ns for part in steps]
    if all(walls):
        change = changes.wall_change(walls[0], walls[-1])
        for wall_ns in walls[-2:0:-1]:
            change = change.replace(" → ", f" → {units.duration(wall_ns)} → ", 1)
        yield verdict(f"Wall time {change}")
    else:
        yield verdict("Only counts are compared: at least one side has no wall clock.")
    yield '<table class="steps">\n<tbody>\n'
    for name, part in zip(names, steps, strict=True):
        yield from _step(name, part)
    yield "</tbody>\n</table>\n"
    if walls[0]:
        yield legend(steps[0].trace, f"{steps[0].prefix}-bar", with_sums=False)
    yield "</header>\n"


def _step(name: str, part: Part) -> Iterator[str]:
    """A bar on the common scale, and what the capture shows."""
    trace, wall_ns = part.trace, part.summary.window.wall_ns
    bar = class_bar(trace, f"{part.prefix}-bar", part.scale_ns) if wall_ns else ""
    wall = units.duration(wall_ns, trace.tick_ns) if wall_ns else ""
    yield f'<tr><th scope="row">{escaped(name)}</th><td{NUMBER}>{wall}</td><td class="fill">{bar}</td></tr>\n'
    _, _, saving = headline(trace, part.summary).partition("; ")
    cause = part.summary.diagnosis[0].text if part.summary.diagnosis else "No cause stands out."
    text = " ".join(each for each in (cause, f"{saving[:1].upper()}{saving[1:]}." if saving else "") if each)
    yield f'<tr class="about"><td></td><td></td><td>{escaped(text)}</td></tr>\n'


def _charts(steps: Sequence[Part]) -> Iterator[str]:
    names = names_of(steps)[1]
    for name, part in zip(names, steps, strict=True):
        yield from sections.timeline(part, f"Timeline of {name}", _MAX_ROWS)
    for name, part in zip(names, steps, strict=True):
        if part.summary.window.wall_ns and (chain := sections.chain_of(part)):
            yield element("p", f"{name}: {chain}", class_="remark")


def _findings(before: Part, after: Part) -> Iterator[str]:
    yield '<section id="findings">\n'
    yield element("h2", "Findings")
    counts = [Counter(map(key_of, part.groups)) for part in (before, after)]
    for title, keys in (
        ("No longer there", counts[0] - counts[1]),
        ("New", counts[1] - counts[0]),
        ("In both", counts[0] & counts[1]),
    ):
        if not keys:
            continue
        yield element("h3", title)
        source = before if title == "No longer there" else after
        listed = [group for group in source.groups if key_of(group) in keys][:_MAX_FINDINGS]
        yield f'<ul class="changes">{"".join(_finding(source, group) for group in listed)}</ul>\n'
    if not any(counts):
        yield element("p", "No findings on either side.")
    yield "</section>\n"


def _finding(part: Part, group: FindingGroup) -> str:
    finding, worth = group.first, finding_block.saving(part.trace, group)
    text, severity = f"{finding.code}: {finding.diagnosis or finding.message}", escaped(finding.severity)
    saved = f' <span class="worth">{escaped(worth)}</span>' if worth else ""
    return f'<li><span><span class="{severity}">{severity}</span> {escaped(text)}</span>{saved}</li>\n'


def _views(found: Diff, top: int) -> Iterator[str]:
    for view in VIEWS:
        rows = found.views[view.name]
        if rows:
            yield f'<section id="{view.name}">\n'
            yield element("h2", changes.TITLES[view.name])
            yield table(changes.drawn(view, changes.largest(rows, top), changes.times_of(found)))
            yield "</section>\n"
