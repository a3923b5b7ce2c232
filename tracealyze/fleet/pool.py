"""Workers: processes here, with limits per capture, or the executor of a cluster. Both run `index_batch`.

A worker that ends while it reads a capture takes only its batch with it. The batch starts again with that capture
first, in a new process. If it ends a worker for the third time, it becomes a failure row.
"""

from __future__ import annotations

import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from dataclasses import dataclass, replace
from multiprocessing import connection, get_context
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

from tracealyze.base.errors import UnusableInput
from tracealyze.fleet.batch import Batch, Report, index_batch, use_one_core
from tracealyze.fleet.work import Failure, Work

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

_MAX_LIVES = 3
"""How many workers a capture may end."""
_MAX_IDLE_DEATHS = 20
"""How many workers may end without reading anything, before something else is wrong."""


@dataclass(frozen=True)
class Limits:
    """What one capture may take."""

    seconds: float = 300.0
    memory_bytes: int = 4 << 30


def _serve(channel: Any, limits: Limits) -> None:
    """The loop of a worker process."""
    use_one_core()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit_memory(limits.memory_bytes)

    def tell(kind: str, value: object) -> None:
        try:
            channel.send((kind, value))
        except OSError:
            # The client has ended, so nobody needs an answer.
            sys.exit()

    while True:
        try:
            batch = channel.recv()
        except (EOFError, OSError):
            return
        try:
            report = index_batch(batch, lambda number: tell("begins", number))
        except Exception as error:
            tell("failed", Failure.of(error))
        else:
            tell("done", report)


def _limit_memory(memory_bytes: int) -> None:
    """Restrict the address space to what this process has now and what a capture may take."""
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + memory_bytes, resource.RLIM_INFINITY))
    except (ImportError, OSError, ValueError):
        # Only Linux reports the size; elsewhere the system's own limits hold.
        return


class _Worker:
    """A process and the batch that it has."""

    def __init__(self, limits: Limits) -> None:
        context = get_context("spawn")
        self.channel, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(target=_serve, args=(theirs, limits), daemon=True)
        self.process.start()
        theirs.close()
        self.batch: Batch | None = None
        self.number: int | None = None
        self.since = monotonic()
        self.timed_out = False

    def give(self, batch: Batch) -> None:
        """Let the worker index a batch."""
        self.batch, self.number, self.since = batch, None, monotonic()
        try:
            self.channel.send(batch)
        except (BrokenPipeError, ConnectionResetError):
            # The worker has ended; waiting for it reports that.
            return

    def end(self) -> None:
        """Stop the process."""
        self.channel.close()
        self.process.kill()
        self.process.join()

    @property
    def cause(self) -> tuple[str, str]:
        """Why the process ended, as kind and sentence."""
        if self.timed_out:
            return "timeout", "took longer than the time limit"
        code = self.process.exitcode or 0
        if code == -signal.SIGABRT:
            return "out-of-memory", "needed more than the memory limit"
        if code == -signal.SIGKILL:
            return "killed", "the process that read it was killed, perhaps for lack of memory"
        return "crashed", f"the process that read it ended with {code}"


def run_here(
    batches: Iterable[Batch], workers: int, limits: Limits, sleep: Callable[[float], None] = time.sleep
) -> Iterator[Report]:
    """Index batches in processes of this machine. Reports come as batches are done."""
    work = Work(batches, sleep)
    deaths: Counter[str | None] = Counter()
    pool: list[_Worker] = []
    try:
        while True:
            for worker in pool:
                if worker.batch is None and (batch := work.next()) is not None:
                    worker.give(batch)
            while len(pool) < workers and (batch := work.next()) is not None:
                pool.append(_Worker(limits))
                pool[-1].give(batch)
            busy = [each for each in pool if each.batch is not None]
            if not busy:
                if work.goes_on():
                    continue
                yield from work.left()
                return
            _enforce(busy, limits)
            for worker in _ready(busy):
                yield from _answered(worker, work)
                if worker.batch is not None and not worker.process.is_alive():
                    work.put_first(_again(worker, deaths))
                    pool.remove(worker)
                    worker.end()
    finally:
        for worker in pool:
            worker.end()


