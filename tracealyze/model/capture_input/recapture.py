"""How to capture again without a lack: by tracer, with its own options."""

from __future__ import annotations

from collections.abc import Mapping

TIMES = "times"
"""Timestamps, so that wall time can be divided."""
STAMPS = "stamps"
"""The same where durations are there already."""
DURATIONS = "durations"
CHILDREN = "children"
THREADS = "threads"
EVENTS = "events"
"""All lines: no table, no filter."""
LOSSES = "losses"
FEWER = "fewer"
"""Fewer calls, or a tracer that costs less."""
THREAD_STACKS = "thread_stacks"
"""Where each thread of a running process is."""
LACKS = (TIMES, STAMPS, DURATIONS, CHILDREN, THREADS, EVENTS, LOSSES, FEWER, THREAD_STACKS)

_GDB = "gdb -p PID, thread apply all bt"
_PROCSTAT = "procstat -kk PID, or gdb -p PID, thread apply all bt"
_SAME_FILE = "on the same ktrace file, without capturing again"

_ADVICE: Mapping[str, Mapping[str, str]] = {
    "strace": {
        TIMES: "strace -f -ttt -T -yy",
        STAMPS: "strace -f -ttt -yy",
        DURATIONS: "strace -T",
        CHILDREN: "strace -f",
        THREADS: "strace -f",
        EVENTS: "strace without -e trace, -P, -z and -Z",
        LOSSES: "strace -o FILE, or strace -ff -o FILE",
        FEWER: "strace -f --seccomp-bpf -e trace=NAMES; perf trace costs less",
        THREAD_STACKS: _GDB,
    },
    "ltrace": {
        TIMES: "ltrace -S -f -ttt -T",
        STAMPS: "ltrace -S -f -ttt",
        DURATIONS: "ltrace -S -T",
        CHILDREN: "ltrace -f",
        THREADS: "ltrace -f",
        EVENTS: "ltrace -S without -e",
        LOSSES: "ltrace -o FILE",
        FEWER: "ltrace -S -e NAMES; perf trace costs less",
        THREAD_STACKS: _GDB,
    },
    "perf-trace": {
        TIMES: "perf trace without -s, which prints the time and the duration of each call",
        STAMPS: "perf trace without -s, which prints the time and the duration of each call",
        DURATIONS: "perf trace, and let it run until the calls return",
        CHILDREN: "perf trace without --no-inherit, or perf trace -a",
        THREADS: "perf trace -p PID instead of -t TID",
        EVENTS: "perf trace without -e",
        LOSSES: "perf trace -m with more pages, or fewer calls with -e",
        FEWER: "perf trace -e NAMES",
        THREAD_STACKS: _GDB,
    },
    "perf-data": {
        TIMES: "tracealyze record --light, which stores the offset of the clock",
        STAMPS: "tracealyze record --light, which stores the offset of the clock",
        DURATIONS: "perf record, and let it run until the calls return",
        CHILDREN: "perf record without --no-inherit, or perf record -a",
        THREADS: "perf record -p PID instead of -t TID",
        EVENTS: "perf record without --filter",
        LOSSES: "perf record -m 16M",
        FEWER: "perf record --filter 'id == NUMBER'",
        THREAD_STACKS: _GDB,
    },
    "kdump": {
        TIMES: f"kdump -H -T {_SAME_FILE} (-R prints time differences)",
        STAMPS: f"kdump -H -T {_SAME_FILE} (-R prints time differences)",
        DURATIONS: f"kdump -H -T {_SAME_FILE}",
        CHILDREN: "ktrace -i",
        THREADS: f"kdump -H {_SAME_FILE}",
        EVENTS: "ktrace and kdump without -t",
        LOSSES: "ktrace with fewer kinds of records (-t c)",
        FEWER: "ktrace -t c, without the records of data",
        THREAD_STACKS: _PROCSTAT,
    },
    "dtruss": {
        TIMES: "dtruss -f -e -o -d for elapsed and CPU time of each call; it has no option for wall-clock timestamps",
        STAMPS: "dtruss -f -e -o -d for elapsed and CPU time of each call; it has no option for wall-clock timestamps",
        DURATIONS: "dtruss -e -o -d",
        CHILDREN: "dtruss -f",
        THREADS: "dtruss -f, which prints thread ids",
        EVENTS: "dtruss without -t",
        LOSSES: "dtruss -b 16m for a larger buffer, or -t NAME for fewer calls",
        FEWER: "dtruss -t NAME",
        THREAD_STACKS: "sample PID, or lldb -p PID and thread backtrace all",
    },
    "fs-usage": {
        TIMES: "fs_usage -w, which prints the time and the duration of each call",
        STAMPS: "fs_usage -w, which prints the time and the duration of each call",
        DURATIONS: "fs_usage -w, and let it run until the calls return",
        CHILDREN: "fs_usage -w with the names of the children, too; it prints no creations",
        THREADS: "fs_usage -w, which prints thread ids",
        EVENTS: "fs_usage -w without -f",
        LOSSES: "fs_usage -w -f filesys NAME for fewer calls",
        FEWER: "fs_usage -w -f filesys NAME",
        THREAD_STACKS: "sample PID, or lldb -p PID and thread backtrace all",
    },
    "gvisor": {
        TIMES: "runsc --strace --debug-log=FILE, which prints the time and the duration of each call",
        STAMPS: "runsc --strace --debug-log=FILE, which prints the time of each line",
        DURATIONS: "runsc --strace, and let it run until the calls return",
        CHILDREN: "runsc --strace from the start of the sandbox: all of its processes are in the log",
        THREADS: "a newer runsc --strace, which prints process and thread",
        EVENTS: "runsc --strace without --strace-syscalls",
        LOSSES: "runsc --debug-log=FILE instead of a pipe",
        FEWER: "runsc --strace --strace-syscalls=NAMES",
        THREAD_STACKS: "runsc debug --stacks CONTAINER",
    },
    "sysdig": {
        TIMES: "sysdig -t a",
        STAMPS: "sysdig -t a",
        DURATIONS: "sysdig, and let it run until the calls return",
        CHILDREN: "sysdig proc.apid=PID or proc.pid=PID",
        THREADS: "sysdig, which prints thread ids",
        EVENTS: "sysdig without a filter of evt.type",
        LOSSES: "sysdig -w FILE first, then sysdig -r FILE",
        FEWER: "sysdig proc.name=NAME and evt.type in (NAMES)",
        THREAD_STACKS: _GDB,
    },
    "procmon": {
        TIMES: "Process Monitor with the column Duration (Options, Select Columns) before the export to CSV",
        STAMPS: "Process Monitor with the column Time of Day",
        DURATIONS: "Process Monitor with the column Duration",
        CHILDREN: "Process Monitor without a filter of processes",
        THREADS: "Windows Performance Recorder, which records threads",
        EVENTS: "Process Monitor without filters; save all events",
        LOSSES: "Process Monitor with a backing file (File, Backing Files)",
        FEWER: "Process Monitor with a filter of processes, and with Drop Filtered Events",
        THREAD_STACKS: "the stacks in the properties of an event of Process Monitor",
    },
    "strace-macos": {
        TIMES: "strace --json, which prints the time of each call",
        STAMPS: "strace --json, which prints the time of each call",
        DURATIONS: "sudo fs_usage -w PID, which prints durations; strace-macos has none",
        CHILDREN: "strace --json -p CHILD once more; it does not follow children",
        THREADS: "sudo fs_usage -w PID, which prints threads",
        EVENTS: "strace --json without -e",
        LOSSES: "strace --json -o FILE",
        FEWER: "strace --json -e trace=NAMES",
        THREAD_STACKS: "sample PID, or lldb -p PID and thread backtrace all",
    },
    "truss-freebsd": {
        TIMES: "truss -f -H -D -d",
        STAMPS: "truss -f -H -d",
        DURATIONS: "truss -D -d",
        CHILDREN: "truss -f -H",
        THREADS: "truss -H",
        EVENTS: "truss without -c",
        LOSSES: "truss -o FILE",
        FEWER: "ktrace and kdump, which cost less",
        THREAD_STACKS: _PROCSTAT,
    },
    "truss-solaris": {
        TIMES: "truss -f -adDE -v all",
        STAMPS: "truss -f -d",
        DURATIONS: "truss -D -E, which bounds them from above and below; dtrace measures them",
        CHILDREN: "truss -f",
        THREADS: "truss -l",
        EVENTS: "truss without -t and -c",
        LOSSES: "truss -o FILE",
        FEWER: "truss -t NAMES; dtrace costs less",
        THREAD_STACKS: "pstack PID",
    },
    "truss-aix": {
        TIMES: "truss -f -l -d -D",
        STAMPS: "truss -f -l -d",
        DURATIONS: "truss -D, which bounds them from above; probevue measures them",
        CHILDREN: "truss -f",
        THREADS: "truss -l",
        EVENTS: "truss without -t and -c",
        LOSSES: "truss -o FILE",
        FEWER: "truss -t NAMES; probevue costs less",
        THREAD_STACKS: "procstack PID",
    },
}

