"""The comparison of inferred wakers with what the kernel saw, and of estimated with measured tracing time."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import tracealyze

JUDGEMENTS = ("right", "wrong", "missed", "invented", "open")
MIN_WAIT_NS = 2_000_000
"""Shorter waits are not compared: a traced call takes 50 us, and some of them meet by chance."""


@dataclass
class Compared:
    """The waits of one recording, and where its time outside of calls went."""

    name: str
    is_held_out: bool
    waits: dict[str, int] = field(default_factory=dict)
    """Number of waits by judgement."""
    path_ns: dict[str, int] = field(default_factory=dict)
    """Their time on the critical path."""
    outside_ns: dict[str, int] = field(default_factory=dict)
    tracing_ns: int = 0
    """Measured on the critical path, in and outside of calls."""
    estimated_ns: int = 0
    """Estimated without scheduler events."""


def compared(name: str, file: Path, sched: Path | None = None, *, is_held_out: bool = False) -> Compared:
    """Compare one recording."""
    trace = tracealyze.read(file, sched=[] if sched is None else [str(sched)])
    found = Compared(name, is_held_out, dict.fromkeys(JUDGEMENTS, 0), dict.fromkeys(JUDGEMENTS, 0))
    for row in trace.verdicts(MIN_WAIT_NS):
        found.waits[row["judgement"]] += 1
        found.path_ns[row["judgement"]] += row["on_path_ns"]
    seen = trace.witness
    if seen is not None:
        times = seen.outside
        found.outside_ns = {
            "CPU": times.cpu_ns,
            "tracing": times.tracing_ns,
            "waiting for a CPU": times.ready_ns,
            "page faults": times.blocked_ns,
        }
        found.tracing_ns = seen.outside.tracing_ns + seen.inside.tracing_ns
    estimated = tracealyze.read(_lines(file)) if seen is not None else trace
    found.estimated_ns = sum(row["tracing_ns"] or 0 for row in estimated.table("captures"))
    return found


def _lines(file: Path) -> bytes:
    """The lines of a recording, without the events that it may contain."""
    if file.suffix != ".zst":
        return file.read_bytes()
    zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    content: bytes = zstd.decompress(file.read_bytes())
    return content


def table(all_of_them: Sequence[Compared]) -> Iterator[str]:
    """Lines of markdown."""
    columns = " | ".join(JUDGEMENTS)
    yield f"| program | {columns} | path: {columns} | tracing | estimate |"
    yield f"|---|{'---:|' * 12}"
    for each in all_of_them:
        yield _line(each.name + (" *" if each.is_held_out else ""), [each])
    for title, some in (
        ("**all**", all_of_them),
        ("**held out ***", [each for each in all_of_them if each.is_held_out]),
    ):
        if some:
            yield _line(title, some)
    yield ""
    yield _outside(all_of_them)


def _line(name: str, some: Sequence[Compared]) -> str:
    waits = [str(sum(each.waits[judgement] for each in some)) for judgement in JUDGEMENTS]
    path = [f"{sum(each.path_ns[judgement] for each in some) / 1e9:.3f}" for judgement in JUDGEMENTS]
    tracing, estimated = sum(each.tracing_ns for each in some), sum(each.estimated_ns for each in some)
    off = f"{(estimated / tracing - 1):+.0%}" if tracing else ""
    return "| " + " | ".join([name, *waits, *path, f"{tracing / 1e9:.3f}", off]) + " |"


def _outside(some: Sequence[Compared]) -> str:
    sums: dict[str, int] = {}
    for each in some:
        for name, ns in each.outside_ns.items():
            sums[name] = sums.get(name, 0) + ns
    all_ns = sum(sums.values())
    parts = (f"{ns / all_ns:.1%} {name}" for name, ns in sums.items())
    return (
        f"Time outside of syscalls on the critical paths ({all_ns / 1e9:.2f} s): {', '.join(parts)}." if all_ns else ""
    )
