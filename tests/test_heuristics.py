"""Numbers of judgement are in one file per language: nowhere else is a threshold defined."""

from __future__ import annotations

import re

from conftest import ROOT

ENGINE = ROOT / "engine"
PACKAGE = ROOT / "tracealyze"
RUST_HOME = ENGINE / "trace" / "src" / "store" / "heuristics.rs"
PYTHON_HOME = PACKAGE / "base" / "heuristics.py"

UNITS = "NS|SHARE|RATIO|PERCENT|TICKS"
RUST = re.compile(rf"^\s*(?:pub(?:\([^)]*\))? )?const (\w+_(?:{UNITS})): [^=]*=", re.MULTILINE)
PYTHON = re.compile(rf"^(_?[A-Z][A-Z_]*_(?:{UNITS}))\b[^=\n]*=", re.MULTILINE)
TESTS = re.compile(r"^#\[cfg\(test\)\]\nmod tests \{.*", re.MULTILINE | re.DOTALL)

# Facts about calendars, and limits of what a column or a clock can represent.
TECHNICAL = {
    "DAY_NS",
    "YEAR_2001_NS",
    "MAX_NS",
    "FURTHEST_NS",
    "NEVER_NS",
}
# How texts are printed, and the start of the examples in rules.
PRINTED = {"_TICKS_OF_ONE_PERCENT", "_DIGITS_OF_NS", "_FIRST_STAMP_NS"}


def rust_names(text: str) -> set[str]:
    return set(RUST.findall(TESTS.sub("", text)))


def test_thresholds_of_the_engine_are_in_one_file() -> None:
    files = [file for file in ENGINE.glob("*/src/**/*.rs") if file != RUST_HOME and "tests" not in file.parts]
    found = {(file.name, name) for file in files for name in rust_names(file.read_text(encoding="utf-8"))}
    assert {(file, name) for file, name in found if name not in TECHNICAL} == set()
    assert {name for _, name in found} == TECHNICAL


def test_thresholds_of_the_package_are_in_one_file() -> None:
    files = [file for file in PACKAGE.rglob("*.py") if file != PYTHON_HOME]
    found = {(file.name, name) for file in files for name in PYTHON.findall(file.read_text(encoding="utf-8"))}
    assert {(file, name) for file, name in found if name not in PRINTED} == set()
    assert {name for _, name in found} == PRINTED


def test_each_threshold_has_a_source() -> None:
    rust = RUST_HOME.read_text(encoding="utf-8")
    described = re.findall(r"^/// Source: .+\n(?:/// .+\n)*(?:#.*\n)?pub const (\w+)", rust, re.MULTILINE)
    assert described == re.findall(r"^pub const (\w+)", rust, re.MULTILINE)
    python = PYTHON_HOME.read_text(encoding="utf-8")
    constants = re.findall(r"^([A-Z][A-Z_]*)\b.*=.*\n(\"\"\"[^\"]*\"\"\")?", python, re.MULTILINE)
    assert constants
    assert [name for name, text in constants if "\nSource: " not in text] == []
