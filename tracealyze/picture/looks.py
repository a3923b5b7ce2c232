"""How a class of time looks: a color and a hatch in pictures, a letter and a style in a terminal."""

from __future__ import annotations

from dataclasses import dataclass


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


def known(cls: str | None) -> str:
    """The class whose look a class has."""
    return cls if cls in LOOKS else "other"
