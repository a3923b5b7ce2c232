"""The sections of the page about one capture. Their words and numbers are those of `summarize`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.sanitize import shown
from tracealyze.findings.grouping import FindingGroup, is_about_capture
from tracealyze.render import every, finding_block, path_rows, processes, stages, top_calls, tree
from tracealyze.render.capture_notes import clock_of, name_of_capture, read_lines, remarks, time_line, window_lines
from tracealyze.render.listing import Listing
from tracealyze.render.page.causes import causes
from tracealyze.render.page.fixes import fixes
from tracealyze.render.page.markup import NUMBER, bar, element, escaped, only_printed, scrollable, table, verdict
from tracealyze.render.page.part import Part
from tracealyze.render.partition import folded
from tracealyze.render.picture.boot_chart import Chart, Mark, boot_chart
from tracealyze.render.picture.class_bar import class_bar, legend
from tracealyze.render.picture.interval_chart import interval_chart
from tracealyze.render.picture.lanes import MAX_LANES
from tracealyze.render.picture.stretches import stretches_of
from tracealyze.render.report import blocked_on, endings, headline, next_commands
from tracealyze.trace.intervals import intervals

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding

_MAX_FINDINGS = 40
"""Findings with their lines; the rest have a line each."""
_MAX_SHORT_FINDINGS = 200
MAX_PRINTED_FINDINGS = 6
"""Findings with their lines that are printed; `report.css` has the same number."""
_MAX_PRINTED_LANES = 48
"""Rows of a chart on paper: half a sheet."""
_MAX_MARKS = 12
"""Findings with a mark in the chart."""
_MAX_TREE = 200
# Above this number of processes, a tree of all of them is not built for its first rows.
_MAX_FOR_TREE = 5_000
_INDENT = "\u2003"


def whole(part: Part) -> str:
    """All sections of a capture."""
    return "".join(section for make in SECTIONS for section in make(part))


def heading(part: Part) -> Iterator[str]:
    """The capture, its wall time, what could be saved, and the causes with their remedies."""
    yield "<header>\n"
    yield element("h1", name_of_capture(part.summary.captures[0]))
    yield verdict(headline(part.trace, part.summary))
    yield from causes(part)
    if part.summary.window.wall_ns:
        yield class_bar(part.trace, f"{part.prefix}-bar", part.scale_ns)
        yield legend(part.trace, f"{part.prefix}-bar")
    yield "</header>\n"


def timeline(part: Part, title: str = "Timeline", max_rows: int | None = None) -> Iterator[str]:
    """The boot chart, or why there is none. Marks are the numbers of the findings of the page, which a chart of few
    rows does not have: it is one of several."""
    yield from _opened("timeline", title, part)
    if part.summary.window.wall_ns:
        marks = () if max_rows else _marks(part)
        chart = boot_chart(part.trace, part.prefix, part.scale_ns, marks, max_rows or MAX_LANES)
        yield from figure(chart, title)
        if chart.rows > _MAX_PRINTED_LANES:
            printed = boot_chart(part.trace, f"{part.prefix}-printed", part.scale_ns, marks, _MAX_PRINTED_LANES)
            yield from figure(printed, title, ' class="printed" hidden')
        if not max_rows and (chain := chain_of(part)):
            yield element("p", chain, class_="remark")
    else:
        yield element("p", "There is no timeline, because the capture has no wall clock.")
        for text in window_lines(part.summary.window, part.summary.captures[0]):
            yield element("p", text)
    yield "</section>\n"


def chain_of(part: Part) -> str:
    """The longest chain of processes blocked on each other; empty if there is none."""
    return blocked_on(part.trace, part.summary, "→", "⇢")


def over_time(part: Part) -> Iterator[str]:
    """The window in intervals, and what changed when; only if it is wanted."""
    if part.every_ns is None:
        return
    found = intervals(part.trace, part.every_ns, with_findings=False)
    yield from _opened("over-time", f"Over time, every {units.duration(part.every_ns)}", part)
    told = every.sentences(part.trace, found, part.every_ns)
    yield from (element("p", sentence) for sentence in told or ["Nothing changes from interval to interval."])
    when = clock_of(part.summary.captures[0], part.trace.first_ns, part.every_ns)
    chart = interval_chart(found, every.timed_groups(found), f"{part.prefix}-every", when, part.trace.dur_tick_ns)
    yield from figure(chart, "Over time")
    yield "</section>\n"


def figure(chart: Chart, title: str, attributes: str = "") -> Iterator[str]:
    """A chart with its caption, in a region that scrolls sideways."""
    yield f'<figure{attributes}>\n<div class="wide" role="region" aria-label="{escaped(title)}" tabindex="0">\n'
    yield f"{chart.svg}</div>\n{element('figcaption', chart.caption)}</figure>\n"


def _marks(part: Part) -> list[Mark]:
    """The first findings as marks of the chart, except those about the capture as a whole."""
    return [
        Mark(number, finding_block.title_of(group.first), group.first.severity != "info", _stretches(part, group))
        for number, group in enumerate(part.groups[:_MAX_MARKS], start=1)
        if not is_about_capture(part.trace, group.first)
    ]


def _stretches(part: Part, group: FindingGroup) -> list[tuple[int, int, int]]:
    return [stretch for finding in group.members[:_MAX_MARKS] for stretch in stretches_of(part.trace, finding)]


def findings(part: Part) -> Iterator[str]:
    """The findings with message, saving, advice and quoted lines."""
    yield from _opened("findings", "Findings", part)
    listed = part.groups[:_MAX_FINDINGS]
    quoted = part.trace.proof([group.first for group in listed], finding_block.MAX_QUOTES)
    for number, group in enumerate(listed, start=1):
        yield from _finding(part, group, quoted, number)
    if len(part.groups) > MAX_PRINTED_FINDINGS:
        yield only_printed(f"{units.counted(len(part.groups) - MAX_PRINTED_FINDINGS, 'more finding')} on the screen")
    rest = part.groups[len(listed) :]
    yield '<div class="screen">\n' if rest else ""
    for group in rest[:_MAX_SHORT_FINDINGS]:
        finding = group.first
        yield element("p", f"{finding.severity}[{finding.code}]: {finding.diagnosis or finding.message}")
    if len(rest) > _MAX_SHORT_FINDINGS:
        yield element("p", f"{units.counted(len(rest) - _MAX_SHORT_FINDINGS, 'more finding')}: summarize --json --full")
    yield "</div>\n" if rest else ""
    for text in endings(part.trace, part.summary)[:1]:
        yield element("p", text, class_="remark")
    yield "</section>\n"


def articles(part: Part) -> dict[str, Finding]:
    """The findings that have an element, by its id."""
    return {part.finding_id(at): group.first for at, group in enumerate(part.groups[:_MAX_FINDINGS], start=1)}


def _finding(part: Part, group: FindingGroup, quoted: finding_block.Quoted, number: int) -> Iterator[str]:
    finding, worth = group.first, finding_block.saving(part.trace, group)
    severity = escaped(finding.severity)
    yield f'<article id="{part.finding_id(number)}">\n<h3><span>'
    yield f'<span class="badge {severity}">{number}</span> <span class="{severity}">{severity}</span> '
    yield f"{escaped(finding.code)}: {escaped(finding_block.title_of(finding))}</span>"
    yield f"{f' <span>{escaped(worth)}</span>' if worth else ''}</h3>\n"
    if not is_about_capture(part.trace, finding):
        if where := finding_block.place(part.trace, finding):
            yield element("p", where, class_="place")
        lines = [
            f"{line}: {text.expandtabs()}"
            for file, line in finding.places[: finding_block.MAX_QUOTES]
            if (text := quoted.get((finding.capture, file, line)))
        ]
        if lines:
            quotes = "\n".join(map(escaped, lines))
            yield f'<pre tabindex="0" role="region" aria-label="Lines of finding {number}">{quotes}</pre>\n'
    notes = finding_block.notes(part.trace, group, full=True)
    yield f"<dl>{''.join(f'<dt>{label}</dt><dd>{escaped(text)}</dd>' for label, text in notes)}</dl>\n</article>\n"


def path(part: Part) -> Iterator[str]:
    """The critical path by command line; the rows add up to the window."""
    rows = path_rows.path_rows(part.trace, part.top)
    if not rows:
        return
    wall_ns = part.summary.window.wall_ns
    total = f"{units.duration(wall_ns, part.trace.tick_ns)} = 100%"
    yield from _opened("path", "Critical path", part, total)
    lines = []
    for row in rows:
        share = f"{row.percent}%" if row.percent or not row.exclusive_ns else "< 1%"
        took = units.duration(row.exclusive_ns, part.trace.tick_ns)
        lines.append(
            f"<tr><td{NUMBER}>{took}</td><td{NUMBER}>{escaped(share)}</td>"
            f"<td>{bar(row.exclusive_ns / wall_ns)}</td>"
            f"<td>{_INDENT * row.depth}{escaped(row.name)}</td><td>{escaped(row.remark)}</td></tr>\n"
        )
    yield scrollable(lines, "Critical path")
    yield "</section>\n"


def partition(part: Part) -> Iterator[str]:
    """Where the wall time went, by process, call and target."""
    pieces = folded(part.trace, part.top)
    if not pieces:
        return
    yield from _opened("partition", "Where the time went", part, "critical path by process, call and target")
    tick_ns = part.trace.tick_ns
    lines = []
    for piece in pieces:
        facts = (piece.target, piece.count, piece.remark)
        lines.append(
            f"<tr><td{NUMBER}>{units.duration(piece.exclusive_ns, tick_ns)}</td>"
            f"<td{NUMBER}>{units.share(piece.share)}</td><td>{bar(piece.share)}</td>"
            f"<td>{_INDENT * piece.depth}{escaped(piece.name)}</td>"
            f"<td>{escaped('  '.join(fact for fact in facts if fact))}</td></tr>\n"
        )
    yield scrollable(lines, "Where the time went")
    yield "</section>\n"


def stages_of_log(part: Part) -> Iterator[str]:
    """For logs: the cost of each additional item, and the time that items spend in each stage."""
    kinds = stages.relevant_items(part.trace) if part.summary.captures[0].dur_kind == "gap" else []
    if not kinds:
        return
    yield from _opened("stages", "Stages", part, "messages that differ only in a number or a name")
    for kind in kinds[: part.top]:
        yield element("p", stages.sentence(kind, part.trace.tick_ns))
    names = {kind["item"] for kind in kinds[: part.top]}
    rows = [row for row in part.trace.stages if row["item"] in names]
    yield from _listed(processes.of_all(min(part.top, len(rows)), len(rows), "time until the next message"))
    yield table(stages.listing(rows[: part.top], part.trace.tick_ns))
    yield "</section>\n"


def all_processes(part: Part) -> Iterator[str]:
    """The processes as a tree; of very many, the most expensive."""
    found = processes.listing(part.trace, part.top, part.trace.tick_ns)
    if not found:
        return
    remark, listing = found
    if len(part.trace.processes) <= _MAX_FOR_TREE:
        drawn = tree.tree_of(part.trace, tree.Pruning(folds=True), _MAX_TREE)
        remark = processes.of_all(len(drawn.rows), drawn.number, "as a tree")
        listing = tree.drawn(drawn.rows, part.trace)
    yield from _opened("processes", "Processes", part, remark)
    yield table(listing)
    yield "</section>\n"


def calls(part: Part) -> Iterator[str]:
    """The top calls by request and target, with bars where nothing else is drawn."""
    found = top_calls.listing(part.trace, part.summary, part.top)
    if not found:
        return
    remark, listing = found
    yield from _opened("calls", "Top calls", part, remark)
    yield table(listing, () if part.summary.window.wall_ns else _shares(listing))
    yield "</section>\n"


def _shares(listing: Listing) -> Sequence[float]:
    """Each row compared with the largest: by time, or by calls if no time is known."""
    totals = [row.get("total_ns") or 0 for row in listing.rows]
    values = totals if any(totals) else [row.get("calls") or 0 for row in listing.rows]
    largest = max(values, default=0) or 1
    return [value / largest for value in values]


def about_capture(part: Part) -> Iterator[str]:
    """What was read, and what the capture cannot tell."""
    capture, window = part.summary.captures[0], part.summary.window
    yield from _opened("capture", "Capture", part)
    texts = (*read_lines(capture, part.summary.totals), time_line(capture), *window_lines(window, capture))
    for text in texts:
        yield element("p", text)
    stated = {finding.name for finding in part.summary.findings}
    for text in remarks(capture, window, stated):
        if not any(text in known for known in texts):
            yield element("p", f"Note: {text}")
    yield "</section>\n"


def more(part: Part) -> Iterator[str]:
    """Commands that show more."""
    commands = next_commands(part.trace, [group.first for group in part.groups])
    yield "".join(element("footer", f"{'' if number else 'next: '}{text}") for number, (text, _) in enumerate(commands))


SECTIONS: tuple[Callable[[Part], Iterator[str]], ...] = (
    heading,
    timeline,
    over_time,
    fixes,
    findings,
    path,
    stages_of_log,
    partition,
    all_processes,
    calls,
    about_capture,
    more,
)
"""The sections in the order of the page."""


def _opened(name: str, title: str, part: Part, remark: str = "") -> Iterator[str]:
    ident = name if part.prefix == "c" else f"{part.prefix}-{name}"
    yield f'<section id="{ident}">\n'
    yield element("h2", title)
    yield from _listed(remark)


def _listed(remark: str) -> Iterator[str]:
    if remark:
        yield element("p", shown(remark), class_="remark")
