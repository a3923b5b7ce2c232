"""Files of tools that are no tracers are refused by name, with what to do instead."""

from __future__ import annotations

from pathlib import Path

import pytest

import tracealyze
from tracealyze.base.errors import UnusableInput
from tracealyze.model.capture_input.other_tools import OTHER_TOOLS

_FILES = {
    "archive": b"PK\x03\x04\x14\x00\x00\x00",
    "backtrace": b"""Thread 1 (Thread 0x7f12a4c1d740 (LWP 4711)):
#0  0x00007f12a4d0e1a2 in read () from /lib/x86_64-linux-gnu/libc.so.6
#1  0x000055d0c0a01a77 in wait_for_reply (fd=3) at client.c:120
#2  main (argc=1, argv=0x7ffd) at client.c:210
""",
    "binary": b"\x01\x02\x00\x00\xfe\x00\x00\x10\x00" * 20,
    "bpftrace": b"Attaching 2 probes...\n@[ls]: 12\n@[bash]: 40\n",
    "chrome-trace": b'{"traceEvents":[{"ph":"X","ts":1,"dur":2,"name":"a"}]}\n',
    "core-dump": b"\x7fELF\x02\x01\x01" + b"\0" * 9 + b"\x04\0" + b"\0" * 60,
    "dtrace": b"CPU     ID                    FUNCTION:NAME\n  1    176                   read:entry bash\n",
    "executable": b"\x7fELF\x02\x01\x01" + b"\0" * 9 + b"\x03\0" + b"\0" * 60,
    "refused-attach": b"""$ strace -p 4711
strace: attach: ptrace(PTRACE_SEIZE, 4711): Operation not permitted
""",
    "fs_usage": b"""19:43:34  open              /etc/hosts          0.000012   ls
19:43:34  fstat64                               0.000004   ls
19:43:34  read                                  0.076120 W ls
19:43:34  close                                 0.000007   ls
""",
    "ftrace": b"""# tracer: nop
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
            bash-1234    [001] .....  1201.456789: sys_enter: NR 0 (3, 7ffd0, 200)
            bash-1234    [001] .....  1201.456801: sys_exit: NR 0 = 12
""",
    "image": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "kernel-stack": b"[<0>] futex_wait_queue+0x60/0x90\n[<0>] futex_wait+0x156/0x250\n[<0>] do_futex+0x106/0x1b0\n",
    "ktrace": b"\x10\0\0\0\x01\0\0\0\xd2\x04\0\0" + b"ls".ljust(20, b"\0") + b"\0" * 32,
    "lsof": b"COMMAND  PID USER   FD   TYPE DEVICE SIZE/OFF NODE NAME\n"
    b"bash    1234 root  cwd    DIR    8,1     4096    2 /\n",
    "macos-ktrace": b"\x00\x03\xaa\x55" + b"\0" * 60,
    "pcap": b"\xd4\xc3\xb2\xa1\x02\0\x04\0" + b"\0" * 60,
    "perf-data": b"PERFILE2" + b"\0" * 60,
    "perf-script": b"""ls  1234 [001]  1201.456789:     250000 cycles:P:  ffffffffa1 do_syscall_64 ([kernel.kallsyms])
ls  1234/1234 [001]  1201.456999: raw_syscalls:sys_enter: NR 0 (3, 7ffd0, 200)
ls  1234 1201.457011: sched:sched_switch: prev_comm=ls prev_pid=1234
""",
    "procmon": b"PML_\x09\0\0\0" + b"\0" * 60,
    "tcpdump": b"""19:43:34.123456 IP 10.0.0.7.51234 > 10.0.0.1.53: 4711+ A? example.org. (29)
19:43:39.128901 IP 10.0.0.7.51234 > 10.0.0.1.53: 4711+ A? example.org. (29)
19:43:39.130022 IP 10.0.0.1.53 > 10.0.0.7.51234: 4711 1/0/0 A 10.0.0.9 (45)
""",
    "top": b"top - 19:43:34 up 12 days,  3:10,  2 users,  load average: 0.10, 0.20, 0.30\nTasks: 120 total\n",
    "trace-cmd-data": b"\x17\x08\x44tracing6" + b"\0" * 60,
}


def test_each_tool_has_a_file_here() -> None:
    assert set(_FILES) == set(OTHER_TOOLS)


@pytest.mark.parametrize("tool", sorted(_FILES))
def test_the_file_of_another_tool_is_refused_by_name(tool: str, tmp_path: Path) -> None:
    path = tmp_path / "capture"
    path.write_bytes(_FILES[tool])
    with pytest.raises(UnusableInput) as refused:
        tracealyze.read(str(path))
    assert str(refused.value) == f"{path}: {OTHER_TOOLS[tool]}"


# A message of the tracer itself may be among its files.
@pytest.mark.parametrize("tool", sorted(set(_FILES) - {"refused-attach"}))
def test_a_file_of_another_tool_among_many_of_a_capture_is_refused(tool: str, tmp_path: Path) -> None:
    for number in range(100, 180):
        line = f'1795224170.{number:06} openat(AT_FDCWD, "/etc/{number}", O_RDONLY) = 3 <0.000012>\n'
        (tmp_path / f"log.{number}").write_text(line)
    path = tmp_path / "log.133"
    path.write_bytes(_FILES[tool])
    with pytest.raises(UnusableInput) as refused:
        tracealyze.read(str(tmp_path))
    assert str(refused.value) == f"{path}: {OTHER_TOOLS[tool]}"


_OURS = {
    "seconds of a program": "19:43:34.123456  open the door  0.000012 s\n19:43:35.123456  open the gate  1.2 s\n",
    "a log about packets": "19:43:34.123456 IP address is 10.0.0.7\n19:43:35.123456 IP address is 10.0.0.8\n",
    "a log that quotes a stack": "[    1.486287] Call Trace:\n[    1.486288]  futex_wait+0x156/0x250\n"
    "[    1.486289]  do_futex+0x106/0x1b0\n",
    "a log of tasks": "Mar  5 19:43:34 host top[12]: top - 19:43:34 up 12 days\nMar  5 19:43:35 host top[12]: end\n",
    "a trace of lsof": '1795224170.658193 execve("/usr/bin/lsof", ["lsof"], 0x7ffd /* 12 vars */) = 0 <0.000412>\n'
    '1795224171.658193 write(1, "COMMAND  PID USER   FD   TYPE DEVICE", 36) = 36 <0.000012>\n',
}


@pytest.mark.parametrize("name", sorted(_OURS))
def test_captures_that_resemble_another_tool_are_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / "capture"
    path.write_text(_OURS[name])
    assert tracealyze.read(str(path)).accounting


def test_a_format_that_the_user_names_is_tried_first(tmp_path: Path) -> None:
    path = tmp_path / "capture"
    path.write_bytes(_FILES["tcpdump"])
    assert tracealyze.read(str(path), input_format="kernel-log").accounting == {"log": 3}
