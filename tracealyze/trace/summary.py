"""Everything that `tracealyze summarize` shows, as data: the document of `--json`, which renderers use too."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

from tracealyze.base.heuristics import MIN_ERROR_IMPACT_NS
from tracealyze.findings.finding import Severity
from tracealyze.findings.grouping import about_captures, that_doubt_times, that_mean
from tracealyze.model.capture_input.recorded import attached_state, recorded
from tracealyze.model.capture_input.standstill import Standstill, standstill
from tracealyze.model.trace_tables import errors_of
from tracealyze.trace import bounded
from tracealyze.trace.outcome import (
    Describing,
    Observation,
    Outcome,
    Quoting,
    Verdict,
    observations,
    outcome_of,
    verdict,
)
from tracealyze.trace.outcome.untraced import Untraced, saving_ns, untraced_of
from tracealyze.trace.together.meanwhile import meanwhile, moments
from tracealyze.trace.together.shared_axis import extent_of, must_name_captures

if TYPE_CHECKING:
    from tracealyze.findings.diagnosis import Diagnosis
    from tracealyze.findings.finding import Finding
    from tracealyze.model.capture_input.capture_info import Capture, Window
    from tracealyze.model.table import Row, Table
    from tracealyze.model.trace_tables import TraceTables
    from tracealyze.trace.outcome.verdict import Sentence

SCHEMA = "tracealyze.summary/1"

_MAX_SENTENCES = 3
_LEADING = (Verdict.FAILED, Verdict.CRASHED, Verdict.HUNG, Verdict.BUSY)
"""Verdicts that say more than the causes of lost time."""
_MAX_QUOTED = 64
_DESCRIPTOR = re.compile(r"\w\((\d{1,9})<")

_PARTITION = (
    "pid",
    "tid",
    "program",
    "class",
    "class_name",
    "syscall",
    "op",
    "target",
    "exclusive_ns",
    "share",
    "calls",
)
_PROCESSES = (
    *("pid", "parent_pid", "program", "argv", "birth_ns", "death_ns", "exit_code", "exit_signal", "wall_ns"),
    *("exclusive_ns", "slack_ns", "in_call_ns", "cpu_ns", "gap_ns", "calls", "failed", "threads"),
)
_SYSCALLS = (
    *("syscall", "calls", "failed", "total_ns", "cpu_ns", "exclusive_ns", "mean_ns", "p50_ns", "p99_ns", "max_ns"),
)
_LOOPS = (
    *("pid", "tid", "program", "turns", "period", "body", "total_ns", "dominant", "dominant_ns", "dominant_calls"),
    *("failing", "first_line", "last_line"),
)
STAGES = (
    *("message", "item", "messages", "start_ns", "last_ns", "total_ns", "mean_ns", "max_ns", "item_share"),
    *("exclusive_ns", "share", "first_line", "last_line"),
)
"""JSON members of a stage of a log."""
ITEMS = (
    *("item", "items", "unfinished", "stages", "first_stage", "last_stage", "start_ns", "first_ns", "last_ns"),
    *("elapsed_ns", "first_own_ns", "marginal_ns", "residual_ns", "marginal_share", "own_ns", "longest_ns"),
    *("parallel", "effective", "could_free_ns", "exclusive_ns", "share", "first_line", "last_line"),
)
"""JSON members of a kind of items in a log."""


# Bytes of lists that may be long, as JSON. With those of the partition, they stay below the 2 MB of a document.
_MAX_BYTES = {
    "captures": 150_000,
    "windows": 60_000,
    "findings": 200_000,
    "processes": 300_000,
    "syscalls": 100_000,
    "loops": 80_000,
    "items": 40_000,
    "stages": 40_000,
}
# What the rows that are kept are the largest by.
_LARGEST_BY = {"processes": "exclusive_ns", "loops": "total_ns", "items": "elapsed_ns", "stages": "total_ns"}


@dataclass(frozen=True)
class Rows:
    """Some columns of a possibly long table, as a member of the document."""

    table: Table
    keys: tuple[str, ...]
    number: int | None = None
    """Number of rows of the whole table, if these are only its largest ones."""

    def __len__(self) -> int:
        return len(self.table) if self.number is None else self.number

    def dicts(self) -> list[dict[str, Any]]:
        """The rows as dictionaries."""
        return list(self.table.dicts(self.keys))


@dataclass(frozen=True)
class BoundedRows:
    """The rows of a long list that the document shows."""

    rows: list[dict[str, Any]]

    def dicts(self) -> list[dict[str, Any]]:
        """The rows as dictionaries."""
        return self.rows


Lists: TypeAlias = dict[str, Rows | BoundedRows | list[dict[str, Any]]]
"""Members of the document that are lists, by their names."""


@dataclass(frozen=True)
class Summary:
    """The parts of a report. Rows have the keys of the document and a few more."""

    trace: TraceTables
    captures: tuple[Capture, ...]
    windows: tuple[Window, ...]
    window: Window
    totals: dict[str, int]
    findings: list[Finding]
    unexplained_ns: int
    unexplained: list[Row]
    """The largest pieces of the time that no finding covers."""

    @cached_property
    def diagnosis(self) -> list[Sentence]:
        """The answer in one to three sentences: how the run failed, the causes, or what the lines show."""
        if self.standstill:
            return [verdict.Sentence(self.standstill.line), verdict.Sentence(self.standstill.advice)]
        said = verdict.sentences(self.trace, self.findings)
        if self.outcome.verdict in _LEADING and self.outcome.text:
            return [self.lead, *filter(self._is_serious, said)][:_MAX_SENTENCES]
        if not self._has_times and self.outcome.verdict is Verdict.FINE:
            # Without times, what would need seconds to matter is not the answer for a run that ended well.
            said = [each for each in said if each.finding is None or self._matters(each)]
        doubts = [each for each in said[:1] if self._doubts_times(each)]
        rest = said[len(doubts) :]
        room = _MAX_SENTENCES - len(doubts)
        told = self._of_causes(rest) if any(map(self._is_of_run, rest)) else self._of_lines(rest, room)
        return [*doubts, *told][:_MAX_SENTENCES]

    def _of_causes(self, said: list[Sentence]) -> list[Sentence]:
        """The sentences about findings, with the remark of the outcome among them."""
        remark = [verdict.Sentence(self.outcome.remark)] if self.outcome.remark else []
        # What the program itself says about a failure matters more than a note.
        is_quoted = isinstance(self.outcome.remark, Quoting)
        leads = self._is_of_run(said[0]) and (self._is_serious(said[0]) or not is_quoted)
        first = said[:1] if leads else []
        return [*first, *remark, *said[len(first) :]][:_MAX_SENTENCES]

    def _of_lines(self, said: list[Sentence], max_sentences: int) -> list[Sentence]:
        """Without a finding about the run: how it went, and what the lines show."""
        lead = [self.lead] if self.outcome.text or self.outcome.details else []
        observed = [verdict.Sentence(each.text) for each in self.observations if each.kind != "ends"]
        limits = [verdict.Sentence(each.text) for each in self.observations if each.kind in ("error", "limit")]
        if self.window.wall_ns and limits and len(said) > 1:
            # That a wait reached its limit says more than what the capture lacks.
            said = [*said[:1], *limits[:1], *said[1:]]
            observed = observed[1:] if observed[:1] == limits[:1] else observed
        # What repeats says more than which call is the most frequent one.
        is_told = self.outcome.verdict is Verdict.BUSY and self.outcome.text
        most = [] if (observed or is_told) and not self.window.wall_ns else said
        open_at_end = [each for each in said if isinstance(each, verdict.OpenAtEnd)]
        # That a capture is cut says less than what is in it, but not less than what failed last.
        told = [each for each in self.outcome.details if not (self._has_times and isinstance(each, Describing))]
        if open_at_end and not any(not isinstance(each, Describing) for each in told):
            return [*(open_at_end if observed else said), *observed][:_MAX_SENTENCES]
        tells = self.outcome.verdict is not Verdict.CANNOT_TELL or told
        # Without details, the lead is no more than the headline.
        has_room = bool(self.outcome.details) or len(most) < max_sentences
        first = [*lead, *most] if tells and has_room else [*most, *lead]
        return [*first, *observed][:_MAX_SENTENCES]

    def _is_of_run(self, sentence: Sentence) -> bool:
        """Whether a sentence is about a finding, and that about the run instead of the capture."""
        return sentence.finding is not None and self.findings[sentence.finding].name not in about_captures()

    def _doubts_times(self, sentence: Sentence) -> bool:
        """Whether a sentence says why no time means much."""
        return sentence.finding is not None and self.findings[sentence.finding].name in that_doubt_times()

    @property
    def _has_times(self) -> bool:
        return bool(self.window.wall_ns) or any(each.has.get("durations") for each in self.captures)

    def _matters(self, sentence: Sentence) -> bool:
        """Whether a sentence is not about a wait that would need seconds to matter."""
        finding = self.findings[sentence.finding] if sentence.finding is not None else None
        return finding is None or finding.known_ns > 0 or finding.name not in that_mean("pause")

    def _is_serious(self, sentence: Sentence) -> bool:
        """Whether a sentence is about a finding that matters next to a failure."""
        finding = self.findings[sentence.finding] if sentence.finding is not None else None
        if finding is None:
            return False
        lasts = finding.impact_ns is not None and finding.impact_ns[1] >= MIN_ERROR_IMPACT_NS
        return lasts or finding.severity is not Severity.INFO

    @cached_property
    def lead(self) -> Sentence:
        """How the run went, as one sentence of the diagnosis. It begins the report where no finding does."""
        return verdict.Sentence(" ".join((self.outcome.sentence, *self.outcome.details)))

    @cached_property
    def outcome(self) -> Outcome:
        """How the run went, in one word and a few sentences."""
        if still := self.standstill:
            verdict_of = Verdict(still.condition.word.lower().replace(" ", "-"))
            return Outcome(verdict_of, still.text.rstrip("."), (still.advice,), inert="no call completed")
        return outcome_of(self.trace, self.findings)

    @cached_property
    def observations(self) -> list[Observation]:
        """What the lines show, without an accusation."""
        return observations(self.trace, self.outcome, self.findings)

    @cached_property
    def standstill(self) -> Standstill | None:
        """What the traced processes did, if `record` attached to them and none of them completed a call."""
        state = attached_state(self.captures[0]) if len(self.captures) == 1 else None
        if state is None or not state.pids:
            return None
        rows = list(self.trace.table("open_calls"))
        open_calls = max(self.totals["open"], sum(row["killed_by"] is None for row in rows))
        completed = self.totals["calls"] - open_calls
        return standstill(state, rows if completed else _with_descriptors(self.trace, rows), completed)

    @cached_property
    def untraced(self) -> Untraced | None:
        """The window without the tracer; None if the cost of tracing is unknown."""
        return untraced_of(self.trace)

    @property
    def saving_ns(self) -> tuple[int, int]:
        """Bounds of the time that could be saved."""
        return saving_ns(self.trace, self.findings)

    def partition(self, *, full: bool = False) -> list[dict[str, Any]]:
        """The pieces of the window, the largest first; unless it is `full`, small ones of many are in folded rows."""
        keys = (*_PARTITION, *_more(self.trace))
        return list(self.trace.partition.dicts(keys)) if full else bounded.partition(self.trace, keys)

    @cached_property
    def processes(self) -> list[Row]:
        """One row per process."""
        return list(self.trace.processes)

    @cached_property
    def syscalls(self) -> list[Row]:
        """One row per syscall, the largest total first."""
        return syscalls(self.trace)

    @cached_property
    def loops(self) -> list[Row]:
        """Loops, the longest first."""
        return sorted(self.trace.loops, key=lambda row: -(row["total_ns"] or 0))

    def document(self, *, full: bool = False) -> dict[str, Any]:
        """The summary as it appears in JSON: at most 2 MB, unless it is `full`."""
        parts = self.parts(full=full)
        return {name: part.dicts() if isinstance(part, Rows | BoundedRows) else part for name, part in parts.items()}

    def parts(
        self, *, full: bool = False, lists: Callable[[], Lists] | None = None, aligned: Iterable[str] = ()
    ) -> dict[str, Any]:
        """The members of the document; those that grow with the capture are rows.

        Unless it is `full`, long lists keep their largest rows: `counts` has the number of rows shown and of all, and
        what is left out of the partition is in rows with `folded`, the number of pieces. `lists` returns what
        `long_lists` does, if that is computed elsewhere. `aligned` has moments that are the same in all captures, such
        as `app.strace=line:120`."""
        more = _more(self.trace)
        long = self._all_lists() if full else (lists or partial(long_lists, self.trace))()
        parts: dict[str, Any] = {
            "schema": SCHEMA,
            "captures": [_capture(each) for each in self.captures],
            "window": asdict(self.window),
            "untraced": self.untraced.document() if self.untraced else None,
            "totals": self.totals,
            "impact_ns": list(self.saving_ns),
            "outcome": self.outcome.document(),
            "observations": [each.document() for each in self.observations],
            "diagnosis": [asdict(each) for each in self.diagnosis],
            "findings": [finding.document() for finding in self.findings],
            **long,
            "items": Rows(self.trace.items, (*ITEMS, *more)),
            "stages": Rows(self.trace.stages, (*STAGES, *more)),
            "unexplained_ns": self.unexplained_ns,
        } | ({"windows": [asdict(each) for each in self.windows]} if more else {})
        if self.trace.witness is not None:
            parts["witness"] = self.trace.witness.document()
        if len({each.dur_kind == "gap" for each in self.captures}) > 1:
            traces = [self.trace.of_capture(number) for number in self.trace.capture_numbers]
            extents = [extent_of(trace, aligned) for trace in traces]
            must_name_captures(aligned, extents)
            every = [moments(trace, extent) for trace, extent in zip(traces, extents, strict=True)]
            parts["meanwhile"] = [each.document() for each in meanwhile(every)]
        counts = {} if full else self._bound(parts)
        return parts | {"counts": counts}

    def _all_lists(self) -> Lists:
        more = _more(self.trace)
        return {
            "partition": Rows(self.trace.partition, (*_PARTITION, *more)),
            "processes": Rows(self.trace.processes, (*_PROCESSES, *more)),
            "syscalls": [_kept(row, (*_SYSCALLS, "errors")) for row in self.syscalls],
            "loops": [_kept(row, (*_LOOPS, *more)) for row in self.loops],
        }

    def _bound(self, parts: dict[str, Any]) -> dict[str, list[int]]:
        """Cut long lists; the numbers of rows shown and of all rows of each list that was cut."""
        counts = {}
        for name, max_bytes in _MAX_BYTES.items():
            part = parts.get(name)
            if isinstance(part, Rows):
                every = len(part)
                part = BoundedRows(bounded.largest(part.table, part.keys, _LARGEST_BY[name], max_bytes, every))
                shown = len(part.rows)
            elif part is not None:
                part, every = bounded.within(part, max_bytes), len(part)
                shown = len(part)
            else:
                continue
            parts[name] = part
            if shown < every:
                counts[name] = [shown, every]
        return counts


def long_lists(trace: TraceTables) -> Lists:
    """The members of a bounded document that take the longest and need no findings."""
    more = _more(trace)
    processes, all_processes = trace.largest_processes(bounded.max_rows(_MAX_BYTES["processes"]))
    calls = [_kept(row, (*_SYSCALLS, "errors")) for row in syscalls(trace)]
    loops, all_loops = trace.longest_loops(bounded.max_rows(_MAX_BYTES["loops"]))
    return {
        "partition": BoundedRows(bounded.partition(trace, (*_PARTITION, *more))),
        "processes": Rows(processes, (*_PROCESSES, *more), all_processes),
        "syscalls": calls,
        "loops": Rows(loops, (*_LOOPS, *more), all_loops),
    }


def _more(trace: TraceTables) -> tuple[str, ...]:
    """Keys that rows have only where there are several captures."""
    return ("capture",) if len(trace.captures) > 1 else ()


def _with_descriptors(trace: TraceTables, rows: Sequence[Row]) -> list[Row]:
    """Open calls with the number of their descriptor, which the table has only where the name is unknown."""
    lines = sorted({row["first_line"] for row in rows})[:_MAX_QUOTED]
    texts = dict(zip(lines, trace.quote(lines), strict=False))
    found = {line: int(match[1]) for line, text in texts.items() if (match := _DESCRIPTOR.search(text))}
    return [{**row, "fd": found.get(row["first_line"], row["fd"])} for row in rows]


def summary(trace: TraceTables, diagnosis: Diagnosis) -> Summary:
    """The summary of a trace with its diagnosis."""
    return Summary(
        trace=trace,
        captures=trace.captures,
        windows=trace.windows,
        window=trace.window,
        totals=trace.totals,
        findings=diagnosis.findings,
        unexplained_ns=diagnosis.unexplained_ns,
        unexplained=diagnosis.unexplained,
    )


def syscalls(trace: TraceTables) -> list[Row]:
    """One row per syscall with its errors. If the capture is only a tracer's summary table, the rows of that."""
    rows = [dict(row) for row in trace.calls(by=["syscall"])]
    if trace.is_mostly_table:
        return _of_tables(trace)
    errors: dict[str, dict[str, int]] = {}
    for syscall, errno, failed in errors_of(trace):
        if errno:
            errors.setdefault(syscall, {})[errno] = failed
    for row in rows:
        row["errors"] = errors.get(row["syscall"], {})
    return sorted(rows, key=lambda row: (-(row["total_ns"] or 0), -row["calls"], row["syscall"] or ""))


def _of_tables(trace: TraceTables) -> list[Row]:
    sums: dict[str, dict[str, Any]] = {}
    only = trace.selection.capture
    for row in (row for row in trace.summary_rows if only in (None, row["capture"])):
        known = dict.fromkeys(_SYSCALLS) | {"syscall": row["syscall"], "calls": 0, "failed": 0, "errors": {}}
        into = sums.setdefault(row["syscall"], known)
        into["calls"] += row["calls"]
        into["failed"] += row["failed"]
        if row["total_ns"] is not None:
            into["total_ns"] = (into["total_ns"] or 0) + row["total_ns"]
            into["mean_ns"] = into["total_ns"] // max(into["calls"], 1)
    return sorted(sums.values(), key=lambda row: (-(row["total_ns"] or 0), -row["calls"]))


def _capture(capture: Capture) -> dict[str, Any]:
    made = recorded(capture)
    lack = {"lacks": capture.general_lack} if capture.general_lack else {}
    return lack | asdict(capture) | ({"recorded": asdict(made)} if made else {})


def _kept(row: Row, keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: row[key] for key in keys}
