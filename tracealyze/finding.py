"""Findings: what the rules say about a trace, with what it costs, the proof and the advice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from tracealyze import units
from tracealyze.ruleset import Rule, rules

if TYPE_CHECKING:
    from tracealyze.trace import Row, Trace


class Severity(StrEnum):
    """How much a finding matters: it follows from the time that could be freed."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


_SEVERITIES = ((Severity.ERROR, units.S, 0.2), (Severity.WARNING, 100 * units.MS, 0.05))
_ROUND_WITHIN = 0.01


@dataclass(frozen=True)
class Finding:
    """What one rule says about one place of a trace."""

    code: str
    name: str
    severity: Severity
    confidence: str
    message: str
    pid: int | None
    program: str | None
    syscall: str | None
    op: str | None
    target: str | None
    calls: int
    impact_ns: tuple[int, int]
    share: float
    lines: tuple[int, ...]
    advice: str
    capture: int = 0
    covers: frozenset[int] = frozenset()
    """Rows of the partition whose time it explains."""
    also: tuple[str, ...] = ()
    """Names of more general rules that match here too."""

    @property
    def fingerprint(self) -> str:
        """The same for the same cause in another capture: no ids, lines or times in it."""
        from hashlib import blake2b

        program = self.program.rsplit("/", 1)[-1] if self.program else ""
        facts = "\0".join(
            (self.name, program, self.syscall or "", self.op or "", "" if self.syscall else self.target or "")
        )
        return blake2b(facts.encode(errors="surrogateescape"), digest_size=8).hexdigest()

    def document(self) -> dict[str, object]:
        """As it stands in JSON."""
        keys = [item.name for item in fields(self) if item.name not in ("covers", "also")]
        facts = {key: getattr(self, key) for key in keys}
        return facts | {"fingerprint": self.fingerprint, "also_matches": list(self.also)}


def findings(trace: Trace) -> list[Finding]:
    """What all rules say, the costliest first; where several match in one place, the most specific one speaks."""
    partition = list(trace.partition)
    matched = [finding for rule in rules() for finding in _Matcher(trace, rule, partition).findings()]
    matched.sort(key=lambda finding: (-finding.impact_ns[1], finding.code))
    return _primary(matched)


def unexplained_ns(trace: Trace, found: Iterable[Finding]) -> int:
    """Time of the window that no finding covers."""
    covered = frozenset[int]().union(*(finding.covers for finding in found))
    costs = trace.partition.column("exclusive_ns")
    return sum(cost for row, cost in enumerate(costs) if row not in covered)


def severity(impact_ns: int, share: float) -> Severity:
    """The severity of freeing so much time, which is this share of the window."""
    for name, at_least_ns, at_least_share in _SEVERITIES:
        if impact_ns >= at_least_ns and share >= at_least_share:
            return name
    return Severity.INFO


def _primary(found: Sequence[Finding]) -> list[Finding]:
    precedence = {rule.name: rule.precedence for rule in rules()}
    places: dict[tuple[object, ...], list[Finding]] = {}
    for finding in found:
        place = (finding.capture, finding.pid, finding.program, finding.syscall, finding.op)
        places.setdefault(place, []).append(finding)
    kept = []
    for here in places.values():
        first, *others = sorted(here, key=lambda finding: -precedence[finding.name])
        names = tuple(dict.fromkeys(other.name for other in others if other.name != first.name))
        kept.append(replace(first, also=names, covers=first.covers.union(*(other.covers for other in others))))
        kept.extend(other for other in others if other.name == first.name)
    return sorted(kept, key=lambda finding: (-finding.impact_ns[1], finding.code))


