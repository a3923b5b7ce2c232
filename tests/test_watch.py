"""Traces that are still being written: slices lose no time, and know what came before them; the screen; its keys."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import ROOT, Call

import tracealyze
from tracealyze.base.errors import UnreadableCapture, UnusableInput, WrongUsage
from tracealyze.capture.follow import Follower
from tracealyze.commands._screen import _after
from tracealyze.render.text import ASCII, UNICODE
from tracealyze.render.watch import State, document, line_of, screen
from tracealyze.trace.live.last_minute import LastMinute, View
from tracealyze.trace.live.slices import Added, Slices

SCHEMA = json.loads((ROOT / "tests" / "schemas" / "watch.json").read_text(encoding="utf-8"))
START = 1_700_000_000
S = 1_000_000_000
_TIMEOUT_S = 60

# A shell starts a worker, which waits for a lock that the other one holds. The second of each line is its number.
LOCKS = """\
100 0.0 execve("/usr/bin/sh", ["sh"], 0x0 /* 1 vars */) = 0 <0.001000>
100 1.0 clone(child_stack=NULL, flags=SIGCHLD) = 200 <0.000100>
200 1.1 execve("/usr/bin/backup", ["backup"], 0x0 /* 1 vars */) = 0 <0.001000>
100 1.2 clone(child_stack=NULL, flags=SIGCHLD) = 300 <0.000100>
300 1.3 execve("/usr/bin/rotate", ["rotate"], 0x0 /* 1 vars */) = 0 <0.001000>
100 1.4 wait4(-1,  <unfinished ...>
200 2.0 flock(3</run/lock>, LOCK_EX) = 0 <0.000010>
300 3.0 flock(3</run/lock>, LOCK_EX <unfinished ...>
200 4.0 fsync(4</var/backup>) = 0 <1.500000>
200 6.0 fsync(4</var/backup>) = 0 <1.500000>
200 8.0 fsync(4</var/backup>) = 0 <1.500000>
200 9.9 flock(3</run/lock>, LOCK_UN) = 0 <0.000010>
300 9.95 <... flock resumed>) = 0 <6.950000>
300 10.0 +++ exited with 0 +++
"""


def stamped(text: str) -> bytes:
    """The text with seconds since 1970."""
    parts = (line.split(" ", 2) for line in text.splitlines())
    return b"".join(f"{pid} {START + float(at):.6f} {rest}\n".encode() for pid, at, rest in parts)


def cut(text: bytes, *after: int) -> Iterator[dict[str, Added]]:
    """The text in pieces that end after these lines."""
    lines = text.splitlines(keepends=True)
    for start, end in zip((0, *after), (*after, len(lines)), strict=True):
        yield {"a.strace": Added(b"".join(lines[start:end]))}


@contextmanager
def last_minute(**options: Any) -> Iterator[LastMinute]:
    minute = LastMinute(**options)
    try:
        yield minute
    finally:
        minute.close()


def view_of(*pieces: dict[str, Added], silent_ns: int = 0) -> View:
    with last_minute() as minute:
        for piece in pieces:
            minute.add(piece)
        view = minute.view(silent_ns)
        assert view is not None
        return view


@pytest.mark.parametrize("after", [(), (8,), (5, 9), (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)])
def test_slices_lose_no_time(after: tuple[int, ...]) -> None:
    slices = Slices()
    found = [each for each in map(slices.next, cut(stamped(LOCKS), *after)) if each is not None]
    slices.close()
    assert found[0].start_ns == START * S
    assert found[-1].end_ns == (START + 10) * S
    assert all(one.end_ns == other.start_ns for one, other in pairwise(found))


@pytest.mark.parametrize("after", [(9,), (9, 10, 11), (3, 6, 9, 12)])
def test_a_slice_knows_programs_and_parents_of_before(after: tuple[int, ...]) -> None:
    view = view_of(*cut(stamped(LOCKS), *after))
    assert {part.program for part, ns in view.path.items() if ns} <= {"sh", "backup", "rotate"}
    whole = tracealyze.read(stamped(LOCKS)).partition_by(["program", "syscall"])
    sync_ns = next(row["exclusive_ns"] for row in whole if row["syscall"] == "fsync")
    assert sum(ns for part, ns in view.path.items() if part.syscall == "fsync") == pytest.approx(sync_ns, rel=0.01)


def test_an_open_call_has_its_age_and_who_could_end_it() -> None:
    pieces = list(cut(stamped(LOCKS), 9, 10, 11, 12))[:3]
    view = view_of(*pieces, silent_ns=5 * S)
    locks = [call for call in view.open_calls if call.syscall == "flock"]
    assert [(call.pid, call.program, call.target, call.kind) for call in locks] == [
        (300, "rotate", "/run/lock", "file lock")
    ]
    assert locks[0].ender == "holder"
    assert (locks[0].ender_pid, locks[0].ender_program) == (200, "backup")
    # Its start is at 3 s, the last line at 8 s, and fsync takes 1.5 s more.
    assert locks[0].age_ns == pytest.approx((9.5 - 3 + 5) * S, rel=0.01)


def test_a_line_that_is_being_written_is_an_open_call() -> None:
    text = b'1700000000.000000 execve("/usr/bin/nc", ["nc"], 0x0 /* 1 vars */) = 0 <0.001000>\n'
    text += b"1700000000.100000 getpid() = 5 <0.000010>\n1700000000.200000 getppid() = 4 <0.000010>\n"
    view = view_of({"a": Added(text, b"1700000001.000000 read(0, ")}, silent_ns=4 * S)
    assert [(call.program, call.syscall, call.age_ns) for call in view.open_calls] == [("nc", "read", 4 * S)]


def test_a_task_in_the_middle_of_a_request_is_not_idle() -> None:
    served = stamped(
        '100 0.0 recvfrom(9<UNIX-STREAM:[8->7,"/run/db"]>, "select", 8192, 0, NULL, NULL) = 6 <0.000010>\n'
        "100 0.1 epoll_wait(4<anon_inode:[eventpoll]>,  <unfinished ...>\n"
        '200 0.2 recvfrom(9<UNIX-STREAM:[6->5,"/run/db"]>, "select", 8192, 0, NULL, NULL) = 6 <0.000010>\n'
        '200 0.3 sendto(9<UNIX-STREAM:[6->5,"/run/db"]>, "1", 1, 0, NULL, 0) = 1 <0.000010>\n'
        "200 0.4 epoll_wait(4<anon_inode:[eventpoll]>,  <unfinished ...>\n"
    )
    later = stamped(
        "100 5.0 <... epoll_wait resumed>[], 1, -1, NULL, 8) = -1 EINTR (Interrupted system call) <4.900000>\n"
        "100 5.1 epoll_wait(4<anon_inode:[eventpoll]>,  <unfinished ...>\n"
        "300 5.2 getpid() = 300 <0.000010>\n"
    )
    # The second slice has the open calls only, not what came before them.
    view = view_of({"a": Added(served)}, {"a": Added(later)})
    assert [(call.pid, call.is_idle, call.is_asked) for call in view.open_calls] == [
        (100, False, True),
        (200, True, False),
    ]


def test_files_of_each_process_are_one_trace(tmp_path: Path) -> None:
    lines = stamped(LOCKS).splitlines(keepends=True)
    of: dict[str, list[bytes]] = {}
    for line in lines:
        task, rest = line.split(b" ", 1)
        of.setdefault(task.decode(), []).append(rest)
    for pid, part in of.items():
        kept = (each for each in part if b"resumed" not in each and b"exited" not in each)
        (tmp_path / f"t.strace.{pid}").write_bytes(b"".join(kept))
    follower = Follower(str(tmp_path / "t.strace"))
    view = view_of(dict(follower.added()))
    follower.close()
    assert {call.program for call in view.open_calls} == {"sh", "rotate"}
    assert view.calls >= 8
    (tmp_path / "t.strace.400").write_bytes(b"1700000011.000000 getpid() = 400 <0.000010>\n")
    again = Follower(str(tmp_path / "t.strace"))
    assert len(again.added()) == 4
    again.close()


def test_a_slow_call_becomes_a_finding_and_is_new_once() -> None:
    lines = ['100 0.0 execve("/usr/bin/db", ["db"], 0x0 /* 1 vars */) = 0 <0.000100>']
    lines += [f"100 {1 + at * 0.5:.1f} fsync(4</var/db>) = 0 <0.400000>" for at in range(60)]
    text = stamped("\n".join(lines) + "\n")
    with last_minute(clock_s=lambda: 0.0) as minute:
        told = []
        for piece in cut(text, 10, 40, 55):
            minute.add(piece)
            view = minute.view()
            assert view is not None
            told.append([(seen.finding.name, seen.is_new) for seen in view.findings])
    assert told[0] == []
    assert told[1] == [("slow-sync", True)]
    assert told[-1] == [("slow-sync", False)]


def test_a_search_for_findings_rests_in_proportion_to_its_cost() -> None:
    clock = iter(range(10_000))
    minute = LastMinute(clock_s=lambda: float(next(clock)))
    lines = [f"100 {at * 4:.1f} fsync(4</var/db>) = 0 <3.000000>" for at in range(600)]
    searched = []
    for piece in cut(stamped("\n".join(lines) + "\n"), *range(3, 600, 3)):
        minute.add(piece)
        view = minute.view()
        assert view is not None
        searched.append(max((seen.last_ns for seen in view.findings), default=0))
    minute.close()
    assert 1 < len(set(searched)) < len(searched) / 20


def test_lines_without_times_are_an_error() -> None:
    slices = Slices()
    with pytest.raises(UnusableInput, match="-ttt"):
        slices.next({"a": Added(b'read(3, "", 10) = 0\nclose(3) = 0\n' * 20)})
    slices.close()


def test_no_line_is_carried_twice() -> None:
    slices = Slices()
    for piece in cut(stamped(LOCKS), 3, 6, 8):
        slices.next(piece)
        carried = slices.carried()["a.strace"].splitlines()
        assert len(carried) == len(set(carried))
        stamps = [float(line.split()[1]) for line in carried]
        assert stamps == sorted(stamps)
    slices.close()


def test_a_carriage_return_ends_no_line() -> None:
    text = stamped(LOCKS).splitlines(keepends=True)
    text.insert(2, b"downloading 10%\rdownloading 20%\r\n")
    whole = b"".join(text)
    view = view_of(*cut(whole, 9, 10, 11))
    assert {call.program for call in view.open_calls} <= {"sh"}
    assert {part.program for part, ns in view.path.items() if ns} <= {"sh", "backup", "rotate"}


def test_text_that_is_no_trace_is_an_error() -> None:
    slices = Slices()
    with pytest.raises(UnusableInput):
        slices.next({"a": Added(b"no trace at all, only words\n" * 40_000)})
    slices.close()


def test_nothing_is_shown_before_something_is_recognised() -> None:
    slices = Slices()
    assert slices.next({"a": Added(b"strace: Process 100 attached\n")}) is None
    found = slices.next({"a": Added(stamped("100 1.0 getpid() = 100 <0.000010>\n"))})
    slices.close()
    assert found is not None


def test_a_follower_takes_whole_lines_and_sees_a_file_that_begins_anew(tmp_path: Path) -> None:
    file = tmp_path / "t.strace"
    file.write_bytes(b"one\ntw")
    follower = Follower(str(file))
    assert follower.added()[str(file)] == Added(b"one\n", b"tw")
    with file.open("ab") as stream:
        stream.write(b"o\n")
    assert follower.added()[str(file)] == Added(b"two\n", b"")
    file.write_bytes(b"3\n")
    assert follower.added()[str(file)] == Added(b"3\n", b"")
    follower.close()


def test_a_line_without_an_end_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracealyze.capture.follow._MAX_LINE_BYTES", 8)
    file = tmp_path / "t.strace"
    file.write_bytes(b"0" * 20)
    follower = Follower(str(file))
    assert follower.added()[str(file)] == Added(b"0" * 20, b"")
    follower.close()


def test_of_a_long_file_the_end_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracealyze.capture.follow._MAX_FIRST_BYTES", 8)
    file = tmp_path / "t.strace"
    file.write_bytes(b"first\nsecond\nthird\n")
    follower = Follower(str(file))
    assert follower.added()[str(file)].lines == b"third\n"
    follower.close()


@pytest.mark.parametrize(("name", "error"), [("none.strace", UnreadableCapture), ("a.zst", WrongUsage)])
def test_what_cannot_be_followed_is_an_error(name: str, error: type[Exception], tmp_path: Path) -> None:
    with pytest.raises(error, match=name):
        Follower(str(tmp_path / name))


@pytest.mark.skipif(sys.platform == "darwin", reason="names of files are UTF-8 there")
def test_a_name_that_is_not_text_cannot_be_followed(tmp_path: Path) -> None:
    file = tmp_path / os.fsdecode(b"\xff.strace")
    file.write_bytes(b"")
    with pytest.raises(UnreadableCapture, match="the file name is not UTF-8"):
        Follower(str(file))


STATE = State("app.strace", S)


def texts(view: View | None, state: State = STATE, size: tuple[int, int] = (80, 24)) -> list[str]:
    return ["".join(text for text, _ in line) for line in screen(view, state, size, UNICODE)]


@pytest.fixture
def waiting() -> View:
    return view_of(*list(cut(stamped(LOCKS), 9, 10, 11, 12))[:3], silent_ns=5 * S)


@pytest.mark.parametrize("size", [(80, 24), (160, 50), (40, 10), (20, 4)])
@pytest.mark.parametrize("has_help", [False, True])
def test_a_screen_has_the_size_of_its_terminal(size: tuple[int, int], has_help: bool, waiting: View) -> None:
    lines = texts(waiting, replace(STATE, has_help=has_help), size)
    assert len(lines) == size[1]
    assert all(len(line) <= size[0] for line in lines)


def test_a_screen_says_what_waits(waiting: View) -> None:
    lines = texts(waiting)
    assert lines[0].startswith("app.strace  22:13:")
    assert lines[1] == "No line for 5.0 s: 2 calls open."
    assert "  11.5 s 300 rotate  flock LOCK_EX /run/lock, held by 200 backup" in lines
    assert lines[-1].startswith("q report and end")


def test_a_screen_waits_for_the_first_lines() -> None:
    assert texts(None)[0] == "app.strace  waiting for the first lines"


def test_a_screen_in_ascii_is_ascii(waiting: View) -> None:
    lines = screen(waiting, STATE, (80, 24), ASCII)
    assert all(text.isascii() for line in lines for text, _ in line)


def test_names_of_a_trace_do_not_control_the_terminal() -> None:
    text = LOCKS.replace("/run/lock", "/run/\\33[31m\x1b[2J\x07lock")
    view = view_of(*list(cut(stamped(text), 9, 11))[:2])
    shown = "\n".join(texts(view, size=(160, 24))) + line_of(view)
    assert not any(ord(character) < 32 and character != "\n" for character in shown)


def test_keys_change_the_state() -> None:
    assert _after(" ", STATE).is_paused
    assert _after("h", STATE).has_help
    assert _after("g", _after("g", _after("g", STATE))) == STATE
    assert _after("+", STATE).interval_ns == 2 * S
    assert _after("x", STATE) == STATE


@pytest.mark.parametrize(("group", "first"), [(0, "backup fsync"), (1, "backup"), (2, "outside syscalls")])
def test_the_path_is_grouped_as_wanted(group: int, first: str, waiting: View) -> None:
    lines = texts(waiting, replace(STATE, group=group))
    assert lines[3].endswith(f" {first}")


def test_the_document_fits_its_schema(waiting: View) -> None:
    jsonschema.validate(json.loads(json.dumps(document(waiting))), SCHEMA)


def test_without_a_terminal_each_interval_is_a_line(strace: Callable[[str], Path], call: Call) -> None:
    path = strace(stamped(LOCKS).decode())
    code, out, _ = call("watch", path, "--for", "0s")
    assert code == 0
    assert "backup fsync" in out
    code, out, _ = call("watch", path, "--for", "0s", "--json")
    assert code == 0
    jsonschema.validate(json.loads(out.splitlines()[-1]), SCHEMA)


def test_a_pipe_is_read_to_its_end() -> None:
    command = [sys.executable, "-m", "tracealyze", "watch", "-", "--json", "--interval", "100ms"]
    done = subprocess.run(command, input=stamped(LOCKS), capture_output=True, timeout=_TIMEOUT_S, check=True)
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["end_ns"] >= (START + 10) * S


@contextmanager
def in_terminal(*arguments: str) -> Iterator[tuple[int, int]]:
    """A command with a terminal of its own: pid, and the other side of the terminal."""
    pid, side = pty.fork()
    if pid == 0:
        os.environ |= {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}
        os.execv(sys.executable, [sys.executable, "-m", "tracealyze", *arguments])
    try:
        yield pid, side
    finally:
        os.close(side)
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


def read_until(side: int, wanted: bytes) -> bytes:
    """What is drawn until these bytes appear."""
    text = b""
    while wanted not in text:
        ready, _, _ = select.select([side], [], [], _TIMEOUT_S)
        assert ready, text
        try:
            text += os.read(side, 65536)
        except OSError:
            break
    assert wanted in text, text
    return text


def test_a_screen_ends_with_the_report(strace: Callable[[str], Path]) -> None:
    path = strace(stamped(LOCKS).decode())
    with in_terminal("watch", str(path)) as (pid, side):
        read_until(side, b"Critical path")
        os.write(side, b"h")
        read_until(side, b"print the report of the whole trace")
        os.write(side, b"q")
        # The alternate screen is left before the report.
        report = read_until(side, b"next: ")
        assert b"\x1b[?1049l" in report
        assert b"10.00 s" in report
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_a_recording_needs_a_terminal_of_its_own(call: Call) -> None:
    code, _, err = call("record", "--live", "--", "true")
    assert code == 2
    assert "--live needs a terminal" in err or "--live draws on the terminal" in err
