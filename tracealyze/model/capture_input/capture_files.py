"""Captures on disk: the files that an argument names, input on standard input, and the last capture used."""

import os
import re
import stat
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tracealyze import _engine
from tracealyze.base.errors import MissingCapture, UnreadableCapture, UnusableInput, did_you_mean
from tracealyze.model.capture_input.urls import is_url

STDIN = "-"

# strace -ff and truss write one file per task, NAME.PID. Users may compress them.
_PER_TASK = re.compile(r"(?P<name>.+)\.(?P<pid>\d+)(?:\.(?:gz|bz2|xz|zst))?")

# Scripts next to captures may contain lines of them, such as expected output.
_SOURCE_CODE = frozenset((".c", ".go", ".h", ".js", ".md", ".pl", ".py", ".rb", ".rs", ".sh", ".toml"))


def files_of(arguments: Iterable[str], skipped: list[str] | None = None) -> list[list[str]]:
    """The captures that these arguments name, each as the list of its files.

    With a list `skipped`, files of a directory in no known format are added to it, if the directory contains captures
    too. Raises `UnusableInput` if there is no such file or folder."""
    captures: list[list[str]] = []
    named: list[str] = []
    for argument in arguments:
        if argument == STDIN or os.path.isfile(argument):
            named.append(argument)
        else:
            captures.extend(_expanded(argument, skipped))
    for file in (*named, *(file for files in captures for file in files)):
        _must_be_text(file)
    return joined(named) + captures


def _must_be_text(file: str) -> None:
    """Refuse names that are not text: they are shown, remembered and passed on as text."""
    try:
        file.encode()
    except UnicodeEncodeError as error:
        raise UnusableInput(
            f"{file}: the file name is not UTF-8. Rename the file, or read it from standard input: summarize - < FILE."
        ) from error


def _expanded(argument: str, skipped: list[str] | None) -> list[list[str]]:
    if not argument:
        raise UnusableInput(
            "the name of the capture is empty. Is a variable unset? Name a file, or . for this directory."
        )
    path = Path(argument)
    if os.path.isdir(path):
        return _in_folder(path, skipped)
    if os.path.exists(path):
        return [[argument]]
    _must_be_visible(path)
    files = _with_prefix(path)
    if files:
        return [files]
    if any(character in argument for character in "*?["):
        from glob import glob

        found = [name for name in sorted(glob(argument)) if os.path.isfile(name)]
        if found:
            return joined(found)
        raise MissingCapture(f"{argument}: no file matches.")
    # Unlike the method of a path, this takes names that no file can have.
    if os.path.islink(path):
        raise MissingCapture(f"{argument}: a symbolic link to {os.readlink(path)}, which does not exist.")
    raise MissingCapture(f"{argument}: no such file.{_near(path)}")


def _must_be_visible(path: Path) -> None:
    try:
        path.stat()
    except PermissionError as error:
        raise UnreadableCapture(f"{path}: permission denied.") from error
    except (OSError, ValueError):
        return


def joined(files: Sequence[str]) -> list[list[str]]:
    """One capture per file, apart from files NAME.PID, which are parts of one capture."""
    return [capture for group in joined_by_name(files) for capture in parted(group)]


def joined_by_name(files: Sequence[str]) -> list[list[str]]:
    """As `joined`, from the names only: files with numbers at the end of their names may be several captures."""
    groups: dict[str, list[str]] = {}
    for file in dict.fromkeys(files):
        match = _PER_TASK.fullmatch(file)
        groups.setdefault(match["name"] + "." if match else file, []).append(file)
    return [sorted(group, key=_pid) for group in groups.values()]


def parted(group: list[str]) -> list[list[str]]:
    """Files with numbers at the end of their names may also be several runs: then their lines contain ids."""
    return [group] if len(group) == 1 or _engine.are_parts(group) else [[file] for file in group]


def _pid(file: str) -> int:
    match = _PER_TASK.fullmatch(file)
    return int(match["pid"]) if match else -1


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(entry for entry in folder.iterdir() if entry.is_file() and not entry.name.startswith("."))
    except OSError as error:
        raise UnreadableCapture(f"{folder}: {error.strerror or error}.") from error


def _in_folder(folder: Path, skipped: list[str] | None) -> list[list[str]]:
    """The per-task files of a folder if it has any, otherwise all its captures."""
    files = [str(file) for file in _listed(folder)]
    if not files:
        raise UnusableInput(
            f"{folder}: the directory contains no files. Name a capture, or a directory of strace -ff files."
        )
    parts = [file for file in files if _PER_TASK.fullmatch(file)]
    if parts or skipped is None:
        return joined(parts or files)
    captures = [file for file in files if _may_be_capture(file)]
    skipped.extend(file for file in files if captures and file not in captures)
    return joined(captures or files)


def _may_be_capture(file: str) -> bool:
    """Whether a file of a directory has a known format, or cannot be named or read, which is reported later."""
    if Path(file).suffix in _SOURCE_CODE:
        return False
    try:
        return _engine.format_of(file) is not None
    except (_engine.EngineError, OSError, UnicodeEncodeError):
        return True


def _with_prefix(path: Path) -> list[str]:
    """The per-task files that `strace -ff -o PATH` wrote."""
    name = path.name.removesuffix(".")
    if not name or not os.path.isdir(path.parent):
        return []
    matches = ((file, _PER_TASK.fullmatch(file.name)) for file in _listed(path.parent))
    return sorted((str(file) for file, match in matches if match and match["name"] == name), key=_pid)


def _near(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f' The directory "{path.parent}" does not exist either.'
    return did_you_mean(path.name, (name for name in names if name != path.name))


def stdin_has_input() -> bool:
    """Whether standard input has data: it is a pipe or a file that is not empty, not a terminal or /dev/null."""
    try:
        status = os.fstat(sys.stdin.fileno())
    except (AttributeError, OSError, ValueError):
        return False
    if stat.S_ISREG(status.st_mode):
        return status.st_size > os.lseek(sys.stdin.fileno(), 0, os.SEEK_CUR)
    return stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode)


def _state_file() -> Path:
    # Only commands that read a capture need it, and it loads slowly.
    import platformdirs

    return platformdirs.user_state_path("tracealyze", appauthor=False) / "last.json"


def remember(arguments: Sequence[str]) -> None:
    """Store these captures as the last ones used.

    Not stored are standard input and pipes, which cannot be read again, and URLs with passwords or signatures."""
    has_secrets = any(is_url(name) and ("@" in name or "?" in name) for name in arguments)
    if has_secrets or STDIN in arguments or any(map(_is_no_file, arguments)):
        return
    import json

    file = _state_file()
    new = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(json.dumps({"captures": [_lasting(name) for name in arguments]}), encoding="utf-8")
        new.replace(file)
    except (OSError, ValueError, RuntimeError):
        # A read-only home is not an error: the next command just has to name its capture.
        return


def _lasting(name: str) -> str:
    """The name as it is valid in another directory, too."""
    return name if is_url(name) else os.path.abspath(name)


def _is_no_file(argument: str) -> bool:
    return os.path.exists(argument) and not os.path.isfile(argument) and not os.path.isdir(argument)


def last() -> list[str]:
    """The last captures used; empty if there are none."""
    import json

    try:
        stored = json.loads(_state_file().read_text(encoding="utf-8"))
        return [name for name in stored["captures"] if isinstance(name, str)]
    except (OSError, ValueError, KeyError, TypeError, RuntimeError):
        return []
