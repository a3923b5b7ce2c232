"""The file that `record` writes: text in frames, and metadata that other readers of zstd step over."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import Run

import tracealyze
from tracealyze.capture.capture_file import CaptureFile, RingFile
from tracealyze.capture.tracer import Profile, Tracer
from tracealyze.model.capture_input.recorded import Recorded, metadata_frame, read_metadata, recorded

FACTS = {"record": 1, "argv": ["true"], "labels": {"version": "4.2"}}


def _lines(first: int, last: int) -> bytes:
    return b"".join(b"7 1700000000.%06d close(%d) = 0 <0.000001>\n" % (number, number) for number in range(first, last))


def _calls(path: Path) -> list[int]:
    return [int(text.split("(")[1].split(")")[0]) for text in tracealyze.read(path).quote(range(1, 100_000)) if text]


def test_metadata_at_the_end_updates_that_at_the_start(tmp_path: Path) -> None:
    capture = CaptureFile(str(tmp_path / "a.strace.zst"), FACTS)
    capture.write(_lines(0, 100))
    capture.close({"ended": "exit", "exit": 3})
    assert read_metadata(str(tmp_path / "a.strace.zst")) == FACTS | {"ended": "exit", "exit": 3}
    assert _calls(tmp_path / "a.strace.zst") == list(range(100))


def test_complete_frames_are_readable_without_an_end(tmp_path: Path) -> None:
    capture = CaptureFile(str(tmp_path / "a.strace.zst"), FACTS)
    capture.write(_lines(0, 100))
    capture.end_frame()
    capture.write(_lines(100, 200))
    assert read_metadata(str(tmp_path / "a.strace.zst")) == FACTS
    assert _calls(tmp_path / "a.strace.zst") == list(range(100))
    capture.close({})


def test_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "a.strace.zst"
    file.write_bytes(b"precious")
    with pytest.raises(FileExistsError):
        CaptureFile(str(file), FACTS)
    with pytest.raises(FileExistsError):
        RingFile(str(file), FACTS, 1 << 20)
    assert file.read_bytes() == b"precious"
    CaptureFile(str(file), FACTS, overwrites=True).close({})
    assert read_metadata(str(file)) == FACTS


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("is_ring", [False, True])
def test_what_is_not_a_regular_file_is_not_overwritten(kind: str, is_ring: bool, tmp_path: Path) -> None:
    """A pipe blocked, and a device was removed with a capture that was discarded."""
    file = tmp_path / "a.strace.zst"
    if kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to(os.devnull)
    with pytest.raises(OSError, match="not a regular file"):
        RingFile(str(file), FACTS, 1 << 20, overwrites=True) if is_ring else CaptureFile(
            str(file), FACTS, overwrites=True
        )
    assert list(tmp_path.iterdir()) == [file]
    assert file.is_fifo() or file.is_symlink()


@pytest.mark.parametrize(
    "content", [b"", b"x", b"7 close(3) = 0\n" * 9, b"\x5c\x2a\x4d\x18\xff\xff\xff\x7f" + b"x" * 99]
)
def test_other_files_have_no_metadata(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").write_bytes(content)
    assert read_metadata(str(tmp_path / "a")) == {}


def test_damaged_end_leaves_the_metadata_of_the_start(tmp_path: Path) -> None:
    file = tmp_path / "a.strace.zst"
    capture = CaptureFile(str(file), FACTS)
    capture.write(_lines(0, 100))
    capture.close({"ended": "exit"})
    whole = file.read_bytes()
    for size in range(len(whole) - 1, whole.index(b"tlzemeta") + 8, -7):
        file.write_bytes(whole[:size])
        assert read_metadata(str(file)) == FACTS


def test_ring_keeps_the_last_lines_in_order(tmp_path: Path) -> None:
    file = tmp_path / "a.strace.zst"
    limit = 40_000
    ring = RingFile(str(file), FACTS, limit)
    for first in range(0, 60_000, 100):
        ring.write(_lines(first, first + 100))
    ring.close({"ended": "exit"})
    kept = _calls(file)
    assert kept == list(range(kept[0], 60_000))
    assert kept[0] > 0
    # One of eight parts may be empty, and one may exceed its size by a frame.
    assert limit * 3 / 4 < file.stat().st_size < limit * 5 / 4
    assert read_metadata(str(file))["dropped_parts"] > 0
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


def test_parts_of_an_open_ring_are_readable(tmp_path: Path) -> None:
    ring = RingFile(str(tmp_path / "a.strace.zst"), FACTS, 40_000)
    for first in range(0, 60_000, 500):
        ring.write(_lines(first, first + 500))
    parts = sorted(tmp_path.glob("a-part*.strace.zst"), key=lambda file: file.stat().st_mtime_ns)
    assert len(parts) > 2
    assert all(read_metadata(str(part)) == FACTS for part in parts)
    ring.close({})


@pytest.mark.parametrize("is_ring", [False, True])
def test_what_was_complete_before_a_full_disk_is_readable(tmp_path: Path, is_ring: bool) -> None:
    file = tmp_path / "a.strace.zst"
    capture = RingFile(str(file), FACTS, 40_000) if is_ring else CaptureFile(str(file), FACTS)
    for first in range(0, 20_000, 500):
        capture.write(_lines(first, first + 500))
    capture.end_frame()
    capture._file.write(b"half of a frame")
    capture.abandon({"ended": "a full disk"})
    kept = _calls(file)
    assert kept == list(range(kept[0], 20_000))
    assert read_metadata(str(file))["ended"] == "a full disk"
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


def test_facts_survive_a_disk_that_is_full_before_the_first_frame(tmp_path: Path) -> None:
    file = str(tmp_path / "a.strace.zst")
    capture = CaptureFile(file, FACTS)
    capture._file.write(b"half of a frame")
    capture.abandon({"ended": "a full disk"})
    assert read_metadata(file) == FACTS | {"ended": "a full disk"}


def test_full_disk_while_a_ring_is_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file says that lines at its beginning are missing, and those that it has are in order."""
    file = tmp_path / "a.strace.zst"
    ring = RingFile(str(file), FACTS, 1 << 20)
    for first in (0, 500, 1000):
        ring.write(_lines(first, first + 500))
        ring.end_frame()
        ring._rotate()
    copies = iter((shutil.copyfileobj, _no_room))
    monkeypatch.setattr(shutil, "copyfileobj", lambda *files: next(copies, copyfileobj)(*files))
    with pytest.raises(OSError, match="No space"):
        ring.close({"ended": "exit"})
    ring.abandon({"ended": "a full disk"})
    assert _calls(file) == list(range(1000, 1500))
    assert read_metadata(str(file))["ended"] == "a full disk"
    assert ring.dropped_parts > 0
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


