"""Which capture has which cause, with what share: the numbers behind top, trend and compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy

from tracealyze.fleet.arrow import compute, pa
from tracealyze.fleet.columns import Coder, numbers_of, places_of

if TYPE_CHECKING:
    from tracealyze.fleet.capture_set import CaptureSet


@dataclass(frozen=True)
class Incidence:
    """Pairs of a group, such as a cause, and a capture, each once. Arrays have one value per pair, by groups."""

    names: list[str]
    """Value of each group."""
    capture: Any
    """Place of the capture."""
    share: Any
    """Sum over all rows of the pair; NaN if unknown."""
    time_ns: Any
    starts: Any
    """By group, the number of its first pair, and at the end the number of pairs."""
    about: Mapping[str, list[str | None]]
    """By column and group, the value in one of its rows."""

    def of(self, group: int) -> slice:
        """The pairs of a group."""
        return slice(int(self.starts[group]), int(self.starts[group + 1]))

    @property
    def counts(self) -> Any:
        """By group, in how many captures it occurs."""
        return numpy.diff(self.starts)

    @property
    def seconds_ns(self) -> Any:
        """By group, its time in all captures."""
        groups = numpy.repeat(numpy.arange(len(self.names)), self.counts)
        return numpy.bincount(groups, weights=self.time_ns, minlength=len(self.names))


def incidence(fleet: CaptureSet, table: str, by: str, time: str, share: str, about: Sequence[str] = ()) -> Incidence:
    """The pairs in the rows of a table, grouped by a column. Rows without a value in it are out."""
    usable, number = fleet.usable, max(len(fleet.ids), 1)
    coder = Coder()
    values: dict[str, list[str | None]] = {name: [] for name in about}
    keys, times, shares = [], [], []
    for batch in fleet.snapshot.batches(table, list(dict.fromkeys(["capture_id", by, time, share, *about]))):
        places = places_of(fleet.ids, batch["capture_id"].to_numpy())
        codes = coder.codes(batch[by])
        kept = numpy.flatnonzero((codes >= 0) & (places >= 0))
        kept = kept[usable[places[kept]]]
        keys.append(codes[kept].astype(numpy.int64) * number + places[kept])
        times.append(numbers_of(batch[time])[kept])
        if share != time:
            shares.append(numbers_of(batch[share])[kept])
        _add_firsts(values, batch, codes, len(coder.names))
    names = coder.names
    key, heads, order = _sorted(keys)
    time_ns = _summed(times, order, heads)[0]
    summed, known = _summed(shares, order, heads) if shares else (time_ns, numpy.ones(len(time_ns), bool))
    pairs = key[heads]
    return Incidence(
        names=names,
        capture=pairs % number,
        share=numpy.where(known, summed, numpy.nan),
        time_ns=time_ns,
        starts=numpy.searchsorted(pairs, numpy.arange(len(names) + 1) * number),
        about=values,
    )


def _add_firsts(values: dict[str, list[str | None]], batch: Any, codes: Any, number: int) -> None:
    """Add the values of the first row of each group that is new in this batch: their numbers follow each other."""
    known = len(next(iter(values.values()))) if values else number
    if known == number:
        return
    rows = numpy.zeros(number - known, numpy.int64)
    # From the last row to the first, which stays.
    new = numpy.flatnonzero(codes >= known)[::-1]
    rows[codes[new] - known] = new
    for name, column in values.items():
        column.extend(batch[name].take(pa.array(rows)).to_pylist())


def _sorted(keys: list[Any]) -> tuple[Any, Any, Any]:
    """All keys in order, where each different one begins, and the order."""
    joined = numpy.concatenate(keys) if keys else numpy.empty(0, numpy.int64)
    keys.clear()
    # What Arrow has read is no longer needed, and as large as what comes now.
    pa.default_memory_pool().release_unused()
    order = numpy.argsort(joined, kind="stable")
    if len(order) < 1 << 31:
        order = order.astype(numpy.int32)
    joined = joined[order]
    is_head = numpy.ones(len(joined), bool)
    is_head[1:] = joined[1:] != joined[:-1]
    return joined, numpy.flatnonzero(is_head), order


def _summed(parts: list[Any], order: Any, heads: Any) -> tuple[Any, Any]:
    """The sums of values with the same key, and whether one of them is known."""
    values = numpy.concatenate(parts) if parts else numpy.empty(0)
    parts.clear()
    values = values[order]
    if not len(heads):
        return numpy.empty(0), numpy.empty(0, bool)
    known = numpy.logical_or.reduceat(~numpy.isnan(values), heads)
    return numpy.add.reduceat(numpy.nan_to_num(values, copy=False), heads), known


def examples(
    fleet: CaptureSet, table: str, by: str, share: str, wanted: Sequence[tuple[str, int]], columns: Sequence[str]
) -> list[dict[str, Any]]:
    """For each value of a column and place of a capture, the row with the largest share."""
    ids = pa.array([int(fleet.ids[place]) for _, place in wanted], pa.int64())
    names = list(dict.fromkeys(["capture_id", by, share, *columns]))
    chosen = compute.field("capture_id").isin(ids) & compute.field(by).isin(
        pa.array([name for name, _ in wanted], pa.string())
    )
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for row in fleet.snapshot.rows(table, names, chosen).to_pylist():
        key = (row[by], row["capture_id"])
        if key not in found or (row[share] or 0) > (found[key][share] or 0):
            found[key] = row
    return [found[name, int(fleet.ids[place])] for name, place in wanted]


class Visibility:
    """Which captures could show a cause: a capture filtered to files shows no network call, a log no call at all."""

    COLUMNS = ("status", "syscalls", "calls", "filtered", "no_window")
    """The columns of captures that tell it. A question that needs more of them loads all at once."""

    def __init__(self, fleet: CaptureSet) -> None:
        fleet.load(*self.COLUMNS)
        self._usable = fleet.usable
        self._syscalls = fleet.texts("syscalls")
        self._has_calls = numpy.nan_to_num(fleet.numbers("calls")) > 0
        self._filtered = numpy.nan_to_num(fleet.numbers("filtered")) > 0
        self._has_wall = fleet.texts("no_window").codes < 0
        self._known: dict[tuple[str | None, bool], Any] = {}

    def mask(self, syscall: str | None, *, needs_wall: bool) -> Any:
        """For each capture whether it could show a cause in this call."""
        key = (syscall, needs_wall)
        if key not in self._known:
            found = self._usable & self._has_wall if needs_wall else self._usable
            self._known[key] = found & self._shows(syscall) if syscall else found
        return self._known[key]

    def _shows(self, syscall: str | None) -> Any:
        """A capture without a filter shows all calls, one with a filter those that are in it, and a log none."""
        lists = [syscall in names.split(",") for names in self._syscalls.names]
        has_call = numpy.array([*lists, False], dtype=bool)[self._syscalls.codes]
        return self._has_calls & (has_call | ~self._filtered)
