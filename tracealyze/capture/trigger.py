"""A condition on events that ends a recording."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from tracealyze.base.errors import UnusableInput

if TYPE_CHECKING:
    from tracealyze.model.expression import Expression

_INTERVAL_S = 1.0
_MAX_BYTES = 8 << 20
"""Text that is checked together. With a tracer at full speed, this is about a second."""


class Trigger:
    """Checks the events of the last second, together with those of the second before, which they may complete."""

    def __init__(self, condition: Expression) -> None:
        self._condition = condition
        self._before, self._text = b"", bytearray()
        self._due_s = monotonic() + _INTERVAL_S
        self.fired: str | None = None
        """The line of the event that met the condition."""

    def add(self, text: bytes) -> None:
        self._text += text

    def has_fired(self, now_s: float) -> bool:
        """Whether an event has met the condition."""
        if self.fired is None and self._text and (now_s >= self._due_s or len(self._text) >= _MAX_BYTES):
            self._check()
            self._due_s = monotonic() + _INTERVAL_S
        return self.fired is not None

    def _check(self) -> None:
        from tracealyze.trace.trace import read

        # The last line may be incomplete.
        end = self._text.rfind(b"\n") + 1
        complete, rest = bytes(self._text[:end]), self._text[end:]
        # A piece without a known line, such as the frames of one stack, has no events.
        with suppress(UnusableInput):
            trace = read(self._before + complete, input_format="strace", where=self._condition)
            for event in trace.events_of(limit=1):
                self.fired = trace.quote([event["line"]])[0]
        self._before, self._text = complete, rest
