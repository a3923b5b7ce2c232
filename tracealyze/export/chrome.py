"""chrome: the JSON of chrome://tracing, which Perfetto, speedscope and others read.

https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from tracealyze.base.sanitize import shown
from tracealyze.export.owners import FIRST_SYNTHETIC, Owner, owners, reuse_notes
from tracealyze.export.slices import Slices
from tracealyze.model.time_names import name_of

if TYPE_CHECKING:
    from tracealyze.trace.trace import Trace

_PATH_PID = FIRST_SYNTHETIC - 1
"""The process id of the critical path: no process of Linux has it, as ids are below 2^22."""
_OVERLAP = 1 << 23
"""Added to the id of a thread for its second track."""
_MAX_PATH = 200_000
_BATCH = 20_000
_MAX_TEXT = 500


def write(trace: Trace, to: BinaryIO) -> list[str]:
    """Write processes, threads, calls and the critical path. Times are microseconds since the first event."""
    slices = Slices(trace)
    threads = owners(trace)
    zero_ns = _zero_ns(trace)
    notes = [*slices.notes, "Findings and the class of each wait are not in the file."]
    notes += reuse_notes(threads)
    header = json.dumps({"displayTimeUnit": "ns", "otherData": {"notes": notes}}, ensure_ascii=True)[:-1]
    to.write(f'{header}, "traceEvents": [\n'.encode())
    lines: list[str] = []
    is_first = True
    for event in _events(trace, slices, threads, zero_ns):
        lines.append(json.dumps(event, ensure_ascii=True, separators=(",", ":")))
        if len(lines) >= _BATCH:
            to.write(("" if is_first else ",\n").encode() + ",\n".join(lines).encode())
            is_first, lines = False, []
    to.write(("" if is_first or not lines else ",\n").encode() + ",\n".join(lines).encode())
    to.write(b"\n]}\n")
    return notes


def _zero_ns(trace: Trace) -> int:
    """The start of the window, or the first birth."""
    births = [each for each in trace.tasks.column("birth_ns") if each is not None]
    return min([*births, *([trace.window.start_ns] if trace.window.start_ns is not None else [])], default=0)


def _events(trace: Trace, slices: Slices, threads: dict[int, Owner], zero_ns: int) -> Iterator[dict[str, Any]]:
    yield from _names(threads)
    overlapping = set()
    for each in slices:
        owner = threads[each.task]
        tid = owner.tid + _OVERLAP if each.is_overlapping else owner.tid
        if each.is_overlapping and tid not in overlapping:
            overlapping.add(tid)
            yield _meta("thread_name", owner.pid, tid, name=f"{owner.name} {owner.tid} (overlapping)")
        facts = {key: _text(value) for key, value in each.facts.items()}
        facts["detail"] = " ".join(f"{key}={value}" for key, value in facts.items())
        yield _slice(each.name, "call", each.start_ns - zero_ns, each.end_ns - each.start_ns, owner.pid, tid, facts)
    yield from _path(trace, threads, zero_ns)


def _names(threads: dict[int, Owner]) -> Iterator[dict[str, Any]]:
    for number, owner in enumerate(threads.values()):
        if not owner.is_thread:
            yield _meta("process_name", owner.pid, owner.tid, name=_text(owner.argv))
            yield _meta("process_sort_index", owner.pid, owner.tid, sort_index=number + 1)
        yield _meta("thread_name", owner.pid, owner.tid, name=_text(owner.name))


def _meta(kind: str, pid: int, tid: int, **facts: object) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": facts}


def _path(trace: Trace, threads: dict[int, Owner], zero_ns: int) -> Iterator[dict[str, Any]]:
    """The critical path as a process of its own, named after the processes on it."""
    if trace.window.reason is not None:
        return
    yield _meta("process_name", _PATH_PID, _PATH_PID, name="Critical path")
    yield _meta("process_sort_index", _PATH_PID, _PATH_PID, sort_index=0)
    for row in trace.path_from(_min_ns(trace)):
        owner = threads.get(row["task"])
        who = f"{owner.name} {row['pid']}" if owner else ""
        facts = {"class": row["class"], "process": who, "line": row["line"], "blocked_pid": row["waiter_pid"]}
        facts = {key: _text(value) for key, value in facts.items() if value is not None}
        facts["detail"] = " ".join(str(value) for value in (who, row["class"]) if value)
        start_ns = row["start_ns"] - zero_ns
        yield _slice(
            f"{who} {name_of(row)}".strip(), row["class"], start_ns, row["dur_ns"], _PATH_PID, _PATH_PID, facts
        )


def _min_ns(trace: Trace) -> int:
    """Shorter segments are merged, if there are very many."""
    return 0 if trace.totals["calls"] <= _MAX_PATH else trace.window.wall_ns // _MAX_PATH


def _slice(
    name: str, category: str, start_ns: int, dur_ns: int, pid: int, tid: int, facts: dict[str, Any]
) -> dict[str, Any]:
    return {
        "ph": "X",
        "name": _text(name),
        "cat": category,
        "ts": start_ns / 1000,
        "dur": dur_ns / 1000,
        "pid": pid,
        "tid": tid,
        "args": facts,
    }


def _text(value: Any) -> Any:
    """A text without control characters, and not too long. Numbers stay numbers."""
    if not isinstance(value, str):
        return value
    return shown(value if len(value) <= _MAX_TEXT else f"{value[:_MAX_TEXT]}…")
