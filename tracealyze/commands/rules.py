"""rules: the rules that check captures, and the columns that conditions can use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from tracealyze.commands import _complete
from tracealyze.commands._options import RowOptions, RuleOptions, with_options
from tracealyze.render.forms import Form

if TYPE_CHECKING:
    from tracealyze.findings.rule_set import Rule
    from tracealyze.render.listing import Listing

EXAMPLES = (
    "tracealyze rules",
    "tracealyze rules TLZ03",
    "tracealyze rules --columns events",
    "tracealyze rules --rules ./rules",
)

_TYPES = {"dict": "text", "list": "texts", "bool": "yes or no"}
_MIN_SENTENCE_WIDTH = 24
# The column of table names is dropped before titles become narrower than this.
_MIN_TITLE_WIDTH = 60


@with_options(omit=["top"])
def command(
    rules: RuleOptions,
    output: RowOptions,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Only these rules, as with --select; with --columns, only these tables.",
            show_default=False,
            autocompletion=_complete.tables,
        ),
    ] = None,
    columns: Annotated[bool, typer.Option("--columns", help="List the table columns that conditions can use.")] = False,
) -> None:
    """List rules, or the columns that conditions can use.

    Put your own rules in a directory, and name it with --rules or as `rules` in [tool.tracealyze] of pyproject.toml.
    """
    write(rules, output, names or (), columns)


def write(rules: RuleOptions, output: RowOptions, names: Sequence[str], columns: bool) -> None:
    """Write the rules with these names, or the columns of these tables."""
    from tracealyze.render.listing import write_listing

    form = output.form
    if columns:
        listing = _columns(names, form)
    else:
        selected = [*(rules.select or ()), *names] or None
        listing = _rules(replace(rules, select=selected).chosen(), form)
    write_listing(listing, form)


def _rules(rules: Sequence[Rule], form: Form) -> Listing:
    from tracealyze.render.listing import Column, Listing

    rows = [
        {
            "code": rule.code,
            "name": rule.name,
            "title": rule.title,
            "table": rule.table,
            "precedence": rule.precedence,
            "confidence": rule.confidence,
            "file": rule.origin,
        }
        for rule in rules
    ]
    shown = [Column("code", "code"), Column("name", "rule"), Column("table", "table", drop_order=1)]
    if form in (Form.JSON, Form.CSV):
        shown = [Column(name, name) for name in rows[0]] if rows else []
    else:
        shown.append(Column("title", "finds", min_width=_MIN_TITLE_WIDTH))
    return Listing("rules", shown, rows)


def _columns(tables: Sequence[str], form: Form) -> Listing:
    from tracealyze.model.expression.checks import columns_of
    from tracealyze.model.expression.schema import SCHEMA
    from tracealyze.render.listing import Column, Listing

    for table in tables:
        # Raises an error with the nearest name for an unknown table.
        columns_of(table)
    rows = [
        {
            "table": column.table,
            "column": column.name,
            "type": _TYPES.get(column.kind, "number"),
            "unit": column.unit,
            "what": column.says,
        }
        for column in SCHEMA
        if not tables or column.table in tables
    ]
    shown = [Column(name, name) for name in ("table", "column", "type", "unit")]
    if len(tables) == 1 and form in (Form.TABLE, Form.MARKDOWN):
        shown = shown[1:]
    return Listing("columns", [*shown, Column("what", "description", min_width=_MIN_SENTENCE_WIDTH)], rows)
