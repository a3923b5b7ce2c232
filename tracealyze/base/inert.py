"""Values of a trace without what the author of the trace wrote: safe in a ticket, and for a language model.

Everything is replaced unless it is known to be harmless: syscalls, constants, numbers, words of the engine, short names
of programs, well-known paths. The rest becomes a name with a number, such as `/etc/…/path-2.conf`.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Mapping
from typing import Any

from tracealyze import _engine
from tracealyze.base.program_names import short

_PROGRAM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,19}")
"""The kernel keeps 15 characters of a name. Longer names may be sentences."""
_MAX_PARTS = 3
_CONSTANT = re.compile(
    r"(?:SIG[A-Z0-9]{2,7}|ERESTART[A-Z_]{0,13}|(?:BLK|DKIO|EVIO|FIO|MNTIO|SIO|SNDRV|TC|TIO|TUN)[A-Z0-9_]{1,20}"
    r"|(?:BTRFS_IOC|CLOCK|DM|DRM|EPOLL_CTL|F|FS_IOC|FUTEX|I|IPC|KVM|LOCK|LOOP|MADV|PERF_EVENT_IOC|PR|RTC|SHUT|SO"
    r"|UFFDIO|USBDEVFS|ZFS_IOC)(?:_[A-Z0-9]{1,12}){1,4})"
)
"""Signals, and requests with the prefixes that they have in the headers of systems."""
_ERRORS = frozenset((*errno.errorcode.values(), "ENOTSUP", "EWOULDBLOCK", "ENOIOCTLCMD"))
_NUMBER = re.compile(r"(?:0x[0-9a-f]{1,16}|-?\d{1,20}(?:\.\d{1,9})?|N)%?")
_KERNEL_OBJECT = re.compile(
    r"(?:pipe|socket):\[\d+\]|anon_inode:(?:\[(?:event(?:fd|poll)|timerfd|signalfd|pidfd)\]|inotify)"
)
_SHAPE = re.compile(r"([\w ]+)\((.*)\)(?: (\w+))?", re.DOTALL)
_PEER = re.compile(r"(?P<host>[^\s/]*[^\s/:]):(?P<port>\d{1,5}|N)")
_LOOPBACK = re.compile(r"127(?:\.\d{1,3}){3}|\[?::1\]?|0\.0\.0\.0|localhost")
_LIBRARY = re.compile(
    r"(?:lib(?:c|m|dl|rt|pthread|resolv|nsl|z|gcc_s|stdc\+\+|ssl|crypto)|ld-linux[\w-]{0,16})\.so[.\d]{0,8}"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORDS = _words(
    # What the engine writes into its tables: classes, kinds, ways, outcomes, units.
    "user sleep child disk network ipc poll lock terminal process memory stopped external gap other idle polled "
    "poll-lag read write copy list search marker probe file files directory requests down up ok failed "
    "interrupted noreturn open unavailable exact upper-bound none descriptor signal processes threads thread "
    "input output client event futex killed planned took reading writing any data standard error in exclusive "
    "shared constant linear quadratic cubic irregular ns us µs ms s min h sec seconds"
)

_FOLDERS = _words(
    "bin boot dev dev/pts dev/shm etc home lib lib64 media mnt nix nix/store opt proc proc/self root run sbin srv "
    "sys sys/class sys/devices sys/fs sys/fs/cgroup tmp usr usr/bin usr/include usr/lib usr/lib64 usr/local "
    "usr/local/bin usr/local/lib usr/sbin usr/share var var/cache var/lib var/log var/run var/spool var/tmp"
)
_PATHS = _words(
    "/ . .. /dev/full /dev/null /dev/ptmx /dev/random /dev/tty /dev/urandom /dev/zero /etc/fstab /etc/group "
    "/etc/hostname /etc/hosts /etc/ld.so.cache /etc/ld.so.preload /etc/localtime /etc/mnttab /etc/mtab "
    "/etc/nsswitch.conf /etc/passwd /etc/resolv.conf /etc/services /proc/cpuinfo /proc/filesystems /proc/loadavg "
    "/proc/meminfo /proc/mounts /proc/self/exe /proc/self/maps /proc/self/mountinfo /proc/self/mounts "
    "/proc/self/stat /proc/self/status /proc/stat /run/nscd/socket /var/run/nscd/socket"
)
_EXTENSIONS = _words(
    "a c cfg class conf db gz h ini jar js json lock log o pid pl pm py pyc rb rs sh so sock sqlite toml txt xml "
    "xz yaml yml zst"
)

_COMMANDS = ("argv", "commands")
_PROGRAMS = ("program", "program_name", "victim", "waited_by", "deaf")
_DID = "holder_did"
"""A program, followed by a call."""
_LOG_COLUMNS = frozenset(("after", "messages", "stated"))
"""Of tables whose targets are messages."""
_TEXT_OF_LOGS = ("message", "item", "first_stage", "last_stage", "after", "before")


class InertNames:
    """Replaces names. One name of the trace has the same replacement everywhere."""

    def __init__(self) -> None:
        self._numbers: dict[str, dict[str, int]] = {}

    def row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """A row of a table with inert values."""
        is_log = row.get("class") == "gap" or not _LOG_COLUMNS.isdisjoint(row)
        return {name: self._value("message" if is_log and name == "target" else name, row[name]) for name in row}

    def program(self, path: str) -> str:
        """The last part of a program's path, if it is short."""
        name = short(path)
        is_name = _PROGRAM.fullmatch(name) and len(re.findall(r"[A-Za-z]+", name)) <= _MAX_PARTS
        return name if is_name else self._replaced("program", path)

    def target(self, text: str) -> str:
        """What a call works on: a well-known path, a number, or the kind of object with a number."""
        if text in _PATHS or _KERNEL_OBJECT.fullmatch(text) or self._is_known(text):
            return text
        if peer := _PEER.fullmatch(text):
            host = peer["host"]
            return f"{host if _LOOPBACK.fullmatch(host) else self._replaced('host', host)}:{peer['port']}"
        if re.match(r"[A-Za-z0-9]{2,8}:\[", text):
            return self._replaced("socket", text)
        return self._path(text) if "/" in text and text.isprintable() else self._replaced("name", text)

    def _value(self, name: str, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [self._value(name, each) for each in value]
        if not isinstance(value, str) or not value:
            return value
        if name in _PROGRAMS or name.endswith("_program"):
            return self.program(value)
        if name in _COMMANDS:
            return self._command(value)
        if name == _DID:
            program, _, did = value.partition(" ")
            return f"{self.program(program)} {self._phrase(did)}"
        if name in _TEXT_OF_LOGS:
            return self._replaced("message", value)
        return self._phrase(value)

    def _phrase(self, text: str) -> str:
        """Words that are all known, such as a call with its error, or a shape, or else a target."""
        if shape := _SHAPE.fullmatch(text):
            call, target, outcome = (each or "" for each in shape.groups())
            names = [self._words(call), f"({self.target(target) if target else ''})", self._words(outcome)]
            return f"{names[0]}{names[1]} {names[2]}".rstrip()
        return text if self._are_known(text) else self.target(text)

    def _words(self, text: str) -> str:
        return text if not text or self._are_known(text) else self._replaced("name", text)

    def _are_known(self, text: str) -> bool:
        return all(map(self._is_known, text.split(" ")))

    @staticmethod
    def _is_known(word: str) -> bool:
        is_name = (
            word in _WORDS
            or word in _engine.FORMATS
            or word in _engine.SYSCALLS
            or word in _EXTENSIONS
            or word in _ERRORS
        )
        return is_name or bool(_CONSTANT.fullmatch(word) or _NUMBER.fullmatch(word))

    def _command(self, text: str) -> str:
        program, _, arguments = text.partition(" ")
        return " ".join([self.program(program), *([self._replaced("arguments", arguments)] if arguments else [])])

    def _path(self, text: str) -> str:
        *folders, name = text.split("/")
        known = folders[1:] if not folders[0] else []
        while known and "/".join(known) not in _FOLDERS:
            known.pop()
        root = "".join(f"/{folder}" for folder in known)
        between = "/" if folders == ["", *known] else "/…/" if not folders[0] else "…/"
        if _LIBRARY.fullmatch(name):
            return f"{root}{between}{name}"
        _, dot, extension = name.rpartition(".")
        ending = f".{extension}" if dot and extension in _EXTENSIONS else ""
        return f"{root}{between}{self._replaced('path', text)}{ending}"

    def _replaced(self, kind: str, text: str) -> str:
        numbers = self._numbers.setdefault(kind, {})
        return f"{kind}-{numbers.setdefault(text, len(numbers) + 1)}"
