"""The verdict as a JSON document, schema `tracealyze.check/1`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tracealyze.compare.gate.judgement import Judgement, Outcome
from tracealyze.compare.gate.verdict import exit_code_of
from tracealyze.render.json import text

if TYPE_CHECKING:
    from tracealyze.compare.gate.call_rows import CallRow
    from tracealyze.compare.gate.regressions import Regression
    from tracealyze.compare.gate.verdict import Verdict

SCHEMA = "tracealyze.check/1"
_MAX_CALLS = 50
SCENARIOS = "tracealyze.scenarios/1"


def rendered(verdict: Verdict) -> str:
    """As JSON."""
    return text(document(verdict)) + "\n"


def together(verdicts: Sequence[Verdict]) -> str:
    """Several scenarios as JSON, schema `tracealyze.scenarios/1`, by name."""
    scenarios = {verdict.scenario: document(verdict) for verdict in verdicts}
    return text({"schema": SCENARIOS, "exit_code": int(exit_code_of(verdicts)), "scenarios": scenarios}) + "\n"


def document(verdict: Verdict) -> dict[str, Any]:
    """The content of the document."""
    counts = Counter(judgement.outcome for judgement in verdict.judgements)
    return {
        "schema": SCHEMA,
        "verdict": str(verdict.status),
        "exit_code": int(verdict.exit_code),
        "captures": list(verdict.captures),
        "baseline": verdict.baseline,
        "base": list(verdict.base),
        "counts": {str(outcome): counts[outcome] for outcome in Outcome},
        "regressions": [_regression(regression) for regression in verdict.regressions],
        "judgements": [_judgement(judgement) for judgement in verdict.judgements],
        "small_changes": _calls(verdict.small_changes),
        "first_runs": [
            {"capture": each.capture, "because": each.because, "calls": _calls(each.rows)}
            for each in verdict.first_runs
        ],
        "notes": list(verdict.notes),
        "hyperfine": asdict(verdict.times) if verdict.times else None,
    }


def _calls(rows: Sequence[CallRow]) -> list[dict[str, Any]]:
    return [{"what": row.text, "before": row.before, "after": row.after} for row in rows[:_MAX_CALLS]]


def _regression(regression: Regression) -> dict[str, Any]:
    return {
        "title": regression.title,
        "metrics": [judgement.metric for judgement in regression.judgements],
        "rows": [asdict(row) for row in regression.rows],
        "left_out": regression.left_out,
        "shares": dict(regression.shares),
        "rest": regression.rest,
        "why": regression.why,
        "lines": [asdict(line) for line in regression.lines],
        "command": regression.command,
        "script": asdict(regression.script) if regression.script else None,
        "source": asdict(regression.source) if regression.source else None,
    }


def _judgement(judgement: Judgement) -> dict[str, Any]:
    return {
        "metric": judgement.metric,
        "outcome": str(judgement.outcome),
        "by": str(judgement.by),
        "class": str(judgement.cls),
        "unit": judgement.unit,
        "before": judgement.before,
        "after": judgement.after,
        "limit": judgement.limit,
        "relation": judgement.relation,
        "why": judgement.why,
        "explanation": asdict(judgement.explanation) if judgement.explanation else None,
    }
