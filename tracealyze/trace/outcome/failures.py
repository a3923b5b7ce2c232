"""The failed call that a process did not survive, among those that it handled."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.heuristics import MIN_NOTED_CALL_NS
from tracealyze.base.sanitize import shown
from tracealyze.base.suggested import quoted
from tracealyze.trace.outcome import known
from tracealyze.trace.outcome.messages import around, is_cut_in, last_message

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.trace.outcome.messages import Message
    from tracealyze.trace.outcome.processes import EndedProcess

_UNNAMED = "socket:[]"
"""A socket of which the capture shows neither number nor peer."""
_JUST_BEFORE = 3
"""Calls between a failure and a crash that may be its consequence."""
_NEAR_LINES = 40
"""A failure so many lines before the message, or the end, counts half."""
_LAST_LINES = 16
"""Without a message, what failed within so many lines before the end."""
_MIN_WEIGHT = 1.0
_SERIOUS_WEIGHT = 9
"""Weight of errors after which few programs go on."""
_LAST_TARGETS = 3
"""Of the targets of the last calls, those that may explain the end."""
_LAST_CALLS = 8
"""Calls in which a program that gives up cleans up."""
_WRITES = ("write", "pwrite", "fsync", "fdatasync", "ftruncate", "fallocate")
_MAX_TARGET = 160
_MAX_START, _MAX_END = 40, 80
_NAMED = 4.0
_STATED = 2.0
_MIN_NAME_LENGTH = 4
_FAILED_FUNCTION = re.compile(r"(?P<call>\w+\(.*\))\s+= (?P<result>0|-1|nil|NULL|0xffffffff)( <[\d.]+>)?$")
_PEER = re.compile(r"(?P<host>.*):(?P<port>\d{1,5})")


def weighed_failure(
    process: EndedProcess, message: Message | None, *, is_filtered: bool = False
) -> tuple[float, Row | None]:
    """The failed call that explains the message or the end best, and how much it does; 0 and None if nothing does.

    If calls were left out of the capture, a call that failed shortly before the end need not be near it."""
    end = message.line if message else process.ending["last_line"]
    within = 0 if message is None and is_filtered else _NEAR_LINES if message else _LAST_LINES
    weighed = [(_weight(row, end, message, within), row["last_line"], row) for row in process.last_failures]
    best = max((each for each in weighed if each[0] >= _MIN_WEIGHT), key=lambda each: each[:2], default=None)
    return (best[0], best[2]) if best else (0.0, None)


def failure_at_end(process: EndedProcess) -> Row | None:
    """A serious failure among the last calls of a process whose end is not in the capture; None if there is none."""
    if row := never_started(process):
        return row
    for row in reversed(process.last_failures):
        error = known.error(row["errno"])
        is_last = error is not None and error.refusal and error.weight > known.COMMON_WEIGHT and not row["calls_after"]
        # What is refused with an error of this system only, as the last thing of the capture.
        is_unknown = row["errno"].startswith("errno ") and not row["calls_after"]
        is_serious = error is not None and (error.weight >= _SERIOUS_WEIGHT or is_last or is_unknown)
        if is_serious and row["calls_after"] <= _LAST_CALLS and not row["recovered"] and not known.is_usual(row):
            return row
    return None


def never_started(process: EndedProcess) -> Row | None:
    """The first call of a process, if that did not start the program: what follows is the tracer's own. Else None.

    A shell tries one folder of its search path after the other."""
    tried = [row for row in process.last_failures if row["syscall"] == "execve"]
    is_first = len(tried) == 1 and tried[0]["last_line"] == process.ending["first_line"]
    return tried[0] if is_first and not tried[0]["recovered"] else None


def lost_output(process: EndedProcess) -> Row | None:
    """A write that failed for want of room or because of its device, in a process that exited as if it had not."""
    for row in reversed(process.last_failures):
        error = known.error(row["errno"])
        is_lost = error is not None and error.loses and row["syscall"].startswith(_WRITES)
        if is_lost and not row["recovered"] and not known.is_usual(row):
            return row
    return None


def stated_failure(process: EndedProcess) -> Message | None:
    """A message near the end of a cut capture which names what a call failed on, and states its error.

    It may stand behind the last call, where the tracer's lines were copied with the terminal."""
    last = last_message(process)
    for message in filter(None, (last, *around(process))):
        is_near = process.ending["last_line"] - message.line <= _LAST_LINES
        rows = [
            row for row in _near_end(process) if row["last_line"] < message.line and row["calls_after"] <= _LAST_CALLS
        ]
        if message.is_failure and is_near and any(states(message, row) and _is_about(message, row) for row in rows):
            return message
    return None


def said_of_only_failure(process: EndedProcess) -> Message | None:
    """A message next to the capture that states the error of the only call that failed; None if there is none."""
    return next((message for message in around(process) if only_failure(process, message)), None)


