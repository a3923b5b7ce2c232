"""The future of a task on a Dask cluster always completes, also if the result of the task is lost."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from types import ModuleType
from typing import Any, ClassVar

import pytest

from tracealyze.fleet.cluster import Cluster
from tracealyze.fleet.work import Failure


class Task:
    """As a future of Dask: the status of a task that has ended, and the error that its result raises."""

    def __init__(self, status: str, error: BaseException | None = None) -> None:
        self.status, self.error = status, error
        self.is_cancelled = False
        self.end: Callable[[], object] = lambda: None

    def result(self, timeout: str) -> int:
        assert timeout
        if self.error is not None:
            raise self.error
        return 7

    def add_done_callback(self, call: Callable[[Task], object]) -> None:
        self.end = lambda: call(self)

    def cancel(self) -> None:
        self.is_cancelled = True


class Client:
    """A client. Tests end its tasks."""

    tasks: ClassVar[list[Task]] = []

    def __init__(self, *_: object, **__: object) -> None:
        self.status = "running"

    def submit(self, *_: object, **__: object) -> Task:
        return self.tasks[-1]

    def close(self) -> None:
        self.status = "closed"


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    module: Any = ModuleType("distributed")
    module.Client = Client
    monkeypatch.setitem(sys.modules, "distributed", module)
    return Cluster("dask://127.0.0.1:8786")


def submitted(cluster: Cluster, task: Task) -> Future[int]:
    Client.tasks.append(task)
    return cluster.submit(int)


def test_a_task_that_succeeds_has_its_result(cluster: Cluster) -> None:
    future = submitted(cluster, task := Task("finished"))
    assert not future.done()
    task.end()
    assert future.result(0) == 7


def test_a_task_that_fails_has_its_error(cluster: Cluster) -> None:
    future = submitted(cluster, task := Task("error", OSError(28, "No space left on device")))
    task.end()
    assert Failure.of(future.exception(0) or AssertionError()).is_final


@pytest.mark.parametrize("status", ["finished", "lost", "pending", "cancelled"])
def test_a_result_that_is_lost_is_computed_again(cluster: Cluster, status: str) -> None:
    """The scheduler ended after the task, and before its result was fetched."""
    future = submitted(cluster, task := Task(status, OSError("in <TCP>: stream is closed")))
    task.end()
    error = future.exception(0)
    assert isinstance(error, CancelledError)
    assert Failure.of(error).is_passing


def test_tasks_of_a_closed_client_are_lost(cluster: Cluster) -> None:
    tasks = (Task("finished"), Task("pending"))
    ended, left = (submitted(cluster, task) for task in tasks)
    tasks[0].end()
    assert cluster.lost([ended, left]) == []
    cluster.__exit__()
    assert cluster.lost([ended, left]) == [left]


def test_a_future_that_is_cancelled_cancels_its_task(cluster: Cluster) -> None:
    future = submitted(cluster, task := Task("finished"))
    assert future.cancel()
    assert task.is_cancelled
    task.end()
    assert future.cancelled()
