"""Observations: what the lines of any capture show, without an accusation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.heuristics import MAX_LOADED_FILES, MIN_CYCLE_SHARE, MIN_OBSERVED_SHARE
from tracealyze.base.program_names import process_of
from tracealyze.base.sanitize import shown
from tracealyze.findings.grouping import about_captures
from tracealyze.findings.matching import file_of
from tracealyze.model.trace_tables import errors_of
from tracealyze.trace.outcome import known
from tracealyze.trace.outcome.failures import called
from tracealyze.trace.outcome.interrupted import arriving

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding
    from tracealyze.model.table import Row
    from tracealyze.model.trace_tables import TraceTables
    from tracealyze.trace.outcome.outcome import Outcome

_MIN_TURNS = 4
_MIN_CALLS = 8
_MAX_BODY = 3
_MAX_OF_KIND = 4
_MAX_TOLD_CALLS = 3
_MAX_EXCERPT_CALLS = 1_000
_MAPS = ("mmap", "mmap2", "mprotect")


@dataclass(frozen=True)
class Observation:
    """A fact about a capture."""

    kind: str
    """ends, stated, repeats, error, limit, signals or normal."""
    text: str
    """One sentence."""
    calls: int = 0
    """Number of calls that it is about; 0 if it is about none."""
    lines: tuple[int, ...] = ()
    """Lines that show it."""
    file: str = ""
    """The file of these lines, if the capture has several."""

    def document(self) -> dict[str, object]:
        """The observation as it appears in JSON."""
        file = {"file": self.file} if self.file else {}
        return {"kind": self.kind, "text": self.text, "calls": self.calls, "lines": list(self.lines), **file}


def observations(trace: TraceTables, outcome: Outcome, findings: Sequence[Finding]) -> list[Observation]:
    """What a capture shows, the strongest first. What findings state is not repeated."""
    found = [*_ends(outcome), *_stated(trace), *_errors(trace), *_limits(trace), *_naps(trace), *_signals(trace)]
    found += [*_lookups(trace), *_repeats(trace), *_most_frequent(trace)]
    if len(found) == 1 and not findings and not trace.window.wall_ns:
        found += _all_calls(trace)
    return [each for each in found if each.kind == "ends" or not any(_states(finding, each) for finding in findings)]


def _ends(outcome: Outcome) -> Iterator[Observation]:
    if outcome.text:
        yield Observation("ends", outcome.sentence, lines=outcome.lines)


def _stated(trace: TraceTables) -> Iterator[Observation]:
    """How long the command took, as the shell or time(1) prints it next to lines without a clock."""
    if trace.window.wall_ns:
        return
    for row in trace.table("foreign_lines"):
        if found := known.message_words().lasted.match(row["text"].strip()):
            named = {name.partition("_")[2]: float(text) for name, text in found.groupdict().items() if text}
            took_ns = round((60 * named.get("minutes", 0) + named["seconds"]) * 1_000_000_000)
            took = units.duration(took_ns)
            text = f"The command took {took} in all, as the text around the lines states (line {row['line']})."
            yield Observation("stated", text, lines=(row["line"],))


def _errors(trace: TraceTables) -> Iterator[Observation]:
    """Errors that deserve a line, whatever time they take; each by itself."""
    number = 0
    for syscall, errno, calls in sorted(errors_of(trace), key=lambda each: -each[2]):
        error = known.errors().get(errno)
        is_usual = known.is_usual({"syscall": syscall, "errno": errno, "target": ""})
        if error and error.always and not is_usual and number < _MAX_OF_KIND:
            number += 1
            times = units.counted(calls, "time")
            yield Observation("error", shown(f"{syscall} failed {times} with {errno}: {error.always}."), calls)


def _limits(trace: TraceTables) -> Iterator[Observation]:
    """Waits that reached their limits without a result."""
    rows = [row for row in trace.table("timeouts") if row["expired"] and (row["requested_ns"] or 0) > 0]
    rows.sort(key=lambda row: -row["requested_ns"] * row["expired"])
    for row in rows[:_MAX_OF_KIND]:
        limit = units.duration(row["requested_ns"])
        times = units.counted(row["expired"], "time")
        on = f" on {row['target']}" if row["target"] else ""
        text = f"{_subject(row)}: {row['syscall']}{on} reached its limit of {limit} {times}."
        yield Observation("limit", shown(text), row["expired"], _lines(row), file_of(trace, row) or "")


def _naps(trace: TraceTables) -> Iterator[Observation]:
    """Sleeps of one length that are a good part of the calls, by what they ask for."""
    rows = [row for row in trace.table("sleeps") if row["asked_ns"] and row["calls"] >= _much(trace)]
    rows.sort(key=lambda row: -row["asked_ns"] * row["calls"])
    for row in rows[:_MAX_OF_KIND]:
        times = units.counted(row["calls"], "time")
        text = f"{_subject(row)} sleeps for {units.duration(row['asked_ns'])} in {row['syscall']}, {times}."
        yield Observation("repeats", shown(text), row["calls"], _lines(row), file_of(trace, row) or "")


def _signals(trace: TraceTables) -> Iterator[Observation]:
    """Signals that come often, as seen from the number of calls."""
    text, delivered = arriving(trace)
    if text:
        yield Observation("signals", text, delivered)


def _lookups(trace: TraceTables) -> Iterator[Observation]:
    """That an excerpt only looks files up, each several times; or that it opens and reads one file several times."""
    calls = trace.totals["calls"]
    if not _MIN_CALLS <= calls <= _MAX_EXCERPT_CALLS:
        return
    rows = list(trace.calls(by=["syscall", "target"], quantiles=False))
    names: dict[str, int] = {}
    for row in rows:
        if row["target"] and known.looks_up(row["syscall"]):
            name = row["target"].rpartition("/")[2]
            names[name] = names.get(name, 0) + row["calls"]
    asked = sum(names.values())
    if len(names) > 1 and asked >= MIN_CYCLE_SHARE * calls and asked >= 2 * len(names):
        which = "All" if asked == calls else f"{units.count(asked)} of the"
        text = f"{which} {units.counted(calls, 'call')} look up {len(names)} files: each up to"
        yield Observation("repeats", f"{text} {units.counted(max(names.values()), 'time')}.", asked)
    opened = [row for row in rows if known.opens(row["syscall"]) and row["calls"] - row["failed"] > 1]
    for row in opened[:1]:
        on_file = sum(each["calls"] for each in rows if each["target"] == row["target"])
        if on_file > calls / 2:
            times = units.counted(row["calls"] - row["failed"], "time")
            text = f"{units.count(on_file)} of the {units.counted(calls, 'call')} work on {row['target']}"
            yield Observation("repeats", shown(f"{text}, which is opened {times}."), on_file)


def _repeats(trace: TraceTables) -> Iterator[Observation]:
    """What repeats: how often, and whether each turn fails."""
    min_calls = _much(trace)
    loops, _ = trace.longest_loops(None, min_calls)
    rows = [row for row in loops if _is_much(row, min_calls)]
    rows.sort(key=lambda row: -row["turns"] * row["period"])
    for row in rows[:_MAX_OF_KIND]:
        text = f"{_subject(row)} {_repetition(row, is_mixed=len(trace.processes) > 1)}."
        yield Observation("repeats", shown(text), row["turns"] * row["period"], _lines(row), file_of(trace, row) or "")


def _most_frequent(trace: TraceTables) -> Iterator[Observation]:
    """The calls made most on targets of one form, wherever they stand."""
    # No more can have the least share of all calls. Groups of all targets would be millions.
    most = math.ceil(1 / MIN_OBSERVED_SHARE)
    by = ["program", "syscall", "shape"]
    frequent = trace.calls(by=by, quantiles=False, order="calls", limit=most)
    rows = [row for row in frequent if "/" in row["shape"]]
    # Of several with the same number, which one is named does not depend on what they took.
    largest = max(rows, key=lambda row: (row["calls"], row["shape"]), default=None)
    if largest and largest["calls"] >= _much(trace):
        text = f"{_subject({'program': largest['program']})} calls {largest['shape']} "
        yield Observation("repeats", shown(f"{text}{units.counted(largest['calls'], 'time')}."), largest["calls"])


def _all_calls(trace: TraceTables) -> Iterator[Observation]:
    """The calls of an excerpt of a few lines, if they have no other message."""
    calls = trace.totals["calls"]
    if not 0 < calls <= _MAX_TOLD_CALLS:
        return
    rows = trace.calls(by=["syscall", "op", "target"], quantiles=False)
    told = [f"{called(row)}{' failed' if row['failed'] else ''}" for row in rows]
    text = f"The only call: {told[0]}." if calls == 1 else f"All {calls} calls: {', '.join(told)}."
    yield Observation("normal", shown(text), calls)


def _subject(row: Row) -> str:
    """A process as the first words of a sentence. Names of programs keep their case."""
    name = process_of(row)
    return f"T{name[1:]}" if name.startswith("the ") else name


def _repetition(row: Row, *, is_mixed: bool) -> str:
    """`repeats a sequence of 12 calls 121 times: openat, read, close …, on 121 different targets`."""
    times = units.counted(row["turns"], "time")
    targets = row["distinct_targets"] or 0
    varies = f", on {units.count(targets)} different targets" if targets > 1 else ""
    failing = f"; {row['failing']} fails each time" if row["failing"] else ""
    if row["period"] == 1:
        # A loop may have a few other calls in it.
        spanned = row["last_line"] - row["first_line"] + 1
        in_a_row = " in a row" if is_mixed or spanned <= row["turns"] else ""
        return f"calls {row['body'][0]} {times}{in_a_row}{varies}{failing}"
    more = " …" if row["period"] > _MAX_BODY else ""
    body = f"{', '.join(row['body'][:_MAX_BODY])}{more}"
    return f"repeats a sequence of {row['period']} calls {times}: {body}{varies}{failing}"


def _much(trace: TraceTables) -> int:
    """The least number of calls that is worth an observation."""
    return max(_MIN_CALLS, math.ceil(MIN_OBSERVED_SHARE * max(trace.totals["calls"], 1)))


def _is_much(row: Row, min_calls: int) -> bool:
    turns: int = row["turns"]
    made: int = turns * row["period"]
    loads_files = turns <= MAX_LOADED_FILES and any(call.partition(" ")[0] in _MAPS for call in row["body"])
    return turns >= _MIN_TURNS and made >= min_calls and not loads_files


def _lines(row: Row) -> tuple[int, ...]:
    return tuple(dict.fromkeys((row["first_line"], row["last_line"])))


def _states(finding: Finding, observation: Observation) -> bool:
    """Whether a finding is about the same calls: the same lines, or one of its calls on some of them."""
    places = {(observation.file, line) for line in observation.lines}
    if not places or finding.name in about_captures():
        return False
    names_call = finding.syscall is not None and finding.syscall in observation.text
    return places <= set(finding.places) or (names_call and bool(places & set(finding.places)))