def left_by_peer(process: EndedProcess) -> Row | None:
    """The last write to a connection whose peer had closed it; None if there is none among the last calls."""
    rows = [row for row in process.last_failures if row["errno"] == "EPIPE" and row["calls_after"] <= _LAST_CALLS]
    return next((row for row in reversed(rows) if _has_peer(row)), None)


def _has_peer(row: Row) -> bool:
    """Whether a call works on a connection: not on a pipe, or on standard output."""
    return bool(row["syscall"].startswith("send") or _PEER.fullmatch(row["target"] or ""))


def nearest_refusal(process: EndedProcess) -> Row | None:
    """The last refusal near the end that healthy programs get, too: nobody knows whether it matters here."""
    refusals = {name for name, error in known.errors().items() if error.refusal}
    return next((row for row in _near_end(process) if row["errno"] in refusals), None)


def only_failure(process: EndedProcess, message: Message | None) -> Row | None:
    """The only call that failed, if it is among the last ones: it explains the end, whatever healthy programs have.

    Of a missing file, the message has to say so: programs look for many files."""
    row = process.last_failures[0] if len(process.last_failures) == 1 else None
    is_last = row is not None and row["calls"] == 1 and row["calls_after"] < _JUST_BEFORE and not row["recovered"]
    error = known.error(row["errno"]) if row else None
    if row is None or not is_last or not row["target"] or error is None or not error.weight:
        return None
    is_told = states(message, row) or (message is None and row["errno"] != "ENOENT")
    return row if is_told else None


def lone_failure(process: EndedProcess) -> Row | None:
    """The only call that failed, if it is among the last ones and was not for a file that may be missing; else None."""
    if len(process.last_failures) != 1:
        return None
    row = process.last_failures[0]
    is_near = row["calls"] == 1 and row["calls_after"] < _JUST_BEFORE and not row["recovered"]
    return row if is_near and row["errno"] != "ENOENT" else None


def just_before(process: EndedProcess) -> Row | None:
    """The failure among the very last calls, whatever healthy programs have: a crash may be its consequence."""
    rows = [row for row in process.last_failures if row["calls_after"] < _JUST_BEFORE and known.error(row["errno"])]
    # A refusal that healthy programs do not have needs no name: no memory was given.
    rows = [row for row in rows if not row["recovered"] and (row["target"] or not known.is_usual(row))]
    return rows[-1] if rows else None


def unexplained(process: EndedProcess) -> Row | None:
    """The last failure near the end that the process did not recover from, and that healthy programs do not have."""
    return next((row for row in _near_end(process) if not known.is_usual(row)), None)


def _near_end(process: EndedProcess) -> list[Row]:
    """Failures among the last calls that the process did not recover from, the last one first."""
    rows = [row for row in process.last_failures if row["calls_after"] <= _NEAR_LINES and not row["recovered"]]
    return rows[::-1]


def _weight(row: Row, end: int, message: Message | None, within: int) -> float:
    """How much a failure explains the end, from the error, the distance, and whether the message names it."""
    error = known.error(row["errno"])
    distance: int = end - row["last_line"]
    is_named, has_reason = _names(message, row), states(message, row)
    # A file that was to be new, and that the message names, is not made so by reading it.
    is_over = row["recovered"] and not (row["errno"] == "EEXIST" and _quotes(message, row))
    if error is None or distance < 0 or is_over or (known.is_usual(row) and not _is_meant(message, row)):
        return 0.0
    # A missing file that nothing names explains an end only right before it: programs look for many files.
    is_near = distance <= within // known.COMMON_WEIGHT
    if error.weight <= known.COMMON_WEIGHT and not is_named and not has_reason and not is_near:
        return 0.0
    nearness = 1 / (1 + distance / _NEAR_LINES)
    return error.weight * nearness * (_NAMED if is_named else 1.0) * (_STATED if has_reason else 1.0)


def _is_meant(message: Message | None, row: Row) -> bool:
    """Whether a message is about a failure that healthy programs have, too. Many of them miss some file."""
    return _quotes(message, row) or (row["errno"] != "ENOENT" and states(message, row))


def _quotes(message: Message | None, row: Row) -> bool:
    """Whether a message has the whole name of the file of a call."""
    name = (row["target"] or "").rpartition("/")[2]
    return message is not None and len(name) >= _MIN_NAME_LENGTH and name in message.text


def _is_about(message: Message, row: Row) -> bool:
    """Whether a message has the name of the file of a call, or its whole path. What creates a process has no name."""
    target = row["target"] or ""
    if not target and known.creates(row["syscall"]):
        return True
    return _quotes(message, row) or (target.startswith("/") and target in message.text)


def _names(message: Message | None, row: Row) -> bool:
    """Whether a message names the file or the port of a call."""
    target = row["target"] or ""
    peer = _PEER.fullmatch(target)
    name = peer["port"] if peer else target.rstrip("/").rpartition("/")[2].partition(".")[0]
    return message is not None and len(name) >= _MIN_NAME_LENGTH and name.lower() in message.text.lower()


