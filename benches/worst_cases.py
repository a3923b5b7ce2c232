"""Growth of time on the worst captures that are known: `python benches/worst_cases.py [NAME…]`, after `make setup`.

Each case is read and summarised at a size and at twice the size, in a process of its own. The exponent is that of the
growth of time: 1 is linear, 2 quadratic. It is printed, not asserted: it depends on what else the machine does.

names    calls of one task, each with another name       groups by name must not search a list
reuse    short children that all have one pid            the life that a wait returned must not be searched for
chain    each process waits for the next one             walks must not begin again for each of them
targets  one call on ever other paths                    as names, with normalised targets
futexes  threads that wake each other at ever other addresses
"""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

_RUN = "import sys, tracealyze; tracealyze.read(sys.argv[1]).summary().document(full=True)"
_REPEATS = 3


def _stamp(number: int) -> str:
    return f"{1_700_000_000 + number // 1000}.{number % 1000:03}"


def _names(size: int) -> Iterator[str]:
    for number in range(size):
        yield f"1 {_stamp(number)}000 sys{number}({number}) = 0 <0.000100>"


def _reuse(size: int) -> Iterator[str]:
    for number in range(size):
        at = _stamp(number)
        yield f"1 {at}000 clone(child_stack=NULL, flags=SIGCHLD) = 77 <0.000010>"
        yield f'77 {at}100 execve("/bin/a{number}", ["a"], 0x1 /* 1 var */) = 0 <0.000010>'
        yield f"77 {at}200 exit_group(0) = ?"
        yield f"77 {at}300 +++ exited with 0 +++"
        yield f"1 {at}400 wait4(77, [{{WIFEXITED(s) && WEXITSTATUS(s) == 0}}], 0, NULL) = 77 <0.000500>"


def _chain(size: int) -> Iterator[str]:
    """Process n creates n + 1 and waits for it; the last one ends first."""
    for number in range(size):
        yield f"{number + 2} {_stamp(2 * number)}000 clone(child_stack=NULL, flags=SIGCHLD) = {number + 3} <0.000010>"
        yield f"{number + 2} {_stamp(2 * number + 1)}000 wait4({number + 3},  <unfinished ...>"
    yield f"{size + 2} {_stamp(2 * size)}000 exit_group(0) = ?"
    yield f"{size + 2} {_stamp(2 * size)}100 +++ exited with 0 +++"
    for number in reversed(range(size)):
        moment = 4 * size - 2 * number
        waited = (moment - 2 * number - 1) / 1000
        yield (
            f"{number + 2} {_stamp(moment)}000 <... wait4 resumed>[{{WIFEXITED(s) && WEXITSTATUS(s) == 0}}], 0, NULL) "
            f"= {number + 3} <{waited:.6f}>"
        )
        yield f"{number + 2} {_stamp(moment)}100 +++ exited with 0 +++"


def _targets(size: int) -> Iterator[str]:
    for number in range(size):
        letters = "".join(chr(97 + int(digit)) for digit in str(number))
        yield f'1 {_stamp(number)}000 stat("/srv/{letters}/x", 0x7ffd) = -1 ENOENT (No such file) <0.000100>'


def _futexes(size: int) -> Iterator[str]:
    for number in range(size):
        at, address = _stamp(number), f"0x7f{number * 16:08x}"
        waiter, waker = (2, 3) if number % 2 else (3, 2)
        yield f"{waiter} {at}000 futex({address}, FUTEX_WAIT_PRIVATE, 0, NULL <unfinished ...>"
        yield f"{waker} {at}500 futex({address}, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000010>"
        yield f"{waiter} {at}600 <... futex resumed>) = 0 <0.000600>"


CASES: dict[str, tuple[Callable[[int], Iterator[str]], int]] = {
    "names": (_names, 40_000),
    "reuse": (_reuse, 20_000),
    "chain": (_chain, 20_000),
    "targets": (_targets, 40_000),
    "futexes": (_futexes, 40_000),
}
"""What writes each case, and its smaller size."""


def _seconds(file: Path) -> float:
    """The least of some times."""

    def once() -> float:
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", _RUN, str(file)], check=True)
        return time.perf_counter() - started

    return min(once() for _ in range(_REPEATS))


def main() -> None:
    names = sys.argv[1:] or list(CASES)
    print(f"{'case':10}{'size':>9}{'seconds':>9}{'twice':>9}{'exponent':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            write, size = CASES[name]
            taken = []
            for factor in (1, 2):
                file = Path(folder) / f"{name}-{factor}.strace"
                file.write_text("\n".join([*write(factor * size), ""]), encoding="utf-8")
                taken.append(_seconds(file))
            print(f"{name:10}{size:9,}{taken[0]:9.2f}{taken[1]:9.2f}{math.log2(taken[1] / taken[0]):10.2f}", flush=True)


if __name__ == "__main__":
    main()
