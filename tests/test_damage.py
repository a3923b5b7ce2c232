"""Damage that people do to captures when they paste them: lines left out, reversed, torn."""

from __future__ import annotations

from pathlib import Path

from conftest import Run

import tracealyze

_ELIDED = """1795224170.658193 execve("/usr/bin/tool", ["tool"], 0x7ffd /* 12 vars */) = 0 <0.000412>
...
1795224171.100000 read(3, "abc", 4096) = 3 <0.000012>
[...]
1795224171.200000 fsync(4) = 0 <2.100000>
[snip]
-- 200 lines omitted --
1795224173.400000 write(4, "x", 1) = 1 <0.000012>
(…)
<snip>
1795224175.800000 exit_group(0) = ?
"""

_NEWEST_FIRST = """Mar 05 19:45:05 host systemd[1]: Reached target Shutdown.
Mar 05 19:45:04 host systemd[1]: Stopped Foo Service.
Mar 05 19:45:04 host systemd[1]: foo.service: State 'stop-sigterm' timed out. Killing.
Mar 05 19:43:34 host systemd[1]: Stopping Foo Service...
Mar 05 19:43:30 host systemd[1]: Stopping Bar Service...
Mar 05 19:43:20 host systemd[1]: Stopping Baz Service...
"""


def _capture(folder: Path, text: str) -> str:
    path = folder / "capture"
    path.write_text(text)
    return str(path)


def test_marks_of_left_out_lines_are_named_and_no_loss(run: Run, tmp_path: Path) -> None:
    path = _capture(tmp_path, _ELIDED)
    trace = tracealyze.read(path)
    assert trace.accounting == {"call": 5, "elision": 6}
    report = run("summarize", path).stdout
    assert "Lines were left out by hand at 6 marks (first: line 2)" in report
    assert "lossy-capture" not in report and "could not be used" not in report


def test_a_log_with_its_newest_line_first_reads_like_the_log_itself(tmp_path: Path) -> None:
    (tmp_path / "reversed").mkdir()
    forward = tracealyze.read(_capture(tmp_path, "".join(reversed(_NEWEST_FIRST.splitlines(True)))))
    backward = tracealyze.read(_capture(tmp_path / "reversed", _NEWEST_FIRST))
    tick_ns = 1_000_000_000
    rounded = [
        [(gap["before"], gap["after"], round(gap["dur_ns"] / tick_ns)) for gap in trace.gaps if gap["dur_ns"] > 9]
        for trace in (forward, backward)
    ]
    assert rounded[0] == rounded[1]
    assert rounded[0][0] == (
        "systemd[1]: Stopping Foo Service...",
        "systemd[1]: foo.service: State 'stop-sigterm' timed out. Killing.",
        90,
    )
    assert backward.captures[0].backward_steps == 0 and backward.captures[0].is_newest_first


def test_a_torn_first_line_is_no_call_and_moves_no_time(tmp_path: Path) -> None:
    whole = '1795224171.100000 read(3, "abc", 4096) = 3 <0.000012>\n1795224175.800000 exit_group(0) = ?\n'
    torn = '00.000000 openat(AT_FDCWD, "/etc/x", O_RDONLY) = 3 <0.000015>\n'
    for start in (torn, 'ead(3, "abc", 4096) = 3 <0.000012>\n', '4.090000 read(3, "", 1) = 0 <0.000012>\n'):
        trace = tracealyze.read(_capture(tmp_path, start + whole))
        assert trace.accounting == {"call": 2, "foreign": 1}, start
        assert trace.window.wall_ns == tracealyze.read(_capture(tmp_path, whole)).window.wall_ns


_TWO_TRACERS = """1234 1795224170.658193 read(3, "x", 1) = 1 <0.000012>
1234 1795224170.758193 openat(AT_FDCWD, "/etc/x", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000012>
1234 1795224170.858193 close(3) = 0 <0.000012>
12200:\t 4.5917\t 0.0395\t 0.0002\tioctl(3, ZFS_IOC_OBJSET_STATS, 0x08046390)\t= 0
12200:\t 4.5950\t 0.0029\t 0.0001\topen("/etc/passwd", O_RDONLY)\t\t= 4
"""


def test_lines_of_another_tracer_are_named_and_no_calls(run: Run, tmp_path: Path) -> None:
    path = _capture(tmp_path, _TWO_TRACERS)
    trace = tracealyze.read(path)
    assert trace.accounting == {"call": 3, "other_format": 2}
    report = run("summarize", path).stdout
    assert "2 of truss-solaris (lines 4 to 5)" in report and "lossy-capture" in report


def test_durations_of_another_run_make_no_duration_exact(tmp_path: Path) -> None:
    text = "20:37:49.000112 close(3) = 0\n20:37:50.000312 close(4) = 0\n20:37:50.000412 close(5) = 0\n"
    trace = tracealyze.read(_capture(tmp_path, text + "4711 1700000000.000112 close(3) = 0 <0.000005>\n"))
    assert trace.captures[0].dur_kind == "upper-bound"
    (loss,) = trace.captures[0].losses
    assert loss.formats == {"strace": [1, 4, 4]}


def test_quoted_command_does_not_hide_the_only_calls(tmp_path: Path) -> None:
    file = tmp_path / "quoted.txt"
    file.write_text(
        "[root@box ~]# sudo strace -p 572\n"
        "Process 572 attached\n"
        "futex(0x6264ac, FUTEX_WAIT_PRIVATE, 961, NULL) = 0\n"
        "futex(0x6264ac, FUTEX_WAIT_PRIVATE, 962, NULL^CProcess 572 detached\n",
        encoding="utf-8",
    )
    sentence, remark = tracealyze.read(file).summary().diagnosis
    assert sentence.text.startswith("When the capture ends, pid 572 is still in futex"), sentence.text
    assert remark.text.startswith("Another thread of the process has to end this wait"), remark.text
