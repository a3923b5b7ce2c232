"""The value of an expression for one row or a group of rows, for the few rows that a rule has already matched.

The engine evaluates the same forms on whole tables. This second evaluator exists for what the engine does not do: the
aggregates of `keep`, the numbers of `impact`, and rows made in Python (growth over several captures). The rules
evaluate one to six such forms on a sample, in less than 0.1 ms. To do that in the engine, rows would have to
be copied back into a table of it, and its filter would need groups, aggregates and values other than conditions.

Both have the same meaning: integers stay integers while they fit into 64 bits, division gives a fraction, and a value
that is missing, or divided by zero, is missing and matches no comparison. tests/test_expression.py compares the two on
generated conditions, row by row (`engine_and_python_agree_on_every_row`) and on whole tables
(`engine_and_python_filter_tables_alike`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import ceil, isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

from tracealyze import _engine

if TYPE_CHECKING:
    from tracealyze.model.expression.tree import Expression, Form

Row: TypeAlias = Mapping[str, Any]
Value: TypeAlias = Any
"""A number, a text, a list of texts, True or False, or None if missing."""

_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CALCULATED: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
_LARGEST = 2**63


def evaluate(expression: Expression | Form, row: Row) -> Value:
    """The value for one row: True or False for a condition, None if missing."""
    return _value(_form(expression), row, (row,))


def evaluate_group(expression: Expression | Form, rows: Sequence[Row]) -> Value:
    """The value for a group of rows. A column outside of an aggregate has a value where all rows agree."""
    return _value(_form(expression), _Common(rows), rows)


class _Common(Mapping[str, Any]):
    """The values that all rows of a group have in common."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows

    def __getitem__(self, name: str) -> Value:
        first = self._rows[0].get(name) if self._rows else None
        return first if all(row.get(name) == first for row in self._rows) else None

    def __iter__(self) -> Any:
        return iter(self._rows[0] if self._rows else ())

    def __len__(self) -> int:
        return len(self._rows[0]) if self._rows else 0


def _form(expression: Expression | Form) -> Form:
    for_engine = getattr(expression, "for_engine", None)
    return expression if for_engine is None else for_engine()


def _value(form: Form, row: Row, rows: Sequence[Row]) -> Value:
    if not isinstance(form, tuple | list):
        return form
    name, *parts = form
    if name == "column":
        return _plain(row.get(parts[0]))
    if name in ("and", "or"):
        truths = (_is_true(part, row, rows) for part in parts)
        return all(truths) if name == "and" else any(truths)
    if name == "not":
        return not _is_true(parts[0], row, rows)
    if name == "missing":
        return _value(parts[0], row, rows) is None
    if name in _CALCULATED:
        return _calculated(name, _value(parts[0], row, rows), _value(parts[1], row, rows))
    if name in _COMPARED:
        return _compares(name, _value(parts[0], row, rows), _value(parts[1], row, rows))
    if name in ("in", "not in"):
        return _is_among(name == "in", _value(parts[0], row, rows), parts[1])
    if name in ("~", "!~"):
        return _matches(name == "~", _value(parts[0], row, rows), parts[1])
    return _aggregate(name, parts, rows)


def _is_true(form: Form, row: Row, rows: Sequence[Row]) -> bool:
    return _value(form, row, rows) is True


def _plain(value: Value) -> Value:
    """The value as the engine has it: empty lists and numbers that are not finite are missing."""
    if isinstance(value, float) and not isfinite(value):
        return None
    return None if isinstance(value, list | tuple) and not value else value


def _number(value: int | float) -> int | float | None:
    if isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
        value = float(value)
    return value if isfinite(value) else None


def _calculated(name: str, left: Value, right: Value) -> Value:
    if left is None or right is None or (name == "/" and right == 0):
        return None
    if name == "/" or isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
    return _number(_CALCULATED[name](left, right))


def _compares(name: str, left: Value, right: Value) -> bool:
    if left is None or right is None:
        return False
    if isinstance(left, list | tuple) or isinstance(right, list | tuple):
        texts, text = (left, right) if isinstance(left, list | tuple) else (right, left)
        return (text in texts) == (name == "==")
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
    return _COMPARED[name](left, right)


def _is_among(wanted: bool, value: Value, values: Sequence[Value]) -> bool:
    if value is None:
        return False
    return any(_compares("==", value, each) for each in values) == wanted


def _matches(wanted: bool, value: Value, pattern: str) -> bool:
    if value is None:
        return False
    texts = value if isinstance(value, list | tuple) else (value,)
    return any(_pattern(pattern).found_in(text) for text in texts) == wanted


@cache
def _pattern(text: str) -> _engine.Pattern:
    return _engine.Pattern(text)


def _aggregate(name: str, columns: Sequence[str], rows: Sequence[Row]) -> Value:
    if not columns:
        return len(rows)
    values = [value for value in (_plain(row.get(columns[0])) for row in rows) if value is not None]
    if name == "count":
        return len(values)
    if name == "sum":
        return _number(sum(values))
    if not values:
        return None
    if name in _QUANTILES:
        # The nearest rank, which is one of the values.
        return sorted(values)[max(0, ceil(_QUANTILES[name] * len(values)) - 1)]
    if name == "mean":
        return _number(sum(values) / len(values))
    return min(values) if name == "min" else max(values)
