"""Each way in which a recording can end, through every command that reads captures."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import recordings
from conftest import Run
from recordings import BEGAN_NS, ENDINGS, S

import tracealyze
from tracealyze.base.errors import ExitCode
from tracealyze.commands._cli import main

_FILE, _FOLDER = "FILE", "FOLDER"

ANSWERED = (
    *(("summarize",), ("summarize", "--full"), ("summarize", "--json"), ("summarize", "--format", "csv")),
    *(("summarize", "--format", "markdown"), ("summarize", "--brief"), ("summarize", "--each", _FILE)),
    *(("report", "-o", f"{_FOLDER}/page.html"), ("report", "--before", _FILE, "-o", f"{_FOLDER}/two.html")),
    *(("baseline", "create", "-o", f"{_FOLDER}/baseline.json"), ("top-syscalls",), ("top-syscalls", "--json")),
    *(("tree",), ("critical-path",), ("critical-path", "--json"), ("loops",), ("gaps",), ("events",)),
    *(("events", "--json"), ("stages",), ("timeline",), ("diff", _FILE), ("doctor",)),
    *(("redact", "-o", f"{_FOLDER}/redacted.strace.zst"),),
)
"""Commands with an answer for any recording."""

_EXPORTS = ("perfetto", "chrome", "folded", "speedscope", "pprof", "jsonl", "svg", "parquet")
JUDGED = (
    *(("check", "--budget", "processes <= 9"), ("check", "--baseline", f"{_FOLDER}/baseline.json")),
    *(("export", "--to", name, "-o", f"{_FOLDER}/export.{name}") for name in _EXPORTS),
    *(("top-syscalls", "--pid", "100"), ("summarize", "--from", "+0.1", "--to", "+0.5")),
)
"""Those that may say instead that there is nothing to judge, to export or to select."""


def _code(arguments: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setattr(sys, "argv", ["tracealyze", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


@pytest.mark.parametrize("ending", ENDINGS)
def test_each_end_of_a_recording_is_read_by_every_command(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A null in the metadata ended five commands with a traceback, and an empty recording had an unknown format."""
    file = str(recordings.write(tmp_path / "a.strace.zst", *ENDINGS[ending]))
    monkeypatch.chdir(tmp_path)
    failed = []
    for command in (*ANSWERED, *JUDGED):
        words = [word.replace(_FILE, file).replace(_FOLDER, str(tmp_path)) for word in command]
        code = _code([*words, file], monkeypatch)
        error = capsys.readouterr().err
        if code == ExitCode.BUG or (command in ANSWERED and code):
            failed.append((command, code, error))
    assert failed == []


@pytest.mark.parametrize("ending", ["detached", "empty", "hostile"])
def test_each_end_of_a_recording_can_be_indexed(ending: str, tmp_path: Path, run: Run) -> None:
    file = recordings.write(tmp_path / "a.strace.zst", *ENDINGS[ending])
    done = run("fleet", "index", "--store", tmp_path / "store", "--workers", "1", file)
    assert (done.returncode, done.stderr.count("bug")) == (0, 0), done.stderr


@pytest.mark.parametrize("ending", ["time limit", "interrupt"])
def test_calls_that_are_open_last_until_the_tracer_lets_go(ending: str, tmp_path: Path) -> None:
    """The capture seemed to end with its last line, 5 ms after its begin."""
    trace = tracealyze.read(recordings.write(tmp_path / "a.strace.zst", *ENDINGS[ending]))
    assert trace.window.wall_ns == S
    (row,) = [row for row in trace.partition.dicts() if row["syscall"] == "clock_nanosleep"]
    assert row["exclusive_ns"] == S - 2_000_000


def test_time_without_calls_lasts_until_the_tracer_lets_go(tmp_path: Path) -> None:
    trace = tracealyze.read(recordings.write(tmp_path / "a.strace.zst", *ENDINGS["size limit"]))
    assert trace.window.wall_ns == S
    assert max(trace.partition.dicts(), key=lambda row: row["exclusive_ns"])["class"] == "user"


def test_capture_of_open_calls_only_has_durations_and_a_window(tmp_path: Path) -> None:
    trace = tracealyze.read(recordings.write(tmp_path / "a.strace.zst", *ENDINGS["detached"]))
    assert trace.captures[0].dur_kind == "exact"
    assert (trace.window.start_ns, trace.window.end_ns) == (BEGAN_NS, BEGAN_NS + 2 * S)
    (row,) = trace.table("open_calls").dicts()
    assert (row["seen_ns"], row["program"]) == (2 * S, "/usr/bin/cat")


def test_end_of_tracing_is_the_same_in_a_redacted_recording(tmp_path: Path) -> None:
    file = recordings.write(tmp_path / "a.strace.zst", *ENDINGS["detached"])
    tracealyze.redact(file, tmp_path / "b.strace.zst")
    assert tracealyze.read(tmp_path / "b.strace.zst").window.wall_ns == 2 * S


def test_attached_processes_have_their_parents(tmp_path: Path) -> None:
    lines = (f"{pid} 1700000000.{pid}000000 accept(3<TCP:[0.0.0.0:80]>, <detached ...>\n" for pid in (100, 101, 102))
    known = (("master", 100, 1), ("worker", 101, 100), ("worker", 102, 101))
    begin = recordings.snapshot(*(recordings.process(pid, name, parent=parent) for name, pid, parent in known))
    trace = tracealyze.read(recordings.write(tmp_path / "a.zst", "".join(lines), recordings.attached(begin)))
    tasks = trace.tasks.to_pandas()
    assert dict(zip(tasks.pid, tasks.creator_pid.fillna(0), strict=True)) == {100: 0, 101: 100, 102: 101}
