"""Sentences about what scheduler events of the kernel show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.sanitize import shown

if TYPE_CHECKING:
    from tracealyze.model.capture_input.witness import PathTime, Witness

_MAX_NAMES = 3


def sentences(witness: Witness, tick_ns: int) -> Iterator[str]:
    """What the time outside of calls is, and how the time in calls is divided."""
    outside, inside = witness.outside, witness.inside
    if outside.ns:
        instead = _instead(witness, tick_ns)
        faults = f", {units.counted(outside.faults, 'page fault')}" if outside.faults else ""
        yield (
            f"Seen by the kernel: of {units.duration(outside.ns, tick_ns)} outside of syscalls on the critical path, "
            f"{_parts(outside, 'waiting for memory')}{faults}.{instead}"
        )
    if inside.ns:
        yield (
            f"Of {units.duration(inside.ns, tick_ns)} in syscalls on the critical path, {_parts(inside, 'blocked')}."
        )
    for each in witness.recordings:
        if each.lost:
            yield (
                f"{units.counted(each.lost, 'scheduler event')} were lost. What ended waits at these moments is "
                "inferred. Record with larger buffers: perf record -m 4M."
            )
        if 2 * each.fitting < each.compared:
            yield (
                f"Only {each.fitting} of {each.compared} starts and ends of tasks fit the scheduler events, so these "
                "may be of another run."
            )


def _parts(time: PathTime, blocked: str) -> str:
    parts = [
        (time.cpu_ns, "CPU"),
        (time.tracing_ns, "tracing"),
        (time.ready_ns, "waiting for a CPU"),
        (time.blocked_ns, blocked),
        (time.unknown_ns, "not recorded"),
    ]
    return ", ".join(f"{units.share(ns / time.ns)} {name}" for ns, name in parts if ns)


def _instead(witness: Witness, tick_ns: int) -> str:
    named = [
        f"{shown(name) or 'unnamed threads'} ({units.duration(ns, tick_ns)})"
        for name, ns in witness.ran_instead[:_MAX_NAMES]
        if ns >= max(witness.outside.ready_ns + witness.inside.ready_ns, 1) / 20
    ]
    return f" The CPU was used by {', '.join(named)} meanwhile." if named else ""