def _no_room(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_full_disk_when_a_ring_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.strace.zst"
    ring = RingFile(str(file), FACTS, 40_000)
    ring.write(_lines(0, 500))
    ring.end_frame()
    monkeypatch.setattr(ring, "_next_part", lambda: str(tmp_path / "missing" / "part2"))
    with pytest.raises(OSError):
        ring._rotate()
    ring.abandon({})
    assert _calls(file) == list(range(500))
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


def test_size_includes_the_open_frame_near_a_limit(tmp_path: Path) -> None:
    capture = CaptureFile(str(tmp_path / "a.strace.zst"), FACTS)
    capture.write(_lines(0, 1000))
    assert capture.size(1 << 30) < 500
    assert capture.size(5000) > 1000
    capture.close({})


def _made(folder: Path, name: str, **facts: Any) -> Path:
    file = folder / name
    ring = CaptureFile(str(file), FACTS | facts)
    ring.write(b'7 1700000000.000000 execve("/bin/a", ["a"], []) = 0 <0.000001>\n' + _lines(1, 200))
    ring.write(b"7 1700000001.000000 +++ exited with 0 +++\n")
    ring.close({"ended": "exit"})
    return file


def test_report_shows_how_a_capture_was_recorded(tmp_path: Path, run: Run) -> None:
    file = _made(tmp_path, "a.strace.zst", profile="light", tracer="strace -- version 6.1", overhead_ns=31_000, cores=2)
    words = " ".join(run("summarize", file, "--full").stdout.split())
    assert "Recorded with profile light, strace 6.1, 31.0 µs per traced call, 2 cores, version=4.2." in words
    found = json.loads(run("summarize", file, "--json").stdout)["captures"][0]["recorded"]
    assert (found["profile"], found["overhead_ns"], found["ended"]) == ("light", 31_000, "exit")


def test_plain_captures_have_no_record_of_their_making(tmp_path: Path, run: Run) -> None:
    (tmp_path / "a.strace").write_bytes(_lines(0, 9))
    assert "recorded" not in json.loads(run("summarize", tmp_path / "a.strace", "--json").stdout)["captures"][0]


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"ended": "time limit"}, "It was ended by time limit."),
        ({}, "The recording was killed"),
        ({"ended": "exit", "dropped_parts": 3}, "Only the last part was kept"),
    ],
)
def test_early_end_is_reported(facts: dict[str, Any], words: str) -> None:
    assert words in Recorded.of(facts).sentence()


