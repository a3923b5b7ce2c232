"""The verdict as annotations of GitHub Actions, in its workflow commands: `::error title=…::…`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracealyze.compare.gate.judgement import Judgement, Outcome
from tracealyze.render.gate.words import DOUBTFUL, cut, details, headline, title

if TYPE_CHECKING:
    from tracealyze.compare.gate.verdict import Verdict

# A step shows ten annotations of each level and silently drops the rest.
_MAX_ANNOTATIONS = 10
_LONGEST_TITLE = 200
_LONGEST = 4000


def rendered(verdict: Verdict) -> str:
    """As workflow commands, one per line."""
    return "".join(f"{line}\n" for line in _lines(verdict))


def _lines(verdict: Verdict) -> Iterator[str]:
    if verdict.is_open:
        yield _command("error", headline(verdict), "\n".join(verdict.notes))
    elif verdict.notes:
        yield _command("notice", headline(verdict), "\n".join(verdict.notes))
    yield from _annotations("error", verdict.of(Outcome.FAILED))
    yield from _annotations("warning", verdict.of(Outcome.WARNED))
    notices = [each for each in verdict.of(*DOUBTFUL) if each.outcome is not Outcome.WARNED]
    yield from _annotations("notice", notices)


def _annotations(level: str, judgements: Sequence[Judgement]) -> Iterator[str]:
    shown = judgements if len(judgements) <= _MAX_ANNOTATIONS else judgements[: _MAX_ANNOTATIONS - 1]
    for judgement in shown:
        yield _command(level, title(judgement), "\n".join([title(judgement), *details(judgement)]))
    rest = judgements[len(shown) :]
    if rest:
        yield _command(level, f"{len(rest)} more", "\n".join(title(judgement) for judgement in rest))


def _command(level: str, heading: str, message: str) -> str:
    return f"::{level} title={_property(cut(heading, _LONGEST_TITLE))}::{_data(cut(message, _LONGEST))}"


def _data(text: str) -> str:
    # The runner also executes an older form of commands, anywhere in a line.
    text = text.replace("##[", "# #[")
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
