"""A trace, the package's main object: tables of captures, and what rules find in them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeAlias

from tracealyze import _engine
from tracealyze.base.errors import UnreadableCapture, UnusableInput, WrongUsage, did_you_mean
from tracealyze.model import memory
from tracealyze.model.capture_input import capture_files
from tracealyze.model.capture_input.contents import Source, names_of
from tracealyze.model.capture_input.recorded import Scheduling, facts_for_engine, recorded_scheduling
from tracealyze.model.capture_input.temporary_files import TemporaryFiles
from tracealyze.model.engine_errors import translated
from tracealyze.model.trace_tables import TraceTables
from tracealyze.trace.trace_overview import overview

if TYPE_CHECKING:
    from tracealyze.findings.diagnosis import Diagnosis
    from tracealyze.findings.finding import Finding, FindingList
    from tracealyze.findings.rule_set import Rule
    from tracealyze.model.expression import Expression
    from tracealyze.model.selection import Selection
    from tracealyze.trace.summary import Summary
    from tracealyze.trace.what_if import WhatIf

_MAX_QUICK_LINES = 1_000_000
"""Maximum number of lines of a trace that runs the rules when it is printed. Longer ones take seconds."""

Progress: TypeAlias = Callable[[int, int], None]
"""Called now and then while reading, with the bytes read so far and the total, which is 0 if unknown."""


@dataclass(frozen=True)
class Origin:
    """Where the captures of a trace are, to read them again."""

    files: Sequence[Sequence[str]]
    input_format: str | None
    temporary: TemporaryFiles = field(default_factory=TemporaryFiles)
    """Files that exist as long as the trace does."""
    sched: Sequence[str] = ()
    """Files of scheduler events."""


_DOCUMENTED = """
    findings summary window captures totals accounting select of_capture events calls processes tasks partition
    critical_path gaps loops stages items table quote what_if
