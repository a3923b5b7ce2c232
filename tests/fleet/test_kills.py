"""Whatever is killed, and whenever: the store is the same, with each capture once: `make test-fleet`.

The events at which something is killed are requests to the storage, which all reads and writes of captures are.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator

import pytest
from clients import CLIENT, client_environment
from dask_cluster import DaskCluster, dask_cluster
from faulty_proxy import Request
from fleet_stores import content
from object_storage import Storage, filled_storage
from test_fleet_index import Here

from tracealyze.fleet.index import Options, index
from tracealyze.fleet.store import Store

pytestmark = [pytest.mark.fleet, pytest.mark.filterwarnings("default")]

CAPTURES = 80
PER_BATCH = 2
EVENTS_BETWEEN = 16
"""Requests from one kill to the next; a batch needs about 13."""
MAX_RUN_S = 300
"""A client that runs for longer is stuck."""


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Storage]:
    """A storage with captures below `in`, and the store `undisturbed` of them."""
    with filled_storage(tmp_path_factory.mktemp("captures"), CAPTURES) as made:
        source = made.uri("in", through_proxy=False)
        index([source], Store(made.uri("undisturbed", through_proxy=False)), Options(executor=Here()))
        yield made


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """A scheduler and two workers."""
    with dask_cluster(tmp_path_factory.mktemp("dask")) as made:
        yield made


class Killer:
    """Watches requests, and kills at some of them."""

    def __init__(self, kills: int, kill: Callable[[int], bool], events_between: int = EVENTS_BETWEEN) -> None:
        self.left, self.kills = kills, 0
        self._kill, self._between, self._next = kill, events_between, events_between

    def __call__(self, request: Request) -> None:
        is_event = request.number >= self._next and request.fits("GET PUT HEAD", r"strace|v1/")
        # If nothing can be killed now, the next request is the event.
        if self.left and is_event and self._kill(self.kills):
            self.kills, self.left = self.kills + 1, self.left - 1
            self._next = request.number + self._between


class Client:
    """The command that indexes, started again until all is in the store."""

    def __init__(self, bucket: Storage, store: str, executor: str) -> None:
        self._arguments = [*CLIENT, bucket.uri("in"), bucket.uri(store), executor, str(PER_BATCH)]
        self._process: subprocess.Popen[bytes] | None = None
        self.starts = 0

    def run(self) -> None:
        """Until it has ended by itself, with nothing left."""
        code: int | None = None
        while code != 0:
            self.starts += 1
            assert self.starts < 50, "the client does not come to an end"
            self._process = subprocess.Popen(self._arguments, env=client_environment())
            try:
                code = self._process.wait(MAX_RUN_S)
            finally:
                # Else it would go on using the storage and the cluster of the next test.
                self._process.kill()
            assert code in (0, 3, -9), code

    def kill(self, _: int) -> bool:
        """Whether there was a client to kill."""
        process = self._process
        if process is None or process.poll() is not None:
            return False
        process.kill()
        process.wait()
        return True


def test_killed_workers(bucket: Storage, cluster: DaskCluster) -> None:
    killer = Killer(31, cluster.kill_worker)
    bucket.proxy.reset(killer)
    Client(bucket, "workers-killed", cluster.address).run()
    assert killer.left == 0
    must_be_undisturbed(bucket, "workers-killed")


def test_killed_schedulers(bucket: Storage, cluster: DaskCluster) -> None:
    def kill(_: int) -> bool:
        cluster.kill_all()
        cluster.start()
        return True

    killer = Killer(3, kill, events_between=60)
    bucket.proxy.reset(killer)
    Client(bucket, "schedulers-killed", cluster.address).run()
    assert killer.left == 0
    must_be_undisturbed(bucket, "schedulers-killed")


@pytest.mark.parametrize("kind", ["dask", "here"])
def test_killed_clients(kind: str, bucket: Storage, cluster: DaskCluster) -> None:
    client = Client(bucket, f"clients-killed-{kind}", cluster.address if kind == "dask" else "")
    killer = Killer(8, client.kill, events_between=40)
    bucket.proxy.reset(killer)
    client.run()
    assert killer.left == 0
    assert client.starts >= 9
    must_be_undisturbed(bucket, f"clients-killed-{kind}")


def must_be_undisturbed(bucket: Storage, store: str) -> None:
    """The rows are those of the run without kills, and each capture is there once."""
    found = content(bucket.uri(store, through_proxy=False))
    uris = [row["uri"] for row in found["captures"]]
    assert len(uris) == len(set(uris)) == CAPTURES
    assert {row["status"] for row in found["captures"]} == {"ok"}
    assert found == content(bucket.uri("undisturbed", through_proxy=False))
