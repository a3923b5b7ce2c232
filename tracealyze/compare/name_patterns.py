"""Names that mean the same: where many differ in numbers alone, they are told as one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias, TypeVar

Key: TypeAlias = tuple[str, ...]
_Key = TypeVar("_Key", bound=Key)

_NUMBER = re.compile(r"0x[0-9a-f]+|\d+")
_FEW = 3
_TRIED = 50
# mkstemp makes up six characters, of 62; two of them may be equal by chance.
_MADE_UP = 4
_IN_MADE_UP = re.compile(r"\w+|[0-9a-f-]+")
# Words that people choose have no digit and no capital within; of six characters made up, one in two hundred.
_BY_CHANCE = re.compile(r"\d|[a-z][A-Z]|[A-Z][A-Z]+[a-z]")


def without_numbers(text: str) -> str:
    """`jail N: start` of `jail 3: start`."""
    return _NUMBER.sub("N", text)


def families(keys: Iterable[Key]) -> dict[Key, Key]:
    """The name under which each is told: `dev/diskN` for `dev/disk1` to `dev/disk160`, itself where there are few."""
    members: dict[Key, list[Key]] = {}
    for key in keys:
        members.setdefault((*key[:-1], without_numbers(key[-1])), []).append(key)
    return {key: family if len(here) > _FEW else key for family, here in members.items() for key in here}


def without_made_up_names(keys: Iterable[_Key]) -> dict[_Key, _Key]:
    """The first key that is the same as each but for made-up names in its last text: `write(/tmp/aXf3Qe)`."""
    first: dict[Key, list[_Key]] = {}
    found: dict[_Key, _Key] = {}
    for key in keys:
        here = first.setdefault((*key[:-1], *(str(len(part)) for part in key[-1].split("/"))), [])
        found[key] = next((each for each in here[:_TRIED] if differ_in_made_up_names(key[-1], each[-1])), key)
        if found[key] is key:
            here.append(key)
    return found


def differ_in_made_up_names(one: str, other: str) -> bool:
    """Whether two paths are the same but for names like those of temporary files: `/tmp/aXf3Qe` and `/tmp/apL0wZ`."""
    mine, theirs = one.split("/"), other.split("/")
    return len(mine) == len(theirs) and all(map(_is_same_or_made_up, mine, theirs))


def _is_same_or_made_up(one: str, other: str) -> bool:
    if one == other or len(one) != len(other):
        return one == other
    differ = [at for at, (mine, theirs) in enumerate(zip(one, other, strict=True)) if mine != theirs]
    parts = [text[differ[0] : differ[-1] + 1] for text in (one, other)]
    is_whole = len(parts[0]) >= _MADE_UP and all(map(_IN_MADE_UP.fullmatch, parts))
    return is_whole and any(map(_BY_CHANCE.search, parts))
