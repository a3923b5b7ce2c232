"""How a machine or a service went, from the messages of its log that report a crash, a hang or a failure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.heuristics import (
    MAX_EXCERPT_MESSAGES,
    MAX_LINES_AFTER_ERROR,
    MIN_FINAL_MESSAGES_SHARE,
    MIN_FLOOD_MESSAGES,
    MIN_FLOOD_SHARE,
    MIN_REPEATED_ERRORS,
    MIN_SERIES_SHARE,
    MIN_SURVIVED_SHARE,
)
from tracealyze.base.sanitize import shown
from tracealyze.findings.compiled_rules import known_table
from tracealyze.trace.outcome.outcome import Outcome, Quoting, Verdict

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.model.trace_tables import TraceTables

_MAX_CHARACTERS = 110
_SERIOUS = (Verdict.CRASHED, Verdict.HUNG)
_FRAME = re.compile(
    r"^\s*(\[<[^>]*>\]\s*)?(?P<unsure>\?\s+)?(?P<function>[A-Za-z_][\w.]*)\+0x[0-9a-f]+/0x[0-9a-f]+"
    r"(?P<module> \[[\w-]+\])?"
)
_BEGINNING_WORDS = 3
"""Words at the start of a message that show its kind."""
_MIN_STATED = 3
"""Messages of one form that state durations, before they are worth a sentence."""
_MAX_FRAMES = 40
"""Frames of a call trace that are looked at."""
_NAMES = {Verdict.CRASHED: "a crash", Verdict.HUNG: "a hang", Verdict.FAILED: "a failure"}


@dataclass(frozen=True)
class KnownMessage:
    """Messages that decide how a run went."""

    pattern: re.Pattern[str]
    verdict: Verdict | None
    """None for messages that deserve a line, and decide nothing."""
    next: str
    causes: bool
    """Whether a crash or a failure after it may be its consequence."""
    stalls: bool
    """Whether what failed also delays others: then silences are its consequence."""


@cache
def known_messages() -> tuple[KnownMessage, ...]:
    """The known messages, the most serious first."""
    entries: list[dict[str, str]] = known_table("log_messages")["message"]
    return tuple(
        KnownMessage(
            re.compile(entry["pattern"]),
            None if entry["verdict"] == "error" else Verdict(entry["verdict"]),
            entry.get("next", ""),
            "causes" in entry,
            "stalls" in entry,
        )
        for entry in entries
    )


def failure(trace: TraceTables) -> Outcome | None:
    """The crash, hang or failure that the messages of a log report; None if they report none.

    A failure in the middle of a long log was survived, and so was a crash after which it goes on for long."""
    rows = _messages(trace)
    found = _most_serious(rows)
    if found is None:
        return None
    known, row = found
    if known.verdict is None and (lasting := _lasting(trace, rows)):
        return _persistent(lasting)
    verdict = known.verdict or (Verdict.FAILED if _is_last(trace, rows, row) else None)
    is_decided = verdict in _SERIOUS and not _is_survived(trace, rows)
    if verdict is None or not (is_decided or _decides(trace, row)):
        return None
    times = f", {units.counted(row['messages'], 'time')}" if row["messages"] > 1 else ""
    waits = _waits_in(rows, row) if verdict is Verdict.HUNG else ""
    return Outcome(
        verdict,
        f"the log reports {_NAMES[verdict]}{times}",
        (Quoting(f"{_quoted(row)}."), *filter(None, (waits,)), *_preceded(rows, row), *_followed(rows, row)),
        (row["first_line"],),
        next=_command(known, row),
        inert=f"a message of the log reports it (line {row['first_line']})",
    )


def ends_failed(trace: TraceTables) -> bool:
    """Whether a log ends with the one message that reports a failure: the job has given up, whatever took the time."""
    rows = _messages(trace)
    failed = [known for known in known_messages() if known.verdict in (None, Verdict.FAILED)]
    found = [row for row in rows if any(known.pattern.search(row["message"]) for known in failed)]
    last = max(found, key=lambda row: row["last_line"], default=None)
    return last is not None and _is_last(trace, rows, last)


def _lasting(trace: TraceTables, rows: Sequence[Row]) -> Row | None:
    """The error that a log repeats until it ends; None if none does: what is still so at its end was not survived."""
    errors = [known for known in known_messages() if known.verdict is None]
    alike = [each for each in rows if any(known.pattern.search(each["message"]) for known in errors)]
    most = max(alike, key=lambda each: each["messages"], default=None)
    if most is None or most["messages"] < MIN_REPEATED_ERRORS:
        return None
    later = _lines(trace) - most["last_line"]
    return most if later <= MIN_FINAL_MESSAGES_SHARE * (_lines(trace) - most["first_line"]) else None


def _persistent(row: Row) -> Outcome:
    times = units.counted(row["messages"], "time")
    return Outcome(
        Verdict.FAILED,
        f"the log reports the same error {times}, until its end",
        (Quoting(f"{_quoted(row)}."),),
        (row["first_line"], row["last_line"]),
        inert=f"the log repeats an error {times} (line {row['first_line']})",
    )


@cache
def _waiting_functions() -> re.Pattern[str]:
    """Functions of the kernel in which anything waits: what called them says more."""
    functions: str = known_table("log_messages")["waiting"]
    return re.compile(functions)


@cache
def _suspended() -> re.Pattern[str]:
    """Messages of a machine that sleeps or wakes up."""
    words: str = known_table("log_messages")["suspended"]
    return re.compile(words)


def suspension(trace: TraceTables) -> str:
    """That the machine was suspended while the log was written, as a sentence; empty if no message says so."""
    found = [row for row in _messages(trace) if _suspended().search(row["message"])]
    if not found:
        return ""
    times = "lines" if len(found) > 1 else "line"
    places = f"{found[0]['first_line']} to {found[-1]['last_line']}" if len(found) > 1 else f"{found[0]['first_line']}"
    return f"The machine was suspended ({times} {places}): silences may be times in which nobody used it."


@cache
def _going_on() -> re.Pattern[str]:
    """Words of messages after an error that say that the work goes on, or has succeeded."""
    words: str = known_table("log_messages")["goes_on"]
    return re.compile(words)


def _waits_in(rows: Sequence[Row], row: Row) -> str:
    """The function in which a hung task waits, and the one that called it, from the call trace below the message.

    A frame that an earlier trace had, too, is not among the rows: then the caller is not known."""
    below = [each for each in rows if each["first_line"] > row["first_line"]]
    place = next((at for at, each in enumerate(below) if _FRAME.match(each["message"])), len(below))
    waits, line = "", below[place]["first_line"] - 1 if place < len(below) else 0
    for each in below[place : place + _MAX_FRAMES]:
        frame = _FRAME.match(each["message"])
        if frame is None or each["first_line"] != line + 1:
            break
        line += 1
        if frame["unsure"]:
            continue
        name = shown(f"{frame['function']}{frame['module'] or ''}")
        if not _waiting_functions().fullmatch(frame["function"]):
            called = f"It waits in {waits}, called by {name}" if waits else f"It is in {name}"
            return f"{called} (line {line})."
        waits = name
    return f"It waits in {waits} (line {line})." if waits else ""


def explains_delays(trace: TraceTables) -> bool:
    """Whether what the messages report has delayed others, too."""
    found = _most_serious(_messages(trace))
    return found is not None and found[0].stalls


def of_steps(trace: TraceTables) -> Outcome | None:
    """How long the longest step of a job takes; None if the log has no step, or something else takes longer."""
    stated = list(trace.table("stated_durations"))
    rows = [row for row in stated if row["kind"] not in ("planned", "whole")]
    longest = max(rows, key=lambda row: row["known_ns"] or row["max_ns"], default=None)
    if longest is None or longest["kind"] != "step":
        return None
    whole_ns = max((row["max_ns"] for row in stated if row["kind"] == "whole"), default=0)
    wall_ns = trace.wall_ns_of(longest["capture"]) or whole_ns
    took_ns = longest["known_ns"] or longest["max_ns"]
    whole = f" of {units.duration(wall_ns, trace.tick_ns)} ({units.share(took_ns / wall_ns)})" if wall_ns else ""
    return Outcome(
        Verdict.FINE,
        f"no message reports a failure; the longest step takes {units.duration(took_ns, trace.tick_ns)}{whole}",
        lines=(longest["first_line"],),
    )


def remark(trace: TraceTables) -> str:
    """A message of the log about an error, as a sentence; empty if there is none."""
    rows = _messages(trace)
    found = _most_serious(rows)
    if found is None:
        return _stated(trace)
    known, row = found
    if known.verdict is None:
        # An error that comes again and again says more than the first one.
        alike = [each for each in rows if known.pattern.search(each["message"])]
        most = max(alike, key=lambda each: each["messages"])
        row = most if most["messages"] >= MIN_REPEATED_ERRORS else row
    times = f" {units.counted(row['messages'], 'time')}" if row["messages"] > 1 else ""
    is_survived = known.verdict in _SERIOUS and _is_survived(trace, rows)
    name = f"{_NAMES[known.verdict]}, " if known.verdict in _SERIOUS else ""
    later = units.counted(_lines(trace) - _last_serious(rows), "more line")
    after = f", and goes on for {later}" if is_survived else ""
    return Quoting(f"The log reports {name}{_quoted(row)}{times}{after}.")


def flood(trace: TraceTables) -> str:
    """The message that makes up most of a log, as a sentence; empty if there is none."""
    rows = _messages(trace)
    counts: Counter[str] = Counter()
    for row in rows:
        counts[_beginning(row)] += row["messages"]
    beginning, messages = max(counts.items(), key=lambda each: each[1], default=("", 0))
    if messages < max(MIN_FLOOD_MESSAGES, MIN_FLOOD_SHARE * _lines(trace)):
        return ""
    most = max((row for row in rows if _beginning(row) == beginning), key=lambda row: row["messages"])
    if (most["share"] or 0.0) > MIN_SERIES_SHARE:
        # The rhythm of a job, whose time is told.
        return ""
    times = f"{units.count(messages)} of {units.counted(_lines(trace), 'line')}"
    return Quoting(f"Most of the log, {times}, are messages like {_quoted(most)}.")


def _beginning(row: Row) -> str:
    """The first words of a message, by which messages of one kind are known although names in them differ."""
    return " ".join(row["message"].split()[:_BEGINNING_WORDS])


def _stated(trace: TraceTables) -> str:
    """The longest time that messages of one form state again and again, as a sentence; empty if none do."""
    rows = [row for row in trace.table("stated_durations") if row["kind"] in ("took", "at least")]
    longest = max(rows, key=lambda row: row["max_ns"], default=None)
    if longest is None or longest["calls"] < _MIN_STATED:
        return ""
    quoted = _quoted({"message": longest["target"], "first_line": longest["first_line"]})
    return Quoting(f"Several messages state a time, up to {shown(longest['stated'])}: {quoted}.")


def _messages(trace: TraceTables) -> list[Row]:
    """The messages of a log by their first lines, one row for all of a shape."""
    return sorted(trace.stages, key=lambda row: row["first_line"])


def _most_serious(rows: Sequence[Row]) -> tuple[KnownMessage, Row] | None:
    """Of the messages that fit the most serious entry, the earliest one."""
    for known in known_messages():
        for row in rows:
            if known.pattern.search(row["message"]):
                return known, row
    return None


def _decides(trace: TraceTables, row: Row) -> bool:
    """Whether a message stands in an excerpt, or first came among the last ones of a log: else it was survived."""
    lines = _lines(trace)
    return lines <= MAX_EXCERPT_MESSAGES or row["first_line"] >= (1 - MIN_FINAL_MESSAGES_SHARE) * lines


def _lines(trace: TraceTables) -> int:
    return sum(capture.lines for capture in trace.captures)


def _last_serious(rows: Sequence[Row]) -> int:
    """The line of the last message about a crash or a hang; 0 without one."""
    serious = [known for known in known_messages() if known.verdict in _SERIOUS]
    found = [row["last_line"] for row in rows if any(known.pattern.search(row["message"]) for known in serious)]
    return max(found, default=0)


def _is_survived(trace: TraceTables, rows: Sequence[Row]) -> bool:
    """Whether a log goes on for long after the last crash or hang that it reports: the end decides then."""
    lines = _lines(trace)
    later = lines - _last_serious(rows)
    return later > MAX_EXCERPT_MESSAGES and later >= MIN_SURVIVED_SHARE * lines


def _is_last(trace: TraceTables, rows: Sequence[Row], row: Row) -> bool:
    """Whether an error is the last thing that a log of one process reports, and stands in its last lines.

    What follows may say that the work goes on, or is done."""
    later: int = _lines(trace) - row["last_line"]
    after = [each for each in rows if each["last_line"] > row["last_line"]]
    goes_on = any(_going_on().search(each["message"]) for each in after)
    return later <= MAX_LINES_AFTER_ERROR and row["messages"] == 1 and not goes_on


def _preceded(rows: Sequence[Row], row: Row) -> list[str]:
    """What ran out before the message, or failed again and again, and how often the log says so."""
    causes = [known for known in known_messages() if known.causes]
    earlier = [each for each in rows if each["first_line"] < row["first_line"]]
    found = [each for each in earlier if any(known.pattern.search(each["message"]) for known in causes)]
    messages = sum(each["messages"] for each in found)
    # A program that asks for too much once goes on with less.
    if messages < MIN_REPEATED_ERRORS:
        failed = [known for known in known_messages() if known.verdict in (None, Verdict.FAILED)]
        found = [each for each in earlier if any(known.pattern.search(each["message"]) for known in failed)]
        found = sorted(found, key=lambda each: -each["messages"])[:1]
        messages = sum(each["messages"] for each in found)
    if messages < MIN_REPEATED_ERRORS:
        return _led_up(earlier, row)
    return [Quoting(f"Before it: {_quoted(found[0])}, and {units.count(messages - 1)} more messages like it.")]


def _led_up(earlier: Sequence[Row], row: Row) -> list[str]:
    """The error in the lines above a message that gives up: mostly why it does."""
    above = [each for each in earlier if each["last_line"] >= row["first_line"] - MAX_LINES_AFTER_ERROR]
    found = _most_serious(above)
    return [Quoting(f"Shortly before it: {_quoted(found[1])}.")] if found else []


def _followed(rows: Sequence[Row], row: Row) -> list[str]:
    """Another message about a failure that follows: what the first one led to."""
    found = _most_serious([each for each in rows if each["first_line"] > row["last_line"]])
    return [Quoting(f"Then {_quoted(found[1])}.")] if found else []


def _quoted(row: Row) -> str:
    text = " ".join(shown(row["message"]).split())
    text = text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"
    return f'"{text}" (line {row["first_line"]})'


_UNIT = re.compile(r"\b([\w@.\\-]+\.(?:service|mount|device|socket|target|timer))\b", re.ASCII)


def _command(known: KnownMessage, row: Row) -> str:
    """The command that shows more, with the unit that the message names."""
    unit = _UNIT.search(row["message"])
    if "UNIT" not in known.next or unit is None:
        return known.next
    return known.next.replace("UNIT", unit[1].lstrip("-"))
