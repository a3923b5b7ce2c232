"""The verdict of a run, from the ends of its processes and from its findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tracealyze.base.heuristics import MIN_CYCLE_SHARE, MIN_ERROR_IMPACT_NS, MIN_PEER_SHARE
from tracealyze.base.sanitize import shown
from tracealyze.findings.basis import Basis
from tracealyze.findings.finding import Severity
from tracealyze.findings.grouping import about_captures, that_mean
from tracealyze.trace.outcome import (
    crashes,
    failed_runs,
    fine_runs,
    hangs,
    interrupted,
    known,
    logs,
    picked,
    spins,
)
from tracealyze.trace.outcome.outcome import Outcome, Verdict
from tracealyze.trace.outcome.processes import ended_processes

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding
    from tracealyze.model.trace_tables import TraceTables
    from tracealyze.trace.outcome.processes import EndedProcess

_STOPPED = "stopped-at-end"


def outcome_of(trace: TraceTables, findings: Sequence[Finding]) -> Outcome:
    """How the run of a trace went."""
    if not trace.totals["calls"]:
        processes = ended_processes(trace)
        crash = crashes.crash(trace, processes) or crashes.filtered(processes)
        ended = crash or failed_runs.failure(trace, processes)
        found = (
            ended
            or fine_runs.without_calls(trace)
            or fine_runs.of_functions(trace)
            or spins.in_table(trace)
            or _hang_of(trace, findings)
        )
        return found or _of_log(trace, _of_table(findings), findings)
    processes = ended_processes(trace)
    if found := _crash(trace, processes) or fine_runs.loading(trace, processes) or _hang(trace, processes, findings):
        return found
    judged = _of_findings(findings)
    if judged.verdict is not Verdict.SLOW and (found := _of_lines(trace, processes, findings)):
        return found
    failure = failed_runs.failure(trace, processes)
    if failure and (_costs_most(findings) or (judged.verdict is Verdict.SLOW and _goes_on(processes, findings))):
        return replace(judged, details=(failure.sentence, *failure.details[:1]))
    if failure:
        return failure
    if judged.verdict is Verdict.SLOW:
        return replace(judged, details=tuple(failed_runs.rejections(processes)))
    if judged.verdict is Verdict.BUSY:
        return judged
    if _stays_ready(trace, findings):
        return Outcome(Verdict.BUSY, "", lines=findings[0].lines[:4], next=hangs.command(findings[0].pid))
    if _waits_for_peers(trace, findings):
        return Outcome(Verdict.SLOW, "", lines=findings[0].lines[:4])
    return _unless_exhausted(fine_runs.ending(trace, processes), processes, findings)


def _unless_exhausted(outcome: Outcome, processes: Sequence[EndedProcess], findings: Sequence[Finding]) -> Outcome:
    """That a process which now waits for work could not do some of it, because a resource had run out."""
    lasts = [each for each in findings if each.name in that_mean("exhausted")]
    if outcome.verdict is not Verdict.FINE or not lasts or any(each.has_ended for each in processes):
        return outcome
    first = lasts[0]
    text = first.diagnosis[:1].lower() + first.diagnosis[1:] if first.diagnosis.startswith("The ") else first.diagnosis
    return Outcome(
        Verdict.FAILED,
        shown(text.rstrip(".")),
        ("It goes on, and waits for work when the capture ends.",),
        first.lines[:4],
        next=f"ls /proc/{first.pid or 'PID'}/fd | wc -l; ulimit -n" if "descriptors" in text else "df -h",
        inert="a resource ran out",
    )


def _of_lines(trace: TraceTables, processes: Sequence[EndedProcess], findings: Sequence[Finding]) -> Outcome | None:
    """What the lines show where no time does: a spin, a call that signals interrupt, lines that somebody picked."""
    is_busy = _of_findings(findings).verdict is Verdict.BUSY
    # The finding names the descriptor that stays ready.
    is_ready = _stays_ready(trace, findings) and _registers(processes)
    if found := (None if is_ready else spins.in_cycle(processes)) or spins.looking(trace, processes):
        return found
    if found := spins.yielding(trace, processes):
        return found
    if is_busy:
        return None
    return interrupted.interrupted(trace, processes) or picked.picked(trace, processes)


def _registers(processes: Sequence[EndedProcess]) -> bool:
    """Whether a turn also changes which events it waits for: then the finding says more than the names of the calls."""
    return any(row["registers"] for process in processes for row in process.last_cycles)


def _stays_ready(trace: TraceTables, findings: Sequence[Finding]) -> bool:
    """Whether there is little else than a wait that returns at once, because nobody takes what it reports."""
    for first in findings[:1]:
        lines = [line for line in first.lines if line]
        spanned = max(lines) - min(lines) + 1 if lines else 0
        return first.name in that_mean("ready") and spanned >= MIN_CYCLE_SHARE * trace.captures[0].lines
    return False


def _waits_for_peers(trace: TraceTables, findings: Sequence[Finding]) -> bool:
    """Whether what leads is a wait for a peer that explains the run, although no stamp or duration measures it."""
    for first in findings[:1]:
        ns = first.impact_ns[1] if first.impact_ns else 0
        share = ns / trace.window.wall_ns if trace.window.wall_ns else 1.0
        return first.name in that_mean("peer") and ns >= MIN_ERROR_IMPACT_NS and share >= MIN_PEER_SHARE
    return False


def _crash(trace: TraceTables, processes: Sequence[EndedProcess]) -> Outcome | None:
    crash = crashes.crash(trace, processes) or crashes.filtered(processes)
    return crash or crashes.caught(trace, processes) or crashes.gone(processes)


def _hang(trace: TraceTables, processes: Sequence[EndedProcess], findings: Sequence[Finding]) -> Outcome | None:
    spinning = {each.pid for each in findings if each.name in that_mean("spin") and each.severity is not Severity.INFO}
    # Where one thread spins, the others wait for what it does not do.
    spinning |= {each.pid for each in processes if spins.in_cycle([each])}
    still = [each for each in processes if each.pid not in spinning]
    if found := hangs.hang(trace, still):
        return found
    by_chance = bool(trace.captures[0].has.get("summary_table")) or hangs.ends_by_chance(processes, findings)
    return None if by_chance else _hang_of(trace, findings)


def _next(finding: Finding) -> str:
    pid = "PID" if finding.pid is None else str(finding.pid)
    if finding.name == _STOPPED:
        return f"kill -CONT {pid}"
    if known.awaits_child(finding.syscall):
        return hangs.children_of(finding.pid)
    # Who holds the lock of a file, and in which function of the kernel a call stands, is not in the process.
    if finding.syscall and finding.syscall.startswith("flock"):
        return f"lslocks; ls -l /proc/{pid}/fd"
    if finding.syscall and known.looks_up(finding.syscall):
        return f"cat /proc/{pid}/stack; grep -E ' (nfs|cifs|fuse)' /proc/mounts"
    return hangs.command(finding.pid)


def _hang_of(trace: TraceTables, findings: Sequence[Finding]) -> Outcome | None:
    """The hang that the first finding is about; None if it is about none."""
    for first in findings[:1]:
        if first.name in that_mean("open call") and (found := fine_runs.next_child(trace, first.pid)):
            return found
        if _is_cut_before_return(trace, first):
            return None
        if first.name in that_mean("open call") and first.severity is not Severity.INFO:
            return Outcome(Verdict.HUNG, "", lines=first.lines[:4], next=_next(first))
    return None


def _is_cut_before_return(trace: TraceTables, finding: Finding) -> bool:
    """Whether a text may end between the two records of a call that seldom waits: kdump prints them apart."""
    syscall = finding.syscall or ""
    waits = known.is_wait(syscall) or known.awaits_child(syscall) or known.is_lock(syscall) or known.reads(syscall)
    return trace.captures[0].format == "kdump" and not waits


def _of_findings(findings: Sequence[Finding]) -> Outcome:
    """What the findings alone say."""
    about_run = [
        each for each in findings if each.name not in that_mean("open call") and each.name not in about_captures()
    ]
    serious = [each for each in about_run if each.severity is not Severity.INFO]
    for each in serious:
        if each.impact_ns is not None and each.basis is not Basis.COUNTS:
            return Outcome(Verdict.SLOW, "", lines=each.lines[:4])
    # A wait that is known to be long leads: many calls next to it are not what the run is about.
    if serious and not (about_run and about_run[0].known_ns):
        return Outcome(Verdict.BUSY, "", lines=serious[0].lines[:4])
    return Outcome(Verdict.CANNOT_TELL, "")


def _of_table(findings: Sequence[Finding]) -> Outcome:
    """What the findings say of a capture without calls. A tracer's table has counts, and CPU time instead of delays."""
    judged = _of_findings(findings)
    counts = any(each.name in that_mean("counts") and each.severity is not Severity.INFO for each in findings[:1])
    return replace(judged, verdict=Verdict.BUSY) if counts else judged


