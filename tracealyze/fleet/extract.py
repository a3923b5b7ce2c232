"""The rows of one capture for the tables of a store. Their numbers are those of `summarize --json`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias

from tracealyze.base.heuristics import FLEET_MAX_CALL_ROWS, FLEET_WEIGHT_OF_COUNTS
from tracealyze.base.program_names import short
from tracealyze.findings.basis import Basis
from tracealyze.fleet.arrow import Table, pa
from tracealyze.fleet.tables import TABLES
from tracealyze.model.capture_input.recorded import recorded

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding
    from tracealyze.trace.summary import Summary
    from tracealyze.trace.trace import Trace

Row: TypeAlias = "dict[str, Any]"

_CALL_KEYS = ("program_name", "syscall", "op", "normalized_target", "outcome", "errno")


@dataclass
class Rows:
    """Rows of all tables."""

    of: dict[str, list[Row]] = field(default_factory=lambda: {name: [] for name in TABLES})

    def add(self, table: str, capture_id: int, rows: Sequence[Row]) -> None:
        """Add rows of a capture to a table."""
        self.of[table].extend({"capture_id": capture_id} | row for row in rows)

    def arrow(self, table: str) -> Table:
        """A table in the types of its schema."""
        schema, rows = TABLES[table], self.of[table]
        arrays = [pa.array([row.get(each.name) for row in rows], each.type) for each in schema]
        return pa.Table.from_arrays(arrays, schema=schema)


def capture_rows(trace: Trace) -> tuple[dict[str, list[Row]], dict[str, str]]:
    """The rows of each table, without the identity of the capture, and the labels that `record` wrote."""
    summary = trace.summary()
    findings = [_finding(each) for each in summary.findings]
    rows = {
        "captures": [_capture(summary, findings)],
        "processes": [_process(row) for row in summary.processes],
        "calls": list(_calls(trace)),
        "classes": list(_classes(trace)),
        "findings": findings,
    }
    made = [recorded(each) for each in summary.captures]
    labels = {str(name): _text(value) for each in made if each for name, value in each.labels.items()}
    return rows, labels


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _capture(summary: Summary, findings: Sequence[Row]) -> Row:
    captures, window, totals = summary.captures, summary.window, summary.totals
    first = captures[0]
    low_ns, high_ns = summary.saving_ns
    # Without the date of its zero, a clock does not say when: that of a kernel begins at its start.
    zero_ns = 0 if first.clock == "epoch" else first.base_ns or None
    start_ns = None if zero_ns is None or first.first_ns is None else zero_ns + first.first_ns
    return {
        "format": first.format,
        "bytes": sum(each.bytes for each in captures),
        "lines": sum(each.lines for each in captures),
        "processes": totals["processes"],
        "threads": totals["threads"],
        "calls": totals["calls"],
        "failed": totals["failed"],
        "wall_ns": window.wall_ns,
        "start_ns": start_ns,
        "no_window": window.reason,
        "filtered": any(each.filtered for each in captures),
        "cut": any(each.cut for each in captures),
        # What a filter lets through; without one, a capture could show every call.
        "syscalls": ",".join(sorted({row["syscall"] for row in summary.syscalls if row["syscall"]}))
        if any(each.filtered for each in captures)
        else None,
        "has_durations": any(each.has.get("durations", False) for each in captures),
        "overhead_share": first.overhead_share,
        "lost_lines": sum(loss.lines for each in captures for loss in each.losses),
        "impact_low_ns": low_ns,
        "impact_high_ns": high_ns,
        "unexplained_ns": summary.unexplained_ns,
        "findings": len(findings),
        "weight": sum(weights(findings).values()),
    }


def _finding(finding: Finding) -> Row:
    low_ns, high_ns = finding.impact_ns or (None, None)
    is_time = finding.basis is not Basis.COUNTS and finding.share is not None
    return {
        "code": finding.code,
        "rule": finding.name,
        "title": finding.title,
        "severity": str(finding.severity),
        "confidence": finding.confidence,
        "basis": str(finding.basis),
        "fingerprint": finding.fingerprint,
        "pid": finding.pid,
        "program": short(finding.program) or None,
        "syscall": finding.syscall,
        "op": finding.op,
        "target": finding.target,
        "calls": finding.calls,
        "impact_low_ns": low_ns,
        "impact_high_ns": high_ns,
        "share": finding.share,
        "weight": max(finding.share or 0.0, FLEET_WEIGHT_OF_COUNTS) if is_time else FLEET_WEIGHT_OF_COUNTS,
        "line": finding.lines[0] if finding.lines else None,
        "diagnosis": finding.diagnosis,
    }


def weights(findings: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """How much each cause counts when captures are compared: the sum of its weights."""
    sums: Counter[str] = Counter()
    for row in findings:
        sums[row["fingerprint"]] += row["weight"]
    return dict(sums)


def _process(row: Mapping[str, Any]) -> Row:
    argv = row["argv"]
    names = (
        "pid",
        "wall_ns",
        "exclusive_ns",
        "in_call_ns",
        "calls",
        "failed",
        "exit_code",
        "exit_signal",
        "first_line",
    )
    return {name: row[name] for name in names} | {
        "program": short(row["program"]) or None,
        "argv_hash": blake2b(argv.encode(errors="surrogateescape"), digest_size=8).hexdigest() if argv else None,
    }


def _calls(trace: Trace) -> Iterator[Row]:
    """Calls with the histograms of their durations; beyond a number of rows, targets are folded."""
    table = trace.calls(by=_CALL_KEYS)
    histograms = trace.call_histograms(_CALL_KEYS)
    rest: dict[tuple[Any, ...], tuple[Row, Counter[int]]] = {}
    for number, (row, histogram) in enumerate(zip(table, histograms, strict=True)):
        made = _call(row)
        if number < FLEET_MAX_CALL_ROWS:
            yield made | _packed(dict(histogram))
        else:
            _fold(rest, made, histogram)
    for made, counts in rest.values():
        yield made | _packed(counts)


def _call(row: Mapping[str, Any]) -> Row:
    names = ("syscall", "op", "outcome", "errno", "calls", "failed", "total_ns", "exclusive_ns", "max_ns", "bytes")
    return {name: row[name] for name in names} | {
        "program": row["program_name"],
        "target": row["normalized_target"],
        "first_line": row["first_line"],
        "folded": 0,
    }


def _fold(
    rest: dict[tuple[Any, ...], tuple[Row, Counter[int]]], row: Row, histogram: Sequence[tuple[int, int]]
) -> None:
    key = tuple(row[name] for name in ("program", "syscall", "outcome", "errno"))
    into, counts = rest.setdefault(
        key,
        (
            row | {"op": None, "target": None, "calls": 0, "failed": 0, "total_ns": 0, "exclusive_ns": 0, "bytes": 0},
            Counter(),
        ),
    )
    for name in ("calls", "failed", "total_ns", "exclusive_ns", "bytes"):
        into[name] += row[name] or 0
    into["max_ns"] = max((each for each in (into["max_ns"], row["max_ns"]) if each is not None), default=None)
    into["folded"] += 1
    counts.update(dict(histogram))


def _packed(histogram: Mapping[int, int]) -> Row:
    buckets = sorted(histogram)
    return {"buckets": buckets, "counts": [histogram[each] for each in buckets]}


def _classes(trace: Trace) -> Iterator[Row]:
    for row in trace.partition_by(["class"]):
        yield {name: row[name] for name in ("class", "exclusive_ns", "share", "calls")}