def states(message: Message | None, row: Row) -> bool:
    """Whether a message states the error of a call."""
    error = known.error(row["errno"])
    if message is None or error is None or not error.text:
        return False
    return error.text.lower() in message.text.lower() or is_cut_in(message.text, error.text)


def called(row: Row) -> str:
    """What a row calls: `futex FUTEX_WAIT on 0x10b8008`."""
    is_named = row["target"] and row["target"] != _UNNAMED
    return f"{_request(row)} on {_shortened(row['target'])}" if is_named else _request(row)


def _shortened(target: str) -> str:
    """A name without its middle, if it is so long that a sentence would end before it says what happened."""
    return target if len(target) <= _MAX_TARGET else f"{target[:_MAX_START]}…{target[-_MAX_END:]}"


def _request(row: Row) -> str:
    """`ioctl TCGETS`, `read`."""
    return " ".join(part for part in (row["syscall"], row["op"]) if part)


def sentence(row: Row, meaning: str = "") -> str:
    """`bind on :5000 failed with EADDRINUSE (line 9095): Address already in use.`"""
    if row["errno"] == "EPIPE" and _has_peer(row):
        meaning = meaning or "the peer had closed the connection"
    meaning = meaning or known.meaning(row["errno"], row["syscall"])
    reason = f": {meaning}" if meaning else ""
    return shown(f"{_failed(row)}{reason}.")


def step(row: Row) -> str:
    """A call that succeeded, as a step of what a process did: `openat /etc/hosts ×2 (line 14)`."""
    times = f" ×{row['calls']}" if row["calls"] > 1 else ""
    end = " = 0, which the other side had closed" if row["peer_closed"] else ""
    return shown(f"{_request(row)} {_shortened(row['target'])}{times}{end} (line {row['last_line']})")


def failed_function(process: EndedProcess) -> str:
    """The last function of a library that failed to reach what it names, as its line has it; empty if there is none."""
    for row in reversed(process.foreign_lines):
        if found := _FAILED_FUNCTION.search(row["text"]):
            return shown(f"{found['call']} = {found['result']} (line {row['line']}).")
    return ""


def closed_by_peer(process: EndedProcess) -> str:
    """That the other side had closed a connection shortly before the end, as a sentence; empty if it had not."""
    for row in process.last_targets[-_LAST_TARGETS:]:
        if row["peer_closed"]:
            how = f"{row['syscall']} = 0 (line {row['last_line']})"
            return shown(f"Before it, {row['target']} closed the connection: {how}.")
    return ""


def as_usual(row: Row) -> str:
    """`close failed 3 times with EBADF (line 9), as usual: programs close descriptors that they may have inherited.`"""
    because = known.why_usual(row)
    return shown(f"{_failed(row)}, as usual{': ' if because else ''}{because}.")


def _failed(row: Row) -> str:
    times = f" {units.counted(row['calls'], 'time')}" if row["calls"] > 1 else ""
    last_ns = row.get("last_ns") or 0
    after = f" after {units.duration(last_ns)}" if last_ns >= MIN_NOTED_CALL_NS else ""
    return f"{called(row)} failed{times} with {row['errno']}{after} (line {row['last_line']})"


def is_this_host(host: str) -> bool:
    """Whether an address is one of the machine itself, whatever its network."""
    return host.startswith(("127.", "[::1", "[::ffff:127.")) or host in ("::1", "0.0.0.0", "localhost")


def command(row: Row, pid: int | None) -> str:
    """A command that shows more about a failure; empty if none is known."""
    error = known.error(row["errno"])
    target = str(row["target"] or "")
    peer = _PEER.fullmatch(target)
    folder = target.rpartition("/")[0] or "/"
    host = peer["host"].strip("[]") if peer else ""
    # A command would read it as an option.
    host = "" if host.startswith("-") else host
    if row["errno"] == "EACCES" and row["syscall"] == "bind":
        return "setcap cap_net_bind_service=+ep PROGRAM, or a port from 1024 on"
    if row["errno"] == "ENOENT" and row["syscall"] == "execve":
        return f"file {quoted(target)}; ldd {quoted(target)}" if target else ""
    if row["errno"] == "ECONNREFUSED" and target.startswith("/"):
        return f"ls -l {quoted(target)}; ss -lx"
    if row["errno"] == "ECONNREFUSED" and peer and is_this_host(peer["host"]):
        return f"ss -ltnp 'sport = :{peer['port']}'"
    template = (error.nexts.get(row["syscall"]) or error.next) if error else ""
    if not template:
        return ""
    values = {
        "target": quoted(target),
        "folder": quoted(folder),
        "host": quoted(host) if host else "",
        "port": peer["port"] if peer else "",
        "pid": "PID" if pid is None else str(pid),
    }
    wanted = [name for name in values if f"{{{name}}}" in template]
    is_known = all(values[name] and (name not in ("target", "folder") or target.startswith("/")) for name in wanted)
    return shown(template.format(**values)) if is_known else ""
