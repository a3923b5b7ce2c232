"""The answer of a report in a few sentences: the cause, the processes that were blocked on it, and the saving."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.heuristics import (
    MAX_EQUAL_COUNTS_SHARE,
    MAX_SAMPLED_CALLS,
    MIN_CAUSE_SHARE,
    MIN_HIDDEN_SHARE,
    MIN_LINK_SHARE,
    MIN_LOOP_CALLS,
    MIN_LOOP_SHARE,
    MIN_NAMED_CALLS_SHARE,
    MIN_ONLY_CALLS,
    MIN_OWN_CPU_NS,
    MIN_SAMPLED_PROCESSES,
    MIN_SERIES_MESSAGES,
    MIN_SERIES_SHARE,
    MIN_TRACING_SHARE,
)
from tracealyze.base.program_names import process_of
from tracealyze.base.sanitize import shown
from tracealyze.findings.basis import Basis
from tracealyze.findings.bounds import has_upper_bounds
from tracealyze.findings.finding import Severity
from tracealyze.findings.grouping import FindingGroup, about_captures, grouped, impact_ns, stands, that_doubt_times
from tracealyze.model.time_names import name_of
from tracealyze.trace.outcome import known

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding
    from tracealyze.model.table import Row
    from tracealyze.model.trace_tables import TraceTables

_MAX_SENTENCES = 3
_MAX_KINDS = 3
_MAX_LISTED = 6
_MAJORITY = 0.5


@dataclass(frozen=True)
class Sentence:
    """One sentence of the diagnosis."""

    text: str
    share: float | None = None
    """The share of the wall time that it is about; None if unknown."""
    finding: int | None = None
    """Number of the finding that it states, from 0; None if it states none."""


class OpenAtEnd(Sentence):
    """A sentence about the call in which the capture ends."""


def sentences(trace: TraceTables, findings: Sequence[Finding]) -> list[Sentence]:
    """One to three sentences: the causes by weight; without a cause, where the time went."""
    groups = grouped(findings)
    causes = [group for group in groups if _is_cause(trace, group)]
    is_explained = bool(_of_run(causes))
    said = list(_computed(trace, causes)) if is_explained else [_without_cause(trace, is_alone=not _of_run(groups))]
    if not causes:
        said += _open_at_end(trace)
    # That most of the time is tracing is said first, where no finding stands without it. Then come the causes.
    is_certain = any(stands(trace, group.first, group.impact_ns[1]) for group in groups)
    doubts = [] if is_certain else [group for group in groups if group.first.name in that_doubt_times()][:1]
    said = [*(_of_group(trace, group, findings) for group in doubts), *(each for each in said if each.text)]
    others = [group for group in causes or groups if group not in doubts]
    for group in others[: _MAX_SENTENCES - len(said)]:
        is_first = len(said) == len(doubts)
        said.append(_of_group(trace, group, findings))
        if is_first:
            said.extend(_blocked(trace, group.first, said[-1]))
    said.extend(_of_group(trace, group, findings) for group in groups if causes and group not in [*doubts, *causes])
    if causes and trace.is_mostly_table:
        said.append(_largest_of_table(trace, {group.first.syscall for group in causes}))
    return [each for each in said if each.text][:_MAX_SENTENCES]


def _of_run(groups: Sequence[FindingGroup]) -> list[FindingGroup]:
    """Those about the run instead of the capture."""
    return [group for group in groups if group.first.name not in about_captures()]


def saving_ns(trace: TraceTables, findings: Sequence[Finding]) -> tuple[int, int]:
    """Bounds of the time that all errors and warnings together could save.

    They are never more than the wall time, or than a replay without all of them saves."""
    by_capture: dict[int, list[Finding]] = {}
    for finding in findings:
        if finding.severity is not Severity.INFO and finding.basis is Basis.WALL:
            by_capture.setdefault(finding.capture, []).append(finding)
    low_ns = high_ns = 0
    for capture, members in by_capture.items():
        low, high = impact_ns(members)
        wall_ns = trace.wall_ns_of(capture)
        together_ns = next(filter(None, (each.together_ns for each in members)), None)
        if together_ns and high - together_ns[1] >= MIN_HIDDEN_SHARE * wall_ns:
            low, high = min(low, together_ns[0]), together_ns[1]
        low_ns += min(low, wall_ns)
        high_ns += min(high, wall_ns)
    return low_ns, high_ns


def _is_cause(trace: TraceTables, group: FindingGroup) -> bool:
    """Whether a finding explains a good part of the time or of the calls, or why its numbers cannot be trusted."""
    finding = group.first
    share = max(finding.share or 0.0, finding.busy_share or 0.0)
    if finding.confidence == "counted":
        return True
    if finding.basis is Basis.ELAPSED and finding.share is None:
        # A lower bound is all that is known of time.
        return True
    if finding.basis is Basis.COUNTS and not _has_durations(trace, finding.capture):
        # About calls, not about the capture: the numbers of calls are all there is to explain.
        return finding.severity is not Severity.INFO or bool(finding.syscall)
    if finding.basis is Basis.COUNTS:
        share = (finding.calls or 0) / max(trace.totals["calls"], 1)
    return finding.severity is not Severity.INFO or share >= MIN_CAUSE_SHARE


def _computed(trace: TraceTables, causes: Sequence[FindingGroup]) -> Iterator[Sentence]:
    """That a process used more CPU time outside its calls than all calls take, if findings are only about calls."""
    is_minor = all(group.first.severity is Severity.INFO for group in causes)
    if not trace.window.wall_ns and is_minor and (used := _of_own_cpu(trace)):
        yield used


def _has_durations(trace: TraceTables, number: int) -> bool:
    capture = trace.capture_of(number)
    return capture is not None and bool(capture.has.get("durations"))


def _of_group(trace: TraceTables, group: FindingGroup, findings: Sequence[Finding]) -> Sentence:
    first = group.first
    text = shown(f"{_with_tracing(trace, first)}{group.rest}")
    # Names of programs keep their case.
    text = shown(f"T{text[1:]}") if text.startswith("the ") else text
    shares = [finding.share for finding in group.members if finding.share is not None]
    return Sentence(text, min(sum(shares), 1.0) if shares else None, findings.index(first))


def _with_tracing(trace: TraceTables, finding: Finding) -> str:
    """What a finding says, and how much of its cost is tracing, if that explains why so little could be saved."""
    text, cost_ns = finding.diagnosis, (finding.share or 0) * trace.wall_ns_of(finding.capture)
    # An estimate above the cost is of calls off the critical path, too.
    is_part = MIN_TRACING_SHARE * cost_ns <= finding.tracing_ns <= cost_ns
    if finding.basis is not Basis.WALL or not finding.tracing_ns or not is_part:
        return text
    about = f"about {units.duration(finding.tracing_ns, trace.tick_ns)} of that is tracing"
    return f"{text.removesuffix('.')}; {about}."


def _blocked(trace: TraceTables, finding: Finding, cause: Sentence) -> Iterator[Sentence]:
    """The processes that were blocked on the one of the finding, if the chain of waits ends there."""
    chain: list[Row] = []
    for row in trace.longest_chain:
        chain.append(row)
        if (row["waits_for_ns"] or 0) < MIN_LINK_SHARE * max(trace.window.wall_ns, 1):
            break
    if len(chain) < 2 or finding.pid is None or chain[-1]["pid"] != finding.pid:
        return
    # Who idles beside the work of another process is not blocked on it.
    beside = [at for at, row in enumerate(chain[:-1], 1) if row["waits_for_how"] == "beside"]
    names = [shown(process_of(row)) for row in chain[max(beside, default=0) : -1]]
    if not names:
        return
    verb = "was" if len(names) == 1 else "were"
    yield Sentence(f"{_listed(names)} {verb} blocked on it.", cause.share, cause.finding)


def _listed(names: Sequence[str], most: int = 3) -> str:
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more processes"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _open_at_end(trace: TraceTables) -> Iterator[Sentence]:
    """The call in which the capture ends, after calls of this name that returned: no sign of a hang."""
    rows = [row for row in trace.table("open_calls") if row["killed_by"] is None]
    if len(rows) != 1 or rows[0]["kind"] != "kernel" or rows[0]["first"]:
        return
    row = rows[0]
    on = f" on {shown(row['target'])}" if row["target"] else ""
    call = f"{row['syscall']}{on}; calls of this name returned before"
    yield OpenAtEnd(f"When the capture ends, {shown(process_of(row))} is in {call}.")


def _without_cause(trace: TraceTables, *, is_alone: bool) -> Sentence:
    """Where most of the time went, or most of the calls, without a finding about it."""
    if not trace.window.wall_ns:
        return _of_counts(trace, is_alone=is_alone)
    if too_few := _of_too_few(trace):
        return too_few
    for row in trace.partition_by(["program", "class", "syscall", "op"], limit=1):
        if row["class"] == "gap":
            # What the log states or waits for says more than its longest part.
            return _of_silence(trace) if is_alone else Sentence("")
        share = row["exclusive_ns"] / trace.window.wall_ns
        outside = "between the traced calls" if trace.captures[0].filtered else "outside system calls"
        what = outside if row["class"] == "user" else f"in {name_of(row)}{_or_after(trace)}"
        where = f"{shown(what)}, in {shown(process_of({'program': row['program']}))}"
        most = "Most" if share > _MAJORITY else "The largest part"
        before = _before_gap(trace) if row["class"] == "user" and trace.captures[0].filtered else ""
        return Sentence(
            f"No cause stands out. {most} of the wall time, {units.share(share)}, is {where}{before}.", share
        )
    return Sentence("No cause stands out.")


def _before_gap(trace: TraceTables) -> str:
    """The call of a socket before the longest time between traced calls: a wait for its peer may be there."""
    gaps = trace.gaps_from(round(MIN_CAUSE_SHARE * trace.window.wall_ns))
    longest = max(gaps, key=lambda row: row["dur_ns"] or 0, default=None)
    if longest is None or not longest["before"] or ":" not in longest["before"]:
        return ""
    return f"; {units.duration(longest['dur_ns'], trace.tick_ns)} of it follow {shown(longest['before'])}"


def _of_too_few(trace: TraceTables) -> Sentence | None:
    """That an excerpt of a whole system, or a sample of its calls, has hardly more lines than processes.

    What a process did between two calls is only known if it has two in a row."""
    processes, calls = len(trace.processes), trace.totals["calls"]
    if processes < MIN_SAMPLED_PROCESSES or calls > MAX_SAMPLED_CALLS * processes:
        return None
    many = f"{units.counted(calls, 'call')} of {units.counted(processes, 'process', 'processes')}"
    return Sentence(f"No cause stands out: {many} are too few to say where the time went.")


def _or_after(trace: TraceTables) -> str:
    """Where durations last until the next call, that the program may have worked in them."""
    if not has_upper_bounds(trace.captures[0]):
        return ""
    return " or before the next call" if trace.captures[0].stamp == "start" else " or in the program before it"


def _of_silence(trace: TraceTables) -> Sentence:
    """What a log without a finding repeats at even intervals; otherwise its longest silence."""
    most = max(trace.stages, key=lambda row: row["share"] or 0.0, default=None)
    if most and (most["share"] or 0.0) > MIN_SERIES_SHARE and most["messages"] >= MIN_SERIES_MESSAGES:
        mean = units.duration(most["exclusive_ns"] // most["messages"], trace.tick_ns)
        message = shown(" ".join(most["message"].split()))
        series = f'{units.count(most["messages"])} messages like "{message}" follow one another'
        return Sentence(f"{series}, one every {mean}: {units.share(most['share'])} of the wall time.", most["share"])
    longest = next(iter(trace.partition_by(["class", "target"], limit=1)))
    share = longest["exclusive_ns"] / trace.window.wall_ns
    part = f"The longest part, {units.share(share)}, is {shown(name_of(longest))}"
    return Sentence(f"No silence stands out. {part}.", share)


def _of_counts(trace: TraceTables, *, is_alone: bool) -> Sentence:
    calls = trace.totals["calls"]
    if not calls or trace.is_mostly_table:
        return _of_tracers_table(trace)
    if used := _of_own_cpu(trace):
        return used
    if only := _of_only_call(trace):
        return only
    rows = list(trace.calls(by=["program", "syscall"], quantiles=False))
    total_ns = sum(row["total_ns"] or 0 for row in rows)
    largest = max(rows, key=lambda row: ((row["total_ns"] or 0) if total_ns else 0, row["calls"]))
    program = shown(process_of({"program": largest["program"]}))
    if total_ns:
        share = largest["total_ns"] / total_ns
        what = f"{units.share(share)} of the time in calls is {shown(largest['syscall'])} in {program}"
        if known.awaits_child(largest["syscall"]):
            what += f": it waits {units.duration(largest['total_ns'], trace.dur_tick_ns)} for a child"
        return Sentence(f"No cause stands out: {what}.", share)
    # Next to the signal that killed the process, for example, a few calls of each kind are not worth a word.
    if not is_alone and largest["calls"] <= MIN_NAMED_CALLS_SHARE * calls:
        return Sentence("")
    if largest["calls"] == calls:
        all_calls = f"All {units.count(calls)} calls are {shown(largest['syscall'])} in {program}."
        return Sentence(all_calls if calls > 1 else "")
    if largest["calls"] <= _MAJORITY * calls:
        return Sentence(f"{_of_kinds(trace, calls)}; {_turns(trace, calls) or _nothing(trace)}.")
    number = f"{units.count(largest['calls'])} of {units.counted(calls, 'call')}"
    others = sorted({shown(row["syscall"]) for row in rows} - {shown(largest["syscall"])})
    rest = f", the others {_listed(others)}" if 0 < len(others) <= _MAX_KINDS else ""
    most = f"{number} are {shown(largest['syscall'])} in {program}{rest}"
    return Sentence(f"{most}; {_turns(trace, calls) or _nothing(trace)}.")


def _turns(trace: TraceTables, calls: int) -> str:
    """The turns of a loop that are most of an excerpt, although too few to tell more of it; empty if there are none."""
    for row in trace.table("last_cycles"):
        made = row["turns"] * row["period"]
        if row["turns"] > 1 and row["period"] > 1 and made > _MAJORITY * calls:
            empty = ", in which a read returns 0" if row["empty"] else ""
            return f"the last {made} are {row['turns']} turns of the same {row['period']} calls{empty}"
    return ""


def _nothing(trace: TraceTables) -> str:
    """What was looked for without success. A failure that healthy programs do not have is told elsewhere."""
    fails = any(not row["recovered"] and not known.is_usual(row) for row in trace.table("last_failures"))
    return f"{'no loop' if fails else 'no loop and no failing call'} stands out"


def _of_kinds(trace: TraceTables, calls: int) -> str:
    """The most frequent calls: `Of 14 calls, most are read (5), openat (3) and close (3)`."""
    rows = sorted(trace.calls(by=["syscall"], quantiles=False), key=lambda row: -row["calls"])
    if len(rows) == calls <= _MAX_LISTED:
        return f"The {units.counted(calls, 'call')} are {_listed([shown(row['syscall']) for row in rows], _MAX_LISTED)}"
    kinds = [f"{shown(row['syscall'])} ({units.count(row['calls'])})" for row in rows[:_MAX_KINDS]]
    whole = (
        f"The {units.counted(calls, 'call')} are"
        if len(kinds) == len(rows)
        else f"Of {units.counted(calls, 'call')}, most are"
    )
    return f"{whole} {_listed(kinds)}"


def _of_only_call(trace: TraceTables) -> Sentence | None:
    """The times of the only kind of call that was traced: they are the answer."""
    rows = list(trace.calls(by=["syscall"], quantiles=False))
    if len(rows) != 1 or rows[0]["calls"] < MIN_ONLY_CALLS or not rows[0]["total_ns"]:
        return None
    total, longest = (units.duration(rows[0][key], trace.dur_tick_ns) for key in ("total_ns", "max_ns"))
    calls = units.counted(rows[0]["calls"], "call")
    return Sentence(f"Only {shown(rows[0]['syscall'])} was traced: {calls} take {total}, up to {longest} each.")


def _of_own_cpu(trace: TraceTables) -> Sentence | None:
    """The process with most CPU time outside its calls, if that exceeds the time in all calls of the capture."""
    # Without their durations, or if only one kind of call was traced, the CPU time may be that of other calls.
    if not any(each.has.get("durations") for each in trace.captures) or len(trace.calls(by=["syscall"])) < 2:
        return None
    most = max(trace.processes, key=lambda row: row["own_cpu_ns"] or 0, default=None)
    in_calls_ns = sum(trace.processes.column("in_call_ns"))
    if most is None or (most["own_cpu_ns"] or 0) <= max(in_calls_ns, MIN_OWN_CPU_NS):
        return None
    tick_ns = trace.dur_tick_ns or trace.tick_ns
    own, longest, in_calls = (
        units.duration(ns or 0, tick_ns) for ns in (most["own_cpu_ns"], most["max_own_cpu_ns"], in_calls_ns)
    )
    where = f", {longest} of it before line {most['max_own_cpu_line']}" if most["max_own_cpu_line"] else ""
    process = shown(process_of(most))
    return Sentence(f"{process} uses {own} of CPU outside system calls{where}; all calls take {in_calls}.")


def _of_tracers_table(trace: TraceTables) -> Sentence:
    """The call with most of the time in a table that the tracer printed, or else with most calls."""
    only = trace.selection.capture
    rows = [row for row in trace.summary_rows if only in (None, row["capture"])]
    if not rows:
        return Sentence("")
    calls = sum(row["calls"] for row in rows)
    total_ns = sum(row["total_ns"] or 0 for row in rows)
    largest = max(rows, key=lambda row: (row["total_ns"] or 0, row["calls"]))
    if together := _of_equal_counts(rows, calls):
        return together
    number = f"{units.count(largest['calls'])} of {units.counted(calls, 'call')}"
    share = f" and {units.share((largest['total_ns'] or 0) / total_ns)} of the time" if total_ns else ""
    share += ", which is waiting" if share and known.is_wait(largest["syscall"]) else ""
    # sigsuspend(2) has no other end.
    if largest["failed"] == largest["calls"] and largest["syscall"].endswith("sigsuspend"):
        share += "; it fails each time, as usual: it waits for a signal, and ends with EINTR"
    elif largest["failed"] >= _MAJORITY * largest["calls"]:
        share += f"; {units.count(largest['failed'])} of these calls fail"
    if not total_ns and any(row["total_ns"] is not None for row in rows):
        return Sentence(
            f"No call has any time in the tracer's own table: the {units.counted(calls, 'call')} used no CPU time of "
            "the system, and what they waited is not in it."
        )
    return Sentence(f"In the tracer's own table, {shown(largest['syscall'])} has {number}{share}.")


def _largest_of_table(trace: TraceTables, named: Collection[str | None]) -> Sentence:
    """The call with most of the time in the tracer's table, if no finding names it; empty if it has less than half."""
    only = trace.selection.capture
    rows = [row for row in trace.summary_rows if only in (None, row["capture"])]
    total_ns = sum(row["total_ns"] or 0 for row in rows)
    largest = max(rows, key=lambda row: row["total_ns"] or 0, default=None)
    if largest is None or largest["syscall"] in named or (largest["total_ns"] or 0) <= _MAJORITY * total_ns:
        return Sentence("")
    waits = known.is_wait(largest["syscall"]) or known.is_lock(largest["syscall"])
    share = units.share((largest["total_ns"] or 0) / total_ns)
    times = units.counted(largest["calls"], "call")
    which = (
        ": threads wait there for others"
        if known.is_lock(largest["syscall"])
        else ", which is waiting"
        if waits
        else ""
    )
    return Sentence(f"{shown(largest['syscall'])} has {share} of the time in the table, in {times}{which}.")


