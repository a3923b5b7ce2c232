"""mcp: answers for a language model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tracealyze.base.errors import WrongUsage

EXAMPLES = (
    "tracealyze mcp --root /var/traces",
    "claude mcp add tracealyze -- tracealyze mcp --root /var/traces",
)


def command(
    root: Annotated[
        str,
        typer.Option("--root", metavar="DIR", help="Read captures below this directory only, after symbolic links."),
    ] = ".",
) -> None:
    """Answer the questions of a language model.

    It serves summaries, findings, events, comparisons and explanations of rules over the Model Context Protocol, on
    standard input and output. The server only reads. Answers have up to 2,000 tokens, never more than 8,000. Names of a
    trace are replaced, and quoted lines are marked as data.
    """
    from tracealyze.commands._assistant.server import serve

    folder = Path(root)
    if not folder.is_dir():
        raise WrongUsage(f"--root: {root} is not a directory.")
    serve(folder.resolve())
