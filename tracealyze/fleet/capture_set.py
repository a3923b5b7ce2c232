"""The captures of a store, or a selection of them, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from tracealyze.errors import WrongUsage, did_you_mean
from tracealyze.fleet import conditions
from tracealyze.fleet.arrow import Table, compute, pa
from tracealyze.fleet.store import Store
from tracealyze.fleet.tables import CAPTURES, TABLES

if TYPE_CHECKING:
    import pandas

    from tracealyze.fleet.store import Snapshot

_SELECTED = tuple(
    name for name in CAPTURES.names if name not in ("item", "etag", "labels_hash", "labels", "error", "seconds")
)


class CaptureSet:
    """The captures of a store, or a selection of them: their tables."""

    def __init__(self, store: str, *, _of: tuple[Store, Snapshot, Any] | None = None) -> None:
        if _of is None:
            opened = Store(store)
            opened.must_exist()
            _of = opened, opened.snapshot(), None
        self._store, self.snapshot = _of[:2]
        self._mask: Any = _of[2]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._store.name}: {len(self.captures):,} captures>"

    @property
    def name(self) -> str:
        """Where the store is."""
        return self._store.name

    @cached_property
    def _everything(self) -> Table:
        """All captures with their labels as columns, in order of their ids."""
        rows = self.snapshot.rows("captures", [*_SELECTED, "labels"]).sort_by("capture_id")
        return conditions.with_labels(rows.drop_columns(["labels"]), _label_columns(rows["labels"]))

    @cached_property
    def captures(self) -> Table:
        """One row per capture, with a column per label."""
        return self._everything if self._mask is None else self._everything.filter(self._mask)

    def where(self, condition: str | None, origin: str = "where") -> Self:
        """The captures that meet a condition as well. Raises `WrongUsage` for a mistake in it."""
        if not condition:
            return self
        chosen = conditions.mask(self._everything, condition, "captures", origin)
        mask = chosen if self._mask is None else compute.and_(self._mask, chosen)
        other = type(self)("", _of=(self._store, self.snapshot, mask))
        other._everything = self._everything
        return other

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
        if self._mask is None:
            return rows
        return rows.filter(compute.is_in(rows["capture_id"], value_set=self.captures["capture_id"].combine_chunks()))

    def to_pandas(self, name: str = "captures") -> pandas.DataFrame:
        """A table as a DataFrame."""
        frame: pandas.DataFrame = self.table(name).to_pandas()
        return frame

    def labels(self) -> list[str]:
        """The names of all labels."""
        return [name for name in self._everything.column_names if name not in CAPTURES.names]

    def must_have_label(self, name: str, origin: str) -> None:
        """Raise `WrongUsage` if no capture has this label."""
        if name not in self._everything.column_names:
            known = self.labels()
            hint = did_you_mean(name, known) or f" There are {', '.join(known) or 'none'}."
            raise WrongUsage(f'{origin}: no capture has a label "{name}".{hint}')


def _known(name: str) -> str:
    if name not in TABLES:
        raise WrongUsage(f'no table "{name}" ({", ".join(TABLES)}).{did_you_mean(name, TABLES)}')
    return name


def _label_columns(labels: Any) -> dict[str, Any]:
    """One column of texts per label."""
    import numpy

    whole: Any = labels.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], whole.type)
    offsets = whole.offsets.to_numpy()
    keys = whole.keys.slice(offsets[0], offsets[-1] - offsets[0]).dictionary_encode()
    values = whole.items.slice(offsets[0], offsets[-1] - offsets[0])
    rows = numpy.repeat(numpy.arange(len(whole)), numpy.diff(offsets))
    codes, columns = keys.indices.to_numpy(), {}
    for code, name in enumerate(keys.dictionary.to_pylist()):
        places = numpy.flatnonzero(codes == code)
        at = numpy.full(len(whole), -1, numpy.int64)
        at[rows[places]] = places
        columns[name] = values.take(pa.array(at, mask=at < 0))
    return dict(sorted(columns.items()))
