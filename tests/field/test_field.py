"""Findings on captures of real software, held against the truth in their scenarios.

`known.toml` has a line for each capture whose findings are not right yet. The suite fails when a capture gets worse,
and also when one gets better but its line is still there: improvements are recorded.

    python -m pytest tests/field -s                     print the table
    FIELD_ACCEPT=1 python -m pytest tests/field         write known.toml again
"""

from __future__ import annotations

import lzma
import os
import sys
import tomllib
from functools import cache

import pytest
from scenario import CAPTURES, HERE, recorded, scenarios
from scoring import Score, score, table

_KNOWN = HERE / "known.toml"
_ALL = {scenario.name: scenario for scenario in scenarios()}
_FACTS = recorded()
_POINTS = range(3, 14)
_MIN_CAPTURES = 80
_MIN_PROGRAMS = 30
_MIN_HEALTHY_SHARE = 1 / 3
_MAX_BYTES = 4 << 20
# Folders and names of the machine that recorded.
_PRIVATE = (b"/work/", b"/root/", b"/tmp/field-")


@cache
def _score(name: str) -> Score:
    return score(_ALL[name], max(_FACTS[name]["untraced_s"]))


def _known() -> dict[str, str]:
    return tomllib.loads(_KNOWN.read_text(encoding="utf-8")) if _KNOWN.exists() else {}


@pytest.fixture(scope="module", autouse=True)
def _accepted() -> None:
    """Write known.toml when that is wanted."""
    if os.environ.get("FIELD_ACCEPT"):
        wrong = {name: str(_score(name).verdict) for name in sorted(_ALL)}
        lines = [f'{name} = "{verdict}"\n' for name, verdict in wrong.items() if verdict != "right"]
        _KNOWN.write_text(
            "# Captures with findings that are not right yet. Written by test_field.py.\n" + "".join(lines)
        )


@pytest.mark.parametrize("name", _ALL)
def test_findings_are_as_right_as_recorded(name: str) -> None:
    scored = _score(name)
    found = "\n".join(
        f"{each.severity} {each.name} {(each.impact_ns or (0, 0))[1] / 1e9:.3f} s: {each.message}"
        for each in scored.findings
    )
    assert str(scored.verdict) == _known().get(name, "right"), found


def test_known_verdicts_are_of_scenarios() -> None:
    assert set(_known()) <= set(_ALL)


def test_captures_are_of_the_scenarios_as_they_stand() -> None:
    assert {file.name for file in CAPTURES.iterdir()} == {scenario.capture.name for scenario in _ALL.values()}
    stale = {name for name, scenario in _ALL.items() if _FACTS[name]["made_by"] != scenario.made_by}
    assert stale == set(), "record them again: python tests/field/record.py"


def test_lab_is_varied_and_small() -> None:
    assert len(_ALL) >= _MIN_CAPTURES
    assert len({name for scenario in _ALL.values() for name in scenario.uses}) >= _MIN_PROGRAMS
    assert sum(scenario.is_healthy for scenario in _ALL.values()) >= _MIN_HEALTHY_SHARE * len(_ALL)
    assert {point for scenario in _ALL.values() for point in scenario.points} >= set(_POINTS)
    assert sum(file.stat().st_size for file in CAPTURES.iterdir()) <= _MAX_BYTES


def test_captures_name_nothing_of_the_recording_machine() -> None:
    for scenario in _ALL.values():
        text = lzma.decompress(scenario.capture.read_bytes())
        assert [name for name in _PRIVATE if name in text] == [], scenario.name


def test_the_table_is_printed() -> None:
    sys.stdout.writelines(f"\n{line}" for line in table([_score(name) for name in _ALL]))
