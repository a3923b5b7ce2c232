"""Excerpts of a few lines, as people quote them: what repeats, fails or does not return is found, and nothing more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import tracealyze
from tracealyze import Trace
from tracealyze.findings.finding import Finding, Severity


@pytest.fixture
def read(tmp_path: Path) -> Iterator[Reader]:
    yield Reader(tmp_path / "excerpt")


class Reader:
    """Reads lines as a capture."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __call__(self, *lines: str) -> Trace:
        self.file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return tracealyze.read(self.file)


def of(trace: Trace, name: str) -> Finding:
    """The finding of a rule."""
    found = [finding for finding in trace.findings if finding.name == name]
    assert found, [(finding.name, finding.message) for finding in trace.findings]
    return found[0]


def names(trace: Trace) -> set[str]:
    return {finding.name for finding in trace.findings}


def stamped(first: str, calls: Sequence[str], step_us: int = 200) -> list[str]:
    """Calls with timestamps, one every `step_us`."""
    return [f"{first}.{at * step_us:06} {call}" for at, call in enumerate(calls)]


_HANGUP = (
    "epoll_ctl(5, EPOLL_CTL_MOD, 9, {EPOLLIN, {u32=9, u64=9}}) = 0",
    "epoll_wait(5, [{EPOLLIN|EPOLLHUP, {u32=9, u64=9}}], 64, 120) = 1",
)


def test_registering_again_does_not_handle_a_ready_descriptor(read: Reader) -> None:
    finding = of(read(*_HANGUP * 12), "ready-spin")
    assert "12 times" in finding.message
    assert finding.severity is Severity.INFO


def test_removing_a_descriptor_handles_it(read: Reader) -> None:
    removed = ("epoll_ctl(5, EPOLL_CTL_DEL, 9, NULL) = 0", _HANGUP[1])
    assert "ready-spin" not in names(read(*removed * 12))


@pytest.mark.parametrize(("error", "meaning"), [("ENOTTY", "terminal"), ("EBADF", "not open"), ("EINVAL", "argument")])
def test_calls_that_all_fail_are_found(read: Reader, error: str, meaning: str) -> None:
    calls = (f"ioctl(0, TCGETS, 0x7ffe10) = -1 {error} (x)", f"ioctl(0, FIONREAD, 0x7ffe20) = -1 {error} (x)")
    finding = of(read(*calls * 8), "failing-call")
    assert "16 times" in finding.message
    assert meaning in finding.advice


def test_a_few_failures_among_others_are_no_finding(read: Reader) -> None:
    calls = (
        'openat(AT_FDCWD, "/etc/a", O_RDONLY) = 3',
        "ioctl(3, TCGETS, 0x7ffe10) = -1 ENOTTY (Inappropriate ioctl for device)",
        'read(3, "x", 4096) = 1',
        'read(3, "", 4096) = 0',
        "close(3) = 0",
    )
    assert "failing-call" not in names(read(*calls * 12))


def test_exhausted_descriptors_are_named_with_a_clock(read: Reader) -> None:
    turn = (
        "epoll_wait(7, [{EPOLLIN, {u32=6, u64=6}}], 512, 900) = 1",
        "accept4(6, NULL, NULL, SOCK_CLOEXEC) = -1 EMFILE (Too many open files)",
        "close(11) = 0",
        "accept4(6, NULL, NULL, SOCK_CLOEXEC) = 11",
        "close(11) = 0",
    )
    trace = read(*stamped("10:00:00", turn * 4, step_us=20_000))
    finding = of(trace, "exhausted-resource")
    assert "EMFILE, 4 times" in finding.message
    assert "a later attempt succeeded" in finding.message
    assert "ulimit -n" in finding.advice


def test_ids_that_lost_their_blank_are_ids(read: Reader) -> None:
    turn = (
        '4711 sendto(4, "q", 44, 0, NULL, 0) = 44 <0.000117>',
        "4711poll([{fd=4, events=POLLIN}], 1, 5000) = 0 <5.000046>",
    )
    trace = read(*turn * 2, "4711 close(4) = 0 <0.000010>")
    assert trace.totals["calls"] == 5
    assert "timed out after 5.00 s 2 times" in of(trace, "expired-timeout").message


