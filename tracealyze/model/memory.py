"""How much memory traces may use. What is larger goes to a file without a name in `TMPDIR`, else in /var/tmp."""

from __future__ import annotations

import os

from tracealyze import _engine
from tracealyze.base.errors import WrongUsage
from tracealyze.base.units import read_size

VARIABLE = "TRACEALYZE_MEMORY"


def limit() -> int:
    """Bytes that this process may use for traces. Raises `WrongUsage` if the variable is no size."""
    text = os.environ.get(VARIABLE, "")
    if not text:
        return _engine.DEFAULT_MEMORY
    try:
        bytes_ = read_size(text)
    except WrongUsage as error:
        raise WrongUsage(f"{VARIABLE}: {error}") from None
    if bytes_ < 0:
        raise WrongUsage(f'{VARIABLE}: "{text}" is less than nothing; write 2G.')
    return bytes_


def set_limit() -> None:
    """Tell the engine, before it reads a capture."""
    _engine.limit_memory(limit())
