"""Captures without secrets: what `tracealyze redact` does, and `record --redact` while a capture is made."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from tracealyze import _engine
from tracealyze.base.errors import UnknownFormat, UnusableInput, WrongUsage
from tracealyze.base.suggested import file_word
from tracealyze.capture.capture_file import CaptureFile
from tracealyze.model.capture_input.capture_files import STDIN, files_of
from tracealyze.model.capture_input.recorded import Recorded, facts_for_engine, read_metadata
from tracealyze.model.engine_errors import translated

Name: TypeAlias = "str | os.PathLike[str]"

_KEY_BYTES = 16
_MAX_KEY_BYTES = 64 << 10
_PER_TASK = re.compile(r".*\.(?P<pid>\d+)(?:\.(?:gz|bz2|xz|zst))?")
_HARMLESS_FACTS = frozenset(
    (
        "record",
        "profile",
        "flags",
        "overhead_ns",
        "untraced_ns",
        "machine",
        "cores",
        "started",
        "ended",
        "began_ns",
        "ended_ns",
        "exit",
        "dropped_parts",
        "pids",
    )
)
"""Metadata of `record` that stays as it is."""
_SNAPSHOTS = frozenset(("attached", "detached"))
"""Metadata of `record` about processes."""
_SNAPSHOT_LISTS = frozenset(("processes", "others", "threads", "fds", "ends", "locks"))
_SNAPSHOT_NUMBERS = frozenset(("at_ns", "left_out", "pid", "parent", "tid", "cpu_ns", "owner", "fd", "holder"))
_SNAPSHOT_WORDS = frozenset(("state", "role", "kind"))
_SNAPSHOT_NAMES = frozenset(("name", "path"))
_WORD = re.compile(r"[A-Za-z]{1,8}")
_VERSION = re.compile(r"(?:strace -- version )?\d+(?:\.\d+)*")


def redact(
    capture: Name | Iterable[Name],
    output: Name,
    *,
    key: Name | None = None,
    keep: str | None = None,
    keep_programs: bool = False,
    map_file: Name | None = None,
    input_format: str | None = None,
) -> None:
    """Write a capture without anything that is not known to be harmless.

    Arguments:
        capture: A capture on disk: a file, several of them, or the directory or prefix of -ff files.
        output: The file to write, compressed if its name ends in .zst or .gz; for several files a directory. It must
            not exist.
        key: A file with at least 16 random bytes. With the same key, equal names in several captures have equal
            pseudonyms. Default: random bytes, which nobody keeps.
        keep: A regular expression: names and words that match as a whole stay.
        keep_programs: Keep the names of programs.
        map_file: A file to write with each pseudonym and what it stands for. Only its owner may read it.
        input_format: The format, if it is not detected.

    Raises:
        UnusableInput: The capture cannot be read.
        WrongUsage: The output exists, or the key or the pattern is not valid.

    Example:
        >>> import tempfile, tracealyze
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tracealyze.redact("samples/ssh-login/ssh-login.truss", f"{folder}/shared.truss")
        ...     tracealyze.read(f"{folder}/shared.truss").findings[0].name
        'hot-loop'
    """
    names = [capture] if isinstance(capture, (str, os.PathLike)) else list(capture)
    redaction = Redaction.of(
        key=key, keep=keep, keep_programs=keep_programs, map_file=map_file, input_format=input_format
    )
    with redaction:
        redaction.write([os.fspath(name) for name in names], os.fspath(output))


@dataclass(frozen=True)
class Leak:
    """Something in a redacted capture that should not be there."""

    file: str
    line: int
    column: int
    """0 if unknown."""
    problem: str


def verify(original: str, redacted: str, keep: str | None = None) -> tuple[int, int, list[Leak]]:
    """Number of compared lines, number of leaks, and the first of them."""
    files, made = ([file for capture in files_of([name]) for file in capture] for name in (original, redacted))
    by_name = {file.rpartition(".")[2]: file for file in made}
    pairs = (
        [(files[0], made[0])]
        if len(files) == 1
        else [(file, by_name.get(_part(file, at), "")) for at, file in enumerate(files)]
    )
    lines, count, leaks = 0, 0, []
    for one, other in pairs:
        if not other or len(files) != len(made):
            raise UnusableInput(f"{redacted} has {len(made)} files, and {original} has {len(files)}.")
        more, found, places = translated(partial(_engine.verify_redacted, one, other, keep=keep))
        lines, count = lines + more, count + found
        leaks += [Leak(other, *place) for place in places]
    return lines, count, leaks


def _part(file: str, number: int) -> str:
    """The end of the name of a redacted file of several: the process id if the original has it."""
    match = _PER_TASK.fullmatch(file)
    return match["pid"] if match else str(number)


@dataclass
class Redaction:
    """Rewrites captures with one key."""

    redactor: _engine.Redactor
    map_stream: BinaryIO | None = None

    @classmethod
    def of(
        cls,
        *,
        key: Name | None = None,
        keep: str | None = None,
        keep_programs: bool = False,
        map_file: Name | None = None,
        input_format: str | None = None,
    ) -> Redaction:
        if input_format is not None and input_format not in _engine.FORMATS:
            raise WrongUsage(f'there is no format "{input_format}" ({", ".join(_engine.FORMATS)}).')
        redactor = translated(
            lambda: _engine.Redactor(
                _key(key),
                keep=keep,
                keeps_programs=keep_programs,
                input_format=input_format,
                has_map=map_file is not None,
            )
        )
        return cls(redactor, _new_private_file(os.fspath(map_file)) if map_file is not None else None)

    def __enter__(self) -> Redaction:
        return self

    def __exit__(self, *_: object) -> None:
        if self.map_stream is not None:
            self.map_stream.close()

    def write(self, captures: Sequence[str], output: str, *, overwrites: bool = False) -> None:
        """Rewrite the captures that these names mean, to a file, or to a directory if there are several files."""
        files = [file for capture in files_of(captures) for file in capture]
        if len(files) == 1:
            self.write_file(files[0], output, overwrites=overwrites)
            return
        folder = Path(output)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise WrongUsage(
                f"{output} exists. The capture has {len(files)} files: name a directory that is new or empty."
            )
        folder.mkdir(parents=True, exist_ok=True)
        # Short files may not show their format; they are read as the longest one.
        for number, file in sorted(enumerate(files), key=lambda entry: -os.path.getsize(entry[1])):
            self.write_file(file, str(folder / f"trace.{_part(file, number)}"))

    def write_file(self, file: str, output: str, *, overwrites: bool = False) -> None:
        facts = read_metadata(file) if file != STDIN and os.path.isfile(file) else {}
        with _opened(output, self.facts(facts), overwrites=overwrites, source=file) as write:
            try:
                self.copy(file, write)
            except UnknownFormat:
                if not _is_empty(file, facts):
                    raise

    def copy(self, file: str, write: Any) -> bool:
        """Read a capture and hand over its pieces. Returns whether it is damaged."""

        def piece(text: bytes, translations: Sequence[tuple[bytes, bytes]]) -> None:
            write(text)
            if self.map_stream is not None:
                self.map_stream.writelines(made + b"\t" + _printable(name) + b"\n" for name, made in translations)

        return translated(lambda: self.redactor.copy(file, piece))

    def facts(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Metadata of `record`, without what it tells about the command and the machine."""
        # Scheduler events are left out, because they have names of threads of the whole machine.
        return {name: self._fact(name, value) for name, value in facts.items() if name != "sched_bytes"}

    def _fact(self, name: str, value: Any) -> Any:
        if name in _SNAPSHOTS:
            return self._snapshot(value)
        return value if name in _HARMLESS_FACTS else self._value(value)

    def _snapshot(self, value: Any) -> dict[str, Any]:
        """Ids, states and times of processes, with other names; without arguments of programs and of calls."""
        found: dict[str, Any] = {}
        for name, part in value.items() if isinstance(value, dict) else ():
            if name in _SNAPSHOT_LISTS and isinstance(part, list):
                found[name] = [self._snapshot(each) for each in part]
            elif isinstance(part, str) and name in _SNAPSHOT_NAMES:
                found[name] = self._value(part)
            elif _is_harmless(name, part):
                found[name] = part
        return found

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            version = _VERSION.match(value)
            return version[0] if version else self.redactor.name(value.encode()).decode()
        if isinstance(value, dict):
            return {self._value(name): self._value(item) for name, item in value.items()}
        return [self._value(item) for item in value] if isinstance(value, list) else value


