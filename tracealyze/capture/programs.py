"""Programs that cannot be run: why, and what to run instead."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress

from tracealyze.base.errors import UnusableInput
from tracealyze.base.suggested import file_word

NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""Exit codes of shells."""

_RECORD = "tracealyze record --"
_HEAD_BYTES = 4096
_SCRIPT = b"#!"


def check(name: str, run: str = _RECORD) -> tuple[int, str] | None:
    """The exit code that a shell has for a program that it cannot run, and a sentence; None if it can.

    `run` is what stands before a command in the sentence."""
    if path := shutil.which(name):
        return _unloadable(name, path, run)
    if os.sep in name and os.path.exists(name):
        return NOT_EXECUTABLE, _not_executable(name)
    return NOT_FOUND, f"{name}: command not found. {_instead(name, run)}"


def missing_process(pid: object) -> UnusableInput:
    """The error for the id of a process that does not run."""
    return UnusableInput(f"there is no process {pid}. Find its id with: pgrep -a NAME")


def _not_executable(name: str) -> str:
    if os.path.isdir(name):
        return f"{name} is a directory, not a program. Name a file in it: ls {file_word(name)}"
    if os.stat(name).st_mode & (stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH):
        return f"{name}: permission denied. This user may not execute it: ls -l {file_word(name)}"
    return f"{name}: permission denied. The file is not executable. Run: chmod +x {file_word(name)}"


def _instead(name: str, run: str) -> str:
    words = name.split()
    if len(words) > 1 and shutil.which(words[0]):
        return f"Write each word on its own: {run} {name}"
    if os.sep in name:
        return f"There is no such file: ls {file_word(os.path.dirname(name))}"
    if os.path.isfile(name):
        return f"PATH does not contain this directory. Write: {run} ./{name}"
    return f"PATH does not contain it. For a builtin or an alias of the shell: {run} sh -c COMMAND"


def _unloadable(name: str, path: str, run: str) -> tuple[int, str] | None:
    """Shells run a script without an interpreter themselves. The kernel, and so a tracer, does not."""
    head = b""
    with suppress(OSError), open(path, "rb") as file:
        head = file.read(_HEAD_BYTES)
    if head.startswith(_SCRIPT):
        words = head[len(_SCRIPT) :].partition(b"\n")[0].split()
        interpreter = os.fsdecode(words[0]) if words else ""
        if os.path.exists(interpreter):
            return None
        return NOT_FOUND, f'{name}: its interpreter "{interpreter}" does not exist. Run: head -1 {file_word(path)}'
    if head and b"\0" not in head:
        return NOT_EXECUTABLE, f"{name} is a script without a #! line. Run: {run} sh {file_word(path)}"
    return None
