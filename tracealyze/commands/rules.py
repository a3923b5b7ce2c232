"""rules: what is looked for, and what can be asked of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tracealyze.commands import _shared as shared
from tracealyze.commands._shared import Form

if TYPE_CHECKING:
    from tracealyze.render.listing import Listing

_KINDS = {"dict": "text", "list": "texts", "bool": "yes or no"}
_LEAST_OF_A_SENTENCE = 24
# Where it would be cut, the name of the table is left out before.
_LONGEST_TITLE = 60


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Only these rules, as with --select; with --columns, only these tables.",
            show_default=False,
        ),
    ] = None,
    columns: Annotated[
        bool, typer.Option("--columns", help="List the columns of tables, of which conditions can speak.")
    ] = False,
    folders: shared.RuleFolders = None,
    select: shared.Select = None,
    ignore: shared.Ignore = None,
    form: shared.FormOption = Form.TABLE,
    as_json: shared.AsJson = False,
) -> None:
    """List the rules that speak about captures, or the columns of the tables that they ask.

    Rules of your own stand in a folder, given with --rules or as `rules` in [tool.tracealyze] of pyproject.toml.
    """
    from tracealyze.render.listing import FORMS

    chosen = shared.form_of(form, as_json)
    if columns:
        listing = _columns(names or [], chosen)
    else:
        listing = _rules(folders, [*(select or ()), *(names or ())] or None, ignore, chosen)
    FORMS[chosen](listing)


def _rules(folders: list[str] | None, select: list[str] | None, ignore: list[str] | None, form: Form) -> Listing:
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
        for rule in shared.chosen_rules(folders, select, ignore)
    ]
    shown = [Column("code", "code"), Column("name", "rule"), Column("table", "looks at", spare=1)]
    if form in (Form.JSON, Form.CSV):
        shown = [Column(name, name) for name in rows[0]] if rows else []
    else:
        shown.append(Column("title", "finds", least=_LONGEST_TITLE))
    return Listing("rules", shown, rows)


def _columns(tables: list[str], form: Form) -> Listing:
    from tracealyze.expression.checks import columns_of
    from tracealyze.render.listing import Column, Listing
    from tracealyze.schema import SCHEMA

    for table in tables:
        # A table that there is not is told with the nearest.
        columns_of(table)
    rows = [
        {"table": table, "column": name, "type": _KINDS.get(kind, "number"), "unit": unit, "what": sentence}
        for table, name, kind, unit, sentence in SCHEMA
        if not tables or table in tables
    ]
    shown = [Column(name, name) for name in ("table", "column", "type", "unit")]
    if len(tables) == 1 and form in (Form.TABLE, Form.MARKDOWN):
        shown = shown[1:]
    return Listing("columns", [*shown, Column("what", "what it is", least=_LEAST_OF_A_SENTENCE)], rows)