def _is_empty(file: str, facts: Mapping[str, Any]) -> bool:
    """Whether a recording has no lines, because the program made no call."""
    if not Recorded.of(facts).ended:
        return False
    captures = translated(lambda: _engine.read([[file]], None, None, facts_for_engine([[file]]))).captures()
    return not any(capture["lines"] for capture in captures)


def _is_harmless(name: str, value: Any) -> bool:
    """Whether a value of a snapshot is a number or a word that names nothing."""
    if name in _SNAPSHOT_NUMBERS:
        return isinstance(value, int)
    return name in _SNAPSHOT_WORDS and isinstance(value, str) and _WORD.fullmatch(value) is not None


class RedactedFile(CaptureFile):
    """A capture file that is rewritten before anything of it reaches the disk."""

    def __init__(self, file: CaptureFile, redaction: Redaction) -> None:
        self._inner, self._redaction = file, redaction

    def write(self, text: bytes) -> bytes:
        return self._written(self._redaction.redactor.feed(text))

    def end_frame(self) -> None:
        # What came so far must be readable, even if the format is decided from few lines.
        self._written(self._redaction.redactor.settle())
        self._inner.end_frame()

    def _written(self, redacted: bytes) -> bytes:
        return self._inner.write(redacted) if redacted else b""

    def size(self, limit: int) -> int:
        return self._inner.size(limit)

    @property
    def dropped_parts(self) -> int:  # type: ignore[override]
        return self._inner.dropped_parts

    def add_facts(self, facts: Mapping[str, Any]) -> None:
        self._finish()
        self._inner.add_facts(self._redaction.facts(facts))

    def close(self, facts: Mapping[str, Any], scheduling: bytes = b"") -> None:  # noqa: ARG002
        """Scheduler events have names of threads of the whole machine, so they are left out."""
        self._finish()
        self._inner.close(self._redaction.facts(facts))

    def abandon(self, facts: Mapping[str, Any]) -> None:
        self._inner.abandon(self._redaction.facts(facts))

    def discard(self) -> None:
        self._inner.discard()

    def _finish(self) -> None:
        self._written(self._redaction.redactor.finish())


