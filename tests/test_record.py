"""`record` traces programs here: their streams and exit status stay their own, and each end leaves a good file."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, heed_ctrl_c

import tracealyze
from tracealyze.capture import processes, scheduler
from tracealyze.model.capture_input.recorded import read_metadata
from tracealyze.trace.summary import syscalls

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed"),
]

_PATIENCE_S = 30.0
_STEPS = "i=0; while [ $i -lt 40 ]; do i=$((i+1)); sleep 0.1; done; echo end; exit 3"

Record = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    """Start `record`; its file is a.zst in the folder of the test."""
    started = []

    def start(*arguments: str, **options: Any) -> subprocess.Popen[str]:
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | options
        done = subprocess.Popen(
            [sys.executable, "-m", "tracealyze", "record", "-q", "-o", "a.zst", *arguments],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            cwd=tmp_path,
            encoding="utf-8",
            preexec_fn=heed_ctrl_c,
            **pipes,
        )
        started.append(done)
        return done

    yield start
    for each in started:
        each.kill()
        each.communicate()


def test_scheduler_events_are_in_the_capture(record: Record, tmp_path: Path) -> None:
    if scheduler.works() is not None:
        pytest.skip("perf cannot record scheduler events here")
    done = record("--sched", "--", "sh", "-c", "sleep 0.2 | cat; exit 4")
    done.communicate(timeout=_PATIENCE_S)
    assert done.returncode == 4
    trace = tracealyze.read(tmp_path / "a.zst")
    assert trace.witness is not None and trace.witness.recordings[0].clock == "printed"
    assert {row["judgement"] for row in trace.verdicts(100_000_000)} == {"right"}


needs_perf = pytest.mark.skipif(scheduler.works() is not None, reason="perf cannot record here")


@needs_perf
def test_light_capture_has_the_calls_of_strace(record: Record, tmp_path: Path) -> None:
    script = "i=0; while [ $i -lt 20 ]; do i=$((i+1)); ls /nonexistent 2>/dev/null; done; sleep 0.2 | cat; exit 4"
    done = record("--light", "--", "sh", "-c", script)
    done.communicate(timeout=_PATIENCE_S)
    assert done.returncode == 4
    trace = tracealyze.read(tmp_path / "a.zst")
    assert trace.captures[0].format == "perf-data" and not trace.captures[0].losses
    assert {row["verdict"] for row in trace.verdicts(100_000_000)} == {"task"}
    assert {row["waits_for_sure"] for row in trace.longest_chain if row["waits_for_pid"]} == {"witnessed"}
    subprocess.run(["strace", "-f", "-o", "b.strace", "sh", "-c", script], cwd=tmp_path, check=False)
    traced = tracealyze.read(tmp_path / "b.strace")
    # strace begins with the execve, and allocators ask for memory as the addresses fall.
    chance = ("brk", "rt_sigreturn", "wait4")
    light, whole = (
        {row["syscall"]: (row["calls"], row["failed"]) for row in syscalls(each)} for each in (trace, traced)
    )
    assert {k: v for k, v in light.items() if k not in chance} == {k: v for k, v in whole.items() if k not in chance}


@needs_perf
def test_light_capture_of_a_process_has_its_open_call(record: Record, tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as sleeping:
        done = record("--light", "--pid", str(sleeping.pid), "--for", "1s")
        done.communicate(timeout=_PATIENCE_S)
        sleeping.kill()
    assert done.returncode == 0
    (row,) = syscalls(tracealyze.read(tmp_path / "a.zst"))
    assert (row["syscall"], row["calls"]) == ("clock_nanosleep", 1)


def _until(condition: Callable[[], Any], what: str) -> Any:
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.01)
    raise AssertionError(f"not within {_PATIENCE_S} s: {what}")


def _command_of(recording: subprocess.Popen[str]) -> int:
    """The traced command, once it is traced."""

    def traced() -> int | None:
        children = Path(f"/proc/{recording.pid}/task/{recording.pid}/children").read_text().split()
        return next((int(pid) for pid in children if processes.tracer_of(int(pid))), None)

    return int(_until(traced, "a traced command"))


def _facts(folder: Path) -> dict[str, Any]:
    return read_metadata(str(folder / "a.zst")) if (folder / "a.zst").exists() else {}


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", -signal.SIGTERM), ("kill -KILL $$", -9)]
)
def test_exit_status_is_that_of_the_command(record: Record, tmp_path: Path, script: str, code: int) -> None:
    recording = record("--", "sh", "-c", script)
    recording.communicate()
    assert recording.returncode == code
    assert (_facts(tmp_path)["ended"], _facts(tmp_path)["exit"]) == ("exit", code)
    assert _facts(tmp_path)["overhead_ns"] > 1000


def test_streams_belong_to_the_command(record: Record) -> None:
    recording = record("--", "sh", "-c", "cat; echo problem >&2")
    out, err = recording.communicate("typed")
    assert out == "typed"
    assert err.splitlines()[0] == "problem"
    assert err.splitlines()[1].startswith("Capture: a.zst")


def test_descriptors_and_environment_are_untouched(tmp_path: Path) -> None:
    script = "env -0 | sort -z | tr '\\0' '\\n' | grep -v ^PWD; ls /proc/self/fd"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    bare = subprocess.run(
        ["sh", "-c", script], env=environment, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False
    )
    done = subprocess.run(
        [sys.executable, "-m", "tracealyze", "record", "-q", "-o", "a.zst", "--", "sh", "-c", script],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.stdout == bare.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_to_record_reach_the_command(record: Record, tmp_path: Path, number: signal.Signals) -> None:
    recording = record("--", "sleep", "60")
    _command_of(recording)
    _until(lambda: b"nanosleep" in _text(tmp_path), "the sleep")
    recording.send_signal(number)
    recording.communicate(timeout=_PATIENCE_S)
    assert recording.returncode == -number
    assert tracealyze.read(tmp_path / "a.zst").totals["calls"] > 10


def test_command_may_survive_a_signal(record: Record, tmp_path: Path) -> None:
    recording = record("--", "sh", "-c", "trap 'echo cleaned; exit 5' TERM; while :; do sleep 0.1; done")
    _command_of(recording)
    _until(lambda: b"nanosleep" in _text(tmp_path), "the loop")
    recording.terminate()
    out, _ = recording.communicate(timeout=_PATIENCE_S)
    assert (out, recording.returncode) == ("cleaned\n", 5)


def _text(folder: Path) -> bytes:
    done = subprocess.run(["zstdcat", folder / "a.zst"], capture_output=True, check=False)
    return done.stdout


@pytest.mark.parametrize("profile", ["full", "light"])
def test_killed_record_leaves_a_readable_file(record: Record, tmp_path: Path, profile: str) -> None:
    recording = record("--profile", profile, "--", "sh", "-c", _STEPS)
    command = _command_of(recording)
    tracer = processes.tracer_of(command)
    _until(lambda: (tmp_path / "a.zst").stat().st_size > 2000, "a complete frame")
    recording.kill()
    _until(lambda: processes.status(tracer).get("State", "Z")[0] in "ZX", "the end of the tracer")
    # With a filter of seccomp, calls fail without the tracer: the command has to end too.
    if profile == "full":
        assert processes.status(command)["TracerPid"] == "0"
    else:
        _until(lambda: processes.status(command).get("State", "Z")[0] in "ZX", "the end of the command")
    out, err = recording.communicate(timeout=_PATIENCE_S)
    assert err == ""
    assert out == ("end\n" if profile == "full" else "")
    assert tracealyze.read(tmp_path / "a.zst").totals["calls"] > 10
    assert "ended" not in _facts(tmp_path)


def test_time_limit_lets_the_command_go_on(record: Record, tmp_path: Path) -> None:
    recording = record("--for", "1s", "--", "sh", "-c", _STEPS)
    out, _ = recording.communicate(timeout=_PATIENCE_S)
    assert (out, recording.returncode) == ("end\n", 3)
    assert _facts(tmp_path)["ended"] == "time limit"
    assert tracealyze.read(tmp_path / "a.zst").window.wall_ns < 3_000_000_000


def test_report_does_not_wait_for_the_command(tmp_path: Path) -> None:
    """It came only when the command ended, and never if that did not."""
    recording = subprocess.Popen(
        [sys.executable, "-m", "tracealyze", "record", "-o", "a.zst", "--for", "500ms", "--", "sleep", "60"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        preexec_fn=heed_ctrl_c,
    )
    assert recording.stderr is not None
    try:
        text = b""
        while b"--kill" not in text:
            assert select.select([recording.stderr], [], [], _PATIENCE_S)[0], text
            text += os.read(recording.stderr.fileno(), 4096)
        assert b"clock_nanosleep" in text and b"goes on without the tracer" in text
        assert f"kill -KILL {recording.pid}".encode() in text
        recording.terminate()
        assert recording.wait(timeout=_PATIENCE_S) == -signal.SIGTERM
    finally:
        recording.kill()
        recording.communicate()
    assert tracealyze.read(tmp_path / "a.zst").window.end_ns == _facts(tmp_path)["ended_ns"]


def test_command_may_end_with_the_capture(record: Record, tmp_path: Path) -> None:
    recording = record("--kill", "--for", "500ms", "--", "sh", "-c", "trap '' TERM; while :; do :; done")
    recording.communicate(timeout=_PATIENCE_S)
    assert recording.returncode == 0
    assert _facts(tmp_path)["ended"] == "time limit"


def test_what_the_command_started_ends_with_it(record: Record) -> None:
    stubborn = "trap '' TERM; echo $$; sleep 20"
    recording = record(
        "--kill", "--for", "500ms", "--", "sh", "-c", f'sh -c "{stubborn.replace("$", chr(92) + "$")}" & wait'
    )
    out, _ = recording.communicate(timeout=_PATIENCE_S)
    assert recording.returncode == 0
    assert processes.status(int(out.split()[0])).get("State", "Z")[0] == "Z"


def test_size_limit_holds_to_within_a_buffer(record: Record, tmp_path: Path) -> None:
    record("--max-size", "60K", "--", "dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=40000").communicate()
    assert _facts(tmp_path)["ended"] == "size limit"
    assert 60 * 1024 <= (tmp_path / "a.zst").stat().st_size < 250 * 1024


def test_trigger_ends_the_capture_after_its_event(record: Record, tmp_path: Path) -> None:
    script = "sleep 0.1; sleep 0.6; sleep 30"
    recording = record("--trigger", 'syscall ~ "nanosleep" and dur_ns > 500ms', "--", "sh", "-c", script)
    _until(lambda: _facts(tmp_path).get("trigger"), "the trigger")
    recording.terminate()
    recording.communicate(timeout=_PATIENCE_S)
    assert _facts(tmp_path)["ended"] == "trigger"
    assert "nanosleep" in _facts(tmp_path)["trigger"]


@pytest.mark.parametrize("profile", ["full", "light", "files", "net", "stacks"])
def test_profiles_relate_processes_and_stay_exact(record: Record, tmp_path: Path, profile: str) -> None:
    record("--profile", profile, "--", "sh", "-c", "sleep 0.2; exit 0").communicate()
    trace = tracealyze.read(tmp_path / "a.zst")
    assert trace.captures[0].losses == ()
    assert trace.captures[0].dur_kind == "exact"
    assert trace.totals["processes"] == 2
    assert trace.window.wall_ns > 200_000_000


def _sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sh", "-c", "while :; do sleep 0.05; done"], start_new_session=True)


@pytest.mark.parametrize("end", ["interrupt", "time limit", "killed", "exit"])
def test_running_process_is_released_at_the_end(record: Record, tmp_path: Path, end: str) -> None:
    server = _sleeper()
    try:
        recording = record("--pid", str(server.pid), *(["--for", "1s"] if end == "time limit" else []))
        _until(lambda: processes.tracer_of(server.pid), "an attached tracer")
        _until(lambda: (tmp_path / "a.zst").stat().st_size > 2000, "a complete frame")
        if end == "interrupt":
            recording.send_signal(signal.SIGINT)
        elif end == "killed":
            recording.kill()
        elif end == "exit":
            server.kill()
        recording.communicate(timeout=_PATIENCE_S)
        assert recording.returncode == (-9 if end == "killed" else 0)
        if end != "exit":
            _until(lambda: not processes.tracer_of(server.pid), "a released process")
            assert server.poll() is None
        assert _facts(tmp_path).get("ended", "killed") == end
        assert tracealyze.read(tmp_path / "a.zst").totals["calls"] > 10
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def test_tracer_that_is_killed_leaves_a_capture_with_an_end(record: Record, tmp_path: Path) -> None:
    server = _sleeper()
    try:
        recording = record("--pid", str(server.pid))
        tracer = _until(lambda: processes.tracer_of(server.pid), "an attached tracer")
        _until(lambda: (tmp_path / "a.zst").stat().st_size > 3000, "a complete frame")
        os.kill(tracer, signal.SIGKILL)
        recording.communicate(timeout=_PATIENCE_S)
        assert _facts(tmp_path)["ended"] == "the end of the tracer"
        assert tracealyze.read(tmp_path / "a.zst").totals["calls"] > 10
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def test_children_of_an_attached_process_are_traced_too(record: Record, tmp_path: Path) -> None:
    """A worker took all the time, and the capture of its master had nothing in it."""
    with subprocess.Popen(["sh", "-c", "sleep 60; true"], start_new_session=True) as master:
        try:
            children = Path(f"/proc/{master.pid}/task/{master.pid}/children")
            child = _until(lambda: children.read_text().split(), "the child")[0]
            _, err = record("--pid", str(master.pid), "--for", "1s").communicate(timeout=_PATIENCE_S)
        finally:
            os.killpg(master.pid, signal.SIGKILL)
    assert f"Traced too, as children: sleep (pid {child})." in err
    text = tracealyze.read(tmp_path / "a.zst").summary().diagnosis[0].text
    assert f"The child is sleep 60 (pid {child}), which was in clock_nanosleep." in text


def _states(threads: Path) -> set[str]:
    return {(each / "stat").read_text().rpartition(")")[2].split()[0] for each in threads.iterdir()}


_DEADLOCK = """
import threading, time
locks = [threading.Lock(), threading.Lock()]
def take(first, second):
    with locks[first]:
        time.sleep(0.2)
        locks[second].acquire()
