"""Rules about tables that span several captures. These have no common window, so their matches claim no time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracealyze.findings import messages
from tracealyze.findings.finding import Severity
from tracealyze.findings.matching import Match, merged
from tracealyze.model.expression.evaluation import evaluate, evaluate_group
from tracealyze.model.expression.schema import merges_of

if TYPE_CHECKING:
    from tracealyze.findings.rule_set import Rule
    from tracealyze.model.capture_input.capture_info import Capture
    from tracealyze.model.table import Row


class _NoCapture:
    """Several captures have no common clock."""

    def capture_of(self, number: int) -> Capture | None:  # noqa: ARG002
        return None


def findings(table: str, rows: Sequence[Row], chosen: Sequence[Rule]) -> list[tuple[Row, dict[str, str]]]:
    """The rows that match rules about this table, each with the members of its finding, in the order of the rows."""
    found = [
        (rows.index(members[0]), merged(members, merges_of(table)), rule)
        for rule in chosen
        if rule.table == table
        for members in _matches(rule, rows)
    ]
    found.sort(key=lambda each: (each[0], each[2].code))
    return [(row, _finding(rule, row)) for _, row, rule in found]


def _matches(rule: Rule, rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Groups of rows that match, or single rows."""
    where, keep = rule.forms.get("where"), rule.forms.get("keep")
    groups: dict[object, list[Row]] = {}
    for number, row in enumerate(rows):
        if where is None or evaluate(where, row):
            key = tuple(row[name] for name in rule.group) if rule.group else number
            groups.setdefault(key, []).append(row)
    for members in groups.values():
        share = sum(row.get("share") or 0.0 for row in members)
        count = sum(row.get(rule.count) or 0 for row in members)
        enough = share >= rule.at_least.share and count >= rule.at_least.count
        if enough and (keep is None or evaluate_group(keep, members)):
            yield members


def _finding(rule: Rule, row: Row) -> dict[str, str]:
    match = Match(rule, row, 0, (), ())
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity or Severity.INFO,
        "message": messages.message(rule.message, match, _NoCapture()),
        "advice": messages.message(rule.advice, match, _NoCapture()),
    }
