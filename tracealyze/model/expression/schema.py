"""The tables that rules may use: those of the engine, and those that compare several captures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from tracealyze import _engine


class TableInfo(NamedTuple):
    """A table."""

    name: str
    says: str
    """What its rows are."""
    times: str
    """Whose times it has: calls, gaps (between calls) or lives (of tasks)."""
    spans_captures: bool = False
    """Whether it compares several captures, so that its rules do not apply to a single one."""


class Column(NamedTuple):
    """A column of a table."""

    table: str
    name: str
    kind: str
    """The Arrow type: i64, f64, bool, dict (texts), list (of texts) …"""
    unit: str
    """ns, bytes, share, count, or empty."""
    says: str
    merge: str
    """How the values of several rows become one: same, sum, min, max or union."""


_SCALING = (
    ("program", "dict", "", "Program that makes the calls.", "same"),
    ("syscall", "dict", "", "Name of the system call.", "same"),
    ("shape", "dict", "", "Call, normalized target and outcome.", "same"),
    ("class", "dict", "", "How the count grows: constant, linear, quadratic, …, irregular.", "same"),
    ("exponent", "f64", "", "k of the best fit of c + a·N^k.", "same"),
    ("exponent_low", "f64", "", "Lower bound of k: the smallest over the fits that omit one size each.", "same"),
    ("exponent_high", "f64", "", "Upper bound of k: the largest over these fits.", "same"),
    ("misfit", "f64", "share", "Largest relative deviation of a count from the fit.", "max"),
    ("sizes", "i64", "count", "Number of different sizes.", "sum"),
    ("smallest", "f64", "", "Smallest size N.", "same"),
    ("largest", "f64", "", "Largest size N.", "same"),
    ("target", "f64", "", "Size for which the count is predicted.", "same"),
    ("first_calls", "i64", "count", "Number of calls at the smallest size.", "sum"),
    ("calls", "i64", "count", "Number of calls at the largest size.", "sum"),
    ("share", "f64", "share", "Share of all calls at the largest size.", "sum"),
    ("predicted", "i64", "count", "Predicted number of calls at the target size.", "sum"),
    ("predicted_low", "i64", "count", "Lower bound of the prediction, over the fits that omit one size each.", "sum"),
    ("predicted_high", "i64", "count", "Upper bound of the prediction, over these fits.", "sum"),
    ("predicted_share", "f64", "share", "Share of all calls predicted at the target size.", "sum"),
)

MOMENTS = frozenset(("start_ns", "end_ns", "birth_ns", "death_ns", "first_ns", "last_ns"))
"""Columns with times on the clock of a capture. Other columns in nanoseconds are durations."""

TABLES: Mapping[str, TableInfo] = {
    table.name: table
    for table in (
        *(TableInfo(*table) for table in _engine.TABLES),
        TableInfo("scaling", "How the number of calls grows with the size of the input.", "calls", spans_captures=True),
    )
}
"""All tables, by name."""

SCHEMA = [*(Column(*column) for column in _engine.SCHEMA), *(Column("scaling", *column) for column in _SCALING)]
"""Every column of every table."""


@cache
def units_of(table: str) -> Mapping[str, str]:
    """Units of the columns of a table: ns, bytes, share, count, or empty."""
    return {column.name: _unit(column) for column in SCHEMA if column.table == table}


def _unit(column: Column) -> str:
    is_count = column.kind == "i64" and not column.unit and not column.name.endswith("line")
    return "count" if is_count else column.unit


@cache
def merges_of(table: str) -> Mapping[str, str]:
    """How the values of several rows become one, by column of a table."""
    return {column.name: column.merge for column in SCHEMA if column.table == table}
