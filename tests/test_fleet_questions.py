"""Answers about many captures equal a brute-force count over `summarize --json`, and planted changes are found."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from math import ceil
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Run
from fleet_stores import write_captures, write_rows
from jsonschema import Draft202012Validator
from test_fleet_index import KEPT, Here

import tracealyze
from tracealyze import Fleet
from tracealyze.base.errors import UnusableInput, WrongUsage
from tracealyze.fleet.index import Options, index
from tracealyze.fleet.labels import Labels
from tracealyze.fleet.store import Store

SCHEMAS = json.loads((Path(__file__).parent / "schemas" / "fleet.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def documents() -> dict[str, Any]:
    """By path, the summaries of kept captures."""
    return {str(path): tracealyze.read(path).summary().document(full=True) for path in KEPT}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of the same captures."""
    place = str(tmp_path_factory.mktemp("store"))
    options = Options(executor=Here(), labels=Labels.of(["kept_rules/{rule_of}/{run}.strace*"]))
    index(map(str, KEPT), Store(place), options)
    return place


def nearest_rank(values: list[float], quantile: float) -> float:
    return sorted(values)[max(0, ceil(quantile * len(values)) - 1)]


@pytest.mark.parametrize(("by", "member"), [("fingerprint", "fingerprint"), ("rule", "name")])
def test_top_equals_a_count_by_hand(by: str, member: str, store: str, documents: dict[str, Any]) -> None:
    shares: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    times: dict[str, int] = defaultdict(int)
    for path, document in documents.items():
        for finding in document["findings"]:
            shares[finding[member]][path] += finding["share"] or 0
            times[finding[member]] += finding["impact_ns"][1] if finding["impact_ns"] else 0
    answer = Fleet(store).top(by, 10_000)
    assert {row[by]: (row["captures"], row["time_ns"]) for row in answer["rows"]} == {
        name: (len(shares[name]), times[name]) for name in shares
    }
    for row in answer["rows"]:
        mine = list(shares[row[by]].values())
        if row["median_share"] is not None:
            assert row["median_share"] == pytest.approx(nearest_rank(mine, 0.5))
            assert row["p90_share"] == pytest.approx(nearest_rank(mine, 0.9))
        assert row["uri"] in shares[row[by]]
        assert row["captures"] <= row["could_show"] <= len(KEPT)
        lines = [
            (finding["lines"] or [None])[0]
            for finding in documents[row["uri"]]["findings"]
            if finding[member] == row[by]
        ]
        assert row["line"] in lines
    assert [row["time_ns"] for row in answer["rows"]] == sorted(
        (row["time_ns"] for row in answer["rows"]), reverse=True
    )


def test_top_by_class_and_program_sum_the_path(store: str, documents: dict[str, Any]) -> None:
    classes: dict[str, int] = defaultdict(int)
    for document in documents.values():
        for row in document["partition"]:
            classes[row["class"]] += row["exclusive_ns"]
    fleet = Fleet(store)
    assert {row["class"]: row["time_ns"] for row in fleet.top("class", 100)["rows"]} == classes
    walls = sum(document["window"]["wall_ns"] for document in documents.values())
    assert sum(row["time_ns"] for row in fleet.top("program", 1000)["rows"]) <= walls
    with pytest.raises(WrongUsage, match="fingerprint"):
        fleet.top("fingerprints", 1)


def test_filtered_captures_do_not_count_where_they_are_blind(tmp_path: Path) -> None:
    write_rows(
        str(tmp_path),
        {
            "captures": [
                capture(1),
                capture(2, syscalls="openat,read", filtered=True),
                capture(3, calls=0),
                capture(4, syscalls="close,connect", filtered=True),
                capture(5, status="failed"),
            ],
            "findings": [finding(1, "dns", syscall="connect")],
        },
    )
    (row,) = Fleet(str(tmp_path)).top("fingerprint")["rows"]
    # The log and the capture of files only cannot show a network call, the failed one shows nothing.
    assert (row["captures"], row["could_show"]) == (1, 2)


def capture(number: int, **values: Any) -> dict[str, Any]:
    """A row of captures."""
    made = {"capture_id": number, "uri": f"c{number:06}", "status": "ok", "wall_ns": 10**9, "calls": 9}
    made |= {"filtered": False, "findings": 0, "weight": 0.0, "labels": []}
    return made | values


def finding(number: int, cause: str, share: float = 0.5, **values: Any) -> dict[str, Any]:
    """A row of findings."""
    made = {"capture_id": number, "fingerprint": cause, "rule": "slow-call", "basis": "wall", "share": share}
    made |= {"weight": share, "impact_high_ns": round(share * 10**9), "line": number, "program": "p"}
    return made | values


def test_like_finds_the_capture_itself_first(store: str, documents: dict[str, Any]) -> None:
    fleet = Fleet(store)
    for path in list(documents)[:12]:
        answer = fleet.like(tracealyze.read(path), 5)
        assert answer["rows"][0]["similarity"] == pytest.approx(1.0)
        best = [row["uri"] for row in answer["rows"] if row["similarity"] > 1 - 1e-9]
        assert path in best or answer["identical"] > len(best)