def test_signals_between_calls_are_counted(read: Reader) -> None:
    turn = (
        "--- SIGURG {si_signo=SIGURG, si_code=SI_TKILL, si_pid=1, si_uid=0} ---",
        "rt_sigreturn({mask=[]}) = 0",
    )
    finding = of(read(*turn * 15), "signal-interrupts")
    assert "SIGURG is delivered 15 times" in finding.message
    assert "Go" in finding.advice


def test_a_file_that_cannot_be_created_lacks_its_directory(read: Reader) -> None:
    call = 'open("out/7/part.dat", O_RDWR|O_CREAT, 0644) = -1 ENOENT (No such file or directory)'
    finding = of(read(*[call] * 12), "spin-loop")
    assert "its directory does not exist" in finding.advice
    assert "poll" not in finding.advice


def test_a_file_that_is_awaited_needs_a_wait(read: Reader) -> None:
    call = 'open("out/7/ready", O_RDONLY) = -1 ENOENT (No such file or directory)'
    assert "inotify" in of(read(*[call] * 12), "spin-loop").advice


_REREAD = (
    'openat(AT_FDCWD, "/etc/hosts.allow", O_RDONLY) = 4',
    'read(4, "ALL", 4096) = 3',
    'read(4, "", 4096) = 0',
    "close(4) = 0",
)


@pytest.mark.parametrize("clock", ["none", "seconds", "microseconds"])
def test_a_clock_does_not_hide_that_a_file_is_read_again(read: Reader, clock: str) -> None:
    lines = {
        "none": list(_REREAD * 15),
        "seconds": [f"10:00:0{at // 25} {call}" for at, call in enumerate(_REREAD * 15)],
        "microseconds": stamped("10:00:00", _REREAD * 15, step_us=300),
    }[clock]
    finding = of(read(*lines), "reread")
    assert "15 times" in finding.message
    assert finding.severity is Severity.INFO


def test_whole_seconds_give_no_shares(read: Reader) -> None:
    calls = ('openat(AT_FDCWD, "/d/a", O_WRONLY) = 3', "fsync(3) = 0", "close(3) = 0", 'rename("/d/a", "/d/b") = 0')
    trace = read(*(f"10:00:0{at // 20} {call}" for at, call in enumerate(calls * 15)))
    assert "waits 15 times" in of(trace, "sync-storm").message
    assert all(finding.share is None for finding in trace.findings)
    assert not {"dominant-call", "slow-call", "no-durations"} & names(trace)


def test_a_second_within_a_call_counts(read: Reader) -> None:
    calls = [f'stat("/d/{at}", {{st_mode=S_IFREG}}) = 0' for at in range(40)]
    lines = [f"10:00:00 {call}" for call in calls[:20]] + [f"10:00:07 {call}" for call in calls[20:]]
    assert read(*lines).windows[0].wall_ns == 7_000_000_000


def test_small_writes_before_a_poll_wait_for_an_acknowledgement(read: Reader) -> None:
    lines = []
    at_us = 0
    for _ in range(5):
        for call, after_us in (
            ('sendto(8, "A", 5, MSG_NOSIGNAL, NULL, 0) = 5 <0.000050>', 200),
            ('sendto(8, "Query", 40, MSG_NOSIGNAL, NULL, 0) = 40 <0.000050>', 300),
            ("epoll_wait(3, [{EPOLLIN, {u32=8, u64=8}}], 64, 1000) = 1 <0.043000>", 43_200),
            ('recvfrom(8, "row", 8192, 0, NULL, NULL) = 80 <0.000040>', 300),
        ):
            lines.append(f"10:00:00.{at_us:06} {call}")
            at_us += after_us
    finding = of(read(*lines), "delayed-ack")
    assert "TCP_NODELAY" in finding.advice
    assert "43" in finding.message


