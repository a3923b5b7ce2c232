"""The comments of a pull or merge request on a server, as far as one of them is written once and then updated."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

_TIMEOUT_S = 30
_PER_PAGE = 100
_MAX_PAGES = 30
_REFUSED = (401, 403, 404)


class NotPosted(Exception):
    """There is no pull request, or it cannot be commented on: why, in a sentence."""


class _NoRedirects(HTTPRedirectHandler):
    """The library would send the token along to another host."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True)
class Comments:
    """Where the comments of one request are, and what ours is found by."""

    all: str
    """Address of the list, to which a new one is posted."""
    one: str
    """Address of a comment, with `{}` for its number."""
    update: str
    """Method that changes a comment."""
    headers: Mapping[str, str]
    job: str
    """Name of the job: each has a comment of its own."""
    name: str
    """Tells the jobs of a matrix apart; empty for other jobs."""
    needs: str
    """The permission that a job lacks whose token is refused."""

    @property
    def marker(self) -> str:
        """The first line of our comment."""
        words = (re.sub(r"[^\w.-]", "-", each) for each in (self.job, self.name) if each)
        return f"<!-- {' '.join(('tracealyze check', *words))} -->"

    def write(self, text: str) -> dict[str, Any]:
        """Update our comment, or write it. Returns it. Raises `NotPosted` if the server refuses."""
        body = {"body": f"{self.marker}\n{text}"}
        known = next((each for each in self._existing() if str(each.get("body", "")).startswith(self.marker)), None)
        written = self._answer("POST", self.all, body) if known is None else self._changed(int(known["id"]), body)
        return written if isinstance(written, dict) else {}

    def _changed(self, number: int, body: Mapping[str, str]) -> Any:
        return self._answer(self.update, self.one.format(number), body)

    def _existing(self) -> Iterator[dict[str, Any]]:
        for page in range(1, _MAX_PAGES + 1):
            found = self._answer("GET", f"{self.all}?per_page={_PER_PAGE}&page={page}")
            yield from found
            if len(found) < _PER_PAGE:
                return

    def _answer(self, method: str, address: str, body: Mapping[str, str] | None = None) -> Any:
        request = Request(
            address,
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={"Content-Type": "application/json", "User-Agent": "tracealyze", **self.headers},
        )
        try:
            with build_opener(_NoRedirects).open(request, timeout=_TIMEOUT_S) as answer:
                return json.load(answer)
        except HTTPError as error:
            if error.code in _REFUSED:
                raise NotPosted(f"the token of this job may not comment (HTTP {error.code}): {self.needs}") from None
            raise NotPosted(f"the server answers with HTTP {error.code}") from None
        except (OSError, ValueError) as error:
            raise NotPosted(f"{address} gives no usable answer: {error}") from None
