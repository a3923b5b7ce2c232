"""explain: what a rule is about."""

from __future__ import annotations

from typing import Annotated

import typer

from tracealyze.commands import _complete
from tracealyze.commands._options import RowOptions, RuleOptions, with_options

EXAMPLES = (
    "tracealyze explain",
    "tracealyze explain hot-loop",
    "tracealyze explain TLZ013 --format markdown",
    "tracealyze explain TLZ03",
    "tracealyze explain --columns events",
)


@with_options(omit=["top"])
def command(
    rules: RuleOptions,
    output: RowOptions,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RULE]...",
            help="The name or code of a rule, as findings show it. Several, or the prefix of a code, are listed. "
            "Default: all rules. With --columns, the tables.",
            show_default=False,
            autocompletion=_complete.tables,
        ),
    ] = None,
    columns: Annotated[bool, typer.Option("--columns", help="List the table columns that conditions can use.")] = False,
) -> None:
    """Explain a rule: what it finds, why it costs time, when it is fine, what to do, and how to disprove it.

    Without a name, list the rules. Put your own rules in a directory, and name it with --rules or as `rules` in
    [tool.tracealyze] of pyproject.toml.
    """
    from tracealyze.commands import rules as listed
    from tracealyze.findings.compiled_rules import INCUBATOR
    from tracealyze.findings.rule_set import is_prefix, named
    from tracealyze.findings.rule_set import rules as rules_of
    from tracealyze.render import explanation

    known = rules.known()
    match names or []:
        case [name] if not (columns or rules.select or is_prefix(name, known)):
            explanation.write(named(name, (*known, *rules_of(INCUBATOR))), output.form)
        case several:
            listed.write(rules, output, several, columns)