def _is_long(findings: Sequence[Finding]) -> bool:
    """Whether a finding is about so much time that a failure next to it may be its consequence."""
    return any(each.impact_ns and each.impact_ns[1] >= MIN_ERROR_IMPACT_NS for each in findings)


def _of_log(trace: TraceTables, judged: Outcome, findings: Sequence[Finding]) -> Outcome:
    """What the findings say, unless a message reports a crash or a hang, or a failure where nothing is slow."""
    reported = logs.failure(trace)
    leads = reported is None or (
        reported.verdict is Verdict.FAILED
        and _is_long(findings)
        and not (logs.explains_delays(trace) or logs.ends_failed(trace))
    )
    if judged.verdict is Verdict.SLOW and leads:
        is_stated = reported is None or set(reported.lines) & set(judged.lines)
        return judged if is_stated else replace(judged, remark=logs.remark(trace))
    if reported is not None:
        return reported
    if judged.verdict is Verdict.CANNOT_TELL and (done := logs.of_steps(trace)):
        return done
    if judged.verdict is not Verdict.CANNOT_TELL:
        return judged
    around = failed_runs.said_around_table(trace) if trace.is_summary_only else ""
    details = tuple(filter(None, (around, logs.remark(trace), logs.suspension(trace), logs.flood(trace))))
    return replace(judged, details=details) if details else judged


def _goes_on(processes: Sequence[EndedProcess], findings: Sequence[Finding]) -> bool:
    """Whether the process that retries a failing call does not end: then its last failure is one of many."""
    for first in findings[:1]:
        retries = first.name in that_mean("peer") & that_mean("spin")
        return retries and not any(each.has_ended for each in processes if each.pid == first.pid)
    return False


def _costs_most(findings: Sequence[Finding]) -> bool:
    """Whether a finding explains so much time that it matters more than how the run ended."""
    return any(each.severity is Severity.ERROR and each.impact_ns is not None for each in findings)
