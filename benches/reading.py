"""Reading alone, up to the finished event table, for each format beside `grep -c` on the same file.

python benches/reading.py --size 64M
"""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

import make_capture
import measure

TEXTS = measure.ROOT / "parsers" / "benches" / "texts"
# Of each format but that of the large capture at most so much is made.
MOST_BYTES = 64 << 20
# Prints how long reading took, without the start of Python.
READ = """
import sys, time
from tracealyze import _engine
begin = time.perf_counter()
trace = _engine.read([[sys.argv[1]]], None, None)
print(time.perf_counter() - begin)
"""


def repeated(text: Path, size: int) -> Path:
    """The lines of a small text, again and again, up to that size."""
    path = make_capture.CACHE / f"{text.stem}-{size}.txt"
    lines = text.read_bytes()
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(lines * max(1, size // len(lines)))
    return path


def reading_s(path: Path) -> float:
    """The best of several rounds."""
    return min(map(float, measure.printed(READ, path)))


def main(size: int) -> None:
    small = min(size, MOST_BYTES)
    mixed = make_capture.cached(size)
    texts = [(text.stem, repeated(text, small)) for text in sorted(TEXTS.iterdir())]
    print(
        f"{size / 2**20:,.0f} MiB of a mixed load, {small / 2**20:,.0f} of lines repeated, best of {measure.ROUNDS}\n"
    )
    print(f"{'reading alone':26}{'seconds':>10}{'× grep':>8}{'ns/line':>10}{'MB/s':>8}")
    for name, path in [("strace, mixed load", mixed), *texts]:
        lines = int(subprocess.run(["wc", "-l", path], capture_output=True, text=True, check=True).stdout.split()[0])
        grep = measure.best_in_turn({name: ["sh", "-c", 'grep -c ENOENT "$1"; true', "sh", str(path)]})[name]
        seconds = reading_s(path)
        per_line = f"{seconds * 1e9 / lines:10.0f}{path.stat().st_size / 1e6 / seconds:8.0f}"
        print(f"{name:26}{seconds:10.3f}{seconds / grep.seconds:8.2f}{per_line}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=make_capture.bytes_of, default="64M", help="64M, 1GB … (64M unless told)")
    main(parser.parse_args().size)
