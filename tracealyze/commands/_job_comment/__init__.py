"""One comment on the pull or merge request that a job runs for: written once, then updated.

The comment is found by a marker in its first line. A job without permission to comment, such as that of a pull request
from a fork, has the text in its summary instead. A comment never decides the exit code: the gate does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from tracealyze.base.sanitize import shown
from tracealyze.commands._job_comment import github, gitlab
from tracealyze.commands._job_comment.comments import NotPosted
from tracealyze.render.listing import markdown_cell

__all__ = ["publish"]


def publish(text: str, environment: Mapping[str, str] = os.environ, name: str = "") -> str:
    """Write a text as the comment, otherwise to the summary of the job. Returns a sentence about where it is.

    Jobs of a matrix have one name on the server, so that each needs a name of its own for a comment of its own."""
    write = gitlab.write if environment.get("GITLAB_CI") else github.write
    if name:
        text = _titled(text, name)
    try:
        return f"Comment: {write(text, environment, name)}"
    except NotPosted as why:
        summary = environment.get("GITHUB_STEP_SUMMARY")
        if not summary:
            return f"No comment: {why}."
        with open(summary, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{text}\n")
        return f"The comment is in the summary of the job: {why}."


def _titled(text: str, name: str) -> str:
    """The text with the name in its heading, so that readers can tell the comments apart."""
    heading, newline, rest = text.partition("\n")
    return f"{heading} (<code>{markdown_cell(shown(name))}</code>){newline}{rest}"
