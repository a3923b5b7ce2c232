"""Batches that wait for a worker, and what becomes of those that fail.

storage or a cluster fails      the batch is tried again after the others, with growing pauses while all fail;
                                in the end it is left for the next run
workers are killed, or a bug    the batch is divided; a capture that fails alone becomes a failure row, but if its
                                workers were killed, it is tried again after the others first
nothing can be written          the index ends
"""

from __future__ import annotations

import errno
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from dataclasses import dataclass, replace

from tracealyze.base.errors import TracealyzeError, UnusableInput
from tracealyze.fleet import locations
from tracealyze.fleet.batch import Batch, Report

_MAX_TRIES = 4
"""How often a batch is tried."""
_PAUSES_S = (2.0, 8.0, 30.0, 30.0, 30.0, 30.0)
"""How long to wait after the first, second … time that all fails. What is left then is left for the next run."""
KILLED = "killed"
"""A failure of this kind is caused by the capture, or by anything else that ends workers."""
_FINAL_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


@dataclass(frozen=True)
class Failure:
    """Why a batch was not stored."""

    text: str
    is_final: bool = False
    """Whether no other batch can be stored either."""
    is_passing: bool = False
    """Whether the same batch may be stored later."""
    kind: str = "bug"

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """From the error that a worker, or the way to it, raised."""
        text = f"{type(error).__name__}: {error}"
        if isinstance(error, OSError) and error.errno in _FINAL_ERRNOS:
            return cls(text, is_final=True)
        if isinstance(error, futures.BrokenExecutor | ImportError | PermissionError | TracealyzeError):
            return cls(text, is_final=True)
        if isinstance(error, futures.CancelledError) or locations.is_of_storage(error):
            return cls(text, is_passing=True)
        if isinstance(error, MemoryError):
            return cls("not enough memory", kind="out-of-memory")
        if type(error).__name__ == "KilledWorker":
            return cls("the workers that read it were killed", kind=KILLED)
        return cls(text)


class Work:
    """The batches that are left to do."""

    def __init__(self, batches: Iterable[Batch], sleep: Callable[[float], None] = time.sleep) -> None:
        self._new = iter(batches)
        self._first = deque[Batch]()
        self._last = deque[Batch]()
        self._tries: Counter[str] = Counter()
        self._suspects: set[str] = set()
        """URIs of captures. Each was alone in its batch when the workers of the batch were killed."""
        self._rounds = 0
        """How often all failed since a batch was stored."""
        self._is_paused = False
        self._error = ""
        self._sleep = sleep

    def next(self) -> Batch | None:
        """The next batch; none if there is none, or not yet."""
        if self._is_paused:
            return None
        if self._first:
            return self._first.popleft()
        found = next(self._new, None)
        return found if found is not None or not self._last else self._last.popleft()

    def put_first(self, *batches: Batch) -> None:
        """Batches that come before all others."""
        self._first.extend(batches)

    def goes_on(self) -> bool:
        """Whether there may be more, once no worker has a batch. If batches only wait for a pause, it passes."""
        if not self._is_paused or self._rounds > len(_PAUSES_S):
            return False
        self._sleep(_PAUSES_S[self._rounds - 1])
        self._is_paused = False
        return True

    def left(self) -> Iterator[Report]:
        """A report of the batches that nobody tries any more, because all fails."""
        captures = sum(len(each.items) for each in (*self._first, *self._last, *self._new))
        if captures:
            yield Report("", 0, 0, 0, left=captures, error=self._error)

    def stored(self) -> None:
        """A batch was stored, so not all fails."""
        self._rounds, self._is_paused = 0, False

    def failed(self, batch: Batch, failure: Failure) -> Iterator[Report]:
        """Divide a batch, or try it again later. Yields a report if it is given up. Raises `UnusableInput`."""
        if failure.is_final:
            raise UnusableInput(
                f"the index cannot go on: {failure.text.rstrip('.')}. Run it again when that is mended."
            )
        if not failure.is_passing and self._divide(batch, failure):
            return
        self._tries[batch.key] += 1
        self._error = failure.text
        if not self._is_paused:
            self._is_paused = True
            self._rounds += 1
        if self._tries[batch.key] >= _MAX_TRIES:
            yield Report(batch.key, 0, 0, 0, left=len(batch.items), error=failure.text)
        else:
            self._last.append(batch)

    def _divide(self, batch: Batch, failure: Failure) -> bool:
        if len(batch.items) > 1:
            half = len(batch.items) // 2
            self.put_first(batch.part(batch.items[:half]), batch.part(batch.items[half:]))
            return True
        culprit = batch.items[0].uri
        if culprit in batch.killers:
            return False
        if failure.kind == KILLED and culprit not in self._suspects:
            # Workers are killed for other reasons, too: machines are taken away.
            self._suspects.add(culprit)
            self._last.append(batch)
            return True
        self.put_first(replace(batch, killers={culprit: (failure.kind, failure.text)}))
        return True