def _of_equal_counts(rows: Sequence[Row], calls: int) -> Sentence | None:
    """Several calls with nearly the same number, which are most of a table: a loop makes them in turn."""
    most = max(row["calls"] for row in rows)
    equal = [row for row in rows if row["calls"] >= most * (1 - MAX_EQUAL_COUNTS_SHARE)]
    equal.sort(key=lambda row: -row["calls"])
    share = sum(row["calls"] for row in equal) / max(calls, 1)
    if len(equal) < 2 or most < MIN_LOOP_CALLS or share < MIN_LOOP_SHARE:
        return None
    names = [f"{shown(row['syscall'])} ({units.count(row['calls'])})" for row in equal]
    return Sentence(
        f"In the tracer's own table, {_listed(names)} have nearly the same number of calls, {units.share(share)} of "
        f"{units.counted(calls, 'call')}: a loop makes them in turn."
    )


def saving_of(low_ns: int, high_ns: int, wall_ns: int, tick_ns: int) -> str:
    """`saves 3 s to 5 s`, or with the wall time also its share; empty if nothing could be saved."""
    if not high_ns:
        return ""

    def part(ns: int) -> str:
        share = f" ({units.share(min(ns / wall_ns, 1.0))})" if wall_ns else ""
        return f"{units.duration(ns, tick_ns)}{share}"

    verb = "could save" if wall_ns else "saves"
    if low_ns >= high_ns:
        return f"{verb} {part(high_ns)}"
    return f"{verb} {part(low_ns)} to {part(high_ns)}" if low_ns else f"{verb} up to {part(high_ns)}"
