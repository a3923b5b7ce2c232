"""What a file that no reader recognises comes nearest to: a call, a time or a duration, in which line, what to do."""

from __future__ import annotations

import re
from pathlib import Path

from tracealyze.base.sanitize import shown

_MAX_BYTES = 1 << 16
_MAX_SHOWN = 60

_CALL = re.compile(r"\b[a-z_][a-z0-9_]{2,30}\(.*\)\s+=\s+(-?\d|0x|\?)")
_TIME = re.compile(r"\b\d{1,2}:\d{2}:\d{2}\b|\b1[0-9]{9}(\.\d+|\d{3})?\b")
_DURATION = re.compile(r"\b\d+(\.\d+)? ?(ms|s|sec|seconds|min)\b")


def nearest(path: str) -> str:
    """A sentence or two about the lines that come nearest to a capture; empty if the file cannot be read as text."""
    try:
        with Path(path).open("rb") as file:
            text = file.read(_MAX_BYTES)
    except OSError:
        return ""
    if b"\0" in text:
        return ""
    lines = [line.strip() for line in text.decode("utf-8", errors="replace").splitlines()]
    for pattern, what, remedy in _SIGNS:
        found = [(number, match) for number, line in enumerate(lines, 1) if (match := pattern.search(line))]
        if found:
            number, match = found[0]
            text_shown = shown(match.group()[:_MAX_SHOWN])
            filled = sum(map(bool, lines))
            return f'Nearest: {what} "{text_shown}" in line {number} ({len(found)} of {filled} lines). {remedy}'
    return f"None of its first {len(lines)} lines has a call, a time of day or a duration. {_NO_SIGN}"


_SIGNS = (
    (_CALL, "the call", "Keep only the lines of the tracer, each from its start."),
    (
        _TIME,
        "the time",
        "A log needs a date or a time in the same place of each line: print it first (journalctl -o short-iso-precise, "
        "dmesg, docker logs -t), or pipe new output through ts.",
    ),
    (
        _DURATION,
        "the duration",
        "Durations without times or names of calls show no order. Print a time on each line, or capture the calls.",
    ),
)
_NO_SIGN = "Capture the calls (strace -f -ttt -T -yy -o trace.out COMMAND), or a log with a time on each line."
