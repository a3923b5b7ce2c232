"""Patterns of names: many names that differ only in numbers, or in made-up parts, are merged into one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias, TypeVar

from tracealyze.base.heuristics import MAX_SEPARATE_NAMES, MIN_MADE_UP_LENGTH

Key: TypeAlias = tuple[str, ...]
_Key = TypeVar("_Key", bound=Key)

_NUMBER = re.compile(r"0x[0-9a-f]+|\d+")
_MAX_CANDIDATES = 50
_MADE_UP_PART = re.compile(r"\w+|[0-9a-f-]+")
# Words that people choose have no inner digit or capital. Of six generated characters, one in two hundred has none.
_GENERATED = re.compile(r"\d|[a-z][A-Z]|[A-Z][A-Z]+[a-z]")
# Names of temporary files as libraries make them, in any folder: Python's `tmpk3j2_x9a`, Rust's `.tmpZ8jrmD`, mktemp's
# `tmp.Xa81kQ0b2c`, Git's `tmp_obj_4fQz1B`, and six characters that GLib, Qt and rsync append. Where the engine is sure,
# it has written R, so that two names of one form can differ in length.
_TEMPORARY = tuple(
    re.compile(form)
    for form in (
        r"tmp(?P<random>R|[a-z0-9_]{8}|[A-Za-z0-9]{6})(?:\.\w+)?",
        r"\.tmp(?P<random>R|[A-Za-z0-9]{6})",
        r"tmp(?:[-.]|_\w+_)(?P<random>R|[A-Za-z0-9]{6,10})",
        r".+(?:\.|stream-)(?P<random>R|[A-Za-z0-9]{6})",
    )
)
_PYTHON_RANDOM = re.compile(r"[a-z0-9_]{8}")
_NOT_A_WORD = re.compile(r"[A-Z0-9]")
# `ioctl(ZFS_IOC_OBJSET_STATS, /dev/zfs) ENOTSUP`: the call and its op, the target, and the outcome.
_SHAPE = re.compile(r"(?P<before>\w+\((?:[^/]*, )?)(?P<target>.*)(?P<after>\).*)", re.DOTALL)
# Ops, signals and errors: SIG_BLOCK, SIGRT_3, E2BIG.
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_|]*")


def without_numbers(text: str) -> str:
    """`jail N: start` for `jail 3: start`."""
    return _NUMBER.sub("N", text)


def families(keys: Iterable[Key]) -> dict[Key, Key]:
    """The common name of each key: `dev/diskN` for `dev/disk1` to `dev/disk160`, or the key itself if there are few."""
    members: dict[Key, list[Key]] = {}
    for key in keys:
        members.setdefault((*key[:-1], without_numbers(key[-1])), []).append(key)
    return {key: family if len(here) > MAX_SEPARATE_NAMES else key for family, here in members.items() for key in here}


def without_made_up_names(keys: Iterable[_Key]) -> dict[_Key, _Key]:
    """For each key, the first in order that differs only in made-up names in its last text: `write(/tmp/aXf3Qe)`."""
    first: dict[Key, list[_Key]] = {}
    found: dict[_Key, _Key] = {}
    for key in keys:
        here = first.setdefault((*key[:-1], *_outline(key[-1])), [])
        found[key] = next((each for each in here[:_MAX_CANDIDATES] if differ_in_made_up_names(key[-1], each[-1])), key)
        if found[key] is key:
            here.append(key)
    return found


def differ_in_made_up_names(one: str, other: str) -> bool:
    """Whether two targets, or two shapes, differ only in names like those of temporary files: `/tmp/aXf3Qe`.

    The syscall, op and outcome of a shape are names that people chose: `getdents64` is never `newfstatat`."""
    before, target, after = _parts(one)
    its_before, its_target, its_after = _parts(other)
    if (before, after) != (its_before, its_after):
        return False
    mine, theirs = target.split("/"), its_target.split("/")
    if len(mine) == 1 and (_CONSTANT.fullmatch(target) or _CONSTANT.fullmatch(its_target)):
        return target == its_target
    return len(mine) == len(theirs) and all(map(_is_same_or_made_up, mine, theirs))


def _parts(text: str) -> tuple[str, str, str]:
    """The text before the target, the target, and the text after it."""
    match = _SHAPE.fullmatch(text)
    return (match["before"], match["target"], match["after"]) if match else ("", text, "")


def _outline(text: str) -> Key:
    """Equal for texts that differ in made-up names only."""
    before, target, after = _parts(text)
    return before, after, *(_temporary(part)[0] or str(len(part)) for part in target.split("/"))


def _temporary(name: str) -> tuple[str, str]:
    """The form of the name of a temporary file, and its random part; both are empty for other names."""
    for form in _TEMPORARY:
        if match := form.fullmatch(name):
            start, end = match.span("random")
            return f"{name[:start]}*{name[end:]}", match["random"]
    return "", ""


def _are_temporary(one: str, other: str) -> bool:
    """Whether both are temporary names of one form. All of Python's letters can be lower case by chance, and the same
    name in another run has a digit."""
    (form, random), (its_form, its_random) = _temporary(one), _temporary(other)
    if not form or form != its_form:
        return False
    both = random, its_random
    if all(part == "R" or _PYTHON_RANDOM.fullmatch(part) for part in both):
        return True
    return "R" in both and all(map(_NOT_A_WORD.search, both))


def _is_same_or_made_up(one: str, other: str) -> bool:
    if one == other or _are_temporary(one, other):
        return True
    if len(one) != len(other):
        return False
    differ = [at for at, (mine, theirs) in enumerate(zip(one, other, strict=True)) if mine != theirs]
    parts = [text[differ[0] : differ[-1] + 1] for text in (one, other)]
    is_whole = len(parts[0]) >= MIN_MADE_UP_LENGTH and all(map(_MADE_UP_PART.fullmatch, parts))
    return is_whole and any(map(_GENERATED.search, parts))
