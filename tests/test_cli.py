"""The command line: exit codes, messages, sources of captures, and text that must not reach a terminal."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, SAMPLES, Call, Run, heed_ctrl_c

import tracealyze
from tracealyze import _engine

SSH = SAMPLES / "ssh-login" / "ssh-login.truss"

SLEEPER = """\
100 1700000010.000000 execve("/bin/sleep", ["sleep", "0.5"], 0x7ffd /* 1 var */) = 0 <0.001000>
100 1700000010.001000 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=500000000}, NULL) = 0 <0.500100>
100 1700000010.502000 exit_group(0) = ?
100 1700000010.503000 +++ exited with 0 +++
"""


def test_help_shows_brackets(run: Run) -> None:
    assert "[tool.tracealyze.check]" in run("check", "--help").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["summarize", "nowhere.truss"], 3, "nowhere.truss: no such file."),
        (["summarize", "samples/ssh-login/ssh-login.trus"], 3, 'Did you mean "ssh-login.truss"?'),
        (["summarize", "nowhere/*.truss"], 3, "no file matches"),
        (["summarize", "README.md"], 3, "unknown format; tried "),
        (
            ["summarize", "samples/ssh-login/ssh-login.truss", "--pid", "7"],
            3,
            "no process 7 in the capture; it has 408",
        ),
        (["summarize", "samples/ssh-login/ssh-login.truss", "--program", "qota"], 3, 'Did you mean "quota"?'),
        (["summarize", "samples/ssh-login/ssh-login.truss", "--from", "noon"], 2, '"noon" is not a valid time'),
        (["summarize", "samples/ssh-login/ssh-login.truss", "--from", "/forty-two/"], 3, "no line matches /forty-two/"),
        (
            ["summarize", "samples/ssh-login/ssh-login.truss", "--to", "/a(/"],
            2,
            "is not a valid regular expression: unclosed",
        ),
        (["summarize", "--input-format", "strce", "README.md"], 2, 'Did you mean "strace"?'),
        (["summarize", "--tpo", "3"], 2, "Did you mean"),
        (["sumarize"], 2, 'Did you mean "summarize"?'),
        (["README.md"], 2, "tracealyze summarize README.md"),
        (["top-syscalls", "README.md", "--by", "colour"], 2, '--by: there is no "colour" (syscall, op, shape'),
        (["top-syscalls", "README.md", "--sort", "totl"], 2, 'Did you mean "total"? See tracealyze top-syscalls'),
        (["tree", "README.md", "--format", "jsn"], 2, 'Did you mean "json"?'),
        (["baseline", "crate"], 2, "Did you mean 'create'? See"),
        (["events", "samples/ssh-login/ssh-login.truss", "--syscall", "iotcl"], 3, 'Did you mean "ioctl"?'),
        (["summarize", "README.md", "--input-format", "strace"], 3, "tried strace. Try without --input-format."),
        (["summarize"], 2, "No capture: name a file"),
        (["summarize", ""], 3, "the name of the capture is empty. Is a variable unset?"),
        (
            ["summarize", "samples/ssh-login/ssh-login.truss", "--from", "+900"],
            3,
            "no events in --from +900; the capture runs from 2.6581 to 14.0814",
        ),
        (
            ["events", "samples/ssh-login/ssh-login.truss", "--from", "+9", "--to", "+3"],
            3,
            "no events in --from +9 --to +3",
        ),
    ],
)
def test_errors_are_one_sentence_with_the_right_exit_code(
    arguments: list[str], code: int, expected: str, run: Run
) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert expected in done.stderr
    assert done.stderr.startswith("tracealyze: ")
    assert len(done.stderr.splitlines()) == 1


def test_forced_input_format_without_calls_is_questioned(run: Run, strace: Callable[[str], Path]) -> None:
    text = " ".join(run("summarize", strace(SLEEPER), "--input-format", "ltrace").stdout.split())
    assert "Only functions of libraries were traced, or the format is not ltrace (--input-format)." in text


def test_no_command_shows_help_and_names_what_is_missing(run: Run) -> None:
    done = run()
    assert (done.returncode, done.stderr) == (2, "tracealyze: no command. See tracealyze --help.\n")
    assert "summarize" in done.stdout


def test_help_paragraphs_wrap_at_the_terminal_width(run: Run) -> None:
    assert "because its parent was blocked on other" in run("tree", "--help").stdout


def test_from_and_to_note_captures_outside_the_range(run: Run) -> None:
    done = run("summarize", SSH, SAMPLES / "kernel-shutdown" / "shutdown.log", "--from", "3")
    assert done.returncode == 0
    assert "shutdown.log: no events in --from 3" in done.stderr


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
@pytest.mark.parametrize("command", ["summarize", "top-syscalls", "tree", "events"])
def test_commands_have_every_form(command: str, form: str, run: Run) -> None:
    done = run(command, SSH, "--top", "5", "--format", form)
    assert done.returncode == 0, done.stderr
    if form == "json":
        assert json.loads(done.stdout)
    elif form == "csv":
        assert len({len(row) for row in csv.reader(io.StringIO(done.stdout))}) == 1
    else:
        assert "12200" in done.stdout or command in ("top-syscalls", "events")


@pytest.mark.parametrize("command", ["summarize", "tree", "events", "loops"])
def test_two_forms_at_once_are_an_error(command: str, run: Run) -> None:
    done = run(command, SSH, "--json", "--format", "csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--json and --format csv" in done.stderr
    assert json.loads(run(command, SSH, "--json", "--format", "json").stdout)


def test_tracer_table_shows_times_at_its_resolution(run: Run, strace: Callable[[str], Path]) -> None:
    rule = "------ ----------- ----------- --------- --------- ----------------"
    head = "% time     seconds  usecs/call     calls    errors syscall"
    rows = "100.00    0.085212         852       100         3 read"
    shown = run("top-syscalls", strace(f"{head}\n{rule}\n{rows}\n{rule}\n")).stdout
    heading, row = shown.splitlines()
    assert heading.split() == ["syscall", "calls", "failed", "total", "ms", "mean", "µs"]
    assert row.split() == ["read", "100", "3", "85.212", "852.120"]


def test_report_names_the_cause_of_the_slow_login(run: Run) -> None:
    shown = run("summarize", SSH).stdout
    for words in ("pid 12200", "/usr/sbin/quota", "ZFS_IOC_OBJSET_STATS", "297 calls", "9.74 s", "85%", "11.42 s"):
        assert words in shown


def test_last_capture_is_the_default_and_is_named(run: Run) -> None:
    run("summarize", SSH)
    done = run("top-syscalls", "--pid", "12200")
    assert "ZFS_IOC_OBJSET_STATS" in done.stdout
    assert f"Capture: {SSH} (last one used)" in done.stderr


def test_stdin_precedes_the_last_capture_and_is_not_remembered(run: Run) -> None:
    run("summarize", SSH)
    piped = run("top-syscalls", stdin=SLEEPER)
    assert "clock_nanosleep" in piped.stdout
    assert "last one used" not in piped.stderr
    assert str(SSH) in run("tree").stderr


def test_named_pipe_is_read_once_and_not_remembered(run: Run, strace: Callable[[str], Path], tmp_path: Path) -> None:
    """The next command waited forever for a writer."""
    run("summarize", SSH)
    os.mkfifo(tmp_path / "fifo")
    with subprocess.Popen(["cp", str(strace(SLEEPER)), str(tmp_path / "fifo")]):
        assert "clock_nanosleep" in run("top-syscalls", tmp_path / "fifo").stdout
    assert str(SSH) in run("tree").stderr


def test_bare_baseline_shows_its_help_and_names_what_is_missing(run: Run) -> None:
    done = run("baseline")
    assert (done.returncode, done.stderr) == (2, "tracealyze: no command. See tracealyze baseline --help.\n")
    assert "Usage: tracealyze baseline" in done.stdout and "create" in done.stdout


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"], ["baseline", "--help"], ["rules"]])
def test_help_survives_a_closed_pipe(arguments: list[str], unbuffered: str) -> None:
    """Help exited with 1, the code of a failed gate, when its reader closed the pipe."""
    assert _on_closed_pipe(arguments, unbuffered) == (0, b"")


def test_output_ends_in_silence_when_its_reader_has_gone() -> None:
    assert _on_closed_pipe(["redact", "-o", "-", str(SSH)], "") == (0, b"")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_missing_command_on_a_closed_pipe_is_wrong_usage(unbuffered: str) -> None:
    error = b"tracealyze: no command. See tracealyze baseline --help." + os.linesep.encode()
    assert _on_closed_pipe(["baseline"], unbuffered) == (2, error)


def _on_closed_pipe(arguments: list[str], unbuffered: str) -> tuple[int, bytes]:
    read_end, write_end = os.pipe()
    os.close(read_end)
    # At 80 columns, a note names the columns that do not fit.
    environment = os.environ | {"COLUMNS": "200", "PYTHONUNBUFFERED": unbuffered}
    with os.fdopen(write_end, "wb") as pipe:
        command = [sys.executable, "-m", "tracealyze", *arguments]
        done = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, env=environment)
    return done.returncode, done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["summarize", "nowhere"], 3), (["sumarize"], 2), (["check", "--demo"], 1), (["summarize", str(SSH)], 0)],
)
def test_full_standard_error_keeps_the_exit_code(arguments: list[str], code: int) -> None:
    """A missing capture exited like a failed gate when stderr could not be written."""
    with open("/dev/full", "wb") as full:
        assert _exit_code(arguments, stdout=subprocess.DEVNULL, stderr=full) == code


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize(
    ("arguments", "code"), [(["summarize", str(SSH)], 3), (["--help"], 3), (["check", "--demo"], 1)]
)
def test_full_standard_output_is_an_error(arguments: list[str], code: int) -> None:
    with open("/dev/full", "wb") as full:
        assert _exit_code(arguments, stdout=full, stderr=full) == code


def _exit_code(arguments: list[str], **streams: Any) -> int:
    """Of a process whose streams are buffered: what is left in a buffer is written when the interpreter ends."""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run([sys.executable, "-m", "tracealyze", *arguments], env=buffered, **streams).returncode


def test_stdin_may_be_a_file(strace: Callable[[str], Path]) -> None:
    with strace(SLEEPER).open() as stdin:
        done = subprocess.run(
            [sys.executable, "-m", "tracealyze", "top-syscalls"], stdin=stdin, capture_output=True, check=True
        )
    assert b"clock_nanosleep" in done.stdout


def test_control_characters_do_not_reach_the_terminal(run: Run, strace: Callable[[str], Path]) -> None:
    hostile = SLEEPER.replace("/bin/sleep", "/bin/\x1b[2J\x9b31m\x07\u202esl")
    for command in ("summarize", "top-syscalls", "timeline", "events"):
        for form in ("table", "json", "csv", "markdown"):
            shown = run(command, strace(hostile), "--format", form).stdout
            assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set(shown), (command, form)
    assert "\\x9b31m\\x07\\u202e" in run("top-syscalls", "--by", "target", strace(hostile), COLUMNS="160").stdout


@pytest.mark.parametrize(
    ("path", "cell"),
    [
        ("=cmd|calc", "'=cmd|calc"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0"),
        ("+1", "+1"),
        ("+1.5809", "+1.5809"),
        ("+1+1", "'+1+1"),
        ("-2+3", "'-2+3"),
        ("-A1", "'-A1"),
        ("-sh", "-sh"),
        ("/a=b", "/a=b"),
        (r"a\"b,c\nd", r'a"b,c\nd'),
    ],
)
def test_csv_has_no_formula_from_a_trace(path: str, cell: str, run: Run, strace: Callable[[str], Path]) -> None:
    file = strace(SLEEPER + f'100 1700000010.503 openat(AT_FDCWD, "{path}", O_RDONLY) = 3 <0.0001>\n')
    shown = run("events", file, "--syscall", "openat", "--format", "csv").stdout
    assert [row["target"] for row in csv.DictReader(io.StringIO(shown))] == [cell]


@pytest.mark.parametrize(
    "arguments",
    [("summarize", "--program"), ("what-if", "--parallel"), ("events", "--input-format"), ("tree", "--from")],
)
def test_options_that_are_not_text_are_wrong_usage(arguments: tuple[str, str], call: Call) -> None:
    """Python's form of such bytes ended in a traceback."""
    code, _, stderr = call(*arguments, os.fsdecode(b"/\xff/"), SSH)
    assert (code, r"\xff" in stderr, "bug" in stderr) == (2, True, False), stderr


