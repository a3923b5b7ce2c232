"""A finding in the form of a compiler message: severity, code, title and saving, the place, quoted evidence, help."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from tracealyze.base import units
from tracealyze.base.heuristics import MIN_TRACING_SHARE
from tracealyze.base.sanitize import shown
from tracealyze.findings.basis import Basis
from tracealyze.findings.finding import Severity
from tracealyze.findings.grouping import is_about_capture
from tracealyze.render import evidence
from tracealyze.render.addresses import rule_page
from tracealyze.render.terminal import Terminal, cells
from tracealyze.trace.outcome.verdict import saving_of

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding
    from tracealyze.findings.grouping import FindingGroup
    from tracealyze.trace.trace import Trace

Quoted: TypeAlias = Mapping[tuple[int, str, int], str]
"""Lines of captures, by number of the capture, file and line."""

MAX_QUOTES = 2
MAX_TEXT_LINES = 3
_MAX_SAME = 3
# Yellow is unreadable on a light background. Magenta, as in GCC's warnings, reads on light and dark ones.
STYLES = {"error": "bold red", "warning": "bold magenta"}


def title_of(finding: Finding) -> str:
    """The title of the rule, as the rest of a line."""
    title = shown(finding.title or finding.name)
    return title[:1].lower() + title[1:] if title[1:2].islower() or title[1:2] == " " else title


def saving(trace: Trace, group: FindingGroup) -> str:
    """What the finding could save; empty if that is nothing, or unknown, or not in the sum of the headline."""
    if group.first.basis is Basis.WALL and group.first.severity is Severity.INFO:
        return ""
    if group.first.basis is Basis.WALL:
        return saving_of(*group.impact_ns, 0, trace.tick_ns)
    _, high_ns = group.impact_ns
    capture = trace.capture_of(group.first.capture)
    if capture and not capture.has.get("wall_clock", True) and group.first.share is None:
        # Time limits that were reached are lower bounds, and are printed exactly.
        return f"at least {units.duration(high_ns, units.US)} of elapsed time" if high_ns else ""
    return f"up to {units.duration(high_ns, trace.dur_tick_ns)} of elapsed time" if high_ns else ""


def place(trace: Trace, finding: Finding) -> str:
    """The file and the first line of evidence."""
    if not finding.places:
        return ""
    file, line = finding.places[0]
    capture = trace.capture_of(finding.capture)
    name = file or (capture.path if capture else "")
    return f"{shown('standard input' if name == '-' else name)}:{line}"


def notes(trace: Trace, group: FindingGroup, full: bool) -> Iterator[tuple[str, str]]:
    """Label and text of each remark; the names of more general rules only if everything is requested."""
    finding = group.first
    yield "note", shown(finding.message)
    same = [_where(each, finding) for each in group.members[1:]]
    if same:
        more = f"; {len(same) - _MAX_SAME} more" if len(same) > _MAX_SAME else ""
        yield "same", f"{'; '.join(same[:_MAX_SAME])}{more}"
    yield "help", shown(finding.advice)
    about = list(_reservations(trace, finding))
    if full and finding.also:
        about.append(f"also matches {', '.join(finding.also)}")
    if about:
        yield "note", "; ".join(about)


def _where(finding: Finding, first: Finding) -> str:
    line = f"line {finding.lines[0]}" if finding.lines else ""
    if finding.pid is None or (finding.pid == first.pid and line):
        return line or "elsewhere"
    return f"pid {finding.pid} ({line})" if line else f"pid {finding.pid}"


def _reservations(trace: Trace, finding: Finding) -> Iterator[str]:
    further = finding.lines[MAX_QUOTES:]
    if further:
        yield f"see also line{'s' if len(further) > 1 else ''} {' and '.join(map(str, further[:2]))}"
    cost_ns = (finding.share or 0) * trace.wall_ns_of(finding.capture)
    if finding.tracing_ns >= MIN_TRACING_SHARE * cost_ns > 0:
        yield f"the cost includes about {units.duration(finding.tracing_ns, trace.tick_ns)} of tracing overhead"
    if finding.confidence != "measured":
        yield f"{finding.confidence}, not measured"


def show(terminal: Terminal, trace: Trace, group: FindingGroup, quoted: Quoted, page: int, most: int | None) -> None:
    """Print a finding, with the saving at the right end of the page and up to `most` lines for each remark."""
    finding = group.first
    _title(terminal, trace, group, page)
    if not is_about_capture(trace, finding):
        # A row of a tracer's table has no line.
        if where := place(trace, finding):
            terminal.cut_line(("  --> ", "dim"), (terminal.cut_named(where, terminal.width - 6), ""))
        _quotes(terminal, finding, quoted)
    for label, text in notes(trace, group, full=most is None):
        terminal.paragraph(text, indent=2, label=f"= {label}: ", most=most)


def _title(terminal: Terminal, trace: Trace, group: FindingGroup, page: int) -> None:
    finding, worth = group.first, saving(trace, group)
    code, title = f"{finding.severity}[{finding.code}]", f": {title_of(finding)}"
    style = terminal.linked(STYLES.get(finding.severity, "bold"), rule_page(finding.name, finding.code))
    rest = page - cells(code) - cells(title)
    if cells(worth) + 2 <= rest:
        terminal.line((code, style), (title, "bold"), (worth.rjust(rest) if worth else "", "bold"))
    else:
        terminal.cut_line((code, style), (title, "bold"))
        terminal.cut_line((f"  {worth}", "bold"))


def _quotes(terminal: Terminal, finding: Finding, quoted: Quoted) -> None:
    places = [(file, line) for file, line in finding.places[:MAX_QUOTES] if quoted.get((finding.capture, file, line))]
    width = max((len(str(line)) for _, line in places), default=0)
    first_file = places[0][0] if places else ""
    for file, line in places:
        if file != first_file:
            terminal.cut_line(("  --> ", "dim"), (f"{os.path.basename(file)}:{line}", ""))
        room = terminal.width - width - 7
        text = quoted[finding.capture, file, line]
        found = evidence.quote(line, text, finding, room, terminal.drawn.ellipsis)
        terminal.cut_line((f"    {line:>{width}} | ", "dim"), (found.text, ""))
        if found.marks:
            terminal.cut_line((f"    {' ' * width} | ", "dim"), (found.marks, STYLES.get(finding.severity, "bold")))
