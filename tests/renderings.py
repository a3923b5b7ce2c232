"""Captures of strace as other options or other tracers would have printed them.

A rendering keeps what happened and loses what that tracer does not print: durations, sub-seconds, the wall clock.
Threads are rendered as processes of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

_DURATION = re.compile(r" <\d+\.\d{6,9}>$", re.MULTILINE)
_STAMP = re.compile(r"^((?:\[pid +\d+\] |\d+ +)?)(\d{9,10})\.(\d{3})\d* ", re.MULTILINE)
_LINE = re.compile(r"^(?:\[pid +(?P<p>\d+)\] |(?P<q>\d+) +)?(?P<at>\d{9,10}\.\d+) (?P<body>.*)$")
_RESUMED = re.compile(r"^<\.\.\. (?P<name>\w+) resumed>(?P<rest>.*)$")
_END = re.compile(
    r"^(?P<call>\w+\(.*\))\s*= (?P<ret>\?|-?\d+|0x[0-9a-f]+)(?: (?P<errno>E[A-Z0-9]+))?.*?"
    r"(?: <(?P<dur>[\d.]+)>)?$"
)
_S_US = 1_000_000


def without_durations(text: str) -> str:
    """As captured without `-T`."""
    return _DURATION.sub("", text)


def whole_seconds(text: str, later_ms: int = 0) -> str:
    """As captured with `-t` instead of `-ttt`, so many milliseconds later."""

    def stamp(found: re.Match[str]) -> str:
        second = (int(found[2] + found[3]) + later_ms) // 1_000 % 86_400
        return f"{found[1]}{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02} "

    return _STAMP.sub(stamp, text)


@dataclass
class Call:
    """A call of a capture. Times are in microseconds since its first line."""

    pid: int
    start_us: int
    end_us: int
    name: str
    args: list[str]
    ret: int = 0
    errno: str = ""
    line: int = 0
    """The line on which it begins."""


@dataclass
class Story:
    """What a capture shows: its calls by their returns."""

    calls: list[Call] = field(default_factory=list)


def story(text: str) -> Story:
    """The calls of a capture made with `-ttt -T`."""
    told, first_us = Story(), None
    open_calls: dict[int, tuple[int, str, int]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        found = _LINE.match(line)
        if not found:
            continue
        pid, body = int(found["p"] or found["q"] or 1), found["body"]
        at_us = round(float(found["at"]) * _S_US)
        first_us = at_us if first_us is None else first_us
        at_us -= first_us
        begun = number
        if resumed := _RESUMED.match(body):
            at_us, body, begun = open_calls.pop(pid, (at_us, f"{resumed['name']}(", number))
            body += resumed["rest"]
        elif body.endswith("<unfinished ...>"):
            open_calls[pid] = (at_us, body.removesuffix("<unfinished ...>").rstrip(), number)
            continue
        if ended := _END.match(body):
            told.calls.append(replace(_call(pid, at_us, ended), line=begun))
    told.calls.sort(key=lambda call: call.end_us)
    return told


def _call(pid: int, at_us: int, ended: re.Match[str]) -> Call:
    name, _, args = ended["call"].partition("(")
    dur_us = round(float(ended["dur"] or 0) * _S_US)
    ret = -1 if ended["ret"] == "?" else _number(ended["ret"])
    return Call(pid, at_us, at_us + dur_us, name, list(_arguments(args[:-1])), ret, ended["errno"] or "")


def _number(text: str) -> int:
    is_octal = len(text) > 1 and text.startswith("0") and text.isdigit()
    return int(text, 8 if is_octal else 0)


def _arguments(text: str) -> Iterator[str]:
    depth, quoted, start, at = 0, False, 0, 0
    while at < len(text):
        letter = text[at]
        if quoted:
            at += letter == "\\"
            quoted = letter != '"'
        elif letter == '"':
            quoted = True
        elif letter in "([{<":
            depth += 1
        elif letter in ")]}>":
            depth -= not (letter == ">" and text[at - 1] == "-")
        elif letter == "," and depth == 0:
            yield text[start:at].strip()
            start = at + 1
        at += 1
    if text[start:].strip():
        yield text[start:].strip()


_MACOS_NAMES = {
    "openat": "open",
    "newfstatat": "stat64",
    "fstat": "fstat64",
    "stat": "stat64",
    "lstat": "lstat64",
    "statfs": "statfs64",
    "clone": "fork",
    "clone3": "fork",
    "clock_nanosleep": "__semwait_signal",
    "nanosleep": "__semwait_signal",
    "poll": "poll",
    "ppoll": "poll",
    "pselect6": "select",
    "epoll_wait": "kevent",
    "epoll_pwait": "kevent",
    "getdents64": "getdirentries64",
    "rt_sigaction": "sigaction",
    "rt_sigprocmask": "sigprocmask",
    "pread64": "pread",
    "pwrite64": "pwrite",
    "fdatasync": "fsync",
    "futex": "psynch_cvwait",
}
_MACOS_ERRNO = {
    "EPERM": 1, "ENOENT": 2, "EINTR": 4, "EIO": 5, "EBADF": 9, "ECHILD": 10, "EACCES": 13, "EEXIST": 17, "ENOTDIR": 20,
    "EINVAL": 22, "EMFILE": 24, "ENOTTY": 25, "ENOSPC": 28, "ESPIPE": 29, "EPIPE": 32, "EAGAIN": 35, "EINPROGRESS": 36,
    "EOPNOTSUPP": 45, "ETIMEDOUT": 60, "ECONNREFUSED": 61, "ENOSYS": 78,
}  # fmt: skip
# Calls without a line: they do not return.
_NO_RETURN = ("exit_group", "exit", "_exit", "rt_sigreturn")
_MAX_CPU_US = 25


def dtruss(text: str) -> str:
    """As `dtruss -f -e -o -d` on macOS: no wall clock, but CPU time. Longer calls waited."""
    told = story(text)
    used_us: dict[int, int] = {}
    last_us: dict[int, int] = {}
    lines = ["\tPID/THRD  RELATIVE  ELAPSD    CPU SYSCALL(args) \t\t = return"]
    for call in told.calls:
        if call.name in _NO_RETURN:
            continue
        pid, dur_us = call.pid, call.end_us - call.start_us
        cpu_us = min(dur_us, _MAX_CPU_US)
        between_us = max(0, call.start_us - last_us[pid]) if pid in last_us else 0
        used_us[pid] = used_us.get(pid, 0) + between_us + cpu_us
        if pid not in last_us:
            lines.append(f"{pid:5}/0x{pid:x}:  {0:7}:  {0:6}:  {0:5}: fork()\t\t = 0 0")
        last_us[pid] = call.end_us
        lines.append(f"{pid:5}/0x{pid:x}:  {used_us[pid]:8} {dur_us:7} {cpu_us:6} {_macos_call(call)}")
    return "\n".join(lines) + "\n"


def _macos_call(call: Call) -> str:
    args = [_macos_argument(arg) for arg in call.args]
    if call.name in ("openat", "newfstatat") and args:
        args = args[1:]
    error = _MACOS_ERRNO.get(call.errno, 22) if call.errno else 0
    ret = -1 if error else call.ret
    if call.name in ("clock_nanosleep", "nanosleep"):
        args, ret, error = _semwait(call), -1, error or _MACOS_ERRNO["ETIMEDOUT"]
    name = _MACOS_NAMES.get(call.name, call.name)
    return f"{name}({', '.join(args)})\t\t = {ret} {f'Err#{error}' if error else 0}"


def _semwait(call: Call) -> list[str]:
    return ["0xC03", "0x0", "0x1", "0x1", *(f"0x{number:X}" for number in _requested(call))]


def _requested(call: Call) -> tuple[int, int]:
    """Seconds and nanoseconds that a sleep asks for. Other systems have no sleep until a point in time."""
    if "TIMER_ABSTIME" in call.args:
        return divmod((call.end_us - call.start_us) // 1_000 * 1_000_000, 1_000_000_000)
    seconds, nanos = [int(number) for number in re.findall(r"=(\d+)", call.args[-2])] or [0, 0]
    return seconds, nanos


def _macos_argument(arg: str) -> str:
    if string := re.match(r'^"(.*)"(\.\.\.)?$', arg, re.DOTALL):
        return f'"{string[1]}\\0"'
    if number := re.match(r"^(-?\d+|0x[0-9a-f]+)(?:<.*>)?$", arg):
        return f"0x{_number(number[1]) & (1 << 64) - 1:X}"
    return "0x0" if arg == "NULL" else "0x7FFEEFBFEDE0"


_SOLARIS_NAMES = {
    "openat": "open",
    "newfstatat": "stat",
    "exit_group": "_exit",
    "clone": "forkx",
    "clone3": "forkx",
    "fork": "forkx",
    "vfork": "vforkx",
    "clock_nanosleep": "nanosleep",
    "poll": "pollsys",
    "ppoll": "pollsys",
    "wait4": "waitid",
    "fsync": "fdsync",
    "fdatasync": "fdsync",
    "rt_sigaction": "sigaction",
    "rt_sigprocmask": "lwp_sigmask",
    "getdents64": "getdents",
    "statfs": "statvfs",
}


def solaris_truss(text: str) -> str:
    """As `truss -f -dDE -v all` on Solaris: the time since the event before, which ends with a call."""
    told = story(text)
    lines = ["Base time stamp:  1259020532.4127  [ Mon Nov 23 23:55:32 GMT 2009 ]"]
    last: dict[int, int] = {}
    creators = {
        call.ret: call.pid for call in told.calls if call.name in ("clone", "clone3", "fork", "vfork") and call.ret > 0
    }
    for call in told.calls:
        if call.pid not in last and call.pid in creators:
            at = call.start_us // 100
            name = "forkx()\t\t(returning as child ...)"
            lines.append(f"{call.pid}:\t{_columns(at, at)}\t{name}\t= {creators[call.pid]}")
            last[call.pid] = at
        at = call.end_us // 100
        lines.extend(_solaris_lines(call, _columns(at, at - last.get(call.pid, 0))))
        last[call.pid] = at
    return "\n".join(lines) + "\n"


def _columns(at: int, since: int) -> str:
    return "\t".join(f"{number // 10_000:2}.{number % 10_000:04}" for number in (at, max(since, 0), 0))


def _solaris_lines(call: Call, columns: str) -> Iterator[str]:
    name = _SOLARIS_NAMES.get(call.name, call.name)
    args = [_solaris_argument(arg) for arg in call.args]
    if call.name in ("openat", "newfstatat"):
        args = args[1:]
    if name == "waitid":
        args = [f"P_PID, {call.ret}", "0x080473B0", "WEXITED|WTRAPPED"]
    elif name == "nanosleep":
        args = ["0x08047C30", "0x08047C38"]
    elif name == "_exit":
        yield f"{call.pid}:\t{columns}\t_exit({args[0]})"
        return
    elif name in ("forkx", "vforkx"):
        args = ["0"]
    result = f"Err#{_MACOS_ERRNO.get(call.errno, 22)} {call.errno}" if call.errno else f"= {call.ret}"
    if name == "waitid" and not call.errno:
        result = "= 0"
    if name == "execve" and not call.errno:
        result = " argc = 1"
    yield f"{call.pid}:\t{columns}\t{name}({', '.join(args)})\t{result}"
    if name == "nanosleep":
        seconds, nanos = _requested(call)
        yield f"{call.pid}:\ttmout: {seconds}.{nanos:09} sec"


def _solaris_argument(arg: str) -> str:
    if arg == "NULL":
        return "0x00000000"
    if descriptor := re.match(r"^(-?\d+)<.*>$", arg):
        return descriptor[1]
    return "0x08047B40" if arg[:1] in "[{" else arg
