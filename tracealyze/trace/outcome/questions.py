"""Names that a process asked name servers for, without an answer or in vain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.sanitize import shown
from tracealyze.trace.outcome.outcome import Quoting

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.trace.outcome.processes import EndedProcess

_NO_SUCH_NAME = 3
"""RFC 1035, section 4.1.1: RCODE."""
_MIN_CALLS_AFTER = 2
"""Calls after a question: with fewer, the capture may end before the answer."""


def unanswered(process: EndedProcess) -> Iterator[str]:
    """What a process asked a name server last and got no answer to, or asked again, or what has no such name."""
    for row in process.last_questions[-1:]:
        if text := _told(row):
            yield Quoting(shown(f"{text}."))


def _told(row: Row) -> str:
    server = f" at {row['target']}" if _is_peer(row["target"]) else ""
    again = f" {units.counted(row['calls'], 'time')}" if row["calls"] > 1 else ""
    asks = f'It asks a name server{server} for "{row["name"]}"{again} (line {row["first_line"]})'
    if row["code"] == _NO_SUCH_NAME:
        return f"{asks}, which answers that there is no such name"
    if row["answered"]:
        return f"{asks} before an answer comes" if row["calls"] > 1 else ""
    return f"{asks}, and no answer comes in these lines" if row["calls_after"] >= _MIN_CALLS_AFTER else ""


def _is_peer(target: str | None) -> bool:
    return bool(target and ":" in target and not target.startswith("socket:"))
