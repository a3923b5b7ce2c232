"""Lines of a capture that could not be used: reported by every command, and fatal with --strict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from tracealyze.base import units
from tracealyze.base.errors import GateFailed
from tracealyze.render import output
from tracealyze.render.capture_notes import losses_line, name_of_capture
from tracealyze.render.forms import Form

if TYPE_CHECKING:
    from tracealyze.model.capture_input.capture_info import Capture
    from tracealyze.trace.trace import Trace


class WithCaptures(Protocol):
    """What was read from captures."""

    @property
    def captures(self) -> Sequence[Capture]: ...


def report(trace: WithCaptures) -> None:
    """Write to standard error which lines could not be used."""
    for each in trace.captures:
        if each.losses:
            output.note(f"{name_of_capture(each)}: {losses_line(each)}")


def lost_lines(trace: WithCaptures) -> int:
    """Number of lines that could not be used."""
    return sum(loss.lines for each in trace.captures for loss in each.losses)


def note_if_summary_only(trace: Trace) -> bool:
    """Write to standard error that a capture has no events, if it consists of a tracer's summary table."""
    if trace.is_summary_only:
        output.note("Only a summary table (strace -c): it has counts of calls, shown by summarize and top-syscalls.")
    return trace.is_summary_only


def replaces_listing(trace: Trace, form: Form) -> bool:
    """Whether a note on standard error stands for an empty listing. A program that reads it gets the empty listing."""
    return note_if_summary_only(trace) and form not in (Form.JSON, Form.CSV)


def must_be_none(lost: int) -> None:
    """Raise `GateFailed` if any line could not be used."""
    if lost:
        raise GateFailed(f"{units.counted(lost, 'line')} could not be used (--strict).")
