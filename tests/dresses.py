"""One incident in every dress: what a tracer with other options, another tracer or a person with scissors would show.

A dress is made from the text of a capture by pure functions. Each takes information away, or puts between the lines
what has nothing to do with them; none adds to what the capture shows.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import renderings
import renderings_of_entries

_STAMP = re.compile(r"^((?:\[pid +\d+\] |\d+ +)?)(\d{9,10})\.(\d{3,9}) ", re.MULTILINE)
_DURATION = re.compile(r" <\d+\.\d+>$", re.MULTILINE)
_PID = re.compile(r"^(?:\[pid +(\d+)\] |(\d+) +)(?=\S)")
_S_NS = 1_000_000_000
_SHIFT_S = 1_000_000
_OTHER_PIDS = 4_000_000
_OUTPUT = (
    "Processing item 12 of 40 ...",
    "  42%",
    "ready",
    "2 files copied",
    "Loading modules: core, net, ui",
    "",
    "total 48",
)
"""What programs print while they are traced, between the lines of a tracer that writes to the terminal."""
_OUTPUT_STEP = 5

CLOCKS = ("ttt", "tt", "t", "r", "none")
FORMATS = (
    "strace",
    "solaris-truss",
    "freebsd-truss",
    "dtruss-a",
    "dtruss-d",
    "dtruss-e",
    "dtruss-s",
    "kdump",
    "perf-trace",
)
CUTS = ("whole", "10", "30", "100", "first-half", "last-half")
OUTPUTS = ("none", "between")
REDACTIONS = ("none", "redacted")


@dataclass(frozen=True)
class Dress:
    """How an incident is shown."""

    format: str = "strace"
    clock: str = "ttt"
    durations: bool = True
    cut: str = "whole"
    output: str = "none"
    redacted: bool = False

    def __str__(self) -> str:
        """`strace,-tt,without-T,10-lines`."""
        parts = [self.format, f"-{self.clock}" if self.clock != "none" else "no-clock"]
        parts += [] if self.durations else ["without-T"]
        parts += [] if self.cut == "whole" else [self.cut]
        parts += ["output"] if self.output != "none" else []
        return ",".join([*parts, *(["redacted"] if self.redacted else [])])


def without_clock(text: str) -> str:
    """Without timestamps."""
    return _STAMP.sub(r"\1", text)


def time_of_day(text: str, digits: int = 6) -> str:
    """As `-tt` prints the time of the day; with no digits, as `-t`."""

    def stamp(found: re.Match[str]) -> str:
        second = int(found[2]) % 86_400
        fraction = f".{found[3]:0<6.6}" if digits else ""
        return f"{found[1]}{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}{fraction} "

    return _STAMP.sub(stamp, text)


def relative(text: str) -> str:
    """As `-r` prints the time since the line before."""
    last_ns: int | None = None

    def stamp(found: re.Match[str]) -> str:
        nonlocal last_ns
        at_ns = int(found[2]) * _S_NS + int(f"{found[3]:0<9.9}")
        since_us = max(0, at_ns - (at_ns if last_ns is None else last_ns)) // 1000
        last_ns = at_ns
        return f"{found[1]}{since_us // 1_000_000:6}.{since_us % 1_000_000:06} "

    return _STAMP.sub(stamp, text)


def without_durations(text: str) -> str:
    """As captured without `-T`."""
    return _DURATION.sub("", text)


_CLOCKED: Mapping[str, Callable[[str], str]] = {
    "ttt": lambda text: text,
    "tt": time_of_day,
    "t": lambda text: time_of_day(text, 0),
    "r": relative,
    "none": without_clock,
}


def cut(text: str, how: str, line: int) -> str:
    """So many lines around a line, or half of the lines."""
    lines = text.splitlines(keepends=True)
    if how == "first-half":
        kept = lines[: (len(lines) + 1) // 2]
    elif how == "last-half":
        kept = lines[len(lines) // 2 :]
    elif how == "whole":
        kept = lines
    else:
        number = int(how)
        start = min(max(0, line - 1 - number // 2), max(0, len(lines) - number))
        kept = lines[start : start + number]
    return "".join(kept)


def with_output(text: str) -> str:
    """With lines that the traced program prints."""
    output = itertools.cycle(_OUTPUT)
    lines = text.splitlines(keepends=True)
    return "".join(
        f"{line}{next(output)}\n" if number % _OUTPUT_STEP == 0 else line for number, line in enumerate(lines, 1)
    )


def dressed(text: str, dress: Dress, line: int) -> str:
    """A capture of strace in a dress, except for its redaction. `line` is that of the cause."""
    text = cut(text, dress.cut, line)
    if dress.format == "strace":
        text = _CLOCKED[dress.clock](text if dress.durations else without_durations(text))
    else:
        text = _RENDERERS[dress.format](text, dress.clock != "none")
    return with_output(text) if dress.output != "none" else text


_RENDERERS: Mapping[str, Callable[[str, bool], str]] = {
    "solaris-truss": lambda text, timed: renderings.solaris_truss(text, timed=timed),
    "freebsd-truss": lambda text, timed: renderings.freebsd_truss(text, timed=timed),
    "dtruss-a": lambda text, _: renderings.dtruss(text),
    "dtruss-d": lambda text, _: renderings.dtruss(text, columns=("RELATIVE",)),
    "dtruss-e": lambda text, _: renderings.dtruss(text, columns=("ELAPSD",)),
    "dtruss-s": lambda text, _: renderings.dtruss(text, columns=(), with_stacks=True),
    "kdump": lambda text, timed: renderings_of_entries.kdump(text, timed=timed),
    "perf-trace": lambda text, _: renderings_of_entries.perf_trace(text),
}


def all_dresses(*, has_clock: bool = True, has_durations: bool = True, can_render: bool = True) -> list[Dress]:
    """Every dress that a capture can wear, without those that are the same: formats have their own clocks."""
    clocks = CLOCKS if has_clock else ("none",)
    durations = (True, False) if has_durations else (False,)
    formats = FORMATS if can_render else FORMATS[:1]
    found = []
    for each in itertools.product(formats, clocks, durations, CUTS, OUTPUTS, (False, True)):
        dress = Dress(*each)
        if dress.output != "none" and dress.redacted:
            # What is redacted is the program's output too; each of them by itself shows what can go wrong.
            continue
        if dress.format == "strace" or (dress.clock in _clocks_of(dress.format) and dress.durations):
            found.append(dress)
    return found


def _clocks_of(name: str) -> tuple[str, ...]:
    has_both = name in ("solaris-truss", "freebsd-truss", "kdump")
    return ("ttt", "none") if has_both else ("none",) if name == "dtruss-s" else ("ttt",)


def pairwise(among: Sequence[Dress], seed: str, number: int) -> list[Dress]:
    """So many dresses that show together as many pairs of properties as possible, the same ones for a seed."""
    order = random.Random(seed)
    left, seen = list(among), set[tuple[tuple[str, object], ...]]()
    chosen: list[Dress] = []
    while left and len(chosen) < number:
        sample = order.sample(left, min(len(left), 24))
        best = max(sample, key=lambda dress: len(_pairs(dress) - seen))
        seen |= _pairs(best)
        chosen.append(best)
        left.remove(best)
    return chosen


def _pairs(dress: Dress) -> set[tuple[tuple[str, object], ...]]:
    return set(itertools.combinations(vars(dress).items(), 2))


def renumbered(text: str) -> str:
    """With other process ids, in the same order."""
    pids = {found[1] or found[2] for line in text.splitlines() if (found := _PID.match(line))}
    return "".join(_renumbered(line, pids) for line in text.splitlines(keepends=True))


_ID = r"(?P<pid>\d+)(?!\d)"
_IDS = (
    re.compile(rf"^(?:\[pid +)?{_ID}(?=\] | )"),
    re.compile(rf"\bsi_pid={_ID}"),
    re.compile(rf"/proc/{_ID}"),
    re.compile(rf"\b(?:wait4|waitpid|kill|tkill|tgkill)\({_ID}"),
    re.compile(rf"\btgkill\(\d+, {_ID}"),
    re.compile(rf"\bP_PID, {_ID}"),
    re.compile(rf"\bparent_tid=\[{_ID}"),
    re.compile(
        r"(?:\b(?:clone|clone3|fork|vfork|wait4|waitpid|getpid|gettid|getppid|set_tid_address)\(.*"
        r"|<\.\.\. (?:clone|clone3|fork|vfork|wait4|waitpid|getpid|gettid) resumed.*)"
        rf"= {_ID}"
    ),
    re.compile(rf"\bProcess {_ID} (?:attached|detached)"),
)


def _renumbered(line: str, pids: set[str]) -> str:
    places = sorted({(*found.span("pid"), found["pid"]) for pattern in _IDS for found in pattern.finditer(line)})
    made, at = [], 0
    for start, end, pid in places:
        if pid in pids or int(pid) > 1:
            made += [line[at:start], str(int(pid) + _OTHER_PIDS)]
            at = end
    return "".join([*made, line[at:]])


def original_pids(text: str, pids: Collection[int]) -> str:
    """The ids of these processes in an answer about a renumbered capture as they were."""
    numbers = {str(pid + _OTHER_PIDS): str(pid) for pid in pids}
    return re.sub(r"\b4\d{6}\b", lambda found: numbers.get(found[0], found[0]), text)


def pids_of(text: str) -> set[int]:
    """The ids of processes that its lines name."""
    return {int(found["pid"]) for pattern in _IDS for line in text.splitlines() for found in pattern.finditer(line)}


def shifted(text: str, seconds: int = _SHIFT_S) -> str:
    """As captured so many seconds later; points in time within calls are later, too."""
    first = _STAMP.search(text)
    start = int(first[2]) if first else 0

    def moved(found: re.Match[str]) -> str:
        at = int(found[1])
        return f"tv_sec={at + seconds}" if abs(at - start) < seconds else found[0]

    text = re.sub(r"\btv_sec=(\d+)", moved, text)
    return _STAMP.sub(lambda found: f"{found[1]}{int(found[2]) + seconds}.{found[3]} ", text)


def has_ids(text: str) -> bool:
    """Whether each line names its process: what a tracer says of no process is in no file of `-ff`."""
    return all(map(_PID.match, text.splitlines()))


def per_thread(text: str) -> dict[int, str]:
    """A capture of `-f` as the files of `-ff`, by process id."""
    files: dict[int, list[str]] = {}
    open_calls: dict[int, str] = {}
    for line in text.splitlines():
        found = _PID.match(line)
        if not found:
            continue
        pid, body = int(found[1] or found[2]), line[found.end() :]
        if body.endswith("<unfinished ...>"):
            open_calls[pid] = body.removesuffix("<unfinished ...>").rstrip()
            continue
        if resumed := re.match(r"^(?:(\d+\.\d+) )?<\.\.\. \w+ resumed>(.*)$", body):
            begun = open_calls.pop(pid, None)
            body = f"{begun}{resumed[2]}" if begun else body
        elif pid in open_calls:
            files.setdefault(pid, []).append(f"{open_calls.pop(pid)} <unfinished ...>")
        files.setdefault(pid, []).append(body)
    for pid, begun in open_calls.items():
        files.setdefault(pid, []).append(f"{begun} <unfinished ...>")
    return {pid: "\n".join(lines) + "\n" for pid, lines in files.items()}
