"""strace's own table beside a capture (-C): an account of the same calls that none of us wrote."""

from __future__ import annotations

import functools
import itertools
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tracealyze import Trace

# The table counts calls that came back; exit_group and what a kill or the end of the capture cut is in the log alone.
RETURNED = {"ok", "failed", "interrupted"}
FAILED = {"failed", "interrupted"}
# It shows the result of the call that a signal interrupted, put back. The table takes that for its own, we do not.
PUTS_BACK = {"rt_sigreturn", "sigreturn"}


@dataclass(frozen=True)
class Count:
    """How often a call came back, and how often with an error (restarts after a signal are among them)."""

    calls: int
    errors: int


@functools.cache
def why_not() -> str | None:
    """Why nothing can be captured here; None if it can."""
    if not shutil.which("strace"):
        return "strace is not installed; get it with: apt-get install strace"
    probe = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, text=True, check=False)
    if probe.returncode:
        return f"strace may not trace here (ptrace is not permitted?): {probe.stderr.strip()}"
    return None


def capture(program: Sequence[str], folder: Path, *options: str) -> Path:
    """Run a program under strace, its own table at the end of the log. The program may fail, as some do on purpose."""
    return capture_as(program, folder, "-f", "-C", "-ttt", "-T", *options)


def capture_as(program: Sequence[str], folder: Path, *options: str) -> Path:
    """The same with these options only."""
    log = folder / "own.strace"
    run(["strace", *options, "-o", str(log), *program], folder)
    return log


def capture_stderr(program: Sequence[str], folder: Path, *options: str) -> Path:
    """What strace writes where its messages go, too: they cut lines, and ids stand only where two tasks live."""
    log = folder / "stderr.strace"
    log.write_bytes(run(["strace", "-f", "-C", "-ttt", "-T", *options, *program], folder))
    return log


def run(command: Sequence[str], folder: Path) -> bytes:
    """Run it there; what it wrote to stderr."""
    environment = os.environ | {"LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1", "GIT_CONFIG_NOSYSTEM": "1"}
    ended = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, timeout=60, check=False, stdin=subprocess.DEVNULL
    )
    return ended.stderr


def split(log: Path, prefix: Path) -> int:
    """Write a file per thread, as -ff names them: ids go from the lines into the names. How many lines that were."""
    threads: dict[bytes, list[bytes]] = {}
    for line in itertools.takewhile(lambda line: not line.startswith(b"% time"), log.read_bytes().splitlines(True)):
        tid, _, rest = line.partition(b" ")
        threads.setdefault(tid, []).append(rest.lstrip(b" "))
    for tid, lines in threads.items():
        prefix.with_name(f"{prefix.name}.{tid.decode()}").write_bytes(b"".join(lines))
    return sum(map(len, threads.values()))


def own_table(log: Path) -> dict[str, Count]:
    """What the table at the end of a log counts."""
    return {row["syscall"]: Count(int(row["calls"]), int(row["errors"] or 0)) for row in _rows(log)}


def own_seconds(log: Path) -> dict[str, float]:
    """The seconds of that table; wall time if strace ran with -w."""
    return {row["syscall"]: float(row["seconds"]) for row in _rows(log)}


def _rows(log: Path) -> Iterator[dict[str, str]]:
    """An empty cell is a zero, so the columns are cut at the dashes, not at blanks."""
    lines = log.read_text(errors="replace").splitlines()
    head = max(number for number, line in enumerate(lines) if line.lstrip().startswith("% time"))
    columns = [match.span() for match in re.finditer("-+", lines[head + 1])]
    names = [lines[head][begin:end].strip() for begin, end in columns]
    for line in itertools.takewhile(lambda line: not line.startswith("-"), lines[head + 2 :]):
        # Only the last column may hold more than its dashes are long.
        ends = [end for _, end in columns[:-1]] + [len(line)]
        yield {name: line[begin:end].strip() for name, (begin, _), end in zip(names, columns, ends, strict=True)}


def as_the_table_counts(trace: Trace) -> dict[str, Count]:
    """Our counts by the rules of the table."""
    counts: dict[str, Count] = {}
    for row in trace.calls(by=["syscall", "outcome"]):
        name, outcome, calls = row["syscall"], row["outcome"], row["calls"]
        if outcome in RETURNED:
            before = counts.get(name, Count(0, 0))
            counts[name] = Count(before.calls + calls, before.errors + (calls if outcome in FAILED else 0))
    return counts


def without_what_is_put_back(counts: dict[str, Count]) -> dict[str, Count]:
    """The same with no errors for calls whose result is another call's."""
    return {name: Count(count.calls, 0) if name in PUTS_BACK else count for name, count in counts.items()}
