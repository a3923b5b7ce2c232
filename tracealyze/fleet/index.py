"""Indexing: which captures are new, their batches, and the workers that read them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tracealyze import _engine
from tracealyze.base.errors import UnusableInput
from tracealyze.base.sanitize import shown
from tracealyze.fleet import pool
from tracealyze.fleet.batch import STORAGE, Batch, Report
from tracealyze.fleet.cluster import Cluster
from tracealyze.fleet.labels import Labels
from tracealyze.fleet.shards import of_shard
from tracealyze.fleet.sources import Item, items
from tracealyze.fleet.store import Store

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from tracealyze.fleet.store import Snapshot

_MAX_CAPTURES = 256
_MAX_BYTES = 256 << 20
_BATCHES_PER_WORKER = 4

Told: TypeAlias = "Callable[[Progress], None]"


@dataclass
class Progress:
    """How far an index has come."""

    captures: int
    """Number of captures to read."""
    bytes: int
    known: int
    """Number of captures that the store has already."""
    done: int = 0
    done_bytes: int = 0
    failed: int = 0
    left: int = 0
    """Number of captures that were not stored because storage or the cluster failed; the next run reads them."""
    error: str = ""
    others: int = 0
    """Number of files that are not captures."""
    """Why."""


@dataclass(frozen=True)
class Options:
    """How to index."""

    labels: Labels = field(default_factory=Labels)
    input_format: str | None = None
    workers: int = 0
    """Number of processes; 0 for one per core."""
    executor: Executor | str | None = None
    """dask://HOST:PORT, or an object with the interface of `concurrent.futures.Executor`."""
    shard: tuple[int, int] | None = None
    """Only the captures of shard i (from 1) of n."""
    refresh: bool = False
    """Whether to read captures again that another version, or other rules, have read."""
    limits: pool.Limits = field(default_factory=pool.Limits)
    max_captures: int = _MAX_CAPTURES
    """Maximum number of captures per batch."""


def index(sources: Iterable[str], store: Store, options: Options, tell: Told = lambda _: None) -> Progress:
    """Read the captures that the store lacks. Raises `UnusableInput` if a source or the store cannot be used."""
    found = items(sources, options.labels)
    if options.shard is not None:
        found = of_shard(found, *options.shard)
    try:
        store.create()
        new, former = _new(found, store.snapshot(), options)
    except OSError as error:
        raise UnusableInput(f"{store.name}: the store cannot be used: {shown(str(error))}.") from error
    progress = Progress(len(new), sum(each.bytes for each in new), len(found) - len(new))
    tell(progress)
    for report in _reports(list(_batches(new, former, store, options)), options):
        progress.done += report.captures
        progress.done_bytes += report.bytes
        progress.failed += report.failed
        progress.others += report.others
        progress.left += report.left
        progress.error = report.error or progress.error
        tell(progress)
    return progress


def _new(found: Sequence[Item], snapshot: Snapshot, options: Options) -> tuple[list[Item], dict[str, tuple[int, ...]]]:
    """The items to read, and by URI the captures that they replace."""
    columns = ("capture_id", "item", "etag", "labels_hash", "engine", "rules_hash", "error_kind")
    version = (_engine.__version__, rules_hash())
    known: dict[str, tuple[bool, list[int]]] = {}
    current = {each.uri: each for each in found}
    # Only captures of these sources are remembered, so the memory does not grow with the store.
    for batch in snapshot.batches("captures", columns):
        for number, uri, etag, labels, engine, rules, kind in zip(*(each.to_pylist() for each in batch), strict=True):
            item = current.get(uri)
            if item is None:
                continue
            is_current = (item.etag, item.labels_hash) == (etag, labels) and kind != STORAGE
            is_current = is_current and not (options.refresh and (engine, rules) != version)
            before, ids = known.get(uri, (True, []))
            known[uri] = (before and is_current, [*ids, number])
    new = [each for each in found if not known.get(each.uri, (False, []))[0]]
    return new, {each.uri: tuple(sorted(known[each.uri][1])) for each in new if each.uri in known}


def _batches(
    new: Sequence[Item], former: dict[str, tuple[int, ...]], store: Store, options: Options
) -> Iterator[Batch]:
    """Batches of neighbours in the order of names, up to a number of captures and of bytes."""
    batch: list[Item] = []
    size = 0

    def made() -> Batch:
        replaced = {each.uri: former[each.uri] for each in batch if each.uri in former}
        return Batch(store.uri, tuple(batch), rules_hash(), options.input_format, replaced)

    for item in new:
        if batch and (len(batch) == options.max_captures or size + item.bytes > _MAX_BYTES):
            yield made()
            batch, size = [], 0
        batch.append(item)
        size += item.bytes
    if batch:
        yield made()


def _reports(batches: Sequence[Batch], options: Options) -> Iterator[Report]:
    workers = options.workers or len(os.sched_getaffinity(0))
    executor = options.executor
    if executor is None:
        return pool.run_here(batches, min(workers, len(batches)), options.limits)
    if isinstance(executor, str):
        return _on_dask(batches, executor)
    return pool.run_on(executor, batches, _BATCHES_PER_WORKER * workers)


def _on_dask(batches: Sequence[Batch], address: str) -> Iterator[Report]:
    with Cluster(address) as cluster:
        yield from pool.run_on(cluster, batches, _BATCHES_PER_WORKER * cluster.workers, lost=cluster.lost)


@cache
def rules_hash() -> str:
    """Changes when the packaged rules change."""
    import tracealyze

    rules = Path(tracealyze.__file__).parent / "rules" / "compiled.json"
    return blake2b(rules.read_bytes(), digest_size=6).hexdigest()
