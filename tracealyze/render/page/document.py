"""The report as one HTML file: complete without scripts and network, the same bytes for the same capture.

Where scripts run, the viewer replaces the static timeline.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tracealyze import _engine
from tracealyze.render.capture_notes import name_of_capture
from tracealyze.render.page import comparison, one_axis, sections
from tracealyze.render.page.markup import element, escaped
from tracealyze.render.page.part import Part
from tracealyze.render.report import headline
from tracealyze.render.viewer import bundle
from tracealyze.render.viewer.data import Section, data_sections

if TYPE_CHECKING:
    from tracealyze.compare.diff import Diff
    from tracealyze.trace.summary import Summary
    from tracealyze.trace.trace import Trace

_MAX_BYTES = 1_950_000
"""Size of a page."""
_MAX_SMALL_CALLS = 60_000
_MAX_SMALL_BYTES = 295_000
"""Size of the page of a capture of up to so many calls: it can be attached to a ticket."""
_MIN_DATA_BYTES = 90_000
"""What the timeline has in any case: of very many processes, the tables alone fill a small page."""

Analyzed = tuple["Trace", "Summary"]
"""A trace and its summary."""


def of_captures(runs: Sequence[Analyzed], top: int, aligned: Iterable[str] = (), every_ns: int | None = None) -> str:
    """The page of a capture. Of several, it lists all, draws those of one time on one axis, and describes the slowest.

    With `every_ns`, a section shows that one in intervals of this length. `aligned` has moments that are the same in
    all captures, such as `app.strace=line:120`."""
    chosen = max(runs, key=lambda run: (run[1].window.wall_ns, run[1].totals.get("calls", 0)))
    together = "".join(one_axis.section([trace for trace, _ in runs], aligned))
    listed = "" if len(runs) == 1 else _runs(runs) + together
    part = Part(*chosen, top, every_ns=every_ns)
    body = listed + sections.whole(part)
    data = data_sections(part.trace, _budget([part], body), sections.articles(part))
    return _page(name_of_capture(chosen[1].captures[0]), body, data)


def of_steps(steps: Sequence[Analyzed], found: Diff, top: int) -> str:
    """The page that compares captures in order of time. All charts have the same scale."""
    scale_ns = max(summary.window.wall_ns for _, summary in steps) or None
    parts = [Part(*each, top, f"c{number}", scale_ns) for number, each in enumerate(steps, start=1)]
    _, names = comparison.names_of(parts)
    body = comparison.whole(parts, found, top)
    budget = _budget(parts, body) // len(parts)
    data = [
        section
        for part, name in zip(parts, names, strict=True)
        for section in data_sections(part.trace, budget, prefix=f"tz-{part.prefix}", scale_ns=scale_ns, label=name)
    ]
    return _page(" → ".join(names), body, data)


def _budget(parts: Sequence[Part], body: str) -> int:
    """The bytes that are left for the data of all captures of a page."""
    is_small = sum(part.summary.totals["calls"] for part in parts) <= _MAX_SMALL_CALLS
    static_bytes = len(body.encode()) + len(bundle.script().encode()) + len(_style().encode())
    return max((_MAX_SMALL_BYTES if is_small else _MAX_BYTES) - static_bytes, _MIN_DATA_BYTES)


def _runs(runs: Sequence[Analyzed]) -> str:
    rows = (f"{name_of_capture(summary.captures[0])}: {headline(trace, summary)}" for trace, summary in runs)
    items = "".join(element("li", row) for row in rows)
    return f'<section id="captures">\n<h2>{len(runs)} captures, the slowest below</h2>\n<ul>{items}</ul>\n</section>\n'


@cache
def _style() -> str:
    text = (Path(__file__).parent / "report.css").read_text(encoding="utf-8")
    return f"{' '.join(text.split())} {bundle.style()}"


def _page(title: str, body: str, data: Sequence[Section] = ()) -> str:
    scripts = "".join(section.html() for section in data) + (f"<script>{bundle.script()}</script>\n" if data else "")
    policy = f"default-src 'none'; style-src '{_digest(_style())}'"
    if data:
        policy += f"; script-src '{_digest(bundle.script())}'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        # Where a server forbids styles, the page follows the theme of the reader all the same.
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta name="generator" content="tracealyze {_engine.__version__}">\n'
        f"<title>{escaped(title)}</title>\n<style>{_style()}</style>\n</head>\n"
        f"<body>\n<main>\n{body}</main>\n{scripts}</body>\n</html>\n"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
