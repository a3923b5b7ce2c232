"""Completions of option values in a shell."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import typer

Complete: TypeAlias = Callable[[str], list[str]]


def rules(incomplete: str) -> list[str]:
    """Names of rules; their codes once a T has been typed."""
    from tracealyze.findings.rule_set import rules as every

    known = every()
    codes = [rule.code for rule in known] if incomplete[:1].isupper() else []
    return _matching([*(rule.name for rule in known), *codes], incomplete)


def tables(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of tables after --columns, otherwise of rules."""
    if not ctx.params.get("columns"):
        return rules(incomplete)
    from tracealyze.model.expression.schema import TABLES

    return _matching(TABLES, incomplete)


def input_formats(incomplete: str) -> list[str]:
    """Names of input formats."""
    from tracealyze._engine import FORMATS

    return _matching(FORMATS, incomplete)


def of(*known: str) -> Complete:
    """A function that completes one of these words."""
    return lambda incomplete: _matching(known, incomplete)


def _matching(known: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in known if name.startswith(incomplete)]
