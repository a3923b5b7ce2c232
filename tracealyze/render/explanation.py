"""The explanation of a rule, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, assert_never

from tracealyze.base import units
from tracealyze.base.sanitize import shown
from tracealyze.findings.finding import SEVERITIES, Severity
from tracealyze.findings.rule_file import EXPLANATION
from tracealyze.render import output
from tracealyze.render.addresses import rule_page
from tracealyze.render.forms import Form
from tracealyze.render.listing import csv_cell, markdown_cell
from tracealyze.render.terminal import Terminal

if TYPE_CHECKING:
    from tracealyze.findings.rule_set import Rule


def parts(rule: Rule) -> Iterator[tuple[str, list[str]]]:
    """Headings with their paragraphs."""
    for key, heading in EXPLANATION.items():
        if rule.explain.get(key):
            yield heading, [rule.explain[key]]
    yield "When it triggers", list(_conditions(rule))
    found = [example.name for example in rule.examples if example.findings]
    alike = [example.name for example in rule.examples if not example.findings]
    examples = [f"Found: {'; '.join(found)}."] if found else []
    examples += [f"Similar, but not found: {'; '.join(alike)}."] if alike else []
    if examples:
        yield f"{units.counted(len(rule.examples), 'example')} in {rule.origin}", examples
    if rule.evidence:
        yield "Real captures in which it is the cause", [", ".join(rule.evidence)]


def _conditions(rule: Rule) -> Iterator[str]:
    yield f"It checks the rows of table {rule.table}{_which_rows(rule)}."
    group = [name for name in rule.group if name != "capture"]
    if group:
        yield f"Rows are grouped by {', '.join(group)}{_which_groups(rule)}."
    least = rule.at_least
    needed = [f"{units.share(least.share)} of {'the window' if rule.cost else 'all calls'}"] if least.share else []
    if least.busy_share:
        needed[-1:] = [f"{''.join(needed)} or {units.share(least.busy_share)} of it without idle time"]
    needed += [units.duration(least.total_ns)] if least.total_ns else []
    needed += [units.counted(least.count, *_noun(rule.count))] if least.count else []
    if needed:
        yield f"Minimum: {', '.join(needed)}."
    yield f"Severity: always {rule.severity}." if rule.severity else _severities()
    how = (
        "measured (the capture shows it)"
        if rule.confidence == "measured"
        else "inferred (it follows from other facts in the capture)"
    )
    yield f"Confidence: {how}."


def _noun(column: str) -> tuple[str, str]:
    many = column.replace("_", " ")
    return many.removesuffix("s"), many


def _severities() -> str:
    steps = [f"{name} from {units.duration(ns)} and {units.share(share)}" for name, ns, share in SEVERITIES]
    return (
        f"Severity depends on the time that could be saved: {', '.join(steps)} of the window, otherwise "
        f"{Severity.INFO}. Tracing overhead does not count."
    )


def _which_rows(rule: Rule) -> str:
    tests = [rule.where] if rule.where else []
    for sign, conditions in (("in", rule.only), ("not in", rule.excluded)):
        for column, values in conditions.items():
            listed = ", ".join(f'"{value}"' if isinstance(value, str) else str(value) for value in values)
            tests.append(f"{column} {sign} ({listed})")
    return f" with {' and '.join(tests)}" if tests else ""


def _which_groups(rule: Rule) -> str:
    return f"; a group must have {rule.keep}" if rule.keep else ""


def _as_text(rule: Rule) -> None:
    terminal = Terminal()
    terminal.line((f"{rule.code} {rule.name}", terminal.linked("bold", rule_page(rule.name, rule.code))))
    terminal.paragraph(shown(rule.title))
    for heading, paragraphs in parts(rule):
        terminal.line()
        terminal.line((shown(heading), "bold"))
        for text in paragraphs:
            terminal.paragraph(shown(" ".join(text.split())), indent=2)


def _as_markdown(rule: Rule) -> None:
    output.write(f"# {rule.code} {markdown_cell(shown(rule.name))}\n\n{markdown_cell(shown(rule.title))}\n")
    for heading, paragraphs in parts(rule):
        output.write(f"\n## {markdown_cell(shown(heading))}\n")
        for text in paragraphs:
            output.write(f"\n{markdown_cell(shown(' '.join(text.split())))}\n")


def _as_json(rule: Rule) -> None:
    from tracealyze.render import json

    json.write(
        {
            "code": rule.code,
            "name": rule.name,
            "title": rule.title,
            "table": rule.table,
            "where": rule.where,
            "group": list(rule.group),
            "keep": rule.keep,
            "at_least": {
                "share": rule.at_least.share,
                "total_ns": rule.at_least.total_ns,
                "count": rule.at_least.count,
            },
            "severity": rule.severity or None,
            "confidence": rule.confidence,
            "precedence": rule.precedence,
            "evidence": list(rule.evidence),
            "explain": dict(rule.explain),
            "examples": [{"name": example.name, "findings": example.findings} for example in rule.examples],
            "file": rule.origin,
        }
    )


def _as_csv(rule: Rule) -> None:
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["part", "text"])
    writer.writerows([csv_cell(heading), csv_cell(" ".join(texts))] for heading, texts in parts(rule))
    output.write(text.getvalue())


def write(rule: Rule, form: Form) -> None:
    """Write the explanation of a rule in an output form."""
    match form:
        case Form.TABLE:
            _as_text(rule)
        case Form.JSON:
            _as_json(rule)
        case Form.CSV:
            _as_csv(rule)
        case Form.MARKDOWN:
            _as_markdown(rule)
        case _:
            assert_never(form)
