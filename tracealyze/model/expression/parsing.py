"""Parsing a text into an expression that fits its table, or an error that shows the place of the mistake."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tracealyze.base.errors import WrongUsage
from tracealyze.base.sanitize import shown
from tracealyze.model.expression.tree import Expression, walk

if TYPE_CHECKING:
    from tracealyze.model.expression.checks import Type

MAX_LENGTH = 4000
"""Maximum length of an expression, in characters."""
MAX_NESTING = 24
"""Maximum nesting of parentheses: the grammar needs some forty stack frames for each."""
_MAX_TREE_DEPTH = 100
_TEXTS = re.compile(r'"(?:[^"\\\n]|\\.)*"' + "|" + r"'(?:[^'\\\n]|\\.)*'")
_MAX_WIDTH = 100


class WrongExpression(WrongUsage):
    """An expression that cannot be parsed or does not fit its table, with a caret below the mistake."""

    def __init__(self, problem: str, text: str, at: int, origin: str = "") -> None:
        self.text = text
        self.at = min(at, len(text))
        where = f"{origin}, column {self.at + 1}" if origin else f"column {self.at + 1}"
        self.message = f"{where}: {problem.rstrip('.?')}{'?' if problem.endswith('?') else '.'}"
        super().__init__(self.message)

    @property
    def lines(self) -> tuple[str, ...]:
        """The message, the line with the mistake, and a caret below the place."""
        start = self.text.rfind("\n", 0, self.at) + 1
        end = self.text.find("\n", self.at)
        line = self.text[start : end if end >= 0 else len(self.text)]
        at = self.at - start
        # Only the part of a long line around the place.
        first = max(0, min(at - _MAX_WIDTH // 2, len(line) - _MAX_WIDTH))
        before, after = line[first:at], line[at : first + _MAX_WIDTH]
        word = re.match(r"\w+", after)
        before = f"…{before}" if first else before
        after += "…" if first + _MAX_WIDTH < len(line) else ""
        caret = " " * len(shown(before)) + "^" * len(word[0] if word else "^")
        return (self.message, f"  {shown(before + after)}", f"  {caret}")

    def __str__(self) -> str:
        return "\n".join(self.lines)


def parse(
    text: str,
    table: str,
    *,
    grouped: bool = False,
    kind: str = "",
    origin: str = "",
    columns: Mapping[str, Type] | None = None,
) -> Expression:
    """The expression of a text, checked against the columns of a table.

    `columns` are those of a table that the engine does not have; `grouped` allows sums and other aggregates; `kind`
    requires a "condition" or a "number"; `origin` is the first part of error messages. Raises `WrongExpression`."""
    from tracealyze.model.expression import checks, grammar

    try:
        _must_be_small(text)
        root = grammar.tree(text)
        deep = [node for depth, node in walk(root) if depth > _MAX_TREE_DEPTH]
        if deep:
            raise grammar.Mistake("operations are nested too deeply; split the condition", deep[0].at)
        found = checks.checked(root, table, grouped, columns)
        if kind and found.kind != kind:
            raise grammar.Mistake(f"a {kind} is required here, but this is {found.called}", root.at)
    except grammar.Mistake as mistake:
        raise WrongExpression(mistake.problem, text, mistake.at, origin) from None
    except RecursionError:
        raise WrongExpression("nested too deeply; split the condition", text, 0, origin) from None
    return Expression(text, table, root, found.kind, found.unit)


def _must_be_small(text: str) -> None:
    from tracealyze.model.expression.grammar import Mistake

    if len(text) > MAX_LENGTH:
        raise Mistake(f"too long: {len(text):,} characters, the limit is {MAX_LENGTH:,}", MAX_LENGTH)
    if not text.strip():
        raise Mistake("the expression is empty", 0)
    depth = 0
    blanked = _TEXTS.sub(lambda found: "." * len(found[0]), text)
    for at, character in enumerate(blanked):
        depth += (character == "(") - (character == ")")
        if depth > MAX_NESTING:
            raise Mistake(f"more than {MAX_NESTING} nested parentheses; split the condition", at)
