"""Indexing of one batch of captures: what a worker does, in whatever process it runs."""

from __future__ import annotations

import os
import tarfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tracealyze import _engine
from tracealyze.base.errors import TracealyzeError, UnknownFormat, UnreadableCapture
from tracealyze.base.sanitize import shown
from tracealyze.fleet import locations
from tracealyze.fleet.extract import Rows, capture_rows
from tracealyze.fleet.fetching import captures_of, opened_items
from tracealyze.fleet.sources import Item
from tracealyze.fleet.store import Commit, Store
from tracealyze.fleet.tables import TABLES
from tracealyze.trace.trace import read_files

STORAGE = "storage"
"""The kind of errors that may be gone next time, so that the capture is tried again."""
_MAX_MESSAGE = 500


@dataclass(frozen=True)
class Batch:
    """Captures that are indexed together."""

    store: str
    items: tuple[Item, ...]
    rules_hash: str
    input_format: str | None = None
    former: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """By URI, the captures in the store that are replaced."""
    killers: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """By URI, why the workers that read a capture ended: such captures are not read again."""
    first: str | None = None
    """The URI of the capture to read first, because a worker ended while it read it."""

    def part(self, items: tuple[Item, ...]) -> Batch:
        """A batch of some of these captures."""
        names = {each.uri for each in items}
        return replace(self, items=items, former={uri: ids for uri, ids in self.former.items() if uri in names})

    @property
    def order(self) -> list[int]:
        """The numbers of the items in the order in which they are read."""
        return sorted(range(len(self.items)), key=lambda number: self.items[number].uri != self.first)

    @property
    def key(self) -> str:
        """The same for the same captures, engine, rules and options."""
        facts: list[object] = [_engine.__version__, self.rules_hash, self.input_format]
        facts += [(each.uri, each.etag, each.labels, self.former.get(each.uri)) for each in self.items]
        return blake2b(repr(facts).encode(errors="surrogateescape"), digest_size=16).hexdigest()

    def capture_id(self, item: Item, uri: str) -> int:
        """Identifies what was read by which engine with which rules."""
        facts = (
            uri,
            item.etag,
            item.labels,
            _engine.__version__,
            self.rules_hash,
            self.input_format,
            self.former.get(item.uri),
        )
        digest = blake2b(repr(facts).encode(errors="surrogateescape"), digest_size=8).digest()
        return int.from_bytes(digest, "big", signed=True)


@dataclass(frozen=True)
class Report:
    """What became of a batch."""

    key: str
    captures: int
    failed: int
    bytes: int
    left: int = 0
    """Number of captures that were not stored because storage or the cluster failed; the next run reads them."""
    error: str = ""
    """Why."""
    others: int = 0
    """Number of files in which no format was recognized: they are not captures, so they have not failed."""


def index_batch(batch: Batch, begins: Callable[[int], None] = lambda _: None) -> Report:
    """Read the captures of a batch and write them to the store. A batch that is committed is not read again.

    `begins` is called with the number of each item before it is read."""
    store = Store(batch.store)
    size = sum(each.bytes for each in batch.items)
    if store.is_committed(batch.key):
        return Report(batch.key, len(batch.items), 0, size)
    rows = Rows()
    with TemporaryDirectory(prefix="tracealyze-fleet-") as folder:
        opened = list(opened_items(batch.items, Path(folder)))
        found: dict[int, list[tuple[str, dict[str, list[Any]]]]] = {}
        for number in batch.order:
            begins(number)
            found[number] = list(_indexed(batch, batch.items[number], opened[number]))
        for number, item in enumerate(batch.items):
            for uri, tables in found[number]:
                for name, each in tables.items():
                    rows.add(name, batch.capture_id(item, uri), each)
    drops = sorted({number for numbers in batch.former.values() for number in numbers})
    commit = Commit(batch.key, {name: len(rows.of[name]) for name in TABLES}, tuple(drops))
    store.write(commit, {name: rows.arrow(name) for name in TABLES})
    statuses = Counter(row["status"] for row in rows.of["captures"])
    return Report(batch.key, len(batch.items), statuses["failed"], size, others=statuses["skipped"])


def _indexed(batch: Batch, item: Item, fetch: Callable[[], list[str]]) -> Iterator[tuple[str, dict[str, list[Any]]]]:
    """The URI and the rows of each capture of an item: one, unless files that look like parts are not."""
    facts = {
        "item": item.uri,
        "etag": item.etag,
        "labels_hash": item.labels_hash,
        "engine": _engine.__version__,
        "rules_hash": batch.rules_hash,
        "bytes": item.bytes,
        "labels": list(item.labels),
    }
    if item.uri in batch.killers:
        kind, error = batch.killers[item.uri]
        yield item.uri, _failed(facts | {"uri": item.uri}, "failed", kind, error)
        return
    try:
        files = fetch()
        captures = captures_of(item, files)
    except Exception as error:
        yield item.uri, _failed(facts | {"uri": item.uri}, "failed", *_kind(error, item))
        return
    for uri, each in captures.items():
        yield uri, _read(facts | {"uri": uri}, each, batch.input_format)
    for file in files:
        # Fetched files are removed as soon as they are read, so that a batch needs the space of one.
        if not item.is_local:
            Path(file).unlink(missing_ok=True)


def _read(facts: dict[str, Any], files: Sequence[str], input_format: str | None) -> dict[str, list[Any]]:
    start = time.perf_counter()
    try:
        trace = read_files([list(files)], input_format, None)
        tables, labels = capture_rows(trace)
    except Exception as error:
        status = "skipped" if isinstance(error, UnknownFormat) else "failed"
        return _failed(facts, status, *_kind(error, None, dict.fromkeys(files, facts["uri"])))
    row = tables["captures"][0]
    row |= {name: value for name, value in facts.items() if name != "bytes"}
    row["labels"] = sorted((labels | dict(facts["labels"])).items())
    row["status"] = "partial" if row["lost_lines"] or row["cut"] else "ok"
    row["seconds"] = time.perf_counter() - start
    return tables


def _failed(facts: dict[str, Any], status: str, kind: str, error: str) -> dict[str, list[Any]]:
    row = facts | {"status": status, "error_kind": kind, "error": error}
    return {"captures": [row]}


def _kind(error: Exception, item: Item | None, names: Mapping[str, str] | None = None) -> tuple[str, str]:
    """The kind of an error, and its message with the name of the capture instead of that of a temporary file."""
    text = str(error) or type(error).__name__
    for file, uri in (names or {}).items():
        text = text.replace(file, uri)
    text = shown(text)[:_MAX_MESSAGE]
    if isinstance(error, MemoryError):
        return "out-of-memory", "not enough memory"
    if isinstance(error, UnknownFormat):
        return "unknown-format", text
    if isinstance(error, tarfile.TarError | zipfile.BadZipFile | EOFError | KeyError):
        return "broken-archive", text
    if isinstance(error, FileNotFoundError):
        return STORAGE, f"{item.uri if item else 'file'}: is gone since it was listed"
    if locations.is_of_storage(error) and not isinstance(error, TracealyzeError | PermissionError):
        return STORAGE, text
    if isinstance(error, UnreadableCapture):
        return "unreadable", text
    return ("unusable" if isinstance(error, TracealyzeError) else "bug"), text


def use_one_core() -> None:
    """Let the engine use one core: workers are as many as cores. Works only before it reads anything."""
    os.environ["RAYON_NUM_THREADS"] = "1"
