"""What to do with the output of tools that are not tracers of system calls, by the engine's name of the tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_LINUX = "strace -f -ttt -T -yy -o trace.out COMMAND (or -p PID)"
_FS_USAGE = "sudo fs_usage -w NAME > trace.out"
_MACOS = f"{_FS_USAGE}, or, without System Integrity Protection, sudo dtruss -a COMMAND 2> trace.out"

OTHER_TOOLS: Final[Mapping[str, str]] = {
    "archive": "an archive. Unpack it and name the files inside.",
    "backtrace": "stacks of a debugger (gdb, pstack). They show one moment, not how long it lasted. Capture the "
    f"calls instead: {_LINUX}.",
    "binary": "binary data of an unknown kind. A capture is text: the output of strace, truss, dtruss, kdump, ltrace "
    "-S or perf trace, or a log with timestamps.",
    "bpftrace": f"output of bpftrace or of a bcc tool. Its form depends on the script. Capture with {_LINUX}, or with "
    "perf trace -o trace.out COMMAND if strace is too slow.",
    "chrome-trace": "a Chrome trace (JSON with traceEvents). It contains the program's own events, no system calls. "
    f"Capture with {_LINUX}.",
    "core-dump": "a core dump. It shows one moment, not how long it lasted. Capture the calls of a run instead: "
    f"{_LINUX}.",
    "dtrace": "output of a dtrace script. Its form depends on the script. Capture with truss -f -d -D -E -o trace.out "
    f"COMMAND, on macOS with {_MACOS}.",
    "executable": f"an executable, not a capture. Capture a run of it: {_LINUX}.",
    "fs_usage": f"output of fs_usage in its narrow form, without the threads. Print the wide one: {_FS_USAGE}.",
    "ftrace": "output of ftrace or trace-cmd. Capture system calls with perf trace -o trace.out COMMAND, or with "
    f"{_LINUX}.",
    "image": "an image or a PDF. Copy the text of the capture into a file.",
    "kernel-stack": "kernel stacks (/proc/PID/stack). They show one moment, not how long it lasted. Capture the calls "
    f"instead: {_LINUX}.",
    "ktrace": "a binary ktrace file. Convert it to text: kdump -H -T -f FILE > trace.out.",
    "lsof": "output of lsof. It lists open files at one moment, no calls. Capture with " + _LINUX + ".",
    "macos-ktrace": f"a binary ktrace file of macOS. Capture with {_MACOS}.",
    "pcap": "a packet capture. It contains no system calls. Capture the program that sends or receives: "
    "strace -f -ttt -T -yy -o trace.out COMMAND.",
    "perf-data": "a file of perf record. If perf trace record wrote it, convert it: perf trace -i FILE > trace.out "
    "2>&1. Otherwise it contains samples, not calls: capture with perf trace -o trace.out COMMAND.",
    "perf-script": "output of perf script. Use perf trace instead: perf trace record COMMAND, then "
    "perf trace -i perf.data > trace.out 2>&1.",
    "procmon": "a capture of Process Monitor (Windows) in its own format. Save it as CSV, with the column "
    "Duration: procmon /OpenLog FILE.pml /SaveAs FILE.csv.",
    "refused-attach": "a message of strace, which was not allowed to trace. Only root may attach to processes of other "
    "users; where kernel.yama.ptrace_scope is 1, only parents may; a container needs the capability SYS_PTRACE. A "
    "process has one tracer: TracerPid in /proc/PID/status names it. Capture as root: strace -f -ttt -T -yy -o "
    "trace.out -p PID.",
    "tcpdump": "output of tcpdump. It contains packets, no system calls. Capture the program that sends or receives: "
    "strace -f -ttt -T -yy -o trace.out COMMAND.",
    "top": "output of top, ps, vmstat or iostat. It contains samples, no calls. Capture with " + _LINUX + ".",
    "trace-cmd-data": "a binary file of trace-cmd. Capture system calls with perf trace -o trace.out COMMAND, or with "
    f"{_LINUX}.",
}
"""What the file is and what to do instead, as a sentence after its path."""
