"""What if: a list of fixes with boxes to check, and the wall time after those that are checked.

All combinations are in the page, and its style shows the one that is chosen, so no script is needed. Where styles are
forbidden, all of them are listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.errors import TracealyzeError
from tracealyze.base.heuristics import MAX_REPLAYED_CALLS
from tracealyze.findings.basis import Basis
from tracealyze.findings.finding import Severity
from tracealyze.render import finding_block
from tracealyze.render.page.markup import element, escaped
from tracealyze.trace.what_if import combinations

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding
    from tracealyze.findings.grouping import FindingGroup
    from tracealyze.render.page.part import Part

MAX_BOXES = 4
"""Fixes with a box: sixteen combinations. `report.css` has a rule for each of them."""


def fixes(part: Part) -> Iterator[str]:
    """The section; nothing if no finding has time that a replay could remove, or the capture is too large."""
    chosen = _replayable(part)
    if not chosen:
        return
    try:
        walls = combinations(part.trace, part.trace.diagnosis, [group.members for group in chosen.values()])
    except TracealyzeError:
        # A finding without time on the critical path, or a capture without an end.
        return
    if not walls:
        return
    yield f'<section class="what-if" aria-labelledby="{part.prefix}-what-if">\n'
    yield f'<h2 id="{part.prefix}-what-if">What if</h2>\n<ul>\n'
    for place, (number, group) in enumerate(chosen.items()):
        title = escaped(finding_block.title_of(group.first))
        badge = f'<a class="badge" href="#{part.finding_id(number)}">{number}</a>'
        yield f'<li><label><input type="checkbox" class="fix{place}"/> without {badge} {title}</label></li>\n'
    yield "</ul>\n"
    yield from _answers(part, list(chosen), walls)
    yield "</section>\n"


def _replayable(part: Part) -> dict[int, FindingGroup]:
    """The first findings that promise time, by their number on the page."""
    is_one = len(part.summary.captures) == 1 and part.summary.window.wall_ns > 0
    # Messages of a log take no time that could be removed.
    if not is_one or not 0 < part.summary.totals["calls"] <= MAX_REPLAYED_CALLS:
        return {}
    promising = {number: group for number, group in enumerate(part.groups, start=1) if _promises(group.first)}
    return dict(list(promising.items())[:MAX_BOXES])


def _promises(finding: Finding) -> bool:
    is_serious = finding.severity is not Severity.INFO and finding.basis is Basis.WALL
    return is_serious and bool(finding.impact_ns and finding.impact_ns[1] > 0)


def _answers(part: Part, numbers: list[int], walls: Mapping[tuple[int, ...], tuple[int, int]]) -> Iterator[str]:
    tick_ns = part.trace.tick_ns
    observed = units.duration(part.summary.window.wall_ns, tick_ns)
    yield '<p class="answers" role="status">'
    yield element("span", f"{observed} as captured", class_="set0").strip()
    for places, (low_ns, high_ns) in walls.items():
        low, high = units.duration(low_ns, tick_ns), units.duration(high_ns, tick_ns)
        after = low if low == high else f"{low} … {high}"
        names = ", ".join(str(numbers[place]) for place in places)
        mask = sum(1 << place for place in places)
        yield "\n" + element("span", f"{observed} → {after} without {names}", class_=f"set{mask}").strip()
    yield "</p>\n"
    yield element("p", "A replay of the capture: see docs/what-if.md for its assumptions.", class_="remark")
