"""An answer for the person who posted a trace: what it shows, what it cannot show, and one command to run next.

It has at most eight lines, and nothing that a program wrote or received.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracealyze.base.sanitize import shown
from tracealyze.findings.finding import Severity
from tracealyze.findings.grouping import grouped
from tracealyze.render.capture_notes import lacks_of
from tracealyze.render.report import headline
from tracealyze.trace.outcome.outcome import Quoting, Verdict

if TYPE_CHECKING:
    from tracealyze.trace.summary import Summary
    from tracealyze.trace.trace import Trace

MAX_LINES = 8
_MAX_CAUSES = 3
_KILLED = "killed"
"""The rule that says again what a crash says."""
_MAX_CHARACTERS = 220


def reply(trace: Trace, summary: Summary) -> list[str]:
    """The lines of the answer."""
    found = [*_shown(trace, summary)][: MAX_LINES - 2]
    return [_cut(shown(line)) for line in (*found, _unseen(trace, summary), _next(summary)) if line]


def _shown(trace: Trace, summary: Summary) -> Iterator[str]:
    """How the run went, and the causes with their lines."""
    yield f"{headline(trace, summary)}."
    yield from (text for text in summary.outcome.details if not isinstance(text, Quoting))
    is_stated = summary.outcome.verdict is Verdict.CRASHED
    groups = [group for group in grouped(summary.findings) if not (is_stated and group.first.name == _KILLED)]
    serious = [group for group in groups if group.first.severity is not Severity.INFO] or groups[:1]
    for group in serious[:_MAX_CAUSES]:
        lines = group.first.lines[:2]
        where = f" (line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))})" if lines else ""
        yield f"{group.first.diagnosis.rstrip('.')}{where}."
    if not groups and summary.outcome.verdict in (Verdict.FINE, Verdict.CANNOT_TELL):
        yield from (each.text for each in summary.observations if each.kind != "ends")


def _unseen(trace: Trace, summary: Summary) -> str:
    if summary.outcome.unseen:
        return f"The trace cannot show {summary.outcome.unseen}."
    return next(iter(lacks_of(trace.captures[0], summary.window)), "")


def _next(summary: Summary) -> str:
    if summary.outcome.next:
        return f"Next: {summary.outcome.next}"
    advice = next((each.advice for each in summary.findings if each.advice), "")
    return f"Next: {advice.partition('. ')[0].rstrip('.')}." if advice else ""


def _cut(line: str) -> str:
    return line if len(line) <= _MAX_CHARACTERS else f"{line[: _MAX_CHARACTERS - 1]}…"
