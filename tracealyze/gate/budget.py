"""Budgets: `calls[openat, ENOENT] <= 200`, limits that hold whatever a baseline says."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from tracealyze import units
from tracealyze.errors import WrongUsage
from tracealyze.metrics import Name

if TYPE_CHECKING:
    from pyparsing import ParserElement

OPERATORS: Mapping[str, Callable[[int, int], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
_SIZES = {"bytes": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}


@dataclass(frozen=True)
class Budget:
    """What must hold for a metric."""

    text: str
    name: Name
    operator: str
    limit: int

    def holds(self, value: int) -> bool:
        """Whether a value is within it."""
        return OPERATORS[self.operator](value, self.limit)


def budget_of(text: str) -> Budget:
    """A budget from its text; what is wrong with it is said with the place."""
    from pyparsing import ParseException

    try:
        found: Any = _grammar().parse_string(text, parse_all=True)
    except ParseException as error:
        raise WrongUsage(
            f'budget "{text}", column {error.column}: expected a form such as "calls[openat] <= 200" '
            "(METRIC[ARGUMENTS], one of <= < == != > >=, a number with its unit)."
        ) from error
    name = Name(found["metric"], tuple(found.get("arguments", ())))
    return Budget(text, name, found["operator"], _amount(text, name, found["number"], found.get("unit", "")))


def _amount(text: str, name: Name, number: str, unit: str) -> int:
    wanted = name.metric.unit
    if wanted == "ns":
        if not unit:
            raise WrongUsage(f'budget "{text}": {name} is a length of time; write {number}ms or {number}s.')
        return units.read_duration(f"{number}{unit}")
    if unit and (wanted != "bytes" or unit not in _SIZES):
        raise WrongUsage(f'budget "{text}": {name} is {"in bytes" if wanted else "a number"}, not in {unit}.')
    return round(float(number) * _SIZES.get(unit, 1))


@cache
def _grammar() -> ParserElement:
    from pyparsing import DelimitedList, Opt, QuotedString, Regex, Suppress, one_of

    argument = QuotedString('"') | Regex(r"[^\s,\[\]\"]+")
    arguments = Suppress("[") + DelimitedList(argument)("arguments") + Suppress("]")
    metric = Regex(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")("metric")
    amount = Regex(r"\d+(?:\.\d+)?")("number") + Opt(Regex(r"[A-Za-zµ]+")("unit"))
    return metric + Opt(arguments) + one_of(list(OPERATORS))("operator") + amount
