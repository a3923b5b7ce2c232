"""Sentences about a capture: what was read, how far it can be trusted, and its window."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.heuristics import MIN_ROUGH_TICK_NS, MIN_TRACING_SHARE
from tracealyze.base.sanitize import shown
from tracealyze.model.capture_input.capture_info import counted_processes
from tracealyze.model.capture_input.recapture import (
    CHILDREN,
    DURATIONS,
    EVENTS,
    LOSSES,
    THREADS,
    TIMES,
    recapture,
    recapture_with_times,
)
from tracealyze.model.capture_input.recorded import recorded

if TYPE_CHECKING:
    from tracealyze.model.capture_input.capture_info import Capture, Loss, Window

_TIMES = {
    "exact": "Call durations are exact.",
    "upper-bound": "Call durations are upper bounds: each may include user time before or after the call.",
    "gap": "Times are gaps between log messages, attributed to the message before the gap.",
    "none": "There are no call durations.",
}

_TIMES_OF_TABLES = {
    "strace": "The times in the table are system CPU time, or wall time if strace ran with -w.",
    "truss-solaris": "The times in the table are system CPU time. Waiting is not included.",
    "truss-freebsd": "The times in the table are wall time, from entry to return.",
    "ltrace": "The times in the table are wall time; that of a function includes the functions that it calls.",
    "perf-trace": "The times in the table are wall time, from entry to return.",
    "dtruss": "The table contains counts only.",
}

_LEAP_DAY = 59

_NO_WALL = {
    "no_clock": "without timestamps there is no wall time to divide. Capture with {times}.",
    "coarse_clock": "the timestamps are whole seconds with many calls in each, so which call took how long is unknown. "
    "Capture with {times}.",
    "per_thread_clock": "the timestamps count the CPU time of each thread; they do not show wall time or the order of "
    "threads. Call durations are still valid.",
    "empty": "no event has a timestamp, so there is no wall time to divide.",
    "no_process": "the requested process is not in the capture.",
}


def name_of_capture(capture: Capture) -> str:
    """The path of a capture; for several files, the common prefix of their paths."""
    if capture.runs > 1:
        # In a log, each start of the machine is a run.
        run = "boot" if capture.dur_kind == "gap" else "run"
        return f"{_file_of(capture)}, {run} {capture.run} of {capture.runs} (from line {capture.first_line})"
    return _file_of(capture)


def _file_of(capture: Capture) -> str:
    if capture.path == "-":
        return "standard input"
    if len(capture.files) > 1:
        # The files are NAME.PID: take the common characters, not the common folder.
        return shown(os.path.commonprefix(capture.files).rstrip("0123456789")) + "*"  # noqa: RUF071
    return shown(capture.path)


def read_lines(capture: Capture, totals: Mapping[str, int]) -> Iterator[str]:
    """What was read, and the losses."""
    files = f" in {units.counted(len(capture.files), 'file')}" if len(capture.files) > 1 else ""
    facts = [f"{shown(capture.format)}{files}", units.counted(capture.lines, "line"), units.size(capture.bytes)]
    if totals.get("calls"):
        facts += [units.counted(totals["calls"], "call"), f"{units.count(totals['failed'])} failed"]
        facts.append(counted_processes(totals["processes"], [capture]))
        extra = totals["threads"] - totals["processes"]
        facts += [f"{units.counted(extra, 'more thread')}"] if extra > 0 else []
    yield ", ".join(facts) + "."
    if made := recorded(capture):
        yield made.sentence()
    yield losses_line(capture)
    if totals.get("calls"):
        yield verdict_line(capture)
    yield from caveats(capture)


def lacks_of(capture: Capture, window: Window) -> Iterator[str]:
    """What a capture cannot show, one sentence each, with the option that avoids it where one does."""
    if capture.general_lack:
        yield capture.general_lack
    if _is_table_only(capture) or window.reason is not None:
        yield from window_lines(window, capture)
    elif capture.dur_kind == "gap":
        yield f"There are no system calls. {_TIMES['gap']}"
    elif capture.dur_kind in ("none", "upper-bound"):
        yield f"{_TIMES[capture.dur_kind]} Capture with {recapture(capture.format, DURATIONS)}."
    if capture.has.get("events") and (missing := _missing_ids(capture)) and capture.dur_kind != "gap":
        yield f"{missing[0].upper()}{missing[1:]}. Capture with {recapture(capture.format, THREADS)}."
    if capture.losses:
        yield losses_line(capture)
    yield from caveats(capture, with_wrapping=False)


def verdict_line(capture: Capture) -> str:
    """In one line: missing ids, truncation, filters and tracing overhead. What is complete is not mentioned."""
    parts = [_missing_ids(capture), _incompleteness(capture)]
    parts.append(f"filtered (only {', '.join(capture.families)} calls)" if capture.filtered else "")
    text = "; ".join([*filter(None, parts), _overhead(capture)])
    return f"{text[0].upper()}{text[1:]}."


def _missing_ids(capture: Capture) -> str:
    if capture.has.get("tids"):
        return ""
    if capture.has.get("pids"):
        return "process ids, but no thread ids: threads cannot be distinguished"
    return "no thread ids"


def _incompleteness(capture: Capture) -> str:
    if capture.places_left_out:
        return "lines left out"
    return "capture truncated" if capture.cut else ""


def _overhead(capture: Capture) -> str:
    if capture.overhead_floor_ns is None:
        return "tracing overhead unknown"
    floor = units.duration(capture.overhead_floor_ns, units.US if capture.overhead_floor_ns >= units.US else 1)
    return f"tracing overhead at least {floor} per call"


def losses_line(capture: Capture) -> str:
    """The number of lines that could not be used, with reasons and remedies."""
    foreign = capture.accounting.get("foreign", 0)
    aside = f" {units.counted(foreign, 'line')} of other output ignored." if foreign else ""
    gone = "".join(f" {_events_lost(loss, capture)}" for loss in capture.losses if loss.events is not None)
    unused = [loss for loss in capture.losses if loss.events is None]
    if not unused:
        return f"All {units.counted(capture.lines, 'line')} parsed.{aside}{gone}"
    lost = sum(loss.lines for loss in unused)
    parts = [_unused_lines(loss, capture) + (f": {loss.remedy}" if loss.remedy else "") for loss in unused]
    lines = units.counted(capture.lines, "line")
    return f"{units.count(lost)} of {lines} could not be used: {'; '.join(parts)}.{aside}{gone}"


def _unused_lines(loss: Loss, capture: Capture) -> str:
    """How many lines of a kind, and where."""
    if not loss.formats:
        return f"{units.count(loss.lines)} {loss.kind.replace('_', ' ')} (first: line {loss.first_line})"
    return ", ".join(
        f"{units.count(lines)} of {shown(name)}{' with another prefix' if name == capture.format else ''} "
        + (f"(line {first})" if first == last else f"(lines {first} to {last})")
        for name, (lines, first, last) in loss.formats.items()
    )


_CAUSES = {
    "no-variable-space": "DTrace had no space for variables; trace fewer processes or calls",
    "unreadable-argument": "DTrace could not read an argument, so it printed no line for the call; "
    "only calls of other kinds are complete",
}


def _events_lost(loss: Loss, capture: Capture) -> str:
    """Events without a line, as reported by the tracer, with their causes."""
    lines = f"reported on {units.counted(loss.lines, 'line')}"
    too_slow = f"the tracer was too slow; use {recapture(capture.format, LOSSES)}"
    causes = loss.causes or {"full-buffers": loss.events or 0}
    why = "; ".join(
        f"{f'{units.count(events)}: ' if len(causes) > 1 else ''}{_CAUSES.get(cause, too_slow)}"
        for cause, events in causes.items()
    )
    events = units.counted(loss.events or 0, "event")
    return f"At least {events} lost ({lines}, first: line {loss.first_line}): {why}."


_NO_LINE = "The recording has no lines: no traced call began or returned while the tracer was attached."
_USED = ("call", "call_start", "call_end", "signal", "log", "summary_table", "process")
"""Kinds of lines that a report needs."""


def caveats(capture: Capture, *, with_wrapping: bool = True, stated: Collection[str] = ()) -> Iterator[str]:
    """Reasons not to trust some of the numbers."""
    if not capture.lines:
        yield _NO_LINE
        return
    yield from _without_calls(capture)
    yield from _wrapping_lines(capture, with_wrapping)
    yield from _edited_lines(capture)
    if capture.cut and "cut-capture" not in stated:
        yield "The capture is truncated: it ends within a line or a compressed block. Everything before was read."
    if capture.order_inferred:
        yield (
            "Timestamps are relative to the previous line across all files, so the order and the times of events are "
            "inferred; their sum is correct. Capture with -ttt instead of -r."
        )
    if capture.filtered and "narrow-filter" not in stated:
        command = recapture(capture.format, EVENTS)
        yield f"Some calls are missing; their time counts as outside syscalls. Capture with {command} to include them."
    if (capture.overhead_share or 0) >= MIN_TRACING_SHARE and "overhead-dominates" not in stated:
        yield "Tracing takes much of the time, so short calls look too long. Trace fewer calls (-e trace=…)."
    yield from _unseen_tasks(capture, stated)
    if capture.places_left_out:
        yield _left_out(capture)
    if capture.presumed_children:
        children = units.counted(capture.presumed_children, "child", "children")
        yield (
            f"{children} known to their creators by other ids (a pid namespace), matched by elimination (inferred); "
            "--decode-pids=pidns prints both ids."
        )
    if capture.backward_steps:
        yield f"{units.counted(capture.backward_steps, 'timestamp')} earlier than the previous one."


def _edited_lines(capture: Capture) -> Iterator[str]:
    """What people did to the lines."""
    if elisions := capture.accounting.get("elision", 0):
        marks = f"{units.counted(elisions, 'mark')} (first: line {capture.first_elision_line})"
        hidden = "" if capture.places_left_out else ", and gaps there hide calls"
        yield f"Lines were left out by hand at {marks}: counts and sums are too small{hidden}."
    if capture.is_newest_first:
        yield "The newest line comes first; read from the last line to the first."


def _unseen_tasks(capture: Capture, stated: Collection[str]) -> Iterator[str]:
    """Children without lines, and threads that lines do not distinguish."""
    if capture.unseen_children and "no-fork-following" not in stated:
        children = units.counted(capture.unseen_children, "child", "children")
        if capture.has_unfollowed_children:
            command = recapture(capture.format, CHILDREN)
            yield f"{children} created but not traced; capture with {command} to include them."
        else:
            namespace = ", or in another pid namespace (--decode-pids=pidns)" if capture.format == "strace" else ""
            yield f"{children} created but not visible: filtered{namespace}."
    if capture.mixed_calls or capture.mixes_threads:
        calls = units.counted(capture.mixed_calls, "call")
        verb = "overlaps" if capture.mixed_calls == 1 else "overlap"
        sign = f"{calls} {verb} another one of the same process" if capture.mixed_calls else "a process creates threads"
        yield (
            f"Lines name processes, not threads, and {sign}: threads are "
            "mixed, so times of these processes and what they wait for are uncertain. "
            f"Use {recapture(capture.format, THREADS)}."
        )


def _left_out(capture: Capture) -> str:
    places = units.counted(capture.places_left_out, "place")
    left_out = units.duration(capture.left_out_ns, capture.tick_ns)
    return (
        f"Lines are left out in {places}, {left_out} in all processes: printed intervals or marks show it. "
        "What happened there is unknown; on the critical path it is shown as lines left out, not as time of a program."
    )


_WRAPPERS = {
    "quotes": "quotation marks",
    "indent": "indentation",
    "html": "HTML escapes",
    "colours": "terminal escape sequences",
    "json": "JSON object",
    "cri": "timestamp and stream (container log)",
    "timestamps": "timestamp",
    "syslog": "timestamp and sender (syslog or journal)",
    "compose": "container name",
    "kubectl": "pod name",
    "numbers": "line number",
    "logfmt": "key=value pairs",
    "steps": "job, step and timestamp of a CI build",
    "prefix": "common prefix",
    "padding": "trailing blanks",
    "folds": "line breaks of a mail client, a terminal or a page",
}

_LOGGED_CLOCK = (
    "The trace has no timestamps of its own, so those of the log are used: when a line was logged, not when its call "
    "ended. Capture with {times} to get the latter."
)

_FOLDED = (
    "Long lines were wrapped by a terminal or mail client, so some results and durations are missing or attached to "
    "the wrong call. Capture to a file (-o) instead."
)


def _without_calls(capture: Capture) -> Iterator[str]:
    # Notices about sleeping calls are events; an exit alone is not evidence of the format.
    is_only_exit = bool(capture.accounting.get("exit"))
    if any(map(capture.accounting.get, _USED)) or (capture.has.get("events") and not is_only_exit):
        return
    if capture.format == "ltrace" and capture.accounting.get("notice"):
        yield (
            "Only functions of libraries were traced, or the format is not ltrace (--input-format). "
            "Capture system calls with ltrace -S."
        )
    else:
        yield f"No line is a system call. Is the format really {capture.format} (--input-format)?"


def _wrapping_lines(capture: Capture, with_wrapping: bool) -> Iterator[str]:
    """What was stripped from the lines, and the source of their timestamps."""
    if capture.wrappers and (with_wrapping or capture.sender):
        around = ", ".join(_WRAPPERS.get(name, name) for name in capture.wrappers)
        sender = f' Read only lines from "{shown(capture.sender)}"; ignored the rest.' if capture.sender else ""
        yield f"Stripped from each line: {around}.{sender}"
    if capture.is_logged_clock:
        yield _LOGGED_CLOCK.format(times=recapture(capture.format, TIMES))
    if capture.is_folded:
        yield _FOLDED


def time_line(capture: Capture) -> str:
    """The kind of durations, and the timestamp resolution."""
    kind = _TIMES.get(capture.dur_kind, capture.dur_kind)
    if _is_table_only(capture):
        return _TIMES_OF_TABLES.get(capture.format, "The times in the table are CPU time.")
    if not capture.lines:
        return _TIMES["none"]
    if capture.clock == "none":
        return kind
    # Exact durations need no explanation.
    kind = f"{kind} " if capture.dur_kind != "exact" else ""
    return f"{kind}Timestamp resolution: {units.tick(capture.tick_ns)}{_how_rough(capture)}."


def _how_rough(capture: Capture) -> str:
    """The effect of a coarse clock on durations."""
    if capture.tick_ns < MIN_ROUGH_TICK_NS:
        return ""
    is_finer = capture.dur_kind == "exact" and 0 < capture.dur_tick_ns < capture.tick_ns
    rough = "time on the critical path" if is_finer else "each duration"
    finer = f"; the resolution of call durations is {units.tick(capture.dur_tick_ns)}" if is_finer else ""
    return f", so {rough} is accurate to ±{units.tick(capture.tick_ns)} only{finer}"


def _times(capture: Capture) -> str:
    return recapture_with_times(capture.format, has_durations=bool(capture.has.get("durations")))


def _is_table_only(capture: Capture) -> bool:
    return bool(capture.has.get("summary_table")) and not capture.has.get("events")


def _time_of_run(capture: Capture) -> Iterator[str]:
    """What a table in CPU time leaves out: how long the run took, and how long it waited."""
    system_ns, user_ns, wall_ns = capture.run_ns
    if system_ns is None or user_ns is None or wall_ns is None:
        return
    waited_ns = max(0, wall_ns - system_ns - user_ns)
    wall, system, user, waited = (units.duration(ns, units.MS) for ns in (wall_ns, system_ns, user_ns, waited_ns))
    parts = f"{system} on a CPU in system calls, {user} in its own code, {waited} waiting or tracing"
    yield f"The run took {wall}: {parts}."


def window_lines(window: Window, capture: Capture) -> Iterator[str]:
    """The window, or why there is none."""
    if _is_table_only(capture):
        yield "This is the tracer's summary table: it has counts and sums, but no timestamps, processes or order."
        yield from _time_of_run(capture)
        yield f"Capture with {recapture(capture.format, TIMES)} to see where wall time went."
        return
    if not capture.lines:
        return
    if window.reason is not None or window.start_ns is None or window.end_ns is None:
        reason = _NO_WALL.get(window.reason or "", window.reason or "")
        yield f"No window: {reason.format(times=_times(capture))}"
        return
    wall = units.duration(window.wall_ns, capture.tick_ns)
    times = f"from {_when(window.start_ns, capture)} to {_when(window.end_ns, capture)}"
    yield f"Window: {wall}, {times}{_date(window.start_ns, capture)}{_root(window)}.{_precision(window, capture)}"
    if window.outlived:
        verb = "was" if window.outlived == 1 else "were"
        yield f"{units.counted(window.outlived, 'process', 'processes')} {verb} still running when it ended."
    yield from _window_remarks(window, capture)


def remarks(capture: Capture, window: Window, stated: Collection[str] = ()) -> Iterator[str]:
    """What changes how far the report can be trusted, and nothing about what is normal.

    `stated` are the names of findings, which need no remark with the same content."""
    if capture.losses:
        yield losses_line(capture)
    yield from caveats(capture, with_wrapping=False, stated=stated)
    if not capture.lines:
        return
    has_calls = any(map(capture.accounting.get, _USED)) and "no-durations" not in stated
    if capture.tick_ns >= MIN_ROUGH_TICK_NS or (has_calls and capture.dur_kind not in ("exact", "gap")):
        yield time_line(capture)
    if window.reason is not None or window.start_ns is None or _is_table_only(capture):
        yield from window_lines(window, capture)
        return
    if precision := _precision(window, capture).strip():
        yield precision.replace("Shares of it", "Shares of the window")
    yield from _window_remarks(window, capture)


def _window_remarks(window: Window, capture: Capture) -> Iterator[str]:
    """What lies outside of the window."""
    if window.cut_calls:
        calls = units.counted(window.cut_calls, "call")
        verb = "crosses" if window.cut_calls == 1 else "cross"
        outside = units.duration(window.outside_ns, capture.tick_ns)
        yield (
            f"{calls} {verb} the window boundary. Critical-path time is clipped to the window; call totals include "
            f"{outside} outside it, and process lifetimes are not clipped."
        )
    if window.left_out_ns:
        idle = units.duration(window.left_out_ns, capture.tick_ns)
        yield f"Left out: {idle} before the window, in which every task only waited."


def reach(capture: Capture) -> str:
    """`from 2.6581 to 14.0814`: the times of the first and the last line."""
    if capture.first_ns is None or capture.last_ns is None:
        return ""
    return f"from {_when(capture.first_ns, capture)} to {_when(capture.last_ns, capture)}"


def _precision(window: Window, capture: Capture) -> str:
    """The accuracy of shares, if the clock is coarse."""
    precision = units.precision(capture.tick_ns, window.wall_ns or 0)
    return f" Shares of it are accurate to ±{units.share(precision)}." if precision else ""


def _date(ns: int, capture: Capture) -> str:
    """Date and time for a clock that counts since 1970; empty for other clocks."""
    if capture.clock != "epoch":
        return ""
    from time import gmtime, strftime

    try:
        return strftime(" (%d %b %Y %H:%M:%S UTC)", gmtime(ns // units.S)).replace(" 1970", "")
    except (OverflowError, ValueError, OSError):
        return ""


def _root(window: Window) -> str:
    if window.root_pid is None and window.root_program is None:
        return ""
    named = f"pid {window.root_pid}" if window.root_pid is not None else "the traced process"
    program = f" {shown(window.root_program)}" if window.root_program else ""
    return f", traced back from the {'end' if window.root_ended else 'last event'} of {named}{program}"


def clock_of(capture: Capture, first_ns: int, step_ns: int) -> Callable[[int], str]:
    """Shows moments that are so far apart: the time of day if the capture has it, else the time since its start."""
    tick_ns = max(capture.tick_ns, units.S if step_ns >= units.S else 10 ** max(len(str(step_ns)) - 2, 0))
    if capture.clock in ("time-of-day", "since-new-year"):
        return lambda ns: f"{_day(ns, capture)}{_time_of_day(ns, replace(capture, tick_ns=tick_ns))}"
    if capture.clock == "epoch":
        return lambda ns: _time_of_day(ns, replace(capture, tick_ns=tick_ns))
    return lambda ns: units.offset(ns - first_ns, tick_ns)


def _when(ns: int, capture: Capture) -> str:
    if capture.clock not in ("time-of-day", "since-new-year"):
        return units.moment(ns, capture.tick_ns)
    return f"{_day(ns, capture)}{_time_of_day(ns, capture)}"


def _day(ns: int, capture: Capture) -> str:
    """`Mar 5 ` as in the log. Empty around the end of February, because the log does not contain the year."""
    day_ns = 24 * 3600 * units.S
    first, last = (capture.first_ns or 0) // day_ns, (capture.last_ns or 0) // day_ns
    if capture.clock != "since-new-year" or first <= _LEAP_DAY <= last:
        return ""
    from time import gmtime, strftime

    day = gmtime(ns % (365 * day_ns) // units.S)
    return f"{strftime('%b', day)} {day.tm_mday} "


def _time_of_day(ns: int, capture: Capture) -> str:
    minutes, _ = divmod(ns // units.S, 60)
    seconds = units.moment(ns % (60 * units.S), capture.tick_ns)
    return f"{minutes // 60 % 24:02}:{minutes % 60:02}:{'0' if ns % (60 * units.S) < 10 * units.S else ''}{seconds}"
