"""The expression language of `--where`, rules and budgets.

A condition is a text such as `syscall == "openat" and dur_ns >= 10ms`. `parse` checks it against the columns of a
table and returns a small tree. `for_engine()` of that is a form of nested tuples, which the engine evaluates on a
whole table and `evaluate` on one row. A missing value matches no comparison, not even `!=` and `!~`; `is missing`
matches it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tracealyze.model.expression.budget import Budget, parse_budget
    from tracealyze.model.expression.evaluation import evaluate, evaluate_group
    from tracealyze.model.expression.parsing import WrongExpression, parse
    from tracealyze.model.expression.tree import Expression, Form

_MODULES = {
    "budget": ("Budget", "parse_budget"),
    "evaluation": ("evaluate", "evaluate_group"),
    "parsing": ("WrongExpression", "parse"),
    "tree": ("Expression", "Form"),
}

__all__ = [
    "Budget",
    "Expression",
    "Form",
    "WrongExpression",
    "evaluate",
    "evaluate_group",
    "parse",
    "parse_budget",
]


def __getattr__(name: str) -> Any:
    """Import each part on first use: compiled rules need only the evaluation."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"tracealyze.model.expression.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
