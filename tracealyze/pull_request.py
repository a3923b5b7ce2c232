"""One comment on the pull request that a job of GitHub Actions runs for: written once, then updated.

The comment is found by a marker in its first line. A job without permission to comment, such as that of a pull request
from a fork, has the text in its summary instead. A comment never decides the exit code: the gate does.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

_API = "https://api.github.com"
_TIMEOUT_S = 30
_PER_PAGE = 100
_MAX_PAGES = 30


class NotPosted(Exception):
    """There is no pull request, or it cannot be commented on: why, in a sentence."""


class _NoRedirects(HTTPRedirectHandler):
    """The library would send the token along to another host."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True)
class PullRequest:
    """The pull request of a job, and what its comment is found by."""

    api: str
    repository: str
    number: int
    token: str
    marker: str

    @classmethod
    def of_job(cls, environment: Mapping[str, str]) -> PullRequest:
        """From the variables of a job. Raises `NotPosted` if it does not run for a pull request, or has no token."""
        repository, token = environment.get("GITHUB_REPOSITORY"), environment.get("GITHUB_TOKEN")
        number = _number(environment.get("GITHUB_EVENT_PATH", ""))
        if not repository or number is None:
            raise NotPosted("this job does not run for a pull request of GitHub")
        if not token:
            raise NotPosted("the variable GITHUB_TOKEN is missing, so there is no comment")
        job = re.sub(r"[^\w.-]", "-", environment.get("GITHUB_JOB", ""))
        api = environment.get("GITHUB_API_URL", _API).rstrip("/")
        return cls(api, repository, number, token, f"<!-- tracealyze check {job} -->")

    def write(self, text: str) -> str:
        """Update the comment, or write it. Returns its address. Raises `NotPosted` if the server refuses."""
        body = {"body": f"{self.marker}\n{text}"}
        known = next((each for each in self._comments() if str(each.get("body", "")).startswith(self.marker)), None)
        if known is None:
            answer = self._answer("POST", f"issues/{self.number}/comments", body)
        else:
            answer = self._answer("PATCH", f"issues/comments/{int(known['id'])}", body)
        return str(answer.get("html_url", ""))

    def _comments(self) -> Iterator[dict[str, Any]]:
        for page in range(1, _MAX_PAGES + 1):
            query = f"per_page={_PER_PAGE}&page={page}"
            found = self._answer("GET", f"issues/{self.number}/comments?{query}")
            yield from found
            if len(found) < _PER_PAGE:
                return

    def _answer(self, method: str, path: str, body: Mapping[str, str] | None = None) -> Any:
        request = Request(
            f"{self.api}/repos/{self.repository}/{path}",
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
                "User-Agent": "tracealyze",
                "X-GitHub-Api-Version": "2022-11-28",
            },
        )
        try:
            with build_opener(_NoRedirects).open(request, timeout=_TIMEOUT_S) as answer:
                return json.load(answer)
        except HTTPError as error:
            raise NotPosted(_refusal(error.code)) from None
        except (OSError, ValueError) as error:
            raise NotPosted(f"{self.api} gives no usable answer: {error}") from None


def _number(event: str) -> int | None:
    """The number of the pull request in the file of an event; None if the event is another one."""
    try:
        content = json.loads(Path(event).read_text(encoding="utf-8")) if event else {}
    except (OSError, ValueError):
        return None
    found = content.get("pull_request") if isinstance(content, dict) else None
    number = found.get("number") if isinstance(found, dict) else None
    return number if isinstance(number, int) else None


def _refusal(code: int) -> str:
    if code in (401, 403, 404):
        return (
            f"the token of this job may not comment (HTTP {code}): a pull request from a fork, or a job without "
            "permissions: pull-requests: write"
        )
    return f"the server answers with HTTP {code}"


def publish(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """Write a text as the comment, otherwise to the summary of the job. Returns a sentence about where it is."""
    try:
        return f"Comment: {PullRequest.of_job(environment).write(text)}"
    except NotPosted as why:
        summary = environment.get("GITHUB_STEP_SUMMARY")
        if not summary:
            return f"No comment: {why}."
        with open(summary, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{text}\n")
        return f"The comment is in the summary of the job: {why}."
