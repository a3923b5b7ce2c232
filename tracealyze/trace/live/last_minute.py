"""What the last minute of a trace that is still being written was spent on, and what waits now."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.errors import UnusableInput
from tracealyze.base.heuristics import FINDINGS_COST_RATIO, FINDINGS_EVERY_NS, WATCHED_NS
from tracealyze.base.program_names import short
from tracealyze.trace.live.slices import Added, Slice, Slices

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding
    from tracealyze.findings.rule_set import Rule
    from tracealyze.model.table import Row

_MAX_KEPT_BYTES = 256 << 20
"""Text that is kept to be searched for findings: fifty seconds of a tracer at full speed."""

_ENDERS = (("holder", "holder_pid"), ("child", "child_pid"), ("peer", "peer_pid"), ("reader", "reader_pid"))


@dataclass(frozen=True)
class PathPart:
    """Time on the critical path of one kind."""

    program: str
    class_name: str
    tag: str | None
    syscall: str | None


@dataclass(frozen=True)
class OpenCall:
    """A call that has not returned."""

    age_ns: int | None
    pid: int | None
    thread: int | None
    program: str
    syscall: str | None
    op: str | None
    target: str | None
    kind: str | None
    """What it waits for: file lock, child, peer, …"""
    is_idle: bool
    """Whether the task has nothing to do: a server without clients, a thread of a pool."""
    is_asked: bool
    """Whether it is in the middle of a request: a client waits for the task."""
    ender: str | None = None
    """Whose turn it is: holder, child, peer or reader."""
    ender_pid: int | None = None
    ender_program: str | None = None


@dataclass
class Seen:
    """A finding of the last minute."""

    finding: Finding
    first_ns: int
    """End of the part in which it was found first."""
    last_ns: int
    is_new: bool = True


@dataclass(frozen=True)
class View:
    """The state at a moment."""

    start_ns: int
    """Start of the newest slice, on the capture's clock."""
    now_ns: int
    """The last time in the trace, and since then the time without a line."""
    silent_ns: int
    covered_ns: int
    """Time that `path` sums to, a minute at most."""
    calls: int
    """Of the newest slice."""
    rates: Sequence[float]
    """Calls per second of each slice of the last minute."""
    path: Mapping[PathPart, int]
    """The critical path of the last minute."""
    newest_path: Mapping[PathPart, int]
    """That of the newest slice."""
    open_calls: Sequence[OpenCall]
    """Those that are not idle first, the oldest first."""
    findings: Sequence[Seen]
    clock: str | None


@dataclass
class _Second:
    start_ns: int
    end_ns: int
    calls: int
    path: Counter[PathPart] = field(default_factory=Counter)


@dataclass(frozen=True)
class _Chunk:
    """Text of a slice, and what came before it."""

    start_ns: int
    carried: Mapping[str, bytes]
    added: Mapping[str, Added]

    @property
    def size(self) -> int:
        return sum(len(each.lines) for each in self.added.values())


