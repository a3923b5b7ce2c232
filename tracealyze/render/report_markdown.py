"""The report of `summarize` as markdown, for tickets and reviews, in the same order, untruncated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.sanitize import shown
from tracealyze.render import finding_block, output
from tracealyze.render.capture_notes import name_of_capture
from tracealyze.render.listing import Listing, markdown_cell, write_markdown
from tracealyze.render.report import Report, blocked_on, endings, headline
from tracealyze.render.text import UNICODE

if TYPE_CHECKING:
    from tracealyze.findings.grouping import FindingGroup
    from tracealyze.render.partition import Piece
    from tracealyze.trace.summary import Summary
    from tracealyze.trace.trace import Trace

_INDENT = "&emsp;"
_TICKS = re.compile("`{3,}")


def show(trace: Trace, summary: Summary, top: int, full: bool = False) -> None:
    """Print the report of one capture."""
    _Report(trace, summary, top, full).show()


class _Report(Report):
    _ended = "\n\n"
    """The end of the text written so far: there is never more than one empty line."""

    def show(self) -> None:
        for part in (self.heading, self.diagnosis, self.findings, self.path, self.stages, self.remarks):
            part()
        for part in self._tables():
            part()
        self.ending()

    def _write(self, text: str) -> None:
        output.write(text.removeprefix("\n") if self._ended == "\n\n" else text)
        self._ended = text[-2:]

    def _item(self, text: str) -> None:
        self._write(f"- {markdown_cell(text)}\n")

    def section(self, title: str, remark: str = "") -> None:
        self._write(f"\n### {title}\n\n")
        if remark:
            self._write(f"{remark[:1].upper()}{remark[1:]}.\n\n")

    def heading(self) -> None:
        name = name_of_capture(self.summary.captures[0])
        self._write(f"## {markdown_cell(name)}\n\n**{markdown_cell(headline(self.trace, self.summary))}**\n")

    def diagnosis(self) -> None:
        self._write("\n")
        for text in self.answer():
            self._item(text)

    def findings(self) -> None:
        """All findings up to --top, with proof."""
        listed = self.groups[: self.top]
        quoted = self.trace.proof([group.first for group in listed], finding_block.MAX_QUOTES)
        for group in listed:
            self._finding(group, quoted)
        if len(self.groups) > len(listed):
            more = units.counted(len(self.groups) - len(listed), "more finding")
            self._write(f"\n{more}; use --top N to see more.\n")

    def _finding(self, group: FindingGroup, quoted: finding_block.Quoted) -> None:
        finding, worth = group.first, finding_block.saving(self.trace, group)
        title = f"{finding_block.title_of(finding)}{f', {worth}' if worth else ''}"
        self._write(f"\n### {finding.severity} {finding.code}: {markdown_cell(title)}\n\n")
        if where := finding_block.place(self.trace, finding):
            self._write(f"{markdown_cell(where)}\n")
        self._proofs(
            [
                f"{line}: {' '.join(shown(text.replace(chr(9), ' ')).split())}"
                for file, line in finding.places[: finding_block.MAX_QUOTES]
                if (text := quoted.get((finding.capture, file, line)))
            ]
        )
        for label, text in finding_block.notes(self.trace, group, full=True):
            self._write(f"- {label}: {markdown_cell(text)}\n")

    def _proofs(self, quoted: Sequence[str]) -> None:
        if not quoted:
            return
        fence = max((ticks for text in quoted for ticks in _TICKS.findall(text)), default="``", key=len) + "`"
        self._write("".join(f"{line}\n" for line in ("", fence, *quoted, fence, "")))

    def path(self) -> None:
        if not self.rows:
            return
        self.section("Critical path")
        self._write("| on path | share | what | |\n| ---: | ---: | --- | --- |\n")
        for row in self.rows:
            share = f"{row.percent}%" if row.percent or not row.exclusive_ns else "< 1%"
            name = markdown_cell(row.name)
            text = f"{_INDENT}{name}" if row.depth else f"**{name}**"
            took = units.duration(row.exclusive_ns, self.tick_ns)
            self._write(f"| {took} | {share} | {text} | {markdown_cell(row.remark)} |\n")
        if text := blocked_on(self.trace, self.summary, UNICODE.blocked_on, UNICODE.blocked_on_inferred):
            self._write(f"\n{markdown_cell(text[:1].upper() + text[1:])}\n")

    def sentence(self, text: str) -> None:
        self._item(text)

    def table(self, listing: Listing) -> None:
        self._ended = "|\n"
        write_markdown(listing, listing.filled)

    def remarks(self) -> None:
        if said := self.said():
            self.section("Notes")
            for text in said:
                self._item(text)

    def partition(self) -> None:
        super().partition()
        self._write("\n")

    def piece(self, piece: Piece) -> None:
        facts = (piece.name, piece.target, piece.count, piece.remark)
        name, *others = (markdown_cell(shown(fact)) for fact in facts if fact)
        text = ", ".join([f"**{name}**" if piece.depth == 0 else name, *others])
        took = units.duration(piece.exclusive_ns, self.tick_ns)
        self._write(f"- {_INDENT * piece.depth}{took} ({units.share(piece.share)}): {text}\n")

    def ending(self) -> None:
        self._write("\n")
        for text in endings(self.trace, self.summary):
            self._write(f"{markdown_cell(text[:1].upper() + text[1:])}.\n")
