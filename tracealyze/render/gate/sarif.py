"""The verdict as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tracealyze import _engine
from tracealyze.base.sanitize import shown
from tracealyze.compare.gate.judgement import Judgement, Outcome
from tracealyze.compare.metrics import METRICS, Name
from tracealyze.findings.compiled_rules import INCUBATOR
from tracealyze.findings.rule_set import rules
from tracealyze.render.addresses import page, rule_page
from tracealyze.render.gate.words import (
    DOUBTFUL,
    body,
    cut,
    details,
    headline,
    place,
    place_of,
    remarks_of,
    title,
    traced,
)
from tracealyze.render.json import text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracealyze.compare.gate.explain import Line
    from tracealyze.compare.gate.regressions import Regression
    from tracealyze.compare.gate.scripts import Source
    from tracealyze.compare.gate.verdict import Verdict

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Outcome.FAILED: "error", Outcome.WARNED: "warning"}


def rendered(verdict: Verdict) -> str:
    """As SARIF."""
    # Where something failed, each result is a regression: what is doubtful next to it would be further alerts about it.
    remarks = [] if verdict.regressions else verdict.of(*DOUBTFUL)
    judgements = [*(regression.lead for regression in verdict.regressions), *remarks]
    ids = list(dict.fromkeys(_id(judgement.metric) for judgement in judgements))
    driver = {
        "name": "tracealyze",
        "version": _engine.__version__,
        **({"informationUri": site} if (site := page("")) else {}),
        "rules": [_rule(each) for each in ids],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(verdict)],
        "results": [
            *(_regression(regression, ids, verdict) for regression in verdict.regressions),
            *(_remark(judgement, ids, verdict) for judgement in remarks),
        ],
    }
    return text({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _id(metric: str) -> str:
    """The family of a metric, or the finding that it counts: each rule has a page of its own."""
    name = Name.of(metric)
    return metric if name.family == "finding" and name.arguments else name.family


def _rule(identifier: str) -> dict[str, Any]:
    name = Name.of(identifier)
    metric = next(metric for metric in METRICS if metric.name == name.family)
    facts = {
        "id": identifier,
        "shortDescription": {"text": metric.sentence},
        **({"helpUri": gate} if (gate := page("gate.html")) else {}),
        "defaultConfiguration": {"level": "error"},
    }
    return facts | _of_finding(name.arguments[0]) if identifier != name.family else facts


def _of_finding(name: str) -> dict[str, Any]:
    """What a viewer shows for a rule: its title, its explanation and its page."""
    known = {rule.name: rule for rule in rules(INCUBATOR)}
    if name not in known:
        return {}
    rule = known[name]
    facts: dict[str, Any] = {"shortDescription": {"text": rule.title}}
    if finds := rule.explain.get("finds"):
        facts["fullDescription"] = {"text": finds}
    own_page = rule_page(rule.name, rule.code)
    return facts | {"helpUri": own_page} if own_page else facts


def _invocation(verdict: Verdict) -> dict[str, Any]:
    """The run of the tool. It succeeded if there is a verdict, even if the gate failed."""
    facts: dict[str, Any] = {"executionSuccessful": not verdict.is_open}
    facts["exitCode"] = int(verdict.exit_code)
    level = "note" if facts["executionSuccessful"] else "error"
    notes = [headline(verdict), *verdict.notes, *remarks_of(verdict)]
    facts["toolExecutionNotifications"] = [{"level": level, "message": {"text": note}} for note in notes]
    return facts


def _regression(regression: Regression, ids: list[str], verdict: Verdict) -> dict[str, Any]:
    text = "\n".join([shown(regression.title), *body(regression)])
    related = traced(regression) if regression.source else []
    return _result(regression.lead, text, place(regression, verdict), ids, related)


def _remark(judgement: Judgement, ids: list[str], verdict: Verdict) -> dict[str, Any]:
    text = "\n".join([title(judgement), *details(judgement)])
    explanation = judgement.explanation
    related = explanation.lines if explanation and explanation.source else ()
    return _result(judgement, text, place_of(judgement, verdict), ids, related)


def _result(
    judgement: Judgement, text: str, where: Source, ids: list[str], related: Sequence[Line] = ()
) -> dict[str, Any]:
    """A result with exactly one place, because viewers show one place per result. Lines of a capture are related."""
    identifier = _id(judgement.metric)
    result = {
        "ruleId": identifier,
        "ruleIndex": ids.index(identifier),
        "level": _LEVELS.get(judgement.outcome, "note"),
        "message": {"text": text},
        "locations": [{"physicalLocation": _location(where.path, where.line)}],
        "partialFingerprints": {"metric/v1": judgement.key},
    }
    if related:
        result["relatedLocations"] = [
            {"physicalLocation": _location(line.capture, line.line), "message": {"text": cut(shown(line.text))}}
            for line in related
        ]
    return result


def _location(path: str, line: int) -> dict[str, Any]:
    return {"artifactLocation": {"uri": quote(path)}, "region": {"startLine": line}}
