"""comment: write what `check` found as a comment on the pull request of a job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tracealyze.base.errors import UnusableInput
from tracealyze.render import output

EXAMPLES = ("tracealyze comment comment.md", "tracealyze comment comment.md --name ubuntu-24.04")


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The text, which check --output pr=FILE writes.")],
    name: Annotated[
        str,
        typer.Option(
            "--name", metavar="NAME", help="Name of this job in a matrix. Each name has a comment of its own."
        ),
    ] = "",
) -> None:
    """Write or update the comment on a pull request.

    In a job of GitHub Actions, this is the pull request that the job runs for. It needs the variable GITHUB_TOKEN and
    the permission pull-requests: write. Without them, as in a pull request from a fork, the text is in the summary of
    the job. In a job of GitLab, it is a note on the merge request, and needs the variable GITLAB_TOKEN: a project
    access token with the scope api. This is a command of its own, so that the programs that check records do not run
    with the token."""
    from tracealyze.commands._job_comment import publish

    try:
        text = Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UnusableInput(
            f"{file}: {error.strerror or error}. Write it with: tracealyze check --output pr=FILE"
        ) from error
    output.note(publish(text, name=name))
