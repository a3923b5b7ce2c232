"""The columns of all tables that rules may use: those of the engine, and those that span several captures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from tracealyze import _engine

_SCALING = (
    ("program", "dict", "", "Program that makes the calls."),
    ("syscall", "dict", "", "Name of the system call."),
    ("shape", "dict", "", "Call, normalized target and outcome."),
    ("class", "dict", "", "How the count grows: constant, linear, quadratic, …, irregular."),
    ("exponent", "f64", "", "k of the best fit of c + a·N^k."),
    ("exponent_low", "f64", "", "Lower bound of k: the smallest over the fits that omit one size each."),
    ("exponent_high", "f64", "", "Upper bound of k: the largest over these fits."),
    ("misfit", "f64", "share", "Largest relative deviation of a count from the fit."),
    ("sizes", "i64", "count", "Number of different sizes."),
    ("smallest", "f64", "", "Smallest size N."),
    ("largest", "f64", "", "Largest size N."),
    ("target", "f64", "", "Size for which the count is predicted."),
    ("first_calls", "i64", "count", "Number of calls at the smallest size."),
    ("calls", "i64", "count", "Number of calls at the largest size."),
    ("share", "f64", "share", "Share of all calls at the largest size."),
    ("predicted", "i64", "count", "Predicted number of calls at the target size."),
    ("predicted_low", "i64", "count", "Lower bound of the prediction, over the fits that omit one size each."),
    ("predicted_high", "i64", "count", "Upper bound of the prediction, over these fits."),
    ("predicted_share", "f64", "share", "Share of all calls predicted at the target size."),
)

MOMENTS = frozenset(("start_ns", "end_ns", "birth_ns", "death_ns", "first_ns", "last_ns"))
"""Columns with times on the clock of a capture. Other columns in nanoseconds are durations."""

MULTI_CAPTURE = ("scaling",)
"""Tables that span several captures. Their rules do not apply to a single one."""

SCHEMA = [*_engine.SCHEMA, *(("scaling", *column) for column in _SCALING)]
"""(table, column, type, unit, description) of every column."""


@cache
def units_of(table: str) -> Mapping[str, str]:
    """Units of the columns of a table: ns, bytes, share, count, or empty."""
    counts = {
        name
        for known, name, kind, unit, _ in SCHEMA
        if known == table and kind == "i64" and not unit and not name.endswith("line")
    }
    return {name: "count" if name in counts else unit for known, name, _, unit, _ in SCHEMA if known == table}
