"""The verdict as a code quality report of GitLab."""

from __future__ import annotations

from hashlib import sha256
from os.path import relpath
from typing import TYPE_CHECKING, Any

from tracealyze.compare.gate.judgement import Judgement, Outcome
from tracealyze.render.gate.words import DOUBTFUL, cut, details, headline, title
from tracealyze.render.json import text

if TYPE_CHECKING:
    from tracealyze.compare.gate.verdict import Verdict

_SEVERITIES = {Outcome.FAILED: "major", Outcome.WARNED: "minor"}
_LONGEST = 1000


def rendered(verdict: Verdict) -> str:
    """As a JSON list."""
    found = [_entry(judgement, verdict) for judgement in verdict.of(Outcome.FAILED, *DOUBTFUL)]
    if verdict.is_open:
        path = verdict.baseline or "."
        found.append(_facts(str(verdict.status), " ".join([headline(verdict), *verdict.notes]), "critical", path, 1))
    return text(found) + "\n"


def _entry(judgement: Judgement, verdict: Verdict) -> dict[str, Any]:
    lines = judgement.explanation.lines if judgement.explanation else ()
    path, line = (lines[0].capture, lines[0].line) if lines else (verdict.captures[-1], 1)
    description = "; ".join([title(judgement), *details(judgement)])
    severity = _SEVERITIES.get(judgement.outcome, "info")
    return _facts(judgement.key, description, severity, path, line, judgement.metric)


def _facts(key: str, description: str, severity: str, path: str, line: int, name: str = "baseline") -> dict[str, Any]:
    return {
        "description": cut(description, _LONGEST),
        "check_name": f"tracealyze {name}",
        "fingerprint": sha256(key.encode(errors="surrogateescape")).hexdigest(),
        "severity": severity,
        # Paths are relative to the repository. The path of a capture elsewhere is unchanged.
        "location": {"path": relpath(path) if not relpath(path).startswith("..") else path, "lines": {"begin": line}},
    }