def test_a_limit_of_dbus_is_no_timer_of_the_program(read: Reader) -> None:
    trace = read(
        "1700000010.000000 eventfd2(0, EFD_CLOEXEC|EFD_NONBLOCK) = 9",
        "1700000010.000100 poll([{fd=9, events=POLLIN}], 1, 25000) = 0 (Timeout)",
        "1700000035.020000 close(9) = 0",
    )
    assert "D-Bus" in of(trace, "expired-timeout").advice
    assert "own-timer" not in names(trace)


def test_a_semaphore_that_nobody_posts_is_a_timeout(read: Reader) -> None:
    trace = read(
        *(
            line
            for at in range(4)
            for line in (
                f"/1:\t{at * 5 + 5}.0100 5.0100 semtimedop(77, 0xFFFF, 1, 0xFFEE) Err#11 EAGAIN",
                "/1:\t\tsemnum=3 semop=-1 semflg=0",
                "/1:\t\ttimeout: 5.000000000 sec",
                f"/1:\t{at * 5 + 5}.0104 0.0004 times(0xFFFF) = 812204417",
            )
        )
    )
    assert "after 5.00 s" in of(trace, "expired-timeout").message
    assert not {"dominant-call", "failing-call", "own-timer"} & names(trace)


def test_waits_that_time_out_are_counted_without_a_clock(read: Reader) -> None:
    trace = read(*[f"kevent(4,0x0,0,{{ }},64,{{ 0.9{at}1230000 }}) = 0 (0x0)" for at in range(6)])
    assert "times out" in of(trace, "expired-timeout").message
    assert all(finding.severity is Severity.INFO for finding in trace.findings)


def test_a_write_that_does_not_return_lacks_a_reader(read: Reader) -> None:
    trace = read(
        "strace: Process 100 attached with 3 threads",
        "[pid 102] waitid(P_PID, 150,  <unfinished ...>",
        "[pid 101] read(3,  <unfinished ...>",
        '[pid 100] write(6, "x"..., 8192 <unfinished ...>',
        "^Cstrace: Process 100 detached",
    )
    (finding,) = [finding for finding in trace.findings if finding.severity is not Severity.INFO]
    assert (finding.name, finding.syscall) == ("open-call", "write")
    assert "does not take the data" in finding.advice
    assert "network file system" not in finding.advice


def test_a_child_at_work_explains_a_read_from_a_pipe(read: Reader) -> None:
    trace = read(
        "100 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD) = 101",
        "101 close(3) = 0",
        '101 execve("/usr/bin/tool", ["tool"], 0x7ffd /* 1 var */) = 0',
        "101 brk(NULL) = 0x5550",
        "100 read(3, ",
    )
    assert "open-call" not in names(trace)


def test_idle_doors_are_no_hang(read: Reader) -> None:
    trace = read(
        "/1:\tlwp_park(0x00000000, 0)\t(sleeping...)",
        "/2:\tdoor_unref()\t(sleeping...)",
        "/4:\tdoor_return(0x00000000, 0, 0x00000000, 0xFFFFBF7F, 2023168)\t(sleeping...)",
    )
    assert all(finding.severity is Severity.INFO for finding in trace.findings)


def test_slow_closes_are_not_the_cost_of_tracing(read: Reader) -> None:
    lines = []
    for at in range(12):
        start_us = at * 20_000
        lines += [
            f'1700000010.{start_us:06} openat(AT_FDCWD, "/dev/input/event{at}", O_RDONLY) = 5 <0.000030>',
            f"1700000010.{start_us + 100:06} ioctl(5, EVIOCGID, {{ID_BUS=0x3}}) = 0 <0.000012>",
            f"1700000010.{start_us + 300:06} close(5) = 0 <0.019000>",
        ]
    trace = read(*lines)
    assert "overhead-dominates" not in names(trace)
    assert {"dominant-call", "recurring-slow-call", "slow-call"} & names(trace)
    assert any(finding.severity is not Severity.INFO for finding in trace.findings)
