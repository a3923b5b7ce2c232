"""Budgets: `calls[openat, ENOENT] <= 200`, limits that hold whatever a baseline says."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tracealyze.compare.metrics import Name
from tracealyze.errors import WrongUsage

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
    """What must hold for a metric."""

    text: str
    name: Name
    operator: str
    limit: int

    def holds(self, value: int) -> bool:
        """Whether a value is within it."""
        return OPERATORS[self.operator](value, self.limit)


def budget_of(text: str) -> Budget:
    """A budget from its text. Which metrics there are is checked here, the rest by the one expression language."""
    from tracealyze.expression import parse_budget

    found = parse_budget(text, "--budget")
    name = Name(found.metric, found.arguments)
    unit = name.metric.unit
    # A bare number of bytes is one; a bare number of nanoseconds is more likely a forgotten unit.
    if found.unit != unit and not (unit == "bytes" and not found.unit):
        raise WrongUsage(f'--budget "{text}": {name} is {_MEANT[unit]}.')
    if found.value != round(found.value):
        raise WrongUsage(f'--budget "{text}": {name} is a whole number.')
    return Budget(text, name, found.operator, round(found.value))
