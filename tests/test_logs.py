"""Findings about logs: what they state, and which message a silence belongs to."""

from __future__ import annotations

from pathlib import Path

import pytest

import tracealyze
from tracealyze.findings.finding import Finding

_SLOW_DISK = """\
2021-03-02 10:11:12.345678 W | wal: sync duration of 7.604s, expected less than 1s
2021-03-02 10:11:12.400000 I | api: compacted
2021-03-02 10:11:13.000000 I | api: purged file 0000
"""
_STOP = """\
[   10.000000] {begin}
[   10.100000] usb 1-1: USB disconnect, device number 4
[  100.000000] {end}
[  100.500000] init: bye
"""


def _findings(tmp_path: Path, text: str) -> list[Finding]:
    log = tmp_path / "own.log"
    log.write_text(text)
    return tracealyze.read(str(log)).findings


def test_costs_of_logs_are_inferred(tmp_path: Path) -> None:
    for text in (_SLOW_DISK, _STOP.format(begin="db: shutting down", end="db: shut down complete")):
        found = _findings(tmp_path, text)
        assert found
        assert {each.confidence for each in found} == {"inferred"}


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("systemd[1]: Stopping Foo...", "systemd[1]: Stopped Foo."),
        ("nginx: stopping workers", "nginx: workers stopped"),
        ("db: shutting down", "db: shut down complete"),
    ],
)
def test_bystander_does_not_get_the_blame(tmp_path: Path, begin: str, end: str) -> None:
    (found,) = _findings(tmp_path, _STOP.format(begin=begin, end=end))
    assert found.name == "silent-gap"
    assert found.target == begin
    assert "usb" not in found.message


def test_stated_duration_outlasts_a_short_log(tmp_path: Path) -> None:
    (found,) = _findings(tmp_path, _SLOW_DISK)
    assert (found.name, found.severity, found.basis, found.share) == ("stated-duration", "warning", "elapsed", None)
    assert found.impact_ns == (0, 7_604_000_000)
    assert "7.604s" in found.diagnosis


def test_long_log_does_not_lead_with_what_preceded_it(tmp_path: Path) -> None:
    later = "2021-03-02 11:11:12.400000 I | api: compacted\n2021-03-02 11:31:13.000000 I | api: purged\n"
    found = _findings(tmp_path, _SLOW_DISK + later)
    assert "stated-duration" not in {each.name for each in found}


@pytest.mark.parametrize(
    "line",
    [
        "2024-05-01 12:00:08.300 UTC [420] LOG:  duration: 8123.456 ms  statement: SELECT 1",
        "[  363.123456] INFO: task jbd2/sda1-8:215 blocked for more than 120 seconds.",
    ],
)
def test_one_line_with_a_long_duration_is_a_warning(tmp_path: Path, line: str) -> None:
    (found,) = _findings(tmp_path, line + "\n")
    assert (found.name, found.severity) == ("stated-duration", "warning")


def test_attributes_of_limits_state_nothing(tmp_path: Path) -> None:
    head = '{"time":"2024-05-01T12:00:0%s.000Z","level":"info","msg":"up",%s}\n'
    limits = ('"timeout_ms":30000', '"max_duration":"30s"', '"uptime_seconds":86400', '"status":200')
    text = "".join(head % (number, limit) for number, limit in enumerate(limits))
    assert not [each for each in _findings(tmp_path, text) if each.name == "stated-duration"]


def test_rest_of_a_device_is_no_silence(tmp_path: Path) -> None:
    """The hour of sleep was blamed on the message before it."""
    lines = (
        "[   10.000000] ata2: configured",
        "[ 3610.000000] ata2: wake up from sleep",
        "[ 3611.000000] ata2: link up",
    )
    assert _findings(tmp_path, "\n".join(lines) + "\n") == []


def test_gap_across_left_out_lines_is_no_silence(tmp_path: Path) -> None:
    lines = ["[ 10.000000] a: one", "[ 10.400000] a: two", "[...]", "[ 70.000000] b: three", "[ 70.300000] b: four"]
    names = {each.name for each in _findings(tmp_path, "\n".join(lines) + "\n")}
    assert not names & {"silent-gap", "round-gap"}
    del lines[2]
    assert "silent-gap" in {each.name for each in _findings(tmp_path, "\n".join(lines) + "\n")}


def test_heartbeat_stays_a_rhythm(tmp_path: Path) -> None:
    text = "".join(f"[   {at}.000000] monitor: Checking the queue...\n" for at in range(10, 80, 7))
    assert "silent-gap" not in {each.name for each in _findings(tmp_path, text)}


def test_failed_logins_do_not_end_a_wait(tmp_path: Path) -> None:
    text = "".join(f"[   {at}.000000] sshd[7]: Failed password for ada from 10.0.0.7\n" for at in (10, 39, 71, 99))
    assert not any("until" in each.diagnosis for each in _findings(tmp_path, text))


def test_repeated_progress_of_one_job_counts_once(tmp_path: Path) -> None:
    """Two lines with the same second were two jobs."""
    text = "".join(f"[ ***  ] A stop job is running for Foo ({at}s / 1min 30s)\n" * 2 for at in (20, 21, 22))
    (found,) = _findings(tmp_path, text)
    assert "such messages" not in found.message
    assert "22s" in found.diagnosis


def test_backup_beside_the_job_promises_nothing(tmp_path: Path) -> None:
    text = "[    1.000000] web: ready\n[   61.000000] cron: backup took 55 s\n[   62.000000] web: GET /\n"
    assert all(each.severity == "info" for each in _findings(tmp_path, text))
