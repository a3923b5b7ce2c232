"""The verdict as a code quality report of GitLab."""

from __future__ import annotations

from hashlib import sha256
from os.path import relpath
from typing import TYPE_CHECKING, Any

from tracealyze.base.sanitize import shown
from tracealyze.compare.gate.judgement import Judgement, Outcome
from tracealyze.render.gate.words import DOUBTFUL, body, cut, details, fallback, headline, place, place_of, title
from tracealyze.render.json import text

if TYPE_CHECKING:
    from tracealyze.compare.gate.regressions import Regression
    from tracealyze.compare.gate.scripts import Source
    from tracealyze.compare.gate.verdict import Verdict

_LONGEST = 1000


def rendered(verdict: Verdict) -> str:
    """As a JSON list."""
    found = [_regression(each, verdict) for each in verdict.regressions]
    found += [_remark(judgement, verdict) for judgement in verdict.of(*DOUBTFUL)]
    if verdict.is_open:
        where = fallback(verdict)
        found.append(_facts(str(verdict.status), " ".join([headline(verdict), *verdict.notes]), "critical", where))
    return text(found) + "\n"


def _regression(regression: Regression, verdict: Verdict) -> dict[str, Any]:
    description = "; ".join([shown(regression.title), *map(str.strip, body(regression))])
    lead = regression.lead
    return _facts(lead.key, description, "major", place(regression, verdict), lead.metric)


def _remark(judgement: Judgement, verdict: Verdict) -> dict[str, Any]:
    description = "; ".join([title(judgement), *details(judgement)])
    severity = "minor" if judgement.outcome is Outcome.WARNED else "info"
    return _facts(judgement.key, description, severity, place_of(judgement, verdict), judgement.metric)


def _facts(key: str, description: str, severity: str, where: Source, name: str = "baseline") -> dict[str, Any]:
    path = relpath(where.path)
    return {
        "description": cut(description, _LONGEST),
        "check_name": f"tracealyze {name}",
        "fingerprint": sha256(key.encode(errors="surrogateescape")).hexdigest(),
        "severity": severity,
        # Paths are relative to the repository. The path of a capture elsewhere is unchanged.
        "location": {"path": where.path if path.startswith("..") else path, "lines": {"begin": where.line}},
    }
