"""Several captures or runs in a few lines: one line each, what differs, and which one is the slowest."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.program_names import short
from tracealyze.base.sanitize import shown
from tracealyze.findings.finding import Severity
from tracealyze.render import finding_block, output
from tracealyze.render.capture_notes import name_of_capture
from tracealyze.render.listing import Column, Listing, markdown_cell, strips, write_markdown
from tracealyze.render.terminal import Terminal
from tracealyze.trace.outcome import Verdict
from tracealyze.trace.outcome.verdict import saving_of

if TYPE_CHECKING:
    from tracealyze.trace.summary import Summary
    from tracealyze.trace.trace import Trace

MAX_ROWS = 12
_MIN_CAUSE_WIDTH = 20
_MAX_NAMED = 3
_MAX_RULES = 6


@dataclass(frozen=True)
class Run:
    """One capture, or one run in a file. The name is its path, or its path and number. The number is None if the file
    has only one run."""

    name: str
    file: str
    number: int | None
    wall_ns: int
    tick_ns: int
    calls: int
    saving: str
    cause: str
    rules: frozenset[str]
    """Names of the rules with errors or warnings."""

    @property
    def weight(self) -> tuple[int, int]:
        """The slowest run has the largest."""
        return self.wall_ns, self.calls


def run_of(trace: Trace, summary: Summary) -> Run:
    """What the overview shows about a capture."""
    capture = summary.captures[0]
    return Run(
        name=name_of_capture(capture),
        file=capture.path,
        number=capture.run if capture.runs > 1 else None,
        wall_ns=summary.window.wall_ns,
        tick_ns=trace.tick_ns,
        calls=summary.totals.get("calls", 0),
        saving=saving_of(*summary.saving_ns, 0, trace.tick_ns).removeprefix("saves "),
        cause=_cause(summary),
        rules=frozenset(each.name for each in summary.findings if each.severity is not Severity.INFO),
    )


def _cause(summary: Summary) -> str:
    """How the run went, if that leads, or else the first finding of the diagnosis in a few words."""
    outcome = summary.outcome
    if outcome.text and outcome.verdict not in (Verdict.SLOW, Verdict.FINE, Verdict.CANNOT_TELL):
        return f"{outcome.verdict.word}: {outcome.text}"
    for sentence in summary.diagnosis[:1]:
        if sentence.finding is None:
            return "nothing stands out"
        finding = summary.findings[sentence.finding]
        program = short(finding.program)
        title = finding_block.title_of(finding)
        return f"{title} ({shown(program)})" if program else title
    return ""


def headline(runs: Sequence[Run]) -> str:
    """How many there are, and the range of their wall times."""
    kind = "run" if all(run.number for run in runs) else "capture"
    walls_ns = sorted(run.wall_ns for run in runs if run.wall_ns)
    tick_ns = max(run.tick_ns for run in runs)
    if len(walls_ns) < len(runs):
        return f"{units.counted(len(runs), kind)}"
    low, middle, high = (units.duration(ns, tick_ns) for ns in (walls_ns[0], median(walls_ns), walls_ns[-1]))
    return f"{units.counted(len(runs), kind)}: {low} to {high} wall time, median {middle}"


def differences(runs: Sequence[Run]) -> str:
    """Which rules match in all of them, and which only in some."""
    names = sorted({name for run in runs for name in run.rules})
    everywhere = [name for name in names if all(name in run.rules for run in runs)]
    labels = _labels(runs)
    some = []
    for name in (name for name in names if name not in everywhere):
        here = [label for run, label in zip(runs, labels, strict=True) if name in run.rules]
        few = ", ".join(here) if len(here) <= _MAX_NAMED else f"{units.count(len(here))} of {units.count(len(runs))}"
        some.append(f"{name} ({few})")
    parts = [f"in all: {', '.join(everywhere)}"] if everywhere else []
    if some:
        more = f", {len(some) - _MAX_RULES} more" if len(some) > _MAX_RULES else ""
        parts.append(f"only in some: {', '.join(some[:_MAX_RULES])}{more}")
    return "; ".join(parts)


def _labels(runs: Sequence[Run]) -> list[str]:
    """Short names: the number of the run, or the file without the folder that all have in common."""
    files = sorted({run.file for run in runs})
    names = {file: os.path.basename(file) for file in files}
    if len(set(names.values())) < len(files):
        folder = os.path.commonpath([os.path.dirname(os.path.abspath(file)) for file in files])
        names = {file: os.path.relpath(file, folder) for file in files}
    return [_label(run, "" if len(files) == 1 else shown(names[run.file])) for run in runs]


def _label(run: Run, file: str) -> str:
    number = f"run {run.number}" if run.number else ""
    return f"{file} {number}".strip() or shown(os.path.basename(run.file))


def listing(runs: Sequence[Run], cut: Callable[[str], str] = str) -> Listing:
    """One row per run; of many, the slowest."""
    rows = [
        {"run": cut(label), "wall_ns": run.wall_ns or None, "calls": run.calls, "saves": run.saving, "cause": run.cause}
        for run, label in zip(runs, _labels(runs), strict=True)
    ]
    if len(rows) > MAX_ROWS:
        order = sorted(range(len(rows)), key=lambda at: runs[at].weight, reverse=True)[:MAX_ROWS]
        rows = [rows[at] for at in order]
    columns = [Column("run", "capture" if any(not run.number for run in runs) else "run"), Column("wall_ns", "wall")]
    if not any(run.wall_ns for run in runs):
        columns.append(Column("calls", "calls"))
    columns += [Column("saves", "saves", right=True), Column("cause", "cause", min_width=_MIN_CAUSE_WIDTH)]
    return Listing("runs", columns, rows, max(run.tick_ns for run in runs))


def show(runs: Sequence[Run], slowest: int, together: Sequence[str] = ()) -> int:
    """Print the overview; returns its number of lines."""
    terminal = Terminal()
    with terminal.held() as lines:
        terminal.line((headline(runs), "bold"))
        terminal.line()
        terminal.rows(strips(listing(runs, lambda name: terminal.cut_named(name, terminal.width // 3))))
        terminal.line()
        if len(runs) > MAX_ROWS:
            terminal.line((f"{units.counted(len(runs) - MAX_ROWS, 'faster run')}: --each", "dim"))
        if text := differences(runs):
            terminal.paragraph(text)
        for text in together:
            terminal.paragraph(text)
        terminal.paragraph(f"The slowest is {_labels(runs)[slowest]}, shown below; --each shows all.")
        terminal.line()
    terminal.lines(lines)
    terminal.note_hidden()
    return len(lines)


def show_markdown(runs: Sequence[Run], slowest: int, together: Sequence[str] = ()) -> int:
    """Print the overview as markdown, which has no limit of lines."""
    output.write(f"# {markdown_cell(headline(runs))}\n\n")
    table = listing(runs)
    write_markdown(table, table.filled)
    said = (differences(runs), *together, f"The slowest is {_labels(runs)[slowest]}, shown below; --each shows all.")
    output.write("".join(f"\n{markdown_cell(text)}\n" for text in said if text) + "\n")
    return 0
