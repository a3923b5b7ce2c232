"""Calls that are new in all runs, but too few for a limit: one more rename, or a file that is written now.

They never fail a check. They are what a changelog reports, and a reader of the verdict would miss them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from tracealyze.compare import syscalls
from tracealyze.compare.gate.call_rows import CallRow, call_rows, syscall_of, target_of
from tracealyze.compare.gate.places import Place, Places, alike_named, places

if TYPE_CHECKING:
    from tracealyze.compare.gate.baseline import Baseline
    from tracealyze.compare.run import Run

_MIN_RUNS = 2
_LOOKING = syscalls.LOOKUPS | syscalls.READS | syscalls.QUICK


def small_changes(baseline: Baseline, runs: Sequence[Run], listed: Collection[str]) -> list[CallRow]:
    """The places that are new in each of several runs, without the listed ones: the most telling one of each target."""
    if min(len(runs), baseline.runs) < _MIN_RUNS or baseline.places_left_out:
        return []
    then, *each = alike_named([baseline.places, *(places([run]) for run in runs)])
    new = list(_new_in_all(then, each))
    before, after = ({place: side[place].calls if place in side else 0 for place in new} for side in (then, each[-1]))
    known = {syscall_of(place) for place in then}
    rows = [row for row in call_rows(new, before, after) if row.text not in listed]
    ranked = sorted(rows, key=lambda row: (_rank(row, known), -row.growth, row.name))
    first: dict[tuple[str, str], CallRow] = {}
    for row in ranked:
        first.setdefault((row.name[0], target_of(row.name) or row.name[1]), row)
    return list(first.values())


def _new_in_all(then: Places, each: Sequence[Places]) -> Iterator[Place]:
    programs, known = {program for program, _ in then}, {syscall_of(place) for place in then}
    for place, amounts in each[-1].items():
        is_new = place not in then and all(place in run and run[place].calls == amounts.calls for run in each)
        is_telling = bool(target_of(place)) or syscall_of(place) not in known
        if is_new and is_telling and amounts.calls and place[0] in programs:
            yield place


def _rank(row: CallRow, known: Collection[str]) -> int:
    """System calls that the other side does not make come first, then those that do more than look, read and write."""
    syscall = syscall_of(row.name)
    if syscall in syscalls.OPENS:
        return 2
    if syscall in _LOOKING or "ENOTTY" in row.name[1]:
        return 4
    return 3 if syscall in syscalls.WRITES else int(syscall in known)
