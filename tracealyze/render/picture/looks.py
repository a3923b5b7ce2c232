"""How a class of time looks: a color and a hatch in pictures, a letter and a style in a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_SHADE = 0.72


@dataclass(frozen=True)
class Look:
    """The color is a hue of Okabe and Ito, darkened where needed: at least 3:1 on white and on nearly black."""

    color: str
    letter: str
    style: str
    hatch: str = ""
    """SVG path data within a square of 6. Waiting is hatched, work is not."""


LOOKS = {
    "user": Look("#0072b2", "U", "blue"),
    "disk": Look("#d55e00", "D", "yellow"),
    "network": Look("#b0588f", "N", "magenta", "M0 6L6 0"),
    "ipc": Look("#8f7a00", "I", "yellow", "M0 6L6 0"),
    "sleep": Look("#c23b22", "S", "red", "M0 3H6"),
    "poll": Look("#00875f", "P", "green", "M0 6L6 0"),
    "lock": Look("#9a5f00", "L", "bold yellow", "M0 6L6 0M0 0L6 6"),
    "child": Look("#5a6f9a", "C", "cyan", "M3 0V6"),
    "terminal": Look("#3a86b4", "T", "cyan", "M0 3H6"),
    "stopped": Look("#767676", "Z", "dim", "M0 3H6M3 0V6"),
    "gap": Look("#767676", "G", "red", "M0 6L6 0"),
    "external": Look("#767676", "X", "cyan", "M3 0V6"),
    "memory": Look("#2f8f8f", "M", "green"),
    "process": Look("#7a6fb0", "F", "magenta"),
    "other": Look("#767676", "O", "dim"),
}
"""By class of time. All others look like `other`."""


def dark(color: str) -> str:
    """A darker shade, on which white text has a contrast of at least 4.5:1."""
    return "#" + "".join(f"{round(int(color[at : at + 2], 16) * _SHADE):02x}" for at in (1, 3, 5))


def hatched(names: Iterable[str], prefix: str) -> str:
    """The classes as patterns, for `fill="url(#PREFIX-CLASS)"`."""
    made = []
    for name in sorted(names):
        look = LOOKS[name]
        lines = f'<path d="{look.hatch}" stroke="#fff" stroke-opacity=".65" fill="none"/>' if look.hatch else ""
        made.append(
            f'<pattern id="{prefix}-{name}" width="6" height="6" patternUnits="userSpaceOnUse">'
            f'<rect width="6" height="6" fill="{look.color}"/>{lines}</pattern>\n'
        )
    return f"<defs>{''.join(made)}</defs>\n"


def known(cls: str | None) -> str:
    """The class whose look a class has."""
    return cls if cls in LOOKS else "other"
