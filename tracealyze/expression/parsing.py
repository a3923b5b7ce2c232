"""From a text to an expression that fits its table, or to a mistake that shows where it is."""

from __future__ import annotations

import re

from tracealyze.errors import WrongUsage
from tracealyze.expression.tree import Expression, walk
from tracealyze.sanitize import shown

LONGEST = 4000
"""Characters of an expression."""
DEEPEST = 24
"""Parentheses in each other: the grammar needs some forty frames of the stack for each."""
_DEEPEST_TREE = 100
_TEXTS = re.compile(r'"(?:[^"\\\n]|\\.)*"' + "|" + r"'(?:[^'\\\n]|\\.)*'")
_WIDEST = 100


class WrongExpression(WrongUsage):
    """An expression that cannot be understood, or does not fit: what is wrong, and the text with a caret below."""

    def __init__(self, problem: str, text: str, at: int, origin: str = "") -> None:
        self.text = text
        self.at = min(at, len(text))
        where = f"{origin}, column {self.at + 1}" if origin else f"column {self.at + 1}"
        self.message = f"{where}: {problem.rstrip('.?')}{'?' if problem.endswith('?') else '.'}"
        super().__init__(self.message)

    @property
    def lines(self) -> tuple[str, ...]:
        """The message, the line of the text that it is about, and a caret below the place."""
        start = self.text.rfind("\n", 0, self.at) + 1
        end = self.text.find("\n", self.at)
        line = self.text[start : end if end >= 0 else len(self.text)]
        at = self.at - start
        # Of a long line, the part around the place.
        first = max(0, min(at - _WIDEST // 2, len(line) - _WIDEST))
        before, after = line[first:at], line[at : first + _WIDEST]
        word = re.match(r"\w+", after)
        before = f"…{before}" if first else before
        after += "…" if first + _WIDEST < len(line) else ""
        caret = " " * len(shown(before)) + "^" * len(word[0] if word else "^")
        return (self.message, f"  {shown(before + after)}", f"  {caret}")

    def __str__(self) -> str:
        return "\n".join(self.lines)


def parse(text: str, table: str, *, grouped: bool = False, kind: str = "", origin: str = "") -> Expression:
    """The expression of a text, checked against the columns of a table.

    `grouped` allows sums and the like; `kind` asks for a "condition" or a "number"; `origin` begins the message of a
    mistake."""
    from tracealyze.expression import checks, grammar

    try:
        _must_be_small(text)
        root = grammar.tree(text)
        deep = [node for depth, node in walk(root) if depth > _DEEPEST_TREE]
        if deep:
            raise grammar.Mistake("operations are nested too deeply; split the condition", deep[0].at)
        found = checks.checked(root, table, grouped)
        if kind and found.kind != kind:
            raise grammar.Mistake(f"a {kind} is required here, but this is {found.called}", root.at)
    except grammar.Mistake as mistake:
        raise WrongExpression(mistake.problem, text, mistake.at, origin) from None
    except RecursionError:
        raise WrongExpression("nested too deeply; split the condition", text, 0, origin) from None
    return Expression(text, table, root, found.kind, found.unit)


def _must_be_small(text: str) -> None:
    from tracealyze.expression.grammar import Mistake

    if len(text) > LONGEST:
        raise Mistake(f"too long: {len(text):,} characters, the limit is {LONGEST:,}", LONGEST)
    if not text.strip():
        raise Mistake("the expression is empty", 0)
    depth = 0
    blanked = _TEXTS.sub(lambda found: "." * len(found[0]), text)
    for at, character in enumerate(blanked):
        depth += (character == "(") - (character == ")")
        if depth > DEEPEST:
            raise Mistake(f"more than {DEEPEST} nested parentheses; split the condition", at)
