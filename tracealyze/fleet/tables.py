"""The tables of a store, as Arrow schemas. Times are integers of nanoseconds, shares are 0 to 1."""

from __future__ import annotations

from tracealyze.fleet.arrow import pa

VERSION = "tracealyze.fleet/1"
"""The layout of the store, in `store.json`."""

_TEXT, _INT, _FLOAT, _BOOL = pa.string(), pa.int64(), pa.float64(), pa.bool_()

CAPTURES = pa.schema(
    {
        "capture_id": _INT,
        "uri": _TEXT,
        "item": _TEXT,
        "etag": _TEXT,
        "labels_hash": _TEXT,
        "engine": _TEXT,
        "rules_hash": _TEXT,
        "status": _TEXT,
        "error_kind": _TEXT,
        "error": _TEXT,
        "seconds": _FLOAT,
        "format": _TEXT,
        "bytes": _INT,
        "lines": _INT,
        "processes": _INT,
        "threads": _INT,
        "calls": _INT,
        "failed": _INT,
        "wall_ns": _INT,
        "start_ns": _INT,
        "no_window": _TEXT,
        "filtered": _BOOL,
        "cut": _BOOL,
        "syscalls": _TEXT,
        "has_durations": _BOOL,
        "overhead_share": _FLOAT,
        "lost_lines": _INT,
        "impact_low_ns": _INT,
        "impact_high_ns": _INT,
        "unexplained_ns": _INT,
        "findings": _INT,
        "weight": _FLOAT,
        "labels": pa.map_(_TEXT, _TEXT),
    }
)
PROCESSES = pa.schema(
    {
        "capture_id": _INT,
        "pid": _INT,
        "program": _TEXT,
        "argv_hash": _TEXT,
        "wall_ns": _INT,
        "exclusive_ns": _INT,
        "in_call_ns": _INT,
        "calls": _INT,
        "failed": _INT,
        "exit_code": _INT,
        "exit_signal": _TEXT,
        "first_line": _INT,
    }
)
CALLS = pa.schema(
    {
        "capture_id": _INT,
        "program": _TEXT,
        "syscall": _TEXT,
        "op": _TEXT,
        "target": _TEXT,
        "outcome": _TEXT,
        "errno": _TEXT,
        "calls": _INT,
        "failed": _INT,
        "total_ns": _INT,
        "exclusive_ns": _INT,
        "max_ns": _INT,
        "bytes": _INT,
        "first_line": _INT,
        "folded": _INT,
        "buckets": pa.list_(pa.uint16()),
        "counts": pa.list_(pa.uint64()),
    }
)
CLASSES = pa.schema({"capture_id": _INT, "class": _TEXT, "exclusive_ns": _INT, "share": _FLOAT, "calls": _INT})
FINDINGS = pa.schema(
    {
        "capture_id": _INT,
        "code": _TEXT,
        "rule": _TEXT,
        "title": _TEXT,
        "severity": _TEXT,
        "confidence": _TEXT,
        "basis": _TEXT,
        "fingerprint": _TEXT,
        "pid": _INT,
        "program": _TEXT,
        "syscall": _TEXT,
        "op": _TEXT,
        "target": _TEXT,
        "calls": _INT,
        "impact_low_ns": _INT,
        "impact_high_ns": _INT,
        "share": _FLOAT,
        "weight": _FLOAT,
        "line": _INT,
        "diagnosis": _TEXT,
    }
)

TABLES = {"captures": CAPTURES, "processes": PROCESSES, "calls": CALLS, "classes": CLASSES, "findings": FINDINGS}
"""All tables by their names."""

NOT_LOGICAL = ("seconds",)
"""Columns that depend on the machine: two stores of the same captures may differ in them."""
