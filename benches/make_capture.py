"""Make a capture of a kind and of any size out of a real one.

    python benches/make_capture.py distinct 1GB .cache/big.strace

What lies between the start of the second and of the third run of a load is an iteration. It is repeated, each time
with later stamps, other ids and other paths, until the size is reached. The parent of all stays the same, so the result
reads like the capture of a long loop.

    seed     |head: start, 1st run|iteration: 2nd run|tail: 3rd run, end|
    capture  |head|iteration|iteration|iteration|iteration|iteration|tail|
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

from kinds import KINDS, Kind

CACHE = Path(__file__).resolve().parent.parent / ".cache"
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
LARGEST_ID = 4_194_303
# The first folder of an absolute path, quoted or behind a descriptor; the number of the iteration is added to its name.
PATH = re.compile(rb'["<]/\w+(?=/)')


@dataclass(frozen=True)
class Shift:
    """By how much an iteration differs from the first one."""

    ids: int
    ticks: int
    number: int


@dataclass(frozen=True)
class Slot:
    """A place in the text that differs from iteration to iteration."""

    begin: int
    end: int
    value: int
    show: Callable[[int, Shift], bytes]


class Piece:
    """A piece of the seed, cut at its slots, so that each further copy is one join."""

    def __init__(self, text: bytes, kind: Kind, root: int, ids: frozenset[int]) -> None:
        slots = sorted(_slots(text, kind, root, ids), key=lambda slot: slot.begin)
        ends = [0, *(slot.end for slot in slots)]
        begins = [*(slot.begin for slot in slots), len(text)]
        self._parts = [b""] * (2 * len(slots) + 1)
        self._parts[::2] = [text[end:begin] for end, begin in zip(ends, begins, strict=True)]
        # Thousands of places hold a few hundred different ids.
        kinds = {(slot.value, slot.show): at for at, slot in enumerate(slots)}
        self._values = list(kinds)
        number = {key: at for at, key in enumerate(kinds)}
        self._places = [number[slot.value, slot.show] for slot in slots]

    def shifted(self, shift: Shift) -> bytes:
        shown = [show(value, shift) for value, show in self._values]
        self._parts[1::2] = [shown[place] for place in self._places]
        return b"".join(self._parts)


def _valid(thread: int) -> int:
    return thread if thread <= LARGEST_ID else thread % LARGEST_ID + 1


def _slots(text: bytes, kind: Kind, root: int, ids: frozenset[int]) -> Iterator[Slot]:
    notation, digits = kind.notation, kind.notation.decimals
    unit = 10**digits

    def first_id(value: int, shift: Shift) -> bytes:
        return notation.show_first_id(_valid(value + shift.ids))

    def other_id(value: int, shift: Shift) -> bytes:
        return b"%d" % _valid(value + shift.ids)

    def stamp(value: int, shift: Shift) -> bytes:
        seconds, rest = divmod(value + shift.ticks, unit)
        return b"%d.%0*d" % (seconds, digits, rest)

    def path(_: int, shift: Shift) -> bytes:
        return b"%d" % shift.number if shift.number else b""

    for match in [] if kind.same_tasks else notation.ids.finditer(text):
        is_first = match[1] is not None
        begin, end = match.span() if is_first else match.span(2)
        number = int(match[1] or match[2])
        if number in ids and number != root:
            yield Slot(begin, end, number, first_id if is_first else other_id)
    for match in notation.stamps.finditer(text):
        yield Slot(match.start(1), match.end(2), int(match[1] + match[2]), stamp)
    for match in PATH.finditer(text) if kind.own_paths else []:
        yield Slot(match.end(), match.end(), 0, path)


def make_seed(kind: Kind, path: Path) -> None:
    """Capture the load, in a folder whose name says nothing about the machine."""
    if not shutil.which("strace"):
        sys.exit("strace is not installed; get it with: apt-get install strace")
    with tempfile.TemporaryDirectory(prefix="load-") as folder:
        log = Path(folder) / "log"
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder, "LC_ALL": "C"}
        command = [*kind.tracer, "-o", str(log), *kind.command]
        subprocess.run(command, cwd=folder, env=environment, check=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(log, path)


def _pieces(kind: Kind, seed: bytes) -> tuple[list[bytes], int]:
    """Head, iteration and tail; the id of the root, which is the first one."""
    first = kind.notation.ids.search(seed)
    assert first is not None
    root = int(first[1])
    lines = seed.splitlines(keepends=True)
    _, second, third = [at for at, line in enumerate(lines) if _is_of(kind, line, root) and kind.begins.match(line)]
    return [b"".join(piece) for piece in (lines[:second], lines[second:third], lines[third:])], root


def _is_of(kind: Kind, line: bytes, root: int) -> bool:
    match = kind.notation.ids.match(line)
    return match is not None and int(match[1]) == root


def _first_ids(text: bytes, kind: Kind) -> frozenset[int]:
    return frozenset(int(match[1]) for match in kind.notation.ids.finditer(text) if match[1])


def chunks(kind: Kind, seed: bytes, size: int) -> Iterator[bytes]:
    """The text of a capture of about that size, by less than an iteration more or less."""
    pieces, root = _pieces(kind, seed)
    repeated = _first_ids(pieces[1], kind) - {root}
    step_ids = 0 if kind.same_tasks else max(repeated) - min(repeated) + 1
    starts = [int(b"".join(match)) for piece in pieces[1:] for match in kind.notation.stamps.findall(piece)[:1]]
    step_ticks = starts[1] - starts[0]
    ids = _first_ids(seed, kind)
    head, iteration, tail = (Piece(piece, kind, root, ids) for piece in pieces)
    yield head.shifted(Shift(0, 0, 0))
    room = size - len(pieces[0]) - len(pieces[2])
    last = Shift(0, 0, 0)
    for number in itertools.count():
        if room <= 0:
            break
        last = Shift(number * step_ids, number * step_ticks, number)
        text = iteration.shifted(last)
        room -= len(text)
        yield text
    yield tail.shifted(last)


def seed_of(kind: Kind, name: str) -> bytes:
    """The text of three runs, captured now or before."""
    path = CACHE / f"{name}.seed"
    if not path.exists():
        make_seed(kind, path)
    seed = path.read_bytes()
    return kind.render(seed.decode("latin-1")).encode("latin-1") if kind.render else seed


def make(name: str, size: int, out: Path) -> None:
    """Write a capture of that kind: a file, or a folder with a file per process."""
    kind = KINDS[name]
    seed = seed_of(kind, name)
    unfinished = out.with_name(f"{out.name}.part")
    if kind.is_split:
        unfinished.mkdir()
        for text in chunks(kind, seed, size):
            _append_by_process(text, unfinished)
    else:
        with unfinished.open("wb") as file:
            # Smaller than what was captured: its beginning, up to the end of a line.
            texts = chunks(kind, seed, size) if size >= len(seed) else [seed[: seed.rfind(b"\n", 0, size) + 1]]
            file.writelines(texts)
    unfinished.rename(out)


def _append_by_process(text: bytes, folder: Path) -> None:
    """As `strace -ff -o log` writes it: `log.PID`, whose lines have no id."""
    of_process: dict[bytes, list[bytes]] = {}
    for line in text.splitlines(keepends=True):
        process, rest = line.split(None, 1)
        of_process.setdefault(process, []).append(rest)
    for process, lines in of_process.items():
        with (folder / f"log.{process.decode()}").open("ab") as file:
            file.writelines(lines)


def bytes_of(size: str) -> int:
    """`100M`, `1GB`, `1.5g`: a number of bytes."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]?)(?:i?B)?", size.strip(), re.IGNORECASE)
    if not match:
        raise argparse.ArgumentTypeError(f'"{size}" is not a size; say for example 100M or 1GB')
    return int(float(match[1]) * UNITS[match[2].upper()])


def cached(name: str, size: int) -> Path:
    """A capture of that kind and size, made now or before."""
    path = CACHE / f"{name}-{size}.{'strace.d' if KINDS[name].is_split else 'log'}"
    if not path.exists():
        CACHE.mkdir(exist_ok=True)
        # In a process of its own: its memory would count as that of the programs measured afterwards.
        subprocess.run([sys.executable, __file__, name, str(size), str(path)], check=True)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS, help="kind of capture")
    parser.add_argument("size", type=bytes_of, help="100M, 1GB …")
    parser.add_argument("out", type=Path, help="file (for ff: folder) to write")
    arguments = parser.parse_args()
    make(arguments.kind, arguments.size, arguments.out)


if __name__ == "__main__":
    main()
