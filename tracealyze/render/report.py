"""The report of `summarize`: the answer first, then the findings with proof, then where the time went."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from tracealyze.base import suggested, units
from tracealyze.base.heuristics import MIN_LINK_SHARE, MIN_PIECE_SHARE, MIN_UNEXPLAINED_SHARE
from tracealyze.base.program_names import short
from tracealyze.base.sanitize import Shown, shown
from tracealyze.findings.grouping import FindingGroup, grouped, that_doubt_times
from tracealyze.model.capture_input.capture_info import counted_processes
from tracealyze.model.time_names import name_of
from tracealyze.render import finding_block, lanes, path_rows, processes, stages, top_calls, witness
from tracealyze.render.capture_notes import name_of_capture, read_lines, remarks, time_line, window_lines
from tracealyze.render.listing import Listing, strips
from tracealyze.render.partition import Piece, folded
from tracealyze.render.terminal import Terminal, TextLine, cells
from tracealyze.trace.outcome.outcome import Verdict
from tracealyze.trace.outcome.verdict import saving_of

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding
    from tracealyze.model.table import Row
    from tracealyze.render.path_rows import PathRow
    from tracealyze.trace.summary import Summary
    from tracealyze.trace.trace import Trace

MAX_LINES = 60
"""Lines of the report of a capture, unless everything is requested."""
# Right-aligned parts stay near the text in a wide terminal.
_MAX_WIDTH = 100
_MAX_FULL_FINDINGS = 3
_MAX_SHORT_FINDINGS = 4
_MAX_REMARKS = 4
_MAX_PATH_ROWS = 7
_MAX_CALLS = 6
_MAX_STAGES = 5
_MIN_CHAIN_LENGTH = 2
_MIN_LANE_WIDTH = 20
_ABOUT_LOOPS = frozenset(("hot-loop", "slowing-loop"))
"""Rules about calls that repeat, whose table shows what one iteration does."""
_SEVERITIES = ("error", "warning", "info")


def show(trace: Trace, summary: Summary, top: int, full: bool = False, used: int = 0) -> None:
    """Print the report of one capture, after `used` lines of output."""
    Report(trace, summary, top, full, MAX_LINES - used).show()


class Report:
    """The report as text of the available width."""

    def __init__(self, trace: Trace, summary: Summary, top: int, full: bool, room: int = MAX_LINES) -> None:
        self.trace = trace
        self.summary = summary
        self.top = top
        self.full = full
        self.room = room
        self.text_lines = finding_block.MAX_TEXT_LINES
        self.terminal = Terminal()
        self.page = min(self.terminal.width, _MAX_WIDTH)
        self.tick_ns = trace.tick_ns
        self.groups = grouped(summary.findings)
        self.rows = path_rows.path_rows(trace, top if full else min(top, _MAX_PATH_ROWS))

    def show(self) -> None:
        """Print the report. Findings get the lines that the other parts leave."""
        begin = self._held(self.heading, self.diagnosis)
        optional = [self.timeline, self.stages]
        while True:
            self.terminal.forget_hidden()
            rest = self._held(self.path, *optional, self.remarks, *self._tables(), self.ending)
            findings = self._findings(self.room - len(begin) - len(rest))
            if self.full or len(begin) + len(findings) + len(rest) <= self.room or self.text_lines == 1:
                break
            # The least informative part is dropped first; then texts get shorter.
            if optional:
                optional.pop(0)
            else:
                self.text_lines -= 1
        for lines in (begin, findings, rest):
            self.terminal.lines(lines)
        self.terminal.note_hidden()

    def _held(self, *parts: Callable[[], None]) -> list[TextLine]:
        with self.terminal.held() as lines:
            for part in parts:
                part()
        return lines

    def _tables(self) -> Sequence[Callable[[], None]]:
        """Everything else: with --full, or if there is no critical path."""
        if self.full:
            return (self.partition, self.processes, self.calls, self.facts)
        return () if self.rows else (self.calls,)

    def section(self, title: str, remark: str = "") -> None:
        """A heading within the report."""
        self.terminal.line()
        beside = cells(f"{title}  {remark}") <= self.terminal.width
        self.terminal.line((title, "bold"), (f"  {remark}" if remark and beside else "", "dim"))
        if remark and not beside:
            self.terminal.paragraph(remark, style="dim", indent=2)

    def heading(self) -> None:
        """What traced processes did without a call; the capture, its wall time, and what could be saved."""
        if self.summary.standstill:
            self.terminal.paragraph(self.summary.standstill.line, "bold")
            self.terminal.line()
        name = name_of_capture(self.summary.captures[0])
        facts = headline(self.trace, self.summary)
        if cells(name) + 2 + cells(facts) <= self.terminal.width:
            self.terminal.line((f"{name}: ", ""), (facts, "bold"))
        else:
            self.terminal.cut_line((self.terminal.cut_named(name, self.terminal.width), ""))
            self.terminal.paragraph(facts, "bold", indent=2)
        if lack := self.summary.captures[0].general_lack:
            self.terminal.paragraph(lack)

    def diagnosis(self) -> None:
        """How the run went and the answer, in a few sentences."""
        sentences = list(self.answer())
        if not sentences:
            return
        self.terminal.line()
        for text in sentences:
            self.terminal.paragraph(text, indent=2, most=None if self.full else 3)

    def answer(self) -> Iterator[str]:
        """The sentences of the diagnosis. The heading has the first one of how the run went."""
        outcome = self.summary.outcome
        if self.summary.standstill:
            # The heading has its first sentence.
            yield from (each.text for each in self.summary.diagnosis[1:])
            return
        for sentence in self.summary.diagnosis:
            if sentence is self.summary.lead:
                yield from outcome.details
            else:
                yield sentence.text
        if self.summary.lead not in self.summary.diagnosis:
            yield from () if outcome.text else outcome.details
        if outcome.unseen:
            yield f"Cannot show: {outcome.unseen}."
        if outcome.next:
            yield f"Next: {outcome.next}"

    def _findings(self, room: int) -> list[TextLine]:
        """The findings, the first ones with proof; the others, and finally their number, in one line each."""
        groups = self.groups if self.full else self.groups[: _MAX_FULL_FINDINGS + _MAX_SHORT_FINDINGS]
        quoted = self.trace.proof([group.first for group in groups], finding_block.MAX_QUOTES)
        lines: list[TextLine] = []
        blocks = 0
        for group in groups:
            block = self._held(lambda group=group: self._block(group, quoted))  # type: ignore[misc]
            others = min(len(self.groups) - blocks - 1, _MAX_SHORT_FINDINGS + 1)
            is_first = blocks == 0
            fits = len(lines) + len(block) + (others + 1 if others else 0) <= room
            if not self.full and not is_first and (blocks == _MAX_FULL_FINDINGS or not fits):
                break
            lines += block
            blocks += 1
        rest = self.groups[blocks:]
        if rest:
            lines += self._held(lambda: self._short_findings(rest, max(room - len(lines) - 1, 1)))
        return lines

    def _block(self, group: FindingGroup, quoted: finding_block.Quoted) -> None:
        self.terminal.line()
        most = None if self.full else self.text_lines
        finding_block.show(self.terminal, self.trace, group, quoted, self.page, most)

    def _short_findings(self, rest: Sequence[FindingGroup], room: int) -> None:
        self.terminal.line()
        listed = rest[: min(_MAX_SHORT_FINDINGS, room if len(rest) <= room else max(room - 1, 0))]
        for group in listed:
            finding = group.first
            style = finding_block.STYLES.get(finding.severity, "bold")
            self.terminal.cut_line(
                (f"{finding.severity}[{finding.code}]", style), (f": {shown(finding.diagnosis or finding.message)}", "")
            )
        if len(rest) > len(listed):
            more = units.counted(len(rest) - len(listed), "more finding")
            self.terminal.line((f"{more}: --full", "dim"))

    def path(self) -> None:
        """The critical path by command line, and the chain of blocked processes."""
        if not self.rows:
            return
        self.terminal.line()
        title = "Critical path"
        total = f"{units.duration(self.summary.window.wall_ns, self.tick_ns)} = 100%"
        width = max(self.page - cells(title), cells(total) + 2)
        self.terminal.line((title, "bold"), (total.rjust(width), "dim"))
        for row in self.rows:
            self._path_row(row)
        self._chain()

    def _path_row(self, row: PathRow) -> None:
        width = min(self.terminal.width // 5, 24)
        share = f"{row.percent}%" if row.percent or not row.exclusive_ns else "< 1%"
        amount = f"{units.duration(row.exclusive_ns, self.tick_ns):>9} {share:>5}  "
        bar = self.terminal.drawn.bar(row.exclusive_ns / self.summary.window.wall_ns, width).ljust(width + 2)
        indent = "  " * row.depth
        room = self.terminal.width - cells(amount) - cells(bar) - len(indent)
        name = self.terminal.cut_named(row.name, max(room, 8))
        if row.remark:
            # Long command lines give way to what the process did, down to half of the room.
            wanted = max(room - cells(row.remark) - 2, room // 2)
            name = self.terminal.cut_named(row.name, max(wanted, 8))
        self.terminal.cut_line(
            (amount, ""),
            (bar, "" if row.depth == 0 else "dim"),
            (indent + name, "bold" if row.depth == 0 else ""),
            (f"  {row.remark}" if row.remark else "", "dim"),
        )

    def _chain(self) -> None:
        text = blocked_on(
            self.trace, self.summary, self.terminal.drawn.blocked_on, self.terminal.drawn.blocked_on_inferred
        )
        if text:
            self.terminal.paragraph(text, indent=2, most=None if self.full else 2)

    def timeline(self) -> None:
        """When each command ran, where a drawing shows more than a table."""
        room = self.page - 4
        name_width = min(max((cells(row.name) for row in self.rows), default=0), room // 3, 28)
        width = room - name_width
        found = lanes.lanes(self.trace, self.rows, width, self.terminal.drawn) if width >= _MIN_LANE_WIDTH else []
        if not found:
            return
        drawn = self.terminal.drawn
        wall = units.duration(self.summary.window.wall_ns, self.tick_ns)
        legend = f"0 s to {wall}; {drawn.blocks[-1]} on the critical path, {drawn.alive} running or blocked"
        self.section("Timeline", legend)
        for name, bar in found:
            shortened = self.terminal.cut_named(name, name_width)
            self.terminal.line((f"  {shortened}{' ' * (name_width - cells(shortened))}  ", ""), (bar, ""))

    def stages(self) -> None:
        """For logs: the cost of each additional item, and the time that items spend in each stage."""
        kinds = stages.relevant_items(self.trace) if self.summary.captures[0].dur_kind == "gap" else []
        if not kinds:
            return
        most = self.top if self.full else 1
        self.section("Items", "messages that differ only in a number or a name")
        for kind in kinds[:most]:
            self.sentence(stages.sentence(kind, self.tick_ns))
        names = {kind["item"] for kind in kinds[:most]}
        rows = [row for row in self.trace.stages if row["item"] in names]
        most = self.top if self.full else _MAX_STAGES
        remark = "time until the next message about the same item"
        self.section("Stages", processes.of_all(min(most, len(rows)), len(rows), remark))
        self.table(stages.listing(rows[:most], self.tick_ns))

    def sentence(self, text: str) -> None:
        """A sentence of a section."""
        self.terminal.paragraph(text, indent=2)

    def table(self, listing: Listing) -> None:
        """Rows under headings."""
        self.terminal.rows(strips(listing))

    def remarks(self) -> None:
        """Limits of the trust in the report."""
        said = self.said()
        if not said:
            return
        self.terminal.line()
        for text in said if self.full else said[:_MAX_REMARKS]:
            self.terminal.paragraph(text, indent=0, label="note: ", most=None if self.full else self.text_lines)
        if not self.full and len(said) > _MAX_REMARKS:
            self.terminal.line((f"{units.counted(len(said) - _MAX_REMARKS, 'more note')}: --full", "dim"))

    def said(self) -> list[str]:
        """The remarks that no finding states."""
        stated = {finding.name for finding in self.summary.findings}
        seen = witness.sentences(self.trace.witness, self.tick_ns) if self.trace.witness else ()
        return [*seen, *remarks(self.summary.captures[0], self.summary.window, stated)]

    def partition(self) -> None:
        """Where the wall time went, by process, call and target."""
        pieces = folded(self.trace, self.top)
        if pieces:
            self.section("Where the time went", "critical path by process, call and target")
            for piece in pieces:
                self.piece(piece)

    def piece(self, piece: Piece) -> None:
        """A line of the partition."""
        indent = "  " * piece.depth
        amount = f"{units.duration(piece.exclusive_ns, self.tick_ns):>9} {units.share(piece.share):>7}  {indent}"
        facts = "  ".join(fact for fact in (shown(piece.target), piece.count, piece.remark) if fact)
        room = max(self.terminal.width - cells(amount) - (cells(facts) + 2 if facts else 0), 24)
        name = self.terminal.cut_named(shown(piece.name), room)
        self.terminal.cut_line((amount, ""), (name, "" if piece.depth else "bold"), (f"  {facts}", "dim"))

    def processes(self) -> None:
        """The processes, most expensive first."""
        if found := processes.listing(self.trace, self.top, self.tick_ns):
            self.section("Processes", found[0])
            self.table(found[1])

    def calls(self) -> None:
        """The top calls by request and target."""
        if found := top_calls.listing(self.trace, self.summary, self.top if self.full else min(self.top, _MAX_CALLS)):
            self.section("Top calls", found[0])
            self.table(found[1])

    def facts(self) -> None:
        """Everything about the capture."""
        capture = self.summary.captures[0]
        self.section("Capture")
        for text in (*read_lines(capture, self.summary.totals), time_line(capture)):
            self.sentence(text)
        for text in window_lines(self.summary.window, capture):
            self.sentence(text)

    def ending(self) -> None:
        """Counts, what is unexplained, and the next commands."""
        self.terminal.line()
        most = None if self.full else 2
        for text in endings(self.trace, self.summary):
            self.terminal.paragraph(text, "dim", most=most)
        for number, commands in enumerate(next_commands(self.trace, [group.first for group in self.groups])):
            # Not wrapped, so that it can be pasted.
            label = "next: " if number == 0 else "      "
            self.terminal.line((label, "dim"), (self._fitting(commands, cells(label)), "dim"))

    def _fitting(self, commands: tuple[str, str], used: int) -> str:
        """A command that fits into a line: without a capture, a command reads the last one."""
        command, without_capture = commands
        return command if used + cells(command) <= self.terminal.width else without_capture


def next_commands(trace: Trace, findings: Sequence[Finding]) -> Sequence[tuple[Shown, Shown]]:
    """Up to two commands that show more, with and without the capture, the most helpful first: the loops, if calls
    repeat."""
    capture = trace.captures[0]
    several = len(capture.files) > 1
    file = os.path.commonprefix(capture.files).rstrip("0123456789") if several else capture.path  # noqa: RUF071

    def about_capture(command: str, *options: str) -> tuple[Shown, Shown]:
        return (suggested.command(command, files=[file], options=options), suggested.command(command, *options))

    # That tracing takes most of the time explains itself; a cause does not.
    causes = [each for each in findings if each.name not in that_doubt_times()] or findings
    explains = [suggested.command("explain", causes[0].name)] if causes else []
    found = [(each, each) for each in explains]
    if capture.path == "-":
        # It cannot be read again.
        return found
    if any(each.name in _ABOUT_LOOPS for each in findings):
        found.insert(0, about_capture("top-syscalls", "--by", "loop"))
    return [*found, about_capture("critical-path" if trace.window.wall_ns else "top-syscalls")][:2]


def headline(trace: Trace, summary: Summary) -> str:
    """How the run went, its wall time, and what could be saved."""
    outcome, wall_ns = summary.outcome, summary.window.wall_ns
    calls = summary.totals.get("calls", 0)
    size = units.counted(calls, "call") if calls else units.counted(summary.captures[0].lines, "line")
    if wall_ns:
        # After the crash of a program, its log has nothing to save.
        is_over = outcome.verdict in (Verdict.CRASHED, Verdict.FAILED) and not calls
        saving = "" if is_over else saving_of(*summary.saving_ns, wall_ns, trace.tick_ns)
        idle_ns = summary.window.left_out_ns
        after = f" after {units.duration(idle_ns, trace.tick_ns)} of waiting" if idle_ns > wall_ns else ""
        wall = f"{units.duration(wall_ns, trace.tick_ns)} wall time"
        if summary.untraced and summary.untraced.is_large:
            wall = summary.untraced.shown(trace.tick_ns)
        size = f"{wall}{after}{f'; {saving}' if saving else ''}"
    if summary.standstill:
        return size if calls or wall_ns else "no system call"
    if not outcome.text:
        return f"{outcome.verdict.word}: {size}"
    return f"{outcome.verdict.word}: {outcome.text} ({size})"


def blocked_on(trace: Trace, summary: Summary, arrow: str, inferred: str) -> str:
    """The longest chain of processes blocked on each other, in one line."""
    if summary.totals["processes"] < _MIN_CHAIN_LENGTH:
        return ""
    parts, took_ns, sign = [], summary.window.wall_ns, ""
    for row in trace.longest_chain:
        if took_ns < summary.window.wall_ns * MIN_LINK_SHARE:
            break
        took = units.duration(took_ns, trace.tick_ns)
        parts += [sign, f"{shown(short(row['program'] or '?'))} {row['pid']} ({took})"]
        took_ns = row["waits_for_ns"] or 0
        sign = inferred if row["waits_for_sure"] == "inferred" else arrow
    if len(parts) < 2 * _MIN_CHAIN_LENGTH:
        return ""
    legend = f"; {inferred} is inferred" if inferred in parts else ""
    return f"blocked on: {' '.join(parts[1:])}{legend}"


def endings(trace: Trace, summary: Summary) -> list[str]:
    """Counts of findings, calls and processes, and what is unexplained."""
    number = {name: sum(each.severity == name for each in summary.findings) for name in _SEVERITIES}
    counts = [units.counted(number[name], name) for name in _SEVERITIES if number[name]]
    totals, capture = summary.totals, summary.captures[0]
    facts = [f"{shown(capture.format)}: {units.counted(capture.lines, 'line')}"]
    if totals.get("calls"):
        facts.append(f"{units.counted(totals['calls'], 'call')} ({units.count(totals['failed'])} failed)")
        facts.append(counted_processes(totals["processes"], summary.captures))
    return [f"{', '.join(counts) or 'no findings'}{_unexplained(trace, summary)}", ", ".join(facts)]


def _unexplained(trace: Trace, summary: Summary) -> str:
    wall_ns = summary.window.wall_ns
    if not wall_ns or summary.unexplained_ns < MIN_UNEXPLAINED_SHARE * wall_ns:
        return ""
    min_ns = MIN_PIECE_SHARE * summary.unexplained_ns
    parts = [
        f"{_place(row)} {units.duration(row['exclusive_ns'], trace.tick_ns)}"
        for row in summary.unexplained
        if row["exclusive_ns"] >= min_ns
    ]
    total = units.duration(summary.unexplained_ns, trace.tick_ns)
    mostly = f": {shown('; '.join(parts[:2]))}" if parts else ""
    return f"; unexplained: {total} ({units.share(summary.unexplained_ns / wall_ns)}){mostly}"


def _place(row: Row) -> str:
    program = short(row["program"])
    who = f"{program} {row['pid']}" if program and row["pid"] is not None else program
    return f"{who} {name_of(row)}".strip()
