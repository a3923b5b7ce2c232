"""Captures of strace as tracers print them that show when a call begins: kdump and perf trace.

As in `renderings.py`, a rendering keeps what happened and loses what that tracer does not print.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from renderings import BSD_ERRNO, FREEBSD_NAMES, Call, Signal, Story, number_of, story

_S_US = 1_000_000
_START_US = 1_300_000_000 * _S_US
_PATH = re.compile(r'^"(.*?)"(\.\.\.)?$', re.DOTALL)
_NO_RETURN = ("exit_group", "exit", "_exit")
_CREATING = ("clone", "clone3", "fork", "vfork")
_MAX_COMM = 15

Moment = tuple[int, int, str]
"""Time, order of events at the same time, and the line."""


def kdump(text: str, *, timed: bool = True) -> str:
    """As `ktrace -i` and `kdump -T` on FreeBSD print it; not timed, as without -T."""
    told = story(text)
    comms = _comms(told)
    records: list[tuple[int, int, int, str, str]] = []
    for order, event in enumerate(told.events()):
        if isinstance(event, Signal):
            if not event.stops:
                records.append((event.at_us, order, event.pid, comms(event.pid, event.at_us), _psig(event)))
            continue
        before, after = comms(event.pid, event.start_us), comms(event.pid, event.end_us)
        name = FREEBSD_NAMES.get(event.name, event.name)
        records += [(event.start_us, order, event.pid, before, line) for line in _entered(name, event)]
        if event.ret is not None or event.errno:
            records.append((event.end_us, order, event.pid, after, _returned(name, event)))
        if event.name in _CREATING and (event.ret or 0) > 0:
            records.append((event.end_us, order, event.ret or 0, after, f"RET   {name} 0"))
    records.sort(key=lambda record: record[:2])
    return "".join(
        f"{pid:6} {comm:8} {_stamp(at_us) if timed else ''}{line}\n" for at_us, _, pid, comm, line in records
    )


def _stamp(at_us: int) -> str:
    at_us += _START_US
    return f"{at_us // _S_US}.{at_us % _S_US:06} "


def _entered(name: str, call: Call) -> Iterator[str]:
    """The records of an entry: the call with its numbers, and what it names."""
    if call.name in _NO_RETURN:
        yield f"CALL  exit({call.args[0] if call.args else '0'})"
        return
    args = [_number(arg) for arg in call.args]
    if call.name in ("clock_nanosleep", "nanosleep"):
        args = ["0x7fffffffe9c0", "0"]
    yield f"CALL  {name}({','.join(args)})" if args else f"CALL  {name}"
    if address := _address(call):
        yield f"STRU  struct sockaddr {{ AF_{address} }}"
    for path in _paths(call):
        yield f'NAMI  "{path}"'


_FIRST_PATHS = (
    *("open", "stat", "lstat", "access", "execve", "mkdir", "rmdir", "unlink", "readlink", "chdir", "rename"),
    *("statfs", "chmod", "truncate", "creat", "mount", "umount2", "link", "symlink"),
)
_SECOND_PATHS = (
    *("openat", "newfstatat", "faccessat", "faccessat2", "unlinkat", "mkdirat", "readlinkat", "statx", "fchmodat"),
)


def _paths(call: Call) -> Iterator[str]:
    at = 0 if call.name in _FIRST_PATHS else 1 if call.name in _SECOND_PATHS else None
    if at is not None and len(call.args) > at and (found := _PATH.match(call.args[at])):
        yield found[1]


def _number(arg: str) -> str:
    """An argument as kdump prints it: a number, the names of a constant, or the address of what it points to."""
    if found := re.match(r"^(-?\d+|0x[0-9a-f]+)(?:<.*>)?$", arg):
        value = number_of(found[1]) & 0xFFFFFFFF
        return f"{value:#x}"
    if arg == "NULL":
        return "0"
    return arg if re.fullmatch(r"[A-Z][A-Z0-9_|]*", arg) else "0x7fffffffe0a0"


def _address(call: Call) -> str:
    text = ", ".join(call.args)
    if call.name != "connect":
        return ""
    if found := re.search(r'sin_port=htons\((\d+)\), sin_addr=inet_addr\("([\d.]+)"\)', text):
        return f"INET, {found[2]}:{found[1]}"
    if found := re.search(r'sun_path=@?"([^"]*)"', text):
        return f"LOCAL, {found[1]}"
    return ""


def _returned(name: str, call: Call) -> str:
    if call.errno.startswith("ERESTART"):
        return f"RET   {name} RESTART"
    if call.errno:
        return f"RET   {name} -1 errno {BSD_ERRNO.get(call.errno, 22)} {call.errno}"
    if call.name == "execve":
        return "RET   execve JUSTRETURN"
    if call.name in ("pipe", "pipe2") and (ends := re.findall(r"(?:^\[|, )(\d+)", call.args[0])):
        return f"RET   {name} {', '.join(ends)}"
    ret = call.ret or 0
    return f"RET   {name} {ret}/{ret:#x}" if ret > 9 else f"RET   {name} {ret}"


def _psig(signal: Signal) -> str:
    if signal.kills:
        return f"PSIG  {signal.name} SIG_DFL code=SI_USER"
    return f"PSIG  {signal.name} caught handler=0x400f10 mask=0x0 code=SI_USER"


class _Comms:
    """The names of programs by process and time."""

    def __init__(self, told: Story) -> None:
        self.by_pid: dict[int, list[tuple[int, str]]] = {}
        for call in told.calls:
            if call.name == "execve" and not call.errno and (path := _PATH.match(call.args[0])):
                name = path[1].rpartition("/")[2][:_MAX_COMM] or "x"
                self.by_pid.setdefault(call.pid, []).append((call.end_us, name))
            if call.name in _CREATING and (call.ret or 0) > 0:
                self.by_pid.setdefault(call.ret or 0, []).insert(0, (0, self(call.pid, call.end_us)))

    def __call__(self, pid: int, at_us: int) -> str:
        known = [name for since_us, name in self.by_pid.get(pid, ()) if since_us <= at_us]
        return known[-1] if known else "task"


def _comms(told: Story) -> _Comms:
    return _Comms(told)


_PERF_NAMES = {
    "open": ("filename", "flags", "mode"),
    "openat": ("dfd", "filename", "flags", "mode"),
    "stat": ("filename", "statbuf"),
    "lstat": ("filename", "statbuf"),
    "newfstatat": ("dfd", "filename", "statbuf", "flag"),
    "access": ("filename", "mode"),
    "execve": ("filename", "argv", "envp"),
    "unlink": ("pathname",),
    "mkdir": ("pathname", "mode"),
    "readlink": ("path", "buf", "bufsiz"),
    "chdir": ("filename",),
    "connect": ("fd", "uservaddr", "addrlen"),
    "bind": ("fd", "umyaddr", "addrlen"),
    "kill": ("pid", "sig"),
    "wait4": ("upid", "stat_addr", "options", "ru"),
    "futex": ("uaddr", "op", "val", "utime", "uaddr2", "val3"),
    "poll": ("ufds", "nfds", "timeout_msecs"),
    "ppoll": ("ufds", "nfds", "tsp", "sigmask", "sigsetsize"),
    "pselect6": ("n", "inp", "outp", "exp", "tsp", "sig"),
    "epoll_wait": ("epfd", "events", "maxevents", "timeout"),
    "epoll_pwait": ("epfd", "events", "maxevents", "timeout", "sigmask"),
    "nanosleep": ("rqtp", "rmtp"),
    "clock_nanosleep": ("which_clock", "flags", "rqtp", "rmtp"),
    "fcntl": ("fd", "cmd", "arg"),
    "ioctl": ("fd", "cmd", "arg"),
    "exit_group": ("error_code",),
    "exit": ("error_code",),
    "clone": ("newsp", "clone_flags", "child_tidptr"),
    "clone3": ("uargs", "size"),
    "flock": ("fd", "cmd"),
}
_PERF_OTHERS = ("arg2", "arg3", "arg4", "arg5", "arg6", "arg7")
_PREFIXES = {"futex": "FUTEX_", "fcntl": "F_"}


def perf_trace(text: str) -> str:
    """As `perf trace` prints it: a line per call, two where another task's event comes between."""
    told = story(text)
    comms = _comms(told)
    calls = [each for each in told.events() if isinstance(each, Call)]
    starts = sorted((call.start_us, call.pid) for call in calls)
    ends = sorted((call.end_us, call.pid) for call in calls)
    moments = sorted({*starts, *ends})
    crossed = {(at_us, pid) for (at_us, pid), (_, other) in pairwise(moments) if pid != other}
    lines: list[Moment] = []
    for order, call in enumerate(calls):
        comm = comms(call.pid, call.start_us)
        head = f"{call.name}({_perf_arguments(call)})"
        at = f"{call.start_us / 1000:10.3f}"
        if call.ret is None and not call.errno:
            end = "?" if call.name in _NO_RETURN else "..."
            closing = f"= {end}" if end == "?" else end
            lines.append((call.start_us, order, f"{at} (         ): {comm}/{call.pid} {head:40} {closing}"))
            continue
        took = f"({(call.end_us - call.start_us) / 1000:6.3f} ms)"
        result = f"= -1 {call.errno} ({call.errno})" if call.errno else f"= {_perf_result(call)}"
        if call.name == "execve" and not call.errno:
            after = comms(call.pid, call.end_us)
            line = f"         ? (         ): {after}/{call.pid}  ... [continued]: execve()){result:>40}"
            lines.append((call.start_us, order, f"{at} (         ): {comm}/{call.pid} {head:40} ..."))
            lines.append((call.end_us, order, line.replace("         ? (         )", f"{at} {took}")))
        elif (call.start_us, call.pid) in crossed and call.end_us > call.start_us:
            lines.append((call.start_us, order, f"{at} (         ): {comm}/{call.pid} {head:40} ..."))
            line = f"{at} {took}: {comm}/{call.pid}  ... [continued]: {call.name}())"
            lines.append((call.end_us, order, f"{line:60} {result}"))
        else:
            lines.append((call.end_us, order, f"{at} {took}: {comm}/{call.pid} {head:40} {result}"))
        if call.name in _CREATING and (call.ret or 0) > 0:
            born = f"         ? (         ): {comm}/{call.ret}  ... [continued]: {call.name}())"
            lines.append((call.end_us, order, f"{born:60} = 0"))
    lines.sort(key=lambda moment: moment[:2])
    return "".join(f"{line}\n" for *_, line in lines)


