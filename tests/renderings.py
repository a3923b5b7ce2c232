"""Captures of strace as other options or other tracers would have printed them.

A rendering keeps what happened and loses what that tracer does not print: durations, sub-seconds, the wall clock.
Threads are rendered as processes of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

_DURATION = re.compile(r" <\d+\.\d{6,9}>$", re.MULTILINE)
_STAMP = re.compile(r"^((?:\[pid +\d+\] |\d+ +)?)(\d{9,10})\.(\d{3})\d* ", re.MULTILINE)
_LINE = re.compile(r"^(?:\[pid +(?P<p>\d+)\] |(?P<q>\d+) +)?(?P<at>\d{9,10}\.\d+) (?P<body>.*)$")
_RESUMED = re.compile(r"^<\.\.\. (?P<name>\w+) resumed>(?P<rest>.*)$")
_END = re.compile(
    r"^(?P<call>\w+\(.*\))\s*= (?P<ret>\?|-?\d+|0x[0-9a-f]+)(?: (?P<errno>E[A-Z0-9]+))?.*?"
    r"(?: <(?P<dur>[\d.]+)>)?$"
)
_SIGNAL = re.compile(
    r"^(?:\+\+\+ killed by (?P<killed>SIG\w+)|--- stopped by (?P<stopped>SIG\w+)|--- (?P<received>SIG\w+) \{)"
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
    ret: int | None = 0
    """What it returned; none if it did not return."""
    errno: str = ""
    line: int = 0
    """The line on which it begins."""


@dataclass
class Signal:
    """A signal that a process received, and the call that it broke off."""

    pid: int
    at_us: int
    name: str
    call: str = ""
    since_us: int = 0
    """When that call began; without one, as at_us."""
    kills: bool = False
    stops: bool = False


@dataclass
class Story:
    """What a capture shows: its calls by their returns, and its signals."""

    calls: list[Call] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)

    def events(self) -> list[Call | Signal]:
        """All of them, by time."""
        events: list[Call | Signal] = [*self.calls, *self.signals]
        return sorted(events, key=_at_us)


@lru_cache(maxsize=8)
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
            if pid not in open_calls:
                # What it was about is in a line before the capture.
                continue
            at_us, body, begun = open_calls.pop(pid)
            body += resumed["rest"]
        elif body.endswith("<unfinished ...>"):
            open_calls[pid] = (at_us, body.removesuffix("<unfinished ...>").rstrip(), number)
            continue
        if (read := _SIGNAL.match(body)) and (signal := _signal(read, pid, at_us, told, open_calls)):
            told.signals.append(signal)
        if ended := _END.match(body):
            told.calls.append(replace(_call(pid, at_us, ended), line=begun))
    told.calls.sort(key=lambda call: call.end_us)
    return told


def _signal(
    read: re.Match[str], pid: int, at_us: int, told: Story, open_calls: dict[int, tuple[int, str, int]]
) -> Signal | None:
    last = next((call for call in reversed(told.calls) if call.pid == pid), None)
    broken = last.name if last and (last.errno.startswith("ERESTART") or last.ret is None) else ""
    since_us = last.start_us if last and broken else at_us
    if read["killed"]:
        # The line of the signal itself, if there is one, becomes that of the death.
        before = next((each for each in reversed(told.signals) if each.pid == pid), None)
        if before and before.name == read["killed"]:
            before.kills = True
            return None
        if pid in open_calls:
            since_us, text, _ = open_calls[pid]
            return Signal(pid, at_us, read["killed"], text.partition("(")[0], since_us, kills=True)
        return Signal(pid, at_us, read["killed"], broken, since_us, kills=True)
    name = read["stopped"] or read["received"]
    return Signal(pid, at_us, name, broken, since_us, stops=bool(read["stopped"]))


def _call(pid: int, at_us: int, ended: re.Match[str]) -> Call:
    name, _, args = ended["call"].partition("(")
    dur_us = round(float(ended["dur"] or 0) * _S_US)
    ret = None if ended["ret"] == "?" else number_of(ended["ret"])
    return Call(pid, at_us, at_us + dur_us, name, list(_arguments(args[:-1])), ret, ended["errno"] or "")


def number_of(text: str) -> int:
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


MACOS_NAMES = {
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
BSD_ERRNO = {
    "EPERM": 1, "ENOENT": 2, "ESRCH": 3, "EINTR": 4, "EIO": 5, "ENXIO": 6, "E2BIG": 7, "ENOEXEC": 8, "EBADF": 9,
    "ECHILD": 10, "ENOMEM": 12, "EACCES": 13, "EFAULT": 14, "EBUSY": 16, "EEXIST": 17, "EXDEV": 18, "ENODEV": 19,
    "ENOTDIR": 20, "EISDIR": 21, "EINVAL": 22, "ENFILE": 23, "EMFILE": 24, "ENOTTY": 25, "ETXTBSY": 26, "EFBIG": 27,
    "ENOSPC": 28, "ESPIPE": 29, "EROFS": 30, "EMLINK": 31, "EPIPE": 32, "ERANGE": 34, "EAGAIN": 35, "EINPROGRESS": 36,
    "EALREADY": 37, "ENOTSOCK": 38, "EOPNOTSUPP": 45, "EAFNOSUPPORT": 47, "EADDRINUSE": 48, "EADDRNOTAVAIL": 49,
    "ENETDOWN": 50, "ENETUNREACH": 51, "ECONNABORTED": 53, "ECONNRESET": 54, "ENOBUFS": 55, "EISCONN": 56,
    "ENOTCONN": 57, "ETIMEDOUT": 60, "ECONNREFUSED": 61, "ELOOP": 62, "ENAMETOOLONG": 63, "EHOSTUNREACH": 65,
    "ENOTEMPTY": 66, "EDQUOT": 69, "ESTALE": 70, "ENOLCK": 77, "ENOSYS": 78,
}  # fmt: skip
# Calls without a line: they do not return.
_NO_RETURN = ("exit_group", "exit", "_exit", "rt_sigreturn")
_MAX_CPU_US = 25


_DTRUSS_COLUMNS = ("RELATIVE", "ELAPSD", "CPU")


def dtruss(text: str, columns: tuple[str, ...] = _DTRUSS_COLUMNS, *, with_stacks: bool = False) -> str:
    """As `dtruss -f -e -o -d` on macOS: no wall clock, but CPU time. Longer calls waited."""
    told = story(text)
    used_us: dict[int, int] = {}
    last_us: dict[int, int] = {}
    lines = [f"\tPID/THRD  {'  '.join((*columns, ''))}SYSCALL(args) \t\t = return"]
    for call in told.calls:
        if call.name in _NO_RETURN or call.ret is None:
            continue
        pid, dur_us = call.pid, call.end_us - call.start_us
        cpu_us = min(dur_us, _MAX_CPU_US)
        between_us = max(0, call.start_us - last_us[pid]) if pid in last_us else 0
        used_us[pid] = used_us.get(pid, 0) + between_us + cpu_us
        if pid not in last_us:
            lines.append(f"{pid:5}/0x{pid:x}:  {''.join(f'{0:7}: ' for _ in columns)}fork()\t\t = 0 0")
        last_us[pid] = call.end_us
        values = {"RELATIVE": used_us[pid], "ELAPSD": dur_us, "CPU": cpu_us}
        numbers = "".join(f"{values[column]:7} " for column in columns)
        lines.append(f"{pid:5}/0x{pid:x}:  {numbers}{_macos_call(call)}")
        if with_stacks:
            name = MACOS_NAMES.get(call.name, call.name)
            lines += ["", f"              libsystem_kernel.dylib`{name}+0xa", "              tool`main+0x1f4", ""]
    return "\n".join(lines) + "\n"


def _macos_call(call: Call) -> str:
    args = [_macos_argument(arg) for arg in call.args]
    if call.name in ("openat", "newfstatat") and args:
        args = args[1:]
    error = BSD_ERRNO.get(call.errno, 22) if call.errno else 0
    ret = -1 if error else call.ret
    if call.name in ("clock_nanosleep", "nanosleep"):
        args, ret, error = _semwait(call), -1, error or BSD_ERRNO["ETIMEDOUT"]
    name = MACOS_NAMES.get(call.name, call.name)
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
        return f"0x{number_of(number[1]) & (1 << 64) - 1:X}"
    return "0x0" if arg == "NULL" else "0x7FFEEFBFEDE0"


SOLARIS_NAMES = {
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
    "rt_sigreturn": "setcontext",
    "rt_sigsuspend": "sigsuspend",
    "rt_sigprocmask": "lwp_sigmask",
    "getdents64": "getdents",
    "statfs": "statvfs",
}


_SOLARIS_SIGNALS = {
    "SIGHUP": 1, "SIGINT": 2, "SIGQUIT": 3, "SIGABRT": 6, "SIGKILL": 9, "SIGSEGV": 11, "SIGPIPE": 13, "SIGALRM": 14,
    "SIGTERM": 15, "SIGUSR1": 16, "SIGUSR2": 17, "SIGCLD": 18, "SIGSTOP": 23, "SIGTSTP": 24, "SIGCONT": 25,
}  # fmt: skip


_SOLARIS_COLUMNS = re.compile(r"\t *\d+\.\d{4}\t *\d+\.\d{4}\t *\d+\.\d{4}\t")


def solaris_truss(text: str, *, timed: bool = True) -> str:
    """As `truss -f -dDE -v all` on Solaris: the time since the event before, which ends with a call.

    Not timed, as without -dDE."""
    base = "Base time stamp:  1259020532.4127  [ Mon Nov 23 23:55:32 GMT 2009 ]\n"
    lines = _solaris_truss(text)
    return base + lines if timed else _SOLARIS_COLUMNS.sub("\t", lines)


def _solaris_truss(text: str) -> str:
    told = story(text)
    lines: list[str] = []
    last: dict[int, int] = {}
    broken: dict[int, Call] = {}
    creators = {
        call.ret: call.pid
        for call in told.calls
        if call.name in ("clone", "clone3", "fork", "vfork") and (call.ret or 0) > 0
    }
    for event in told.events():
        pid, at = event.pid, _at_us(event) // 100
        if isinstance(event, Call) and pid not in last and pid in creators:
            last[pid] = event.start_us // 100
            name = f"forkx()\t\t(returning as child ...)\t= {creators[pid]}"
            lines.append(f"{pid}:\t{_columns(last[pid], last[pid])}\t{name}")
        if isinstance(event, Call) and event.ret is None and event.name not in ("exit_group", "exit"):
            broken[pid] = event
            continue
        columns = _columns(at, at - last.get(pid, 0 if isinstance(event, Call) else at))
        last[pid] = at
        if isinstance(event, Call):
            lines.extend(_solaris_lines(event, columns))
            continue
        lines.append(f"{pid}:\t{columns}\t{_solaris_signal(event)}")
        if (call := broken.pop(pid, None)) and not event.kills and not event.stops:
            # The call returns after its handler.
            lines.extend(_solaris_lines(replace(call, ret=-1, errno="EINTR"), _columns(at, 0)))
    return "\n".join(lines) + "\n"


def _at_us(event: Call | Signal) -> int:
    return event.end_us if isinstance(event, Call) else event.at_us


def _solaris_signal(signal: Signal) -> str:
    name = {"SIGCHLD": "SIGCLD"}.get(signal.name, signal.name)
    number, call = _SOLARIS_SIGNALS.get(name, 16), SOLARIS_NAMES.get(signal.call, signal.call)
    inside = f", in {call}()" if call else ""
    if signal.stops:
        return f"    Stopped by signal #{number}, {name}{inside}"
    return f"    Received signal #{number}, {name}{inside} [{'default' if signal.kills else 'caught'}]"


def _columns(at: int, since: int) -> str:
    return "\t".join(f"{number // 10_000:2}.{number % 10_000:04}" for number in (at, max(since, 0), 0))


def _solaris_lines(call: Call, columns: str) -> Iterator[str]:
    yield f"{call.pid}:\t{columns}\t{_solaris_call(call)}"
    if call.name in ("execve", "execveat") and not call.errno:
        words = next((arg for arg in call.args if arg.startswith("[")), "[]")
        yield f"{call.pid}:\t argv: {' '.join(arg.strip(chr(34)) for arg in _arguments(words[1:-1]))}"
    if address := _address(call):
        yield f"{call.pid}:\tAF_INET  name = {address[0]}  port = {address[1]}"
    if SOLARIS_NAMES.get(call.name, call.name) == "nanosleep":
        seconds, nanos = _requested(call)
        yield f"{call.pid}:\ttmout: {seconds}.{nanos:09} sec"


def _solaris_call(call: Call) -> str:
    name = SOLARIS_NAMES.get(call.name, call.name)
    args = [_solaris_argument(arg) for arg in call.args]
    result = f"Err#{BSD_ERRNO.get(call.errno, 22)} {call.errno}" if call.errno else f"= {call.ret}"
    if name == "_exit":
        return f"_exit({args[0]})"
    if name in ("pipe", "pipe2") and not call.errno:
        reader, writer = _ends(call)
        return f"pipe()\t= {reader} [{writer}]"
    if name == "waitid":
        return f"waitid(P_PID, {call.ret}, 0x080473B0, WEXITED|WTRAPPED)\t{result if call.errno else '= 0'}"
    if name == "setcontext":
        return "setcontext(0x08047B40)"
    if name == "execve" and not call.errno:
        result = " argc = 1"
    args = {"nanosleep": ["0x08047C30", "0x08047C38"], "forkx": ["0"], "vforkx": ["0"]}.get(name, args)
    if call.name in ("openat", "newfstatat"):
        args = args[1:]
    return f"{name}({', '.join(args)})\t{result}"


def _ends(call: Call) -> list[str]:
    """The descriptors of both ends of a new pipe."""
    return re.findall(r"(?:^\[|, )(\d+)", call.args[0])


def _address(call: Call) -> tuple[str, str] | None:
    """Host and port of a connect. Other systems print no addresses of other calls."""
    found = re.search(r'sin_port=htons\((\d+)\), sin_addr=inet_addr\("([\d.]+)"\)', ", ".join(call.args))
    return (found[2], found[1]) if found and call.name == "connect" else None


def _solaris_argument(arg: str) -> str:
    if arg == "NULL":
        return "0x00000000"
    if descriptor := re.match(r"^(-?\d+)<.*>$", arg):
        return descriptor[1]
    return "0x08047B40" if arg[:1] in "[{" else arg


FREEBSD_NAMES = {
    "newfstatat": "fstatat",
    "clone": "fork",
    "clone3": "fork",
    "exit_group": "exit",
    "clock_nanosleep": "nanosleep",
    "pselect6": "pselect",
    "epoll_wait": "kevent",
    "epoll_pwait": "kevent",
    "getdents64": "getdirentries",
    "rt_sigaction": "sigaction",
    "rt_sigprocmask": "sigprocmask",
    "rt_sigreturn": "sigreturn",
    "rt_sigsuspend": "sigsuspend",
    "pread64": "pread",
    "pwrite64": "pwrite",
    "futex": "_umtx_op",
}


def freebsd_truss(text: str, *, timed: bool = True) -> str:
    """As `truss -f -H -d -D` on FreeBSD: a line when the call returns, with its end and its duration.

    Not timed, as without -d -D."""
    lines = _freebsd_truss(text)
    return lines if timed else re.sub(r"(?m)^( *\d+ \d+: )\d+\.\d{9} \d+\.\d{9} ", r"\1", lines)


def _freebsd_truss(text: str) -> str:
    told = story(text)
    creators = {
        call.ret: call
        for call in told.calls
        if call.name in ("clone", "clone3", "fork", "vfork") and (call.ret or 0) > 0
    }
    lines: list[str] = []
    seen: set[int] = set()
    for event in told.events():
        pid = event.pid
        if isinstance(event, Call) and pid not in seen and pid in creators:
            lines.append(f"{pid:5} {pid + 100_000}: {_seconds(event.start_us)} {_seconds(0)} <new process>")
        seen.add(pid)
        start_us = event.start_us if isinstance(event, Call) else event.since_us
        times = f"{_seconds(_at_us(event))} {_seconds(_at_us(event) - start_us)}"
        lines += [f"{pid:5} {pid + 100_000}: {times} {line}" for line in _freebsd_lines(event)]
        if isinstance(event, Signal) and event.kills:
            lines.append(f"{pid:5} {pid + 100_000}: process killed, signal = {_SOLARIS_SIGNALS.get(event.name, 9)}")
    return "\n".join(lines) + "\n"


def _seconds(time_us: int) -> str:
    return f"{time_us // _S_US}.{time_us % _S_US:06}000"


def _freebsd_lines(event: Call | Signal) -> Iterator[str]:
    if isinstance(event, Signal):
        if not event.stops:
            yield f"SIGNAL {_SOLARIS_SIGNALS.get(event.name, 16)} ({event.name})"
        return
    name = FREEBSD_NAMES.get(event.name, event.name)
    args = [re.sub(r"<[^>]*>", "", arg) if arg[:1].isdigit() else arg for arg in event.args]
    if address := _address(event):
        args[1] = f"{{ AF_INET {address[0]}:{address[1]} }}"
    if name == "nanosleep":
        seconds, nanos = _requested(event)
        args = [f"{{ {seconds}.{nanos:09} }}"]
    if event.name in ("pipe", "pipe2") and not event.errno:
        args[0] = f"{{ {', '.join(_ends(event))} }}"
    if name in ("exit", "_exit"):
        yield f"exit({args[0]})"
        yield f"process exit, rval = {args[0]}"
    elif event.ret is not None:
        number = BSD_ERRNO.get(event.errno, 22)
        result = f"ERR#{number} 'Error'" if event.errno else f"= {event.ret} ({event.ret:#x})"
        yield f"{name}({','.join(args)}) {result}"
    elif event.errno:
        yield f"{name}({','.join(args)}) ERR#4 'Interrupted system call'"


NAMES = {"solaris-truss": SOLARIS_NAMES, "freebsd-truss": FREEBSD_NAMES, "dtruss": MACOS_NAMES}
"""Names of calls that other systems have for those of Linux, by tracer."""
