"""The report of `summarize` as markdown, for tickets and reviews. It has all of the text, untruncated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracealyze import units
from tracealyze.render import output
from tracealyze.render.listing import Listing, markdown_cell, write_markdown
from tracealyze.render.report import Report
from tracealyze.sanitize import shown

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding
    from tracealyze.render.partition import Piece
    from tracealyze.summary import Summary
    from tracealyze.trace import Trace

_INDENT = "&emsp;"
_TICKS = re.compile("`{3,}")


def show(trace: Trace, summary: Summary, top: int) -> None:
    """Print the report of one capture."""
    _Report(trace, summary, top).show()


class _Report(Report):
    _ended = "\n\n"
    """The end of the text written so far: there is never more than one empty line."""

    def _write(self, text: str) -> None:
        output.write(text.removeprefix("\n") if self._ended == "\n\n" else text)
        self._ended = text[-2:]

    def title(self, name: str) -> None:
        self._write(f"## {markdown_cell(name)}\n\n")

    def section(self, title: str, remark: str = "") -> None:
        self._write(f"\n### {title}\n\n")
        if remark:
            self._write(f"{remark[:1].upper()}{remark[1:]}.\n\n")

    def sentence(self, text: str, style: str = "", indent: int = 2) -> None:
        cell = markdown_cell(text)
        # Indented sentences are list items, others are paragraphs.
        self._write(f"{'- ' if indent else chr(10)}{f'**{cell}**' if 'bold' in style else cell}\n")

    def rows(self, listing: Listing) -> None:
        self._ended = "|\n"
        write_markdown(listing, listing.filled)

    def pieces(self, pieces: Sequence[Piece]) -> None:
        self._write("| on path | share | what |\n| ---: | ---: | --- |\n")
        for piece in pieces:
            facts = (piece.name, piece.target, piece.count, piece.remark)
            name, *others = (markdown_cell(shown(fact)) for fact in facts if fact)
            text = ", ".join([f"**{name}**" if piece.depth == 0 else name, *others])
            took = units.duration(piece.exclusive_ns, self.tick_ns)
            self._write(f"| {took} | {units.share(piece.share)} | {_INDENT * piece.depth}{text} |\n")
        self._write("\n")

    def verdict(self, finding: Finding) -> None:
        self._write(f"\n#### {finding.severity.upper()} {finding.name} ({finding.code})\n\n")

    def proofs(self, quoted: Sequence[str]) -> None:
        if not quoted:
            return
        fence = max((ticks for text in quoted for ticks in _TICKS.findall(text)), default="``", key=len) + "`"
        self._write("".join(f"{line}\n" for line in ("", fence, *quoted, fence, "")))
