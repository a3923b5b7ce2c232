"""Connections that captures of both ends have in common, and how far apart the clocks of the two hosts are.

    client   send │···················· receive │          what is received was sent before:
    server        │ receive ········ send │                the clocks can differ by so much, and no more

Source of the method: F. Cristian, Probabilistic clock synchronization, Distributed Computing 3 (1989). Every exchange
bounds the difference from both sides; the middle of the tightest bounds is at most half their distance off."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracealyze._engine import SYSCALLS

if TYPE_CHECKING:
    from tracealyze.model.trace_tables import TraceTables

_READS = frozenset(each.name for each in SYSCALLS.values() if "reads" in each.families)
_WRITES = frozenset(each.name for each in SYSCALLS.values() if "writes" in each.families)
_NAMED = re.compile(r"(?P<kind>TCP|TCPv6):\[(?P<here>.+?)->(?P<there>.+?)\]")
_CONDITION = 'target ~ "^TCP(v6)?:.*->" and ret > 0'
_MAX_CALLS = 20_000
"""The first calls are enough: each connection needs only its first ones."""


@dataclass
class Ends:
    """Of one connection, in nanoseconds of the capture's clock: when it first sent, and when it had first received."""

    sent_ns: int | None = None
    received_ns: int | None = None


def connections_of(trace: TraceTables) -> Mapping[tuple[str, str], Ends]:
    """The connections of a trace by address of this end and of the other. Only strace -yy prints both."""
    calls = trace.select(syscalls=sorted(_READS | _WRITES), where=_CONDITION)
    found: dict[tuple[str, str], Ends] = {}
    rows = calls.events_of(("syscall", "target", "start_ns", "dur_ns"), limit=_MAX_CALLS)
    # The head of a table needs no other package.
    for row in rows.head(_MAX_CALLS):
        named = _NAMED.match(row["target"] or "")
        if named is None or row["start_ns"] is None:
            continue
        ends = found.setdefault((named["here"], named["there"]), Ends())
        if row["syscall"] in _WRITES and ends.sent_ns is None:
            ends.sent_ns = row["start_ns"]
        elif row["syscall"] in _READS and ends.received_ns is None:
            ends.received_ns = row["start_ns"] + (row["dur_ns"] or 0)
    return found


def difference_ns(
    near: Mapping[tuple[str, str], Ends], far: Mapping[tuple[str, str], Ends]
) -> tuple[int | None, int | None] | None:
    """What has to be added to the moments of `far`: at least and at most; None without a common connection."""
    least, most = [], []
    for (here, there), ends in near.items():
        other = far.get((there, here))
        if other is None:
            continue
        if ends.sent_ns is not None and other.received_ns is not None:
            least.append(ends.sent_ns - other.received_ns)
        if ends.received_ns is not None and other.sent_ns is not None:
            most.append(ends.received_ns - other.sent_ns)
    return (max(least, default=None), min(most, default=None)) if least or most else None
