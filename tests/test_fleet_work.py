"""A batch that fails is tried again, divided, or left for the next run; it neither ends an index nor loses captures."""

from __future__ import annotations

import errno
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Future
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fleet_stores import content, write_captures
from test_fleet_index import Here, indexed

from tracealyze.base.errors import UnusableInput
from tracealyze.fleet import pool
from tracealyze.fleet.batch import Batch
from tracealyze.fleet.index import Options, Progress, _batches, index, rules_hash
from tracealyze.fleet.labels import Labels
from tracealyze.fleet.sources import Item, items
from tracealyze.fleet.store import Store
from tracealyze.fleet.work import Failure, Work


class KilledWorker(Exception):
    """Named as the error that Dask raises for a task that ended several workers."""


Fault = Callable[[Batch, int], BaseException | None]
"""The error of a try of a batch, which is the n-th one of it, from 1."""


class Faulty(Here):
    """An executor on which tries of batches fail."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.tries: Counter[str] = Counter()

    def submit(self, function: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
        (batch,) = arguments
        self.tries[batch.key] += 1
        error = self.fault(batch, self.tries[batch.key])
        if error is None:
            return super().submit(function, batch)
        future: Future[Any] = Future()
        if isinstance(error, CancelledError):
            future.cancel()
            future.set_running_or_notify_cancel()
        else:
            future.set_exception(error)
        return future


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses pass at once; their lengths are here."""
    slept: list[float] = []
    monkeypatch.setattr(pool, "run_on", partial(pool.run_on, sleep=slept.append))
    monkeypatch.setattr(pool, "_TICK_S", 0)
    return slept


def run_with(folder: Path, fault: Fault) -> tuple[Progress, dict[str, list[Any]], dict[str, list[Any]]]:
    """What became of 12 captures in batches of 4, and the store without a fault."""
    write_captures(folder / "in", 12)
    expected = indexed(folder / "alone", folder / "in")
    place = str(folder / "store")
    options = Options(executor=Faulty(fault), workers=1, max_captures=4)
    return index([str(folder / "in")], Store(place), options), content(place), expected


