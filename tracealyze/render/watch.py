"""The screen of a trace that is still being written, and the same as lines and as JSON.

app.strace  18:20:05  50,123 calls/s ▁▂▅█   last 60 s
Critical path                                  what the last minute was spent on
Open calls                                     what waits now, the oldest first
Findings                                       what the rules found in the last minute
q report and end ...                           keys
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tracealyze.base import units
from tracealyze.base.heuristics import MIN_SHOWN_ON_SCREEN, MIN_SHOWN_SHARE, MIN_SILENCE_OF_TRACE_NS
from tracealyze.base.sanitize import shown
from tracealyze.model.time_names import CLASSES
from tracealyze.render.terminal import TextLine, cells
from tracealyze.render.text import Symbols
from tracealyze.trace.live.last_minute import OpenCall, PathPart, Seen, View

SCHEMA = "tracealyze.watch/1"
"""Name and version of the JSON objects."""

_OF_LINES = ("lines", "files")
_RATES = "▁▂▃▄▅▆▇█"
_MAX_RATES = 20
_BAR_WIDTH = 10
_PARTS_OF_LINE = 3
_SHARE_OF_PATH = 0.4
"""Of the lines between head and keys. Open calls have as much as they need of the rest."""

KEYS = (
    ("q", "report and end"),
    ("Q", "end"),
    ("space", "pause"),
    ("g", "group"),
    ("+ -", "interval"),
    ("h", "help"),
)
HELP = (
    "Critical path  what the last minute was spent on; it sums to the time covered",
    "Open calls     calls that have not returned, the oldest first, and who could",
    "               end them; tasks that have nothing to do are only counted",
    "Findings       of the last minute; looked for every 10 s, or less often",
    "",
    "q              end, and print the report of the whole trace",
    "Q              end",
    "space          keep the screen as it is; nothing of the trace is lost",
    "g              path by program and call, by program, or by kind of time",
    "+ -            make the screen anew half as often, twice as often",
    "h              show this, or hide it",
)


@dataclass(frozen=True)
class Group:
    """What a row of the critical path is about."""

    name: str
    of: Callable[[PathPart], str]


GROUPS = (
    Group("program and call", lambda part: f"{part.program} {_what(part)}".strip()),
    Group("program", lambda part: part.program or _what(part)),
    Group("kind", lambda part: part.tag or CLASSES.get(part.class_name, part.class_name)),
)


@dataclass(frozen=True)
class State:
    """What the user chose."""

    source: str
    interval_ns: int
    group: int = 0
    is_paused: bool = False
    has_help: bool = False

    def next_group(self) -> State:
        """The same with the next grouping of the path."""
        return replace(self, group=(self.group + 1) % len(GROUPS))


def screen(view: View | None, state: State, size: tuple[int, int], drawn: Symbols) -> list[TextLine]:
    """The lines of a screen of this width and height."""
    width, height = size
    lines = _head(view, state, drawn)
    left = height - len(lines) - 1
    if state.has_help:
        lines += [((each, ""),) for each in HELP[:left]]
    elif view is not None:
        lines += _body(view, state, left, drawn)
    lines += [()] * (height - len(lines) - 1)
    return [_cut(line, width, drawn) for line in (*lines[: height - 1], _keys())]


def _head(view: View | None, state: State, drawn: Symbols) -> list[TextLine]:
    if view is None:
        return [((state.source, "bold"), ("  waiting for the first lines", "")), ()]
    rate = f"{units.count(round(view.rates[-1]))} calls/s"
    covered = f"{view.covered_ns // units.S} s" if view.covered_ns >= units.S else units.duration(view.covered_ns)
    paused = "  paused" if state.is_paused else ""
    head: TextLine = (
        (state.source, "bold"),
        (f"  {clock(view, view.now_ns)}  {rate} ", ""),
        (_rates(view.rates, drawn), "cyan"),
        (f"  last {covered}", "dim"),
        (paused, "bold yellow"),
    )
    return [head, ((_silence(view), "yellow"),)]


def _silence(view: View) -> str:
    if view.silent_ns < MIN_SILENCE_OF_TRACE_NS:
        return ""
    waiting = [call for call in view.open_calls if not call.is_idle]
    text = f"No line for {_age(view.silent_ns)}"
    if waiting:
        return f"{text}: {units.counted(len(waiting), 'call')} open."
    return f"{text}: {'all tasks are idle.' if view.open_calls else 'no call is open.'}"


def _body(view: View, state: State, height: int, drawn: Symbols) -> list[TextLine]:
    """Critical path, open calls and findings, in so many lines."""
    group = GROUPS[state.group]
    sums: Counter[str] = Counter()
    for part, ns in view.path.items():
        sums[group.of(part)] += ns
    path = [(name, ns) for name, ns in sums.most_common() if ns >= MIN_SHOWN_ON_SCREEN * view.covered_ns]
    waiting = [call for call in view.open_calls if not call.is_idle]
    for_path, for_calls, for_findings = _heights(height, len(path), len(waiting), len(view.findings))
    lines: list[TextLine] = [(("Critical path", "bold"), (f"  by {group.name}", "dim"))]
    lines += [_path_row(name, ns / max(view.covered_ns, 1), drawn) for name, ns in path[:for_path]]
    idle = len(view.open_calls) - len(waiting)
    more = len(waiting) - for_calls
    told = [f"{units.count(more)} more"] * (more > 0) + [f"{units.count(idle)} idle"] * (idle > 0)
    lines.append((("Open calls", "bold"), (f"  {', '.join(told)}" if told else "", "dim")))
    lines += [_call_row(call) for call in waiting[:for_calls]]
    lines.append((("Findings", "bold"), ("" if view.findings else "  none in the last minute", "dim")))
    lines += [_finding_row(seen, view) for seen in view.findings[:for_findings]]
    return lines[:height]


def _heights(height: int, path: int, calls: int, findings: int) -> tuple[int, int, int]:
    """How many rows each part gets, without the headings."""
    left = max(height - 3, 0)
    for_path = min(path, max(round(left * _SHARE_OF_PATH), 1))
    for_findings = min(findings, max((left - for_path) // 2, 1))
    for_calls = min(calls, left - for_path - for_findings)
    for_path = min(path, left - for_findings - for_calls)
    return for_path, for_calls, min(findings, left - for_path - for_calls)


def _path_row(name: str, share: float, drawn: Symbols) -> TextLine:
    bar = drawn.bar(share, _BAR_WIDTH)
    return ((f"{units.share(share):>6} ", ""), (f"{bar:<{_BAR_WIDTH}} ", "cyan"), (name, ""))


def _call_row(call: OpenCall) -> TextLine:
    who = f"{call.thread if call.thread is not None else call.pid or ''} {call.program}".strip()
    return (
        (f"{_age(call.age_ns):>8} ", "bold yellow"),
        (f"{who}  ", ""),
        (" ".join(filter(None, (call.syscall, call.op))), "bold"),
        (f" {call.target}" if call.target else "", ""),
        (_ender(call), "dim"),
    )


def _ender(call: OpenCall) -> str:
    if call.ender_pid is None:
        return ", a client waits" if call.is_asked else ""
    who = f"{call.ender_pid} {call.ender_program}" if call.ender_program else str(call.ender_pid)
    return f", held by {who}" if call.ender == "holder" else f", {call.ender} {who}"


def _finding_row(seen: Seen, view: View) -> TextLine:
    finding = seen.finding
    when = "new" if seen.is_new else f"until {clock(view, seen.last_ns)}"
    style = "bold red" if seen.is_new else ""
    return ((f"{when:>8} ", style), (f"{finding.name}: ", "bold"), (finding.diagnosis or finding.message, ""))


def _what(part: PathPart) -> str:
    return part.tag or part.syscall or CLASSES.get(part.class_name, part.class_name)


def _age(ns: int | None) -> str:
    """At most a digit after the point: the last digit of a growing time is not read."""
    if ns is None:
        return "?"
    if ns < units.S:
        return units.duration(ns)
    minutes, seconds = divmod(ns // units.S, 60)
    return f"{minutes} min {seconds} s" if minutes else f"{ns / units.S:.1f} s"


def clock(view: View, ns: int) -> str:
    """A moment of the capture's clock: the time of day, if that is what it shows."""
    if view.clock in ("time-of-day", "since-new-year", "epoch"):
        seconds = ns // units.S
        return f"{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{units.moment(ns, units.S // 10)} s"


