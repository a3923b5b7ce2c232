"""Budgets: a metric and its limit, such as `calls[openat, ENOENT] <= 200`."""

from __future__ import annotations

from dataclasses import dataclass

from tracealyze.model.expression.parsing import MAX_LENGTH, WrongExpression


@dataclass(frozen=True)
class Budget:
    """A metric and its limit as written. Whether there is such a metric is checked elsewhere."""

    text: str
    metric: str
    arguments: tuple[str, ...]
    operator: str
    value: int | float
    unit: str
    """ns, bytes, share, or empty."""


def parse_budget(text: str, origin: str = "") -> Budget:
    """A budget from its text. Raises `WrongExpression` if it cannot be parsed."""
    from tracealyze.model.expression import grammar

    try:
        if len(text) > MAX_LENGTH:
            raise grammar.Mistake(f"too long: the limit is {MAX_LENGTH:,} characters", MAX_LENGTH)
        metric, arguments, operator, limit = grammar.budget(text)
    except grammar.Mistake as mistake:
        raise WrongExpression(mistake.problem, text, mistake.at, origin) from None
    assert isinstance(limit.value, int | float)
    return Budget(text, metric.name, tuple(arguments), operator, limit.value, limit.unit)
