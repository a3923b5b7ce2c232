"""Texts of the plugin: why a test failed, and the table of counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tracealyze.base.sanitize import shown
from tracealyze.compare.gate.judgement import Outcome
from tracealyze.render.gate.words import body

if TYPE_CHECKING:
    from tracealyze.compare.gate.verdict import Verdict

_COLUMNS = ("calls", "failed", "opens", "execs", "processes", "threads")


def failure(verdict: Verdict, baseline: str | None) -> str:
    """Each exceeded limit with the calls that made it and their lines."""
    return "\n".join(_lines(verdict, baseline))


def _lines(verdict: Verdict, baseline: str | None) -> Iterator[str]:
    failed = verdict.of(Outcome.FAILED)
    yield f"syscalls: {len(failed)} of {len(verdict.judgements)} limits exceeded" if failed else "syscalls: no verdict"
    yield from (f"  {shown(note)}" for note in verdict.notes if not failed)
    for number, regression in enumerate(verdict.regressions, start=1):
        yield f"{number}. {shown(regression.title)}"
        yield from (f"   {line}" for line in body(regression))
    if baseline and failed:
        yield f"Intended? Accept it: pytest --syscalls-baseline {baseline} --syscalls-accept"


def table(counts: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """A row per test."""
    yield "".join(f"{name:>11}" for name in _COLUMNS)
    for test, values in counts.items():
        yield "".join(f"{values[name]:>11,}" for name in _COLUMNS) + f"  {shown(test)}"
