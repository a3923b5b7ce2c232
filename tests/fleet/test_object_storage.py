"""Captures and stores behind the S3 protocol, over HTTP, with faults: `make test-fleet`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from clients import CLIENT, client_environment
from conftest import Run
from faulty_proxy import Request, Watcher
from fleet_stores import capture_text, content, write_captures
from object_storage import BUCKET, KEYS, Storage, filled_storage
from test_fleet_index import Here, indexed

from tracealyze.fleet import locations
from tracealyze.fleet.batch import STORAGE
from tracealyze.fleet.compact import compact
from tracealyze.fleet.index import Options, index
from tracealyze.fleet.labels import Labels
from tracealyze.fleet.store import Store

pytestmark = [pytest.mark.fleet, pytest.mark.filterwarnings("default")]

CAPTURES = 12


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Storage]:
    """A storage with captures below `in`."""
    with filled_storage(tmp_path_factory.mktemp("captures"), CAPTURES) as made:
        yield made


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch, bucket: Storage) -> None:
    """What a user of the bucket has in the environment. Attempts follow each other at once."""
    monkeypatch.setattr(locations, "_FIRST_PAUSE_S", 0.0)
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    bucket.proxy.reset()


def run_through(bucket: Storage, store: str, watcher: Watcher = lambda _: None, **options: Any) -> dict[str, Any]:
    """The rows of a store of the captures, both behind the proxy."""
    bucket.proxy.reset(watcher)
    place = bucket.uri(store)
    index([bucket.uri("in")], Store(place), Options(**{"executor": Here(), "max_captures": 4, **options}))
    bucket.proxy.watcher = lambda _: None
    return content(bucket.uri(store, through_proxy=False))


@pytest.fixture(scope="module")
def undisturbed(bucket: Storage) -> dict[str, Any]:
    """The rows without faults."""
    rows = run_through(bucket, "undisturbed", executor=None)
    assert len(rows["captures"]) == CAPTURES
    assert {row["status"] for row in rows["captures"]} == {"ok"}
    return rows


def test_rows_are_those_of_local_files(undisturbed: dict[str, Any], tmp_path: Path) -> None:
    write_captures(tmp_path / "in", CAPTURES)
    local = indexed(tmp_path / "store", tmp_path / "in")
    ids = {row["uri"].rpartition("/in/")[2]: row["capture_id"] for row in local["captures"]}
    theirs = {row["capture_id"]: ids[row["uri"].rpartition("/in/")[2]] for row in undisturbed["captures"]}
    for table in ("processes", "calls", "classes", "findings"):
        moved = [row | {"capture_id": theirs[row["capture_id"]]} for row in undisturbed[table]]
        assert sorted(moved, key=repr) == local[table]


def test_a_second_run_reads_no_capture(bucket: Storage, undisturbed: dict[str, Any]) -> None:
    assert run_through(bucket, "undisturbed") == undisturbed
    assert bucket.proxy.count("GET", r"/in/.*\.strace") == 0


def every(nth: int, fault: str, methods: str, pattern: str) -> Watcher:
    """A fault in each n-th of the requests with these methods and paths."""
    seen = 0

    def watch(request: Request) -> str | None:
        nonlocal seen
        if not request.fits(methods, pattern):
            return None
        seen += 1
        return fault if seen % nth == 0 else None

    return watch


@pytest.mark.parametrize(
    ("nth", "fault", "methods", "pattern"),
    [
        (7, "refuse", "GET PUT HEAD POST", r"strace|v1"),
        (2, "half", "GET", r"/in/.*\.strace"),
        (2, "refuse", "PUT POST", r"v1/"),
        (2, "half", "GET", r"list-type|store\.json"),
    ],
    ids=["refused", "half-captures", "refused-writes", "half-lists"],
)
def test_faults_that_pass_change_nothing(
    nth: int, fault: str, methods: str, pattern: str, bucket: Storage, undisturbed: dict[str, Any]
) -> None:
    store = f"store-{fault}-{methods.replace(' ', '-')}-{nth}"
    assert run_through(bucket, store, every(nth, fault, methods, pattern)) == undisturbed
    assert bucket.proxy.faults > 0


def test_a_capture_that_storage_never_gives_is_read_by_the_next_run(
    bucket: Storage, undisturbed: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locations, "_ATTEMPTS", 2)
    rows = run_through(bucket, "never", every(1, "half", "GET", r"run00005"))
    (row,) = (row for row in rows["captures"] if row["status"] == "failed")
    assert row["error_kind"] == STORAGE
    assert "run00005" in row["uri"]
    after = run_through(bucket, "never")
    # The number of a capture that replaces a row depends on that row.
    assert [row["status"] for row in after["captures"]] == ["ok"] * CAPTURES
    without_ids = [{**row, "capture_id": 0} for row in after["captures"]]
    assert sorted(without_ids, key=repr) == sorted(
        ({**row, "capture_id": 0} for row in undisturbed["captures"]), key=repr
    )


def test_a_capture_that_changes_after_it_was_listed_is_read_as_it_is_then(bucket: Storage) -> None:
    bucket.put("changing/a.strace", capture_text(1).encode())
    bucket.put("changing/b.strace", capture_text(2).encode())
    changed = False

    def watch(request: Request) -> None:
        nonlocal changed
        if not changed and request.fits("GET", r"changing/a\.strace"):
            changed = True
            bucket.put("changing/a.strace", capture_text(3, calls=7).encode())

    bucket.proxy.reset(watch)
    source, place = [bucket.uri("changing")], Store(bucket.uri("changing-store"))
    index(source, place, Options(executor=Here()))
    assert changed
    rows = {row["uri"][-8:]: row for row in content(place.uri)["captures"]}
    assert (rows["a.strace"]["status"], rows["a.strace"]["error_kind"]) == ("failed", STORAGE)
    assert rows["b.strace"]["status"] == "ok"
    index(source, place, Options(executor=Here()))
    rows = {row["uri"][-8:]: row for row in content(place.uri)["captures"]}
    assert {row["status"] for row in rows.values()} == {"ok"}
    assert rows["a.strace"]["calls"] == 3 * 7 + 2


def test_fsspec_reads_and_writes_what_pyarrow_does(
    bucket: Storage, undisturbed: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """s3fs, for a scheme that pyarrow does not know, as for all other file systems of fsspec; with faults."""
    pytest.importorskip("s3fs", reason="needs s3fs")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{bucket.proxy.port}")
    bucket.proxy.reset(every(4, "half", "GET", r"/in/.*\.strace"))
    place = f"s3a://{BUCKET}/through-fsspec"
    index([f"s3a://{BUCKET}/in"], Store(place), Options(workers=2, max_captures=4))
    assert bucket.proxy.faults > 0
    found = content(place)
    assert {row["uri"].partition("://")[0] for row in found["captures"]} == {"s3a"}
    assert values(found) == values(undisturbed)
    done = index([f"s3a://{BUCKET}/in"], Store(place), Options(executor=Here()))
    assert (done.captures, done.known) == (0, CAPTURES)


def values(rows: dict[str, Any]) -> list[str]:
    """The rows of all tables without what names a capture."""
    names = ("capture_id", "uri", "item", "etag")
    return sorted(
        f"{table} { {name: value for name, value in row.items() if name not in names} }"
        for table in rows
        for row in rows[table]
    )


def test_two_writers_at_once_store_each_capture_once(bucket: Storage, undisturbed: dict[str, Any]) -> None:
    """Two commands begin with the same empty store, with batches that overlap."""
    writers = [
        subprocess.Popen([*CLIENT, bucket.uri("in"), bucket.uri("shared"), "", str(size)], env=client_environment())
        for size in (3, 5)
    ]
    assert [each.wait() for each in writers] == [0, 0]
    store = bucket.uri("shared", through_proxy=False)
    assert content(store) == undisturbed
    compact(Store(store), prune=True)
    assert content(store) == undisturbed


def test_sql_sees_the_tables(bucket: Storage, undisturbed: dict[str, Any], run: Run) -> None:
    pytest.importorskip("duckdb", reason="needs duckdb")
    statement = "select status, count(*) as captures, sum(calls) as calls from captures group by status"
    done = run("fleet", "sql", statement, "--store", bucket.uri("undisturbed"), "--json")
    assert json.loads(done.stdout)["rows"] == [
        {"status": "ok", "captures": CAPTURES, "calls": sum(row["calls"] for row in undisturbed["captures"])}
    ]
    joined = "select count(*) as rows from findings join captures using (capture_id) where rule is not null"
    done = run("fleet", "sql", joined, "--store", bucket.uri("undisturbed"), "--json")
    assert json.loads(done.stdout)["rows"] == [{"rows": len(undisturbed["findings"])}]
    for forbidden in ("select * from read_csv('/etc/passwd')", "copy captures to '/tmp/x.csv'", "install httpfs"):
        assert run("fleet", "sql", forbidden, "--store", bucket.uri("undisturbed")).returncode == 2


def test_the_gate_reads_its_baseline_behind_a_uri(bucket: Storage, tmp_path: Path, run: Run) -> None:
    for seed in range(4):
        bucket.put(f"gate/main/run{seed}.strace", capture_text(seed, calls=20).encode())
    labels = Labels.of(["{branch}/{run}.strace*"])
    index([bucket.uri("gate")], Store(bucket.uri("gate-store")), Options(labels=labels, executor=Here()))
    baseline = f"fleet:{bucket.uri('gate-store')}?branch=main"
    for calls, code in ((20, 0), (60, 1)):
        (tmp_path / "new.strace").write_text(capture_text(9, calls=calls), encoding="utf-8")
        done = run("check", tmp_path / "new.strace", "--baseline", baseline, "--json")
        assert done.returncode == code, done.stderr
        assert "4 captures" in " ".join(json.loads(done.stdout)["notes"])
    bucket.put("gate/main/run3.strace", capture_text(7, calls=60).encode())
    done = run("check", tmp_path / "new.strace", "--baseline", baseline, "--json")
    assert "1 capture of the baseline left out" in " ".join(json.loads(done.stdout)["notes"])
