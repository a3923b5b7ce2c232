"""The comment on a request, against a server that has the few endpoints of GitHub and GitLab that are used."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Run

from tracealyze.commands._job_comment import publish

PATH = "/repos/owner/tool/issues"
NOTES = "/projects/42/merge_requests/7/notes"


class Forge:
    """A server with the comments of pull request 7, and the requests that it received."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.comments: list[dict[str, Any]] = []
        self.requests: list[str] = []
        self.tokens: set[str | None] = set()
        self.refuses: dict[str, int] = {}
        """The status of the answer to requests of a method."""


@pytest.fixture
def forge() -> Iterator[Forge]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self) -> None:
            found.requests.append(f"{self.command} {self.path}")
            found.tokens.add(self.headers["Authorization"] or self.headers["PRIVATE-TOKEN"])
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "{}")
            status = found.refuses.get(self.command, 200)
            content = json.dumps({} if status != 200 else self.done(body)).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("Location", f"{found.address}/elsewhere")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def done(self, body: dict[str, str]) -> Any:
            path, _, query = self.path.partition("?")
            match self.command, path:
                case "GET", "/repos/owner/tool/issues/7/comments" | "/projects/42/merge_requests/7/notes":
                    page = int(query.rpartition("page=")[2])
                    return found.comments[(page - 1) * 100 : page * 100]
                case "POST", "/repos/owner/tool/issues/7/comments" | "/projects/42/merge_requests/7/notes":
                    number = len(found.comments)
                    found.comments.append({"id": number, "html_url": f"https://forge/{number}", **body})
                    return found.comments[-1]
                case (("PATCH" | "PUT"), _) if path.startswith((f"{PATH}/comments/", f"{NOTES}/")):
                    found.comments[int(path.rpartition("/")[2])].update(body)
                    return found.comments[int(path.rpartition("/")[2])]
            raise AssertionError(self.path)

        do_GET = do_POST = do_PATCH = do_PUT = answer  # noqa: N815  The names that the library calls.

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found = Forge(f"http://127.0.0.1:{server.server_port}")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield found
        server.shutdown()


@pytest.fixture
def job(forge: Forge, tmp_path: Path) -> dict[str, str]:
    """The variables of a job for pull request 7."""
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7}}), encoding="utf-8")
    return {
        "GITHUB_API_URL": forge.address,
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_JOB": "trace",
        "GITHUB_REPOSITORY": "owner/tool",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "GITHUB_TOKEN": "secret",
        "no_proxy": "127.0.0.1",
    }


@pytest.fixture
def gitlab(forge: Forge) -> dict[str, str]:
    """The variables of a job for merge request 7."""
    return {
        "CI_API_V4_URL": forge.address,
        "CI_JOB_NAME": "trace",
        "CI_MERGE_REQUEST_IID": "7",
        "CI_MERGE_REQUEST_PROJECT_URL": "https://forge/owner/tool",
        "CI_PROJECT_ID": "42",
        "GITLAB_CI": "true",
        "GITLAB_TOKEN": "secret",
        "no_proxy": "127.0.0.1",
    }


def bodies(forge: Forge) -> list[str]:
    return [each["body"] for each in forge.comments]


def test_second_run_updates_the_comment(forge: Forge, job: dict[str, str]) -> None:
    assert publish("first", job) == "Comment: https://forge/0"
    assert publish("second", job) == "Comment: https://forge/0"
    assert bodies(forge) == ["<!-- tracealyze check trace -->\nsecond"]
    assert forge.tokens == {"Bearer secret"}


def test_second_run_updates_the_note_on_a_merge_request(forge: Forge, gitlab: dict[str, str]) -> None:
    forge.comments.append({"id": 0, "body": "Hello"})
    page = "Comment: https://forge/owner/tool/-/merge_requests/7#note_1"
    assert [publish("first", gitlab), publish("second", gitlab)] == [page, page]
    assert bodies(forge) == ["Hello", "<!-- tracealyze check trace -->\nsecond"]
    assert forge.requests[-1] == f"PUT {NOTES}/1"
    assert forge.tokens == {"secret"}


