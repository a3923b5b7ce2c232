"""The report of `summarize`: what was read, where the time went, who ran, what was called, and what is worth a look."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from typing import TYPE_CHECKING, Any

from tracealyze import units
from tracealyze.program_names import short
from tracealyze.render import stages
from tracealyze.render.capture_notes import name_of_capture, read_lines, time_line, window_lines
from tracealyze.render.listing import Column, Listing, strips
from tracealyze.render.partition import Piece, folded, name_of
from tracealyze.render.terminal import Paper, cells
from tracealyze.sanitize import shown

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding
    from tracealyze.summary import Summary
    from tracealyze.table import Row
    from tracealyze.trace import Trace

_PROOF_LINES = 3
_LEAST_OF_A_NAME = 24
_LEAST_OF_A_TARGET = 8
_APART = "  "
# With more targets than this, their rows cost more than they tell.
_MANY = 20_000
_FEW_TARGETS = 3
_LEAST_OF_A_CHAIN = 2
# Whoever is waited for less than this is not what made it slow.
_LEAST_SHARE_OF_A_LINK = 0.05
_LEAST_SHARE_WORTH_SAYING = 0.05
# Smaller pieces do not tell what the time that no finding covers is spent on.
_LEAST_SHARE_OF_A_PIECE = 0.01
# Of what a finding speaks of, from which part on it is told that tracing alone takes it.
_TRACING_WORTH_SAYING = 0.2


def show(trace: Trace, summary: Summary, top: int) -> None:
    """Print the report of one capture."""
    Report(trace, summary, top).show()


class Report:
    """The report as text of the width that there is. Other forms show its parts in their own way."""

    def __init__(self, trace: Trace, summary: Summary, top: int) -> None:
        self.trace = trace
        self.summary = summary
        self.top = top
        self.paper = Paper()
        self.tick_ns = trace.tick_ns

    def show(self) -> None:
        """Print all of it."""
        self.heading()
        self.partition()
        self.stages()
        self.processes()
        self.calls()
        self.findings()

    def title(self, name: str) -> None:
        """The name of the capture."""
        self.paper.line((name, "bold"))

    def section(self, title: str, remark: str = "") -> None:
        """A heading within the report."""
        self.paper.line()
        beside = cells(f"{title}  {remark}") <= self.paper.width
        self.paper.line((title, "bold"), (f"  {remark}" if remark and beside else "", "dim"))
        if remark and not beside:
            self.paper.paragraph(remark, style="dim", indent=2)

    def sentence(self, text: str, style: str = "", indent: int = 2) -> None:
        """What is told in words."""
        self.paper.paragraph(text, style, indent)

    def rows(self, listing: Listing) -> None:
        """Rows under headings."""
        self.paper.rows(strips(listing))

    def pieces(self, pieces: Sequence[Piece]) -> None:
        """The partition, each piece with a bar."""
        for piece in pieces:
            self._piece(piece)

    def verdict(self, finding: Finding) -> None:
        """How severe a finding is, and of which rule."""
        style = {"error": "bold red", "warning": "bold yellow"}.get(finding.severity, "bold")
        self.paper.line((finding.severity.upper(), style), (f" {finding.name} ", ""), (f"({finding.code})", "dim"))

    def proofs(self, quoted: Sequence[str]) -> None:
        """Lines of the capture with their numbers."""
        for text in quoted:
            self.paper.cut_line((f"  {text}", "dim"))

    def heading(self) -> None:
        """What was read, what its times are, and the window."""
        capture = self.summary.captures[0]
        self.title(name_of_capture(capture))
        told = [*read_lines(capture, self.summary.totals), time_line(capture)]
        for text in (*told, *window_lines(self.summary.window, capture)):
            self.sentence(text)

    def partition(self) -> None:
        """Where the wall time went: process, call, target."""
        pieces = folded(self.trace, self.top)
        if not pieces:
            return
        self.section("Where the time went", "critical path, split into parts that add up to 100%")
        self.pieces(pieces)
        self._chain()

    def _chain(self) -> None:
        """Who waited on whom, in one line."""
        if self.summary.totals["processes"] < _LEAST_OF_A_CHAIN:
            return
        drawn, chain, took_ns, arrow = self.paper.drawn, [], self.summary.window.wall_ns, ""
        for row in self.trace.longest_chain:
            if took_ns < self.summary.window.wall_ns * _LEAST_SHARE_OF_A_LINK:
                break
            took = units.duration(took_ns, self.tick_ns)
            chain += [arrow, f"{shown(short(row['program'] or '?'))} {row['pid']} ({took})"]
            took_ns = row["waits_for_ns"] or 0
            arrow = drawn.waited_perhaps if row["waits_for_sure"] == "inferred" else drawn.waited
        if len(chain) >= 2 * _LEAST_OF_A_CHAIN:
            legend = f"; {drawn.waited_perhaps} is inferred" if drawn.waited_perhaps in chain else ""
            self.sentence(f"Blocked on: {' '.join(chain[1:])}{legend}")

    def _piece(self, piece: Piece) -> None:
        width = min(self.paper.width // 5, 30)
        outer = piece.depth == 0
        amount = f"{units.duration(piece.exclusive_ns, self.tick_ns):>9} {units.share(piece.share):>7}  "
        indent = "  " * piece.depth
        name, remark = self._told(piece, self.paper.width - len(amount) - width - 2 - len(indent))
        self.paper.cut_line(
            (amount, ""),
            (self.paper.drawn.bar(piece.share, width).ljust(width + 2), "" if outer else "dim"),
            (indent + name, "bold" if outer else ""),
            (f"  {remark}" if remark else "", "dim"),
        )

    def _told(self, piece: Piece, room: int) -> tuple[str, str]:
        """The name and what is said of it. Where room is short, the number of calls stays and the target goes."""
        facts = [fact for fact in (piece.count, piece.remark) if fact]
        name = self.paper.cut_named(
            shown(piece.name), max(room - cells(_APART.join(["", *facts[:1]])), _LEAST_OF_A_TARGET)
        )
        left = room - cells(_APART.join([name, "", *facts]))
        target = shown(piece.target)
        if cells(target) > left:
            target = self.paper.cut_named(target, left) if left >= _LEAST_OF_A_TARGET else ""
        return name, _APART.join(part for part in (target, *facts) if part)

    def stages(self) -> None:
        """Of logs: what each further item costs, and how long items stay in each stage."""
        kinds = stages.telling(self.trace) if self.summary.captures[0].dur_kind == "gap" else []
        if not kinds:
            return
        self.section("Items", "messages that differ only in a number or a name")
        for kind in kinds[: self.top]:
            self.sentence(stages.sentence(kind, self.tick_ns))
        names = {kind["item"] for kind in kinds[: self.top]}
        rows = [row for row in self.trace.stages if row["item"] in names]
        self.section(
            "Stages", of_all(min(self.top, len(rows)), len(rows), "time until the next message about the same item")
        )
        self.rows(stages.listing(rows[: self.top], self.tick_ns))

    def processes(self) -> None:
        """Who ran: the costliest first."""
        table = self.trace.processes
        pids, on_path, in_calls, calls = map(table.column, ("pid", "exclusive_ns", "in_call_ns", "calls"))
        numbers = [number for number, pid in enumerate(pids) if calls[number] or pid is not None]
        if not numbers:
            return

        def cost(number: int) -> tuple[int, int, int]:
            return on_path[number] or 0, in_calls[number] or 0, calls[number]

        costliest = nlargest(self.top, numbers, key=cost)
        kept = [dict(row) | {"end": end_of(row), "what": command_of(row)} for row in table.pick(costliest)]
        columns = [Column("pid", "pid"), Column("parent_pid", "parent", spare=3)]
        if self.summary.window.reason is None:
            columns += [
                Column("exclusive_ns", "on path"),
                Column("wall_ns", "lifetime"),
                Column("slack_ns", "slack", spare=6),
            ]
        columns += [Column("in_call_ns", "in syscalls", spare=5), Column("calls", "calls", spare=2)]
        columns += [Column("failed", "failed", spare=4)]
        columns += [Column("end", "end"), Column("what", "program", least=_LEAST_OF_A_NAME)]
        order = "by time on the critical path" if self.summary.window.reason is None else "by calls"
        self.section("Processes", of_all(len(kept), len(numbers), order))
        self.rows(Listing("processes", columns, kept, self.tick_ns))

    def calls(self) -> None:
        """What was called, told apart by request and target."""
        rows = top_calls(self.trace, self.top)
        if not rows:
            self._tables_of_tracers()
            return
        columns = [Column("calls", "calls"), Column("failed", "failed", spare=1), Column("total_ns", "total")]
        if self.summary.window.reason is None:
            columns.append(Column("exclusive_ns", "on path"))
        columns += [
            Column("mean_ns", "mean"),
            Column("max_ns", "max", spare=2),
            Column("what", "call", least=_LEAST_OF_A_NAME),
        ]
        timed = any(row["total_ns"] for row in rows)
        remark = "by total time (summed over tasks, so it can exceed wall time)" if timed else "by count"
        self.section("Top calls", remark)
        self.rows(Listing("calls", columns, rows, self.trace.dur_tick_ns or self.tick_ns))

    def _tables_of_tracers(self) -> None:
        rows = [dict(row) | {"what": row["syscall"]} for row in self.summary.syscalls[: self.top]]
        if not rows:
            return
        columns = [Column("calls", "calls"), Column("failed", "failed", spare=1), Column("total_ns", "total")]
        columns += [Column("mean_ns", "mean"), Column("what", "call", least=_LEAST_OF_A_NAME)]
        self.section("Calls", of_all(len(rows), len(self.summary.syscalls), "from the tracer's own table"))
        self.rows(Listing("calls", columns, rows, self.tick_ns))

    def findings(self) -> None:
        """What the rules found, with its proof and advice, and what no finding covers."""
        found = self.summary.findings
        self.section("Findings", "" if found else "none")
        told = found[: self.top]
        quoted = self.trace.proof(told, _PROOF_LINES)
        for finding in told:
            self._finding(finding, quoted)
        if len(found) > len(told):
            more = units.counted(len(found) - len(told), "more finding")
            self.sentence(f"{more}; use --top N to see more.", indent=0)
        if self.summary.window.wall_ns:
            self._uncovered()

    def _finding(self, finding: Finding, quoted: Mapping[tuple[int, str, int], str]) -> None:
        self.verdict(finding)
        self.sentence(shown(finding.message), "bold")
        self.proofs(
            [
                _proof(f"{os.path.basename(file)} line {line}".strip(), quoted.get((finding.capture, file, line), ""))
                for file, line in finding.places[:_PROOF_LINES]
            ]
        )
        self.sentence(f"{self.paper.drawn.arrow} {shown(finding.advice)}")
        self.sentence("; ".join(self._worth(finding)), "dim")

    def _worth(self, finding: Finding) -> Iterable[str]:
        """What it could free, how sure that is, and what else matches."""
        low, high = finding.impact_ns
        most = units.duration(high, self.tick_ns)
        if 0 < low < high:
            yield f"saves {units.duration(low, self.tick_ns)} to {most}"
        elif high:
            yield f"saves {most}" if low else f"saves up to {most}"
        cost_ns = finding.share * self.trace.wall_ns_of(finding.capture)
        if finding.tracing_ns >= _TRACING_WORTH_SAYING * cost_ns > 0:
            yield f"cost includes at least {units.duration(finding.tracing_ns, self.tick_ns)} of tracing overhead"
        yield finding.confidence
        if finding.also:
            yield f"also matches {', '.join(finding.also)}"

    def _uncovered(self) -> None:
        share = self.summary.unexplained_ns / self.summary.window.wall_ns
        if share < _LEAST_SHARE_WORTH_SAYING:
            return
        least_ns = _LEAST_SHARE_OF_A_PIECE * self.summary.unexplained_ns
        pieces = "; ".join(
            f"{units.duration(row['exclusive_ns'], self.tick_ns)} {_place(row)}"
            for row in self.summary.unexplained
            if row["exclusive_ns"] >= least_ns
        )
        total = units.duration(self.summary.unexplained_ns, self.tick_ns)
        told = f"Largest parts: {shown(pieces)}" if pieces else "All parts are small"
        self.sentence(f"Unexplained: {total} ({units.share(share)}). {told}.", "dim", indent=0)


def _proof(place: str, text: str) -> str:
    quoted = " ".join(shown(text.replace("\t", " ")).split())
    return f"{shown(place)}{': ' if quoted else ''}{quoted}"


def _place(row: Row) -> str:
    pid = f"pid {row['pid']}" if row["pid"] is not None else ""
    who = " ".join(part for part in (pid, short(row["program"])) if part)
    return f"{who}{': ' if who else ''}{name_of(row)}"


def of_all(kept: int, number: int, what: str) -> str:
    """How much of a list is shown."""
    return f"first {kept} of {units.count(number)}, {what}" if kept < number else what


def command_of(row: Row) -> str | None:
    """What a process ran, with its arguments. A tracer cuts long ones, but knows the program."""
    argv: str | None = row["argv"]
    program: str | None = row["program"]
    first, blank, rest = (argv or "").partition(" ")
    if program and first.endswith("...") and program.startswith(first.removesuffix("...")):
        return f"{program}{blank}{rest}"
    return argv or program


def end_of(row: Row) -> str:
    """How a process ended, as far as the capture shows it."""
    if row["exit_signal"]:
        return str(row["exit_signal"])
    if row["exit_code"] is not None:
        return f"exit {row['exit_code']}"
    return "" if row["death_ns"] is None else "exited"


def top_calls(trace: Trace, top: int) -> list[Row]:
    """The calls with the largest totals, told apart by request, and by target where there are few."""
    table = trace.calls(by=["syscall", "op", "target"], quantiles=False)
    if len(table) > _MANY:
        table = trace.calls(by=["syscall", "op"], quantiles=False)
    kinds: dict[tuple[str, str | None], list[Row]] = {}
    for row in table:
        kinds.setdefault((row["syscall"], row["op"]), []).append(row)
    rows = [row for kind in kinds.values() for row in _few_targets(kind)]
    return sorted(rows, key=lambda row: (-(row["total_ns"] or 0), -row["calls"]))[:top]


def _few_targets(rows: list[Row]) -> list[Row]:
    """Rows of one kind of call; with many targets, those that have most of its time, and one row for the others."""
    total_ns = sum(row["total_ns"] or 0 for row in rows)
    large = [row for row in rows if len(rows) <= _FEW_TARGETS or 2 * (row["total_ns"] or 0) > total_ns > 0]
    kept: list[Row] = [dict(row) | {"what": call_of(row)} for row in large]
    others = [row for row in rows if row not in large]
    return [*kept, _together(others, "other targets" if kept else "targets")] if others else kept


def _together(rows: list[Row], what: str) -> Row:
    sums: dict[str, Any] = {key: sum(row[key] or 0 for row in rows) for key in ("calls", "failed", "exclusive_ns")}
    timed = [row for row in rows if row["max_ns"] is not None]
    sums["total_ns"] = sum(row["total_ns"] or 0 for row in rows)
    sums["mean_ns"] = sums["total_ns"] // max(sums["calls"], 1) if timed else None
    sums["max_ns"] = max((row["max_ns"] for row in timed), default=None)
    named = {"syscall": rows[0]["syscall"], "op": rows[0]["op"], "target": f"({units.count(len(rows))} {what})"}
    return sums | {"what": call_of(named)}


def call_of(row: Row) -> str:
    """A call with its request and target on one line."""
    return " ".join(shown(part) for part in (row.get("syscall"), row.get("op"), row.get("target")) if part)
