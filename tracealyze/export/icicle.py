"""The icicle: frames as boxes, each as wide as its part of the whole, with what they consist of below them."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.findings.basis import Basis
from tracealyze.render.picture.labels import fitted
from tracealyze.render.picture.looks import LOOKS

if TYPE_CHECKING:
    from tracealyze.export.stacks import Profile

_WIDTH = 1220
_ROW = 18
_MIN_WIDTH = 1.0
"""Narrower boxes are combined, so that the boxes below a box always add up to it."""
_LETTER_WIDTH = 7
_MIN_LABEL = 4
_MAX_STACKS = 200_000
_PROGRAM = "#5f6b7a"


@dataclass
class _Box:
    value: int = 0
    children: dict[str, _Box] = field(default_factory=dict)


@dataclass(frozen=True)
class Icicle:
    """The picture, its size and what must be said about it."""

    svg: str
    width: int
    height: int
    caption: str


def icicle(found: Profile) -> Icicle:
    """The icicle of a profile: time on the critical path, elapsed time, or numbers of calls."""
    root = _Box()
    sums, _ = found.merged(_MAX_STACKS)
    for frames, (ns, calls) in sums.items():
        value = calls if found.basis is Basis.COUNTS else ns
        box = root
        box.value += value
        for frame in frames:
            box = box.children.setdefault(frame, _Box())
            box.value += value
    boxes = list(_boxes(root, found.basis))
    height = _ROW * (1 + max((depth for depth, _ in boxes), default=0))
    svg = "".join(text for _, text in boxes)
    unit = "calls" if found.basis is Basis.COUNTS else "time"
    least = _amount(int(root.value * _MIN_WIDTH / _WIDTH), found.basis)
    caption = f"Width is {unit}. Boxes below {least} are combined."
    return Icicle(svg, _WIDTH, height, caption)


def _amount(value: int, basis: Basis) -> str:
    return units.counted(value, "call") if basis is Basis.COUNTS else units.duration(value)


def _boxes(root: _Box, basis: Basis) -> Iterator[tuple[int, str]]:
    """Depth and drawing of each box, from the left. Iterative, because chains of programs may be long."""
    scale = _WIDTH / root.value if root.value else 0.0
    waiting: list[tuple[str, _Box, float, int, str]] = [("all", root, 0.0, 0, _PROGRAM)]
    while waiting:
        name, box, x, depth, color = waiting.pop()
        yield depth, _drawn(name, box, x, depth, color, scale, basis)
        at = x
        for label, child in _children(box, scale):
            of_child = LOOKS[label].color if label in LOOKS else color
            waiting.append((label, child, at, depth + 1, of_child))
            at += child.value * scale


def _children(box: _Box, scale: float) -> list[tuple[str, _Box]]:
    """The wide children, the widest first, then the narrow ones as one box."""
    ranked = sorted(box.children.items(), key=lambda item: (-item[1].value, item[0]))
    wide = [(name, child) for name, child in ranked if child.value * scale >= _MIN_WIDTH]
    rest = sum(child.value for _, child in ranked[len(wide) :])
    if rest * scale >= _MIN_WIDTH:
        wide.append((units.counted(len(ranked) - len(wide), "other"), _Box(rest)))
    return wide


def _drawn(name: str, box: _Box, x: float, depth: int, color: str, scale: float, basis: Basis) -> str:
    width = box.value * scale
    y = depth * _ROW
    shape = f'<rect x="{x:.1f}" y="{y}" width="{max(width - 0.5, 0.5):.1f}" height="{_ROW - 1}" fill="{color}">'
    amount = _amount(box.value, basis)
    title = f"<title>{html.escape(fitted(name, 200))}: {amount}</title></rect>"
    room = int(width / _LETTER_WIDTH)
    if room < _MIN_LABEL:
        return f"{shape}{title}\n"
    label = html.escape(fitted(f"{name} {amount}", room))
    return f'{shape}{title}<text x="{x + 3:.1f}" y="{y + 13}" fill="#fff" font-size="11">{label}</text>\n'
