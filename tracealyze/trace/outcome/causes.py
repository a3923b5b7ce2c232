"""Why a process failed: the process, the message and the failed call that explain it.

A process often passes on the failure of a child: `child process exited with exit code 1`. Then the child has the cause:
the one among the last that failed whose own failure explains more than that of the process itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracealyze.trace.outcome import known
from tracealyze.trace.outcome.failures import weighed_failure
from tracealyze.trace.outcome.messages import Message, last_message

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.model.trace_tables import TraceTables
    from tracealyze.trace.outcome.processes import EndedProcess

_MAX_CHILDREN = 3
"""Of the children that failed, those that are looked at: earlier ones were survived."""


@dataclass(frozen=True)
class Cause:
    """What explains a failure."""

    culprit: EndedProcess
    message: Message | None
    failed: Row | None
    weight: float
    """How much the failed call explains."""


def cause_of(
    trace: TraceTables, process: EndedProcess, processes: Sequence[EndedProcess], said: Message | None
) -> Cause:
    """The cause of the failure of a process, in it or in a child whose failure it passes on."""
    own = _in(trace, process, said or last_message(process))
    children = [_in(trace, each, last_message(each)) for each in failed_children(process, processes)]
    if said or not children:
        return own
    strongest = max(children, key=lambda cause: cause.weight)
    if strongest.weight > own.weight:
        return strongest
    if own.message and own.message.is_failure:
        return own
    code = process.exit_code
    same = [each for each in children if each.message and each.culprit.exit_code == code]
    told = [each for each in children if each.message and each.message.is_failure]
    return next(iter(reversed(same or told)), own)


def elsewhere(trace: TraceTables, cause: Cause) -> Row | None:
    """A resource that ran out, or a peer that refused, in a process that exited well; None if the cause is known."""
    if cause.failed:
        return None
    rows = [row for row in trace.table("error_counts") if not row["last_succeeded"]]
    named = [row for row in rows if (error := known.errors().get(row["errno"])) and error.always]
    lasting = [row for row in named if not known.is_usual({**row, "op": ""})]
    return {**lasting[-1], "op": ""} if lasting else None


def _in(trace: TraceTables, process: EndedProcess, message: Message | None) -> Cause:
    weight, failed = weighed_failure(process, message, is_filtered=bool(trace.captures[0].filtered))
    return Cause(process, message, failed, weight)


def failed_children(process: EndedProcess, processes: Sequence[EndedProcess]) -> list[EndedProcess]:
    """The last children that failed before a process ended, the latest one last."""
    end = process.ending["last_line"]
    others = [each for each in processes if each is not process and not each.ending["root"]]
    failed = [each for each in others if each.exit_code and each.ending["last_line"] <= end]
    return sorted(failed, key=lambda each: each.ending["last_line"])[-_MAX_CHILDREN:]