_COMMANDS: Mapping[str, tuple[str, str]] = {
    "strace": ("strace -f -ttt -T -yy -o FILE COMMAND", "strace -f -ttt -T -yy -o FILE -p PID"),
    "ltrace": ("ltrace -S -f -ttt -T -o FILE COMMAND", "ltrace -S -f -ttt -T -o FILE -p PID"),
    "perf-trace": ("perf trace -o FILE -- COMMAND", "perf trace -o FILE -p PID"),
    "perf-data": (
        "tracealyze record --light -o FILE -- COMMAND",
        "tracealyze record --light -o FILE --pid PID",
    ),
    "kdump": ("ktrace -i COMMAND; kdump -H -T > FILE", "ktrace -i -p PID; ktrace -C; kdump -H -T > FILE"),
    "dtruss": ("sudo dtruss -f -d -e -o COMMAND 2> FILE", "sudo dtruss -f -d -e -o -p PID 2> FILE"),
    "fs-usage": ("sudo fs_usage -w NAME > FILE", "sudo fs_usage -w PID > FILE"),
    "gvisor": (
        "runsc --strace --debug-log=FILE run CONTAINER",
        "runsc debug --strace=all CONTAINER, into the --debug-log of the sandbox",
    ),
    "sysdig": ("sysdig -t a proc.name=NAME > FILE", "sysdig -t a proc.pid=PID > FILE"),
    "procmon": (
        "procmon /AcceptEula /Quiet /BackingFile FILE.pml, then procmon /OpenLog FILE.pml /SaveAs FILE.csv",
        "procmon /AcceptEula /Quiet /BackingFile FILE.pml, then procmon /OpenLog FILE.pml /SaveAs FILE.csv",
    ),
    "strace-macos": ("strace --json -o FILE COMMAND", "strace --json -o FILE -p PID"),
    "truss-freebsd": ("truss -f -H -D -d -o FILE COMMAND", "truss -f -H -D -d -o FILE -p PID"),
    "truss-solaris": ("truss -f -l -d -D -E -o FILE COMMAND", "truss -f -l -d -D -E -o FILE -p PID"),
    "truss-aix": ("truss -f -l -d -D -o FILE COMMAND", "truss -f -l -d -D -o FILE -p PID"),
}