class LastMinute:
    """Takes what is added to the files of a trace, and has the state of the last minute."""

    def __init__(
        self,
        rules: Sequence[Rule] | None = None,
        input_format: str | None = None,
        *,
        name_of: Callable[[int | None], str] = lambda _pid: "",
        clock_s: Callable[[], float] = monotonic,
    ) -> None:
        """`name_of` knows programs that the trace does not show, because the tracer attached to them."""
        self._rules, self._name_of, self._clock_s = rules, name_of, clock_s
        self._slices = Slices(input_format)
        self._seconds: deque[_Second] = deque()
        self._sums: Counter[PathPart] = Counter()
        self._open: list[OpenCall] = []
        self._asked: set[tuple[int | None, int | None]] = set()
        """Pid and thread of those that were in the middle of a request."""
        self._open_since: dict[tuple[object, ...], OpenCall] = {}
        self._seen: dict[str, Seen] = {}
        self._chunks: deque[_Chunk] = deque()
        self._pending: list[Mapping[str, Added]] = []
        """Text in which nothing was recognised so far."""
        self._searched_ns = 0
        self._rest_until_s = 0.0
        self._newest: Slice | None = None

    def close(self) -> None:
        """Remove the temporary files."""
        self._slices.close()

    def add(self, added: Mapping[str, Added]) -> bool:
        """Take what was added. Returns whether it moved the state."""
        self._pending.append(added)
        carried = self._slices.carried()
        newest = self._slices.next(added)
        if newest is None:
            return False
        self._keep(newest.start_ns, carried)
        self._newest = newest
        self._add_second(newest)
        self._open = self._still_open(newest)
        self._look_for_findings(newest.end_ns)
        return True

    def view(self, silent_ns: int = 0) -> View | None:
        """The state, if nothing was added for some time; None before anything was recognised."""
        newest = self._newest
        if newest is None:
            return None
        now_ns = newest.end_ns + silent_ns
        capture = newest.trace.captures[0]
        last = self._seconds[-1]
        return View(
            start_ns=last.start_ns,
            now_ns=now_ns,
            silent_ns=silent_ns,
            covered_ns=sum(each.end_ns - each.start_ns for each in self._seconds),
            calls=last.calls,
            rates=[each.calls * units.S / max(each.end_ns - each.start_ns, units.MS) for each in self._seconds],
            path=+self._sums,
            newest_path=last.path,
            open_calls=_aged(self._open, silent_ns),
            findings=sorted(self._seen.values(), key=lambda seen: (-seen.last_ns, -_cost_ns(seen.finding))),
            clock=capture.clock,
        )

    def _keep(self, start_ns: int, carried: Mapping[str, bytes]) -> None:
        """Keep the text of the last seconds, with what came before it."""
        self._chunks.extend(_Chunk(start_ns, carried, each) for each in self._pending)
        self._pending.clear()
        while sum(chunk.size for chunk in self._chunks) > _MAX_KEPT_BYTES and len(self._chunks) > 1:
            self._chunks.popleft()

    def _add_second(self, newest: Slice) -> None:
        second = _Second(newest.start_ns, newest.end_ns, _finished_calls(newest))
        for row in newest.trace.partition_by(["pid", "program", "class", "tag", "syscall"]):
            program = short(row["program"]) or self._name_of(row["pid"])
            part = PathPart(program, row["class"], row["tag"], row["syscall"])
            second.path[part] += row["exclusive_ns"]
        self._seconds.append(second)
        self._sums.update(second.path)
        while self._seconds[0].end_ns <= newest.end_ns - WATCHED_NS and len(self._seconds) > 1:
            self._sums.subtract(self._seconds.popleft().path)

    def _still_open(self, newest: Slice) -> list[OpenCall]:
        """The open calls, each with what its first slice showed: that has the calls before it."""
        found: dict[tuple[object, ...], OpenCall] = {}
        asked: set[tuple[int | None, int | None]] = set()
        for row in newest.trace.table("open_calls"):
            task = row["pid"], row["thread"]
            # A task that is asked may wait several times before it answers.
            is_asked = row["request"] == "unanswered" or (row["request"] is None and task in self._asked)
            asked |= {task} if is_asked else set()
            call = _open_call(row, self._name_of, is_asked=is_asked)
            start_ns = None if call.age_ns is None else newest.end_ns - call.age_ns
            place = call.pid, call.thread, call.syscall, start_ns
            first = self._open_since.get(place)
            found[place] = replace(first, age_ns=call.age_ns) if first is not None else call
        self._open_since, self._asked = found, asked
        return sorted(found.values(), key=lambda call: (call.is_idle, -(call.age_ns or 0)))

    def _look_for_findings(self, now_ns: int) -> None:
        """Search the last seconds, if enough is new, and not too often: a search costs more than reading does."""
        while len(self._chunks) > 1 and self._chunks[1].start_ns <= now_ns - FINDINGS_EVERY_NS:
            self._chunks.popleft()
        since_ns = self._chunks[0].start_ns
        if now_ns - max(since_ns, self._searched_ns) < FINDINGS_EVERY_NS or self._clock_s() < self._rest_until_s:
            return
        begun_s = self._clock_s()
        self._searched_ns = now_ns
        with suppress(UnusableInput):
            part = self._slices.part(self._chunks[0].carried, [chunk.added for chunk in self._chunks], since_ns)
            self._see((part if self._rules is None else part.with_rules(self._rules)).findings, now_ns)
        now_s = self._clock_s()
        self._rest_until_s = now_s + FINDINGS_COST_RATIO * (now_s - begun_s)

    def _see(self, found: Iterable[Finding], now_ns: int) -> None:
        for finding in found:
            if not finding.share:
                # A remark on the capture.
                continue
            known = self._seen.get(finding.fingerprint)
            first_ns = known.first_ns if known else now_ns
            self._seen[finding.fingerprint] = Seen(finding, first_ns, now_ns, is_new=known is None)
        self._seen = {name: seen for name, seen in self._seen.items() if seen.last_ns > now_ns - WATCHED_NS}
        for seen in self._seen.values():
            seen.is_new = seen.first_ns == now_ns


def _finished_calls(newest: Slice) -> int:
    totals = newest.trace.totals
    return max(totals["calls"] - totals["open"], 0)


def _open_call(row: Row, name_of: Callable[[int | None], str], *, is_asked: bool) -> OpenCall:
    ender, ender_pid = next(((name, row[column]) for name, column in _ENDERS if row[column] is not None), (None, None))
    return OpenCall(
        age_ns=row["seen_ns"],
        pid=row["pid"],
        thread=row["thread"],
        program=short(row["program"]) or name_of(row["pid"]),
        syscall=row["syscall"],
        op=row["op"],
        target=row["target"] or (f"descriptor {row['fd']}" if row["fd"] is not None else None),
        kind=row["kind"],
        is_idle=bool(row["idle"]) and not is_asked,
        is_asked=is_asked,
        ender=ender,
        ender_pid=ender_pid,
        ender_program=short(row["ender_program"]) or (name_of(ender_pid) if ender_pid is not None else "") or None,
    )


def _aged(calls: Sequence[OpenCall], silent_ns: int) -> list[OpenCall]:
    # Where no call has returned since, the last line is the call itself.
    return [replace(call, age_ns=(call.age_ns or 0) + silent_ns) for call in calls]


def _cost_ns(finding: Finding) -> int:
    return finding.impact_ns[1] if finding.impact_ns else 0
