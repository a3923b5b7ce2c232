"""The verdict as annotations of GitHub Actions, in its workflow commands: `::error title=…::…`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracealyze.base.sanitize import shown
from tracealyze.compare.gate.judgement import Judgement, Outcome
from tracealyze.compare.gate.verdict import Status
from tracealyze.render.gate.words import (
    DOUBTFUL,
    body,
    cut,
    details,
    fallback,
    headline,
    place,
    place_of,
    remarks_of,
    title,
)

if TYPE_CHECKING:
    from tracealyze.compare.gate.scripts import Source
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
        # A baseline that is missing is not a file to point at.
        where = None if verdict.status is Status.NO_BASELINE else fallback(verdict)
        yield _command("error", headline(verdict), "\n".join(verdict.notes), where)
    elif verdict.notes and not verdict.regressions:
        yield _command("notice", headline(verdict), "\n".join(verdict.notes), fallback(verdict))
    if verdict.regressions:
        yield from _regressions(verdict)
        return
    yield from _annotations("warning", verdict.of(Outcome.WARNED), verdict)
    notices = [each for each in verdict.of(*DOUBTFUL) if each.outcome is not Outcome.WARNED]
    yield from _annotations("notice", notices, verdict)


def _regressions(verdict: Verdict) -> Iterator[str]:
    regressions = verdict.regressions
    explained = regressions if len(regressions) <= _MAX_ANNOTATIONS else regressions[: _MAX_ANNOTATIONS - 1]
    # One annotation for each regression. The first one has what else there is to know.
    also = [*verdict.notes, *remarks_of(verdict)]
    for regression in explained:
        text = "\n".join([*body(regression), *also])
        yield _command("error", regression.title, text, place(regression, verdict))
        also = []
    rest = regressions[len(explained) :]
    if rest:
        yield _command("error", f"{len(rest)} more", "\n".join(each.title for each in rest), fallback(verdict))


def _annotations(level: str, judgements: Sequence[Judgement], verdict: Verdict) -> Iterator[str]:
    shown = judgements if len(judgements) <= _MAX_ANNOTATIONS else judgements[: _MAX_ANNOTATIONS - 1]
    for judgement in shown:
        text = "\n".join([title(judgement), *details(judgement)])
        yield _command(level, title(judgement), text, place_of(judgement, verdict))
    rest = judgements[len(shown) :]
    if rest:
        titles = "\n".join(title(judgement) for judgement in rest)
        yield _command(level, f"{len(rest)} more", titles, fallback(verdict))


def _command(level: str, heading: str, message: str, where: Source | None) -> str:
    at = f"file={_property(shown(where.path))},line={where.line}," if where else ""
    text = _data(cut(message, _LONGEST))
    return f"::{level} {at}title={_property(cut(shown(heading), _LONGEST_TITLE))}::{text}"


def _data(text: str) -> str:
    # The runner also executes an older form of commands, anywhere in a line.
    text = text.replace("##[", "# #[")
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
