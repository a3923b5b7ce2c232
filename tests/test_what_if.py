"""What-if: the wall time after fixes, by replaying captures without their causes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import SAMPLES, Call, Run

import tracealyze
from tracealyze.base import units
from tracealyze.base.errors import UnusableInput, WrongUsage
from tracealyze.model.trace_tables import LeftOut, Variant

S = units.S
SHUTDOWN = SAMPLES / "shutdown"
PROOFS = Path(__file__).parent / "field" / "proofs" / "captures"


@pytest.fixture(scope="module")
def before() -> tracealyze.Trace:
    return tracealyze.read(SHUTDOWN / "before.strace.xz")


def seconds(bounds_ns: tuple[int, int]) -> list[int]:
    return [round(ns / S) for ns in bounds_ns]


def test_the_shutdown_is_predicted_before_its_scripts_were_changed(before: tracealyze.Trace) -> None:
    after, parallel = (tracealyze.read(SHUTDOWN / f"{name}.strace.xz").window.wall_ns for name in ("after", "parallel"))
    # Each stop method returns as soon as its process has exited, and nothing is awaited after the last kill.
    fixed = before.what_if([1, 2])
    assert round(fixed.observed_ns / S) == 41
    assert seconds(fixed.together_ns)[1] == round(after / S) == 17
    assert abs(fixed.together_ns[1] - after) < after // 100
    # The stop methods run at once, and so does the grace period of the last service.
    assert seconds(before.what_if(["grace-kill"], parallel="sh").together_ns) == [round(parallel / S)] * 2 == [7, 7]


def test_the_serial_shutdown_predicts_the_parallel_one() -> None:
    trace = tracealyze.read(SHUTDOWN / "after.strace.xz")
    parallel_ns = tracealyze.read(SHUTDOWN / "parallel.strace.xz").window.wall_ns
    low, high = trace.what_if(parallel="sh").together_ns
    assert low <= high
    assert abs(high - parallel_ns) < parallel_ns // 50


def test_an_unchanged_replay_is_the_capture(before: tracealyze.Trace) -> None:
    found = before.what_if(scale={"dur_ns >= 0": 1})
    assert (found.drift, found.replayed_ns) == (0.0, found.observed_ns)
    assert 0.9 * found.observed_ns < found.together_ns[1] <= found.observed_ns


def test_removing_more_never_takes_longer(before: tracealyze.Trace) -> None:
    sleeps = 'syscall == "clock_nanosleep"'
    walls = [before.what_if(scale={sleeps: factor}).together_ns for factor in (1.5, 1, 0.5, 0.25, 0)]
    assert all(more[0] <= less[0] and more[1] <= less[1] for less, more in pairwise(walls))
    both = before.what_if(without=[sleeps, 'program == "/usr/bin/perl"']).together_ns
    assert all(one <= other for one, other in zip(both, walls[-1], strict=True))


@pytest.mark.parametrize("name", ["lock-in-python", "poll-for-a-file-in-python", "wait-in-a-trap"])
@pytest.mark.parametrize("tracing", LeftOut)
def test_the_times_of_the_tasks_sum_to_the_end_of_a_replay(name: str, tracing: LeftOut) -> None:
    trace = tracealyze.read(PROOFS / f"{name}.strace.xz")
    claims = [cause.claims for cause in trace.diagnosis.causes]
    shares = tuple((number, 250_000) for number in range(len(claims)))
    for replay in trace.replayed(0, claims, (), [Variant((), tracing), Variant(shares, tracing)]):
        assert sum(ns for _, _, ns in replay.tasks) == replay.wall_ns


@pytest.mark.parametrize(
    "name", ["sleep-in-ruby", "thread-that-sleeps", "make-in-parallel", "lock-in-python", "wait-in-a-trap"]
)
def test_conditions_that_choose_more_never_take_longer(name: str) -> None:
    """Calls that are chosen beside a wait, and calls that are shorter than what tracing costs, made a replay longer."""
    trace = tracealyze.read(PROOFS / f"{name}.strace.xz")
    calls = sorted(set(trace.events.to_pandas()["syscall"].dropna()))
    random.Random(name).shuffle(calls)
    for limit in ("50us", "0"):
        chosen = [calls[:count] for count in (1, 3, len(calls) // 2, len(calls))]
        walls = [
            trace.what_if(without=[f"({' or '.join(map(_is_call, each))}) and dur_ns >= {limit}"]).together_ns
            for each in chosen
        ]
        assert all(more[0] <= less[0] and more[1] <= less[1] for less, more in pairwise(walls)), (limit, walls)
    walls = [trace.what_if(scale={"dur_ns >= 0": factor}).together_ns for factor in (1.7, 1, 0.99, 0.2, 0)]
    assert all(more[0] <= less[0] and more[1] <= less[1] for less, more in pairwise(walls)), walls


def _is_call(name: str) -> str:
    return f'syscall == "{name}"'


def test_a_chosen_wait_takes_as_long_as_what_it_waits_for() -> None:
    lines = [
        '1 1700000001.000000 execve("/bin/a", ["a"], 0x1) = 0 <0.001000>',
        "1 1700000001.001000 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 2 <0.000100>",
        "1 1700000001.002000 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 2 <2.001200>",
        '2 1700000001.002000 openat(AT_FDCWD, "/x", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000100>',
        "2 1700000001.003000 nanosleep({tv_sec=2, tv_nsec=0}, NULL) = 0 <2.000100>",
        "2 1700000003.003100 exit_group(0) = ?",
        "2 1700000003.003150 +++ exited with 0 +++",
        "1 1700000003.003500 exit_group(0) = ?",
        "1 1700000003.003600 +++ exited with 0 +++",
    ]
    trace = tracealyze.read(("\n".join(lines) + "\n").encode())
    wait, lookup, sleep = map(_is_call, ("wait4", "openat", "nanosleep"))
    assert seconds(trace.what_if(without=[wait]).together_ns) == [2, 2]
    assert seconds(trace.what_if(without=[f"{wait} or {lookup}"]).together_ns) == [2, 2]
    assert max(trace.what_if(without=[f"{wait} or {sleep}"]).together_ns) < S // 100
    assert max(trace.what_if(without=[sleep]).together_ns) < S // 100
    assert seconds(trace.what_if(scale={f"{wait} or {sleep}": 0.5}).together_ns) == [1, 1]


@pytest.mark.parametrize("factor", ["nan", "inf", "-1", "1e308", "1e9", "1e400"])
def test_a_factor_that_no_duration_has_is_an_error(factor: str, call: Call) -> None:
    code, _, stderr = call("what-if", SHUTDOWN / "before.strace.xz", "--scale", f"dur_ns >= 0={factor}")
    assert code == 2
    assert "scale: a factor is from 0 to 1,000,000, not" in stderr


def test_a_fix_behind_another_one_saves_nothing_alone() -> None:
    # The child sleeps for 2 s while the parent syncs for 2 s, then the parent waits for it.
    lines = [
        '1 1700000001.000000 execve("/bin/a", ["a"], 0x1) = 0 <0.001000>',
        "1 1700000001.001000 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 2 <0.000100>",
        "1 1700000001.002000 fsync(3</data/file>) = 0 <2.000000>",
        "2 1700000001.002000 nanosleep({tv_sec=2, tv_nsec=0}, NULL) = 0 <2.000100>",
        "1 1700000003.003000 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 2 <0.000200>",
        "2 1700000003.003000 exit_group(0) = ?",
        "2 1700000003.003100 +++ exited with 0 +++",
        "1 1700000003.003500 exit_group(0) = ?",
        "1 1700000003.003600 +++ exited with 0 +++",
    ]
    trace = tracealyze.read(("\n".join(lines) + "\n").encode())
    found = trace.what_if(without=['syscall == "fsync"', 'syscall == "nanosleep"'])
    sync, sleep = found.fixes
    assert max(sync.saves_ns[1], sleep.saves_ns[1]) < S // 100
    assert found.together_ns[1] < S // 100
    assert sleep.hidden_behind == sync.name
    assert sleep.saves_with_others_ns > S


def test_fixes_are_named_by_number_rule_code_and_words(before: tracealyze.Trace) -> None:
    finding = before.findings[0]
    by_rule = before.what_if(["grace-kill"]).together_ns
    assert before.what_if(["TLZ013"]).together_ns == before.what_if([1, 2, 3]).together_ns == by_rule
    alone = before.what_if(1).together_ns
    assert before.what_if(finding).together_ns == before.what_if("3 times").together_ns == alone
    assert before.what_if([finding.fingerprint]).fixes[0].name == finding.fingerprint


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fix", "grace-kil"], 'no finding "grace-kil" in this capture. Did you mean "grace-kill"?'),
        (["--fix", "9"], "no finding 9: the report has 4."),
        (["--fix", "killed"], '"killed" has no time on the critical path that could be saved.'),
        (["--without", "syscal == 1"], "syscal"),
        (["--scale", "dur_ns > 1ms"], "has no factor"),
        (["--scale", "dur_ns > 1ms=-1"], "a factor is from 0 to 1,000,000"),
        ([], "nothing to change"),
    ],
)
def test_mistakes_are_errors(arguments: list[str], message: str, run: Run) -> None:
    shown = run("what-if", "samples/shutdown/before.strace.xz", *arguments)
    assert shown.returncode == 2
    assert message in shown.stderr


def test_a_replay_needs_one_capture_with_wall_time() -> None:
    files = [SHUTDOWN / "before.strace.xz", SHUTDOWN / "after.strace.xz"]
    with pytest.raises(WrongUsage, match="one capture"):
        tracealyze.read(files).what_if(parallel="sh")
    with pytest.raises(UnusableInput, match="wall time"):
        tracealyze.read(b"close(3) = 0\nclose(4) = 0\n").what_if(parallel="sh")


def test_json_has_wall_times_afterwards(run: Run) -> None:
    shown = run("what-if", "samples/shutdown/before.strace.xz", "--fix", "1", "--fix", "2", "--json")
    document = json.loads(shown.stdout)
    assert list(document) == ["observed_ns", "replayed_ns", "drift", "fixes", "together_ns"]
    assert [list(fix) for fix in document["fixes"]] == [["finding", "alone_ns"]] * 2
    lows = [fix["alone_ns"][0] for fix in document["fixes"]]
    assert document["together_ns"][0] < min(lows) < document["observed_ns"]


_PIPE = """1 1700000000.000000 execve("/bin/sh", ["sh"], 0x7ffd /* 1 var */) = 0 <0.000100>
1 1700000000.001000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
2 1700000000.001200 execve("/bin/fill", ["fill"], 0x7ffd /* 1 var */) = 0 <0.000100>
{turns}1 1700000003.310000 wait4(2, [{{WIFEXITED(s) && WEXITSTATUS(s) == 0}}], 0, NULL) = 2 <0.000100>
1 1700000003.320000 exit_group(0) = ?
1 1700000003.320100 +++ exited with 0 +++
"""


def _turns() -> Iterator[str]:
    """A reader that pauses after each read, and a writer that waits until a read has made room."""
    for turn in range(3):
        at = 1_700_000_000 + turn
        yield f'2 {at}.010000 write(1<pipe:[7]>, "x"..., 65536 <unfinished ...>\n'
        yield f'1 {at + 1}.000000 read(0<pipe:[7]>, "x"..., 65536) = 65536 <0.001000>\n'
        yield f"2 {at + 1}.001200 <... write resumed>) = 65536 <0.991200>\n"
        yield f"1 {at + 1}.002000 clock_nanosleep(CLOCK_REALTIME, 0, {{tv_sec=0, tv_nsec=990000000}}, NULL) = 0"
        yield " <0.990100>\n"
    yield "2 1700000003.300000 exit_group(0) = ?\n2 1700000003.300100 +++ exited with 0 +++\n"


def test_a_writer_does_not_outlast_the_pauses_of_its_reader(tmp_path: Path) -> None:
    (tmp_path / "pipe.strace").write_text(_PIPE.format(turns="".join(_turns())))
    found = tracealyze.read(tmp_path / "pipe.strace").what_if(without='syscall == "clock_nanosleep"')
    assert found.together_ns[1] < 2 * S


def test_a_program_that_nobody_runs_is_a_mistake() -> None:
    with pytest.raises(WrongUsage, match="no process runs nosuch"):
        tracealyze.read(SHUTDOWN / "before.strace.xz").what_if(parallel="nosuch")


def test_a_peer_in_the_capture_is_no_client_that_comes_when_it_did() -> None:
    """A read whose writer no line shows was taken for the wait for a client outside, whose moment nothing changes."""
    lines = [
        '1 1700000001.000000 execve("/bin/a", ["a"], 0x1) = 0 <0.001000>',
        "1 1700000001.001000 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 2 <0.000100>",
        "2 1700000001.002000 read(3<UNIX-STREAM:[12->11]>,  <unfinished ...>",
        "1 1700000001.003000 nanosleep({tv_sec=2, tv_nsec=0}, NULL) = 0 <2.000100>",
        '1 1700000003.003200 write(4<UNIX-STREAM:[11->12]>, "ab", 2) = 2 <0.000020>',
        '2 1700000003.003230 <... read resumed>"ab", 9) = 2 <2.001230>',
        "1 1700000003.003300 wait4(2,  <unfinished ...>",
        '2 1700000003.003400 read(3<UNIX-STREAM:[12->11]>, "cd", 9) = 2 <0.005000>',
        '2 1700000003.008500 write(3<UNIX-STREAM:[12->11]>, "ok", 2) = 2 <0.000020>',
        "2 1700000003.009000 exit_group(0) = ?",
        "2 1700000003.009100 +++ exited with 0 +++",
        "1 1700000003.009150 <... wait4 resumed>[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 2 <0.005850>",
        "1 1700000003.009500 exit_group(0) = ?",
        "1 1700000003.009600 +++ exited with 0 +++",
    ]
    trace = tracealyze.read(("\n".join(lines) + "\n").encode())
    assert max(trace.what_if(without=[_is_call("nanosleep")]).together_ns) < S // 50


def test_a_timer_that_several_threads_wait_for_is_one() -> None:
    """The poller and the monitor of a runtime wait for its next timer; only one of them is on the critical path."""
    lines = ['7 1700000001.000000 execve("/bin/a", ["a"], 0x1) = 0 <0.001000>']
    lines += ["7 1700000001.001100 clone3({flags=CLONE_VM|CLONE_THREAD}) = 8 <0.000050>"]
    for turn in range(4):
        at_us = 2_000 + turn * 300_500
        lines += [
            f"8 {_at(at_us)} futex(0x1, FUTEX_WAIT_PRIVATE, 0, {{tv_sec=0, tv_nsec=300000000}} <unfinished ...>",
            f"7 {_at(at_us + 20)} epoll_pwait(5<anon_inode:[eventpoll]>, [], 128, 299, NULL, 0) = 0 <0.299300>",
            f"7 {_at(at_us + 299_340)} epoll_pwait(5<anon_inode:[eventpoll]>, [], 128, 1, NULL, 0) = 0 <0.001000>",
            f"8 {_at(at_us + 300_200)} <... futex resumed>) = -1 ETIMEDOUT (Connection timed out) <0.300200>",
            f'7 {_at(at_us + 300_400)} write(1</tmp/out>, "x", 1) = 1 <0.000010>',
        ]
    lines += [f"7 {_at(1_300_000)} exit_group(0) = ?", f"7 {_at(1_300_100)} +++ exited with 0 +++"]
    trace = tracealyze.read(("\n".join(lines) + "\n").encode())
    found = trace.what_if(["own-timer"])
    assert found.observed_ns - found.together_ns[0] > S


def _at(us: int) -> str:
    return f"1700000001.{us:06}" if us < 1_000_000 else f"1700000002.{us - 1_000_000:06}"


def test_a_wait_that_an_alarm_interrupts_ends_with_what_it_waits_for() -> None:
    lines = [
        '1 1700000001.000000 execve("/bin/a", ["a"], 0x1) = 0 <0.001000>',
        "1 1700000001.001000 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 2 <0.000100>",
        "1 1700000001.002000 epoll_wait(9<anon_inode:[eventpoll]>, 0x5, 1, -1) = -1 EINTR (Interrupted) <1.000000>",
        "2 1700000001.003000 nanosleep({tv_sec=2, tv_nsec=0}, NULL) = 0 <2.000100>",
        "1 1700000002.002100 --- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---",
        "1 1700000002.002200 rt_sigreturn({mask=[]}) = -1 EINTR (Interrupted system call) <0.000010>",
        "1 1700000002.002300 epoll_wait(9<anon_inode:[eventpoll]>,  <unfinished ...>",
        '2 1700000003.003200 write(4<pipe:[11]>, "x", 1) = 1 <0.000020>',
        "1 1700000003.003240 <... epoll_wait resumed>[{events=EPOLLIN, data={u32=3, u64=3}}], 1, -1) = 1 <1.000940>",
        '1 1700000003.003300 read(3<pipe:[11]>, "x", 9) = 1 <0.000010>',
        "2 1700000003.003400 exit_group(0) = ?",
        "2 1700000003.003500 +++ exited with 0 +++",
        "1 1700000003.003600 exit_group(0) = ?",
        "1 1700000003.003700 +++ exited with 0 +++",
    ]
    trace = tracealyze.read(("\n".join(lines) + "\n").encode())
    assert max(trace.what_if(without=[_is_call("nanosleep")]).together_ns) < S // 50
