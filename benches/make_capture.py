"""Make a capture of any size out of a real one.

    python benches/make_capture.py 1GB .cache/big.strace

A shell runs the same mixed load three times under strace. What lies between the start of the second and of the third
run is a turn; it is repeated, each time with later stamps and ids of its own, until the size is reached. The shell
stays the parent of all, so the result reads like the capture of a long loop, with one root and its waits.

    seed     |head: shell, 1st run|turn: 2nd run|tail: 3rd run, end|
    capture  |head|turn|turn|turn|turn|turn|turn|turn|turn|tail|
"""

from __future__ import annotations

import argparse
import itertools
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

CACHE = Path(__file__).resolve().parent.parent / ".cache"
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
LARGEST_ID = 4_194_303
TRACER = ["strace", "-f", "-ttt", "-T", "-y"]
# Jobs beside each other, so that calls are cut in halves; many small processes; long and short lines; misses.
LOAD = """
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
# Where a thread's id may stand: the column, results, and the arguments that name somebody.
ID = re.compile(rb"^(\d+) +|(?:= |si_pid=|wait4\(|kill\(|parent_tid=\[)(\d+)\b", re.MULTILINE)
STAMP = re.compile(rb"^\d+ +(\d+)\.(\d{6})(?= )", re.MULTILINE)
STARTS_CHILD = re.compile(rb"\d+ +[\d.]+ (?:clone3?|v?fork)\(")


@dataclass(frozen=True)
class Slot:
    """A number in the text that differs from turn to turn."""

    begin: int
    end: int
    value: int
    show: Callable[[int], bytes]
    is_id: bool


class Text:
    """A piece of the seed, cut at its numbers, so that each further copy is one join."""

    def __init__(self, text: bytes, root: int, ids: frozenset[int]) -> None:
        slots = sorted(_slots(text, root, ids), key=lambda slot: slot.begin)
        ends = [0, *(slot.end for slot in slots)]
        begins = [*(slot.begin for slot in slots), len(text)]
        self._parts = [b""] * (2 * len(slots) + 1)
        self._parts[::2] = [text[end:begin] for end, begin in zip(ends, begins, strict=True)]
        # Thousands of places hold a few hundred different ids.
        kinds = {(slot.value, slot.show): slot for slot in slots}
        self._kinds = list(kinds.values())
        number = {key: at for at, key in enumerate(kinds)}
        self._places = [number[slot.value, slot.show] for slot in slots]

    def shifted(self, ids: int, micros: int) -> bytes:
        shown = [kind.show(kind.value + (ids if kind.is_id else micros)) for kind in self._kinds]
        self._parts[1::2] = [shown[place] for place in self._places]
        return b"".join(self._parts)


def _valid(thread: int) -> int:
    return thread if thread <= LARGEST_ID else thread % LARGEST_ID + 1


def _bare(thread: int) -> bytes:
    return b"%d" % _valid(thread)


def _column(thread: int) -> bytes:
    return b"%-5d " % _valid(thread)


def _stamp(micros: int) -> bytes:
    return b"%d.%06d" % divmod(micros, 1_000_000)


def _slots(text: bytes, root: int, ids: frozenset[int]) -> Iterator[Slot]:
    for match in ID.finditer(text):
        is_column = match[1] is not None
        begin, end = match.span() if is_column else match.span(2)
        number = int(match[1] or match[2])
        if number in ids and number != root:
            yield Slot(begin, end, number, _column if is_column else _bare, True)
    for match in STAMP.finditer(text):
        yield Slot(match.start(1), match.end(2), int(match[1] + match[2]), _stamp, False)


def make_seed(path: Path) -> None:
    """Capture the load, in a folder whose name says nothing about the machine."""
    if not shutil.which("strace"):
        sys.exit("strace is not installed; get it with: apt-get install strace")
    loop = 'for turn in 1 2 3; do sh -c "$LOAD" >/dev/null 2>&1; done; exit 0'
    with tempfile.TemporaryDirectory(prefix="load-") as folder:
        log = Path(folder) / "log"
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder, "LC_ALL": "C", "LOAD": LOAD}
        subprocess.run([*TRACER, "-o", str(log), "sh", "-c", loop], cwd=folder, env=environment, check=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(log, path)


def _pieces(seed: bytes) -> tuple[list[bytes], int]:
    """Head, turn and tail; the id of the root."""
    root = seed.split(None, 1)[0]
    lines = seed.splitlines(keepends=True)
    runs = [at for at, line in enumerate(lines) if line.split(None, 1)[0] == root and STARTS_CHILD.match(line)]
    _, second, third = runs
    return [b"".join(piece) for piece in (lines[:second], lines[second:third], lines[third:])], int(root)


def make(size: int, out: Path, seed_path: Path = CACHE / "seed.strace") -> None:
    """Write a capture of about that size, by less than a turn more or less."""
    if not seed_path.exists():
        make_seed(seed_path)
    seed = seed_path.read_bytes()
    if size < len(seed):
        # Smaller than what was captured: its beginning, up to a line's end.
        out.write_bytes(seed[: seed.rfind(b"\n", 0, size) + 1])
        return
    pieces, root = _pieces(seed)
    ids = frozenset(int(match) for match in re.findall(rb"^\d+", seed, re.MULTILINE))
    turn_ids = {int(match) for match in re.findall(rb"^\d+", pieces[1], re.MULTILINE)} - {root}
    starts = [int(b"".join(match)) for piece in pieces[1:] for match in STAMP.findall(piece)[:1]]
    step_ids, step_micros = max(turn_ids) - min(turn_ids) + 1, starts[1] - starts[0]
    head, turn, tail = (Text(piece, root, ids) for piece in pieces)
    unfinished = out.with_name(f"{out.name}.part")
    with unfinished.open("wb") as file:
        room = size - file.write(head.shifted(0, 0)) - len(pieces[2])
        for number in itertools.count():
            if room <= 0:
                break
            room -= file.write(turn.shifted(number * step_ids, number * step_micros))
        file.write(tail.shifted((number - 1) * step_ids, (number - 1) * step_micros))
    unfinished.rename(out)


def bytes_of(size: str) -> int:
    """`100M`, `1GB`, `1.5g`: a number of bytes."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]?)(?:i?B)?", size.strip(), re.IGNORECASE)
    if not match:
        raise argparse.ArgumentTypeError(f'"{size}" is not a size; say for example 100M or 1GB')
    return int(float(match[1]) * UNITS[match[2].upper()])


def cached(size: int) -> Path:
    """A capture of that size, made now or before."""
    path = CACHE / f"capture-{size}.strace"
    if not path.exists():
        CACHE.mkdir(exist_ok=True)
        # In a process of its own: its memory would count as that of the programs measured afterwards.
        subprocess.run([sys.executable, __file__, str(size), str(path)], check=True)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("size", type=bytes_of, help="100M, 1GB …")
    parser.add_argument("out", type=Path, help="file to write")
    asked = parser.parse_args()
    make(asked.size, asked.out)


if __name__ == "__main__":
    main()
