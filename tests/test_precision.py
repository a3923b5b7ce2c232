"""Clocks of whole seconds: durations show their precision, and rounding is not mistaken for a delay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run

import tracealyze

Output = Callable[..., str]

SYSLOG = """\
Nov 21 07:45:21 host svc.startd[7]: The system is coming down.
Nov 21 07:45:22 host syslogd: going down on signal 15
Nov 21 07:45:{} host rpcbind: terminating
Nov 21 07:45:{} host nfsd: stopped
"""
STRACE = """\
100 10:00:00 execve("/bin/tool", ["tool"], 0x7ffd /* 1 var */) = 0{}
100 10:00:01 read(3, "x", 1) = 1{}
100 10:00:06 fsync(3) = 0{}
100 10:00:07 exit_group(0) = ?
"""
DMESG = """\
[Thu Mar  5 19:43:34 2009] md: stopping all md devices.
[Thu Mar  5 19:43:39 2009] ACPI: Preparing to enter system sleep state S5
"""


@pytest.fixture
def output(run: Run, tmp_path: Path) -> Output:
    """The output of a command for a text, without line breaks."""

    def of(text: str, command: str = "summarize") -> str:
        file = tmp_path / "capture"
        file.write_text(text, encoding="utf-8")
        shown = run(command, file)
        assert shown.returncode == 0, shown.stderr
        return " ".join((shown.stdout + shown.stderr).split())

    return of


@pytest.mark.parametrize(
    "text", [SYSLOG.format(25, 29), STRACE.replace("{}", ""), DMESG], ids=["syslog", "strace", "dmesg"]
)
def test_durations_show_a_clock_of_whole_seconds(text: str, output: Output) -> None:
    shown = output(text)
    assert "Timestamp resolution: 1 s, so each duration is accurate to ±1 s only." in shown
    assert "5 s ±1 s" in shown or "4 s ±1 s" in shown
    assert "Shares of the window are accurate to ±" in shown
    _, heading, path = shown.partition("Critical path")
    assert heading and ".0" not in path.replace("10.0", "")


def test_calls_with_finer_durations_are_marked(output: Output) -> None:
    shown = output(STRACE.format(" <0.000100>", " <4.900100>", " <0.800000>"))
    assert "so time on the critical path is accurate to ±1 s only; the resolution of call durations is 1 µs." in shown
    assert "4.900" in shown


@pytest.mark.parametrize("seconds", [(24, 25), (26, 31), (32, 42)])
def test_clock_of_whole_seconds_suggests_no_fixed_delay(seconds: tuple[int, int], output: Output) -> None:
    shown = output(SYSLOG.format(*seconds))
    assert "fixed delay" not in shown
    assert "round-gap" not in shown


def test_round_silence_by_a_fine_clock_suggests_a_delay(output: Output) -> None:
    log = "[    1.000000] md: stopping\n[    {}] ACPI: off\n"
    assert "about 5 whole seconds, so this is probably a fixed delay" in output(log.format("6.003000"))
    # Each duration of a minute and more is within 1% of a whole second.
    assert "fixed delay" not in output(log.format("74.300000"))


def test_silences_of_one_length_quote_their_own_lines(tmp_path: Path) -> None:
    """Both quoted the lines of the first one."""
    file = tmp_path / "two.log"
    stamps = (("1.000000", "one"), ("4.500000", "two"), ("8.000000", "three"))
    file.write_text("".join(f"[    {stamp}] {name}: stopping\n" for stamp, name in stamps), encoding="utf-8")
    found = [finding for finding in tracealyze.read(file).findings if finding.name == "silent-gap"]
    assert sorted(finding.lines for finding in found) == [(1, 2), (2, 3)]


def test_hidden_gaps_are_described_in_steps_of_the_clock(output: Output) -> None:
    assert "gaps shorter than 1 s" in output(SYSLOG.format(25, 29), "gaps")