for pair in ((0, 1), (1, 0)):
    threading.Thread(target=take, args=pair).start()
"""


@pytest.mark.parametrize(
    ("words", "state", "said"),
    [
        ((sys.executable, "-c", "while 1: pass"), "R", "it computes"),
        (("sleep", "60"), "S", "HUNG: sleep 60 (pid {pid}) was in clock_nanosleep for at least"),
        (("cat",), "S", "HUNG: cat (pid {pid}) was in read on pipe:"),
        ((sys.executable, "-c", _DEADLOCK), "S", "all of its 3 threads were in futex"),
        (("sh", "-c", "kill -STOP $$"), "T", "(pid {pid}) is stopped (state T)"),
    ],
)
def test_process_without_calls_is_named_in_the_first_line(
    record: Record, tmp_path: Path, words: Sequence[str], state: str, said: str
) -> None:
    with subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True) as process:
        try:
            threads = Path(f"/proc/{process.pid}/task")
            number = 3 if words[-1] == _DEADLOCK else 1
            _until(lambda: len(list(threads.iterdir())) == number, "its threads")
            states = partial(_states, threads)
            _until(lambda: states() == {state}, f"state {state}")
            record("--pid", str(process.pid), "--for", "1s").communicate(timeout=_PATIENCE_S)
            trace = tracealyze.read(tmp_path / "a.zst")
        finally:
            process.kill()
    assert said.format(pid=process.pid) in trace.summary().diagnosis[0].text


def _on_a_terminal(arguments: Sequence[str], folder: Path, act: Callable[[int, int], None]) -> tuple[int, str]:
    """Run `record` as the foreground job of a terminal. `act` gets its process id and the terminal."""
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(folder)
        os.environ["PYTHONPATH"] = str(ROOT)
        words = [sys.executable, "-m", "tracealyze", "record", "-q", "-o", "a.zst", *arguments]
        os.execv(sys.executable, words)
    act(pid, terminal)
    text = b""
    while select.select([terminal], [], [], _PATIENCE_S)[0]:
        try:
            text += os.read(terminal, 4096)
        except OSError:
            break
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), text.decode()


def test_ctrl_c_on_a_terminal_ends_command_and_capture(tmp_path: Path) -> None:
    def press(pid: int, terminal: int) -> None:
        children = Path(f"/proc/{pid}/task/{pid}/children")
        _until(lambda: any(processes.tracer_of(int(each)) for each in children.read_text().split()), "a traced command")
        _until(lambda: b"nanosleep" in _text(tmp_path), "the sleep")
        os.write(terminal, b"\x03")

    code, _ = _on_a_terminal(["--", "sleep", "60"], tmp_path, press)
    assert code == -signal.SIGINT
    assert _facts(tmp_path)["exit"] == -signal.SIGINT
    assert "SIGINT" in _text(tmp_path).decode()


def test_command_on_a_terminal_is_interrupted_once(tmp_path: Path) -> None:
    def press(_: int, terminal: int) -> None:
        _until(lambda: b"wait4(" in _text(tmp_path), "the shell waits")
        os.write(terminal, b"\x03")

    script = "trap 'echo caught' INT; sleep 60; sleep 0.3; exit 4"
    code, text = _on_a_terminal(["--", "sh", "-c", script], tmp_path, press)
    assert code == 4
    assert text.count("caught") == 1


def test_existing_file_is_refused(record: Record, tmp_path: Path) -> None:
    (tmp_path / "a.zst").write_text("precious")
    recording = record("--", "true")
    _, err = recording.communicate()
    assert recording.returncode == 2
    assert "exists" in err
    assert (tmp_path / "a.zst").read_text() == "precious"


@pytest.mark.parametrize(("program", "code"), [("no-such-program", 127), ("/etc/passwd", 126)])
def test_missing_program_is_named_as_by_a_shell(record: Record, tmp_path: Path, program: str, code: int) -> None:
    recording = record("--", program)
    _, err = recording.communicate()
    assert recording.returncode == code
    assert program in err
    assert not (tmp_path / "a.zst").exists()


@pytest.mark.parametrize("profile", ["full", "light"])
def test_full_disk_ends_the_capture_and_not_the_command(tmp_path: Path, profile: str) -> None:
    limited = ["sh", "-c", 'ulimit -f 1200; exec "$@"', "sh", sys.executable, "-m", "tracealyze"]
    done = subprocess.run(
        [
            *limited,
            "record",
            "-q",
            "--profile",
            profile,
            "-o",
            "a.zst",
            "--",
            "sh",
            "-c",
            "dd if=/dev/urandom of=/dev/null bs=1 count=40000; echo end",
        ],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.stdout == "end\n"
    assert "a.zst: File too large. The capture ends there" in done.stderr and "Broken pipe" not in done.stderr
    assert done.returncode == 3
    assert tracealyze.read(tmp_path / "a.zst").accounting["call"] > 0


def test_redacted_recording_contains_no_secret(record: Record, tmp_path: Path) -> None:
    script = "echo s3cretword; cat /nowhere/s3cretword; exit 5"
    done = record("--redact", "--label", "customer=s3cretword", "--", "sh", "-c", script)
    out, _ = done.communicate(timeout=_PATIENCE_S)
    assert (out, done.returncode) == ("s3cretword\n", 5)
    tracealyze.redact(tmp_path / "a.zst", tmp_path / "again.strace")
    for file in (tmp_path / "a.zst", tmp_path / "again.strace"):
        assert b"s3cretword" not in file.read_bytes()
    facts = read_metadata(str(tmp_path / "a.zst"))
    assert "s3cretword" not in str(facts) and facts["exit"] == 5
    trace = tracealyze.read(tmp_path / "a.zst")
    assert not [event for event in trace.events_of(limit=100_000) if "s3cretword" in str(event)]
    assert trace.accounting.get("foreign", 0) == 0


def test_second_run_without_the_tracer_is_measured(record: Record, tmp_path: Path) -> None:
    """It has no input and no output, and its time is the figure of the report instead of an estimate."""
    done = record("--untraced", "--", "sh", "-c", "cat; echo run >>runs; getconf PAGESIZE")
    out, _ = done.communicate("typed")
    assert out.startswith("typed") and out.count("\n") == 1
    assert (tmp_path / "runs").read_text() == "run\nrun\n"
    measured_ns = _facts(tmp_path)["untraced_ns"]
    document = tracealyze.read(tmp_path / "a.zst").summary().document()
    wall_ns = document["window"]["wall_ns"]
    shown_ns = min(measured_ns, wall_ns)
    assert document["untraced"] == {"wall_ns": shown_ns, "tracing_ns": wall_ns - shown_ns, "confidence": "measured"}


def test_second_run_that_ends_otherwise_is_not_used(record: Record, tmp_path: Path) -> None:
    _, problems = record("--untraced", "--", "sh", "-c", "mkdir once").communicate()
    assert "ended otherwise" in problems
    assert "untraced_ns" not in _facts(tmp_path)
