"""Differences for people: the wall time and the causes, then each view with its largest changes first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.sanitize import shown
from tracealyze.compare.causes import Cause, Fate
from tracealyze.compare.diff import VIEWS, Change, Diff, Status, View, row
from tracealyze.model.time_names import class_name
from tracealyze.render.forms import Form
from tracealyze.render.listing import Column, Listing, strips, write_listing
from tracealyze.render.terminal import Terminal

if TYPE_CHECKING:
    from tracealyze.compare.run import Run

TITLES = {
    "classes": "Time by class",
    "processes": "Processes, matched by program and arguments",
    "calls": "Calls",
    "targets": "Targets",
}
_FATES: dict[Fate, str] = {"gone": "Gone", "new": "New", "both": "In both"}
_MIN_NAME_WIDTH = 24
_USER = f"({class_name('user')})"


def show(found: Diff, top: int, only: str | None) -> None:
    """Print the differences."""
    terminal = Terminal()
    terminal.line(*_heading("before", found.before))
    terminal.line(*_heading("after", found.after))
    if found.wall_ns:
        terminal.line(("wall    ", ""), (wall_change(*found.wall_ns), "bold"))
    elif found.has_table_times:
        terminal.line(("Counts and times are those of the tracers' tables.", ""))
    else:
        terminal.line(("Only counts are compared: at least one side has no wall clock.", ""))
    if only is None:
        _causes(terminal, found, top)
    for view in VIEWS:
        if only in (None, view.name):
            _section(terminal, view, found, top)


def _causes(terminal: Terminal, found: Diff, top: int) -> None:
    """The answer before the numbers: what went away, what came, and what stayed."""
    for fate, title in _FATES.items():
        causes = [each for each in found.causes if each.fate == fate]
        if causes:
            terminal.line(("", ""))
            terminal.line((title, "bold"))
        for cause in causes[:top]:
            terminal.paragraph(f"{_took(cause)}  {shown(cause.finding.diagnosis or cause.finding.message)}", indent=2)
        if len(causes) > top:
            terminal.line((f"  {units.counted(len(causes) - top, 'more cause')}: --top {len(causes)}", "dim"))


def _took(cause: Cause) -> str:
    sides = (cause.before_ns, cause.after_ns)
    return " → ".join(units.duration(ns) for ns in (sides if cause.fate == "both" else (max(sides),)))


def _heading(side: str, runs: Sequence[Run]) -> tuple[tuple[str, str], ...]:
    more = f"  and {len(runs) - 1} more (median of {len(runs)} runs)" if len(runs) > 1 else ""
    return (f"{side:<8}", ""), (shown(runs[0].path) + more, "")


def wall_change(before: int, after: int) -> str:
    """The wall times of both sides, and how many times as fast or as long the second one is."""
    times = f"{units.duration(before)} → {units.duration(after)}"
    if not before or not after:
        return times
    faster, factor = before > after, max(before, after) / min(before, after)
    return f"{times}, {factor:.1f} times as {'fast' if faster else 'long'}" if factor >= 1.05 else f"{times}, unchanged"


def _section(terminal: Terminal, view: View, found: Diff, top: int) -> None:
    changes = found.views[view.name]
    if not changes:
        return
    number = f"{top} of {units.count(len(changes))}, " if len(changes) > top else ""
    rest = f"  {number}the largest change first"
    terminal.line(("", ""))
    terminal.line((TITLES[view.name], "bold"), (rest, "dim"))
    terminal.table(strips(drawn(view, largest(changes, top), times_of(found))))


def largest(changes: Sequence[Change], top: int) -> list[Change]:
    """The most important changes, ordered by the first column that people see: the change of time."""
    return sorted(changes[:top], key=lambda change: -abs(change.path_ns))


def times_of(found: Diff) -> str:
    """The heading of the change of times; empty if only counts are compared."""
    if found.wall_ns is not None:
        return "path"
    return "time" if found.has_table_times else ""


def drawn(view: View, changes: Sequence[Change], times: str) -> Listing:
    """Changes as rows for people."""
    unit, shown_ns = units.durations([number for each in changes for number in _times(each)], units.US)
    rows = [
        {
            **dict(zip(_TIMES, map(shown_ns, _times(change)), strict=True)),
            "number": _pair(change.before.number, change.after.number),
            "from_to_calls": _pair(change.before.calls, change.after.calls),
            "from_to_bytes": _pair(change.before.bytes, change.after.bytes),
            "status": "" if change.status is Status.CHANGED else str(change.status),
            "what": _what(view, change),
        }
        for change in changes
    ]
    headings = (f"{times} ± {unit}", f"before {unit}", f"after {unit}")
    columns = [Column(name, heading, right=True) for name, heading in zip(_TIMES, headings, strict=True) if times]
    columns += [Column("number", "processes", right=True)] if view.name == "processes" else []
    columns += [
        Column("from_to_calls", "calls", right=True),
        Column("from_to_bytes", "bytes", drop_order=2, right=True),
        Column("status", ""),
        Column("what", "what", min_width=_MIN_NAME_WIDTH),
    ]
    return Listing(view.name, columns, rows)


_TIMES = ("change", "before", "after")


def _times(change: Change) -> tuple[int, int, int]:
    return change.path_ns, change.before.path_ns, change.after.path_ns


def _pair(before: int, after: int) -> str | None:
    if not before and not after:
        return None
    return f"{units.count(before)} → {units.count(after)}" if before != after else units.count(before)


def _what(view: View, change: Change) -> str:
    if view.name == "processes":
        program, argv = change.key
        return argv or program
    if view.name == "classes":
        return class_name(change.key[0])
    return " ".join(_USER if part == "(user)" else part for part in change.key if part)


def listing(view: View, found: Diff, top: int | None) -> Listing:
    """A view as rows for programs."""
    rows = [row(view, change) for change in found.views[view.name][:top]]
    names = list(rows[0]) if rows else ["status", *view.keys]
    return Listing(view.name, [Column(name, name) for name in names], rows)


def _listed_causes(causes: Sequence[Cause]) -> Listing:
    columns = [
        Column("status", ""),
        Column("before_ns", "before"),
        Column("after_ns", "after"),
        Column("text", "cause"),
    ]
    return Listing("causes", columns, [each.document() for each in causes])


def as_markdown(found: Diff, top: int, only: str | None) -> None:
    """Each view as a table."""
    from tracealyze.render import output

    if found.wall_ns:
        output.write(f"Wall time: {wall_change(*found.wall_ns)}\n")
    if only is None and found.causes:
        output.write("\n### Causes\n\n")
        write_listing(_listed_causes(found.causes[:top]), Form.MARKDOWN)
    for view in VIEWS:
        changes = found.views[view.name]
        if changes and only in (None, view.name):
            output.write(f"\n### {TITLES[view.name]}\n\n")
            write_listing(drawn(view, largest(changes, top), times_of(found)), Form.MARKDOWN)
