"""The kinds of captures that the benchmarks read, because real captures differ.

A kind is a load that runs three times under strace. What lies between the start of the second and of the third run is
an iteration, which `make_capture.py` repeats.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import renderings

_STRACE = ("strace", "-f", "-ttt", "-T", "-y")

# Concurrent jobs, so that calls are cut in halves; many small processes; long and short lines; failed lookups.
_MIXED = """
find /usr/lib -name 'lib*a*' -maxdepth 2 | sort | uniq -c | tail -3 &
python3 -S -c 'import json, email.message, unittest, http.client' &
wait
if command -v git; then
    rm -rf r; git init -q r; cp /usr/lib/os-release r/f; git -C r add f
    git -C r -c user.name=n -c user.email=e commit -q -m one; git -C r log --stat | cat
fi
for name in one two three four; do
    echo "int $name(int x) { return x + sizeof(\\"$name\\"); }" > $name.c
    if command -v gcc; then gcc -include stdio.h -c $name.c; else cat /nowhere/$name.h $name.c; fi
done
tar cf - /usr/lib/python3* 2>/dev/null | head -c 300000 | gzip -1 | wc -c
sed -n 's/^NAME=//p' /etc/os-release; awk -F: '{ print $1 }' /etc/passwd | grep -c o
"""
_SHORT = "for number in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done"
# About 200 KB of lines by one process.
_FIND = "exec find /usr/bin -maxdepth 1 -newer /etc/passwd"
# One process for the whole capture; each iteration begins with a stat of /iteration.
_ONE = """
import os
for _ in range(3):
    os.path.exists("/iteration")
    for folder, folders, names in os.walk("/usr/lib/python3"):
        for name in names[:20]:
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    file.read(100)
            except OSError:
                pass
"""
# As many threads, which live as long as the capture and work at the same time.
_THREADS = """
import os, sys, threading
# Threads that wait for the interpreter would look every 5 ms whether it is free.
sys.setswitchinterval(10)
barrier = threading.Barrier(65)
names = [os.path.join(folder, name) for folder, _, names in os.walk("/usr/lib/python3") for name in names]
def work(number):
    for _ in range(3):
        barrier.wait()
        for name in names[number::64][:8]:
            os.stat(name)
            with open(name, "rb") as file:
                file.read(100)
        barrier.wait()
for number in range(64):
    threading.Thread(target=work, args=(number,)).start()
for _ in range(3):
    os.path.exists("/iteration")
    barrier.wait()
    barrier.wait()
"""


@dataclass(frozen=True)
class Notation:
    """Where numbers that differ from iteration to iteration stand in the lines of a tracer."""

    # An id of a task, in group 1 at the start of a line, else in group 2.
    ids: re.Pattern[bytes]
    # A time: whole seconds in group 1, decimals in group 2.
    stamps: re.Pattern[bytes]
    decimals: int
    show_first_id: Callable[[int], bytes]


STRACE = Notation(
    re.compile(rb"^(\d+) +|(?:= |si_pid=|wait4\(|kill\(|parent_tid=\[)(\d+)\b", re.MULTILINE),
    re.compile(rb"^\d+ +(\d+)\.(\d{6})(?= )", re.MULTILINE),
    6,
    lambda number: b"%-5d " % number,
)
TRUSS = Notation(
    re.compile(rb"^(\d+):\t|(?:= |P_PID, )(\d+)\b", re.MULTILINE),
    re.compile(rb"^\d+:\t *(\d+)\.(\d{4})(?=\t)", re.MULTILINE),
    4,
    lambda number: b"%d:\t" % number,
)


@dataclass(frozen=True)
class Kind:
    """A kind of capture."""

    about: str
    command: tuple[str, ...]
    tracer: tuple[str, ...] = _STRACE
    # The first line of each run.
    begins: re.Pattern[bytes] = re.compile(rb"\d+ +[\d.]+ (?:clone3?|v?fork)\(")
    # Each iteration has paths of its own, as in work that is not repeated.
    own_paths: bool = True
    # The tasks live as long as the capture, so ids are not shifted.
    same_tasks: bool = False
    # One file per process.
    is_split: bool = False
    render: Callable[[str], str] | None = None
    notation: Notation = STRACE


def _shell(load: str) -> tuple[str, ...]:
    return ("sh", "-c", 'for run in 1 2 3; do sh -c "$0" >/dev/null 2>&1; done; exit 0', load)


def _python(program: str) -> tuple[str, ...]:
    return ("python3", "-S", "-c", program)


_ITERATION = re.compile(rb'\d+ +[\d.]+ \w+\([^"]*"/iteration"')

KINDS = {
    "repetitive": Kind("the same work again and again", _shell(_MIXED), own_paths=False),
    "distinct": Kind("the same load; each iteration has paths of its own", _shell(_MIXED)),
    "one-process": Kind("one process reads files", _python(_ONE), begins=_ITERATION, same_tasks=True),
    "processes": Kind(
        "very many short processes, -e trace=process",
        _shell(_SHORT),
        tracer=("strace", "-f", "-ttt", "-T", "-e", "trace=process"),
    ),
    "threads": Kind("64 threads read files", _python(_THREADS), begins=_ITERATION, same_tasks=True),
    "ff": Kind("strace -ff: a file per process", _shell(_FIND), is_split=True),
    "no-durations": Kind("strace without -T", _shell(_MIXED), render=renderings.without_durations),
    "truss": Kind(
        "Solaris truss -dDE",
        _shell(_MIXED),
        begins=re.compile(rb"\d+:\t.*\tv?forkx\(0\)"),
        render=renderings.solaris_truss,
        notation=TRUSS,
    ),
}
