"""Programs that behave differently under a tracer: what happens, and how to avoid it."""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Iterator

_ELF = b"\x7fELF"
_LEAK_CHECKS = (b"__lsan_do_leak_check", b"__lsan_init", b"__asan_init")


def remarks(path: str, command: str, *, is_root: bool) -> Iterator[str]:
    """What to know before a program is traced. `command` is what the user typed."""
    try:
        mode = os.stat(path).st_mode
        has_leak_check = _has_leak_check(path)
    except (OSError, ValueError):
        return
    if mode & (stat.S_ISUID | stat.S_ISGID) and not is_root:
        kind = "setuid" if mode & stat.S_ISUID else "setgid"
        yield (
            f"{command} is a {kind} program. Under a tracer it runs without its additional privileges and may fail. "
            "To trace it with them, trace as root: sudo tracealyze record -- COMMAND"
        )
    if has_leak_check and "detect_leaks=0" not in os.environ.get("ASAN_OPTIONS", "") + os.environ.get(
        "LSAN_OPTIONS", ""
    ):
        yield (
            f"{command} is built with a sanitizer whose leak check fails under a tracer and changes the exit status. "
            "Run it as: ASAN_OPTIONS=detect_leaks=0 LSAN_OPTIONS=detect_leaks=0 tracealyze record -- COMMAND"
        )


def _has_leak_check(path: str) -> bool:
    """Whether a program contains LeakSanitizer, or names its library's functions."""
    with open(path, "rb") as file:
        if file.read(len(_ELF)) != _ELF:
            return False
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return any(content.find(name) >= 0 for name in _LEAK_CHECKS)
