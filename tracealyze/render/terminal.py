"""Layout for a terminal or a pipe: wrapped sentences, and rows that fit the width, with styles where supported."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from tracealyze.base.sanitize import Shown, shown
from tracealyze.render import output
from tracealyze.render.text import symbols

TextLine: TypeAlias = tuple[tuple[str, str], ...]
"""A line of texts with styles."""

_BETWEEN = 2
# The first absolute path with two or more folders.
_PATH = re.compile(r"(?<!\S)(/(?:[^\s/]+/){2,}[^\s/]+)")
_WIDTH_OF_A_PIPE = 80
_NARROWEST = 20


@dataclass(frozen=True)
class Strip:
    """A column as texts: heading, cells, alignment and priority."""

    heading: str
    cells: Sequence[str]
    right: bool = False
    min_width: int = 0
    """The minimum width, if the terminal is narrow; 0 means that the column is never truncated."""
    drop_order: int = 0
    """Columns with a higher number are omitted first in a narrow terminal; 0 is never omitted."""

    @property
    def width(self) -> int:
        """The width of the longest text, in cells."""
        return max(cells(self.heading), max((cells(cell) for cell in self.cells), default=0))


class Terminal:
    """Standard output for people: a terminal with its width and styles, or 80 plain columns in a pipe."""

    def __init__(self) -> None:
        self.drawn = symbols(sys.stdout)
        self._console = None
        self._held: list[TextLine] | None = None
        self._hidden: list[str] = []
        self._noted: list[str] = []
        if output.has_styles():
            from rich.console import Console

            forced = output.must_have_colors()
            self._console = Console(
                file=sys.stdout,
                highlight=False,
                markup=False,
                emoji=False,
                force_terminal=forced,
                no_color=False if forced else None,
            )
        self.width = max(self._console.width if self._console else _width_of_output(), _NARROWEST)

    @contextmanager
    def held(self) -> Iterator[list[TextLine]]:
        """Collect the lines that are written meanwhile, instead of printing them."""
        before, self._held = self._held, []
        try:
            yield self._held
        finally:
            self._held = before

    def lines(self, lines: Iterable[TextLine]) -> None:
        """Print lines that were held back."""
        for parts in lines:
            self.line(*parts)

    def line(self, *parts: tuple[str, str]) -> None:
        """One line of texts with styles, not truncated."""
        if self._held is not None:
            self._held.append(parts)
            return
        if self._console is None:
            sys.stdout.write("".join(self._plain(text) for text, _ in parts).rstrip() + "\n")
            return
        from rich.text import Text

        self._console.print(Text.assemble(*((self._plain(text), style) for text, style in parts)), soft_wrap=True)

    def _plain(self, text: str) -> Shown:
        """The text in signs of the encoding. All lines pass here, so no text of a trace controls the terminal."""
        return shown(self.drawn.plain(text))

    def linked(self, style: str, url: str | None) -> str:
        """The style of a text that leads to a page where the terminal supports that; otherwise the same style."""
        return f"{style} link {url}" if url and self._console is not None and output.has_links() else style

    def cut_line(self, *parts: tuple[str, str]) -> None:
        """One line, truncated to the width."""
        left, parts_shown = self.width, []
        for text, style in parts:
            parts_shown.append((self.cut(text, left), style))
            left -= cells(text)
            if left <= 0:
                break
        self.line(*parts_shown)

    def paragraph(self, text: str, style: str = "", indent: int = 0, label: str = "", most: int | None = None) -> None:
        """A sentence, wrapped between words, in up to `most` lines. Later lines are indented below the label."""
        from textwrap import wrap

        begin = indent + cells(label)
        lines = wrap(text, max(self.width - begin, _NARROWEST), break_on_hyphens=False) or [""]
        if most is not None and len(lines) > most:
            lines = [*lines[: most - 1], self.cut(f"{lines[most - 1]} {lines[most]}", self.width - begin)]
        for number, line in enumerate(lines):
            before = " " * indent + label if number == 0 else " " * begin
            self.line((before, "dim" if label else ""), (line, style))

    def table(self, strips: Sequence[Strip]) -> None:
        """The same as `rows`, with a remark on standard error that names omitted columns."""
        self.rows(strips)
        self.note_hidden()

    def note_hidden(self) -> None:
        """Name on standard error the columns that were omitted, each once."""
        if new := [heading for heading in self._hidden if heading not in self._noted]:
            output.note(f"Hidden at a width of {self.width}: {', '.join(new)}; --format markdown shows all columns.")
        self._noted += new

    def forget_hidden(self) -> None:
        """Do not name the columns of tables that were held and will not be printed."""
        self._hidden.clear()

    def rows(self, strips: Sequence[Strip]) -> None:
        """Columns side by side. If they do not fit, wide columns are truncated, and then others are omitted."""
        fitting = _fitting(list(strips), self.width)
        widths = _widths(fitting, self.width)
        self.line((self._joined([strip.heading for strip in fitting], fitting, widths), "bold"))
        for texts in zip(*(strip.cells for strip in fitting), strict=True):
            self.line((self._joined(texts, fitting, widths), ""))
        omitted = [strip.heading for strip in strips if strip not in fitting]
        self._hidden += [heading for heading in omitted if heading not in self._hidden]

    def _joined(self, texts: Sequence[str], strips: Sequence[Strip], widths: Sequence[int]) -> str:
        parts = []
        for each, strip, width in zip(texts, strips, widths, strict=True):
            text = self.cut_named(self.drawn.plain(each), width)
            blanks = " " * (width - cells(text))
            parts.append(blanks + text if strip.right else text + blanks)
        return (" " * _BETWEEN).join(parts).rstrip()

    def cut(self, text: str, width: int) -> str:
        """A text truncated to a width in cells."""
        if cells(text) <= width:
            return text
        from rich.cells import set_cell_size

        end = self.drawn.ellipsis[:width] if width > 0 else ""
        return set_cell_size(text, max(width - len(end), 0)).rstrip() + end

    def cut_named(self, text: str, width: int) -> str:
        """The same for a text with a path. Its first folders are removed first: the end matters most."""
        path = _PATH.search(text) if cells(text) > width else None
        if path:
            folders = path[1].split("/")
            over = cells(text) - width + len(self.drawn.ellipsis)
            removed = 1
            while removed < len(folders) - 1 and len("/".join(folders[:removed])) < over:
                removed += 1
            text = f"{text[: path.start()]}{self.drawn.ellipsis}/{'/'.join(folders[removed:])}{text[path.end() :]}"
        return self.cut(text, width)


def _width_of_output() -> int:
    """The width of a terminal without styles, or of a pipe."""
    if sys.stdout.isatty():
        return os.get_terminal_size(sys.stdout.fileno()).columns
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) > 0 else _WIDTH_OF_A_PIPE


def _fitting(strips: list[Strip], width: int) -> list[Strip]:
    while sum(_needed(strip) + _BETWEEN for strip in strips) - _BETWEEN > width:
        first_dropped = max(strips, key=lambda strip: strip.drop_order)
        if first_dropped.drop_order == 0:
            break
        strips.remove(first_dropped)
    return strips


def _widths(strips: Sequence[Strip], width: int) -> list[int]:
    """The width of each column. The last wide column is the most informative, so it gets the remaining width first."""
    widths = [_needed(strip) for strip in strips]
    left = width - sum(widths) - _BETWEEN * (len(strips) - 1)
    for at in reversed(range(len(strips))):
        if strips[at].min_width:
            widths[at] = max(min(strips[at].width, widths[at] + left), 1)
            left = width - sum(widths) - _BETWEEN * (len(strips) - 1)
    return widths


def _needed(strip: Strip) -> int:
    return min(strip.width, strip.min_width) if strip.min_width else strip.width


def cells(text: str) -> int:
    """The width of a text in terminal cells."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
