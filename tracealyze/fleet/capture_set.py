"""The captures of a store, or a selection of them, as tables and columns."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from tracealyze.base.errors import WrongUsage, did_you_mean
from tracealyze.fleet import conditions
from tracealyze.fleet.arrow import Table, compute, pa
from tracealyze.fleet.columns import Reader, Texts, label, label_names, places_of
from tracealyze.fleet.store import Store
from tracealyze.fleet.tables import CAPTURES, TABLES

if TYPE_CHECKING:
    import pandas

    from tracealyze.fleet.store import Snapshot

SHOWN = tuple(
    name for name in CAPTURES.names if name not in ("item", "etag", "labels_hash", "labels", "error", "seconds")
)


"""The columns of captures that users see."""


class CaptureSet:
    """The captures of a store, or a selection of them: their tables.

    Questions read single columns, because all of them do not fit into memory."""

    def __init__(self, store: str, *, _of: tuple[Store, Snapshot, Any] | None = None) -> None:
        if _of is None:
            opened = Store(store)
            opened.must_exist()
            _of = opened, opened.snapshot(), None
        self._store, self.snapshot = _of[:2]
        self._selected: Any = _of[2]
        self._columns: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._store.name}: {len(self.ids):,} captures>"

    @property
    def name(self) -> str:
        """Where the store is."""
        return self._store.name

    @cached_property
    def ids(self) -> Any:
        """The numbers of the captures, in order. The place of a capture is that of its number."""
        if self._selected is not None:
            return self._selected
        import numpy

        found = [batch.column(0).to_numpy() for batch in self.snapshot.batches("captures", ["capture_id"])]
        return numpy.sort(numpy.concatenate(found)) if found else numpy.empty(0, numpy.int64)

    @cached_property
    def captures(self) -> Table:
        """One row per capture, with a column per label."""
        rows = self.snapshot.rows("captures", [*SHOWN, "labels"])
        rows = rows.take(self._order_of(rows["capture_id"]))
        return _with_labels(rows.drop_columns(["labels"]), rows["labels"], self.labels())

    def _order_of(self, ids: Any) -> Any:
        """The rows of the selected captures in order."""
        import numpy

        values = ids.to_numpy()
        order = numpy.argsort(values)
        return pa.array(order[places_of(self.ids, values[order]) >= 0])

    def load(self, *names: str) -> None:
        """Read columns of captures, or labels, in one pass, for `numbers` and `texts`."""
        wanted = [name for name in names if name not in self._columns]
        if not wanted:
            return
        own = [name for name in wanted if name in CAPTURES.names]
        labels = [name for name in wanted if name not in own]
        texts = [name for name in wanted if name in labels or pa.types.is_string(CAPTURES.field(name).type)]
        reader = Reader(self.ids, texts, [name for name in own if name not in texts])
        for batch in self.snapshot.batches("captures", ["capture_id", *own, *(["labels"] if labels else [])]):
            columns = {name: batch[name] for name in own} | {name: label(batch["labels"], name) for name in labels}
            reader.take(batch["capture_id"], columns)
        self._columns |= reader.columns

    def numbers(self, name: str) -> Any:
        """A column of numbers by place, NaN where there is none."""
        self.load(name)
        return self._columns[name]

    def texts(self, name: str) -> Texts:
        """A column of texts, or a label, by place."""
        self.load(name)
        found: Texts = self._columns[name]
        return found

    @cached_property
    def usable(self) -> Any:
        """For each capture whether it could be read."""
        import numpy

        statuses = self.texts("status")
        return numpy.array([name in USABLE for name in statuses.names] + [False])[statuses.codes]

    def at(self, places: Sequence[int], columns: Sequence[str] = ()) -> list[dict[str, Any]]:
        """The captures at some places, with these columns and their labels as `labels`."""
        ids = [int(self.ids[place]) for place in places]
        rows = self.of_captures(ids, columns)
        return [rows[number] for number in ids]

    def of_captures(self, ids: Sequence[int], columns: Sequence[str] = ("uri", "status")) -> dict[int, dict[str, Any]]:
        """By number of the capture, these columns and the labels as `labels`."""
        wanted = list(dict.fromkeys(["capture_id", *columns, "labels"]))
        chosen = compute.field("capture_id").isin(pa.array(sorted(set(ids)), pa.int64()))
        found = self.snapshot.rows("captures", wanted, chosen).to_pylist()
        return {row["capture_id"]: row | {"labels": dict(sorted(row["labels"] or ()))} for row in found}

    def first_by_name(self, places: Any, limit: int) -> Any:
        """The captures among these with the first URIs."""
        import numpy

        found: list[tuple[str, int]] = []
        wanted = numpy.zeros(len(self.ids), bool)
        wanted[places] = True
        for batch in self.snapshot.batches("captures", ["capture_id", "uri"]):
            at = places_of(self.ids, batch.column(0).to_numpy())
            chosen = numpy.flatnonzero((at >= 0) & wanted[at])
            rows = zip(batch.column(1).take(pa.array(chosen)).to_pylist(), at[chosen].tolist(), strict=True)
            found = heapq.nsmallest(limit, [*found, *rows])
        return numpy.array([place for _, place in found], numpy.int64)

    def where(self, condition: str | None, origin: str = "where") -> Self:
        """The captures that meet a condition as well. Raises `WrongUsage` for a mistake in it."""
        if not condition:
            return self
        schema = self.schema("captures")
        form = conditions.parsed(schema, condition, "captures", origin)
        import numpy

        batches = self.matching("captures", form, ["capture_id"])
        chosen = [numpy.empty(0, numpy.int64), *(batch["capture_id"].to_numpy() for batch in batches)]
        return type(self)("", _of=(self._store, self.snapshot, numpy.sort(numpy.concatenate(chosen))))

    def schema(self, table: str) -> Any:
        """The columns that a condition on a table can use: its own, those that name its capture, and labels."""
        fields = [
            each
            for each in TABLES[_known(table)]
            if each.name not in ("labels", "item", "etag", "labels_hash", "error", "seconds")
        ]
        names = [each.name for each in fields]
        others = [name for name in (*_OF_CAPTURE, *self.labels()) if name not in names]
        return pa.schema([*fields, *((name, pa.string()) for name in others)])

    def matching(self, table: str, form: Any, columns: Sequence[str]) -> Iterator[Table]:
        """The rows of a table that meet a condition, some at a time. A column may also be one of the capture."""
        needed = list(dict.fromkeys(["capture_id", *columns, *sorted(conditions.used(form))]))
        own = [name for name in needed if name in TABLES[table].names]
        others = [name for name in needed if name not in own]
        extra = ["labels"] if table == "captures" and others else []
        for batch in self.snapshot.batches(table, [*own, *extra]):
            rows = pa.Table.from_batches([batch])
            places = places_of(self.ids, batch.column(0).to_numpy())
            for name in others:
                values = label(batch.column(len(own)), name) if extra else self.texts(name).take(places)
                rows = rows.append_column(name, values)
            chosen = pa.array(places >= 0)
            if form is not None:
                chosen = compute.and_(chosen, conditions.mask(rows, form))
            yield rows.filter(chosen).select(list(columns))

    def dataset(self, name: str) -> Any:
        """All parts of a table as a pyarrow dataset, selected or not. Raises `WrongUsage` for an unknown table.

        While writers overlap, a capture may be in it twice; `compact` ends that."""
        return self.snapshot.dataset(_known(name))

    def table(self, name: str, columns: Sequence[str] | None = None, where: Any = None) -> Table:
        """The rows of a table for the selected captures, each capture once."""
        if _known(name) == "captures":
            return self.captures if columns is None else self.captures.select(list(columns))
        wanted = None if columns is None else list(dict.fromkeys(["capture_id", *columns]))
        rows = self.snapshot.rows(name, wanted, where)
        if self._selected is None:
            return rows
        return rows.filter(pa.array(places_of(self.ids, rows["capture_id"].to_numpy()) >= 0))

    def scannable(self, name: str) -> Any:
        """A table for a program that reads it in parts, each capture once: not in memory, if that is possible."""
        is_plain = self._selected is None and self.snapshot.is_plain
        return self.dataset(name) if is_plain else self.table(name)

    def to_pandas(self, name: str = "captures") -> pandas.DataFrame:
        """A table as a DataFrame."""
        frame: pandas.DataFrame = self.table(name).to_pandas()
        return frame

    @cached_property
    def _labels(self) -> list[str]:
        return label_names(self.snapshot.batches("captures", ["labels"]))

    def labels(self) -> list[str]:
        """The names of all labels."""
        return [name for name in self._labels if name not in CAPTURES.names]

    def must_have_label(self, name: str, origin: str) -> None:
        """Raise `WrongUsage` if no capture has this label. One that was loaded is not sought again."""
        loaded = self._columns.get(name)
        if isinstance(loaded, Texts) and loaded.names:
            return
        known = self.labels()
        if name not in known and name not in SHOWN:
            none = " Give captures labels with --label-from when you index them."
            hint = did_you_mean(name, known) or (f" There are {', '.join(known)}." if known else none)
            raise WrongUsage(f'{origin}: no capture has a label "{name}".{hint}')


USABLE = ("ok", "partial")
"""The statuses of captures that could be read."""
_OF_CAPTURE = ("uri", "status")
"""Columns of the capture that each row of another table has as well."""


def _known(name: str) -> str:
    if name not in TABLES:
        raise WrongUsage(f'no table "{name}" ({", ".join(TABLES)}).{did_you_mean(name, TABLES)}')
    return name


def _with_labels(table: Table, labels: Any, names: Sequence[str]) -> Table:
    for name in names:
        chunks = [label(chunk, name) for chunk in labels.chunks]
        table = table.append_column(name, pa.chunked_array(chunks, pa.string()))
    return table