def _rates(rates: Sequence[float], drawn: Symbols) -> str:
    """The rates of the last minute as a line of blocks."""
    if drawn.micro != "µ" or len(rates) <= 1:
        return ""
    step = -(-len(rates) // _MAX_RATES)
    means = [sum(part) / len(part) for part in (rates[at : at + step] for at in range(0, len(rates), step))]
    largest = max(means) or 1.0
    return "".join(_RATES[min(int(mean / largest * len(_RATES)), len(_RATES) - 1)] for mean in means)


def _keys() -> TextLine:
    return tuple(part for key, what in KEYS for part in ((key, "bold"), (f" {what}   ", "dim")))


def _cut(line: TextLine, width: int, drawn: Symbols) -> TextLine:
    """A line that fits. Here, texts of the trace become harmless."""
    left, parts = width, []
    for text, style in line:
        safe: str = shown(drawn.plain(text))
        if cells(safe) > left:
            safe = _shortened(safe, left, drawn)
        parts.append((safe, style))
        left -= cells(safe)
        if left <= 0:
            break
    return tuple(parts)


def _shortened(text: str, width: int, drawn: Symbols) -> str:
    while text and cells(text) + cells(drawn.ellipsis) > width:
        text = text[:-1]
    return f"{text}{drawn.ellipsis}" if width >= cells(drawn.ellipsis) else ""


def line_of(view: View) -> str:
    """The newest slice in a line, for output that is no terminal."""
    sums: Counter[str] = Counter()
    for part, ns in view.newest_path.items():
        sums[GROUPS[0].of(part)] += ns
    length_ns = max(sum(sums.values()), 1)
    path = [
        f"{name} {units.share(ns / length_ns)}"
        for name, ns in sums.most_common(_PARTS_OF_LINE)
        if ns / length_ns >= MIN_SHOWN_SHARE
    ]
    parts = [
        f"{clock(view, view.now_ns)}  {units.count(round(view.rates[-1]))} calls/s",
        ", ".join(path),
        _silence(view),
    ]
    oldest = next((call for call in view.open_calls if not call.is_idle), None)
    if oldest is not None and (oldest.age_ns or 0) >= units.S:
        parts.append("".join(text for text, _ in _call_row(oldest)).strip())
    parts += [f"new: {seen.finding.name}" for seen in view.findings if seen.is_new]
    return shown("; ".join(filter(None, parts)))


def document(view: View) -> dict[str, Any]:
    """The newest slice as a JSON object."""
    return {
        "schema": SCHEMA,
        "start_ns": view.start_ns,
        "end_ns": view.now_ns,
        "silent_ns": view.silent_ns,
        "calls": view.calls,
        "path": [
            {
                "program": part.program,
                "class": part.class_name,
                "tag": part.tag,
                "syscall": part.syscall,
                "exclusive_ns": ns,
            }
            for part, ns in sorted(view.newest_path.items(), key=lambda item: -item[1])
        ],
        "open_calls": [
            {
                "pid": call.pid,
                "thread": call.thread,
                "program": call.program,
                "syscall": call.syscall,
                "op": call.op,
                "target": call.target,
                "age_ns": call.age_ns,
                "kind": call.kind,
                "idle": call.is_idle,
                "asked": call.is_asked,
                "ender": call.ender,
                "ender_pid": call.ender_pid,
                "ender_program": call.ender_program,
            }
            for call in view.open_calls
        ],
        "findings": [
            _without_lines(seen.finding.document())
            | {"first_ns": seen.first_ns, "last_ns": seen.last_ns, "new": seen.is_new}
            for seen in view.findings
        ],
    }


def _without_lines(finding: dict[str, Any]) -> dict[str, Any]:
    """Without the numbers of lines, which count from the start of the part that was searched."""
    return {name: value for name, value in finding.items() if name not in _OF_LINES}