_TICK_S = 0.5


def _ready(busy: list[_Worker]) -> list[_Worker]:
    handles = {handle: each for each in busy for handle in (each.channel, each.process.sentinel)}
    found = connection.wait(list(handles), timeout=_TICK_S)
    return list({id(handles[each]): handles[each] for each in found}.values())  # type: ignore[index]


def _enforce(busy: list[_Worker], limits: Limits) -> None:
    for worker in busy:
        if worker.number is not None and monotonic() - worker.since > limits.seconds:
            worker.timed_out = True
            worker.process.kill()
            worker.process.join()


def _answered(worker: _Worker, work: Work) -> Iterator[Report]:
    """What the worker has sent. Raises `UnusableInput` if no batch can be stored."""
    batch, answer = worker.batch, _received(worker)
    if answer is None or batch is None:
        return
    worker.batch = None
    if isinstance(answer, Failure):
        yield from work.failed(batch, answer)
    else:
        work.stored()
        yield answer


def _received(worker: _Worker) -> Report | Failure | None:
    """The answer, if the worker has sent it."""
    try:
        while worker.channel.poll():
            kind, value = worker.channel.recv()
            if kind != "begins":
                return value  # type: ignore[no-any-return]
            worker.number, worker.since = value, monotonic()
    except (EOFError, OSError):
        worker.process.join()
    return None


def _again(worker: _Worker, deaths: Counter[str | None]) -> Batch:
    """The batch of a worker that ended, with the capture that it read first, or as a failure."""
    batch = worker.batch
    assert batch is not None
    culprit = batch.items[worker.number].uri if worker.number is not None else None
    deaths[culprit] += 1
    if culprit is None:
        if deaths[None] > _MAX_IDLE_DEATHS:
            raise UnusableInput(f"workers end before they read a capture: {worker.cause[1]}.")
        return batch
    if deaths[culprit] >= _MAX_LIVES:
        return replace(batch, killers={**batch.killers, culprit: worker.cause})
    return replace(batch, first=culprit)


_LOST = futures.CancelledError("the cluster lost it")

Running: TypeAlias = dict[futures.Future[Report], Batch]
"""The batches that an executor has."""


def run_on(
    executor: futures.Executor,
    batches: Iterable[Batch],
    window: int,
    sleep: Callable[[float], None] = time.sleep,
    lost: Callable[[Running], Iterable[futures.Future[Report]]] = lambda _: (),
) -> Iterator[Report]:
    """Index batches on an executor, at most `window` at a time, so that neither client nor scheduler hold all.

    `lost` selects the futures that cannot complete any more. Their batches are tried again."""
    work = Work(batches, sleep)
    running: Running = {}
    try:
        while True:
            while len(running) < window and (batch := work.next()) is not None:
                try:
                    running[executor.submit(index_batch, batch)] = batch
                except Exception as error:
                    yield from work.failed(batch, Failure.of(error))
            if not running:
                if work.goes_on():
                    continue
                yield from work.left()
                return
            done, _ = futures.wait(running, _TICK_S, return_when=futures.FIRST_COMPLETED)
            for future in done:
                yield from _outcome(future, running.pop(future), work)
            for future in lost(running) if not done else ():
                yield from work.failed(running.pop(future), Failure.of(_LOST))
    finally:
        for future in running:
            future.cancel()


def _outcome(future: futures.Future[Report], batch: Batch, work: Work) -> Iterator[Report]:
    # A cluster cancels what it has forgotten, as after a new start of its scheduler.
    error = _LOST if future.cancelled() else future.exception()
    if error is not None:
        yield from work.failed(batch, Failure.of(error))
    else:
        work.stored()
        yield future.result()
