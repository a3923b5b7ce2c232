"""folded: one line per stack, frames separated by semicolons, then the value. Flame graph tools read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from tracealyze.base import units
from tracealyze.base.sanitize import shown
from tracealyze.export.stacks import profile
from tracealyze.findings.basis import Basis

if TYPE_CHECKING:
    from tracealyze.trace.trace import Trace

MAX_STACKS = 200_000


def write(trace: Trace, to: BinaryIO) -> list[str]:
    """Write the partition; values are nanoseconds, or numbers of calls without any times."""
    found = profile(trace)
    sums, merged = found.merged(MAX_STACKS)
    has_separator = False
    lines: dict[str, int] = {}
    for frames, (ns, calls) in sums.items():
        has_separator = has_separator or any(";" in frame for frame in frames)
        value = calls if found.basis is Basis.COUNTS else ns
        line = ";".join(shown(frame).replace(";", ":") for frame in frames)
        lines[line] = lines.get(line, 0) + value
    for line in sorted(lines):
        if lines[line]:
            to.write(f"{line} {lines[line]}\n".encode())
    notes = [*found.notes, "Numbers of calls, process ids and the order in time are not in the file."]
    if has_separator:
        notes.append('A ";" in a name is written as ":".')
    if merged:
        notes.append(f"{units.counted(merged, 'small stack')} merged by class, with their sums.")
    return notes