"""
"""What completion offers of a trace."""


class Trace(TraceTables):
    """One or more captures in memory, or a selection of their events, with what rules find in them.

    findings, summary()                   what the report shows
    window, captures, totals, accounting  the wall time, the files, counts of calls and of lines
    select(...), of_capture(n)            the same captures, restricted to some events
    events, calls(by), processes, tasks   rows of events, and sums of them
    partition, critical_path, gaps, loops where the time went
    stages, items                         stages of a log
    table(name)                           all other tables: `tracealyze explain --columns` lists them
    quote(lines), what_if([...])          lines of a capture, unchanged; the wall time after fixes

    `read` returns it. Tables are computed when they are first used. A pickled trace names its captures; loading it
    reads them again, and raises `UnusableInput` if they have changed.

        >>> import tracealyze
        >>> tracealyze.read("samples/ssh-login/ssh-login.truss")
        <Trace ssh-login.truss: 11.42 s, 5 processes, 2,275 calls, 1 finding (saves up to 9.74 s)>
    """

    def __init__(
        self,
        source: _engine.Trace,
        selection: Selection | None = None,
        rules: Sequence[Rule] | None = None,
        origin: Origin | None = None,
    ) -> None:
        super().__init__(source, selection)
        self._rules = rules
        self._origin = origin

    def _copy(self, selection: Selection) -> Self:
        return self._with_captures(type(self)(self._source, selection, self._rules, self._origin))

    def with_rules(self, rules: Sequence[Rule]) -> Self:
        """The same trace, checked by these rules instead of the packaged ones."""
        return self._with_captures(type(self)(self._source, self.selection, rules, self._origin))

    def __dir__(self) -> list[str]:
        """The names that the description of the class has: others serve reports, and may change."""
        return sorted(_DOCUMENTED.split())

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
    def findings(self) -> FindingList:
        """What the rules find in this trace, by severity and then by impact.

        >>> import tracealyze
        >>> tracealyze.read("samples/ssh-login/ssh-login.truss").findings
        [<Finding TLZ002 hot-loop: error, pid 12200 quota, saves up to 9.74 s>]
        """
        from tracealyze.findings.finding import FindingList

        return FindingList(self.diagnosis.findings)

    def summary(self) -> Summary:
        """Everything that `tracealyze summarize` shows, as data."""
        from tracealyze.trace.summary import summary

        return summary(self, self.diagnosis)

    def what_if(
        self,
        fix: Iterable[Finding | str | int] | Finding | str | int = (),
        *,
        without: Iterable[str] | str = (),
        scale: Mapping[str, float] | None = None,
        parallel: Iterable[str] | str = (),
    ) -> WhatIf:
        """The wall time after fixes, by a replay of the capture: a range, for each fix alone and for all together.

        docs/what-if.md has the method and its assumptions.

        Arguments:
            fix: Findings, or their rules, codes, numbers in the report from 1, or words of their texts.
            without: Conditions on events to be removed, as in `select(where=...)`.
            scale: Conditions on events, with factors for their durations.
            parallel: Programs whose serial children run beside each other, as far as their waits allow.

        Raises:
            WrongUsage: A name or condition is wrong, or there are several captures.
            UnusableInput: The capture has no wall time.

        Example:
            >>> import tracealyze
            >>> found = tracealyze.read("samples/ssh-login/ssh-login.truss").what_if(["hot-loop"])
            >>> found.drift, [round(ns / 1e9, 1) for ns in found.together_ns]
            (0.0, [1.7, 3.1])
        """
        from tracealyze.model import expression
        from tracealyze.trace.what_if import what_if

        def condition(text: str, origin: str) -> Expression:
            return expression.parse(text, "events", kind="condition", origin=origin)

        fixes = (fix,) if isinstance(fix, str | int) or not isinstance(fix, Iterable) else tuple(fix)
        removed = (without,) if isinstance(without, str) else tuple(without)
        return what_if(
            self,
            self.diagnosis,
            fixes,
            {text: condition(text, "without") for text in removed},
            {text: (condition(text, "scale"), factor) for text, factor in (scale or {}).items()},
            (parallel,) if isinstance(parallel, str) else tuple(parallel),
        )

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

    def __reduce__(self) -> tuple[object, ...]:
        origin = self._origin
        if origin is None or any(capture_files.STDIN in files for files in origin.files):
            raise WrongUsage("a trace of standard input cannot be pickled, because loading it reads the capture again.")
        stored = (origin.files, origin.input_format, origin.temporary.contents(), origin.sched)
        return _read_again, (stored, self._extent, self.selection, self._rules)

    @property
    def _extent(self) -> list[tuple[str, int, int]]:
        """Path, lines and bytes of all captures."""
        return [(each.path, each.lines, each.bytes) for each in self._all_captures]

    def __repr__(self) -> str:
        is_quick = "diagnosis" in vars(self) or sum(each.lines for each in self.captures) <= _MAX_QUICK_LINES
        return f"<Trace {overview(self, self.findings if is_quick else None)}>"

    def _repr_html_(self) -> str:
        from tracealyze.trace.notebook_view import notebook_view

        return notebook_view(self, self.findings)


def read(
    captures: Source | Iterable[Source],
    *,
    input_format: str | None = None,
    progress: Progress | None = None,
    pid: Iterable[int] | int = (),
    program: Iterable[str] | str = (),
    from_: str | None = None,
    to: str | None = None,
    root: int | None = None,
    where: str | Expression | None = None,
    sched: Iterable[str] | str = (),
) -> Trace:
    """Read one or more captures.

    Arguments:
        captures: One capture or several. A capture is what the command line accepts (a file, `-`, a directory or
            prefix of `strace -ff` files, a glob, or a URL that fsspec opens), the content of a file as bytes or text,
            or an open file.
        input_format: Use this format instead of detecting it.
        progress: Called now and then with the bytes read and the total, which is 0 if unknown.
        sched: Files of scheduler events that were recorded at the same time: perf.data, or the text of `perf script`,
            `trace-cmd report` or ftrace. The kernel's events then decide what ended a wait.
        pid, program, from_, to, root, where: Restrict the trace, as the options of the command line and
            `Trace.select` do.

    Raises:
        MissingCapture: No file has this name (a `FileNotFoundError`).
        UnreadableCapture: The file cannot be read (an `OSError`).
        UnusableInput: The capture is empty or not in a known format (a `ValueError`).
        WrongUsage: An argument is wrong (a `ValueError`).

    Example:
        >>> import tracealyze
        >>> trace = tracealyze.read("samples/ssh-login/ssh-login.truss", pid=12203)
        >>> trace.totals["calls"]
        10
        >>> tracealyze.read(b"1 1700000000.000000 close(3) = 0 <0.000010>\\n").totals["calls"]
        1
    """
    temporary = TemporaryFiles()
    files = named_files(captures, input_format, temporary)
    trace = read_files(files, input_format, progress, temporary, (sched,) if isinstance(sched, str) else tuple(sched))
    if not (pid or program or from_ or to or root is not None or where):
        return trace
    return trace.select(pid=pid, program=program, from_=from_, to=to, root=root, where=where)


def named_files(
    captures: Source | Iterable[Source], input_format: str | None, temporary: TemporaryFiles
) -> list[list[str]]:
    """The files of each capture. Files in a directory that are not captures are skipped, with a warning.

    Raises `WrongUsage` if there is no capture."""
    named = names_of(captures, temporary)
    if not named:
        raise WrongUsage("no capture: name a file, a directory, or - for standard input.")
    skipped: list[str] = []
    files = capture_files.files_of(named, skipped if input_format is None else None)
    if skipped:
        warnings.warn(f"skipped, not captures: {', '.join(skipped)}", stacklevel=3)
    return files


def read_files(
    files: Sequence[Sequence[str]],
    input_format: str | None,
    progress: Progress | None,
    temporary: TemporaryFiles | None = None,
    sched: Sequence[str] = (),
) -> Trace:
    """Read captures, each given as the list of its files, with files of scheduler events or those that they contain."""
    chosen = checked_format(input_format)
    memory.set_limit()
    for name in sched:
        _must_have_an_end(name)
    named: list[Scheduling] = [(name, None) for name in sched]
    scheduling = named or recorded_scheduling(files)
    source = translated(lambda: _engine.read(files, chosen, progress, facts_for_engine(files), scheduling))
    return Trace(source, origin=Origin(files, input_format, temporary or TemporaryFiles(), sched))


def _must_have_an_end(name: str) -> None:
    """Refuse devices as scheduler events: /dev/zero is read until the memory is full. A pipe may come from perf."""
    if os.path.exists(name) and (Path(name).is_char_device() or Path(name).is_block_device()):
        raise UnreadableCapture(f"{name}: a device has no scheduler events. Name the file that perf record wrote.")


def checked_format(input_format: str | None) -> str | None:
    """The name of a format, if there is one with this name."""
    if input_format is not None and input_format not in _engine.FORMATS:
        known = ", ".join(_engine.FORMATS)
        raise WrongUsage(f'no format "{input_format}" ({known}).{did_you_mean(input_format, _engine.FORMATS)}')
    return input_format


def _read_again(
    stored: tuple[Sequence[Sequence[str]], str | None, dict[str, bytes], Sequence[str]],
    extent: list[tuple[str, int, int]],
    selection: Selection,
    rules: Sequence[Rule] | None,
) -> Trace:
    """A trace that was pickled."""
    files, input_format, contents, sched = stored
    temporary = TemporaryFiles()
    placed = {path: temporary.add(os.path.basename(path), [content]) for path, content in contents.items()}
    files = [[placed.get(file, file) for file in each] for each in files]
    trace = read_files(files, input_format, None, temporary, sched)
    before = [(placed.get(path, path), lines, size) for path, lines, size in extent]
    if before != trace._extent:
        changed = sorted({path for path, *_ in set(before) ^ set(trace._extent)})
        raise UnusableInput(f"{', '.join(changed)}: changed since the trace was pickled. Read the capture again.")
    return Trace(trace._source, selection, rules, trace._origin)
