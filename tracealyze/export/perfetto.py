"""perfetto: a trace for https://ui.perfetto.dev, with processes, threads, calls, the critical path and findings.

Field numbers: https://perfetto.dev/docs/reference/trace-packet-proto. Packets are written one after the other, so the
file is a message `Trace` whose field 1 is repeated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from tracealyze.base.sanitize import shown
from tracealyze.export.owners import Owner, owners, reuse_notes
from tracealyze.export.protobuf import content, fixed64, integer
from tracealyze.export.slices import Slices
from tracealyze.model.time_names import name_of
from tracealyze.render.picture.stretches import stretches_of

if TYPE_CHECKING:
    from tracealyze.trace.trace import Trace

_PACKET = 1
_TIMESTAMP, _SEQUENCE, _EVENT, _INTERNED, _FLAGS, _TRACK = 8, 10, 11, 12, 13, 60
_PROCESS_TREE = 122
_NEEDS_STATE, _CLEARS_STATE = 2, 1
_BEGIN, _END, _INSTANT = 1, 2, 3
_MAX_PATH = 200_000
_MAX_TEXT = 500
_BATCH = 1 << 20
_MAX_TEXTS = 200_000
"""Different texts of annotations that have a number; they stay in memory."""
_OF_SEQUENCE = integer(_SEQUENCE, 1)
_OF_STATE = integer(_FLAGS, _NEEDS_STATE)


class _Interned(NamedTuple):
    """A kind of text: its field in the table of texts, and that of its number in an event or an annotation."""

    table: int
    reference: int


_NAME, _KEY, _VALUE = _Interned(2, 10), _Interned(3, 1), _Interned(29, 17)
# Identities of tracks: threads have their task plus this, their second tracks and the others the numbers below.
_THREADS = 1 << 32
_SECOND = 1 << 33
_PROCESSES = 1 << 34
_PATH_TRACK, _CLASS_TRACK, _FINDINGS_TRACK = 11, 12, 13


def write(trace: Trace, to: BinaryIO) -> list[str]:
    """Write the trace. Times are nanoseconds since the first event."""
    writer = _Writer(to)
    slices = Slices(trace)
    threads = owners(trace)
    births = [owner.birth_ns for owner in threads.values() if owner.birth_ns is not None]
    starts = [trace.window.start_ns] if trace.window.start_ns is not None else []
    zero_ns = min([*births, *starts], default=0)
    _tracks(writer, threads, zero_ns, trace)
    second: set[int] = set()
    for each in slices:
        track = _THREADS + each.task
        if each.is_overlapping:
            track = _SECOND + each.task
            if each.task not in second:
                second.add(each.task)
                writer.track(track, f"{threads[each.task].name} (overlapping)", parent=_THREADS + each.task)
        writer.slice(track, each.name, each.start_ns - zero_ns, each.end_ns - each.start_ns, each.facts)
    if trace.window.reason is None:
        _path(writer, trace, threads, zero_ns)
    writer.flush()
    return [
        *slices.notes,
        *reuse_notes(threads),
        "A finding is a moment at the start of its evidence, with its length as a fact.",
    ]


def _tracks(writer: _Writer, threads: dict[int, Owner], zero_ns: int, trace: Trace) -> None:
    """Processes with their parents, and threads."""
    tree = []
    for owner in threads.values():
        if not owner.is_thread:
            above = threads.get(owner.parent) if owner.parent is not None else None
            parent = threads.get(above.process) if above else None
            command = _text(owner.argv)
            tree.append(
                content(1, integer(1, owner.pid) + integer(2, parent.pid if parent else 0) + content(3, command))
            )
            birth_ns = max((owner.birth_ns or zero_ns) - zero_ns, 0)
            words = b"".join(content(2, word) for word in command.split(" ")[:64])
            process = integer(1, owner.pid) + words + content(6, _text(owner.name)) + integer(7, birth_ns)
            writer.descriptor(integer(1, _PROCESSES + owner.task) + content(3, process))
        thread = integer(1, owner.pid) + integer(2, owner.tid) + content(5, _text(owner.name))
        writer.descriptor(integer(1, _THREADS + owner.task) + content(4, thread))
    writer.packet(integer(_TIMESTAMP, 0) + content(_PROCESS_TREE, b"".join(tree)))
    if trace.window.reason is None:
        writer.track(_PATH_TRACK, "Critical path")
        writer.track(_CLASS_TRACK, "Class of time")
        writer.track(_FINDINGS_TRACK, "Findings")


def _path(writer: _Writer, trace: Trace, threads: dict[int, Owner], zero_ns: int) -> None:
    """The critical path, with an arrow to each process that was blocked on a stretch, its classes, and findings."""
    few = trace.totals["calls"] <= _MAX_PATH
    flow = 0
    for row in trace.path_from(0 if few else trace.window.wall_ns // _MAX_PATH):
        owner = threads.get(row["task"])
        who = f"{owner.name} {row['pid']}" if owner else ""
        names = ("class", "target", "line", "how", "sure")
        facts = {name: row[name] for name in names if row[name] is not None}
        start_ns = row["start_ns"] - zero_ns
        flow += row["waiter_pid"] is not None
        arrow = fixed64(47, flow) if row["waiter_pid"] is not None else b""
        writer.slice(_PATH_TRACK, f"{who} {name_of(row)}".strip(), start_ns, row["dur_ns"], facts, arrow)
        writer.slice(_CLASS_TRACK, row["class"], start_ns, row["dur_ns"], {})
        if arrow and owner is not None:
            writer.instant(
                _THREADS + owner.task, "wakes the blocked process", start_ns + row["dur_ns"], fixed64(48, flow)
            )
    for finding in trace.findings:
        for task, start, end in stretches_of(trace, finding):
            at_ns = start + (trace.window.start_ns or 0) - zero_ns
            facts = {"rule": finding.name, "message": finding.message, "task": task}
            writer.instant(_FINDINGS_TRACK, finding.title or finding.name, at_ns, b"", facts | {"dur_ns": end - start})


class _Writer:
    """Packets of one sequence, with names that are written once and then have numbers.

    There are two packets per call, so fields that occur again are encoded once: the tables below hold their bytes."""

    def __init__(self, to: BinaryIO) -> None:
        self._to = to
        self._names: dict[str, bytes] = {}
        self._keys: dict[str, bytes] = {}
        self._texts: dict[str, bytes] = {}
        self._kinds = {kind: integer(9, kind) for kind in (_BEGIN, _END, _INSTANT)}
        self._tracks: dict[int, bytes] = {}
        self._held: list[bytes] = []
        self._bytes = 0
        self.packet(integer(_FLAGS, _CLEARS_STATE))

    def packet(self, fields: bytes) -> None:
        """Write a packet with these fields."""
        whole = content(_PACKET, fields + _OF_SEQUENCE)
        self._held.append(whole)
        self._bytes += len(whole)
        if self._bytes >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Write what is held."""
        self._to.write(b"".join(self._held))
        self._held, self._bytes = [], 0

    def descriptor(self, fields: bytes) -> None:
        """A track that a process or a thread has."""
        self.packet(content(_TRACK, fields))

    def track(self, identity: int, name: str, parent: int = 0) -> None:
        """A track of slices, below another one if that is named."""
        self.descriptor(integer(1, identity) + content(2, name) + (integer(5, parent) if parent else b""))

    def slice(
        self, track: int, name: str, start_ns: int, dur_ns: int, facts: dict[str, Any], more: bytes = b""
    ) -> None:
        """A slice with annotations, as its begin and its end."""
        self._event(_BEGIN, track, name, start_ns, facts, more)
        self._event(_END, track, "", start_ns + dur_ns, {}, b"")

    def instant(self, track: int, name: str, at_ns: int, more: bytes, facts: dict[str, Any] | None = None) -> None:
        """A moment."""
        self._event(_INSTANT, track, name, at_ns, facts or {}, more)

    def _event(self, kind: int, track: int, name: str, at_ns: int, facts: dict[str, Any], more: bytes) -> None:
        interned: list[bytes] = []
        of_track = self._tracks.get(track)
        if of_track is None:
            of_track = self._tracks[track] = integer(11, track)
        parts = [self._kinds[kind], of_track]
        if name:
            parts.append(self._names.get(name) or self._new(self._names, name, _NAME, interned))
        for key, value in facts.items():
            of_key = self._keys.get(key) or self._new(self._keys, key, _KEY, interned)
            parts.append(content(4, of_key + self._value(value, interned)))
        parts.append(more)
        fields = integer(_TIMESTAMP, max(at_ns, 0)) + _OF_STATE + content(_EVENT, b"".join(parts))
        self.packet(fields + content(_INTERNED, b"".join(interned)) if interned else fields)

    def _value(self, value: object, interned: list[bytes]) -> bytes:
        """The value of an annotation. The texts of a large trace are mostly different, so not all get a number."""
        if isinstance(value, int):
            return integer(4, value)
        text = str(value)
        if known := self._texts.get(text):
            return known
        if len(self._texts) >= _MAX_TEXTS:
            return content(6, _text(text))
        return self._new(self._texts, text, _VALUE, interned)

    @staticmethod
    def _new(known: dict[str, bytes], text: str, field: _Interned, interned: list[bytes]) -> bytes:
        """The number of a text as a field. The text is written with it."""
        number = len(known) + 1
        interned.append(content(field.table, integer(1, number) + content(2, _text(text))))
        found = integer(field.reference, number)
        known[text] = found
        return found


def _text(value: str) -> str:
    return shown(value if len(value) <= _MAX_TEXT else f"{value[:_MAX_TEXT]}…")