def _perf_result(call: Call) -> str:
    ret = call.ret or 0
    return f"{ret:#x}" if ret > 0xFFFFFFFF else str(ret)


def _perf_arguments(call: Call) -> str:
    if call.name in ("fork", "vfork"):
        return ""
    names = _PERF_NAMES.get(call.name, ("fd", *_PERF_OTHERS))
    args = zip((*names, *_PERF_OTHERS), call.args, strict=False)
    shown = [(name, _perf_argument(call, name, arg)) for name, arg in args]
    return ", ".join(f"{name}: {arg}" for name, arg in shown if arg not in ("0", "NULL", ""))


def _perf_argument(call: Call, name: str, arg: str) -> str:
    if arg == "AT_FDCWD" or arg.startswith("AT_FDCWD<"):
        return "CWD"
    if name in ("uservaddr", "umyaddr"):
        text = ", ".join(call.args)
        if found := re.search(r'sin_port=htons\((\d+)\), sin_addr=inet_addr\("([\d.]+)"\)', text):
            return f"{{ .family: INET, port: {found[1]}, addr: {found[2]} }}"
        found = re.search(r'sun_path=@?"([^"]*)"', text)
        return f"{{ .family: LOCAL, path: {found[1]} }}" if found else "0x7ffd3c10"
    if name in ("rqtp", "utime", "timeout", "tsp") and arg.startswith("{"):
        numbers = re.findall(r"=(\d+)", arg)
        return f"{{ .tv_sec: {numbers[0]}, .tv_nsec: {numbers[1]} }}" if len(numbers) > 1 else "0x7ffd3c10"
    if name in ("op", "cmd"):
        return arg.removeprefix(_PREFIXES.get(call.name, ""))
    if name in ("error_code",) and arg == "0":
        return ""
    if name.startswith("arg") and arg[:1] in '"[{':
        return "0x7ffd3c10"
    return "0x7ffd3c10" if arg[:1] in "[{" else arg
