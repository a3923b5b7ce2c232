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
