"""Two small captures, the second one worse, to see the gate fail without breaking anything."""

from __future__ import annotations

from pathlib import Path

_START = """\
100 1700000010.000000 execve("/usr/bin/deploy", ["deploy"], 0x7ffd /* 1 var */) = 0 <0.000500>
100 1700000010.001000 openat(AT_FDCWD, "/etc/deploy.conf", O_RDONLY) = 3 <0.000020>
100 1700000010.001100 read(3, "target=web"..., 4096) = 64 <0.000010>
100 1700000010.001200 close(3) = 0 <0.000005>
"""
_RETRY = (
    '100 1700000010.{at:06} openat(AT_FDCWD, "/run/web.ready", O_RDONLY) = -1 ENOENT (No such file or directory) '
    "<0.000015>\n"
)
_SLEEP = (
    "100 1700000010.100000 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=2, tv_nsec=0}, 0x7ffe) = 0 <2.000100>\n"
    "100 1700000012.101000 exit_group(0) = ?\n"
    "100 1700000012.101100 +++ exited with 0 +++\n"
)
_END = "100 1700000010.002000 exit_group(0) = ?\n100 1700000010.002100 +++ exited with 0 +++\n"


def captures(folder: Path) -> tuple[Path, Path]:
    """A good capture, and one with a new retry loop and a new sleep."""
    before, after = folder / "before.strace", folder / "after.strace"
    before.write_text(_START + _END, encoding="utf-8")
    retries = "".join(_RETRY.format(at=2000 + 100 * number) for number in range(40))
    after.write_text(_START + retries + _SLEEP, encoding="utf-8")
    return before, after
