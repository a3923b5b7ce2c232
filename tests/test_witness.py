"""Scheduler events beside a capture: the kernel shows what ended a wait, and what the time outside of calls is."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Call

import tracealyze
from tracealyze import _engine
from tracealyze.base.errors import UnusableInput, WrongUsage
from tracealyze.capture.capture_file import CaptureFile
from tracealyze.capture.evidence import Evidence
from tracealyze.capture.scheduler_access import obstacles_of_perf
from tracealyze.model.capture_input.recorded import read_metadata

WITNESS = ROOT / "tests" / "witness"
KEPT = sorted((WITNESS / "kept").glob("*.strace.gz"))
RARE = {
    "abstract-datagram": ("recvfrom", "stream"),
    "eventfd-full": ("write", "drain"),
    "inotify": ("pselect6", "watch"),
    "lock-of-parent": ("flock", "lock"),
    "message-queue": ("msgrcv", "message"),
    "pty-thread": ("poll", "terminal"),
    "reader-exits": ("write", "drain"),
    "semaphore-undo": ("semtimedop", "message"),
    "several-writers": ("pselect6", "stream"),
    "socketpair-by-exit": ("recvfrom", "stream"),
    "spawn-slow-exec": ("clone3", "vfork"),
    "stopped-child": ("wait4", "child"),
    "unix-server": ("recvfrom", "stream"),
}
"""The longest wait of each recording in tests/witness/rare: its call, and what ended it."""
PIPE, PERF = WITNESS / "sleep-pipe.strace.gz", WITNESS / "sleep-pipe.perf.data.gz"

sys.path.insert(0, str(WITNESS))
from waits_table import JUDGEMENTS, compared  # noqa: E402

# Two children write to a pipe; the one that writes first wakes the reader, which another thread of the machine then
# keeps from the processor.
LINES = """\
1 1700000000.000100 execve("/bin/r", ["r"], 0x1) = 0 <0.000100>
1 1700000000.001000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 1700000000.002000 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000100>
1 1700000000.010000 read(3<pipe:[7]>,  <unfinished ...>
2 1700000000.200000 write(4<pipe:[7]>, "x", 1) = 1 <0.000100>
3 1700000000.290000 write(4<pipe:[7]>, "x", 1) = 1 <0.000100>
1 1700000000.300000 <... read resumed>"x", 1) = 1 <0.290000>
1 1700000000.400000 exit_group(0) = ?
1 1700000000.401000 +++ exited with 0 +++
"""
EVENTS = """\
-1 [0] d... 0.000150: sched_process_exec:
-1 [0] d... 0.001050: sched_process_fork: child_pid=2
-1 [0] d... 0.002050: sched_process_fork: child_pid=3
-0 [1] d... 0.001100: sched_switch: :0 [] S ==> w:2 []
-2 [1] d... 0.001200: sched_switch: :2 [] S ==> :0 []
strace-9 [0] d... 0.002500: sched_switch: :0 [] S ==> r:1 []
-1 [0] d... 0.010050: sched_switch: r:1 [] S ==> :0 []
-0 [1] d.h. 0.200000: sched_waking: :2 []
-0 [1] d... 0.200010: sched_switch: :0 [] S ==> w:2 []
-2 [1] d... 0.200050: sched_waking: :1 []
-2 [1] d... 0.200060: sched_switch: :2 [] S ==> :0 []
-0 [0] d... 0.200070: sched_switch: :0 [] S ==> busy:77 []
-77 [0] d... 0.299900: sched_switch: busy:77 [] R ==> r:1 []
-1 [0] d... 0.350000: sched_switch: :1 [] R ==> busy:77 []
-77 [0] d... 0.380000: sched_switch: :77 [] R ==> :1 []
-1 [0] d... 0.400500: sched_process_exit:
-1 [0] d... 0.500000: sched_switch: :1 [] X ==> :0 []
"""


def read_with(tmp_path: Path, events: str) -> tracealyze.Trace:
    (tmp_path / "r.strace").write_text(LINES)
    (tmp_path / "sched.txt").write_text(events)
    return tracealyze.read(tmp_path / "r.strace", sched=str(tmp_path / "sched.txt"))


def test_the_kernel_overrules_what_the_lines_suggest(tmp_path: Path) -> None:
    trace = read_with(tmp_path, EVENTS)
    (wait,) = trace.verdicts(1_000_000)
    assert wait["syscall"] == "read"
    assert (wait["waker_tid"], wait["verdict"], wait["seen_tid"], wait["judgement"]) == (3, "task", 2, "wrong")
    root = next(row for row in trace.chain if row["pid"] == 1)
    assert (root["waits_for_pid"], root["waits_for_sure"]) == (2, "witnessed")


def test_time_outside_of_calls_is_divided(tmp_path: Path) -> None:
    seen = read_with(tmp_path, EVENTS).witness
    assert seen is not None
    # After the read, from 300 to 400 ms, the processor was taken away for 30 ms.
    (reader,) = (each for each in seen.processes if each.pid == 1)
    assert reader.ready_ns == 30_000_000
    # In the read it was ready for 100 ms.
    assert 99_000_000 < seen.inside.ready_ns < 100_000_000
    assert seen.ran_instead[0][0] == "busy"
    for time in (seen.outside, seen.inside):
        assert time.ns == time.cpu_ns + time.ready_ns + time.blocked_ns + time.tracing_ns + time.unknown_ns


def test_where_events_were_lost_the_lines_decide(tmp_path: Path) -> None:
    lost = EVENTS.replace("-0 [1] d... 0.200010: sched_switch: :0 [] S ==> w:2 []", "-0 [1] d... 0.200010: lost: 5")
    trace = read_with(tmp_path, lost)
    (wait,) = trace.verdicts(1_000_000)
    assert (wait["verdict"], wait["judgement"]) == ("not-covered", "open")
    root = next(row for row in trace.chain if row["pid"] == 1)
    assert root["waits_for_pid"] == 3
    assert trace.witness is not None and trace.witness.recordings[0].lost == 5


def test_events_of_another_run_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnusableInput, match="another run"):
        read_with(tmp_path, EVENTS.replace("-1 [", "-4711 [").replace("child_pid=", "child_pid=47"))


def test_a_file_without_events_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnusableInput, match="perf record"):
        read_with(tmp_path, "nothing\n")


def test_perf_data_has_the_clock_of_the_capture() -> None:
    trace = tracealyze.read(PIPE, sched=[str(PERF)])
    assert trace.witness is not None
    (recording,) = trace.witness.recordings
    assert recording.clock == "printed"
    assert recording.fitting >= recording.compared - 1 >= 5
    judged = [row["judgement"] for row in trace.verdicts(1_000_000)]
    assert judged and set(judged) == {"right"}


def test_the_report_says_what_the_kernel_saw(tmp_path: Path, call: Call) -> None:
    _, out, _ = call("summarize", PIPE, "--sched", PERF, "--json")
    assert json.loads(out)["witness"]["outside"]["tracing_ns"] > 0
    # Whether perf.data is compressed makes no difference.
    (tmp_path / "perf.data").write_bytes(gzip.decompress(PERF.read_bytes()))
    _, out, _ = call("summarize", PIPE, "--sched", tmp_path / "perf.data")
    assert "outside of syscalls on the critical path" in " ".join(out.split())


COMPUTES = """\
100 1700000010.000000 execve("/bin/tool", ["tool"], 0x7ffd /* 1 var */) = 0 <0.001000>
100 1700000010.001000 read(3, "x", 1) = 1 <0.000010>
100 1700000011.001000 read(3, "", 1) = 0 <0.000010>
100 1700000011.002000 exit_group(0) = ?
100 1700000011.003000 +++ exited with 0 +++
"""
BEGUN = "-100 [0] d... 0.000900: sched_process_exec:\n"
OFF_THE_CPU = {
    "others ran": ("cc1:77 [] R", ", 100 ms waiting for one."),
    "memory": (":0 [] S", ", 100 ms waiting for memory."),
}
ENDED = """\
-100 [0] d... 1.002500: sched_process_exit:
-100 [0] d... 1.003500: sched_switch: :100 [] X ==> :0 []
"""


@pytest.mark.parametrize("name", OFF_THE_CPU)
def test_time_outside_of_calls_is_what_the_kernel_saw(name: str, tmp_path: Path, call: Call) -> None:
    (tmp_path / "r.strace").write_text(COMPUTES)
    other, words = OFF_THE_CPU[name]
    left = "R" if other.endswith("R") else "D"
    events = (
        f"-100 [0] d... 0.002000: sched_switch: :100 [] {left} ==> {other.rpartition(' ')[0]}\n"
        "-0 [0] d.h. 0.102000: sched_waking: :100 []\n"
        f"-0 [0] d... 0.102000: sched_switch: {other} ==> :100 []\n"
    )
    (tmp_path / "sched.txt").write_text(f"{BEGUN}{events}{ENDED}")
    _, out, _ = call("summarize", tmp_path / "r.strace", "--sched", tmp_path / "sched.txt")
    said = " ".join(out.split())
    assert f"outside system calls: 900 ms on a CPU{words}" in said
    assert "its own code" not in said


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.name.partition(".")[0])
def test_inferred_wakers_are_those_that_the_kernel_saw(file: Path) -> None:
    found = compared(file.name, file, file.with_name(file.name.replace(".strace.", ".sched.")))
    assert found.waits["right"] >= 4
    assert {name: found.waits[name] for name in JUDGEMENTS if name != "right"} == dict.fromkeys(JUDGEMENTS[1:], 0)


def test_each_rare_wait_is_recorded() -> None:
    assert {file.name.partition(".")[0] for file in (WITNESS / "rare").glob("*.strace.gz")} == set(RARE)


@pytest.mark.parametrize("name", RARE)
def test_rare_waits_are_inferred(name: str) -> None:
    syscall, how = RARE[name]
    trace = tracealyze.read(WITNESS / "rare" / f"{name}.strace.gz", sched=str(WITNESS / "rare" / f"{name}.sched.gz"))
    waits = [row for row in trace.verdicts(20_000_000) if row["syscall"] == syscall]
    longest = max(waits, key=lambda row: row["dur_ns"])
    assert (longest["how"], longest["judgement"], longest["verdict"]) == (how, "right", "task")


def test_recordings_are_kept() -> None:
    assert len(KEPT) >= 5


def test_missing_privileges_have_a_cure(tmp_path: Path) -> None:
    user = Evidence(status={"CapEff": "0"}, user=1000)
    without_tracefs = str(tmp_path / "missing")
    causes = [each.cause for each in obstacles_of_perf("", user, without_tracefs)]
    assert causes == ["this process lacks CAP_PERFMON", "the list of kernel events cannot be read"]
    for container, word in (("docker", "--cap-add=PERFMON"), ("kubernetes", '"PERFMON"')):
        seen = Evidence(status={"CapEff": "0"}, container=container)
        assert all(word in each.cures[0] for each in obstacles_of_perf("", seen, without_tracefs))


def test_a_capture_contains_its_scheduler_events(tmp_path: Path) -> None:
    path, redacted = tmp_path / "a.strace.zst", tmp_path / "redacted.strace.zst"
    file = CaptureFile(str(path), {"record": 1, "flags": ["-T"]})
    file.write(gzip.decompress(PIPE.read_bytes()))
    file.close({"ended": "exit"}, _engine.pack_scheduling(str(PERF)))
    packed, named = tracealyze.read(path), tracealyze.read(PIPE, sched=str(PERF))
    assert packed.witness is not None and named.witness is not None
    assert packed.witness.outside == named.witness.outside
    assert list(packed.verdicts()) == list(named.verdicts())
    # They have names of threads of the whole machine.
    tracealyze.redact(path, redacted)
    assert tracealyze.read(redacted).witness is None
    assert "sched_bytes" not in read_metadata(str(redacted))


def test_redaction_excludes_scheduler_events() -> None:
    from tracealyze.commands import record

    with pytest.raises(WrongUsage, match="--redact"):
        record.command(program=["true"], sched=True, redacts=True)


def _stops(work_us: int) -> tuple[str, str]:
    """Forty calls, and their stops: each costs the task 12 us after the call. Once it works there, too."""
    lines = ['1 1700000000.000010 execve("/bin/tool", ["tool"], 0x7ffd /* 1 var */) = 0 <0.000020>']
    events, now_us = ["-1 [0] d... 0.000020: sched_process_exec:"], 0
    for number in range(40):
        now_us += 100
        lines.append(f"1 1700000000.{now_us:06} getpid() = 1 <0.000020>")
        ran_us = 12 + (work_us if number == 20 else 0)
        for at_us, length_us in ((now_us + 4, 11), (now_us + 40, ran_us)):
            events += [
                f"strace-9 [1] d... 0.{at_us - 1:06}: sched_waking: :1 []",
                f"-0 [0] d... 0.{at_us:06}: sched_switch: :0 [] R ==> :1 []",
                f"-1 [0] d... 0.{at_us + length_us:06}: sched_switch: :1 [] t ==> :0 []",
            ]
        now_us += ran_us - 12
    lines.append(f"1 1700000000.{now_us + 20:06} +++ exited with 0 +++")
    events.append(f"-1 [0] d... 0.{now_us + 20:06}: sched_process_exit:")
    return "\n".join(lines) + "\n", "\n".join(events) + "\n"


@pytest.mark.parametrize("work_us", [0, 900])
def test_what_a_stop_costs_the_task_itself_is_tracing(work_us: int, tmp_path: Path) -> None:
    lines, events = _stops(work_us)
    (tmp_path / "r.strace").write_text(lines)
    (tmp_path / "sched.txt").write_text(events)
    seen = tracealyze.read(tmp_path / "r.strace", sched=str(tmp_path / "sched.txt")).witness
    assert seen is not None
    # Durations are counted in classes, so this is 5% of 39 stops.
    assert seen.outside.cpu_ns == pytest.approx(work_us * 1_000, abs=39 * 12_000 * 0.05)
