"""Intervals of a window for people and programs: a row for each, then what changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from tracealyze.base import units
from tracealyze.base.heuristics import MIN_SHOWN_SHARE
from tracealyze.base.sanitize import shown
from tracealyze.model.time_names import name_of
from tracealyze.render import capture_notes, output
from tracealyze.render.forms import Form
from tracealyze.render.listing import Column, Listing, markdown_cell, strips, write_listing, write_markdown
from tracealyze.render.terminal import Terminal
from tracealyze.trace.changes import Change, changes, waits_by_itself
from tracealyze.trace.intervals import Interval, groups_of

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding
    from tracealyze.model.table import Row
    from tracealyze.trace.trace import Trace

SCHEMA = "tracealyze.intervals/1"
"""Name and version of the JSON document."""

_MAX_PARTS = 2
_MAX_LATENCIES = 2
_MAX_FINDINGS = 2
_MAX_CHANGES = 6


def write(trace: Trace, every_ns: int, found: Sequence[Interval], form: Form) -> None:
    """Write the intervals of a trace of one capture in a form for people, or as CSV."""
    if form is Form.CSV:
        write_listing(groups(trace, found), form)
    else:
        _show(trace, found, every_ns, form)


def document(trace: Trace, every_ns: int, found: Sequence[Interval]) -> dict[str, object]:
    """A capture of the JSON document."""
    return {
        "file": trace.captures[0].path,
        "every_ns": every_ns,
        "window": {"start_ns": trace.window.start_ns, "wall_ns": trace.window.wall_ns},
        "intervals": [each.document(trace.first_ns) for each in found],
        "changes": [each.document(found) for each in changes(trace, found)],
    }


def groups(trace: Trace, found: Sequence[Interval], top: int | None = None) -> Listing:
    """A row per interval and kind of call, with its time on the critical path; of each interval the `top` largest."""
    rows = []
    for interval in found:
        path_ns = interval.path_of_calls
        for row in islice(interval.calls, top):
            times = {"start_ns": interval.start_ns - trace.first_ns, "dur_ns": interval.dur_ns}
            on_path = {"exclusive_ns": path_ns[row["program"], row["syscall"]]}
            rows.append({**times, **dict(row), **on_path})
    columns = [
        Column("start_ns", "from"),
        Column("dur_ns", "length", drop_order=9),
        Column("program", "program", min_width=8),
        Column("syscall", "call"),
        Column("calls", "calls"),
        Column("failed", "failed"),
        Column("total_ns", "total"),
        Column("exclusive_ns", "on path"),
        Column("p50_ns", "p50", drop_order=2),
        Column("p99_ns", "p99", drop_order=1),
        Column("max_ns", "max", drop_order=3),
    ]
    return Listing("intervals", columns, rows, trace.dur_tick_ns, moments=frozenset(["start_ns"]))


def _show(trace: Trace, found: Sequence[Interval], every_ns: int, form: Form) -> None:
    listing = _rows(trace, found)
    told = sentences(trace, found, every_ns)
    title = (
        f"{units.duration(trace.window.wall_ns, trace.tick_ns)} in {units.counted(len(found), 'interval')} "
        f"of {units.duration(every_ns)}"
    )
    if form is Form.MARKDOWN:
        output.write(f"{markdown_cell(title)}\n\n")
        output.write("".join(f"- {markdown_cell(each)}\n" for each in told) + ("\n" if told else ""))
        write_markdown(listing, listing.filled)
        return
    terminal = Terminal()
    terminal.line((title, "bold"))
    for sentence in told:
        terminal.paragraph(sentence, indent=2)
    terminal.line(("", ""))
    terminal.table(strips(listing))


def sentences(trace: Trace, found: Sequence[Interval], every_ns: int) -> list[str]:
    """What changed when, the most important first."""
    when = capture_notes.clock_of(trace.captures[0], trace.first_ns, every_ns)
    told = changes(trace, found)
    lines = [_sentence(change, found, when, trace.dur_tick_ns) for change in told[:_MAX_CHANGES]]
    if len(told) > _MAX_CHANGES:
        lines.append(f"{units.counted(len(told) - _MAX_CHANGES, 'more change')}: --json has all.")
    return lines


def timed_groups(found: Sequence[Interval]) -> list[tuple[str | None, str | None]]:
    """Program and name of calls whose durations say something, the most important first."""
    return [group for group in groups_of(found) if group[1] and not waits_by_itself(group[1])]


def _sentence(change: Change, found: Sequence[Interval], when: Callable[[int], str], tick_ns: int) -> str:
    return change.text(when, [each.start_ns for each in found], [each.end_ns for each in found], tick_ns)


def _rows(trace: Trace, found: Sequence[Interval]) -> Listing:
    """A row per interval."""
    when = capture_notes.clock_of(trace.captures[0], trace.first_ns, found[0].dur_ns)
    timed = timed_groups(found)[:_MAX_LATENCIES]
    has_messages = not any(row["syscall"] for each in found for row in each.calls)
    names_program = len({row["program"] for each in found for row in each.path}) > 1
    columns = [
        Column("when", "from"),
        Column("count", "messages" if has_messages else "calls", right=True),
        Column("path", "critical path", min_width=20),
    ]
    for at, (program, syscall) in enumerate(timed):
        of = f" {shown(program)}" if names_program and program else ""
        columns.append(Column(f"latency {at}", f"{shown(syscall)}{of} p50/p99", drop_order=3 + at, right=True))
    columns.append(Column("found", "findings", min_width=12, drop_order=1))
    rows = []
    for interval in found:
        row: dict[str, Any] = {
            "when": when(interval.start_ns),
            "count": units.count(interval.total_calls),
            "path": _parts(interval, names_program),
            "found": _found(interval),
        }
        known = {(each["program"], each["syscall"]): each for each in interval.calls}
        for at, group in enumerate(timed):
            row[f"latency {at}"] = _latency(known.get(group), trace.dur_tick_ns)
        rows.append(row)
    return Listing("intervals", columns, rows, trace.tick_ns)


def _parts(interval: Interval, names_program: bool) -> str:
    """What the critical path of an interval mostly is: `postgres fsync 62%, sleep 30%`."""
    sums: dict[str, int] = {}
    for row in interval.path:
        name = row["tag"] or name_of({**row, "op": None, "target": None, "what": "silence"})
        of = f"{shown(row['program'])} " if names_program and row["program"] else ""
        sums[f"{of}{name}"] = sums.get(f"{of}{name}", 0) + row["exclusive_ns"]
    largest = sorted(sums.items(), key=lambda each: -each[1])[:_MAX_PARTS]
    shares = [(name, ns / max(interval.dur_ns, 1)) for name, ns in largest]
    return ", ".join(f"{name} {units.share(share)}" for name, share in shares if share >= MIN_SHOWN_SHARE)


def _latency(row: Row | None, tick_ns: int) -> str:
    if row is None or row["p50_ns"] is None:
        return ""
    return f"{units.duration(row['p50_ns'], tick_ns)} / {units.duration(row['p99_ns'], tick_ns)}"


def _found(interval: Interval) -> str:
    """New causes with +, those that are gone with -, and the number of others. Remarks on the capture are no causes."""
    new = [f"+{_name(each)}" for each in interval.new if each.share]
    gone = [f"-{_name(each)}" for each in interval.gone if each.share]
    named = [*new, *gone]
    more = f" +{len(named) - _MAX_FINDINGS} more" if len(named) > _MAX_FINDINGS else ""
    return ", ".join(named[:_MAX_FINDINGS]) + more


def _name(finding: Finding) -> str:
    return f"{finding.name}{f' {shown(finding.syscall)}' if finding.syscall else ''}"
