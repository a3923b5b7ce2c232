"""Columns of many captures in little memory: texts as numbers of their values, rows as places of their captures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy

from tracealyze.fleet.arrow import compute, pa


@dataclass(frozen=True)
class Texts:
    """A column of texts. The code of each is its number in `names`, or -1 without one."""

    names: list[str]
    codes: Any

    def take(self, places: Any) -> Any:
        """The texts at some places as an Arrow array; none for a place of -1."""
        codes = numpy.where(places >= 0, self.codes[numpy.maximum(places, 0)], -1) if len(self.codes) else places
        return pa.array(self.names, pa.string()).take(pa.array(codes, mask=codes < 0))


class Coder:
    """Gives each text a number, the same in all batches."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def codes(self, values: Any) -> Any:
        """The number of each text, -1 for a missing one."""
        encoded = values.dictionary_encode()
        own = [self.numbers.setdefault(name, len(self.numbers)) for name in encoded.dictionary.to_pylist()]
        at = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return numpy.array([*own, -1], dtype=numpy.int32)[at]

    @property
    def names(self) -> list[str]:
        """The texts in order of their numbers."""
        return list(self.numbers)


def places_of(ids: Any, wanted: Any) -> Any:
    """For each number its place in ordered ids, or -1. Rows of one capture are neighbours, so each is sought once."""
    if not len(wanted) or not len(ids):
        return numpy.full(len(wanted), -1)
    starts = numpy.flatnonzero(numpy.concatenate(([True], wanted[1:] != wanted[:-1])))
    # Numbers that are sought in order are found several times faster: their neighbours are in the cache.
    order = numpy.argsort(wanted[starts])
    heads = wanted[starts][order]
    at = numpy.minimum(numpy.searchsorted(ids, heads), len(ids) - 1)
    places = numpy.empty(len(heads), numpy.int64)
    places[order] = numpy.where(ids[at] == heads, at, -1)
    return numpy.repeat(places, numpy.diff(numpy.append(starts, len(wanted))))


class Reader:
    """Puts columns of captures, which come in batches, in the order of `ids`: texts as `Texts`, others as numbers."""

    def __init__(self, ids: Any, texts: Iterable[str], numbers: Iterable[str]) -> None:
        self._ids = ids
        self._coders = {name: Coder() for name in texts}
        self._codes = {name: numpy.full(len(ids), -1, numpy.int32) for name in self._coders}
        self._numbers = {name: numpy.full(len(ids), numpy.nan) for name in numbers}

    def take(self, ids: Any, columns: Mapping[str, Any]) -> None:
        """Take the columns of some captures."""
        places = places_of(self._ids, ids.to_numpy())
        kept = places >= 0
        for name, coder in self._coders.items():
            self._codes[name][places[kept]] = coder.codes(columns[name])[kept]
        for name, values in self._numbers.items():
            values[places[kept]] = numbers_of(columns[name])[kept]

    @property
    def columns(self) -> dict[str, Any]:
        """All that was taken, by name."""
        return {name: Texts(coder.names, self._codes[name]) for name, coder in self._coders.items()} | self._numbers


def numbers_of(values: Any) -> Any:
    """A column of numbers or of truth values as floating-point numbers, NaN where there is none."""
    plain = values.cast(pa.int8()) if pa.types.is_boolean(values.type) else values
    return plain.cast(pa.float64(), safe=False).fill_null(numpy.nan).to_numpy()


def label(labels: Any, name: str) -> Any:
    """The values of one label in a column of labels."""
    offsets = labels.offsets.to_numpy()
    keys, values = (each.slice(offsets[0], offsets[-1] - offsets[0]) for each in (labels.keys, labels.items))
    found = numpy.flatnonzero(compute.equal(keys, name).to_numpy(zero_copy_only=False))
    at = numpy.full(len(labels), -1)
    at[numpy.searchsorted(offsets[1:] - offsets[0], found, side="right")] = found
    return values.take(pa.array(at, mask=at < 0))


def label_names(batches: Iterable[Any]) -> list[str]:
    """All names in columns of labels, sorted."""
    found: set[str] = set()
    for batch in batches:
        column = batch.column(0)
        start, end = column.offsets[0].as_py(), column.offsets[-1].as_py()
        found.update(compute.unique(column.keys.slice(start, end - start)).to_pylist())
    return sorted(found)
