"""Conditions in the language of `--where`, on tables of a store. Labels are columns, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracealyze.base.errors import WrongUsage
from tracealyze.fleet.arrow import Table, compute, pa
from tracealyze.model import expression
from tracealyze.model.expression.checks import CONDITION, Type

_UNITS = (("_ns", "ns"), ("bytes", "bytes"), ("share", "share"))


def types_of(schema: Any) -> dict[str, Type]:
    """The columns of a schema that conditions can use."""
    types = {}
    for field in schema:
        if pa.types.is_string(field.type):
            types[field.name] = Type("text")
        elif pa.types.is_boolean(field.type):
            types[field.name] = CONDITION
        elif pa.types.is_integer(field.type) or pa.types.is_floating(field.type):
            unit = next((unit for ending, unit in _UNITS if field.name.endswith(ending)), "")
            types[field.name] = Type("number", unit)
    return types


def parsed(schema: Any, text: str, name: str, origin: str) -> Any:
    """A condition on columns of a schema. Raises `WrongExpression`."""
    return expression.parse(text, name, kind="condition", origin=origin, columns=types_of(schema)).for_engine()


def used(form: Any) -> set[str]:
    """The columns that a condition needs."""
    if not isinstance(form, tuple | list) or not form:
        return set()
    if form[0] == "column":
        return {form[1]}
    return {name for part in form[1:] for name in used(part)}


def mask(table: Table, form: Any) -> Any:
    """For each row whether it meets a condition."""
    return _truth(form, table)


def _truth(form: Any, table: Table) -> Any:
    """A condition that is missing is false, as everywhere in the language."""
    value = _value(form, table)
    if isinstance(value, bool) or value is None:
        value = pa.array([bool(value)] * len(table))
    return compute.fill_null(value, False)


def _value(form: Any, table: Table) -> Any:
    if not isinstance(form, tuple | list):
        return form
    name, *parts = form
    if name == "column":
        return table[parts[0]]
    if name in ("and", "or"):
        joined = _truth(parts[0], table)
        for part in parts[1:]:
            joined = (compute.and_ if name == "and" else compute.or_)(joined, _truth(part, table))
        return joined
    if name == "not":
        return compute.invert(_truth(parts[0], table))
    if name == "missing":
        return compute.is_null(_value(parts[0], table))
    return _of_values(name, _value(parts[0], table), parts[1:], table)


_COMPARED = {"==": "equal", "!=": "not_equal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"}
_CALCULATED = {"+": "add", "-": "subtract", "*": "multiply"}


def _of_values(name: str, left: Any, parts: Sequence[Any], table: Table) -> Any:
    if name in _COMPARED:
        return compute.call_function(_COMPARED[name], [_array(left), _array(_value(parts[0], table))])
    if name in _CALCULATED:
        return compute.call_function(_CALCULATED[name], [_array(left), _array(_value(parts[0], table))])
    if name == "/":
        divisor = compute.cast(_array(_value(parts[0], table)), pa.float64())
        known = compute.if_else(compute.equal(divisor, 0.0), None, divisor)
        return compute.divide(compute.cast(_array(left), pa.float64()), known)
    if name in ("in", "not in"):
        among = compute.is_in(left, value_set=pa.array(list(parts[0])))
        found = among if name == "in" else compute.invert(among)
        return compute.and_(found, compute.is_valid(left))
    if name in ("~", "!~"):
        try:
            matches = compute.match_substring_regex(left, parts[0])
        except pa.ArrowInvalid as error:
            raise WrongUsage(f'where: "{parts[0]}" is not a valid regular expression: {error}.') from error
        return matches if name == "~" else compute.invert(matches)
    raise WrongUsage(f"where: {name} is not possible here: rows are not in groups.")


def _array(value: Any) -> Any:
    return value if isinstance(value, pa.ChunkedArray | pa.Array) else pa.scalar(value)
