"""What each command takes on each kind of capture, beside programs that do far less: one table.

python benches/table.py 100M --kind distinct
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import kinds
import make_capture
import measure

# The bounds of the design, as multiples of the floor.
BOUNDS = {"reading": 1.5, "summarize": 3.0}
MAX_BYTES_PER_EVENT = 60
ALWAYS_BYTES = 100 * 1024 * 1024
MAX_DOCUMENT_BYTES = 2_000_000
# The growth of time with size is measured between this part of the size and all of it.
PART = 10
READ = """
import sys
from tracealyze import _engine
_engine.read([sys.argv[1:]], None, None)
"""
POLARS = r"""
import sys
import polars
read = dict(has_header=False, separator="\x01", quote_char=None, new_columns=["line"])
lines = polars.concat(polars.scan_csv(path, **read) for path in sys.argv[1:])
line = polars.col("line").str
calls = lines.select(
    line.extract(r"^(\d+)").alias("id"),
    line.extract(r"^(?:\d+:? +)?[\d. ]+ (\w+)\(").alias("name"),
    line.extract(r"<([\d.]+)>$").cast(float, strict=False).alias("seconds"),
)
print(calls.group_by("id", "name").agg(polars.col("seconds").sum()).collect(engine="streaming"))
"""


@dataclass(frozen=True)
class Subject:
    """A capture to measure."""

    kind: str
    files: list[str]
    argument: str
    bytes: int
    lines: int


def subject(kind: str, size: int) -> Subject:
    """A capture of a kind and size. Its files are read once, so that all programs find them in memory."""
    path = make_capture.cached(kind, size)
    files = sorted(map(str, path.iterdir())) if path.is_dir() else [str(path)]
    # In a process of its own: the memory of this one would count as that of the programs that it starts.
    counted = subprocess.run(["sh", "-c", 'cat "$@" | wc -lc', "sh", *files], capture_output=True, check=True).stdout
    lines, size = map(int, counted.split())
    return Subject(kind, files, str(path), size, lines)


def floor_program() -> str:
    """The floor, compiled."""
    subprocess.run(["cargo", "build", "--quiet", "--release", "--package", "floor"], cwd=measure.ROOT, check=True)
    return str(measure.ROOT / "target" / "release" / "floor")


def commands_of(capture: Subject, floor: str) -> dict[str, Sequence[str]]:
    """The programs by their names in the table."""
    program = measure.tracealyze()
    python = str(Path(program).with_name("python"))
    others: dict[str, Sequence[str]] = {
        "wc -l": ["wc", "-l", *capture.files],
        "grep -c ENOENT": ["sh", "-c", 'grep -c ENOENT "$@"; true', "sh", *capture.files],
        "floor": [floor, *capture.files],
    }
    if importlib.util.find_spec("polars"):
        others["polars, streaming"] = [sys.executable, "-c", POLARS, *capture.files]
    return others | {
        "reading": [python, "-c", READ, *capture.files],
        "summarize": [program, "summarize", capture.argument],
        "summarize --json": [program, "summarize", "--json", capture.argument],
        "top-syscalls --by target": [program, "top-syscalls", "--by", "target", capture.argument],
        "critical-path": [program, "critical-path", capture.argument],
        "check": [program, "check", capture.argument, "--budget", "processes <= 100000000"],
    }


def show(capture: Subject, small: Subject, floor: str, rounds: int) -> None:
    """The table of one kind."""
    runs = measure.best_in_turn(commands_of(capture, floor), rounds)
    part = measure.best_in_turn(commands_of(small, floor), rounds)
    grep_s, floor_s = runs["grep -c ENOENT"].seconds, runs["floor"].seconds
    about = kinds.KINDS[capture.kind].about
    print(f"\n{capture.kind}: {about}; {capture.bytes / 2**20:,.0f} MiB, {capture.lines:,} lines")
    headings = ("seconds", "× floor", "× grep", "B/event", "exponent", "peak MiB")
    print(f"{'':26}" + "".join(f"{heading:>10}" for heading in headings))
    growth = math.log(capture.bytes / small.bytes)
    for name, run in runs.items():
        per_event = max(0, run.peak_bytes - ALWAYS_BYTES) / capture.lines
        exponent = math.log(run.seconds / part[name].seconds) / growth
        numbers = f"{run.seconds:10.2f}{run.seconds / floor_s:10.2f}{run.seconds / grep_s:10.2f}{per_event:10.0f}"
        print(f"{name:26}{numbers}{exponent:10.2f}{run.peak_bytes / 2**20:10.0f}{_missed(name, runs)}")


def _missed(name: str, runs: Mapping[str, measure.Run]) -> str:
    """A mark where a bound of the design is exceeded."""
    run = runs[name]
    bound = BOUNDS.get(name)
    if bound and run.seconds > bound * runs["floor"].seconds:
        return f"   bound: {bound:g} × floor"
    if name == "summarize --json" and run.written_bytes > MAX_DOCUMENT_BYTES:
        return f"   {run.written_bytes / 1e6:.1f} MB written, bound: 2 MB"
    return ""


def main(size: int, names: Sequence[str], rounds: int = measure.ROUNDS) -> None:
    """Print the tables."""
    floor = floor_program()
    for name in names:
        show(subject(name, size), subject(name, size // PART), floor, rounds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("size", nargs="?", type=make_capture.bytes_of, default="100M", help="100M, 1GB …")
    parser.add_argument("--kind", action="append", choices=kinds.KINDS, help="kind of capture; repeatable, default all")
    parser.add_argument("--rounds", type=int, default=measure.ROUNDS, help="rounds, of which the best counts")
    arguments = parser.parse_args()
    main(arguments.size, arguments.kind or list(kinds.KINDS), arguments.rounds)
