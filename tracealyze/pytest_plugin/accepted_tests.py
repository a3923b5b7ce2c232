"""The file of accepted counts: a baseline per test."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tracealyze.base.suggested import file_word
from tracealyze.compare.gate import baseline_file
from tracealyze.compare.gate.baseline import Baseline

SCHEMA = "tracealyze.tests/1"


def of_test(file: str, test: str) -> Baseline | None:
    """The accepted counts of a test; None if it has none. Raises `NoBaseline` for a damaged file."""
    found = _tests(Path(file)).get(test)
    return None if found is None else baseline_file.of_document(found, f"{file}, {test}")


def missing(file: str, test: str) -> str:
    """The failure of a test that has no accepted counts: a missing baseline is never a pass."""
    accept = f"pytest --syscalls-baseline {file_word(file)} --syscalls-accept"
    return f"{file} has no counts of {test}. Accept this run: {accept}"


def write(file: str, accepted: Mapping[str, Any]) -> None:
    """Accept the counts of these tests, and keep those of tests that did not run."""
    baseline_file.write_document({"schema": SCHEMA, "tests": {**_tests(Path(file)), **accepted}}, Path(file))


def _tests(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise baseline_file.NoBaseline(f"{file}: cannot be read: {error}. Recreate it.") from error
    if not isinstance(content, dict) or content.get("schema") != SCHEMA or not isinstance(content.get("tests"), dict):
        raise baseline_file.NoBaseline(f'{file}: not a file of accepted tests (schema "{SCHEMA}"). Recreate it.')
    return dict(content["tests"])
