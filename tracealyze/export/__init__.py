"""Files that other programs open, made from a trace: one module per format, named by the word that the user types.

Each module has `write(trace, to)`, which writes the file and returns what it leaves out, as sentences. Where the format
has a place for them, the file contains the same sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from tracealyze.trace.trace import Trace

Write: TypeAlias = Callable[["Trace", Any], Sequence[str]]
"""Writes a trace to a binary stream, or to a folder, and returns what it leaves out."""


@dataclass(frozen=True)
class Format:
    """How a format is stored."""

    extension: str
    is_text: bool = False
    """Whether it may be printed on a terminal."""
    is_folder: bool = False


FORMATS = {
    "perfetto": Format("perfetto-trace"),
    "chrome": Format("trace.json", is_text=True),
    "folded": Format("folded", is_text=True),
    "speedscope": Format("speedscope.json", is_text=True),
    "pprof": Format("pb.gz"),
    "jsonl": Format("jsonl", is_text=True),
    "parquet": Format("parquet", is_folder=True),
    "svg": Format("svg", is_text=True),
}
"""The formats in the order of help. Each is a module of this package."""


def writer(name: str) -> Write:
    """The function that writes a format."""
    write: Write = import_module(f"tracealyze.export.{name}").write
    return write
