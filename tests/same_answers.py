"""Compare the answers of this checkout with those of another revision: `python tests/same_answers.py REVISION`.

A change that is not meant to change results proves it with this. Both revisions summarise the same captures as JSON
(samples and kept captures, and more if they are named); texts that explain are left out, everything else must be equal.

    equal    1,640 documents of 205 captures
    differs  samples/shutdown/before.strace, critical-path: $.path[3].exclusive_ns 5000 instead of 4000
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WORDING = frozenset(("message", "advice", "remedy", "notes", "title", "reason", "error"))
"""Keys whose values are prose. They may change without an answer changing."""

COMMANDS = (
    ("summarize",),
    ("top-syscalls", "--by", "shape"),
    ("top-syscalls", "--by", "target"),
    ("tree",),
    ("critical-path",),
    ("loops",),
    ("gaps",),
    ("events", "--top", "200"),
)


ANSWER_ALL = """
import contextlib, io, json, sys
from tracealyze.__main__ import main
for job in sys.stdin:
    sys.argv = ["tracealyze", *json.loads(job), "--json"]
    code, text = 0, io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="surrogateescape")
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(io.StringIO()):
        try:
            main()
        except SystemExit as end:
            code = end.code
        text.flush()
    answer = text.buffer.getvalue().decode("utf-8", "surrogateescape")
    print(json.dumps([code, answer]), flush=True)
"""
"""Run by each revision's interpreter: one command line a line, one exit code and document a line."""


@dataclass(frozen=True)
class Checkout:
    """A source tree whose engine is built."""

    folder: Path

    def start(self) -> subprocess.Popen[str]:
        """Start the process that answers for this revision."""
        return subprocess.Popen(
            [sys.executable, "-c", ANSWER_ALL],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(self.folder), "PYTHONSAFEPATH": "1", "TZ": "UTC"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )


def ask(process: subprocess.Popen[str], job: list[str]) -> None:
    """Give a process its next command line."""
    assert process.stdin
    process.stdin.write(json.dumps(job) + "\n")
    process.stdin.flush()


def answer(process: subprocess.Popen[str]) -> Any:
    """What it answers: the document without prose, or its exit code where there is none."""
    assert process.stdout
    code, text = json.loads(process.stdout.readline())
    try:
        return without_wording(json.loads(text))
    except ValueError:
        return {"exit_code": code}


def without_wording(value: Any) -> Any:
    """The same document without values that are prose."""
    if isinstance(value, dict):
        return {key: without_wording(item) for key, item in value.items() if key not in WORDING}
    return [without_wording(item) for item in value] if isinstance(value, list) else value


def differences(before: Any, after: Any, place: str = "$") -> Iterator[str]:
    """Where two documents differ. A key that only the later one has is an addition and not a difference."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before:
            if key not in after:
                yield f"{place}.{key} is missing"
            else:
                yield from differences(before[key], after[key], f"{place}.{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from differences(old, new, f"{place}[{number}]")
    elif before != after:
        yield f"{place} {_short(after)} instead of {_short(before)}"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def captures() -> list[Path]:
    """All captures in the repository."""
    found = subprocess.run(["git", "ls-files", "-z", "samples", "tests"], cwd=ROOT, capture_output=True, check=True)
    names = [name for name in found.stdout.decode().split("\0") if name]
    kinds = {".strace", ".truss", ".dtruss", ".kdump", ".log", ".xz"}
    return [ROOT / name for name in sorted(names) if kinds & set(Path(name).suffixes)]


def build(revision: str, folder: Path) -> Checkout:
    """Check a revision out into a folder and build its engine there."""
    subprocess.run(["git", "worktree", "add", "--detach", "--force", folder, revision], cwd=ROOT, check=True)
    package = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    manifest = folder / package["tool"]["maturin"]["manifest-path"]
    name = tomllib.loads(manifest.read_text(encoding="utf-8"))["lib"]["name"]
    subprocess.run(
        ["cargo", "build", "--release", "--manifest-path", manifest, "--features", "python"],
        cwd=folder,
        env=os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target" / "same-answers")},
        check=True,
    )
    library = (
        ROOT
        / "target"
        / "same-answers"
        / "release"
        / (f"lib{name}.dylib" if sys.platform == "darwin" else f"lib{name}.so")
    )
    shutil.copy(library, folder / "tracealyze" / "_engine.abi3.so")
    return Checkout(folder)


def compare(before: Checkout, after: Checkout, files: list[Path]) -> int:
    """Print what differs, and return how many documents do. The two revisions work at the same time."""
    jobs = [[command[0], str(file), *command[1:]] for file in files for command in COMMANDS]
    processes = before.start(), after.start()
    different = 0
    for job in jobs:
        for process in processes:
            ask(process, job)
        where = next(differences(*map(answer, processes)), None)
        if where:
            different += 1
            print(f"differs  {os.path.relpath(job[1], ROOT)}, {job[0]}: {where}")
    for process in processes:
        process.communicate()
    print(f"equal    {len(jobs) - different:,} documents of {len(files)} captures")
    return different


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", help="the revision whose answers are right, such as HEAD~1")
    parser.add_argument("capture", nargs="*", type=Path, help="captures in addition to those in the repository")
    parser.add_argument("--built", type=Path, help="a checkout of that revision whose engine is built already")
    options = parser.parse_args()
    files = captures() + [capture.resolve() for capture in options.capture]
    if options.built:
        return min(1, compare(Checkout(options.built), Checkout(ROOT), files))
    with tempfile.TemporaryDirectory(prefix="tracealyze-") as folder:
        place = Path(folder) / "checkout"
        try:
            return min(1, compare(build(options.revision, place), Checkout(ROOT), files))
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", place], cwd=ROOT, check=False)


if __name__ == "__main__":
    sys.exit(main())