@pytest.mark.skipif(sys.platform == "darwin", reason="names of files are UTF-8 there")
def test_file_name_that_is_not_text_has_a_hint(run: Run, tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.strace")).write_text(SLEEPER, encoding="utf-8")
    done = run("summarize", tmp_path)
    assert done.returncode == 3
    assert "the file name is not UTF-8. Rename the file" in done.stderr
    # The byte in the form of a shell, not as a surrogate of Python.
    assert r"\xff" in done.stderr


def test_ascii_output_has_plain_signs(run: Run) -> None:
    done = run("summarize", SSH, PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "####" in done.stdout
    assert done.stdout.isascii()
    # Messages of the program have such signs too.
    shown = run("check", "--metrics", PYTHONUTF8="0", PYTHONIOENCODING="ascii").stdout
    shown += run("check", "--baseline", "none.json", SSH, PYTHONUTF8="0", PYTHONIOENCODING="ascii").stdout
    assert "CAPTURE..." in shown
    assert "\\u2026" not in shown + done.stdout


@pytest.mark.parametrize("columns", [40, 80, 160])
def test_report_fits_the_width(columns: int, run: Run) -> None:
    lines = run("summarize", SSH, COLUMNS=str(columns)).stdout.splitlines()
    tables = [line for line in lines if "█" in line]
    assert tables
    assert max(map(len, tables)) <= columns


def test_closed_pipe_is_not_an_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "tracealyze", "events", str(SSH)], stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_closed_stdout_does_not_crash() -> None:
    command = f"exec {shlex.quote(sys.executable)} -m tracealyze summarize {shlex.quote(str(SSH))} >&-"
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_ctrl_c_ends_a_run_that_waits_for_input() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tracealyze", "summarize", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_ctrl_c,
    )
    assert process.stdin is not None
    process.stdin.write(SLEEPER.encode() * 2000)
    process.stdin.flush()
    # A pipe holds less than was written, so the reader has started by now.
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    # A shell reports a process that SIGINT ended as 130.
    assert process.returncode == -signal.SIGINT
    assert errors == b""


