"""The verdict as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tracealyze import _engine
from tracealyze.compare.gate.judgement import Judgement, Outcome
from tracealyze.compare.metrics import METRICS, Name
from tracealyze.render.gate.words import DOUBTFUL, body, details, headline, place, place_of, title
from tracealyze.render.json import text
from tracealyze.sanitize import shown

if TYPE_CHECKING:
    from tracealyze.compare.gate.regressions import Regression
    from tracealyze.compare.gate.scripts import Source
    from tracealyze.compare.gate.verdict import Verdict

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Outcome.FAILED: "error", Outcome.WARNED: "warning"}


def rendered(verdict: Verdict) -> str:
    """As SARIF."""
    remarks = verdict.of(*DOUBTFUL)
    judgements = [*(regression.lead for regression in verdict.regressions), *remarks]
    families = list(dict.fromkeys(Name.of(judgement.metric).family for judgement in judgements))
    driver = {"name": "tracealyze", "version": _engine.__version__, "rules": [_rule(family) for family in families]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(verdict)],
        "results": [
            *(_regression(regression, families, verdict) for regression in verdict.regressions),
            *(_remark(judgement, families, verdict) for judgement in remarks),
        ],
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


def _regression(regression: Regression, families: list[str], verdict: Verdict) -> dict[str, Any]:
    text = "\n".join([shown(regression.title), *body(regression)])
    return _result(regression.lead, text, place(regression, verdict), families)


def _remark(judgement: Judgement, families: list[str], verdict: Verdict) -> dict[str, Any]:
    return _result(
        judgement, "\n".join([title(judgement), *details(judgement)]), place_of(judgement, verdict), families
    )


def _result(judgement: Judgement, text: str, where: Source, families: list[str]) -> dict[str, Any]:
    """A result with exactly one place, because viewers show one place per result."""
    family = Name.of(judgement.metric).family
    place = {"artifactLocation": {"uri": quote(where.path)}, "region": {"startLine": where.line}}
    return {
        "ruleId": family,
        "ruleIndex": families.index(family),
        "level": _LEVELS.get(judgement.outcome, "note"),
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"metric/v1": judgement.key},
    }
