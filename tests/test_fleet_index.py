"""A store has the numbers of `summarize --json`, whatever ends workers and clients, and each capture once."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, captures_of_samples
from fleet_stores import by_uri, capture_text, content, logical_hash, write_captures

import tracealyze
from tracealyze.base.errors import MissingCapture, UnusableInput, WrongUsage
from tracealyze.fleet import pool
from tracealyze.fleet.batch import Batch, index_batch
from tracealyze.fleet.compact import compact
from tracealyze.fleet.index import Options, index, rules_hash
from tracealyze.fleet.labels import Labels
from tracealyze.fleet.pool import Limits
from tracealyze.fleet.shards import of_shard, shard_of
from tracealyze.fleet.sources import Item, items
from tracealyze.fleet.store import Store
from tracealyze.trace.summary import Summary

KEPT = sorted((ROOT / "tests" / "kept_rules").glob("*/found-1.strace.xz"))


def indexed(store: Path, *sources: Path, **options: Any) -> Any:
    """Index in this process, and return the rows by table."""
    made = Options(**{"executor": Here(), **options})
    index(map(str, sources), Store(str(store)), made)
    return content(str(store))


class Here(Executor):
    """An executor that runs at once, in this process."""

    def submit(self, function: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, list[Any]]]:
    """By path, the rows of the captures of the repository."""
    store = tmp_path_factory.mktemp("repository")
    return by_uri(indexed(store, *captures_of_samples(), *KEPT))


@pytest.mark.parametrize("path", [*captures_of_samples(), *KEPT], ids=lambda path: f"{path.parent.name}-{path.name}")
def test_numbers_are_those_of_summarize(path: Path, repository: dict[str, dict[str, list[Any]]]) -> None:
    tables, summary = repository[str(path)], tracealyze.read(path).summary()
    document = summary.document(full=True)
    (capture,) = tables["captures"]
    totals = document["totals"]
    assert [capture[name] for name in ("processes", "threads", "calls", "failed")] == [
        totals[name] for name in ("processes", "threads", "calls", "failed")
    ]
    assert capture["wall_ns"] == document["window"]["wall_ns"]
    assert [capture["impact_low_ns"], capture["impact_high_ns"]] == document["impact_ns"]
    assert capture["unexplained_ns"] == document["unexplained_ns"]
    assert capture["lines"] == sum(each["lines"] for each in document["captures"])
    findings_agree(tables["findings"], document["findings"])
    classes: Counter[str] = Counter()
    for row in document["partition"]:
        classes[row["class"]] += row["exclusive_ns"]
    assert {row["class"]: row["exclusive_ns"] for row in tables["classes"]} == classes
    names = ("pid", "exclusive_ns", "in_call_ns", "calls", "failed", "wall_ns")
    assert Counter(tuple(row[name] for name in names) for row in tables["processes"]) == Counter(
        tuple(row[name] for name in names) for row in document["processes"]
    )
    calls_agree(tables["calls"], summary)


def findings_agree(rows: list[dict[str, Any]], documents: list[dict[str, Any]]) -> None:
    mine = [(row["fingerprint"], row["rule"], row["impact_high_ns"], row["share"], row["line"]) for row in rows]
    theirs = [
        (
            each["fingerprint"],
            each["name"],
            each["impact_ns"] and each["impact_ns"][1],
            each["share"],
            each["lines"][0] if each["lines"] else None,
        )
        for each in documents
    ]
    assert sorted(mine, key=repr) == sorted(theirs, key=repr)


def calls_agree(rows: list[dict[str, Any]], summary: Summary) -> None:
    """Sums by syscall agree, and merged histograms give the same median within the width of a bucket."""
    for expected in summary.trace.calls(by=["syscall"]):
        mine = [row for row in rows if row["syscall"] == expected["syscall"]]
        for name in ("calls", "failed", "total_ns", "exclusive_ns"):
            assert sum(row[name] for row in mine) == expected[name], (expected["syscall"], name)
        merged: Counter[int] = Counter()
        for row in mine:
            merged.update(dict(zip(row["buckets"], row["counts"], strict=True)))
        if expected["p50_ns"] is None:
            continue
        rank, seen = -(-sum(merged.values()) // 2), 0
        bucket = next(each for each in sorted(merged) if (seen := seen + merged[each]) >= rank)
        assert abs(middle(bucket) - expected["p50_ns"]) <= 0.016 * expected["p50_ns"]


def middle(bucket: int) -> float:
    """The middle of a bucket, written down from the documentation of the format: 64 steps per power of two."""
    if bucket < 64:
        return float(bucket)
    power, step = divmod(bucket, 64)
    return (64 + step + 0.5) * 2.0 ** (power - 1)


def test_running_again_reads_nothing(tmp_path: Path) -> None:
    write_captures(tmp_path / "in", 12)
    first = indexed(tmp_path / "store", tmp_path / "in")
    done = index([str(tmp_path / "in")], Store(str(tmp_path / "store")), Options(executor=Here()))
    assert (done.captures, done.known) == (0, 12)
    assert content(str(tmp_path / "store")) == first


def test_overlapping_writers_store_each_capture_once(tmp_path: Path) -> None:
    write_captures(tmp_path / "in", 12)
    expected = indexed(tmp_path / "alone", tmp_path / "in")
    store = Store(str(tmp_path / "store"))
    store.create()
    found = items([str(tmp_path / "in")], Labels())

    for part in (found[:7], found[4:], found[:7], found):
        index_batch(Batch(store.uri, tuple(part), rules_hash()))
    assert content(store.uri) == expected
    compact(store, prune=True)
    assert content(store.uri) == expected
    assert len(store.commits()) == 1


@pytest.mark.parametrize("change", ["content", "labels"])
def test_changed_captures_replace_their_rows(tmp_path: Path, change: str) -> None:
    write_captures(tmp_path / "in", 6)
    store = tmp_path / "store"
    pattern = Labels.of(["{version}/run*"])
    indexed(store, tmp_path / "in", labels=pattern)
    one = next((tmp_path / "in").rglob("*.strace"))
    if change == "content":
        one.write_text(capture_text(99, sleep_ms=300, calls=3), encoding="utf-8")
    else:
        pattern = Labels.of(["{release}/run*"])
    again = indexed(store, tmp_path / "in", labels=pattern)
    assert len(again["captures"]) == 6
    assert {row["labels"][0][0] for row in again["captures"]} == {"version" if change == "content" else "release"}
    assert (
        len({row["capture_id"] for row in again["processes"]} - {row["capture_id"] for row in again["captures"]}) == 0
    )
    # What was before comes back under its own number.
    pattern = Labels.of(["{version}/run*"])
    assert {row["labels"][0][0] for row in indexed(store, tmp_path / "in", labels=pattern)["captures"]} == {"version"}
    before = content(str(store))
    compact(Store(str(store)), prune=True)
    assert content(str(store)) == before


def test_failures_are_rows(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "good.strace").write_text(capture_text(1), encoding="utf-8")
    (folder / "empty.strace").write_bytes(b"")
    (folder / "noise.strace").write_bytes(bytes(range(256)) * 40)
    (folder / "cut.strace.xz").write_bytes(b"\xfd7zXZ\x00 not really")
    (folder / "broken.zip").write_bytes(b"PK\x03\x04 not really")
    rows = {Path(row["uri"]).name: row for row in indexed(tmp_path / "store", folder)["captures"]}
    assert rows["good.strace"]["status"] == "ok"
    others = {name: row for name, row in rows.items() if name != "good.strace"}
    assert len(others) == 4
    assert all(row["status"] in ("failed", "skipped") and row["error_kind"] and row["error"] for row in others.values())


def test_hidden_folders_have_no_captures(tmp_path: Path) -> None:
    """The files of `.git` were failures: unknown formats. The indexed folder itself may be in a hidden one."""
    folder = tmp_path / ".ci" / "captures"
    for name in (".git/HEAD", ".git/refs/heads/main", ".hidden", "a.strace", "b/c.strace"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(capture_text(1), encoding="utf-8")
    found = items([str(folder)], Labels())
    assert sorted(Path(each.files[0]).name for each in found) == ["a.strace", "c.strace"]


def test_links_to_folders_above_repeat_nothing(tmp_path: Path) -> None:
    """The files below such a link were listed again with each of its some 40 repetitions."""
    (tmp_path / "c" / "deep").mkdir(parents=True)
    (tmp_path / "c" / "a.strace").write_text("7 1700000000.0 close(3) = 0 <0.1>\n", encoding="utf-8")
    (tmp_path / "c" / "deep" / "up").symlink_to("..")
    for source in ("c", "c/**/*.strace"):
        (item,) = items([str(tmp_path / source)], Labels())
        assert item.files == (str(tmp_path / "c" / "a.strace"),)


def test_names_that_are_no_text_are_unusable_input(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/b/\xff.strace")).write_text("", encoding="utf-8")
    for source in ("b", "b/*", os.fsdecode(b"b/\xff.strace")):
        with pytest.raises(UnusableInput, match="is not UTF-8; rename this file"):
            items([str(tmp_path / source)], Labels())


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_archives_contain_captures(tmp_path: Path, kind: str) -> None:
    write_captures(tmp_path / "in", 4)
    parts = {f"case/job.out.{pid}": capture_text(pid).replace("100 ", "") for pid in (7, 8)}
    texts = {f"v/{file.name}": file.read_text(encoding="utf-8") for file in (tmp_path / "in").rglob("*.strace")} | parts
    bundle = tmp_path / f"bundle.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(bundle, "w") as packed:
            for name, text in texts.items():
                packed.writestr(name, text)
    else:
        with tarfile.open(bundle, "w:gz") as tar:
            for name, text in texts.items():
                info = tarfile.TarInfo(name)
                info.size = len(text.encode())
                tar.addfile(info, io.BytesIO(text.encode()))
    rows = indexed(tmp_path / "store", bundle, labels=Labels.of(["{folder}/{name}.strace"]))["captures"]
    assert sorted(row["uri"].removeprefix(f"{bundle}!/") for row in rows) == sorted(
        [name for name in texts if name not in parts] + ["case/job.out."]
    )
    assert {row["status"] for row in rows} <= {"ok", "partial"}
    assert next(dict(row["labels"])["folder"] for row in rows if "/v/" in row["uri"]) == "v"


def test_shards_divide_the_captures(tmp_path: Path) -> None:
    write_captures(tmp_path / "in", 40)
    found = items([str(tmp_path / "in")], Labels())
    parts = [of_shard(found, number, 3) for number in (1, 2, 3)]
    assert sorted(each.uri for part in parts for each in part) == [each.uri for each in found]
    assert all(parts)
    moved = {each.uri for each in of_shard(found, 1, 4)} - {each.uri for each in parts[0]}
    assert not moved
    expected = indexed(tmp_path / "alone", tmp_path / "in")
    for number in (1, 2, 3):
        indexed(tmp_path / "store", tmp_path / "in", shard=(number, 3))
    assert content(str(tmp_path / "store")) == expected
    for wrong in ("0/3", "4/3", "3", "a/b"):
        with pytest.raises(WrongUsage):
            shard_of(wrong)


class Kills:
    """When workers are killed: at these numbers of captures that have begun."""

    kill_at: frozenset[int] = frozenset()
    begun = 0


def _received_and_killed(worker: Any, original: Any = pool._received) -> Any:
    before = worker.number
    report = original(worker)
    if worker.number != before and worker.number is not None:
        Kills.begun += 1
        if Kills.begun in Kills.kill_at and worker.process.is_alive():
            os.kill(worker.process.pid, signal.SIGKILL)
    return report


def killed_run(tmp_path: Path, kill_at: range | list[int], monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """The logical hashes of a run with kills and of one without."""
    write_captures(tmp_path / "in", 24)
    indexed(tmp_path / "alone", tmp_path / "in")
    Kills.kill_at, Kills.begun = frozenset(kill_at), 0
    monkeypatch.setattr(pool, "_received", _received_and_killed)
    store = Store(str(tmp_path / "store"))
    index([str(tmp_path / "in")], store, Options(workers=2, max_captures=4))
    assert Kills.begun >= max(kill_at)
    return logical_hash(store.uri), logical_hash(str(tmp_path / "alone"))


def test_killed_workers_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed, undisturbed = killed_run(tmp_path, [1, 6, 13], monkeypatch)
    assert killed == undisturbed


def test_a_killed_client_continues(tmp_path: Path) -> None:
    write_captures(tmp_path / "in", 12)
    expected = indexed(tmp_path / "alone", tmp_path / "in")
    program = (
        "import os, signal, sys\n"
        "from tracealyze.fleet.index import Options, index\n"
        "from tracealyze.fleet.store import Store\n"
        "def tell(progress):\n"
        "    if progress.done >= 4: os.kill(os.getpid(), signal.SIGKILL)\n"
        "if __name__ == '__main__':\n"
        "    index([sys.argv[1]], Store(sys.argv[2]), Options(workers=1, max_captures=2), tell)\n"
    )
    script = tmp_path / "client.py"
    script.write_text(program, encoding="utf-8")
    arguments = [sys.executable, str(script), str(tmp_path / "in"), str(tmp_path / "store")]
    done = subprocess.run(arguments, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False)
    assert done.returncode == -signal.SIGKILL
    assert 0 < len(content(str(tmp_path / "store"))["captures"]) < 12
    assert indexed(tmp_path / "store", tmp_path / "in") == expected


def test_a_capture_without_a_date_is_on_no_day(tmp_path: Path) -> None:
    """`trend --over day` began in 1970 with the log of a kernel, whose clock begins at its start."""
    write_captures(tmp_path / "in", 1)
    lines = (f"[{seconds:>5}.000000] usb 1-{seconds}: new device" for seconds in range(1, 9))
    (tmp_path / "in" / "kernel.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = Options(executor=Here(), labels=Labels())
    index([str(tmp_path / "in")], Store(str(tmp_path / "store")), options)
    starts = {Path(row["uri"]).name: row["start_ns"] for row in content(str(tmp_path / "store"))["captures"]}
    assert starts.pop("kernel.log") is None
    assert all(starts.values())


def test_a_capture_that_needs_too_long_is_a_failure(tmp_path: Path) -> None:
    write_captures(tmp_path / "in", 3)
    # A pipe that nobody writes to: reading it never ends.
    stuck = tmp_path / "in" / "stuck.strace"
    os.mkfifo(stuck)
    found = items([str(tmp_path / "in")], Labels())

    store = Store(str(tmp_path / "store"))
    store.create()
    batch = Batch(store.uri, (*found, Item(str(stuck), (str(stuck),), "", 0)), rules_hash())
    reports = list(pool.run_here([batch], 1, Limits(seconds=3.0)))
    assert [(each.captures, each.failed) for each in reports] == [(4, 1)]
    rows = {Path(row["uri"]).name: row["error_kind"] for row in content(store.uri)["captures"]}
    assert rows["stuck.strace"] == "timeout"
    assert sum(kind is None for kind in rows.values()) == 3


def test_missing_sources_and_stores_are_errors(tmp_path: Path) -> None:
    with pytest.raises(MissingCapture):
        index([str(tmp_path / "none")], Store(str(tmp_path / "store")), Options())
    with pytest.raises(MissingCapture, match="fleet index"):
        tracealyze.Fleet(str(tmp_path / "none"))
    other = tmp_path / "other"
    other.mkdir()
    (other / "store.json").write_text('{"schema": "tracealyze.fleet/99"}', encoding="utf-8")
    with pytest.raises(UnusableInput, match="fleet/99"):
        tracealyze.Fleet(str(other))


def test_labels_come_from_paths_and_tables(tmp_path: Path) -> None:
    table = tmp_path / "labels.csv"
    table.write_text("path,ticket,version\n*/run00001.strace,T-1,\n1.8/run00000.strace,T-0,9\n", encoding="utf-8")
    write_captures(tmp_path / "in", 3)
    rows = indexed(tmp_path / "store", tmp_path / "in", labels=Labels.of(["{version}/{run}.strace*"], str(table)))
    labels = {dict(row["labels"])["run"]: dict(row["labels"]) for row in rows["captures"]}
    assert labels["run00000"] == {"version": "9", "run": "run00000", "ticket": "T-0"}
    assert labels["run00001"] == {"version": "1.9", "run": "run00001", "ticket": "T-1"}
    assert labels["run00002"] == {"version": "1.10", "run": "run00002"}
    for wrong in ("{a}/{a}", "{}/x", "{1a}"):
        with pytest.raises(WrongUsage):
            Labels.of([wrong])