def test_like_equals_the_weighted_jaccard_index(store: str, documents: dict[str, Any]) -> None:
    def weights(document: dict[str, Any]) -> dict[str, float]:
        found: dict[str, float] = defaultdict(float)
        for each in document["findings"]:
            found[each["fingerprint"]] += max(each["share"] or 0, 0.01) if each["basis"] != "counts" else 0.01
        return found

    path = next(path for path, document in documents.items() if document["findings"])
    mine = weights(documents[path])
    for row in Fleet(store).like(tracealyze.read(path), 1000)["rows"]:
        theirs = weights(documents[row["uri"]])
        causes = {*mine, *theirs}
        common = sum(min(mine.get(each, 0), theirs.get(each, 0)) for each in causes)
        either = sum(max(mine.get(each, 0), theirs.get(each, 0)) for each in causes)
        assert row["similarity"] == pytest.approx(common / either)


PLANTED, NOISE, VERSIONS = 20, 60, 20


def planted(store: str, captures: int) -> dict[str, str]:
    """A store with causes that become worse in known versions, among others that do not change."""
    chance = random.Random(7)
    since = {f"planted{number:02}": chance.randrange(2, VERSIONS - 1) for number in range(PLANTED)}
    base = {f"noise{number:02}": chance.random() * 0.3 for number in range(NOISE)}
    rows: dict[str, list[dict[str, Any]]] = {"captures": [], "findings": []}
    for number in range(captures):
        version = chance.randrange(VERSIONS)
        rows["captures"].append(capture(number, labels=[("version", f"2.{version}.0")]))
        for cause, first in since.items():
            if chance.random() < (0.12 if version >= first else 0.03):
                rows["findings"].append(finding(number, cause, chance.uniform(0.05, 0.5)))
        rows["findings"] += [
            finding(number, cause, chance.uniform(0.05, 0.5))
            for cause, often in base.items()
            if chance.random() < often
        ]
    write_rows(store, rows)
    return {cause: f"2.{first}.0" for cause, first in since.items()}


def test_planted_regressions_are_found_at_their_versions(tmp_path: Path) -> None:
    expected = planted(str(tmp_path), 10_000)
    answer = Fleet(str(tmp_path)).trend("version", 1000)
    found = {row["fingerprint"]: row["since"] for row in answer["rows"] if row["change"] == "worse"}
    assert {cause: found.get(cause) for cause in expected} == expected
    assert len(set(found) - set(expected)) <= 1
    assert [each["name"] for each in answer["groups"]][:11:5] == ["2.0.0", "2.5.0", "2.10.0"]


def test_trend_and_compare_of_real_captures(tmp_path: Path) -> None:
    write_captures(tmp_path / "in", 48)
    store = str(tmp_path / "store")
    options = Options(executor=Here(), labels=Labels.of(["{version}/{run}.strace"]))
    index([str(tmp_path / "in")], Store(store), options)
    fleet = Fleet(store)
    answer = fleet.trend("version")
    assert [each["name"] for each in answer["groups"]] == ["1.8", "1.9", "1.10", "1.11"]
    assert [(row["rule"], row["since"], row["first"]) for row in answer["rows"]] == [("fixed-sleep", "1.10", "1.10")]
    assert answer["rows"][0]["captures"] == [0, 0, 12, 12]
    compared = fleet.compare('version == "1.9"', 'version == "1.10"')
    assert [(row["rule"], row["change"]) for row in compared["rows"]] == [("fixed-sleep", "worse")]
    assert fleet.compare('version == "1.10"', 'version == "1.11"')["rows"] == []
    with pytest.raises(UnusableInput, match="at least 2"):
        # All of them are of one day.
        fleet.trend("day")
    with pytest.raises(WrongUsage, match="version"):
        fleet.trend("versions")
    with pytest.raises(UnusableInput, match="only"):
        fleet.compare('version == "0"', 'version == "1.9"')


def test_outliers_differ_from_their_group(tmp_path: Path) -> None:
    chance = random.Random(3)
    captures = [capture(number, labels=[("scenario", "ab"[number % 2])]) for number in range(60)]
    classes = []
    for number in range(60):
        disk = 0.8 if number == 17 else chance.uniform(0.1, 0.14) if number % 2 else chance.uniform(0.6, 0.64)
        classes += [
            {"capture_id": number, "class": "disk", "share": disk},
            {"capture_id": number, "class": "user", "share": 1 - disk},
        ]
    # All run the same second program; without a label, the first one decides who is compared.
    processes = [{"capture_id": number, "program": "z", "first_line": 9} for number in range(60)]
    processes += [{"capture_id": number, "program": "ab"[number % 2], "first_line": 1} for number in range(60)]
    write_rows(str(tmp_path), {"captures": captures, "classes": classes, "processes": processes})
    for within in ("scenario", None):
        answer = Fleet(str(tmp_path)).outliers(within)
        assert [(row["uri"], row["class"], row["group"]) for row in answer["rows"]] == [("c000017", "disk", "b")]
        assert answer["compared"] == 60


