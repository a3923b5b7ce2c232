"""Checking that an expression fits the columns of a table: names, types and units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from tracealyze import _engine
from tracealyze.base.errors import WrongUsage, did_you_mean
from tracealyze.model.expression.grammar import Mistake
from tracealyze.model.expression.schema import SCHEMA, TABLES
from tracealyze.model.expression.tree import (
    Aggregate,
    Binary,
    Column,
    Literal,
    Matching,
    Membership,
    Missing,
    Node,
    Not,
    Several,
)

FUNCTIONS = ("sum", "count", "min", "max", "mean", "p50", "p90", "p99")
"""Functions of the rows of a group."""

_CALCULATED = ("+", "-", "*", "/")
_ORDERED = ("<", "<=", ">", ">=")
_SUMMED = ("ns", "bytes", "share", "count")
_CALLED = {"ns": "a time", "bytes": "a number of bytes"}
# Names of columns in other tools.
_ELSEWHERE = {
    **dict.fromkeys(("duration", "elapsed", "latency", "took"), "dur_ns"),
    **dict.fromkeys(("call", "name", "function"), "syscall"),
    **dict.fromkeys(("path", "file", "fd", "peer", "host"), "target"),
    **dict.fromkeys(("comm", "command", "exe"), "program"),
    **dict.fromkeys(("error", "err"), "errno"),
    **dict.fromkeys(("result", "retval", "return"), "ret"),
    **dict.fromkeys(("size", "length"), "bytes"),
    **dict.fromkeys(("time", "timestamp", "stamp"), "start_ns"),
    "thread": "tid",
    "process": "pid",
}


@dataclass(frozen=True, slots=True)
class Type:
    """The type of an expression: a condition, a number with its unit, a text, or several texts."""

    kind: str
    unit: str = ""

    @property
    def called(self) -> str:
        """The type in words."""
        if self.kind == "number":
            return _CALLED.get(self.unit, "a number")
        return {"condition": "a condition", "texts": "a list of strings"}.get(self.kind, "a string")


CONDITION = Type("condition")
_PLAIN = Type("number")
_TYPES = {"dict": "text", "list": "texts", "bool": "condition"}


@cache
def columns_of(table: str) -> Mapping[str, Type]:
    """The columns of a table, with their types."""
    if table not in TABLES:
        raise WrongUsage(f'no table "{table}" ({", ".join(TABLES)}).{did_you_mean(table, TABLES)}')
    mine = (column for column in SCHEMA if column.table == table)
    return {column.name: Type(_TYPES.get(column.kind, "number"), column.unit) for column in mine}


def checked(root: Node, table: str, grouped: bool, columns: Mapping[str, Type] | None = None) -> Type:
    """The type of a tree. Raises `Mistake` for names, types and units that do not fit."""
    return _Check(table, columns_of(table) if columns is None else columns, grouped).of(root)


class _Check:
    def __init__(self, table: str, columns: Mapping[str, Type], grouped: bool) -> None:
        self.table = table
        self.columns = columns
        self.grouped = grouped

    def of(self, node: Node) -> Type:
        """The type of a node."""
        if isinstance(node, Literal | Column | Aggregate):
            return self._of_value(node)
        if isinstance(node, Binary):
            return self._of_arithmetic(node) if node.operator in _CALCULATED else self._of_comparison(node)
        if isinstance(node, Several):
            for part in node.parts:
                self._of_condition(part)
            return CONDITION
        return self._of_test(node)

    def _of_value(self, node: Literal | Column | Aggregate) -> Type:
        if isinstance(node, Literal):
            return _of_literal(node)
        return self._of_column(node) if isinstance(node, Column) else self._of_aggregate(node)

    def _of_test(self, node: Matching | Membership | Missing | Not) -> Type:
        if isinstance(node, Matching):
            return self._of_matching(node)
        if isinstance(node, Membership):
            return self._of_membership(node)
        return self._of_missing(node) if isinstance(node, Missing) else self._of_condition(node.operand)

    def _of_column(self, column: Column) -> Type:
        found = self._known(column)
        if self.grouped and found.kind == "number" and found.unit in _SUMMED:
            raise Mistake(
                f"a group has many values; write sum({column.name}), max({column.name}) or similar", column.at
            )
        return found

    def _known(self, column: Column) -> Type:
        found = self.columns.get(column.name)
        if found is not None:
            return found
        hint = (
            _near(column.name, self.columns)
            or f' Put strings in quotes: "{column.name}". Columns: {", ".join(self.columns)}'
        )
        raise Mistake(f'no column "{column.name}" in table {self.table}.{hint}', column.at)

    def _of_aggregate(self, node: Aggregate) -> Type:
        if node.function not in FUNCTIONS:
            hint = did_you_mean(node.function, FUNCTIONS) or f" Known: {', '.join(FUNCTIONS)}"
            raise Mistake(f'no function "{node.function}".{hint}', node.at)
        if not self.grouped:
            raise Mistake(f"{node.function}() works on a group of rows, but this condition is for single rows", node.at)
        if node.column is None:
            if node.function != "count":
                raise Mistake(f"{node.function}() of which column?", node.at)
            return _PLAIN
        found = self._known(node.column)
        if node.function == "count":
            return _PLAIN
        if found.kind != "number":
            raise Mistake(
                f"{node.column.name} is {found.called}, but {node.function}() works on numbers", node.column.at
            )
        return found

    def _of_condition(self, node: Node) -> Type:
        found = self.of(node)
        if found.kind != "condition":
            raise Mistake(f"a condition is required here, but this is {found.called}; compare it with a value", node.at)
        return CONDITION

    def _of_arithmetic(self, node: Binary) -> Type:
        left, right = self._number(node.left, node.operator), self._number(node.right, node.operator)
        if node.operator in "+-":
            self._agree(node, left, right)
            return left if left.unit or not right.unit else right
        if _is_plain(right):
            return left
        if node.operator == "*" and _is_plain(left):
            return right
        if node.operator == "/" and left.unit == right.unit:
            return _PLAIN
        what = "multiplied by" if node.operator == "*" else "divided by"
        raise Mistake(f"{left.called} {what} {right.called} has no meaning", node.right.at)

    def _number(self, node: Node, operator: str) -> Type:
        found = self.of(node)
        if found.kind != "number":
            raise Mistake(f'"{operator}" works on numbers, but this is {found.called}', node.at)
        return found

    def _of_comparison(self, node: Binary) -> Type:
        left, right = self.of(node.left), self.of(node.right)
        if {left.kind, right.kind} == {"number"}:
            self._agree(node, left, right)
        elif {left.kind, right.kind} <= {"text", "texts"}:
            if node.operator in _ORDERED:
                raise Mistake(f'strings cannot be ordered with "{node.operator}"; use ==, !=, ~ or in', node.left.at)
            if "texts" in (left.kind, right.kind) and not isinstance(node.right, Literal):
                raise Mistake("compare a list of strings with a string in quotes", node.right.at)
        elif left.kind == right.kind == "condition":
            if node.operator in _ORDERED:
                raise Mistake(f'"{node.operator}" compares numbers; use == or !=', node.left.at)
        else:
            raise Mistake(f"{_name(node.left, left)} cannot be compared with {right.called}", node.right.at)
        return CONDITION

    def _agree(self, node: Binary, left: Type, right: Type) -> None:
        """Whether a number needs no unit: 0 has any, and bytes are counted in only one way."""
        plain = _is_plain(left) or _is_plain(right)
        if left.unit == right.unit or (plain and "ns" not in (left.unit, right.unit)):
            return
        if _is_zero(node.left) or _is_zero(node.right):
            return
        for owner, mine, other in ((node.left, left, node.right), (node.right, right, node.left)):
            if plain and mine.unit == "ns" and isinstance(other, Literal):
                problem = f"{owner.name} is a time" if isinstance(owner, Column) else "it is compared with a time"
                raise Mistake(f"{problem}; give the unit, such as 10ms, 1.5s", other.at)
        raise Mistake(f"{_name(node.left, left)} is {left.called}, but this is {right.called}", node.right.at)

    def _of_matching(self, node: Matching) -> Type:
        self._text(node.operand, node.operator)
        try:
            _engine.Pattern(str(node.pattern.value))
        except _engine.InvalidPattern as error:
            raise Mistake(f"the pattern is not a valid regular expression: {error.args[1]}", node.pattern.at) from None
        return CONDITION

    def _text(self, node: Node, operator: str) -> None:
        found = self.of(node)
        if found.kind not in ("text", "texts"):
            raise Mistake(f'"{operator}" works on strings, but {_name(node, found)} is {found.called}', node.at)

    def _of_membership(self, node: Membership) -> Type:
        if self.of(node.operand).kind == "condition":
            raise Mistake('"in" works on numbers and strings; use a condition by itself', node.operand.at)
        for value in node.values:
            self._of_comparison(Binary("==", node.operand, value))
        return CONDITION

    def _of_missing(self, node: Missing) -> Type:
        if self.of(node.operand).kind == "condition" and not isinstance(node.operand, Column):
            raise Mistake("a condition is never missing", node.operand.at)
        return CONDITION


def _of_literal(literal: Literal) -> Type:
    if isinstance(literal.value, bool):
        return CONDITION
    return Type("text") if isinstance(literal.value, str) else Type("number", literal.unit)


def _is_plain(found: Type) -> bool:
    """The name of a number without a unit: a count, an id, or a share."""
    return found.unit not in _CALLED


def _is_zero(node: Node) -> bool:
    return isinstance(node, Literal) and node.value == 0 and not isinstance(node.value, bool) and not node.unit


def _name(node: Node, found: Type) -> str:
    return node.name if isinstance(node, Column) else found.called


def _near(name: str, columns: Mapping[str, Type]) -> str:
    """The intended column, if it was given another tool's name, no unit suffix, or a spelling mistake."""
    for meant in (_ELSEWHERE.get(name.lower()), name.lower(), f"{name}_ns"):
        if meant in columns:
            return f' Did you mean "{meant}"?'
    return did_you_mean(name, columns)
