"""The message that matters among what a process printed or received last."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracealyze.base.sanitize import shown
from tracealyze.trace.outcome import known

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.trace.outcome.processes import EndedProcess

_MAX_CHARACTERS = 110
_MAX_END = 60
_STANDARD_ERROR = 2
# RFC 5424: a message for the system's log begins with its facility and severity, as one number.
_PRIORITY = re.compile(r"<(\d{1,3})>")
_SEVERITIES = 8
_ERROR = 3
_LATEST = 6
_MIN_CUT = 12
"""Characters of the words of an error, from their start, that are no chance."""


@dataclass(frozen=True)
class Message:
    """A line of text that a process printed or received."""

    text: str
    line: int
    is_failure: bool
    """Whether it says that something failed."""
    is_certain: bool
    """Whether it says so in words that programs use for nothing else."""
    is_error_stream: bool = False
    is_exception: bool = False
    """Whether it is the last line of the report of an exception."""

    def quoted(self) -> str:
        """In quotation marks, with its line."""
        return f'"{_shortened(self.text)}" (line {self.line})'


def last_message(process: EndedProcess) -> Message | None:
    """The last message that says why a process failed, or else the last one on its standard error."""
    printed = list(_printed(process))
    errors = [each for each in printed if each.is_error_stream]
    for candidates in (errors, printed):
        failures = [message for message in candidates[-_LATEST:] if message.is_failure]
        if failures:
            return next((each for each in reversed(failures) if each.is_exception), failures[-1])
    return errors[-1] if errors else None


def certain_failure(process: EndedProcess) -> Message | None:
    """A message, among the last ones, that is about a failure whatever the exit status is."""
    found = [each for each in list(_printed(process))[-_LATEST:] if each.is_certain]
    return found[-1] if found else None


def failure_of_child(process: EndedProcess) -> Message | None:
    """What a process received from a child that was not traced, before that ended, in words of a failure only."""
    words, end = known.message_words(), process.ending["child_line"] or 0
    for row in reversed(process.last_texts):
        if not row["printed"] and row["last_line"] <= end and (found := words.certain.search(row["text"])):
            return Message(row["text"][found.start() :], row["last_line"], is_failure=True, is_certain=True)
    return None


def last_progress(process: EndedProcess) -> Message | None:
    """The last line that a process printed."""
    printed = list(_printed(process))
    return printed[-1] if printed else None


def around(process: EndedProcess) -> Iterator[Message]:
    """Lines before and behind those of the tracer, if they are about a failure: output of the program, or prose."""
    yield from reported(process.lines_around)


def rejection(process: EndedProcess) -> Message | None:
    """The last answer of a peer, if that refuses what was requested."""
    received = [row for row in process.last_texts if not row["printed"]]
    for row in received[-1:]:
        if found := known.message_words().rejected.search(row["text"]):
            return Message(found[0], row["last_line"], is_failure=True, is_certain=False)
    return None


def _printed(process: EndedProcess) -> Iterator[Message]:
    """What a process printed, in the order of the lines."""
    written = list(_written(process))
    lines = {message.line for message in written}
    between = [message for message in _between(process) if message.line not in lines]
    yield from sorted([*written, *between], key=lambda message: message.line)


def _between(process: EndedProcess) -> Iterator[Message]:
    """Lines on the terminal between those of the tracer, if they are about a failure. Others may be prose."""
    yield from reported(process.foreign_lines)


def reported(rows: Iterable[Row]) -> Iterator[Message]:
    """Of lines that are not of the tracer, those that report a failure, without remarks of whoever copied them."""
    words = known.message_words()
    for row in rows:
        text = row["text"].strip()
        if _is_failure(text) and not words.remark.match(text):
            is_certain, is_exception = (bool(each.search(text)) for each in (words.certain, words.exception))
            yield Message(text, row["line"], is_failure=True, is_certain=is_certain, is_exception=is_exception)


def _written(process: EndedProcess) -> Iterator[Message]:
    words = known.message_words()
    for row in process.last_texts:
        if not row["printed"]:
            continue
        priority = _PRIORITY.match(row["text"])
        text = row["text"][priority.end() :] if priority else row["text"]
        lines = [line.strip() for line in text.splitlines() if any(map(str.isalnum, line))]
        if lines:
            # What is handled may be told on several lines.
            is_handled = words.harmless.search(text) is not None
            failures = [line for line in lines if _is_failure(line) or words.rejected.search(line)]
            failures = [] if is_handled else failures
            raised = [line for line in failures if words.exception.search(line)]
            yield Message(
                (raised or failures or lines)[-1],
                row["last_line"],
                is_failure=bool(failures),
                is_certain=not is_handled and any(map(words.certain.search, lines)),
                is_error_stream=_is_error_stream(row, priority),
                is_exception=bool(raised),
            )


def _is_failure(text: str) -> bool:
    """Whether a line says that something failed, and not that this was handled."""
    words = known.message_words()
    is_told = words.failure.search(text) or (text.endswith("…") and any(map(_is_weighty_in(text), known.errors())))
    return bool(is_told) and not words.harmless.search(text)


def _is_weighty_in(text: str) -> Callable[[str], bool]:
    """Whether a text ends within the words of an error, given by its name, that programs do not expect."""
    return lambda name: bool(known.errors()[name].weight) and is_cut_in(text, known.errors()[name].text)


def is_cut_in(text: str, phrase: str) -> bool:
    """Whether the tracer cut a text within a phrase: `Network is unr…`."""
    said, phrase = text.lower(), phrase.lower()
    return any(said.endswith(f"{phrase[:end]}…") for end in range(_MIN_CUT, len(phrase)))


def _is_error_stream(row: Row, priority: re.Match[str] | None) -> bool:
    """Whether a text was printed where errors are: on standard error, or in the system's log with that severity."""
    if priority:
        return int(priority[1]) % _SEVERITIES <= _ERROR
    return bool(row["fd"] == _STANDARD_ERROR or row["target"] == "stderr")


def _shortened(text: str) -> str:
    """The text on one line. Of a long one, the start says who speaks, and the end what happened."""
    text = " ".join(shown(text).split())
    if len(text) <= _MAX_CHARACTERS:
        return text
    end = "" if text.endswith("…") else text[-_MAX_END:]
    return f"{text[: _MAX_CHARACTERS - 1 - len(end)]}…{end}"
