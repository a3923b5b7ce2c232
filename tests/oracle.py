"""strace's own summary in addition to a capture (-C): an independent account of the same calls."""

from __future__ import annotations

import functools
import itertools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tracealyze import Trace

# The table counts calls that returned, also those whose result was lost because the process exited meanwhile
# ("= ? <unavailable>"). exit_group and calls cut by a kill or the end of the log are only in the log.
RETURNED = {"ok", "failed", "interrupted", "unavailable"}
FAILED = {"failed", "interrupted"}
# It prints the result of the call that a signal interrupted. The table counts that result as its own, we do not.
RESTORES_RESULT = {"rt_sigreturn", "sigreturn"}


@dataclass(frozen=True)
class Count:
    """How often a call returned, and how often with an error (including restarts after a signal)."""

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
    """Run a program under strace, with its own table at the end of the log. Some programs fail on purpose."""
    return capture_as(program, folder, "-f", "-C", "-ttt", "-T", *options)


def capture_as(program: Sequence[str], folder: Path, *options: str) -> Path:
    """Run a program under strace with these options only."""
    log = folder / "own.strace"
    run(["strace", *options, "-o", str(log), *program], folder)
    return log


def record_with_sched(program: Sequence[str], folder: Path) -> Path:
    """Record a program with scheduler events of the kernel."""
    capture = folder / "own.strace.zst"
    record = [sys.executable, "-m", "tracealyze", "record", "--sched", "-q", "-o", str(capture)]
    run([*record, "--", *program], folder)
    return capture


@contextmanager
def running(program: Sequence[str] | None) -> Iterator[None]:
    """A program that runs meanwhile, if there is one."""
    if program is None:
        yield
        return
    with subprocess.Popen(program) as process:
        try:
            yield
        finally:
            process.kill()


def capture_stderr(program: Sequence[str], folder: Path, *options: str) -> Path:
    """Capture strace's stderr, including its messages: they cut lines, and ids appear only while two tasks live."""
    log = folder / "stderr.strace"
    log.write_bytes(run(["strace", "-f", "-C", "-ttt", "-T", *options, *program], folder))
    return log


def run(command: Sequence[str], folder: Path) -> bytes:
    """Run it in a folder and return its stderr."""
    environment = os.environ | {"LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1", "GIT_CONFIG_NOSYSTEM": "1"}
    ended = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, timeout=60, check=False, stdin=subprocess.DEVNULL
    )
    return ended.stderr


def split(log: Path, prefix: Path) -> int:
    """Write a file per thread, named as by -ff: ids move from the lines to the names. Returns the number of lines."""
    threads: dict[bytes, list[bytes]] = {}
    for line in itertools.takewhile(lambda line: not line.startswith(b"% time"), log.read_bytes().splitlines(True)):
        tid, _, rest = line.partition(b" ")
        threads.setdefault(tid, []).append(rest.lstrip(b" "))
    for tid, lines in threads.items():
        prefix.with_name(f"{prefix.name}.{tid.decode()}").write_bytes(b"".join(lines))
    return sum(map(len, threads.values()))


def own_table(log: Path) -> dict[str, Count]:
    """The counts in the table at the end of a log."""
    return {row["syscall"]: Count(int(row["calls"]), int(row["errors"] or 0)) for row in _rows(log)}


def own_seconds(log: Path) -> dict[str, float]:
    """The seconds of that table; wall time if strace ran with -w."""
    return {row["syscall"]: float(row["seconds"]) for row in _rows(log)}


def _rows(log: Path) -> Iterator[dict[str, str]]:
    """An empty cell means zero, so columns are cut at the dashes, not at blanks."""
    lines = log.read_text(errors="replace").splitlines()
    head = max(number for number, line in enumerate(lines) if line.lstrip().startswith("% time"))
    columns = [match.span() for match in re.finditer("-+", lines[head + 1])]
    names = [lines[head][begin:end].strip() for begin, end in columns]
    for line in itertools.takewhile(lambda line: not line.startswith("-"), lines[head + 2 :]):
        # Only the last column may be wider than its dashes.
        ends = [end for _, end in columns[:-1]] + [len(line)]
        yield {name: line[begin:end].strip() for name, (begin, _), end in zip(names, columns, ends, strict=True)}


def count_like_strace(trace: Trace) -> dict[str, Count]:
    """Our counts, following the rules of the table."""
    counts: dict[str, Count] = {}
    for row in trace.calls(by=["syscall", "outcome"]):
        name, outcome, calls = row["syscall"], row["outcome"], row["calls"]
        if outcome in RETURNED:
            before = counts.get(name, Count(0, 0))
            counts[name] = Count(before.calls + calls, before.errors + (calls if outcome in FAILED else 0))
    return counts


def without_restored_results(counts: dict[str, Count]) -> dict[str, Count]:
    """The same without errors of calls that print another call's result."""
    return {name: Count(count.calls, 0) if name in RESTORES_RESULT else count for name, count in counts.items()}


def assert_counts_equal(trace: Trace, log: Path) -> None:
    """Calls and errors of each syscall equal those in strace's table at the end of the log."""
    ours, theirs = count_like_strace(trace), own_table(log)
    assert theirs["execve"].calls > 0
    assert without_restored_results(ours) == without_restored_results(theirs)
