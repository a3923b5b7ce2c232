"""Marked tests with the fixture `benchmark` of pytest-benchmark or pytest-codspeed: counts next to times.

A tracer makes system calls slower, and the number of rounds depends on the machine. So the function is called once
more, traced and counted, before the fixture measures it without a tracer:

    |-- traced: function() --|-- detached: benchmark(function), as often as it likes --|
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

EXTRA = "syscalls"
"""The key of the counts in `benchmark.extra_info`, which `pytest --benchmark-json` writes."""

Call = Callable[[], object]


class CountedBenchmark:
    """A benchmark fixture that first counts one call of the function."""

    _fixture: Any
    _count: Callable[[Call], None]
    was_called: bool

    def __init__(self, fixture: Any, count: Callable[[Call], None]) -> None:
        for name, value in (("_fixture", fixture), ("_count", count), ("was_called", False)):
            object.__setattr__(self, name, value)

    def __call__(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Count a call, then measure."""
        self._counted(lambda: function(*args, **kwargs))
        return self._fixture(function, *args, **kwargs)

    def pedantic(
        self,
        target: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        setup: Callable[[], Any] | None = None,
        teardown: Callable[..., Any] | None = None,
        *others: Any,
        **options: Any,
    ) -> Any:
        """Count a call between a set-up and its end, then measure."""
        given, named = (setup() if setup else None) or (args, kwargs or {})
        self._counted(lambda: target(*given, **named))
        if teardown:
            teardown(*given, **named)
        return self._fixture.pedantic(target, args, kwargs or {}, setup, teardown, *others, **options)

    def _counted(self, call: Call) -> None:
        object.__setattr__(self, "was_called", True)
        self._count(call)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fixture, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._fixture, name, value)
