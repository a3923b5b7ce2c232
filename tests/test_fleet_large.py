"""Questions about made-up stores of many parts: planted causes are found, and parts and writers change no answer."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from tracealyze import Fleet
from tracealyze.fleet.store import Commit, Store
from tracealyze.fleet.tables import TABLES

sys.path.insert(0, str(ROOT / "benches"))
fleet_store: Any = import_module("fleet_store")

CAPTURES = 8_000


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of sixteen parts."""
    place = str(tmp_path_factory.mktemp("store"))
    fleet_store.write_store(place, CAPTURES, per_commit=500)
    return place


def test_planted_causes_are_found_at_their_versions(store: str) -> None:
    answer = Fleet(store).trend("version")
    found = {(row["target"], row["since"]) for row in answer["rows"] if row["change"] == "worse"}
    planted = {(f"/srv/data/N/{cause}", f"4.{version}") for cause, version in fleet_store.PLANTED_SINCE.items()}
    assert planted <= found
    assert len(found - planted) <= 1
    assert sum(group["captures"] for group in answer["groups"]) == CAPTURES


def answers(fleet: Fleet) -> dict[str, Any]:
    """One answer of each kind."""
    return {
        "causes": fleet.top(),
        "targets": fleet.top("target"),
        "trend": fleet.trend("version"),
        "days": fleet.trend("day"),
        "compare": fleet.compare('version == "4.9"', 'version == "4.10"'),
        "outliers": fleet.outliers(),
        "failures": fleet.failures(),
        "query": fleet.query("findings", 'share > 60% and version == "4.3"')["matches"],
    }


def test_a_second_copy_of_captures_changes_no_answer(store: str, tmp_path: Path) -> None:
    double = Store(str(tmp_path))
    double.create()
    snapshot = Store(store).snapshot()
    everything = {name: snapshot.rows(name) for name in TABLES}
    double.write(Commit("whole", {name: len(table) for name, table in everything.items()}), everything)
    # A few captures of the whole come again in a second part, as if two writers had read them.
    again = everything["captures"]["capture_id"].to_pylist()[100:300]
    part = {name: table.filter(_among(table["capture_id"], again)) for name, table in everything.items()}
    double.write(Commit("again", {name: len(table) for name, table in part.items()}), part)
    assert not double.snapshot().is_plain
    expected, found = answers(Fleet(store)), answers(Fleet(str(tmp_path)))
    assert found == expected
    assert len(expected["failures"]["rows"]) == 20
    assert expected["query"] > 0


def test_skewed_shares_are_hardly_ever_outliers(store: str) -> None:
    """The shares of made-up captures are of one kind, and skewed."""
    answer = Fleet(store).outliers()
    assert answer["compared"] > 0.9 * CAPTURES
    assert answer["outliers"] < 0.005 * CAPTURES


def _among(column: Any, values: list[int]) -> Any:
    from tracealyze.fleet.arrow import compute, pa

    return compute.is_in(column, value_set=pa.array(values))


def test_queries_count_what_they_do_not_show(store: str) -> None:
    fleet = Fleet(store)
    shown = fleet.query("calls", 'version == "4.7"', limit=3)
    assert len(shown["rows"]) == 3
    assert shown["matches"] == len(fleet.query("calls", 'version == "4.7"')["rows"])
    assert shown["rows"] == fleet.query("calls", 'version == "4.7"')["rows"][:3]
    assert {row["version"] for row in shown["rows"]} == {"4.7"}
