"""The workers of a Dask cluster, as an executor that survives a new start of its scheduler."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import CancelledError, Executor, Future
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

from tracealyze.base.errors import UnusableInput, WrongUsage

_SCHEME = "dask"
_TIMEOUT = "15s"
"""How long a client waits for a scheduler, also for one that was there before."""


class Cluster(Executor):
    """A client of a Dask scheduler at `dask://HOST:PORT`, and a new one when that is closed."""

    def __init__(self, address: str) -> None:
        scheme, _, self._place = address.partition("://")
        if scheme != _SCHEME or not self._place:
            raise WrongUsage(f'--executor: "{address}" is not known; write dask://HOST:PORT of a Dask scheduler.')
        try:
            self._distributed: Any = import_module("distributed")
        except ImportError as error:
            advice = 'install it with: pip install "tracealyze[dask]"'
            raise WrongUsage(f"--executor dask:// needs Dask; {advice}.") from error
        self._clients: WeakKeyDictionary[Future[Any], Any] = WeakKeyDictionary()
        try:
            self._connect()
        except OSError as error:
            raise UnusableInput(f"--executor: no Dask scheduler answers at {self._place}: {error}.") from error

    def _connect(self) -> None:
        self._client = self._distributed.Client(f"tcp://{self._place}", timeout=_TIMEOUT, set_as_default=False)

    @property
    def workers(self) -> int:
        """Their number now, at least 1."""
        return max(len(self._client.scheduler_info(n_workers=-1)["workers"]), 1)

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        """Raises `OSError` if no scheduler answers."""
        if self._client.status == "closed":
            # The scheduler was away for longer than the client waited.
            self._connect()
        task = self._client.submit(function, *arguments, pure=False, retries=0, **named)
        future: Future[Any] = Future()
        self._clients[future] = self._client
        future.add_done_callback(lambda done: task.cancel() if done.cancelled() else None)
        task.add_done_callback(lambda done: _settle(future, done))
        return future

    def lost(self, running: Iterable[Future[Any]]) -> list[Future[Any]]:
        """Futures that cannot complete any more: their client was closed before they had a result."""
        return [each for each in running if self._clients[each].status == "closed" and not each.done()]

    def __exit__(self, *_: object) -> None:
        self._client.close()


def _settle(future: Future[Any], task: Any) -> None:
    """Give a future the result of a task that has ended.

    The executor of Dask never completes a future if the result is lost between the end of the task and the transfer,
    for example because the scheduler is killed."""
    try:
        result = task.result(timeout=_TIMEOUT)
    except BaseException as error:
        has_failed = task.status == "error"
        if not future.cancelled():
            future.set_exception(error if has_failed else CancelledError(f"the cluster lost it: {error}"))
    else:
        if not future.cancelled():
            future.set_result(result)
