"""Clocks of whole seconds: lengths have the precision that is told, and rounding is not taken for a delay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run

import tracealyze

Told = Callable[..., str]

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
def told(run: Run, tmp_path: Path) -> Told:
    """What a command says about a text, without line breaks."""

    def say(text: str, command: str = "summarize") -> str:
        file = tmp_path / "capture"
        file.write_text(text, encoding="utf-8")
        shown = run(command, file)
        assert shown.returncode == 0, shown.stderr
        return " ".join((shown.stdout + shown.stderr).split())

    return say


@pytest.mark.parametrize(
    "text", [SYSLOG.format(25, 29), STRACE.replace("{}", ""), DMESG], ids=["syslog", "strace", "dmesg"]
)
def test_lengths_by_a_clock_of_whole_seconds_say_so(text: str, told: Told) -> None:
    said = told(text)
    assert "Timestamp resolution: 1 s, so each duration is accurate to ±1 s only." in said
    assert "5 s ±1 s" in said or "4 s ±1 s" in said
    assert "Shares of it are accurate to ±" in said
    assert ".0" not in said.partition("Where the time went")[2].replace("10.0", "")


def test_calls_that_are_measured_more_finely_are_told_so(told: Told) -> None:
    said = told(STRACE.format(" <0.000100>", " <4.900100>", " <0.800000>"))
    assert "so time on the critical path is accurate to ±1 s only; the resolution of call durations is 1 µs." in said
    assert "4.900" in said


@pytest.mark.parametrize("seconds", [(24, 25), (26, 31), (32, 42)])
def test_a_clock_of_whole_seconds_suspects_no_fixed_delay(seconds: tuple[int, int], told: Told) -> None:
    said = told(SYSLOG.format(*seconds))
    assert "fixed delay is suspected" not in said
    assert "round-gap" not in said


def test_a_silence_of_a_round_second_by_a_fine_clock_is_suspected(told: Told) -> None:
    log = "[    1.000000] md: stopping\n[    {}] ACPI: off\n"
    assert "within 1% of 5 whole seconds, so this is probably a fixed delay" in told(log.format("6.003000"))
    # Each time of a minute and more is within 1% of a whole second.
    assert "fixed delay" not in told(log.format("74.300000"))


def test_silences_of_one_length_are_proved_by_their_own_lines(tmp_path: Path) -> None:
    """They were both proved by the first one."""
    file = tmp_path / "two.log"
    stamps = (("1.000000", "one"), ("4.500000", "two"), ("8.000000", "three"))
    file.write_text("".join(f"[    {stamp}] {name}: stopping\n" for stamp, name in stamps), encoding="utf-8")
    found = [finding for finding in tracealyze.read(file).findings if finding.name == "silent-gap"]
    assert sorted(finding.lines for finding in found) == [(1, 2), (2, 3)]


def test_what_is_left_out_is_told_in_steps_of_the_clock(told: Told) -> None:
    assert "gaps shorter than 1 s" in told(SYSLOG.format(25, 29), "gaps")
