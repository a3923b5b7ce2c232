"""speedscope: the critical path in order of time, for https://www.speedscope.app.

The format is that of `file-format-schema.json` in the npm package speedscope. Its viewer fails above some tens of MB
(issues 340, 347 and 519 of the project), so that long paths are written as sums, the largest first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, BinaryIO

from tracealyze import _engine
from tracealyze.base import units
from tracealyze.base.program_names import file_and_line
from tracealyze.base.sanitize import shown
from tracealyze.export.stacks import Frames, Functions, Programs, frames_below, profile
from tracealyze.findings.basis import Basis

if TYPE_CHECKING:
    from tracealyze.trace.trace import Trace

SCHEMA_URL = "https://www.speedscope.app/file-format-schema.json"
MAX_SAMPLES = 200_000
"""Samples of all profiles. With 12 frames and 100 characters of new names per sample, they take up to 40 MB."""


def write(trace: Trace, to: BinaryIO) -> list[str]:
    """Write one profile per capture."""
    frames: dict[str, int] = {}
    profiles: list[dict[str, Any]] = []
    notes: list[str] = []
    functions = Functions(trace)
    numbers = range(len(trace.captures)) if trace.selection.capture is None else [trace.selection.capture]
    for number in numbers:
        one = trace.of_capture(number)
        unit, samples, said = _samples(one, MAX_SAMPLES // len(numbers))
        notes.extend(note for note in said if note not in notes)
        profiles.append(_profile(shown(trace.captures[number - numbers[0]].path), unit, samples, frames))
    document = {
        "$schema": SCHEMA_URL,
        "exporter": f"tracealyze {_engine.__version__}; {' '.join(notes)}",
        "name": shown(", ".join(each.path for each in trace.captures)),
        "activeProfileIndex": 0,
        "shared": {"frames": [_frame(name, functions) for name in frames]},
        "profiles": profiles,
    }
    to.write(json.dumps(document, separators=(",", ":")).encode())
    to.write(b"\n")
    return notes


def _frame(name: str, functions: Functions) -> dict[str, Any]:
    place = functions.place_of(name)
    if place is None or not (place.source or place.module):
        return {"name": name}
    file, line = file_and_line(place.source) if place.source else (place.module or "", 0)
    return {"name": name, "file": shown(file)} | ({"line": line} if line else {})


def _samples(trace: Trace, max_samples: int) -> tuple[str, Iterable[tuple[Frames, int]], list[str]]:
    """The unit, stacks with their values, and what they leave out."""
    found = profile(trace)
    notes = found.notes
    if found.basis is Basis.WALL:
        path = trace.critical_path
        programs, functions = Programs(trace), Functions(trace)
        if len(path) <= max_samples:
            rows = (((*programs.of(row), *frames_below(row, functions)), row["dur_ns"]) for row in path)
            return "nanoseconds", _joined(rows), [*notes, "Numbers of calls and process ids are not in the file."]
        notes.append("The critical path is too long for speedscope, so its stacks are sums and not in order of time.")
    sums, merged = found.merged(max_samples)
    if merged:
        notes.append(f"{units.counted(merged, 'small stack')} merged by class, with their sums.")
    if found.basis is Basis.COUNTS:
        return "none", [(stack, calls) for stack, (_, calls) in sums.items()], notes
    return "nanoseconds", [(stack, ns) for stack, (ns, _) in sums.items()], notes


def _joined(rows: Iterable[tuple[Frames, int]]) -> list[tuple[Frames, int]]:
    """Equal neighbors joined."""
    joined: list[tuple[Frames, int]] = []
    for stack, ns in rows:
        if joined and joined[-1][0] == stack:
            joined[-1] = (stack, joined[-1][1] + ns)
        else:
            joined.append((stack, ns))
    return joined


def _profile(name: str, unit: str, samples: Iterable[tuple[Frames, int]], frames: dict[str, int]) -> dict[str, Any]:
    stacks, weights = [], []
    for stack, value in samples:
        stacks.append([frames.setdefault(shown(each), len(frames)) for each in stack])
        weights.append(value)
    return {
        "type": "sampled",
        "name": name,
        "unit": unit,
        "startValue": 0,
        "endValue": sum(weights),
        "samples": stacks,
        "weights": weights,
    }
