"""Findings: what the rules say about a trace, with what it costs, the proof and the advice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from tracealyze import units
from tracealyze.ruleset import Rule, rules
from tracealyze.trace import Scope

if TYPE_CHECKING:
    from tracealyze.trace import Row, Trace


class Severity(StrEnum):
    """How much a finding matters: it follows from the time that could be freed."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


_SEVERITIES = ((Severity.ERROR, units.S, 0.2), (Severity.WARNING, 100 * units.MS, 0.05))
_ROUND_WITHIN = 0.01
_PROCESSES_QUOTED = 2
_ENDS = ("first_line", "last_line")


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
    covers: tuple[Scope, ...] = ()
    """Pieces of the partition whose time it explains."""
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
    matched = [finding for rule in rules() for finding in _Matcher(trace, rule).findings()]
    matched.sort(key=lambda finding: (-finding.impact_ns[1], finding.code))
    return _primary(matched)


def covered(found: Iterable[Finding]) -> list[Scope]:
    """What findings explain together."""
    return [scope for finding in found for scope in finding.covers]


def unexplained_ns(trace: Trace, found: Iterable[Finding]) -> int:
    """Time of the window that no finding covers."""
    return sum(trace.partition_by(["capture"], apart_from=covered(found)).column("exclusive_ns"))


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
        kept.append(replace(first, also=names, covers=tuple(covered([first, *others]))))
        kept.extend(other for other in others if other.name == first.name)
    return sorted(kept, key=lambda finding: (-finding.impact_ns[1], finding.code))


class _Matcher:
    """One rule on one trace."""

    def __init__(self, trace: Trace, rule: Rule) -> None:
        self.trace = trace
        self.rule = rule

    def findings(self) -> list[Finding]:
        """One for each place that reaches the thresholds."""
        places = self._loops() if self.rule.table == "loops" else self._pieces()
        found = (self._finding(place) for place in places)
        return [finding for finding in found if finding is not None]

    def _least_ns(self, wall_ns: int) -> int:
        return max(self.rule.at_least.total_ns, int(self.rule.at_least.share * wall_ns))

    def _pieces(self) -> Iterator[_Place]:
        """Groups of the partition."""
        group = tuple(dict.fromkeys(("capture", *self.rule.group)))
        at_least_ns = min((self._least_ns(window.wall_ns) for window in self.trace.windows), default=0)
        within = Scope(self.rule.only, self.rule.excluded)
        for row in self.trace.partition_by(group, within, at_least_ns=at_least_ns):
            here = {key: [row[key]] for key in group}
            yield _Place.of_pieces(row, Scope({**self.rule.only, **here}, self.rule.excluded), self.trace)

    def _loops(self) -> Iterator[_Place]:
        """The longest of each group of loops, if it is long enough to matter at all."""
        groups: dict[tuple[object, ...], Row] = {}
        for row in filter(self.rule.asks_for, self.trace.loops):
            longest = groups.setdefault(tuple(row.get(key) for key in self.rule.group), row)
            if (row["total_ns"] or 0) > (longest["total_ns"] or 0):
                groups[tuple(row.get(key) for key in self.rule.group)] = row
        for loop in groups.values():
            least_ns = self._least_ns(self.trace.windows[loop["capture"]].wall_ns)
            if (loop["total_ns"] or 0) >= least_ns and loop["turns"] >= self.rule.at_least.count:
                yield _Place.of_loop(loop, self.trace)

    def _finding(self, place: _Place) -> Finding | None:
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
    covers: tuple[Scope, ...]
    lines: tuple[int | None, ...] = ()
    loop: Row | None = None

    @classmethod
    def of_pieces(cls, row: Row, scope: Scope, trace: Trace) -> _Place:
        """Pieces of the partition taken together; of several processes, the costliest are the proof."""
        proof = [row] if row["pid"] is not None else trace.partition_by(["pid", "op"], scope, most=_PROCESSES_QUOTED)
        return cls(
            **{key: row[key] for key in ("capture", "pid", "program", "syscall", "op", "target", "calls")},
            count=row["calls"],
            cost_ns=row["exclusive_ns"],
            covers=(scope,),
            lines=tuple(each[line] for each in proof for line in _ENDS) if row["syscall"] else (),
        )

    @classmethod
    def of_loop(cls, loop: Row, trace: Trace) -> _Place:
        """A loop; it costs what the calls of its process that are like its own have on the path."""
        of_process = {"capture": [loop["capture"]], "pid": [loop["pid"]]}
        calls = trace.partition_by(["syscall", "op"], Scope(of_process))
        on_path = [row for row in calls if any(_is_of(row, shape) for shape in loop["body"])]
        dominant_ns = sum(row["exclusive_ns"] for row in on_path if _is_of(row, loop["dominant"]))
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
            cost_ns=min(loop["total_ns"] or 0, sum(row["exclusive_ns"] for row in on_path)),
            covers=tuple(Scope(of_process | {"syscall": [row["syscall"]], "op": [row["op"]]}) for row in on_path),
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
        else "over and over",
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


def _subject(pid: int | None, program: str | None) -> str:
    named = " ".join(part for part in (f"pid {pid}" if pid is not None else "", program or "") if part)
    return named or "the traced process"


def _proof(trace: Trace, place: _Place) -> tuple[int, ...]:
    """Lines to look at: the first and the last of these calls, or those around the longest silence."""
    lines = place.lines
    if not lines:
        gaps = trace.gaps_from(place.cost_ns // max(place.calls, 1))
        longest = max(gaps, key=lambda row: row["dur_ns"], default=None)
        lines = (longest["line"], longest["next_line"]) if longest else ()
    return tuple(sorted({line for line in lines if line}))
