"""Names of time on the critical path: the call, or what else the process did."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tracealyze.base.sanitize import Shown, shown

if TYPE_CHECKING:
    from tracealyze.model.table import Row

CLASSES = {
    "user": "outside syscalls",
    "child": "blocked on a child outside the capture",
    "stopped": "stopped",
    "gap": "silence",
    "external": "blocked on something outside the capture",
    "poll-lag": "polling delay",
    "polled": "polling wait",
    "idle": "idle until a client requests something",
}
"""Classes and tags of time, in words, for time that is not named by a call."""


def class_name(name: str) -> str:
    """A class of time in words. Calls are of a class, too: only time without calls has another name than its class."""
    return CLASSES[name] if name == "user" else name


_UNIT = re.compile(r"(?P<unit>\S+?) ?(?:@(?:[\d.]+[a-z]+ ?)+(?P<took>\+.*)?|\((?P<time>(?:[\d.]+[a-z]+ ?)+)\))")
"""A unit in the tree or picture of `systemd-analyze`: the moment of its start, and how long it took."""


def name_of(row: Row) -> Shown:
    """The call with its request, or another name for the time. Names of calls and messages are text of the trace."""
    return shown(_name_of(row))


def _name_of(row: Row) -> str:
    call = " ".join(part for part in (row["syscall"], row["op"]) if part)
    if row["class"] == "gap" and not (row.get("calls") or row.get("what") == "silence"):
        # A message of a log has a line. Here the lines themselves are missing.
        return "lines left out"
    if row["class"] == "gap":
        return silence_after(row["target"])
    if row["class"] == "other" and not row["syscall"]:
        # This is a log; other captures always have a call.
        return "repeated messages"
    return call or CLASSES.get(row["class"]) or str(row["class"])


def silence_after(message: str | None) -> str:
    """The name of the time between a message of a log and the next one."""
    if not message:
        return "silence"
    unit = _UNIT.fullmatch(message)
    if unit is None:
        return f'silence after "{message}"'
    return f"start of {unit['unit']}" if unit["took"] or unit["time"] else f"after {unit['unit']}"