def _key(file: Name | None) -> bytes:
    if file is None:
        return os.urandom(_KEY_BYTES)
    make = f"head -c 32 /dev/urandom > {file_word(os.fsdecode(file))}"
    try:
        with open(file, "rb") as stream:
            content = stream.read(_MAX_KEY_BYTES + 1)
    except OSError as error:
        raise WrongUsage(f"{file}: {error.strerror}. Make a key with: {make} and keep it secret.") from error
    if len(content) > _MAX_KEY_BYTES:
        raise WrongUsage(
            f"{file}: a key has at most {_MAX_KEY_BYTES >> 10} KiB. Make one with: head -c 32 /dev/urandom"
        )
    if len(content) < _KEY_BYTES:
        raise WrongUsage(f"{file}: a key needs {_KEY_BYTES} bytes. Make one with: {make}")
    return hashlib.blake2b(content, digest_size=_KEY_BYTES, person=b"redact").digest()


def _new_private_file(name: str) -> BinaryIO:
    try:
        return os.fdopen(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
    except FileExistsError:
        raise WrongUsage(f"{name} exists. Name another file for the map.") from None
    except OSError as error:
        raise UnusableInput(f"{name}: {error.strerror}.") from error


def _printable(text: bytes) -> bytes:
    return text.decode(errors="surrogateescape").encode("unicode_escape", errors="surrogateescape")


@contextmanager
def _opened(output: str, facts: Mapping[str, Any], *, overwrites: bool, source: str) -> Iterator[Any]:
    """A function that writes to the output. If anything fails, the output is removed if it is a file."""
    if os.path.exists(output) and os.path.exists(source) and os.path.samefile(output, source):
        raise WrongUsage(f"{output} is the capture. Write to another file.")
    try:
        with _packed(output, facts, overwrites) as write:
            try:
                yield write
            except BaseException:
                with suppress(OSError):
                    if os.path.isfile(output):
                        os.unlink(output)
                raise
    except FileExistsError:
        raise WrongUsage(f"{output} exists. Name another file with -o, or use --force to overwrite it.") from None


@contextmanager
def _packed(output: str, facts: Mapping[str, Any], overwrites: bool) -> Iterator[Any]:
    mode = "wb" if overwrites else "xb"
    if output.endswith(".zst"):
        capture = CaptureFile(output, facts, overwrites=overwrites)
        yield capture.write
        capture.close(facts)
    elif output.endswith(".gz"):
        with open(output, mode) as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
            yield packed.write
    else:
        with open(output, mode) as file:
            yield file.write
