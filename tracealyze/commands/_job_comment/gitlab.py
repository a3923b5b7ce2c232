"""The note on the merge request that a job of GitLab runs for."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from tracealyze.commands._job_comment.comments import Comments, NotPosted


def write(text: str, environment: Mapping[str, str], name: str = "") -> str:
    """Update the note, or write it. Returns its address.

    Raises `NotPosted` if the job does not run for a merge request, has no token, or may not comment. The token of the
    job itself (`CI_JOB_TOKEN`) may not write notes, so that a project access token is needed."""
    api, project = environment.get("CI_API_V4_URL"), environment.get("CI_PROJECT_ID")
    number, token = environment.get("CI_MERGE_REQUEST_IID"), environment.get("GITLAB_TOKEN")
    if not api or not project or not number:
        raise NotPosted("this job does not run for a merge request of GitLab")
    if not token:
        raise NotPosted("the variable GITLAB_TOKEN is missing: a project access token with the scope api")
    request = f"{api.rstrip('/')}/projects/{quote(project, safe='')}/merge_requests/{quote(number, safe='')}"
    comments = Comments(
        all=f"{request}/notes",
        one=f"{request}/notes/{{}}",
        update="PUT",
        headers={"PRIVATE-TOKEN": token},
        job=environment.get("CI_JOB_NAME", ""),
        name=name,
        needs="the token needs the scope api and the role of a reporter",
    )
    note = comments.write(text)
    page = environment.get("CI_MERGE_REQUEST_PROJECT_URL") or environment.get("CI_PROJECT_URL", "")
    return f"{page}/-/merge_requests/{number}#note_{note.get('id', '')}"
