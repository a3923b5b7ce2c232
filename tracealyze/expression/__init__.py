"""The one expression language: of `--where`, of rules, and of budgets.

A condition is a text such as `syscall == "openat" and dur_ns >= 10ms`. `parse` checks it against the columns of a
table and gives a small tree; `for_engine()` of that is nested tuples, which the engine evaluates on a whole table and
`evaluate` on one row. What is missing meets no comparison, `!=` and `!~` included; `is missing` asks for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tracealyze.expression.budget import Budget, parse_budget
    from tracealyze.expression.evaluation import evaluate, evaluate_group
    from tracealyze.expression.parsing import WrongExpression, parse
    from tracealyze.expression.tree import Expression, Form

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
    """Each part when it is asked for: rules that are ready need only be evaluated."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"tracealyze.expression.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
