"""Budgets: limits such as `calls[openat, ENOENT] <= 200`, independent of any baseline."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tracealyze.base.errors import WrongUsage
from tracealyze.compare.metrics import Name

OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
_MEANT = {"": "a number", "bytes": "in bytes; write 4KiB", "ns": "a duration; write 10ms or 1.5s"}


@dataclass(frozen=True)
class Budget:
    """A limit of a metric."""

    text: str
    name: Name
    operator: str
    limit: int

    def holds(self, value: int) -> bool:
        """Whether a value is within the limit."""
        return OPERATORS[self.operator](value, self.limit)


def budget_of(text: str) -> Budget:
    """A budget from its text. Raises `WrongUsage` for mistakes and unknown metrics."""
    from tracealyze.model.expression import parse_budget

    found = parse_budget(text, "--budget")
    name = Name(found.metric, found.arguments)
    unit = name.metric.unit
    # Bytes need no unit, but a time without one is probably a mistake.
    if found.unit != unit and not (unit == "bytes" and not found.unit):
        raise WrongUsage(f'--budget "{text}": {name} is {_MEANT[unit]}.')
    if found.value != round(found.value):
        raise WrongUsage(f'--budget "{text}": {name} is a whole number.')
    return Budget(text, name, found.operator, round(found.value))
