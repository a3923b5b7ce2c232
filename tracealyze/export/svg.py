"""svg: the timeline, and below it an icicle of the partition. Browsers and office programs show it."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO

from tracealyze.export.icicle import icicle
from tracealyze.export.stacks import profile
from tracealyze.render.capture_notes import name_of_capture
from tracealyze.render.picture.boot_chart import boot_chart
from tracealyze.render.picture.labels import fitted

if TYPE_CHECKING:
    from tracealyze.trace.trace import Trace

_MARGIN = 10
_TITLE = 30
_CAPTION = 24
_TITLE_CELLS = 140


def write(trace: Trace, to: BinaryIO) -> list[str]:
    """Write both pictures as one document on a white ground."""
    found = profile(trace)
    below = icicle(found)
    pictures = [(below.svg, below.width, below.height, below.caption)]
    notes = [*found.notes]
    if trace.window.wall_ns:
        chart = boot_chart(trace)
        pictures.insert(0, (chart.svg, chart.width, chart.height, chart.caption))
        notes.append(chart.caption)
    else:
        notes.append("There is no timeline, because the capture has no wall clock.")
    to.write(document(name_of_capture(trace.captures[0]), pictures).encode())
    return [*notes, below.caption]


def document(name: str, pictures: Sequence[tuple[str, int, int, str]]) -> str:
    """Pictures one below the other, on a white ground: each with its width, its height and a caption."""
    width = max(each[1] for each in pictures) + 2 * _MARGIN
    y = _TITLE
    parts = []
    for svg, _, height, caption in pictures:
        parts.append(f'<g transform="translate({_MARGIN} {y})">\n{svg}</g>\n')
        y += height + _CAPTION
        parts.append(f'<text x="{_MARGIN + 4}" y="{y - 8}" font-size="11">{html.escape(caption)}</text>\n')
    title = html.escape(fitted(name, _TITLE_CELLS))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y + _MARGIN}" '
        f'viewBox="0 0 {width} {y + _MARGIN}" font-family="system-ui,sans-serif" font-size="12" color="#000">\n'
        f'<rect width="{width}" height="{y + _MARGIN}" fill="#fff"/>\n'
        f'<text x="{_MARGIN + 4}" y="20" font-size="14" font-weight="bold">{title}</text>\n'
        f"{''.join(parts)}</svg>\n"
    )
