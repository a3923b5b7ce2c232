"""Budgets: `calls[openat, ENOENT] <= 200`, a metric and what must hold for it."""

from __future__ import annotations

from dataclasses import dataclass

from tracealyze.expression.parsing import LONGEST, WrongExpression


@dataclass(frozen=True)
class Budget:
    """A limit of a metric, as it is written; whether there is such a metric is another question."""

    text: str
    metric: str
    arguments: tuple[str, ...]
    operator: str
    value: int | float
    unit: str
    """ns, bytes, share, or nothing."""


def parse_budget(text: str, origin: str = "") -> Budget:
    """A budget from its text."""
    from tracealyze.expression import grammar

    try:
        if len(text) > LONGEST:
            raise grammar.Mistake(f"too long: the limit is {LONGEST:,} characters", LONGEST)
        metric, arguments, operator, limit = grammar.budget(text)
    except grammar.Mistake as mistake:
        raise WrongExpression(mistake.problem, text, mistake.at, origin) from None
    assert isinstance(limit.value, int | float)
    return Budget(text, metric.name, tuple(arguments), operator, limit.value, limit.unit)
