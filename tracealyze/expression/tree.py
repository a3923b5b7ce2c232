"""What an expression is made of, and its form for the engine.

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
    """ns, bytes, share, or nothing."""
    at: int = field(default=0, compare=False)

    def form(self) -> Form:
        """For the engine."""
        return self.value


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table."""

    name: str
    at: int = field(default=0, compare=False)

    def form(self) -> Form:
        """For the engine."""
        return ("column", self.name)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One value for a column of all rows of a group; the number of rows without a column."""

    function: str
    column: Column | None = None
    at: int = field(default=0, compare=False)

    def form(self) -> Form:
        """For `evaluate_group`; the engine knows no groups."""
        return (self.function, self.column.name) if self.column else (self.function,)


@dataclass(frozen=True, slots=True)
class Binary:
    """Two numbers and `+ - * /`, or two values and a comparison."""

    operator: str
    left: Node
    right: Node
    at: int = field(default=0, compare=False)

    def form(self) -> Form:
        """For the engine."""
        return (self.operator, self.left.form(), self.right.form())


@dataclass(frozen=True, slots=True)
class Matching:
    """`~` or `!~`: whether a pattern is found anywhere in a text."""

    operator: str
    operand: Node
    pattern: Literal
    at: int = field(default=0, compare=False)

    def form(self) -> Form:
        """For the engine."""
        return (self.operator, self.operand.form(), self.pattern.value)


@dataclass(frozen=True, slots=True)
class Membership:
    """`in` or `not in`: whether a value is one of several."""

    operator: str
    operand: Node
    values: tuple[Literal, ...]
    at: int = field(default=0, compare=False)

    def form(self) -> Form:
        """For the engine."""
        return (self.operator, self.operand.form(), tuple(value.value for value in self.values))


@dataclass(frozen=True, slots=True)
class Missing:
    """Whether there is no value."""

    operand: Node
    at: int = field(default=0, compare=False)

    def form(self) -> Form:
        """For the engine."""
        return ("missing", self.operand.form())


@dataclass(frozen=True, slots=True)
class Not:
    """What does not hold."""

    operand: Node
    at: int = field(default=0, compare=False)

    def form(self) -> Form:
        """For the engine."""
        return ("not", self.operand.form())


@dataclass(frozen=True, slots=True)
class Several:
    """Conditions of which all (`and`) or one (`or`) must hold."""

    operator: str
    parts: tuple[Node, ...]
    at: int = field(default=0, compare=False)

    def form(self) -> Form:
        """For the engine."""
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
    """Each node of a tree with its depth, without recursion: a tree that is too deep must be found to be so."""
    left = [(1, root)]
    while left:
        depth, node = left.pop()
        yield depth, node
        left.extend((depth + 1, child) for child in children(node))


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that fits its table."""

    text: str
    table: str
    root: Node
    kind: str
    """condition, number or text."""
    unit: str = ""
    """Of a number."""

    @property
    def columns(self) -> frozenset[str]:
        """The columns that it names."""
        return frozenset(node.name for _, node in walk(self.root) if isinstance(node, Column))

    def for_engine(self) -> Form:
        """As nested tuples."""
        return self.root.form()
