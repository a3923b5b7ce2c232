"""The table of calls: what is charged to a call lies within it."""

from __future__ import annotations

import pytest
from rule_cases import CASES, Case

import tracealyze


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_path_time_of_calls_is_within_their_total(case: Case) -> None:
    """The delay of a poll loop and the start of a child follow a call; once they were charged to it as well."""
    for row in tracealyze.read(case.capture).calls(["syscall", "op", "outcome"]):
        if row["outcome"] not in ("open", "noreturn"):
            assert row["exclusive_ns"] <= row["total_ns"], row
