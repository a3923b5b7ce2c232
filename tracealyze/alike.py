"""Names that mean the same: where many differ in numbers alone, they are told as one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

Key: TypeAlias = tuple[str, ...]

_NUMBER = re.compile(r"\d+")
_FEW = 3


def without_numbers(text: str) -> str:
    """`jail N: start` of `jail 3: start`."""
    return _NUMBER.sub("N", text)


def families(keys: Iterable[Key]) -> dict[Key, Key]:
    """The name under which each is told: `dev/diskN` for `dev/disk1` to `dev/disk160`, itself where there are few."""
    members: dict[Key, list[Key]] = {}
    for key in keys:
        members.setdefault((*key[:-1], without_numbers(key[-1])), []).append(key)
    return {key: family if len(here) > _FEW else key for family, here in members.items() for key in here}
