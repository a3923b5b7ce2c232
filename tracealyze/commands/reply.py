"""reply: an answer for the person who posted a trace."""

from __future__ import annotations

from typing import Annotated

import typer

from tracealyze.commands._options import CaptureOptions, RuleOptions, with_options
from tracealyze.commands._progress import analyzing
from tracealyze.render import output

EXAMPLES = (
    "tracealyze reply trace.out",
    "tracealyze reply trace.out --markdown",
)


@with_options()
def command(
    source: CaptureOptions,
    rules: RuleOptions,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a markdown list.")] = False,
) -> None:
    """Print an answer for whoever posted the trace.

    It says what the trace shows, what it cannot, and one command to run next: at most eight lines, and no text that a
    program wrote or received."""
    from tracealyze.render.listing import markdown_cell
    from tracealyze.render.reply import reply

    for number, trace in enumerate(source.traces(rules.chosen())):
        with analyzing():
            lines = reply(trace, trace.summary())
        output.write("\n" if number else "")
        for line in lines:
            output.write(f"- {markdown_cell(line)}\n" if markdown else f"{line}\n")
        source.close(trace)