class _Matcher:
    """One rule on one trace."""

    def __init__(self, trace: Trace, rule: Rule, partition: Sequence[Row]) -> None:
        self.trace = trace
        self.rule = rule
        self.partition = partition

    def findings(self) -> list[Finding]:
        """One for each group of rows that reaches the thresholds."""
        table = self.partition if self.rule.table == "partition" else getattr(self.trace, self.rule.table)
        groups: dict[tuple[object, ...], list[tuple[int, Row]]] = {}
        for at, row in enumerate(table):
            if self.rule.asks_for(row):
                groups.setdefault(tuple(row.get(key) for key in self.rule.group), []).append((at, row))
        found = (self._finding(rows) for rows in groups.values())
        return [finding for finding in found if finding is not None]

    def _finding(self, rows: list[tuple[int, Row]]) -> Finding | None:
        place = _Place.of_loops(rows, self.partition) if self.rule.table == "loops" else _Place.of_rows(rows)
        least = self.rule.at_least
        wall_ns = self.trace.windows[place.capture].wall_ns
        share = place.cost_ns / wall_ns if wall_ns else 0.0
        if place.cost_ns < least.total_ns or place.count < least.count or share < least.share:
            return None
        impact = (round(place.cost_ns * self.rule.impact[0]), round(place.cost_ns * self.rule.impact[1]))
        words = place.words(self.trace, share)
        return Finding(
            code=self.rule.code,
            name=self.rule.name,
            severity=severity(impact[1], share),
            confidence=self.rule.confidence,
            message=self.rule.message.format_map(words),
            pid=place.pid,
            program=place.program,
            syscall=place.syscall,
            op=place.op,
            target=place.target,
            calls=place.calls,
            impact_ns=impact,
            share=share,
            lines=_proof(self.trace, place),
            advice=self.rule.advice.format_map(words),
            capture=place.capture,
            covers=place.covers,
        )


@dataclass(frozen=True)
class _Place:
    """Where a rule matched: rows of its table, taken together."""

    capture: int
    pid: int | None
    program: str | None
    syscall: str | None
    op: str | None
    target: str | None
    calls: int
    count: int
    cost_ns: int
    covers: frozenset[int]
    lines: tuple[int, ...] = ()
    loop: Row | None = None

    @classmethod
    def of_rows(cls, rows: list[tuple[int, Row]]) -> _Place:
        """Rows of the partition."""
        calls = sum(row["calls"] or 0 for _, row in rows)
        return cls(
            capture=rows[0][1]["capture"],
            pid=_common(rows, "pid"),
            program=_common(rows, "program"),
            syscall=_common(rows, "syscall"),
            op=_common(rows, "op"),
            target=_common(rows, "target"),
            calls=calls,
            count=calls,
            cost_ns=sum(row["exclusive_ns"] for _, row in rows),
            covers=frozenset(at for at, _ in rows),
        )

    @classmethod
    def of_loops(cls, rows: list[tuple[int, Row]], partition: Sequence[Row]) -> _Place:
        """The longest of a process's loops around one call; it costs what its calls have on the path."""
        loop = max((row for _, row in rows), key=lambda row: row["total_ns"] or 0)
        on_path = {
            at: row
            for at, row in enumerate(partition)
            if (row["capture"], row["pid"]) == (loop["capture"], loop["pid"])
            and any(_is_of(row, shape) for shape in loop["body"])
        }
        dominant_ns = sum(row["exclusive_ns"] for row in on_path.values() if _is_of(row, loop["dominant"]))
        syscall, _, op = loop["dominant"].partition(" ")
        return cls(
            capture=loop["capture"],
            pid=loop["pid"],
            program=loop["program"],
            syscall=syscall,
            op=op or None,
            target=None,
            calls=loop["dominant_calls"],
            count=loop["turns"],
            cost_ns=min(loop["total_ns"] or 0, sum(row["exclusive_ns"] for row in on_path.values())),
            covers=frozenset(on_path),
            lines=(loop["first_line"], loop["last_line"]),
            loop=dict(loop) | {"dominant_ns": dominant_ns},
        )

    def words(self, trace: Trace, share: float) -> dict[str, str]:
        """What a message may name, each shown as a person reads it."""
        tick_ns = trace.captures[self.capture].tick_ns
        wall_ns = trace.windows[self.capture].wall_ns
        call = " ".join(part for part in (self.syscall, self.op) if part) or "calls"
        words = {
            "subject": _subject(self.pid, self.program),
            "program": self.program.rsplit("/", 1)[-1] if self.program else "the process",
            "call": call,
            "calls": units.counted(self.calls, "call"),
            "times": "once" if self.calls == 1 else f"{units.count(self.calls)} times",
            "target": self.target or "(target unknown)",
            "total": units.duration(self.cost_ns, tick_ns),
            "round": _roundness(self.cost_ns) if self.calls == 1 else "",
            "mean": units.duration(self.cost_ns / max(self.calls, 1), tick_ns),
            "at_most": " at most" if trace.captures[self.capture].dur_kind == "upper-bound" else "",
            "share": units.share(share),
            "window": units.duration(wall_ns, tick_ns),
        }
        return words | (_loop_words(self.loop, wall_ns, tick_ns) if self.loop is not None else {})


