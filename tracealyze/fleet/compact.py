"""compact: merge small parts, so that a store of many batches answers quickly."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from tracealyze.fleet.store import Commit, Snapshot, Store
from tracealyze.fleet.tables import TABLES

MAX_CAPTURES = 20_000
"""Captures per merged part."""


def compact(store: Store, *, prune: bool, max_captures: int = MAX_CAPTURES) -> tuple[int, int]:
    """Merge batches that are smaller than half a part. The number of batches before and after.

    Readers that have begun need the parts of former batches; with `prune`, they are removed as well."""
    everything = store.snapshot()
    # A capture that a later batch replaces must not come back, so such batches are merged together.
    small = [each for each in everything.commits if each.rows["captures"] < max_captures / 2 or each.drops]
    if len(small) < 2:
        return len(everything.commits), len(everything.commits)
    groups = [small] if any(each.drops for each in small) else _groups(small, max_captures)
    for group in (group for group in groups if len(group) > 1):
        _merge(store, group)
        store.remove(group, parts=prune)
    return len(everything.commits), len(store.commits())


def _groups(small: Sequence[Commit], max_captures: int) -> list[list[Commit]]:
    groups: list[list[Commit]] = [[]]
    size = 0
    for commit in small:
        if groups[-1] and size + commit.rows["captures"] > max_captures:
            groups.append([])
            size = 0
        groups[-1].append(commit)
        size += commit.rows["captures"]
    return groups


def _merge(store: Store, group: Sequence[Commit]) -> None:
    merged = Snapshot(store, group)
    # What was replaced may still be in batches that are not merged.
    drops = tuple(sorted({number for each in group for number in each.drops}))
    replaces = tuple(each.key for each in group)
    key = blake2b("\0".join(replaces).encode(), digest_size=16).hexdigest()
    tables = {name: merged.rows(name) for name in TABLES}
    order = [("capture_id", "ascending")]
    tables = {name: table.sort_by(order) for name, table in tables.items()}
    store.write(Commit(key, {name: len(table) for name, table in tables.items()}, drops, replaces), tables)