CONDITIONS = [
    ('rule == "fixed-sleep"', lambda row: row["rule"] == "fixed-sleep"),
    ("share >= 50%", lambda row: row["share"] is not None and row["share"] >= 0.5),
    ("not share >= 50%", lambda row: not (row["share"] is not None and row["share"] >= 0.5)),
    ("syscall is missing", lambda row: row["syscall"] is None),
    ('syscall != "read"', lambda row: row["syscall"] is not None and row["syscall"] != "read"),
    (
        'rule ~ "^(slow|fixed)" and impact_high_ns > 100ms',
        lambda row: row["rule"].startswith(("slow", "fixed")) and (row["impact_high_ns"] or 0) > 10**8,
    ),
    ('syscall in ("read", "write")', lambda row: row["syscall"] in ("read", "write")),
    ('syscall not in ("read", "write")', lambda row: row["syscall"] not in ("read", "write", None)),
    (
        'run == "found-1" and impact_high_ns - impact_low_ns > 0ns',
        lambda row: row["impact_high_ns"] is not None and row["impact_high_ns"] > row["impact_low_ns"],
    ),
    (
        "impact_low_ns / impact_high_ns < 0.5",
        lambda row: bool(row["impact_high_ns"]) and row["impact_low_ns"] / row["impact_high_ns"] < 0.5,
    ),
]


@pytest.mark.parametrize(("condition", "holds"), CONDITIONS, ids=[text for text, _ in CONDITIONS])
def test_query_equals_a_filter_by_hand(condition: str, holds: Any, store: str) -> None:
    fleet = Fleet(store)
    everything = fleet.query("findings")["rows"]
    expected = [row for row in everything if holds(row)]
    answer = fleet.query("findings", condition)
    assert answer["matches"] == len(expected)
    assert answer["rows"] == expected
    assert 0 < len(expected) < len(everything) or condition.startswith("run")


def test_where_restricts_every_question(store: str) -> None:
    fleet = Fleet(store).where('rule_of == "fixed-sleep"')
    assert fleet.captures["uri"].to_pylist() == [str(ROOT / "tests/kept_rules/fixed-sleep/found-1.strace.xz")]
    assert {row["captures"] for row in fleet.top("rule")["rows"]} == {1}
    assert set(fleet.table("processes")["capture_id"].to_pylist()) == set(fleet.captures["capture_id"].to_pylist())
    assert len(fleet.to_pandas("findings")) == fleet.captures["findings"][0].as_py()
    assert Fleet(store).dataset("calls").count_rows() == len(Fleet(store).table("calls"))
    for wrong in ("rule_off == 1", "lines ==", 'lines == "x"'):
        with pytest.raises(WrongUsage):
            Fleet(store).where(wrong)


@pytest.mark.parametrize(
    "arguments",
    [
        ["top"],
        ["top", "--by", "class"],
        ["failures"],
        ["outliers"],
        ["query", "captures", "--where", "lines > 10"],
        ["trend", "--over", "run_of"],
        ["compare", 'rule_of ~ "^[a-l]"', 'rule_of ~ "^[m-z]"'],
        ["like", str(KEPT[0])],
    ],
    ids=lambda arguments: "-".join(arguments[:2]),
)
def test_json_matches_its_schema(arguments: list[str], run: Run, store: str) -> None:
    done = run("fleet", *arguments, "--json", TRACEALYZE_STORE=store)
    if "trend" in arguments:
        assert done.returncode == 2
        assert "no capture has a label" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    name = document["schema"].removeprefix("tracealyze.fleet-").removesuffix("/1")
    Draft202012Validator({"$defs": SCHEMAS["$defs"], "$ref": f"#/$defs/{name}"}).validate(document)
    assert len(done.stdout) < 100_000
    table = run("fleet", *arguments, TRACEALYZE_STORE=store)
    assert table.returncode == 0, table.stderr
    assert table.stdout


def test_index_command_reports_what_it_did(run: Run, tmp_path: Path) -> None:
    write_captures(tmp_path / "in", 5)
    (tmp_path / "in" / "x.strace").write_text("nothing\n", encoding="utf-8")
    done = run("fleet", "index", tmp_path / "in", "--store", tmp_path / "store", "--workers", "1")
    assert (done.returncode, done.stderr) == (0, "")
    # A file that is no capture has not failed.
    assert done.stdout.startswith("5 captures read in ")
    assert done.stdout.endswith("; 1 other file left out, no format was recognized.\n")
    failures = run("fleet", "failures", "--store", tmp_path / "store").stdout
    assert failures.startswith("0 of 5 captures failed. 1 other file left out: no format was recognized.\n")
    again = run("fleet", "index", tmp_path / "in", "--store", tmp_path / "store", "--shard", "1/1")
    assert again.stdout.startswith("0 captures read in ")
    assert again.stdout.endswith("; 6 were in the store already.\n")
    assert run("fleet", "compact", "--store", tmp_path / "store").stdout == "1 batch before, 1 now.\n"
    missing = run("fleet", "top", "--store", tmp_path / "none")
    assert (missing.returncode, missing.stdout) == (3, "")
