"""Which capture has which cause, with what share: the numbers behind top, trend and compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy

from tracealyze.fleet.arrow import Table, compute, pa

if TYPE_CHECKING:
    from tracealyze.fleet.capture_set import CaptureSet

USABLE = ("ok", "partial")


@dataclass(frozen=True)
class Incidence:
    """Pairs of a group, such as a cause, and a capture, each once. Arrays have one value per pair."""

    names: list[Any]
    """Value of each group."""
    group: Any
    capture: Any
    """Row of the capture in `CaptureSet.captures`."""
    share: Any
    """Sum over all rows of the pair; NaN if unknown."""
    time_ns: Any
    worst: Any
    """Row of the table with the largest share of the pair."""

    def of(self, group: int) -> Any:
        """The numbers of the pairs of a group."""
        return self._order[self._starts[group] : self._starts[group + 1]]

    @property
    def counts(self) -> Any:
        """By group, in how many captures it occurs."""
        return numpy.diff(self._starts)

    @property
    def _order(self) -> Any:
        return _cached(self, "order", lambda: numpy.argsort(self.group, kind="stable"))

    @property
    def _starts(self) -> Any:
        return _cached(
            self, "starts", lambda: numpy.searchsorted(self.group[self._order], numpy.arange(len(self.names) + 1))
        )


def _cached(owner: Any, name: str, make: Any) -> Any:
    if name not in vars(owner):
        vars(owner)[name] = make()
    return vars(owner)[name]


def incidence(fleet: CaptureSet, rows: Table, by: str, time: str, share: str) -> Incidence:
    """The pairs in rows of a table, grouped by a column. Rows without a value in it are out."""
    places = capture_places(fleet, rows["capture_id"])
    usable = compute.is_in(fleet.captures["status"], value_set=_texts(USABLE)).to_numpy()
    encoded = _dictionary(rows[by])
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(numpy.int64)
    kept = numpy.flatnonzero((codes >= 0) & (places >= 0))
    kept = kept[usable[places[kept]]]
    number = max(len(fleet.captures), 1)
    pairs, inverse = numpy.unique(codes[kept] * number + places[kept], return_inverse=True)
    times = _numbers(rows[time])[kept]
    shares = _numbers(rows[share])[kept]
    known = numpy.bincount(inverse, weights=~numpy.isnan(shares), minlength=len(pairs)) > 0
    summed = numpy.bincount(inverse, weights=numpy.nan_to_num(shares), minlength=len(pairs))
    by_share = numpy.argsort(numpy.nan_to_num(shares), kind="stable")
    worst = numpy.zeros(len(pairs), numpy.int64)
    worst[inverse[by_share]] = kept[by_share]
    return Incidence(
        names=encoded.dictionary.to_pylist(),
        group=pairs // number,
        capture=pairs % number,
        share=numpy.where(known, summed, numpy.nan),
        time_ns=numpy.bincount(inverse, weights=numpy.nan_to_num(times), minlength=len(pairs)),
        worst=worst,
    )


def capture_places(fleet: CaptureSet, ids: Any) -> Any:
    """For each id the row of the capture in `captures`, which are in order of their ids; -1 if there is none."""
    known = fleet.captures["capture_id"].to_numpy()
    wanted = ids.to_numpy()
    at = numpy.minimum(numpy.searchsorted(known, wanted), max(len(known) - 1, 0))
    return numpy.where(known[at] == wanted, at, -1) if len(known) else numpy.full(len(wanted), -1)


def _dictionary(column: Any) -> Any:
    encoded = column.dictionary_encode().unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0) if encoded.num_chunks else pa.array([], pa.string()).dictionary_encode()
    return encoded


def _numbers(column: Any) -> Any:
    return column.cast(pa.float64()).fill_null(numpy.nan).to_numpy()


def _texts(values: Any) -> Any:
    return pa.array(list(values))


class Visibility:
    """Which captures could show a cause: a capture filtered to files shows no network call, a log no call at all."""

    def __init__(self, fleet: CaptureSet) -> None:
        captures = fleet.captures
        self._usable = numpy.isin(numpy.array(captures["status"].to_pylist(), dtype=object), USABLE)
        self._syscalls = _dictionary(captures["syscalls"].fill_null(""))
        self._codes = self._syscalls.indices.to_numpy()
        self._has_calls = captures["calls"].fill_null(0).to_numpy() > 0
        self._filtered = captures["filtered"].fill_null(False).to_numpy()
        self._has_wall = captures["no_window"].is_null().to_numpy()
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
        lists = self._syscalls.dictionary.to_pylist()
        has_call = numpy.array([syscall in names.split(",") for names in lists], dtype=bool)[self._codes]
        return self._has_calls & (has_call | ~self._filtered)
