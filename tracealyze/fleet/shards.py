"""Shards: a division of captures among jobs that know nothing of each other, by rendezvous hashing.

Thaler and Ravishankar, A Name-Based Mapping Scheme for Rendezvous (1996): each name goes to the shard with the highest
hash of both, so that another number of shards moves few captures.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from tracealyze.base.errors import WrongUsage

if TYPE_CHECKING:
    from tracealyze.fleet.sources import Item

_MAX_SHARDS = 10_000


def shard_of(text: str) -> tuple[int, int]:
    """Number and count of `3/16`. Raises `WrongUsage`.

    >>> shard_of("3/16")
    (3, 16)
    """
    match = re.fullmatch(r"(\d{1,5})/(\d{1,5})", text.strip())
    number, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= count <= _MAX_SHARDS:
        raise WrongUsage(f'--shard: "{text}" is not i/n with i from 1 to n; for 16 jobs write 1/16 to 16/16.')
    return number, count


def of_shard(items: Sequence[Item], number: int, count: int) -> list[Item]:
    """The items of one shard. Each item is in exactly one."""
    import numpy

    digests = b"".join(blake2b(each.uri.encode(errors="surrogateescape"), digest_size=8).digest() for each in items)
    names = numpy.frombuffer(digests, dtype=numpy.uint64)
    best, winner = numpy.zeros(len(items), numpy.uint64), numpy.zeros(len(items), numpy.int32)
    for shard in range(count):
        digest = blake2b(str(shard).encode(), digest_size=8).digest()
        scores = _mixed(names ^ numpy.frombuffer(digest, dtype=numpy.uint64))
        is_better = (scores > best) | (shard == 0)
        best, winner = numpy.where(is_better, scores, best), numpy.where(is_better, shard, winner)
    return [item for item, shard in zip(items, winner, strict=True) if shard == number - 1]


def _mixed(values: Any) -> Any:
    """The finalizer of SplitMix64 (Steele, Lea and Flood, 2014): all bits of the result depend on all bits."""
    import numpy

    mixed = numpy.asarray(values, dtype=numpy.uint64)
    mixed = (mixed ^ (mixed >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> numpy.uint64(31))
