"""Columns of many captures in little memory: texts as numbers of their values, rows as places of their captures."""

from __future__ import annotations

from collections.abc import Iterable
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


def joined_texts(batches: Iterable[tuple[Any, Any]], ids: Any) -> Texts:
    """Ids of captures and their texts, as a column in the order of `ids`."""
    coder, codes = Coder(), numpy.full(len(ids), -1, numpy.int32)
    for own, values in batches:
        places = places_of(ids, own.to_numpy())
        kept = places >= 0
        codes[places[kept]] = coder.codes(values)[kept]
    return Texts(coder.names, codes)


def places_of(ids: Any, wanted: Any) -> Any:
    """For each number its place in ordered ids, or -1. Rows of one capture are neighbours, so each is sought once."""
    if not len(wanted) or not len(ids):
        return numpy.full(len(wanted), -1)
    starts = numpy.flatnonzero(numpy.concatenate(([True], wanted[1:] != wanted[:-1])))
    heads = wanted[starts]
    at = numpy.minimum(numpy.searchsorted(ids, heads), len(ids) - 1)
    places = numpy.where(ids[at] == heads, at, -1)
    return numpy.repeat(places, numpy.diff(numpy.append(starts, len(wanted))))


def label(labels: Any, name: str) -> Any:
    """The values of one label in a column of labels."""
    return compute.map_lookup(labels, name, "first")


def label_names(batches: Iterable[Any]) -> list[str]:
    """All names in columns of labels, sorted."""
    found: set[str] = set()
    for batch in batches:
        column = batch.column(0)
        start, end = column.offsets[0].as_py(), column.offsets[-1].as_py()
        found.update(compute.unique(column.keys.slice(start, end - start)).to_pylist())
    return sorted(found)