@pytest.mark.parametrize("forge_job", ["job", "gitlab"])
def test_jobs_of_a_matrix_have_their_own_comments(forge: Forge, forge_job: str, request: pytest.FixtureRequest) -> None:
    """All of them have the same GITHUB_JOB, so that the last one would overwrite the others."""
    variables = request.getfixturevalue(forge_job)
    for text in ("### first", "### second\nrow"):
        for name in ("ubuntu 24.04", "@arm-->"):
            publish(text, variables, name)
    assert bodies(forge) == [
        "<!-- tracealyze check trace ubuntu-24.04 -->\n### second (<code>ubuntu 24.04</code>)\nrow",
        "<!-- tracealyze check trace -arm--- -->\n### second (<code>@arm--&gt;</code>)\nrow",
    ]


@pytest.mark.parametrize("missing", ["CI_MERGE_REQUEST_IID", "GITLAB_TOKEN"])
def test_job_without_a_merge_request_says_so(forge: Forge, gitlab: dict[str, str], missing: str) -> None:
    del gitlab[missing]
    assert publish("text", gitlab).startswith("No comment: ")
    assert forge.requests == []


def test_comments_of_others_are_left_alone(forge: Forge, job: dict[str, str]) -> None:
    """A quote of the comment contains the marker, and another job has its own comment."""
    others = ["Hello", "> <!-- tracealyze check trace -->\n> first", "<!-- tracealyze check other -->\nx"]
    forge.comments += [{"id": number, "body": body} for number, body in enumerate(others)]
    publish("text", job)
    assert bodies(forge) == [*others, "<!-- tracealyze check trace -->\ntext"]


def test_comment_is_found_on_a_later_page(forge: Forge, job: dict[str, str]) -> None:
    forge.comments += [{"id": number, "body": "Hello", "html_url": ""} for number in range(250)]
    publish("first", job)
    publish("second", job)
    assert len(forge.comments) == 251
    assert forge.requests[-1] == f"PATCH {PATH}/comments/250"


@pytest.mark.parametrize(("method", "status"), [("POST", 403), ("GET", 404), ("GET", 401), ("POST", 500), ("GET", 302)])
def test_refused_comment_is_in_the_summary(forge: Forge, job: dict[str, str], method: str, status: int) -> None:
    """The token of a pull request from a fork may only read."""
    forge.refuses = {method: status}
    sentence = publish("text", job)
    assert sentence.startswith("The comment is in the summary of the job: ")
    assert str(status) in sentence
    assert Path(job["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8") == "text\n"
    assert not any("elsewhere" in each for each in forge.requests)


@pytest.mark.parametrize("missing", ["GITHUB_TOKEN", "GITHUB_EVENT_PATH", "GITHUB_REPOSITORY"])
def test_job_without_a_pull_request_writes_its_summary(forge: Forge, job: dict[str, str], missing: str) -> None:
    del job[missing]
    assert publish("text", job).startswith("The comment is in the summary of the job: ")
    assert Path(job["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8") == "text\n"
    assert forge.requests == []


def test_event_of_another_kind_is_no_pull_request(job: dict[str, str]) -> None:
    for content in ("{}", "[]", "not JSON", '{"pull_request": {"number": "7"}}'):
        Path(job["GITHUB_EVENT_PATH"]).write_text(content, encoding="utf-8")
        assert "does not run for a pull request" in publish("text", job)


def test_server_that_is_away_does_not_decide(job: dict[str, str]) -> None:
    assert "gives no usable answer" in publish("text", job | {"GITHUB_API_URL": "http://127.0.0.1:1"})


def test_command_never_fails_a_job(forge: Forge, job: dict[str, str], run: Run, tmp_path: Path) -> None:
    """The gate decides. Whether its comment can be written or not makes no difference."""
    assert run("check", "--demo", "--output", "pr=comment.md", cwd=tmp_path).returncode == 1
    done = run("comment", "comment.md", cwd=tmp_path, **job)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "Comment: https://forge/0\n")
    assert bodies(forge)[0].startswith("<!-- tracealyze check trace -->\n### System calls: 1 worse of 1 scenario")
    forge.refuses = {"PATCH": 403}
    assert run("comment", "comment.md", cwd=tmp_path, **job).returncode == 0
    assert "### System calls" in Path(job["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8")


def test_missing_text_is_an_error(run: Run, tmp_path: Path) -> None:
    done = run("comment", "none.md", cwd=tmp_path)
    assert (done.returncode, "tracealyze check --output pr=FILE" in done.stderr) == (3, True)
