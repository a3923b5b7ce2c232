"""explain: what a rule is about."""

from __future__ import annotations

from typing import Annotated

import typer

from tracealyze.commands import _complete
from tracealyze.commands._options import RowOptions, RuleOptions, with_options

EXAMPLES = (
    "tracealyze explain hot-loop",
    "tracealyze explain TLZ013 --format markdown",
)


@with_options(omit=["select", "ignore", "top"])
def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="RULE", help="The name or code of a rule, as findings show it.", autocompletion=_complete.rules
        ),
    ],
    rules: RuleOptions,
    output: RowOptions,
) -> None:
    """Explain a rule: what it finds, why it costs time, when it is fine, what to do, and how to disprove it."""
    from tracealyze.findings.compiled_rules import INCUBATOR
    from tracealyze.findings.rule_set import named
    from tracealyze.findings.rule_set import rules as rules_of
    from tracealyze.render import explanation

    explanation.write(named(name, (*rules.known(), *rules_of(INCUBATOR))), output.form)
