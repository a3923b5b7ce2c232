"""Values that a thread computes while the caller continues."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")


class Later(Generic[T]):
    """The result of a call in a thread of its own. Calls of the engine run at the same time as the caller.

    The process may end before the call does."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run, daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            # The system starts no more threads.
            self._run()

    def _run(self) -> None:
        try:
            self._result = self._call()
        except BaseException as error:
            self._error = error

    def get(self) -> T:
        """Wait for the result. An exception of the call is raised here."""
        if self._thread.ident is not None:
            self._thread.join()
        if self._error is not None:
            raise self._error
        return self._result
