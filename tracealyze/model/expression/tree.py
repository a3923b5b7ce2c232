"""The nodes of an expression, and its form for the engine.

The form is nested tuples, or lists once it has been through JSON: `("==", ("column", "syscall"), "openat")`.
Numbers, texts, True and False stand for themselves; everything else has its name first:

    column NAME · missing X · not X · and X … · or X … · == != < <= > >= X Y · ~ !~ X PATTERN · in, not in X VALUES
    + - * / X Y · sum count min max mean p50 p90 p99 NAME · count
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Form: TypeAlias = Any
"""Nested tuples or lists of names, numbers and texts."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, a text, true or false."""

    value: int | float | str | bool
    unit: str = ""
    """ns, bytes, share, or empty."""
    at: int = field(default=0, compare=False)

    def form(self) -> Form:
        """The form of this node."""
        return self.value


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table."""

    name: str
    at: int = field(default=0, compare=False)

    def form(self) -> Form:
        """The form of this node."""
        return ("column", self.name)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate of a column over the rows of a group, or the number of rows if there is no column."""

    function: str
    column: Column | None = None
    at: int = field(default=0, compare=False)

    def form(self) -> Form:
        """The form of this node, for `evaluate_group`: the engine has no groups."""
        return (self.function, self.column.name) if self.column else (self.function,)


@dataclass(frozen=True, slots=True)
class Binary:
    """`+ - * /` of two numbers, or a comparison of two values."""

    operator: str
    left: Node
    right: Node
    at: int = field(default=0, compare=False)

    def form(self) -> Form:
        """The form of this node."""
        return (self.operator, self.left.form(), self.right.form())


@dataclass(frozen=True, slots=True)
class Matching:
    """`~` or `!~`: whether a pattern matches anywhere in a text."""

    operator: str
    operand: Node
    pattern: Literal
    at: int = field(default=0, compare=False)

    def form(self) -> Form:
        """The form of this node."""
        return (self.operator, self.operand.form(), self.pattern.value)


@dataclass(frozen=True, slots=True)
class Membership:
    """`in` or `not in`: whether a value is one of several."""

    operator: str
    operand: Node
    values: tuple[Literal, ...]
    at: int = field(default=0, compare=False)

    def form(self) -> Form:
        """The form of this node."""
        return (self.operator, self.operand.form(), tuple(value.value for value in self.values))


@dataclass(frozen=True, slots=True)
class Missing:
    """Whether a value is missing."""

    operand: Node
    at: int = field(default=0, compare=False)

    def form(self) -> Form:
        """The form of this node."""
        return ("missing", self.operand.form())


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of a condition."""

    operand: Node
    at: int = field(default=0, compare=False)

    def form(self) -> Form:
        """The form of this node."""
        return ("not", self.operand.form())


@dataclass(frozen=True, slots=True)
class Several:
    """Several conditions, joined by `and` or `or`."""

    operator: str
    parts: tuple[Node, ...]
    at: int = field(default=0, compare=False)

    def form(self) -> Form:
        """The form of this node."""
        return (self.operator, *(part.form() for part in self.parts))


Node: TypeAlias = Literal | Column | Aggregate | Binary | Matching | Membership | Missing | Not | Several


def children(node: Node) -> tuple[Node, ...]:
    """The parts of a node."""
    match node:
        case Binary(left=left, right=right):
            return (left, right)
        case Several(parts=parts):
            return parts
        case Matching() | Membership() | Missing() | Not():
            return (node.operand,)
        case Aggregate(column=Column() as column):
            return (column,)
    return ()


def walk(root: Node) -> Iterator[tuple[int, Node]]:
    """Each node of a tree with its depth, without recursion, so that trees of any depth can be measured."""
    left = [(1, root)]
    while left:
        depth, node = left.pop()
        yield depth, node
        left.extend((depth + 1, child) for child in children(node))


@dataclass(frozen=True, slots=True)
class Expression:
    """A checked expression."""

    text: str
    table: str
    root: Node
    kind: str
    """condition, number or text."""
    unit: str = ""
    """The unit of a number: ns, bytes, share, or empty."""

    @property
    def columns(self) -> frozenset[str]:
        """The columns that the expression names."""
        return frozenset(node.name for _, node in walk(self.root) if isinstance(node, Column))

    def for_engine(self) -> Form:
        """The form of the expression: nested tuples."""
        return self.root.form()
