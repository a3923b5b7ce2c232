"""Write many small captures that differ, to measure `fleet index` on them.

    .venv/bin/python benches/fleet_captures.py FOLDER [CAPTURES]
    /usr/bin/time -v .venv/bin/tracealyze fleet index FOLDER --label-from '{version}/{run}.strace' --store STORE

They are the smaller captures of real programs in this repository, with other process ids, times and paths, in folders
of versions.
"""

from __future__ import annotations

import lzma
import re
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
VERSIONS, MAX_BYTES = 40, 60_000
_PID = re.compile(r"^(\d+)(?=[ <])", re.MULTILINE)
_EPOCH = re.compile(r"\b(1[5-9]\d{8})(\.\d{6,9})\b")
_PATH = re.compile(r"(?<=[\"<])/(tmp|home|srv|var|usr/share)/")


def captures() -> list[str]:
    """The texts of real captures that are small and one file."""
    files = sorted([*TESTS.glob("kept_rules/*/*.strace.xz"), *TESTS.glob("field/captures/*.strace.xz")])
    texts = [lzma.decompress(file.read_bytes()).decode(errors="replace") for file in files]
    return [text for text in texts if len(text) <= MAX_BYTES]


def changed(text: str, number: int) -> str:
    """A capture like this one, of another run."""
    pids = {pid: str(int(pid) + 7 * number) for pid in set(_PID.findall(text))}
    if pids:
        text = re.sub(rf"\b({'|'.join(pids)})\b", lambda found: pids[found[0]], text)
    text = _EPOCH.sub(lambda found: f"{int(found[1]) + 60 * number}{found[2]}", text)
    return _PATH.sub(lambda found: f"/{found[1]}/run{number % 1000}/", text)


def write_captures(folder: Path, number: int) -> int:
    """The captures, and their size in bytes."""
    texts, size = captures(), 0
    for version in range(VERSIONS):
        (folder / f"4.{version}").mkdir(parents=True, exist_ok=True)
    for each in range(number):
        content = changed(texts[each % len(texts)], each).encode()
        (folder / f"4.{each % VERSIONS}" / f"run{each:07}.strace").write_bytes(content)
        size += len(content)
    return size


if __name__ == "__main__":
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    print(f"{write_captures(Path(sys.argv[1]), count):,} bytes in {count:,} captures")
