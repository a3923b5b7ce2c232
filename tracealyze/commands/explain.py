"""explain: what a rule is about."""

from __future__ import annotations

from typing import Annotated

import typer

from tracealyze.commands import _shared as shared
from tracealyze.commands._shared import Form


def command(
    name: Annotated[str, typer.Argument(metavar="RULE", help="The name or the code of a rule, as findings give them.")],
    folders: shared.RuleFolders = None,
    form: shared.FormOption = Form.TABLE,
    as_json: shared.AsJson = False,
) -> None:
    """Tell what a rule finds, why it costs time, when it is fine, what to do, and what would prove it wrong."""
    from tracealyze.findings.rule_set import named
    from tracealyze.render import explanation

    rule = named(name, shared.known_rules(folders))
    explanation.FORMS[shared.form_of(form, as_json)](rule)