def test_metadata_of_other_types_is_ignored(tmp_path: Path) -> None:
    file = tmp_path / "a.strace.zst"
    facts = {"profile": ["x"], "cores": "many", "overhead_ns": True, "labels": 3, "ended": "\x1b[31mred"}
    file.write_bytes(metadata_frame(facts) + _made(tmp_path, "b.strace.zst").read_bytes())
    made = recorded(tracealyze.read(file).captures[0])
    assert made is not None
    assert (made.profile, made.cores, made.overhead_ns, made.labels) == ("", 0, 0, {})
    assert "\x1b" not in Recorded.of(facts).sentence()


def test_gate_refuses_to_compare_two_profiles(tmp_path: Path, run: Run) -> None:
    full, light = (_made(tmp_path, f"{name}.strace.zst", profile=name) for name in ("full", "light"))
    baseline = tmp_path / "baseline.json"
    assert run("baseline", "create", full, "-o", baseline).returncode == 0
    assert run("check", full, "--baseline", baseline).returncode == 0
    done = run("check", light, "--baseline", baseline)
    assert done.returncode == 2
    assert "recorded with --profile full, this capture with light" in " ".join((done.stdout + done.stderr).split())


def test_captures_are_compressed_without_the_data_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    file = tmp_path / "a.strace.zst"
    capture = CaptureFile(str(file), FACTS)
    line = b"%d 1700000000.%06d close(3) = 0 <0.000010>\n"
    for number in range(1000):
        capture.write(line % (7, number))
        if number % 300 == 0:
            capture.end_frame()
    capture.close({"exit": 0})
    assert file.stat().st_size < 20_000
    assert tracealyze.read(file).totals["calls"] == 1000


@contextmanager
def _files_of_at_most(size: int) -> Iterator[None]:
    """Stands in for a full disk."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_disk_that_is_full_from_the_start_leaves_no_file(tmp_path: Path) -> None:
    with _files_of_at_most(10), pytest.raises(OSError, match="too large"):
        CaptureFile(str(tmp_path / "a.strace.zst"), FACTS)
    assert list(tmp_path.iterdir()) == []


def test_disk_that_is_full_at_the_end_keeps_the_exit_status(tmp_path: Path) -> None:
    recording = pytest.importorskip("tracealyze.capture.recording")
    notes: list[str] = []
    name = str(tmp_path / "a.strace.zst")
    capture = CaptureFile(name, FACTS)
    capture.write(_lines(0, 100))
    size = (tmp_path / "a.strace.zst").stat().st_size
    made = recording.Recording(Tracer("strace", "", ""), Profile.FULL, name, note=notes.append)
    pipe = SimpleNamespace(readable=-1, release=lambda: None)
    watch = recording._Watch(made, capture, pipe, False, command=os.getpid())
    watch.status = 5
    with _files_of_at_most(size + 10):
        outcome = made._end(capture, recording.Ended.EXIT, watch)
    capture.discard()
    assert (outcome.ended, outcome.status) == (recording.Ended.FULL, 5)
    assert "File too large. The capture ends there" in notes[0]


def test_recording_that_was_killed_at_once_says_what_it_is(tmp_path: Path) -> None:
    file = tmp_path / "short.strace.zst"
    file.write_bytes(metadata_frame({"tracer": "strace"}))
    with pytest.raises(tracealyze.UnusableInput, match="it was killed before it wrote"):
        tracealyze.read(file)
