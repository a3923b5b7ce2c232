"""Captures to Parquet or JSON lines, with hardly more memory for a large capture than for a small one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from tracealyze import _engine
from tracealyze.base.errors import WrongUsage
from tracealyze.base.sanitize import HIDDEN_RANGES
from tracealyze.export.complete_file import complete_file
from tracealyze.export.jsonl import write_events
from tracealyze.model.capture_input.capture_info import Capture
from tracealyze.model.capture_input.contents import Source
from tracealyze.model.capture_input.recorded import facts_for_engine
from tracealyze.model.capture_input.temporary_files import TemporaryFiles
from tracealyze.model.engine_errors import translated
from tracealyze.trace.trace import checked_format, named_files

if TYPE_CHECKING:
    from tracealyze.model.arrow_export import Streamed
    from tracealyze.trace.trace import Progress


class EventStream:
    """The events of captures, read once and taken once, by Arrow consumers, with the columns of `Trace.events`.

    Rows are kept in an unnamed temporary file in `TMPDIR`, about 29 bytes each. In memory are the last rows, the
    distinct texts, and the tasks."""

    def __init__(
        self,
        files: Sequence[Sequence[str]],
        input_format: str | None = None,
        progress: Progress | None = None,
        temporary: TemporaryFiles | None = None,
    ) -> None:
        self._temporary = temporary
        folder = tempfile.gettempdir()
        made = facts_for_engine(files)
        self._source = translated(lambda: _engine.stream_events(files, folder, input_format, progress, made))
        self.captures = tuple(Capture.of(fields) for fields in self._source.captures())

    @property
    def is_summary_only(self) -> bool:
        """Whether the captures have no events, only summary tables."""
        return not len(self) and any(each.has["summary_table"] for each in self.captures)

    def __len__(self) -> int:
        return len(self._source)

    def json_lines(self, write: Callable[[bytes], object]) -> None:
        """Hand over the events as JSON objects, one per line, a piece at a time."""
        self._source.json_lines(HIDDEN_RANGES, write)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._source.__arrow_c_stream__(requested_schema)


def write_parquet(events: Streamed, captures: Sequence[Capture], to: BinaryIO) -> Sequence[str]:
    """Write events of captures as Parquet. Returns what the file leaves out, as sentences."""
    from tracealyze.export import parquet

    return parquet.write_events(events, captures, to)


def convert(
    captures: Source | Iterable[Source],
    to: str | os.PathLike[str],
    *,
    input_format: str | None = None,
    progress: Progress | None = None,
) -> tuple[Capture, ...]:
    """Write the events of captures to a file for other programs, with the columns of `Trace.events`.

    The captures are read once. Apart from its distinct texts, a large capture takes hardly more memory than a small
    one; its rows are kept in an unnamed temporary file in `TMPDIR`.

    Arguments:
        captures, input_format, progress: As for `read`.
        to: A name that ends in `.parquet`, `.jsonl` or `.jsonl.gz`. The file is complete once it has this name.

    Returns:
        The captures. Their `losses` tell which lines could not be used.

    Raises:
        The errors of `read`; `WrongUsage` also for other names.

    Example:
        >>> import tracealyze
        >>> captures = tracealyze.convert("samples/ssh-login/ssh-login.truss", "/tmp/events.jsonl")
        >>> captures[0].losses
        ()
    """
    path = Path(to)
    name = path.name.removesuffix(".gz")
    if not name.endswith((".parquet", ".jsonl")) or path.name.endswith(".parquet.gz"):
        raise WrongUsage(f"{path}: the name must end in .parquet, .jsonl or .jsonl.gz.")
    temporary = TemporaryFiles()
    files = named_files(captures, input_format, temporary)
    events = EventStream(files, checked_format(input_format), progress, temporary)
    with complete_file(path, [file for each in files for file in each], packs=True) as stream:
        if name.endswith(".parquet"):
            write_parquet(events, events.captures, stream)
        else:
            write_events(events, stream)
    return events.captures
