"""The rules: each explains itself in five parts and has examples, found and not found."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, captures_of_samples

import tracealyze
from tracealyze.compare.run import Run
from tracealyze.compare.scaling import findings, scaling
from tracealyze.findings.compiled_rules import INCUBATOR, PACKAGED
from tracealyze.findings.rule_file import EXPLANATION
from tracealyze.findings.rule_set import Example, Rule, parsed_rules, rules
from tracealyze.model.expression.schema import SCHEMA, TABLES

# From their files: the compiled rules lack the traces of examples.
PARSED = [*parsed_rules(PACKAGED), *parsed_rules(INCUBATOR)]
ALL = rules(INCUBATOR)
# It compares captures of several sizes, as its example does.
ACROSS_CAPTURES = {"superlinear"}
CASES = [(rule, example) for rule in PARSED for example in rule.examples]


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.name)
def test_rule_has_an_explanation_and_both_kinds_of_examples(rule: Rule) -> None:
    assert list(rule.explain) == list(EXPLANATION)
    assert {bool(example.findings) for example in rule.examples} == {True, False}


_OF_ONE_ROW = re.compile("mean|interval|p50|p90|p99|usual")


@pytest.mark.parametrize("rule", [rule for rule in ALL if rule.group], ids=lambda rule: rule.name)
def test_message_has_optional_words_for_missing_values(rule: Rule) -> None:
    """A group of rows may have no mean or target, and "unknown" does not belong in a message."""
    named = set(re.findall(r"[{](\w+)", rule.message + rule.advice)) - set(rule.words) - set(rule.group) - {"program"}
    types = {column.name: column.kind for column in SCHEMA if column.table == rule.table}
    assert not [name for name in named if types.get(name) == "dict" or (name in types and _OF_ONE_ROW.search(name))]


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.name)
def test_rule_has_a_diagnosis(rule: Rule) -> None:
    assert rule.diagnosis or TABLES[rule.table].spans_captures


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.name)
def test_title_fits_the_list_of_rules(rule: Rule) -> None:
    """`tracealyze rules` has room for 60 columns."""
    assert len(rule.title) <= 60


KEPT_EVIDENCE = [(rule.name, each) for rule in rules() for each in rule.evidence if not each.startswith("https://")]


def test_each_rule_names_a_real_capture() -> None:
    """Rules of which none is known are off, in the incubator."""
    assert [rule.name for rule in ALL if not rule.evidence] == [rule.name for rule in ALL if rule not in rules()]


@pytest.mark.parametrize(("name", "file"), KEPT_EVIDENCE, ids=lambda value: Path(value).name)
def test_kept_evidence_gives_the_finding(name: str, file: str) -> None:
    assert (ROOT / file).is_file()
    if name not in ACROSS_CAPTURES:
        assert name in {finding.name for finding in tracealyze.read(ROOT / file).findings}


def test_codes_are_unique() -> None:
    codes = [rule.code for rule in ALL]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize(("rule", "example"), CASES, ids=lambda case: case.name)
def test_rule_examples_give_their_findings(rule: Rule, example: Example, tmp_path: Path) -> None:
    if example.n_from:
        assert len(_across(example, rule)) == example.findings
        return
    if example.sample:
        captures = [file for file in captures_of_samples() if example.sample in (file.parent.name, _in_samples(file))]
    else:
        captures = [tmp_path / "example"]
        captures[0].write_text(example.text, encoding="utf-8")
    sched = []
    if example.sched:
        sched = [str(tmp_path / "sched.txt")]
        Path(sched[0]).write_text(example.sched.lstrip("\n"), encoding="utf-8")
    found = tracealyze.read(captures[0], input_format=example.format, sched=sched).with_rules(ALL).findings
    names = [name for finding in found for name in (finding.name, *finding.also)]
    assert names.count(rule.name) == example.findings


def _in_samples(file: Path) -> str:
    return f"{file.parent.name}/{file.name}"


def _across(example: Example, rule: Rule) -> list[dict[str, Any]]:
    """The findings of a rule on the captures of a sample, with the sizes from their names."""
    named = [(re.search(example.n_from or "", file.name), file) for file in captures_of_samples()]
    mine = [(match, file) for match, file in named if match and file.parent.name == example.sample]
    return findings(scaling([(float(match[1]), Run(tracealyze.read(file))) for match, file in mine]), [rule])


def test_fingerprints_do_not_depend_on_ids_and_times(tmp_path: Path) -> None:
    dominant_call = next(rule for rule in PARSED if rule.code == "TLZ001")
    example = next(example for example in dominant_call.examples if example.findings)
    prints = []
    for pid, second in (("100", "1700000010."), ("4711", "1800000099.")):
        file = tmp_path / pid
        file.write_text(
            (example.trace or "").lstrip("\n").replace("100 1700000010.", f"{pid} {second}"), encoding="utf-8"
        )
        prints.append([finding.fingerprint for finding in tracealyze.read(file).findings])
    assert prints[0] == prints[1] != []


def test_page_lists_each_rule() -> None:
    """TRACEALYZE_BLESS=1 writes the rows of the table."""
    file = ROOT / "docs" / "rules.md"
    listed = "".join(re.findall(r"(?m)^\| `[a-z-]+` \(TLZ.*\n", file.read_text(encoding="utf-8")))
    rows = "".join(f"| `{rule.name}` ({rule.code}) | {rule.title} |\n" for rule in rules())
    if os.environ.get("TRACEALYZE_BLESS"):
        file.write_text(file.read_text(encoding="utf-8").replace(listed, rows), encoding="utf-8")
        listed = rows
    assert listed == rows


def test_thresholds_state_their_source() -> None:
    """Each number of judgement has a comment on the captures it was chosen from."""
    for file in sorted((ROOT / "rules").glob("**/*.toml")):
        text = file.read_text(encoding="utf-8")
        if "[at_least]" in text:
            assert re.search(r"(?m)^# .*\n\[at_least\]", text), file.name
