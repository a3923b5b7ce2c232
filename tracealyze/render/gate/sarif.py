"""The verdict as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tracealyze import _engine
from tracealyze.compare.gate.judgement import Judgement, Outcome
from tracealyze.compare.metrics import METRICS, Name
from tracealyze.render.gate.words import DOUBTFUL, details, headline, title
from tracealyze.render.json import text

if TYPE_CHECKING:
    from tracealyze.compare.gate.verdict import Verdict

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Outcome.FAILED: "error", Outcome.WARNED: "warning"}


def rendered(verdict: Verdict) -> str:
    """As SARIF."""
    reported = verdict.of(Outcome.FAILED, *DOUBTFUL)
    families = list(dict.fromkeys(Name.of(judgement.metric).family for judgement in reported))
    driver = {"name": "tracealyze", "version": _engine.__version__, "rules": [_rule(family) for family in families]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(verdict)],
        "results": [_result(judgement, families, verdict) for judgement in reported],
    }
    return text({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _rule(family: str) -> dict[str, Any]:
    metric = next(metric for metric in METRICS if metric.name == family)
    return {
        "id": family,
        "shortDescription": {"text": metric.sentence},
        "defaultConfiguration": {"level": "error"},
    }


def _invocation(verdict: Verdict) -> dict[str, Any]:
    """The run of the tool. It succeeded if there is a verdict, even if the gate failed."""
    facts: dict[str, Any] = {"executionSuccessful": not verdict.is_open}
    facts["exitCode"] = int(verdict.exit_code)
    level = "note" if facts["executionSuccessful"] else "error"
    notes = [headline(verdict), *verdict.notes]
    facts["toolExecutionNotifications"] = [{"level": level, "message": {"text": note}} for note in notes]
    return facts


def _result(judgement: Judgement, families: list[str], verdict: Verdict) -> dict[str, Any]:
    family = Name.of(judgement.metric).family
    return {
        "ruleId": family,
        "ruleIndex": families.index(family),
        "level": _LEVELS.get(judgement.outcome, "note"),
        "message": {"text": "\n".join([title(judgement), *details(judgement)])},
        "locations": [{"physicalLocation": place} for place in _places(judgement, verdict)],
        "partialFingerprints": {"metric/v1": judgement.key},
    }


def _places(judgement: Judgement, verdict: Verdict) -> list[dict[str, Any]]:
    """Exactly one place, because viewers show one place per result."""
    lines = judgement.explanation.lines if judgement.explanation else ()
    path, line = (lines[0].capture, lines[0].line) if lines else (verdict.captures[-1], 1)
    return [{"artifactLocation": {"uri": quote(path)}, "region": {"startLine": line}}]
