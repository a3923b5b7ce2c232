"""The one expression language: of `--where`, of rules, and of budgets.

A condition is a text such as `syscall == "openat" and dur_ns >= 10ms`. `parse` checks it against the columns of a
table and gives a small tree; `for_engine()` of that is nested tuples, which the engine evaluates on a whole table and
`evaluate` on one row. What is missing meets no comparison, `!=` and `!~` included; `is missing` asks for it.
"""

from tracealyze.expression.budget import Budget, parse_budget
from tracealyze.expression.evaluation import evaluate, evaluate_group
from tracealyze.expression.parsing import WrongExpression, parse
from tracealyze.expression.tree import Expression, Form

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
