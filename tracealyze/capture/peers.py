"""The other ends of sockets on this machine: UNIX sockets by sock_diag, TCP connections by /proc/net/tcp."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from functools import cache

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_DUMP = 0x301
"""NLM_F_REQUEST | NLM_F_DUMP"""
_DONE, _ERROR = 3, 2
_SHOW_PEER = 4
_PEER = 2
"""Attribute UNIX_DIAG_PEER: the inode of the other end."""
_HEAD = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBHIIIII")
_MESSAGE = struct.Struct("=BBBBIII")
_ATTRIBUTE = struct.Struct("=HH")
_TIME_LIMIT_S = 0.5
_MAX_BYTES = 1 << 22


class Sockets:
    """Peers by inodes, which name sockets in /proc/PID/fd."""

    def __init__(self, proc: str) -> None:
        self._proc = proc
        self._tcp = cache(self._read_tcp)
        self._unix = cache(_unix_peers)

    def peers(self, pid: int, inode: str) -> list[str]:
        """The inodes of the other ends; empty if they are on another machine, or unknown."""
        if inode in (unix := self._unix()):
            return [unix[inode]]
        by_inode, by_ends = self._tcp(pid)
        local, remote = by_inode.get(inode, ("", ""))
        return [by_ends[remote, local]] if (remote, local) in by_ends else []

    def _read_tcp(self, pid: int) -> tuple[dict[str, tuple[str, str]], dict[tuple[str, str], str]]:
        """The ends of each connection by inode, and inodes by ends. Each process may have a network of its own."""
        found: dict[str, tuple[str, str]] = {}
        for name in ("tcp", "tcp6"):
            with suppress(OSError), open(f"{self._proc}/{pid}/net/{name}", encoding="ascii", errors="replace") as file:
                rows = [line.split() for line in file.read(_MAX_BYTES).splitlines()[1:]]
                found |= {row[9]: (_short(row[1]), _short(row[2])) for row in rows if len(row) > 9 and row[9] != "0"}
        return found, {ends: inode for inode, ends in found.items()}


def _short(end: str) -> str:
    """An address as in /proc/net/tcp, an IPv4 one in IPv6 without its prefix."""
    address, _, port = end.rpartition(":")
    return f"{address.removeprefix('0000000000000000FFFF0000')}:{port}"


def _unix_peers() -> dict[str, str]:
    """The inode of the other end of each connected UNIX socket, as strings; empty if the kernel does not tell."""
    request = _REQUEST.pack(getattr(socket, "AF_UNIX", 1), 0, 0, 0xFFFFFFFF, 0, _SHOW_PEER, 0, 0)
    message = _HEAD.pack(_HEAD.size + len(request), _SOCK_DIAG_BY_FAMILY, _DUMP, 1, 0) + request
    found: dict[str, str] = {}
    with (
        suppress(OSError, AttributeError, struct.error),
        socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as diag,
    ):
        diag.settimeout(_TIME_LIMIT_S)
        diag.send(message)
        while True:
            for kind, body in _messages(diag.recv(1 << 16)):
                if kind in (_DONE, _ERROR):
                    return found
                found |= _peer(body)
    return found


def _messages(text: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + _HEAD.size <= len(text):
        length, kind, *_ = _HEAD.unpack_from(text, at)
        yield kind, text[at + _HEAD.size : at + length]
        at += max((length + 3) & ~3, _HEAD.size)


def _peer(body: bytes) -> dict[str, str]:
    _, _, _, _, inode, _, _ = _MESSAGE.unpack_from(body)
    at = _MESSAGE.size
    while at + _ATTRIBUTE.size <= len(body):
        length, kind = _ATTRIBUTE.unpack_from(body, at)
        if kind == _PEER:
            return {str(inode): str(struct.unpack_from("=I", body, at + _ATTRIBUTE.size)[0])}
        at += max((length + 3) & ~3, _ATTRIBUTE.size)
    return {}
