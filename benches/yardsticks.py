"""The fastest that other tools do with a capture, each with what it answers.

python benches/yardsticks.py 1G

Two tables. The first has tools that make one table of a text: calls and seconds by id and syscall. The second has tools
that know traces. A tool that is not installed is left out: `pip install polars duckdb perfetto viztracer
pytest straceprof` has the libraries, for the Python that runs this; `strace-parser` is looked for in PATH.
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import make_capture
import measure
import table

# The fastest of seven ways that were tried (groups of one pattern, splitting at the bracket, lines instead of columns):
# anchored patterns without lazy parts, one for each column, and the streaming engine. No trace has the separator.
POLARS = r"""
import sys
import polars as pl
read = dict(has_header=False, separator="\x01", quote_char=None, new_columns=["line"])
line = pl.col("line")
calls = pl.scan_csv(sys.argv[1], **read).select(
    line.str.extract(r"^(\d+)").alias("id"),
    line.str.extract(r"^\d+ +[\d.]+ (\w+)\(").alias("name"),
    line.str.extract(r"<([\d.]+)>$").cast(pl.Float64).alias("seconds"),
)
print(calls.group_by("id", "name").agg(pl.len(), pl.col("seconds").sum()).collect(engine="streaming"))
"""
DUCKDB = r"""
import sys
import duckdb
print(duckdb.sql(f'''
    select regexp_extract(line, '^(\\d+) +[\\d.]+ (\\w+)\\(', ['id', 'name']) as call, count(*),
        sum(try_cast(regexp_extract(line, '<([\\d.]+)>$', 1) as double))
    from read_csv('{sys.argv[1]}', delim = '\x01', quote = '', escape = '', header = false, auto_detect = false,
        columns = {{'line': 'varchar'}})
    group by all
'''))
"""
MAWK = """
{ bracket = index($3, "(") }
bracket { call = $1 " " substr($3, 1, bracket - 1); calls[call]++; seconds[call] += substr($NF, 2) }
END { for (call in calls) print call, calls[call], seconds[call] }
"""
# The importer of Perfetto's web page, as the tests run it.
IMPORT = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(measure.ROOT / "tests" / "consumers")!r})
from trace_processor import answers
print(answers(Path(sys.argv[1]), ["select count(*) from slice"]))
"""


@dataclass(frozen=True)
class Peer:
    """A program that answers some of what we do."""

    answers: str
    is_there: Callable[[], bool]
    command: Callable[[str], Sequence[str]]


def _has_module(name: str) -> Callable[[], bool]:
    return lambda: importlib.util.find_spec(name) is not None


def _has_program(name: str) -> Callable[[], bool]:
    return lambda: shutil.which(name) is not None


def _ours(*words: str) -> Callable[[str], Sequence[str]]:
    return lambda capture: [measure.tracealyze(), *words, capture]


TABLES = {
    "polars, streaming": Peer(
        "calls and seconds by id and syscall; calls in two halves are lost",
        _has_module("polars"),
        lambda capture: [sys.executable, "-c", POLARS, capture],
    ),
    "DuckDB": Peer("the same", _has_module("duckdb"), lambda capture: [sys.executable, "-c", DUCKDB, capture]),
    "mawk": Peer("the same, on one core", _has_program("mawk"), lambda capture: ["mawk", MAWK, capture]),
    "top-syscalls --by target": Peer(
        "calls, errors, wall time and quantiles by target; halves joined, ids to processes",
        lambda: True,
        _ours("top-syscalls", "--by", "target"),
    ),
    "summarize": Peer(
        "who waited for whom, the critical path, causes with seconds and lines", lambda: True, _ours("summarize")
    ),
}
ANALYSES = {
    "strace-parser summary": Peer(
        "processes by time in system calls",
        _has_program("strace-parser"),
        lambda capture: ["strace-parser", capture, "summary"],
    ),
    "strace-parser files": Peer(
        "opened files with the time of opening",
        _has_program("strace-parser"),
        lambda capture: ["strace-parser", capture, "files"],
    ),
    "straceprof": Peer(
        "a picture of processes, from their execve and exit",
        _has_module("straceprof"),
        lambda capture: [
            sys.executable,
            "-m",
            "straceprof",
            "--log",
            capture,
            "--minimum-duration-sec",
            "0",
            "--output",
            f"{capture}.png",
        ],
    ),
    "Perfetto's importer": Peer(
        "tables to query in SQL, of our export; imports no syscall trace itself",
        lambda: all(_has_module(name)() for name in ("perfetto", "viztracer", "pytest")),
        lambda capture: [sys.executable, "-c", IMPORT, exported(capture)],
    ),
    "summarize": TABLES["summarize"],
}


def exported(capture: str) -> str:
    """The capture as a file that Perfetto reads."""
    file = f"{capture}.pftrace"
    measure.once([measure.tracealyze(), "export", capture, "--to", "perfetto", "--output", file], tempfile.gettempdir())
    return file


def show(name: str, peers: Mapping[str, Peer], capture: table.Subject) -> None:
    """The table of some peers on a capture."""
    there = {name: peer.command(capture.argument) for name, peer in peers.items() if peer.is_there()}
    runs = measure.best_in_turn(there)
    print(f"\n{name}: {capture.kind}, {capture.bytes / 2**20:,.0f} MiB, {capture.lines:,} lines")
    print(f"{'':26}{'seconds':>10}{'peak MiB':>10}  answers")
    for name, run in runs.items():
        print(f"{name:26}{run.seconds:10.2f}{run.peak_bytes / 2**20:10.0f}  {peers[name].answers}")
    for name in peers.keys() - there.keys():
        print(f"{name:26}{'':20}  not installed")


def main(size: int) -> None:
    """Print both tables, each for a large capture and an ordinary one. Some of those that know traces take minutes."""
    show("one table", TABLES, table.subject("distinct", size))
    show("analyses", ANALYSES, table.subject("distinct", size // 10))
    for name, peers in (("one table", TABLES), ("analyses", ANALYSES)):
        show(name, peers, table.subject("distinct", size // 100))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("size", nargs="?", type=make_capture.bytes_of, default="1G", help="100M, 1G …")
    main(parser.parse_args().size)
