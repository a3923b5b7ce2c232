"""The file that a command writes: beside the capture, never the capture itself, complete once it has its name."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

import typer

from tracealyze.base.errors import WrongUsage
from tracealyze.base.standard_output import is_standard_output
from tracealyze.export.complete_file import complete_file
from tracealyze.model.capture_input.capture_files import STDIN

if TYPE_CHECKING:
    from tracealyze.commands._losses import WithCaptures

STDOUT = "-"


def output_option(default: str) -> Any:
    """The option `--output`; the default in words."""
    return typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help=f'Write to this file, compressed if its name ends in .gz; "-" for standard output. Default: {default}.',
        show_default=False,
    )


def name_beside(trace: WithCaptures, extension: str) -> str:
    """The name of the capture with another extension. Raises `WrongUsage` for standard input."""
    path = trace.captures[0].path
    if path == STDIN:
        raise WrongUsage("name the output with -o FILE: the capture is standard input.")
    stem = path.rstrip("/")
    for compressed in (".gz", ".xz", ".zst", ".bz2"):
        stem = stem.removesuffix(compressed)
    return f"{stem}.{extension}"


@contextmanager
def opened(target: str, captures: Sequence[str], *, is_text: bool, packs: bool = True) -> Iterator[BinaryIO]:
    """The stream to write to; with `packs`, a file whose name ends in .gz is compressed.

    Raises `WrongUsage` if the target is one of the captures, or a terminal that would get binary data."""
    if target == STDOUT or is_standard_output(target):
        if not is_text and sys.stdout.isatty():
            raise WrongUsage("the format is binary. Write it to a file with -o FILE, or to a pipe.")
        sys.stdout.flush()
        yield sys.stdout.buffer
        return
    with complete_file(target, captures, packs=packs) as stream:
        yield stream
