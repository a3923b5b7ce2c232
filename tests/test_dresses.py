"""One incident in every dress: less is known in each of them, and no more is claimed.

A dress of each incident is tried here, all of them by `make dresses`. `dresses.toml` has the exceptions.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import dress_relations
import dresses
import pytest
from dress_relations import Incident, Tried, Wardrobe

_INCIDENTS = dress_relations.incidents()
_DRESSES = 1
_SAME_STEP = 4
"""Of so many incidents, one is read in the ways that change nothing."""


@pytest.fixture
def wardrobe(tmp_path: Path) -> Wardrobe:
    return Wardrobe(tmp_path)


def _report(relations: Iterator[Tried]) -> str:
    failed = dress_relations.unexcused(relations)
    return "\n".join(f"{each.relation} {each.kind}: {each.incident} as {each.dress}: {each.detail}" for each in failed)


@pytest.mark.parametrize("incident", _INCIDENTS.values(), ids=_INCIDENTS)
def test_less_known_is_no_more_claimed(incident: Incident, wardrobe: Wardrobe) -> None:
    wanted = dress_relations.chosen(incident, _DRESSES)
    assert not _report(each for dress in wanted for each in dress_relations.tried(wardrobe, incident, dress))


@pytest.mark.parametrize("incident", list(_INCIDENTS.values())[::_SAME_STEP], ids=list(_INCIDENTS)[::_SAME_STEP])
def test_names_change_no_answer(incident: Incident, wardrobe: Wardrobe) -> None:
    assert not _report(dress_relations.same(wardrobe, incident))


@pytest.mark.dresses
@pytest.mark.parametrize("incident", _INCIDENTS.values(), ids=_INCIDENTS)
def test_every_dress_claims_no_more(incident: Incident, wardrobe: Wardrobe) -> None:
    relations = (each for dress in incident.dresses() for each in dress_relations.tried(wardrobe, incident, dress))
    assert not _report(relations)
    assert not _report(dress_relations.same(wardrobe, incident))


def test_chosen_dresses_show_each_pair_of_properties() -> None:
    chosen = dresses.pairwise(dresses.all_dresses(), "all", 120)
    for one, other in itertools.combinations(("format", "cut", "output", "redacted"), 2):
        pairs = {(getattr(dress, one), getattr(dress, other)) for dress in dresses.all_dresses()}
        assert {(getattr(dress, one), getattr(dress, other)) for dress in chosen} == pairs


def test_renumbered_pids_are_found_again() -> None:
    text = '[pid 7] wait4(8, [{WIFEXITED(s)}], 0, NULL) = 8\n7 1700000000.000000 read(8, "", 7) = 0\n'
    assert dresses.original_pids(dresses.renumbered(text), {7, 8}) == text
    assert dresses.renumbered(text).count("4000007") == 2


def test_each_exception_has_a_reason() -> None:
    assert all(len(each.reason) > 20 and each.relation != "*" for each in dress_relations.excuses())
