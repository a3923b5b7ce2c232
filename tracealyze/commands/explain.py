"""explain: what a rule is about."""

from __future__ import annotations

from typing import Annotated

import typer

from tracealyze.commands._options import RowOptions, RuleOptions, with_options


@with_options(omit=["select", "ignore", "top"])
def command(
    name: Annotated[str, typer.Argument(metavar="RULE", help="The name or code of a rule, as findings show it.")],
    rules: RuleOptions,
    output: RowOptions,
) -> None:
    """Explain what a rule finds, why it costs time, when it is fine, what to do, and what would prove it wrong."""
    from tracealyze.findings.rule_set import named
    from tracealyze.render import explanation

    explanation.write(named(name, rules.known()), output.form)
