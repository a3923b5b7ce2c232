"""Call sites as rows: places under common names, the largest increase first.

Many files of one folder are one row. A program that loads another package opens each of its files once:

    python3 openat(/lib/python3.11/asyncio/__pycache__/events.cpython-311.pyc)  0 → 1
    python3 openat(/lib/python3.11/asyncio/__pycache__/futures.cpython-311.pyc) 0 → 1
    …
    python3 openat(/lib/python3.11/asyncio/__pycache__/*)                       0 → 31
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tracealyze.base.heuristics import MIN_CHANGE_COUNT, MIN_FOLDED_FILES
from tracealyze.compare import name_patterns, syscalls
from tracealyze.compare.gate.places import Place

_ANY_FILE = "*"
# What normalization leaves of ids and addresses.
_NAMELESS = frozenset(("", "N", "0xN"))


@dataclass(frozen=True)
class CallRow:
    """Places under a common name, with their numbers on both sides, and one of them as an example."""

    name: Place
    example: Place
    before: int
    after: int

    @property
    def text(self) -> str:
        """The program, if it is known, and the shape."""
        return " ".join(filter(None, self.name))

    @property
    def growth(self) -> int:
        """The increase."""
        return self.after - self.before


def call_rows(places: Iterable[Place], then: Mapping[Place, int], now: Mapping[Place, int]) -> list[CallRow]:
    """These places as rows."""
    mine = list(places)
    named = name_patterns.families(mine)
    before, after, first = Counter[Place](), Counter[Place](), dict[Place, Place]()
    for place in sorted(mine, key=lambda place: (then[place] - now[place], place)):
        program, shape = named[place]
        before[program, shape] += then[place]
        after[program, shape] += now[place]
        first.setdefault((program, shape), place)
    rows = [CallRow(name, example, before[name], after[name]) for name, example in first.items()]
    return sorted(_folded(rows), key=lambda row: (-row.growth, row.name))


def _folded(rows: Sequence[CallRow]) -> Iterable[CallRow]:
    """Rows of one call in one folder are one, if they are many and nothing else distinguishes them."""
    groups: dict[tuple[Place, bool], list[CallRow]] = {}
    for row in rows:
        groups.setdefault((_in_folder(row.name) or row.name, row.before == 0), []).append(row)
    for (name, _), members in groups.items():
        if len(members) < MIN_FOLDED_FILES or any(abs(row.growth) > MIN_CHANGE_COUNT for row in members):
            yield from members
        else:
            before, after = (sum(getattr(row, side) for row in members) for side in ("before", "after"))
            yield CallRow(name, members[0].example, before, after)


def _in_folder(place: Place) -> Place | None:
    """The place with any file of the same folder; None for a target without a folder."""
    program, shape = place
    target = target_of(place)
    folder, slash, file = target.rpartition("/")
    if not folder or not file:
        return None
    head, _, end = shape.rpartition(target)
    return program, f"{head}{folder}{slash}{_ANY_FILE}{end}"


def target_of(place: Place) -> str:
    """What the calls of a place work on; empty if it has no name."""
    target = syscalls.target_of(syscall_of(place), place[1])
    return "" if target in _NAMELESS else target


def syscall_of(place: Place) -> str:
    """The system call of a place."""
    return place[1].partition("(")[0]


def other_calls(rows: Sequence[CallRow], listed: Iterable[Place], wanted: Collection[str]) -> list[CallRow]:
    """Rows of these system calls that work on something else than the listed places: a program may open more files of
    a library, and also read another file in smaller pieces."""
    known = {target_of(place) for place in listed}
    return [
        row
        for row in rows
        if row.growth > MIN_CHANGE_COUNT
        and syscall_of(row.name) in wanted
        and (target := target_of(row.example))
        and target not in known
    ]
