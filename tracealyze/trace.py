"""A trace, the package's main object: tables of captures, and what rules find in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from os import PathLike, fsdecode
from typing import TYPE_CHECKING, Self, TypeAlias

from tracealyze import _engine
from tracealyze.capture_input import capture_files
from tracealyze.engine_errors import translated
from tracealyze.errors import WrongUsage, did_you_mean
from tracealyze.trace_tables import TraceTables

if TYPE_CHECKING:
    from tracealyze.findings.diagnosis import Diagnosis
    from tracealyze.findings.finding import Finding
    from tracealyze.findings.rule_set import Rule
    from tracealyze.selection import Selection
    from tracealyze.summary import Summary

Progress: TypeAlias = Callable[[int, int], None]
"""Called now and then while reading, with the bytes read so far and the total, which is 0 if unknown."""


class Trace(TraceTables):
    """One or more captures in memory, or a selection of their events, with what rules find in them."""

    def __init__(
        self, source: _engine.Trace, selection: Selection | None = None, rules: Sequence[Rule] | None = None
    ) -> None:
        super().__init__(source, selection)
        self._rules = rules

    def _copy(self, selection: Selection) -> Self:
        return type(self)(self._source, selection, self._rules)

    def with_rules(self, rules: Sequence[Rule]) -> Self:
        """The same trace, checked by these rules instead of the packaged ones."""
        return type(self)(self._source, self.selection, rules)

    @property
    def rules(self) -> Sequence[Rule]:
        """The rules that check this trace; the packaged ones by default."""
        from tracealyze.findings.rule_set import rules

        return rules() if self._rules is None else self._rules

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """The findings, and the time that no finding explains."""
        from tracealyze.findings.diagnosis import diagnosis

        return diagnosis(self, self.rules)

    @property
    def findings(self) -> list[Finding]:
        """What the rules find in this trace, by severity and then by impact."""
        return self.diagnosis.findings

    def summary(self) -> Summary:
        """Everything that `tracealyze summarize` shows, as data."""
        from tracealyze.summary import summary

        return summary(self, self.diagnosis)

    def proof(self, findings: Iterable[Finding], limit: int) -> dict[tuple[int, str, int], str]:
        """The text of the first `limit` lines of evidence of each finding, by capture, file and line.

        Each file is read once: reading a compressed file up to one line costs as much as up to many."""
        wanted: dict[tuple[int, str], set[int]] = {}
        for finding in findings:
            for file, line in finding.places[:limit]:
                wanted.setdefault((finding.capture, file), set()).add(line)
        found: dict[tuple[int, str, int], str] = {}
        for (number, file), lines in wanted.items():
            texts = self.quote(sorted(lines), number, file or None)
            found |= {(number, file, line): text for line, text in zip(sorted(lines), texts, strict=False)}
        return found


def read(
    captures: str | bytes | PathLike[str] | Iterable[str | PathLike[str]],
    *,
    input_format: str | None = None,
    progress: Progress | None = None,
) -> Trace:
    """Read one or more captures: files, `-`, folders or prefixes of `strace -ff` files, globs.

    Raises `UnusableInput` if a capture cannot be found, read or recognised."""
    named = [captures] if isinstance(captures, str | bytes | PathLike) else list(captures)
    if not named:
        raise WrongUsage("no capture: name a file, a directory, or - for standard input.")
    return read_files(capture_files.files_of(fsdecode(name) for name in named), input_format, progress)


def read_files(files: Sequence[Sequence[str]], input_format: str | None, progress: Progress | None) -> Trace:
    """Read captures, each given as the list of its files."""
    if input_format is not None and input_format not in _engine.FORMATS:
        known = ", ".join(_engine.FORMATS)
        raise WrongUsage(f'no format "{input_format}" ({known}).{did_you_mean(input_format, _engine.FORMATS)}')
    return Trace(translated(lambda: _engine.read(files, input_format, progress)))
