"""The store: Parquet parts, and a file per committed batch. Readers read only what such a file names.

    store.json                      the version of the layout
    v1/TABLE/part-KEY.parquet       rows of one batch
    v1/done/KEY.json                written last: the batch is complete

A batch has the same key and the same content whenever it is made, so writers need no locks. A capture that two batches
contain counts once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from tracealyze.base import suggested
from tracealyze.base.errors import MissingCapture, UnusableInput
from tracealyze.base.sanitize import shown
from tracealyze.fleet import locations
from tracealyze.fleet.arrow import Table, compute, dataset, pa, parquet
from tracealyze.fleet.locations import joined, retried
from tracealyze.fleet.tables import TABLES, VERSION

if TYPE_CHECKING:
    import numpy
    from pyarrow.fs import FileSystem

_ROOT = "v1"
_MAX_JSON_BYTES = 256 << 20
"""A million captures that a batch replaces have 20 MB. What is longer is cut, so that it is not valid."""
_ROWS_PER_READ = 64 << 10
_BATCHES_AHEAD = 2
_PARTS_AHEAD = 2


@dataclass(frozen=True)
class Commit:
    """A committed batch."""

    key: str
    rows: Mapping[str, int]
    drops: tuple[int, ...] = ()
    """Captures of other batches that this one replaces, because their files or the engine changed."""
    replaces: tuple[str, ...] = ()
    """Batches whose rows this one contains."""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def text(self) -> bytes:
        """As JSON."""
        members = {
            "schema": VERSION,
            "rows": dict(self.rows),
            "drops": list(self.drops),
            "replaces": list(self.replaces),
            **self.facts,
        }
        return json.dumps(members, sort_keys=True).encode()


class Store:
    """A store at a path or URI."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self._system: FileSystem
        self._system, self._path = locations.located(uri)

    @property
    def name(self) -> str:
        """For messages."""
        return shown(locations.without_secrets(self.uri))

    def create(self) -> None:
        """Make the store if it does not exist. Raises `UnusableInput` if another version or something else is there."""
        found = self._version()
        if found is None:
            self._put("store.json", json.dumps({"schema": VERSION}).encode())
        self._must_be_known(found or VERSION)

    def must_exist(self) -> None:
        """Raise `MissingCapture` if there is no store."""
        found = self._version()
        if found is None:
            raise MissingCapture(
                f"{self.name}: no store. Make one: tracealyze fleet index SOURCE --store {suggested.quoted(self.name)}"
            )
        self._must_be_known(found)

    def _must_be_known(self, version: str) -> None:
        if version != VERSION:
            raise UnusableInput(f"{self.name}: a store of the version {shown(version)}, not {VERSION}. Index again.")

    def _version(self) -> str | None:
        try:
            found = json.loads(self._get("store.json"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise UnusableInput(f"{self.name}: store.json cannot be read: {shown(str(error))}.") from error
        return str(found.get("schema")) if isinstance(found, dict) else "unknown"

    def _get(self, name: str) -> bytes:
        path = joined(self._path, name)
        if self._is_special(path):
            raise ValueError("it is not a regular file")

        def read() -> bytes:
            with self._system.open_input_stream(path) as file:
                return bytes(file.read(_MAX_JSON_BYTES))

        return retried(read)

    def _is_special(self, path: str) -> bool:
        """Whether there is a pipe or a device, which may never end, instead of a file."""
        return self._system.type_name == "local" and os.path.exists(path) and not os.path.isfile(path)

    def _put(self, name: str, content: bytes) -> None:
        self._write(name, lambda file: file.write(content))

    def _write(self, name: str, fill: Any) -> None:
        """Write a file so that it is complete once it has its name."""
        path = joined(self._path, name)

        def write() -> None:
            if self._system.type_name != "local":
                # An object exists once all of it has arrived.
                with self._system.open_output_stream(path) as file:
                    fill(file)
                return
            self._system.create_dir(path.rpartition("/")[0], recursive=True)
            part = f"{path}.{uuid4().hex}.part"
            with self._system.open_output_stream(part) as file:
                fill(file)
            self._system.move(part, path)

        retried(write)

    def is_committed(self, key: str) -> bool:
        """Whether a batch is complete."""
        from pyarrow.fs import FileType

        info = retried(lambda: self._system.get_file_info(joined(self._path, _ROOT, "done", f"{key}.json")))
        return bool(info.type == FileType.File)

    def write(self, commit: Commit, tables: Mapping[str, Table]) -> None:
        """Write the parts of a batch, then commit it."""
        for name, table in tables.items():
            if len(table):
                self._write(
                    f"{_ROOT}/{name}/part-{commit.key}.parquet",
                    lambda file, table=table: parquet.write_table(
                        table, file, compression="zstd", row_group_size=1 << 17
                    ),
                )
        self._put(f"{_ROOT}/done/{commit.key}.json", commit.text())

    def commits(self) -> list[Commit]:
        """All batches that count, by key."""
        from pyarrow.fs import FileSelector

        folder = joined(self._path, _ROOT, "done")
        infos = retried(lambda: self._system.get_file_info(FileSelector(folder, allow_not_found=True)))
        keys = sorted(info.base_name.removesuffix(".json") for info in infos if info.base_name.endswith(".json"))
        found = [self._commit(key) for key in keys]
        replaced = {key for each in found for key in each.replaces if key != each.key}
        return [each for each in found if each.key not in replaced]

    def _commit(self, key: str) -> Commit:
        try:
            stored = json.loads(self._get(f"{_ROOT}/done/{key}.json"))
            rows = {name: int(stored["rows"].get(name, 0)) for name in TABLES}
            return Commit(key, rows, tuple(map(int, stored["drops"])), tuple(map(str, stored["replaces"])))
        except FileNotFoundError:
            # Compaction has removed it; its rows are in the batch that replaces it.
            return Commit(key, dict.fromkeys(TABLES, 0))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UnusableInput(
                f"{self.name}: v1/done/{shown(key)}.json cannot be read: {shown(str(error))}."
            ) from error

    def snapshot(self) -> Snapshot:
        """What the store contains now."""
        return Snapshot(self, self.commits())

    def remove(self, commits: Iterable[Commit], *, parts: bool) -> None:
        """Remove commits that another one replaces, and their parts if no reader needs them."""
        for commit in commits:
            names = [f"done/{commit.key}.json"]
            names += [f"{name}/part-{commit.key}.parquet" for name in TABLES if commit.rows[name]] if parts else []
            for name in names:
                try:
                    self._system.delete_file(joined(self._path, _ROOT, name))
                except FileNotFoundError:
                    continue

    def part(self, table: str, commit: Commit) -> str:
        """The path of a part. Raises `UnusableInput` if it is not a file."""
        name = f"{_ROOT}/{table}/part-{commit.key}.parquet"
        if self._is_special(joined(self._path, name)):
            raise UnusableInput(f"{self.name}: {shown(name)} is not a regular file.")
        return joined(self._path, name)

    @property
    def system(self) -> FileSystem:
        """The file system of the parts."""
        return self._system


class Snapshot:
    """The rows of a store at one moment."""

    def __init__(self, store: Store, commits: Sequence[Commit]) -> None:
        self.store = store
        self.commits = commits

    def dataset(self, table: str) -> Any:
        """The parts of a table as an Arrow dataset. Captures that two batches contain are in it twice."""
        files = [self.store.part(table, each) for each in self.commits if each.rows[table]]
        schema = TABLES[table]
        if not files:
            return dataset.dataset(pa.Table.from_batches([], schema=schema))
        return dataset.dataset(files, schema=schema, format="parquet", filesystem=self.store.system)

    def rows(self, table: str, columns: Sequence[str] | None = None, where: Any = None) -> Table:
        """Rows of a table, each capture once."""
        schema = TABLES[table] if columns is None else pa.schema([TABLES[table].field(name) for name in columns])
        return pa.Table.from_batches(list(self.batches(table, columns, where)), schema=schema)

    def batches(self, table: str, columns: Sequence[str] | None = None, where: Any = None) -> Iterator[Any]:
        """The same in record batches, of which only a few are in memory."""
        if not self._left_out:
            yield from self._read(self.dataset(table), columns, where)
            return
        for commit in (each for each in self.commits if each.rows[table]):
            left_out = self._left_out.get(commit.key)
            only = where
            if left_out is not None:
                fresh = ~compute.field("capture_id").isin(pa.array(left_out))
                only = fresh if where is None else where & fresh
            part = dataset.dataset(
                self.store.part(table, commit), schema=TABLES[table], format="parquet", filesystem=self.store.system
            )
            yield from self._read(part, columns, only)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was indexed."""
        return not any(each.rows["captures"] for each in self.commits)

    @property
    def is_plain(self) -> bool:
        """Whether the datasets have each capture once."""
        return not self._left_out

    def _read(self, source: Any, columns: Sequence[str] | None, where: Any) -> Iterator[Any]:
        try:
            for batch in source.to_batches(
                columns=None if columns is None else list(columns),
                filter=where,
                batch_size=_ROWS_PER_READ,
                batch_readahead=_BATCHES_AHEAD,
                fragment_readahead=_PARTS_AHEAD,
            ):
                if "capture_id" in batch.schema.names and batch["capture_id"].null_count:
                    raise ValueError("it has rows without a capture")
                yield batch
        except (OSError, ValueError) as error:
            raise UnusableInput(f"{self.store.name}: a part cannot be read: {shown(str(error))}.") from error

    @cached_property
    def _left_out(self) -> dict[str, numpy.ndarray[Any, Any]]:
        """By batch, the captures that another batch has too, or replaces."""
        import numpy

        holders = [commit for commit in self.commits if commit.rows["captures"]]
        # Scanning all parts at once keeps their order, so counts of rows say which batch an id is from.
        scanned = [batch.column(0).to_numpy() for batch in self._read(self.dataset("captures"), ["capture_id"], None)]
        ids = numpy.concatenate(scanned) if scanned else numpy.empty(0, numpy.int64)
        order = numpy.argsort(ids, kind="stable")
        is_again = numpy.zeros(len(ids), bool)
        is_again[order[1:]] = ids[order[1:]] == ids[order[:-1]]
        drops = {number for commit in self.commits for number in commit.drops}
        if drops:
            is_again |= numpy.isin(ids, numpy.fromiter(sorted(drops), numpy.int64))
        if not is_again.any():
            return {}
        ends = numpy.cumsum([commit.rows["captures"] for commit in holders])
        found = {}
        for commit, start, end in zip(holders, [0, *ends[:-1]], ends, strict=True):
            if is_again[start:end].any():
                found[commit.key] = ids[start:end][is_again[start:end]]
        return found
