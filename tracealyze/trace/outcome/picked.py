"""Lines that somebody picked out of a capture, with grep or by hand: they do not show how the run ended.

open("/etc/a.conf", …) = -1 ENOENT | stat("/etc/b", …) = -1 ENOENT | open("/opt/c", …) = -1 ENOENT      one error
openat("/lib/x.so") = 3 | openat("/etc/a.conf") = 3 | openat("/var/b") = -1 ENOENT                     one call
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.heuristics import MAX_PICKED_CALLS, MIN_PICKED_CALLS, MIN_UNIFORM_CALLS
from tracealyze.base.sanitize import shown
from tracealyze.model.capture_input.recapture import whole_command
from tracealyze.model.trace_tables import errors_of
from tracealyze.trace.outcome import known
from tracealyze.trace.outcome.failures import command, sentence
from tracealyze.trace.outcome.outcome import Outcome, Verdict

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.model.trace_tables import TraceTables
    from tracealyze.trace.outcome.processes import EndedProcess

_MAX_NAMED = 3
_MISSING = "ENOENT"


def picked(trace: TraceTables, processes: Sequence[EndedProcess]) -> Outcome | None:
    """What picked lines have in common, and what repeats in them; None if the lines may be all of a part of a run."""
    is_much = trace.totals["calls"] > MAX_PICKED_CALLS
    if is_much or any(each.has_ended or each.is_command or each.is_told for each in processes):
        return None
    rows = list(trace.calls(by=["syscall", "target"], quantiles=False))
    return _of_one_error(trace, processes, rows) or _of_one_call(trace, rows)


def _of_one_error(trace: TraceTables, processes: Sequence[EndedProcess], rows: Sequence[Row]) -> Outcome | None:
    """Calls of several kinds, on several targets or in several processes that all failed with one error."""
    errors = list(errors_of(trace))
    failed = sum(calls for _, _, calls in errors)
    names = {errno for _, errno, _ in errors}
    unfinished = trace.select(where='outcome == "open"').totals["calls"]
    is_whole = failed < MIN_UNIFORM_CALLS or failed + unfinished < trace.totals["calls"]
    if is_whole or len(names) != 1 or unfinished > 1 or len(rows) < MIN_UNIFORM_CALLS - len(processes[1:]):
        return None
    (errno,) = names
    is_search = errno == _MISSING
    # A call that fails on one thing after another may be all that there was.
    if len(errors) == 1 and len(processes) == 1 and not is_search and not known.opens(errors[0][0]):
        return None
    found = sorted((row for each in processes for row in each.last_failures), key=lambda row: row["last_line"])
    unusual = [row for row in found if not known.is_usual(row)]
    error = known.error(errno)
    is_refused = bool(error and error.weight > known.COMMON_WEIGHT and unusual)
    counts = [f"{units.count(calls)} {syscall}" for syscall, _, calls in sorted(errors, key=lambda each: -each[2])]
    which = f" ({', '.join(counts)})" if len(counts) > 1 else f" ({errors[0][0]})"
    or_search = ", or are a search" if is_search else ""
    details = [sentence(row) for row in sorted(unusual or found, key=lambda row: -row["calls"])[:_MAX_NAMED]]
    usual = sum(row["calls"] for row in found if known.is_usual(row))
    if not unusual and (because := {known.why_usual(row) for row in found} - {""}):
        details = [f"Healthy programs have such failures, too: {'; '.join(sorted(because))}."]
    if usual and unusual:
        details.append(f"{units.count(usual)} of them are as usual for healthy programs.")
    return Outcome(
        Verdict.FAILED if is_refused else Verdict.CANNOT_TELL,
        shown(f"the lines look picked{or_search}: all {units.counted(failed, 'call')} failed with {errno}{which}"),
        tuple(details),
        tuple(row["last_line"] for row in (unusual or found)[:_MAX_NAMED]),
        unseen="what came between them, and how it ended",
        next=(is_refused and command(unusual[-1], None)) or whole_command(trace.captures[0].format, attaches=True),
        inert=f"all {units.counted(failed, 'call')} failed with one error",
    )


def _of_one_call(trace: TraceTables, rows: Sequence[Row]) -> Outcome | None:
    """Calls of one kind on several files: what programs do with a file after they opened it was left out."""
    names = {row["syscall"] for row in rows}
    if len(names) != 1 or trace.totals["calls"] < MIN_PICKED_CALLS or not known.opens("".join(names)):
        return None
    files = len(rows)
    if files < MIN_UNIFORM_CALLS or not trace.totals["failed"] < trace.totals["calls"]:
        return None
    most = max(rows, key=lambda row: row["calls"])
    details = [f"Most often: {most['target']}, {units.counted(most['calls'], 'time')}."] if most["calls"] > 1 else []
    missing = [f"{row['target']}" for row in rows if row["failed"] == row["calls"]]
    if missing:
        more = f" and {units.count(len(missing) - _MAX_NAMED)} more" if len(missing) > _MAX_NAMED else ""
        details.append(f"It failed on {', '.join(missing[:_MAX_NAMED])}{more}.")
    (name,) = names
    return Outcome(
        Verdict.CANNOT_TELL,
        shown(
            f"the lines look picked: all {units.counted(trace.totals['calls'], 'call')} are {name}, on {files} files"
        ),
        tuple(map(shown, details)),
        unseen="what came between them, and how it ended",
        next=whole_command(trace.captures[0].format, attaches=True),
        inert="all calls are of one kind",
    )