def test_strict_fails_only_if_a_line_is_lost(run: Run, strace: Callable[[str], Path]) -> None:
    assert run("summarize", "--strict", strace(SLEEPER)).returncode == 0
    broken = SLEEPER.replace("100 1700000010.502000 exit_group(0) = ?\n", "100 1700000010.502000 re\n")
    done = run("summarize", strace(broken), "--json")
    losses = json.loads(done.stdout)["captures"][0]["losses"]
    assert losses
    done = run("summarize", "--strict", strace(broken))
    assert done.returncode == 1
    assert "1 line could not be used" in done.stderr


def test_lost_events_are_counted(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "perf.txt"
    call = "     0.164 ( 0.002 ms): ls/4568 getpid() = 4568\n"
    file.write_text(f"{call}LOST 12 events!\n{call}LOST 1200 events!\n")
    loss = {"kind": "dropped", "lines": 2, "events": 1212, "first_line": 2}
    assert json.loads(run("summarize", file, "--json").stdout)["captures"][0]["losses"][0].items() >= loss.items()
    assert "At least 1,212 events lost (reported on 2 lines, first: line 2)" in " ".join(
        run("summarize", file).stdout.split()
    )


def test_appended_runs_have_one_report_each(run: Run, strace: Callable[[str], Path]) -> None:
    file = strace(SLEEPER + SLEEPER.replace("100 17000000", "200 18000000"))
    shown = run("summarize", file, "--each")
    assert shown.returncode == 0
    assert "run 1 of 2 (from line 1)" in shown.stdout
    assert f"run 2 of 2 (from line {SLEEPER.count(chr(10)) + 1})" in shown.stdout
    document = json.loads(run("summarize", "--json", file).stdout)
    assert [read["run"] for read in document["captures"]] == [1, 2]
    assert sum(read["lines"] for read in document["captures"]) == 2 * SLEEPER.count("\n")
    assert sum(read["bytes"] for read in document["captures"]) == file.stat().st_size
    assert run("summarize", file, "--pid", "200").stdout.count("Critical path") == 1


def test_several_captures_have_one_report_each(run: Run, strace: Callable[[str], Path]) -> None:
    small = strace(SLEEPER)
    shown = run("summarize", "--each", SSH, small).stdout
    assert shown.count("Critical path") == 2
    document = json.loads(run("summarize", "--json", SSH, small).stdout)
    assert len(document["captures"]) == len(document["windows"]) == 2
    assert sum(row["exclusive_ns"] for row in document["partition"]) == document["window"]["wall_ns"]


def test_files_per_task_are_one_capture(run: Run, tmp_path: Path) -> None:
    lines = [line.removeprefix("100 ") for line in SLEEPER.splitlines(keepends=True)]
    (tmp_path / "out.100").write_text("".join(lines))
    (tmp_path / "out.101").write_text("".join(lines))
    for named in (tmp_path, tmp_path / "out", tmp_path / "out.*"):
        document = json.loads(run("summarize", "--json", named).stdout)
        assert [len(capture["files"]) for capture in document["captures"]] == [2]
        assert document["totals"]["processes"] == 2


def test_version_is_that_of_the_engine(run: Run) -> None:
    assert run("--version").stdout == f"tracealyze {_engine.__version__}\n"


def test_help_lists_every_command(run: Run) -> None:
    shown = run("--help").stdout
    for command in ("summarize", "top-syscalls", "timeline", "events"):
        assert command in shown
        assert run(command, "--help").returncode == 0


def test_python_reads_what_the_command_line_reads() -> None:
    trace = tracealyze.read(SSH)
    assert trace.window.root_pid == 12186
    assert trace.calls(by=["pid", "syscall", "op"]).to_pandas().query("op == 'ZFS_IOC_OBJSET_STATS'").calls.sum() == 297
    assert sum(trace.accounting.values()) == trace.captures[0].lines
    assert ROOT in SSH.parents


def test_evidence_is_quoted_from_its_own_file(run: Run, tmp_path: Path) -> None:
    begin = '1700000010.000000 execve("/bin/sh", ["sh"], 0x7ffd /* 1 var */) = 0 <0.001000>\n'
    fork = "1700000010.002000 vfork() = 101 <0.001000>\n"
    wait = "1700000010.004000 wait4(101, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 101 <2.000000>\n"
    sleep = "1700000010.005000 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=2, tv_nsec=0}, NULL) = 0 <1.990000>\n"
    end = "170000001{}.000000 +++ exited with 0 +++\n"
    (tmp_path / "log.100").write_text(begin + fork + wait + end.format(3), encoding="utf-8")
    (tmp_path / "log.101").write_text(sleep + end.format(2), encoding="utf-8")
    shown = run("summarize", tmp_path / "log").stdout
    assert "log.101:1\n    1 | 1700000010.005000 clock_nanosleep(" in shown


def test_silences_of_a_log_are_not_gaps_between_calls(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "boot.log"
    stamps = [0.0, 2.0, 2.7, 4.7, 5.1, 7.1, 7.9, 9.9, 10.2, 12.2, 12.7, 14.7]
    file.write_text("".join(f"[{at:12.6f}] step{at}: ready\n" for at in stamps), encoding="utf-8")
    shown = " ".join(run("summarize", file).stdout.split())
    assert "no message for 2.00 s, 6 times" in shown
    assert "no call" not in shown
    assert "filter" not in shown


def test_coarse_clock_does_not_blame_the_process_at_a_tick(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "whole.strace"
    calls = ["getpid() = 100", "rt_sigaction(SIGHUP, NULL, {sa_handler=SIG_DFL}, 8) = 0"]
    lines = ['100 10:00:00 execve("/bin/tool", ["tool"], 0x7ffd /* 1 var */) = 0']
    lines += [f"100 10:00:0{second} {call}" for second in range(3) for call in calls * 20]
    file.write_text("\n".join([*lines, "100 10:00:02 exit_group(0) = ?", ""]), encoding="utf-8")
    found = json.loads(run("summarize", file, "--json").stdout)["findings"]
    assert [each["name"] for each in found if each["severity"] != "info"] == []
    lines[1:1] = ["100 10:00:00 fsync(3) = 0", *(f"100 10:00:0{second} fsync(3) = 0" for second in (4, 8))]
    lines[4:] = [line.replace("10:00:0", "10:00:3") for line in lines[4:]]
    file.write_text("\n".join([*lines, "100 10:00:32 exit_group(0) = ?", ""]), encoding="utf-8")
    found = json.loads(run("summarize", file, "--json").stdout)["findings"]
    assert [each["name"] for each in found if each["severity"] != "info"] == []
    # How much of the time after each call is the program's own is unknown.
    assert [each["syscall"] for each in found if each["name"] == "slow-sync"] == ["fsync"]


def test_hidden_path_segments_differ_from_short_ones(run: Run) -> None:
    shown = run("critical-path", SSH, "--min", "0s", "--top", "3").stderr
    assert "the last" in shown and "--top N" in shown and "shorter" not in shown
    assert "shorter" in run("critical-path", SSH).stderr


@pytest.mark.parametrize("command", ["events", "critical-path", "gaps"])
def test_printed_time_works_as_a_bound(command: str, run: Run) -> None:
    """The clock of the tables was wrongly another one than that of --from."""
    capture = SAMPLES / "shutdown" / "before.strace.xz"
    lines = run(command, capture, "--format", "markdown", "--top", "20").stdout.splitlines()[2:]
    times = [cell for line in lines for cell in line.split() if cell.startswith("+")]
    assert len(times) == len(lines) > 1
    first, last = min(times, key=float), max(times, key=float)
    bounded = run(command, capture, "--from", last, "--format", "markdown").stdout
    assert f" {last} " in bounded and f" {first} " not in bounded


def test_times_count_from_the_start_of_each_capture(run: Run) -> None:
    logs = sorted((SAMPLES / "jail-start").glob("staged-*.log"))
    lines = run("events", *logs, "--format", "markdown").stdout.splitlines()[2:]
    assert sum("| +0.000000 |" in line for line in lines) == len(logs) > 1


def test_events_markdown_has_the_columns_of_the_table(run: Run) -> None:
    heading = run("events", SSH, "--top", "1").stdout.splitlines()[0]
    markdown = run("events", SSH, "--top", "1", "--format", "markdown").stdout.splitlines()[0]
    assert markdown.replace("|", "").split() == heading.split()


def test_csv_of_loops_has_bodies_as_json(run: Run) -> None:
    rows = list(csv.DictReader(run("loops", SSH, "--format", "csv").stdout.splitlines()))
    assert rows and all(isinstance(json.loads(row["body"]), list) for row in rows)


def test_dangling_link_is_called_that(run: Run, tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to("nowhere")
    shown = run("summarize", "dangling", cwd=tmp_path).stderr
    assert "a symbolic link to nowhere" in shown and "Did you mean" not in shown


def test_every_listed_table_exists(run: Run) -> None:
    trace = tracealyze.read(SSH)
    for table in {row["table"] for row in json.loads(run("rules", "--columns", "--json").stdout)} - {"scaling"}:
        trace.table(table)
    with pytest.raises(tracealyze.TracealyzeError, match="tracealyze scaling"):
        trace.table("scaling")


def test_path_names_threads_if_processes_have_several(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "threads.strace"
    lines = [
        '1 1700000010.000000 execve("/bin/x", ["x"], 0x7ffd /* 1 var */) = 0 <0.001000>',
        "1 1700000010.002000 clone3({flags=CLONE_VM|CLONE_FILES|CLONE_THREAD, stack=0x7f}, 88) = 2 <0.000100>",
        "1 1700000010.003000 futex(0x7f1, FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME, 2, NULL, 0x7f <unfinished ...>",
        "2 1700000010.004000 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=1, tv_nsec=0}, NULL) = 0 <1.000000>",
        "2 1700000011.005000 exit(0) = ?",
        "2 1700000011.005100 +++ exited with 0 +++",
        "1 1700000011.005200 <... futex resumed>) = 0 <1.002200>",
        "1 1700000011.006000 exit_group(0) = ?",
        "1 1700000011.006100 +++ exited with 0 +++",
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    heading, *rows = run("critical-path", file).stdout.splitlines()
    assert "thread" in heading.split()
    assert next(row for row in rows if "clock_nanosleep" in row).split()[2:4] == ["1", "2"]


def test_ctrl_c_during_start_up_ends_silently(tmp_path: Path) -> None:
    """Loading takes a while on a busy machine; a traceback would blame whatever import was running."""
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "tracealyze", "--version"],
        env=os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}"},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, b"")


def test_no_matching_call_is_a_valid_answer(run: Run) -> None:
    done = run("events", SSH, "--syscall", "fsync")
    assert (done.returncode, done.stderr) == (0, "No event is a call of fsync.\n")
