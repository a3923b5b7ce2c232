"""The columns of all tables that rules may use: those of the engine, and those that span several captures."""

from __future__ import annotations

from tracealyze import _engine

_SCALING = (
    ("program", "dict", "", "Program that makes the calls."),
    ("syscall", "dict", "", "Name of the system call."),
    ("shape", "dict", "", "Call, normalised target and outcome."),
    ("class", "dict", "", "How it grows: constant, linear, quadratic, …, irregular."),
    ("exponent", "f64", "", "k of the best fit of c + a·N^k."),
    ("exponent_low", "f64", "", "The smallest k of the fits that leave out one size each."),
    ("exponent_high", "f64", "", "The largest of them."),
    ("misfit", "f64", "share", "The largest deviation of a count from the fit, as a part of it."),
    ("sizes", "i64", "count", "Number of different sizes."),
    ("smallest", "f64", "", "The smallest size N."),
    ("largest", "f64", "", "The largest size."),
    ("target", "f64", "", "The size for which growth is predicted."),
    ("first_calls", "i64", "count", "Number of calls at the smallest size."),
    ("calls", "i64", "count", "Number of calls at the largest size."),
    ("share", "f64", "share", "Their part of all calls at the largest size."),
    ("predicted", "i64", "count", "Number of calls to expect at the target size."),
    ("predicted_low", "i64", "count", "The smallest such number of the fits that leave out one size each."),
    ("predicted_high", "i64", "count", "The largest of them."),
    ("predicted_share", "f64", "share", "Part of all calls that are to be expected at the target size."),
)

MULTI_CAPTURE = ("scaling",)
"""Tables that span several captures. Their rules do not apply to a single one."""

SCHEMA = [*_engine.SCHEMA, *(("scaling", *column) for column in _SCALING)]
"""(table, column, type, unit, description) of every column."""
