"""Opening the captures that a command names, and checking that the selection fits them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tracealyze.base.errors import UnusableInput, WrongUsage, did_you_mean
from tracealyze.base.program_names import short
from tracealyze.commands._progress import progress
from tracealyze.export.conversion import EventStream
from tracealyze.model.capture_input import capture_files
from tracealyze.model.capture_input.temporary_files import TemporaryFiles
from tracealyze.model.capture_input.urls import local_names
from tracealyze.model.selection import Selection
from tracealyze.render import output
from tracealyze.render.capture_notes import name_of_capture, reach
from tracealyze.trace.trace import Trace, checked_format, read_files

_MAX_LISTED_PIDS = 12


def traces(
    named: Sequence[str], selection: Selection, input_format: str | None, sched: Sequence[str] = ()
) -> Iterator[Trace]:
    """Each capture as a trace of its own, read one after the other; several runs in one file are several traces."""
    named = named or _unnamed()
    temporary = TemporaryFiles()
    files = _files_of(local_names(named, temporary), input_format)
    if sched and len(files) > 1:
        raise WrongUsage("--sched belongs to one capture: name only that one.")
    for number, each in enumerate(files, start=1):
        trace = _read([each], selection, input_format, temporary, sched, alone=len(files) == 1)
        if number == len(files):
            capture_files.remember(named)
        yield from runs_of(trace)


def trace(named: Sequence[str], selection: Selection, input_format: str | None, sched: Sequence[str] = ()) -> Trace:
    """All captures as one trace."""
    named = named or _unnamed()
    temporary = TemporaryFiles()
    files = _files_of(local_names(named, temporary), input_format)
    found = _read(files, selection, input_format, temporary, sched)
    capture_files.remember(named)
    return found


def events(named: Sequence[str], input_format: str | None) -> EventStream:
    """The events of all captures, for a file of them: a large capture takes hardly more memory than a small one."""
    named = named or _unnamed()
    files = _files_of(local_names(named, temporary := TemporaryFiles()), input_format)
    found = EventStream(files, checked_format(input_format), progress(), temporary)
    capture_files.remember(named)
    return found


def _files_of(named: Sequence[str], input_format: str | None) -> list[list[str]]:
    skipped: list[str] = []
    files = capture_files.files_of(named, skipped if input_format is None else None)
    if skipped:
        output.note(f"Skipped, not captures: {', '.join(skipped)}")
    return files


def _unnamed() -> list[str]:
    if capture_files.stdin_has_input():
        return [capture_files.STDIN]
    last = capture_files.last()
    if not last:
        raise WrongUsage("No capture: name a file, or - for standard input.")
    output.note(f"Capture: {' '.join(last)} (last one used)")
    return last


def _read(
    files: Sequence[Sequence[str]],
    selection: Selection,
    input_format: str | None,
    temporary: TemporaryFiles,
    sched: Sequence[str] = (),
    alone: bool = True,
) -> Trace:
    everything = read_files(files, input_format, progress(), temporary, sched)
    selected = everything.with_selection(selection)
    _must_match(selected)
    if selection.start or selection.end:
        _must_overlap(selected, alone)
    if selection.where and not len(selected.events_of(limit=1)):
        output.note("No event matches --where.")
    return selected


def runs_of(trace: Trace) -> Iterator[Trace]:
    """The runs of a tracer that appended to one file, apart from those without the selected processes."""
    if len(trace.captures) == 1:
        yield trace
        return
    runs = [trace.of_capture(number) for number in range(len(trace.captures))]
    chosen = trace.selection
    is_restricted = chosen.pids or chosen.programs or chosen.root is not None or chosen.start or chosen.end
    yield from (run for run in runs if not is_restricted or run.totals["threads"])


def _must_match(trace: Trace) -> None:
    """A process or program that does not occur is a misspelt one, not an empty answer."""
    selection = trace.selection
    is_restricted = selection.pids or selection.programs or selection.root is not None
    is_rootless = selection.root is not None and all(window.reason == "no_process" for window in trace.windows)
    if not is_restricted or (trace.totals["threads"] and not is_rootless):
        return
    processes_only = replace(selection, start=None, end=None, where=None, syscalls=())
    if selection.where and trace.with_selection(processes_only).totals["threads"]:
        return
    everything = trace.select().processes
    if selection.programs and not is_rootless:
        known = sorted({short(name) for name in everything.column("program") if name})
        wanted = selection.programs[0]
        raise UnusableInput(f'no program "{wanted}" in the capture.{did_you_mean(wanted, known)}')
    pids = {row["pid"]: short(row["program"]) for row in everything if row["pid"] is not None}
    names = [f"{pid} {name}".strip() for pid, name in sorted(pids.items())]
    listed = ", ".join(names[:_MAX_LISTED_PIDS]) + (", …" if len(names) > _MAX_LISTED_PIDS else "")
    missing = selection.root if is_rootless or not selection.pids else selection.pids[0]
    raise UnusableInput(f"no process {missing} in the capture; it has {listed or 'no process ids'}.")


def _must_overlap(trace: Trace, alone: bool) -> None:
    """An empty time range is a mistake, not an empty answer; one of several captures may lie outside of it."""
    start, end = trace.selection.start, trace.selection.end
    in_range = trace.select(start=start, end=end)
    if any(window.wall_ns for window in trace.windows) or (
        len(in_range.events_of(limit=1)) and not _is_backwards(trace, start, end)
    ):
        return
    wanted = " ".join(f"{option} {text}" for option, text in (("--from", start), ("--to", end)) if text)
    reaches = "; ".join(filter(None, map(reach, trace.captures)))
    name = ", ".join(name_of_capture(each) for each in trace.captures)
    message = f"{name}: no events in {wanted}{f'; the capture runs {reaches}' if reaches else ''}."
    if alone:
        raise UnusableInput(message)
    output.note(message)


def _is_backwards(trace: Trace, start: str | None, end: str | None) -> bool:
    """Whether the range ends before it starts, even if a call spans both bounds."""
    if start is None or end is None:
        return False
    start_ns, end_ns = trace.select(start=start).window.start_ns, trace.select(end=end).window.end_ns
    return start_ns is not None and end_ns is not None and start_ns > end_ns
