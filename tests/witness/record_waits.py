"""Record the programs of workloads.toml with strace and scheduler events at once, and compare each wait.

python tests/witness/record_waits.py FOLDER            record all programs into a folder, and print the table
python tests/witness/record_waits.py FOLDER NAME...    record these
python tests/witness/record_waits.py FOLDER --plain    record without names of peers (-y instead of -yy)
python tests/witness/record_waits.py FOLDER --table    print the table of what is there
python tests/witness/record_waits.py FOLDER --keep NAME...   store these in tests/witness/kept, or rare
"""

from __future__ import annotations

import argparse
import gzip
import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from waits_table import Compared, compared, table

from tracealyze.capture import scheduler
from tracealyze.model.capture_input.recorded import recorded_scheduling

HERE = Path(__file__).resolve().parent
KEPT, RARE = HERE / "kept", HERE / "rare"
_LIMIT_S = 60
# The programs see nothing of the user, so that recordings of two machines are alike.
_ENVIRONMENT = {"PATH": f"/usr/local/go/bin:{os.defpath}", "LC_ALL": "C.UTF-8"}
_SCRUBBED = (
    (re.compile(rb'nodename="[^"]*"'), b'nodename="host"'),
    (re.compile(re.escape(platform.release().encode())), b"6.1.0"),
    (re.compile(rb'version="#[^"]*"'), b'version="#1"'),
    (re.compile(rb"/tmp/witness-[a-z-]*-\w*"), b"/tmp/witness"),
)
_NAMED = re.compile(rb"([^\s:]+):([0-9]+)")
_OF_ALL_MACHINES = (b"strace", b"perf", b"swapper", b"kworker", b"ksoftirqd", b"rcu_", b"migration")


def workloads() -> dict[str, dict[str, Any]]:
    """The programs by name."""
    return tomllib.loads((HERE / "workloads.toml").read_text(encoding="utf-8"))


def plain_strace(folder: Path) -> str:
    """A search path on which strace names files, but no peers of sockets."""
    wrapper = folder / "plain" / "strace"
    wrapper.parent.mkdir(exist_ok=True)
    wrapper.write_text(
        f'#!/bin/sh\nfor each; do shift; [ "$each" = -yy ] && each=-y; set -- "$@" "$each"; done\n'
        f'exec {shutil.which("strace")} "$@"\n'
    )
    wrapper.chmod(0o755)
    return f"{wrapper.parent.resolve()}:{_ENVIRONMENT['PATH']}"


def record(name: str, workload: Mapping[str, Any], file: Path, path: str) -> str:
    """Record one program. Returns why that was not possible; empty if it was."""
    missing = [need for need in workload.get("needs", ()) if shutil.which(need) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    command = [sys.executable, "-m", "tracealyze", "record", "--sched", "-q", "--force", "-o", str(file)]
    with TemporaryDirectory(prefix=f"witness-{name}-") as folder:
        # The limit of record ends the program, too, which a signal to this process would not.
        done = subprocess.run(
            [*command, "--for", f"{_LIMIT_S}s", "--kill", "--", "bash", "-c", workload["run"]],
            cwd=folder,
            env=_ENVIRONMENT | {"HOME": folder, "PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
    return "" if file.exists() else done.stderr.decode(errors="replace").strip()[-200:]


def keep(name: str, file: Path) -> None:
    """Store a recording as text and its scheduler events."""
    text = subprocess.run(["zstd", "-dcq", str(file)], stdout=subprocess.PIPE, check=True).stdout
    for pattern, replacement in _SCRUBBED:
        text = pattern.sub(replacement, text)
    ((_, scheduling),) = recorded_scheduling([[str(file)]])
    events = gzip.decompress(scheduling) if scheduling else b""
    traced = {int(line.split()[0]) for line in text.splitlines() if line[:1].isdigit()}
    events = _NAMED.sub(lambda named: named[0] if _is_known(named, traced) else b"other:" + named[2], events)
    folder = RARE if workloads()[name].get("rare") else KEPT
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.strace.gz").write_bytes(gzip.compress(text, mtime=0))
    (folder / f"{name}.sched.gz").write_bytes(gzip.compress(events, mtime=0))


def _is_known(named: re.Match[bytes], traced: set[int]) -> bool:
    """Whether a thread is one of the capture, of its tracer or of the kernel. Others are nobody's business."""
    return int(named[2]) in traced or named[1].startswith(_OF_ALL_MACHINES)


def recorded(folder: Path, names: Sequence[str]) -> Iterator[Compared]:
    """The recordings of a folder, compared."""
    held_out = {name for name, workload in workloads().items() if workload.get("held_out")}
    for name in names or workloads():
        if (file := folder / f"{name}.strace.zst").exists():
            yield compared(name, file, is_held_out=name in held_out)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--plain", action="store_true")
    given = parser.parse_intermixed_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.keep:
        for name in given.names:
            keep(name, given.folder / f"{name}.strace.zst")
        return
    if not given.table:
        refusal = scheduler.works()
        if refusal is not None:
            print("skipped:", *refusal.lines, sep="\n")
            return
        path = plain_strace(given.folder) if given.plain else _ENVIRONMENT["PATH"]
        for name, workload in workloads().items():
            if not given.names or name in given.names:
                reason = record(name, workload, given.folder / f"{name}.strace.zst", path)
                print(f"{name}: {reason or 'recorded'}", file=sys.stderr)
    print("\n".join(table(list(recorded(given.folder, given.names)))))


if __name__ == "__main__":
    main()
