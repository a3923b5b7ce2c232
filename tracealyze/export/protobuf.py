"""Protocol buffers, the writing side: https://protobuf.dev/programming-guides/encoding/.

A message is its fields, one after the other: a varint with the number of the field and its wire type (0 varint, 2
length and content), then the value.
"""

from __future__ import annotations

from collections.abc import Iterable

_VARINT, _CONTENT = 0, 2
_WORD = (1 << 64) - 1
_SMALL = [bytes([value]) for value in range(0x80)]
"""Integers of one group, which most are."""


def varint(value: int) -> bytes:
    """An integer in groups of 7 bits, the lowest first. Negative ones are 64 bits in two's complement."""
    if 0 <= value <= 0x7F:
        return _SMALL[value]
    value &= _WORD
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


def integer(number: int, value: int) -> bytes:
    """A field of type int32, int64, uint32, uint64, bool or enum."""
    return varint(number << 3 | _VARINT) + varint(value)


def content(number: int, value: bytes | str) -> bytes:
    """A field of type string, bytes or message. Lone surrogates of a string are replaced."""
    value = value.encode(errors="replace") if isinstance(value, str) else value
    return varint(number << 3 | _CONTENT) + varint(len(value)) + value


def packed(number: int, values: Iterable[int]) -> bytes:
    """A repeated field of integers."""
    return content(number, b"".join(map(varint, values)))
