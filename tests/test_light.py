"""Captures of perf alone: what they show, what they say they lack, and what `record --light` refuses."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from conftest import ROOT, Call

import tracealyze
from tracealyze import _engine
from tracealyze.capture.capture_file import CaptureFile
from tracealyze.render.capture_notes import lacks_of
from tracealyze.trace.summary import syscalls

WITNESS = ROOT / "tests" / "witness"

# A server that was blocked in epoll_wait when perf began; a client wakes it, and events are lost.
CALLS = """\
# system calls of perf.data, x86_64
1 1700000000.010000000 epoll_wait(4, ..., 16, -1 <unfinished ...>
2 1700000000.100000000 execve("/bin/client") = 0 <0.000200000>
2 1700000000.200000000 write(5) = 1 <0.000050000>
1 1700000000.200100000 <... epoll_wait resumed>) = 1 <0.190100000>
# lost events: 40
1 1700000000.300000000 openat(AT_FDCWD, ..., 0x80000) = -1 ENOENT (error 2) <0.000010000>
2 1700000000.400000000 exit_group(0) = ?
2 1700000000.400100000 +++ exited with 0 +++
1 1700000000.500000000 exit_group(0) = ?
1 1700000000.500100000 +++ exited with 0 +++
"""
SCHEDULER = """\
# epoch offset ns: 1700000000000000000
-0 [0] d... 0.005000: sched_switch: :0 [] S ==> server:1 []
-1 [0] d... 0.010010: sched_switch: server:1 [] S ==> other:77 []
-0 [1] d... 0.099000: sched_switch: :0 [] S ==> client:2 []
-2 [1] d... 0.100100: sched_process_exec:
-2 [1] d... 0.200040: sched_waking: :1 []
-77 [0] d... 0.200060: sched_switch: :77 [] R ==> server:1 []
-2 [1] d... 0.400050: sched_process_exit:
-1 [0] d... 0.500050: sched_process_exit:
"""
FACTS = {"record": 1, "tracer": "perf version 6.1.9", "profile": "calls without arguments"}


@pytest.fixture
def perf_data(tmp_path: Path) -> Path:
    """`sleep 0.2 | cat; ls /nonexistent; kill -TERM $$` in a shell."""
    file = tmp_path / "perf.data"
    file.write_bytes(gzip.decompress((WITNESS / "calls-waits.perf.data.gz").read_bytes()))
    return file


@pytest.fixture
def light(tmp_path: Path) -> Path:
    """A capture as `record --light` writes it."""
    events = tmp_path / "sched.txt"
    events.write_text(SCHEDULER)
    file = tmp_path / "a.perf.zst"
    capture = CaptureFile(str(file), FACTS)
    capture.write(CALLS.encode())
    capture.close({"ended": "exit"}, _engine.pack_scheduling(str(events), [1, 2]))
    return file


def test_perf_data_is_a_capture(perf_data: Path) -> None:
    trace = tracealyze.read(perf_data)
    assert trace.captures[0].format == "perf-data"
    assert not trace.captures[0].losses
    programs = {row["program"] for row in trace.calls(by=["program"])}
    assert {"/usr/bin/sh", "/usr/bin/sleep", "/usr/bin/ls"} <= programs
    rows = {row["syscall"]: row for row in syscalls(trace)}
    assert rows["access"]["errors"] == {"ENOENT": rows["access"]["failed"]}
    assert rows["clock_nanosleep"]["total_ns"] >= 200_000_000


@pytest.mark.parametrize("options", [[], ["--brief"], ["--full"]])
def test_the_report_first_says_what_is_missing(options: list[str], light: Path, call: Call) -> None:
    code, stdout, _ = call("summarize", *options, light)
    text = " ".join(stdout.split())
    lack = text.index("No paths and no arguments: perf recorded only names of calls")
    assert code == 0 and text.count("No paths and no arguments") == 1
    # Before anything is concluded from the calls.
    assert lack < min(text.find(word) % len(text) for word in ("Critical path", "epoll_wait", "finding"))


def test_json_says_it_too(light: Path, call: Call) -> None:
    _, stdout, _ = call("summarize", "--json", light)
    (capture,) = json.loads(stdout)["captures"]
    assert capture["lacks"].startswith("No paths and no arguments")
    trace = tracealyze.read(light)
    assert next(lacks_of(trace.captures[0], trace.window)).startswith("No paths and no arguments")


def test_other_captures_lack_nothing_in_general(call: Call) -> None:
    _, stdout, _ = call("summarize", "--json", WITNESS / "sleep-pipe.strace.gz")
    assert "lacks" not in json.loads(stdout)["captures"][0]


def test_the_kernel_decides_who_woke_a_server(light: Path) -> None:
    trace = tracealyze.read(light)
    assert trace.witness is not None and trace.witness.recordings[0].clock == "printed"
    (wait,) = trace.verdicts(100_000_000)
    assert (wait["syscall"], wait["verdict"], wait["seen_tid"]) == ("epoll_wait", "task", 2)
    server = next(row for row in trace.chain if row["pid"] == 1)
    assert (server["waits_for_pid"], server["waits_for_sure"]) == (2, "witnessed")


def test_lost_events_are_counted(light: Path, call: Call) -> None:
    _, stdout, _ = call("summarize", light)
    assert "At least 40 events lost" in " ".join(stdout.split())


def test_scheduler_events_of_a_perf_data_are_used(tmp_path: Path) -> None:
    file = tmp_path / "perf.data"
    file.write_bytes(gzip.decompress((WITNESS / "sleep-pipe.perf.data.gz").read_bytes()))
    assert _engine.has_scheduling(str(file))
    assert not _engine.has_scheduling(str(WITNESS / "calls-waits.perf.data.gz"))


def test_perf_data_without_calls_is_refused_as_before(tmp_path: Path, call: Call) -> None:
    file = tmp_path / "perf.data"
    file.write_bytes(gzip.decompress((WITNESS / "sleep-pipe.perf.data.gz").read_bytes()))
    code, _, stderr = call("summarize", file)
    assert (code, "a file of perf record" in stderr) == (3, True), stderr


@pytest.mark.parametrize(
    "options",
    [
        ["--profile", "files"],
        ["--sched"],
        ["--max-size", "1G"],
        ["--ring", "1M"],
        ["--trigger", "dur_ns > 1s"],
        ["--live"],
        ["--redact"],
    ],
)
def test_options_without_meaning_are_refused(options: list[str], call: Call) -> None:
    code, _, stderr = call("record", "--light", *options, "--", "true")
    assert (code, f"--light excludes {options[0]}: " in stderr) == (2, True), stderr


def test_without_perf_the_cure_is_named(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tool").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path))
    code, _, stderr = call("record", "--light", "-o", tmp_path / "a.zst", "--", "tool")
    assert (code, "perf is not installed." in stderr) == (3, True), stderr
    assert not os.path.exists(tmp_path / "a.zst")