@pytest.mark.parametrize(
    "error",
    [OSError("503 SlowDown"), CancelledError(), ConnectionResetError("lost"), TimeoutError("late")],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("tries", [1, 3])
def test_faults_that_pass_lose_nothing(error: BaseException, tries: int, tmp_path: Path) -> None:
    done, found, expected = run_with(tmp_path, lambda _, number: error if number <= tries else None)
    assert found == expected
    assert (done.done, done.failed, done.left) == (12, 0, 0)


def test_a_batch_that_storage_refuses_is_left_for_the_next_run(tmp_path: Path, pauses: list[float]) -> None:
    def fault(batch: Batch, _: int) -> BaseException | None:
        return OSError("503 SlowDown") if "1.9" in batch.items[-1].uri else None

    done, found, expected = run_with(tmp_path, fault)
    assert (done.captures, done.done, done.left) == (12, 8, 4)
    assert "503 SlowDown" in done.error
    assert len(found["captures"]) == 8
    assert pauses == sorted(pauses)
    assert indexed(tmp_path / "store", tmp_path / "in") == expected


def test_storage_that_is_away_for_long_leaves_all(tmp_path: Path, pauses: list[float]) -> None:
    done, found, expected = run_with(tmp_path, lambda *_: OSError("503 SlowDown"))
    assert (done.done, done.left) == (0, 12)
    assert not found["captures"]
    assert pauses
    assert indexed(tmp_path / "store", tmp_path / "in") == expected


def test_no_more_is_begun_while_all_fails() -> None:
    """Work on many batches ends although each of them has tries left."""
    batches = [Batch("store", (Item(str(number), (), "", 0),), "") for number in range(1_000)]
    sleep = Sleeper()
    work, begun = Work(batches, sleep), 0
    while not begun or work.goes_on():
        while (batch := work.next()) is not None:
            begun += 1
            assert not list(work.failed(batch, Failure("503", is_passing=True)))
    assert begun == len(sleep.slept) + 1 < 20
    assert [each.left for each in work.left()] == [1_000]


class Sleeper:
    """Remembers how long it should have slept."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.mark.parametrize(
    ("error", "kind"),
    [(KilledWorker("run00004"), "killed"), (ValueError("surprise"), "bug"), (MemoryError(), "out-of-memory")],
)
def test_a_capture_that_always_fails_is_a_row(error: BaseException, kind: str, tmp_path: Path) -> None:
    def fault(batch: Batch, _: int) -> BaseException | None:
        is_in = any("run00004" in item.uri and item.uri not in batch.killers for item in batch.items)
        return error if is_in else None

    done, found, expected = run_with(tmp_path, fault)
    assert (done.done, done.failed, done.left) == (12, 1, 0)
    (row,) = (row for row in found["captures"] if row["status"] == "failed")
    assert "run00004" in row["uri"]
    assert row["error_kind"] == kind
    others = [row for row in expected["captures"] if "run00004" not in row["uri"]]
    assert [row for row in found["captures"] if row["status"] != "failed"] == others


def test_a_capture_whose_workers_are_killed_is_read_after_the_others(tmp_path: Path) -> None:
    """Machines may be taken away while they happen to read the same capture."""
    begun: list[str] = []

    def fault(batch: Batch, _: int) -> BaseException | None:
        begun.append(batch.items[0].uri)
        is_in = any("run00004" in item.uri for item in batch.items)
        return KilledWorker() if is_in and sum("run00004" in uri for uri in begun) < 2 else None

    write_captures(tmp_path / "in", 12)
    expected = indexed(tmp_path / "alone", tmp_path / "in")
    options = Options(executor=Faulty(fault), workers=1, max_captures=1)
    done = index([str(tmp_path / "in")], Store(str(tmp_path / "store")), options)
    assert (done.done, done.failed, done.left) == (12, 0, 0)
    assert content(str(tmp_path / "store")) == expected
    assert "run00004" in begun[-1]


def test_batches_that_a_cluster_loses_are_tried_again(tmp_path: Path) -> None:
    """As when its client is closed: the futures of the first tries are never done."""
    write_captures(tmp_path / "in", 6)
    expected = indexed(tmp_path / "alone", tmp_path / "in")
    lost: list[Future[Any]] = []

    class Losing(Here):
        def submit(self, function: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
            if len(lost) < 2:
                lost.append(Future())
                return lost[-1]
            return super().submit(function, *arguments)

    store = Store(str(tmp_path / "store"))
    store.create()
    found = items([str(tmp_path / "in")], Labels())
    batches = [Batch(store.uri, tuple(found[at : at + 2]), rules_hash()) for at in (0, 2, 4)]
    known = pool.run_on(Losing(), batches, 3, lost=lambda running: [each for each in lost if each in running])
    assert sum(each.captures for each in known) == 6
    assert content(store.uri) == expected


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        PermissionError(errno.EACCES, "Permission denied"),
        ModuleNotFoundError("No module named 'tracealyze'"),
        BrokenExecutor("the pool has ended"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_no_try_can_mend_ends_the_index(error: BaseException, tmp_path: Path) -> None:
    with pytest.raises(UnusableInput, match=str(error.args[-1])):
        run_with(tmp_path, lambda batch, _: error if "1.9" in batch.items[-1].uri else None)
    assert len(indexed(tmp_path / "store", tmp_path / "in")["captures"]) == 12


def blocking_folder(place: Path, batch: Batch) -> Path:
    """A folder with the name of a part, which cannot be replaced because it contains something."""
    blocked = place / "v1" / "captures" / f"part-{batch.key}.parquet"
    (blocked / "x").mkdir(parents=True)
    return blocked


def test_a_worker_here_goes_on_after_a_fault(tmp_path: Path) -> None:
    """A part cannot be written, because a folder has its name; the other batches are stored."""
    write_captures(tmp_path / "in", 8)
    expected = indexed(tmp_path / "alone", tmp_path / "in", max_captures=4)
    place = Store(str(tmp_path / "store"))
    place.create()
    found = items([str(tmp_path / "in")], Labels())
    first = Batch(place.uri, tuple(found[:4]), rules_hash())
    blocked = blocking_folder(tmp_path / "store", first)
    batches = _batches(found, {}, place, Options(max_captures=4))
    reports = list(pool.run_here(batches, 1, pool.Limits(), sleep=Sleeper()))
    assert [(each.captures, each.left) for each in reports] == [(4, 0), (0, 4)]
    assert len(content(place.uri)["captures"]) == 4
    (blocked / "x").rmdir()
    blocked.rmdir()
    assert indexed(tmp_path / "store", tmp_path / "in", max_captures=4) == expected


def test_what_is_left_has_an_exit_code(tmp_path: Path) -> None:
    write_captures(tmp_path / "in", 3)
    found = items([str(tmp_path / "in")], Labels())
    batch = Batch(str(tmp_path / "store"), tuple(found), rules_hash())
    blocking_folder(tmp_path / "store", batch)
    program = (
        "from tracealyze.commands import _cli; from tracealyze.fleet import work; work._PAUSES_S = (0.0,); _cli.main()"
    )
    arguments = ["fleet", "index", "in", "--store", "store"]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert "3 captures could not be stored" in done.stderr
    assert "0 captures read" in done.stdout