def _roundness(length_ns: int) -> str:
    """Work rarely takes a round number of seconds; delays that somebody chose do."""
    seconds = round(length_ns / units.S)
    if seconds and abs(length_ns - seconds * units.S) <= seconds * units.S * _ROUND_WITHIN:
        return f"; within 1 % of {units.counted(seconds, 'whole second')}: a fixed delay is suspected"
    return ""


def _loop_words(loop: Row, wall_ns: int, tick_ns: int) -> dict[str, str]:
    failing = f"; {loop['failing']} fails in every turn" if loop["failing"] else ""
    return {
        "repeated": f"in a loop of {loop['period']} calls that goes round {units.counted(loop['turns'], 'time')}"
        if loop["period"] > 1
        else "one straight after the other",
        "dominant": loop["dominant"],
        "dominant_calls": units.counted(loop["dominant_calls"], "call"),
        "dominant_total": units.duration(loop["dominant_ns"], tick_ns),
        "dominant_share": units.share(loop["dominant_ns"] / max(wall_ns, 1)),
        "per_turn": units.duration((loop["total_ns"] or 0) / max(loop["turns"], 1), tick_ns),
        "failing": failing,
    }


def _is_of(row: Row, shape: str) -> bool:
    """Whether a row of the partition is of this member of a loop: `ioctl FIONREAD`, `ioctl FIONREAD EINVAL`."""
    call = " ".join(part for part in (row["syscall"], row["op"]) if part)
    return bool(call) and (shape == call or shape.startswith(call + " "))


def _common(rows: list[tuple[int, Row]], column: str) -> Any:
    values = {row.get(column) for _, row in rows}
    return values.pop() if len(values) == 1 else None


def _subject(pid: int | None, program: str | None) -> str:
    named = " ".join(part for part in (f"pid {pid}" if pid is not None else "", program or "") if part)
    return named or "the traced process"


def _proof(trace: Trace, place: _Place) -> tuple[int, ...]:
    """Lines to look at: the first and the last of these calls."""
    lines = place.lines
    if not lines and not place.syscall:
        longest = max(
            trace.gaps_from(place.cost_ns // max(place.calls, 1)), key=lambda row: row["dur_ns"], default=None
        )
        lines = (longest["line"], longest["next_line"]) if longest else ()
    elif not lines:
        calls = trace.calls(by=["pid", "syscall", "op"])
        here = (place.pid, place.syscall, place.op)
        first_last = [
            (row["first_line"], row["last_line"])
            for row in calls
            if (row["pid"], row["syscall"], row["op"]) == here
            or (place.pid is None and row["syscall"] == place.syscall)
        ]
        lines = tuple(line for pair in first_last[:2] for line in pair)
    return tuple(sorted({line for line in lines if line}))
