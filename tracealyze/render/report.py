"""The report of `summarize`: the capture, where the time went, processes, top calls and findings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from typing import TYPE_CHECKING, Any

from tracealyze import units
from tracealyze.findings.basis import Basis
from tracealyze.heuristics import MIN_LINK_SHARE, MIN_PIECE_SHARE, MIN_TRACING_SHARE, MIN_UNEXPLAINED_SHARE
from tracealyze.program_names import short
from tracealyze.render import stages
from tracealyze.render.capture_notes import name_of_capture, read_lines, time_line, window_lines
from tracealyze.render.listing import Column, Listing, strips
from tracealyze.render.partition import Piece, folded, name_of
from tracealyze.render.terminal import Terminal, cells
from tracealyze.sanitize import shown

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding
    from tracealyze.summary import Summary
    from tracealyze.table import Row
    from tracealyze.trace import Trace

_PROOF_LINES = 3
_MIN_NAME_WIDTH = 24
_MIN_TARGET_WIDTH = 8
_APART = "  "
# Above this number of targets, single targets are too expensive to list, and of little use.
_MAX_TARGETS = 20_000
_MAX_TARGET_ROWS = 3
_MIN_CHAIN_LENGTH = 2


def show(trace: Trace, summary: Summary, top: int) -> None:
    """Print the report of one capture."""
    Report(trace, summary, top).show()


class Report:
    """The report as text of the available width. Other forms override how its parts are written."""

    def __init__(self, trace: Trace, summary: Summary, top: int) -> None:
        self.trace = trace
        self.summary = summary
        self.top = top
        self.terminal = Terminal()
        self.tick_ns = trace.tick_ns

    def show(self) -> None:
        """Print the whole report."""
        self.heading()
        self.partition()
        self.stages()
        self.processes()
        self.calls()
        self.findings()

    def title(self, name: str) -> None:
        """The name of the capture."""
        self.terminal.line((name, "bold"))

    def section(self, title: str, remark: str = "") -> None:
        """A heading within the report."""
        self.terminal.line()
        beside = cells(f"{title}  {remark}") <= self.terminal.width
        self.terminal.line((title, "bold"), (f"  {remark}" if remark and beside else "", "dim"))
        if remark and not beside:
            self.terminal.paragraph(remark, style="dim", indent=2)

    def sentence(self, text: str, style: str = "", indent: int = 2) -> None:
        """A sentence."""
        self.terminal.paragraph(text, style, indent)

    def rows(self, listing: Listing) -> None:
        """Rows under headings."""
        self.terminal.rows(strips(listing))

    def pieces(self, pieces: Sequence[Piece]) -> None:
        """The parts of the window, each with a bar."""
        for piece in pieces:
            self._piece(piece)

    def verdict(self, finding: Finding) -> None:
        """The severity of a finding, and its rule."""
        style = {"error": "bold red", "warning": "bold yellow"}.get(finding.severity, "bold")
        self.terminal.line((finding.severity.upper(), style), (f" {finding.name} ", ""), (f"({finding.code})", "dim"))

    def proofs(self, quoted: Sequence[str]) -> None:
        """Lines of the capture with their numbers."""
        for text in quoted:
            self.terminal.cut_line((f"  {text}", "dim"))

    def heading(self) -> None:
        """The capture, the kind of its times, and the window."""
        capture = self.summary.captures[0]
        self.title(name_of_capture(capture))
        facts = [*read_lines(capture, self.summary.totals), time_line(capture)]
        for text in (*facts, *window_lines(self.summary.window, capture)):
            self.sentence(text)

    def partition(self) -> None:
        """Where the wall time went, by process, call and target."""
        pieces = folded(self.trace, self.top)
        if not pieces:
            return
        self.section("Where the time went", "critical path, split into parts that add up to 100%")
        self.pieces(pieces)
        self._chain()

    def _chain(self) -> None:
        """The longest chain of processes blocked on each other, in one line."""
        if self.summary.totals["processes"] < _MIN_CHAIN_LENGTH:
            return
        drawn, chain, took_ns, arrow = self.terminal.drawn, [], self.summary.window.wall_ns, ""
        for row in self.trace.longest_chain:
            if took_ns < self.summary.window.wall_ns * MIN_LINK_SHARE:
                break
            took = units.duration(took_ns, self.tick_ns)
            chain += [arrow, f"{shown(short(row['program'] or '?'))} {row['pid']} ({took})"]
            took_ns = row["waits_for_ns"] or 0
            arrow = drawn.blocked_on_inferred if row["waits_for_sure"] == "inferred" else drawn.blocked_on
        if len(chain) >= 2 * _MIN_CHAIN_LENGTH:
            legend = f"; {drawn.blocked_on_inferred} is inferred" if drawn.blocked_on_inferred in chain else ""
            self.sentence(f"Blocked on: {' '.join(chain[1:])}{legend}")

    def _piece(self, piece: Piece) -> None:
        width = min(self.terminal.width // 5, 30)
        outer = piece.depth == 0
        amount = f"{units.duration(piece.exclusive_ns, self.tick_ns):>9} {units.share(piece.share):>7}  "
        indent = "  " * piece.depth
        name, remark = self._name_and_remark(piece, self.terminal.width - len(amount) - width - 2 - len(indent))
        self.terminal.cut_line(
            (amount, ""),
            (self.terminal.drawn.bar(piece.share, width).ljust(width + 2), "" if outer else "dim"),
            (indent + name, "bold" if outer else ""),
            (f"  {remark}" if remark else "", "dim"),
        )

    def _name_and_remark(self, piece: Piece, room: int) -> tuple[str, str]:
        """The name of a piece and the remarks after it. A narrow terminal drops the target first."""
        facts = [fact for fact in (piece.count, piece.remark) if fact]
        name = self.terminal.cut_named(
            shown(piece.name), max(room - cells(_APART.join(["", *facts[:1]])), _MIN_TARGET_WIDTH)
        )
        left = room - cells(_APART.join([name, "", *facts]))
        target = shown(piece.target)
        if cells(target) > left:
            target = self.terminal.cut_named(target, left) if left >= _MIN_TARGET_WIDTH else ""
        return name, _APART.join(part for part in (target, *facts) if part)

    def stages(self) -> None:
        """For logs: the cost of each additional item, and the time that items spend in each stage."""
        kinds = stages.relevant_items(self.trace) if self.summary.captures[0].dur_kind == "gap" else []
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
        """The processes, most expensive first."""
        table = self.trace.processes
        pids, on_path, in_calls, calls = map(table.column, ("pid", "exclusive_ns", "in_call_ns", "calls"))
        numbers = [number for number, pid in enumerate(pids) if calls[number] or pid is not None]
        if not numbers:
            return

        def cost(number: int) -> tuple[int, int, int]:
            return on_path[number] or 0, in_calls[number] or 0, calls[number]

        costliest = nlargest(self.top, numbers, key=cost)
        shown_rows = [dict(row) | {"end": end_of(row), "what": command_of(row)} for row in table.pick(costliest)]
        columns = [Column("pid", "pid"), Column("parent_pid", "parent", drop_order=3)]
        if self.summary.window.reason is None:
            columns += [
                Column("exclusive_ns", "on path"),
                Column("wall_ns", "lifetime"),
                Column("slack_ns", "slack", drop_order=6),
            ]
        columns += [Column("in_call_ns", "in syscalls", drop_order=5), Column("calls", "calls", drop_order=2)]
        columns += [Column("failed", "failed", drop_order=4)]
        columns += [Column("end", "end"), Column("what", "program", min_width=_MIN_NAME_WIDTH)]
        order = "by time on the critical path" if self.summary.window.reason is None else "by calls"
        self.section("Processes", of_all(len(shown_rows), len(numbers), order))
        self.rows(Listing("processes", columns, shown_rows, self.tick_ns))

    def calls(self) -> None:
        """The top calls by request and target."""
        rows = top_calls(self.trace, self.top)
        if not rows:
            self._tables_of_tracers()
            return
        columns = [Column("calls", "calls"), Column("failed", "failed", drop_order=1), Column("total_ns", "total")]
        if self.summary.window.reason is None:
            columns.append(Column("exclusive_ns", "on path"))
        columns += [
            Column("mean_ns", "mean"),
            Column("max_ns", "max", drop_order=2),
            Column("what", "call", min_width=_MIN_NAME_WIDTH),
        ]
        timed = any(row["total_ns"] for row in rows)
        remark = "by total time (summed over tasks, so it can exceed wall time)" if timed else "by count"
        self.section("Top calls", remark)
        self.rows(Listing("calls", columns, rows, self.trace.dur_tick_ns or self.tick_ns))

    def _tables_of_tracers(self) -> None:
        rows = [dict(row) | {"what": row["syscall"]} for row in self.summary.syscalls[: self.top]]
        if not rows:
            return
        columns = [Column("calls", "calls"), Column("failed", "failed", drop_order=1), Column("total_ns", "total")]
        columns += [Column("mean_ns", "mean"), Column("what", "call", min_width=_MIN_NAME_WIDTH)]
        self.section("Calls", of_all(len(rows), len(self.summary.syscalls), "from the tracer's own table"))
        self.rows(Listing("calls", columns, rows, self.tick_ns))

    def findings(self) -> None:
        """The findings with proof and advice, and the unexplained time."""
        found = self.summary.findings
        self.section("Findings", "" if found else "none")
        listed = found[: self.top]
        quoted = self.trace.proof(listed, _PROOF_LINES)
        for finding in listed:
            self._finding(finding, quoted)
        if len(found) > len(listed):
            more = units.counted(len(found) - len(listed), "more finding")
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
        self.sentence(f"{self.terminal.drawn.arrow} {shown(finding.advice)}")
        self.sentence("; ".join(self._worth(finding)), "dim")

    def _worth(self, finding: Finding) -> Iterable[str]:
        """The possible saving, the confidence, and other matching rules."""
        low, high = finding.impact_ns or (0, 0)
        most = units.duration(high, self.tick_ns)
        if finding.basis is not Basis.WALL:
            yield from [f"up to {most} of elapsed time, not of wall time"] if high else []
        elif 0 < low < high:
            yield f"saves {units.duration(low, self.tick_ns)} to {most}"
        elif high:
            yield f"saves {most}" if low else f"saves up to {most}"
        cost_ns = (finding.share or 0.0) * self.trace.wall_ns_of(finding.capture)
        if finding.tracing_ns >= MIN_TRACING_SHARE * cost_ns > 0:
            yield f"cost includes about {units.duration(finding.tracing_ns, self.tick_ns)} of tracing overhead"
        yield finding.confidence
        if finding.also:
            yield f"also matches {', '.join(finding.also)}"

    def _uncovered(self) -> None:
        share = self.summary.unexplained_ns / self.summary.window.wall_ns
        if share < MIN_UNEXPLAINED_SHARE:
            return
        min_ns = MIN_PIECE_SHARE * self.summary.unexplained_ns
        pieces = "; ".join(
            f"{units.duration(row['exclusive_ns'], self.tick_ns)} {_place(row)}"
            for row in self.summary.unexplained
            if row["exclusive_ns"] >= min_ns
        )
        total = units.duration(self.summary.unexplained_ns, self.tick_ns)
        parts = f"Largest parts: {shown(pieces)}" if pieces else "All parts are small"
        self.sentence(f"Unexplained: {total} ({units.share(share)}). {parts}.", "dim", indent=0)


def _proof(place: str, text: str) -> str:
    quoted = " ".join(shown(text.replace("\t", " ")).split())
    return f"{shown(place)}{': ' if quoted else ''}{quoted}"


def _place(row: Row) -> str:
    pid = f"pid {row['pid']}" if row["pid"] is not None else ""
    who = " ".join(part for part in (pid, short(row["program"])) if part)
    return f"{who}{': ' if who else ''}{name_of(row)}"


def of_all(listed: int, number: int, what: str) -> str:
    """How much of a list is shown, and its order."""
    return f"first {listed} of {units.count(number)}, {what}" if listed < number else what


def command_of(row: Row) -> str | None:
    """The command line of a process. If the tracer truncated it, the first word is the full program."""
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
    """The calls with the largest totals, by request, and by target if there are few."""
    table = trace.calls(by=["syscall", "op", "target"], quantiles=False)
    if len(table) > _MAX_TARGETS:
        table = trace.calls(by=["syscall", "op"], quantiles=False)
    kinds: dict[tuple[str, str | None], list[Row]] = {}
    for row in table:
        kinds.setdefault((row["syscall"], row["op"]), []).append(row)
    rows = [row for kind in kinds.values() for row in _limit_targets(kind)]
    return sorted(rows, key=lambda row: (-(row["total_ns"] or 0), -row["calls"]))[:top]


def _limit_targets(rows: list[Row]) -> list[Row]:
    """Rows of one kind of call. With many targets: the targets with most of its time, and one row for the rest."""
    total_ns = sum(row["total_ns"] or 0 for row in rows)
    large = [row for row in rows if len(rows) <= _MAX_TARGET_ROWS or 2 * (row["total_ns"] or 0) > total_ns > 0]
    single: list[Row] = [dict(row) | {"what": call_of(row)} for row in large]
    others = [row for row in rows if row not in large]
    return [*single, _combined(others, "other targets" if single else "targets")] if others else single


def _combined(rows: list[Row], what: str) -> Row:
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