_STACKS: Mapping[str, str] = {
    "strace": "strace -k, or from strace 6.7 on -kk, which adds source lines",
    "ltrace": "ltrace -w 16",
    "perf-trace": "perf trace --call-graph dwarf",
    "dtruss": "dtruss -s",
}

_UNKNOWN = {lack: f"{_ADVICE['strace'][lack]} or the like" for lack in LACKS}
_JOURNAL = "journalctl -b -1 -o short-precise (-b for the current boot), which prints when each message was written"
_OF_LOGS = {**_UNKNOWN, TIMES: _JOURNAL, STAMPS: _JOURNAL}


def recapture(tracer: str, lack: str) -> str:
    """The command or option that avoids a lack of captures of a tracer."""
    return (_OF_LOGS if tracer == "kernel-log" else _ADVICE.get(tracer, _UNKNOWN))[lack]


def recapture_with_times(tracer: str, *, has_durations: bool) -> str:
    """The command or option for timestamps, and for durations unless the capture has them."""
    return recapture(tracer, STAMPS if has_durations else TIMES)


def without_stacks(tracer: str) -> str:
    """A sentence for a capture without stacks: how to capture again with them."""
    option = _STACKS.get(tracer)
    return f"The capture has no stacks. Capture with {option}." if option else f"{tracer} captures have no stacks."


def whole_command(tracer: str, *, attaches: bool = False) -> str:
    """The command of a tracer that lacks nothing, on a COMMAND or a PID; empty for logs."""
    return _COMMANDS.get(tracer, ("", ""))[attaches]
