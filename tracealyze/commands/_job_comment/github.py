"""The comment on the pull request that a job of GitHub Actions runs for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tracealyze.commands._job_comment.comments import Comments, NotPosted

_API = "https://api.github.com"


def write(text: str, environment: Mapping[str, str], name: str = "") -> str:
    """Update the comment, or write it. Returns its address.

    Raises `NotPosted` if the job does not run for a pull request, has no token, or may not comment."""
    repository, token = environment.get("GITHUB_REPOSITORY"), environment.get("GITHUB_TOKEN")
    number = _number(environment.get("GITHUB_EVENT_PATH", ""))
    if not repository or number is None:
        raise NotPosted("this job does not run for a pull request of GitHub")
    if not token:
        raise NotPosted("the variable GITHUB_TOKEN is missing, so there is no comment")
    issues = f"{environment.get('GITHUB_API_URL', _API).rstrip('/')}/repos/{repository}/issues"
    comments = Comments(
        all=f"{issues}/{number}/comments",
        one=f"{issues}/comments/{{}}",
        update="PATCH",
        headers={
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token}",
            "X-GitHub-Api-Version": "2022-11-28",
        },
        job=environment.get("GITHUB_JOB", ""),
        name=name,
        needs="a pull request from a fork, or a job without permissions: pull-requests: write",
    )
    return str(comments.write(text).get("html_url", ""))


def _number(event: str) -> int | None:
    """The number of the pull request in the file of an event; None if the event is another one."""
    try:
        content = json.loads(Path(event).read_text(encoding="utf-8")) if event else {}
    except (OSError, ValueError):
        return None
    found = content.get("pull_request") if isinstance(content, dict) else None
    number = found.get("number") if isinstance(found, dict) else None
    return number if isinstance(number, int) else None
