"""A log next to a capture of calls: the silence of the log is explained by the call."""

from __future__ import annotations

from pathlib import Path

import tracealyze
from tracealyze.trace.together.meanwhile import meanwhile, moments
from tracealyze.trace.together.shared_axis import extent_of

_CALLS = """7 1764374400.100000 execve("/usr/bin/app", ["app"], 0x7ffd /* 1 var */) = 0 <0.001000>
7 1764374400.200000 connect(3, {sa_family=AF_INET, sin_port=htons(5432), sin_addr=inet_addr("10.0.0.9")}) = 0 <9.800000>
7 1764374410.020000 exit_group(0) = ?
"""
_LOG = """2025-11-29T00:00:00.150000+00:00 host app[7]: starting
2025-11-29T00:00:00.190000+00:00 host app[7]: connecting
2025-11-29T00:00:10.005000+00:00 host app[7]: connected
2025-11-29T00:00:10.015000+00:00 host app[7]: ready
"""


def _told(folder: Path, log: str) -> list[str]:
    (folder / "a.strace").write_text(_CALLS)
    (folder / "a.log").write_text(log)
    traces = [tracealyze.read(folder / name) for name in ("a.strace", "a.log")]
    return [each.text for each in meanwhile(moments(trace, extent_of(trace)) for trace in traces)]


def test_silence_within_a_call_is_explained_by_it(tmp_path: Path) -> None:
    (text,) = _told(tmp_path, _LOG)
    assert '"app[7]: connecting" and "app[7]: connected"' in text
    assert "app (pid 7) waits in connect of 10.0.0.9:5432" in text


def test_json_of_both_has_it(tmp_path: Path) -> None:
    _told(tmp_path, _LOG)
    both = tracealyze.read([tmp_path / "a.strace", tmp_path / "a.log"])
    (member,) = both.summary().parts()["meanwhile"]
    assert (member["silence"]["line"], member["wait"]["syscall"]) == (2, "connect")


def test_silence_of_another_time_is_not(tmp_path: Path) -> None:
    assert _told(tmp_path, _LOG.replace("2025-11-29T00", "2025-11-29T05")) == []
