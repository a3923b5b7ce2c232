"""Where findings are in time: the stretches from the first to the last line of their parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding
    from tracealyze.trace.trace import Trace

MAX_LINES = 1_000
"""Lines of evidence of a finding that are placed in time."""


def stretches_of(trace: Trace, finding: Finding) -> list[tuple[int, int, int]]:
    """Task, start and end of what a finding is about, one stretch per task, in time since the start of the window."""
    window = next((each for each in trace.windows if each.capture == finding.capture), None)
    if window is None or window.start_ns is None or window.end_ns is None:
        return []
    spans: dict[int, tuple[int, int]] = {}
    for place in trace.evidence(finding.capture, (finding.extent or finding.places)[:MAX_LINES]):
        if place is not None:
            task, start_ns, end_ns = place
            known = spans.get(task, (start_ns, end_ns))
            spans[task] = (min(known[0], start_ns), max(known[1], end_ns))
    return [
        (task, max(start_ns, window.start_ns) - window.start_ns, min(end_ns, window.end_ns) - window.start_ns)
        for task, (start_ns, end_ns) in sorted(spans.items(), key=lambda item: (item[1], item[0]))
        if start_ns <= window.end_ns and end_ns >= window.start_ns
    ]
