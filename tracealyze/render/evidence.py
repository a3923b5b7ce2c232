"""Lines of a capture as evidence: shortened in the middle of the arguments, with what matters marked below."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracealyze.base.sanitize import shown
from tracealyze.render.terminal import cells

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding

# A call by its name, or an event that is not a call.
_CALL = re.compile(r"(?<![\w./-])(?:<\.\.\. )?([a-z_][a-z0-9_]*)(?:\(| resumed)|--- (SIG\w+)|\+\+\+ (\w[\w ]*)")
# The result: what a person compares, at the end of a line.
_RESULT = re.compile(
    r"(= -1 E[A-Z0-9]+|Err#\d+(?: E[A-Z0-9]+)?)|(<\d+\.\d+>)\s*$|(<unfinished \.\.\.>|<detached \.\.\.>)"
)
_NAME = re.compile(r"\b[A-Z][A-Z0-9_]{3,}\b")
_TAIL = re.compile(r"\)?\s*(?:=\s.{1,60}|Err#.{1,30}|<unfinished \.\.\.>)$")
_MIN_HEAD = 24


@dataclass(frozen=True)
class Quote:
    """A line of a capture."""

    number: int
    text: str
    """The line in one line of the available width."""
    marks: str
    """Carets below what matters; empty if nothing does."""


def quote(number: int, text: str, finding: Finding, width: int, ellipsis: str) -> Quote:
    """A line of evidence of a finding."""
    plain = " ".join(shown(text.replace("\t", " ")).split())
    fitted = _fitted(plain, width, ellipsis)
    return Quote(number, fitted, _marks(fitted, finding))


def _fitted(text: str, width: int, ellipsis: str) -> str:
    """The line shortened to the width: the result at its end is kept, arguments are dropped."""
    if cells(text) <= width:
        return text
    tail = _TAIL.search(text)
    end = tail[0].strip() if tail else ""
    head = width - cells(end) - cells(ellipsis)
    if not end or head < _MIN_HEAD:
        end, head = "", width - cells(ellipsis)
    from rich.cells import set_cell_size

    return f"{set_cell_size(text, max(head, 0)).rstrip()}{ellipsis}{end}"


def _marks(text: str, finding: Finding) -> str:
    spans = []
    call = _CALL.search(text)
    if call:
        spans.append(next(call.span(group) for group in (1, 2, 3) if call[group]))
        # The request of a call, if the finding names it.
        spans.extend(match.span() for match in _NAME.finditer(text, call.end()) if match[0] in finding.message)
    spans.extend(match.span() for match in _RESULT.finditer(text, call.end() if call else 0))
    marks = [" "] * len(text)
    for begin, end in spans:
        marks[begin:end] = "^" * (end - begin)
    # A caret stands below the right letter only if each letter takes one cell.
    return "".join(marks).rstrip() if call and cells(text) == len(text) else ""
