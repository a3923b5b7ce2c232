"""Observations: sentences about what counts, errors and order show, in captures without times."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import tracealyze

_CASES: dict[str, dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "outcomes" / "observations.toml").read_text(encoding="utf-8")
)


def _capture(case: dict[str, Any]) -> bytes:
    turns = "".join(case["turn"].removeprefix("\n").replace("{n}", str(n)) for n in range(case.get("turns", 0)))
    text: str = case["trace"]
    return text.removeprefix("\n").replace("{turns}\n", turns).encode()


@pytest.mark.parametrize("name", _CASES)
def test_observations_say_what_the_lines_show(name: str) -> None:
    case = _CASES[name]
    summary = tracealyze.read(_capture(case)).summary()
    texts = [each.text for each in summary.observations]
    assert [text for text in texts if text in case["says"]] == case["says"], texts
    assert [words for words in case.get("never", ()) if words in " ".join(texts)] == []
    # An observation accuses nobody: it promises no time.
    assert not any("save" in text for text in texts)
