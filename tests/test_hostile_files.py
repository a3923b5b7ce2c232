"""Files, options and requests that nobody writes by accident end in an answer or in an error with a remedy."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from conftest import SAMPLES, Call
from fleet_stores import write_captures

import tracealyze
from tracealyze.base.errors import UnusableInput, WrongUsage
from tracealyze.commands._assistant import server
from tracealyze.fleet.index import Options, index
from tracealyze.fleet.store import Store
from tracealyze.model.capture_input.recorded import read_metadata

_TABLE = """\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 97.13    6.511904           4   1610277   1596010 open
  2.87    0.192000          40      4800           read
------ ----------- ----------- --------- --------- ----------------
100.00    6.703904               1615077   1596010 total
"""
_LINES = '1 1700000000.0 read(3, "x", 1) = 1 <0.5>\n1 1700000001.0 close(3) = 0 <0.1>\n'


@pytest.mark.parametrize("command", ["tree", "gaps", "loops", "events", "critical-path"])
def test_listings_of_a_table_alone_are_empty_json(command: str, tmp_path: Path, call: Call) -> None:
    file = tmp_path / "table.txt"
    file.write_text(_TABLE, encoding="utf-8")
    code, stdout, _ = call(command, "--json", file)
    assert (code, json.loads(stdout)) == (0, [])


def _recording(folder: Path, metadata: str) -> Path:
    text = metadata.encode()
    frame = struct.pack("<II", 0x184D2A5C, len(text) + 12) + text + struct.pack("<I8s", len(text), b"tlzemeta")
    packed = folder / "lines.zst"
    file = folder / "recording.strace.zst"
    with pa.CompressedOutputStream(str(packed), "zstd") as stream:
        stream.write(_LINES.encode())
    file.write_bytes(frame + packed.read_bytes())
    return file


@pytest.mark.parametrize(
    "metadata",
    [
        r'{"record": 1, "tracer": "\ud800", "ended": "exit"}',
        r'{"record": 1, "profile": "\udcff", "labels": {"\ud800": "\ud83d"}}',
        '{"record": 1, "profile": "full", "exit": null}',
    ],
)
def test_recordings_with_odd_metadata_are_read_and_redacted(metadata: str, tmp_path: Path, call: Call) -> None:
    file = _recording(tmp_path, metadata)
    json.dumps(read_metadata(str(file)), ensure_ascii=False).encode()
    for command in (["summarize", "--json"], ["summarize"], ["redact", "-o", tmp_path / "shared.strace"]):
        code, _, stderr = call(*command, file)
        assert code == 0, stderr


def test_half_of_a_pair_of_escapes_is_a_whole_character(tmp_path: Path) -> None:
    file = _recording(tmp_path, r'{"record": 1, "tracer": "\ud83d\ude00"}')
    assert read_metadata(str(file))["tracer"] == "\N{GRINNING FACE}"


def _store(folder: Path) -> Path:
    write_captures(folder / "captures", 2)
    store = folder / "store"
    index([str(folder / "captures")], Store(str(store)), Options())
    return store


@pytest.mark.parametrize("name", ["store.json", "v1/done/*.json"])
def test_nested_lists_in_a_store_are_unusable_input(name: str, tmp_path: Path, call: Call) -> None:
    store = _store(tmp_path)
    for file in store.glob(name):
        file.write_text("[" * 100_000, encoding="utf-8")
    code, _, stderr = call("fleet", "top", "--store", store)
    assert code == 3, stderr
    assert "cannot be read" in stderr


@pytest.mark.parametrize("name", ["store.json", "v1/done/*.json", "v1/captures/*.parquet"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_pipes_and_devices_in_a_store_are_unusable_input(name: str, kind: str, tmp_path: Path, call: Call) -> None:
    """A device without an end was read until the memory was full, and a pipe without a writer for ever."""
    store = _store(tmp_path)
    for file in store.glob(name):
        file.unlink()
        if kind == "pipe":
            os.mkfifo(file)
        else:
            file.symlink_to("/dev/zero")
    code, _, stderr = call("fleet", "top", "--store", store)
    assert (code, "not a regular file" in stderr) == (3, True), stderr


@pytest.mark.parametrize("table", ["findings", "captures"])
@pytest.mark.parametrize("columns", [{"other": [1, 2]}, {"capture_id": [1.5]}, {"capture_id": ["a"], "name": [[1]]}])
def test_parts_of_a_store_with_other_columns_are_unusable_input(
    table: str, columns: dict[str, list[Any]], tmp_path: Path, call: Call
) -> None:
    store = _store(tmp_path)
    for file in store.glob(f"v1/{table}/*.parquet"):
        parquet.write_table(pa.table(columns), file)
    for command in ("top", "compact"):
        code, _, stderr = call("fleet", command, "--store", store)
        assert code in (0, 3), (command, stderr)
        assert "bug" not in stderr


@pytest.mark.parametrize(
    ("option", "value"), [("--max-size", "-5"), ("--max-size", "0"), ("--for", "0s"), ("--for", "-1s")]
)
def test_limits_of_a_recording_are_positive(option: str, value: str, tmp_path: Path, call: Call) -> None:
    code, _, stderr = call("record", option, value, "-o", tmp_path / "x.zst", "--", "true")
    assert code == 2
    assert f"{option} {value}" in stderr
    assert not (tmp_path / "x.zst").exists()


def test_endless_keys_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.strace"
    file.write_text(_LINES, encoding="utf-8")
    with pytest.raises(WrongUsage, match="at most"):
        tracealyze.redact(file, tmp_path / "b.strace", key="/dev/zero")


@pytest.mark.parametrize("capture", [b"abc\0def", "abc\0def", b"\0" * 9, "x" * 10_000, b"x" * 300])
def test_names_that_no_file_has_are_unusable_input(capture: str | bytes) -> None:
    with pytest.raises(UnusableInput):
        tracealyze.read(capture)


class _ToolError(Exception):
    pass


def test_tools_answer_halves_of_characters_and_impossible_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_sdk", lambda _: SimpleNamespace(ToolError=_ToolError))

    def fails(capture: str) -> str:
        raise OSError(36, "File name too long", capture)

    with pytest.raises(_ToolError, match="Unicode"):
        server._reporting(lambda capture: capture)(capture="\ud800")
    with pytest.raises(_ToolError, match="too long"):
        server._reporting(fails)(capture="x" * 10_000)
    assert server._reporting(lambda: "a\ud800b")() == "a?b"


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/null"])
def test_devices_are_no_scheduler_events(name: str, tmp_path: Path, call: Call) -> None:
    """The memory was full before the first line ended."""
    file = tmp_path / "a.strace"
    file.write_text(_LINES, encoding="utf-8")
    code, _, stderr = call("summarize", file, "--sched", name)
    assert (code, "a device has no scheduler events" in stderr) == (3, True), stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["export", "{capture}", "--to", "chrome", "-o"],
        ["report", "{capture}", "-o"],
        ["redact", "{capture}", "-o"],
        ["check", "{capture}", "--accept", "-b"],
    ],
)
@pytest.mark.parametrize("to", ["a pipe without reader", "a file"])
def test_standard_output_has_a_name(arguments: list[str], to: str, tmp_path: Path) -> None:
    """A pipe without a reader would never be opened again, and the link must not become a file."""
    capture = SAMPLES / "ssh-login" / "ssh-login.truss"
    words = [sys.executable, "-m", "tracealyze", *(word.format(capture=capture) for word in arguments)]
    before = os.readlink("/dev/stdout")
    if to == "a file":
        with (tmp_path / "out").open("wb") as file:
            done = subprocess.run([*words, "/dev/stdout"], stdout=file, stderr=subprocess.PIPE, cwd=tmp_path)
        assert (done.returncode, (tmp_path / "out").stat().st_size > 100) == (0, True), done.stderr
    else:
        reads, writes = os.pipe()
        os.close(reads)
        done = subprocess.run([*words, "/dev/stdout"], stdout=writes, stderr=subprocess.PIPE, cwd=tmp_path)
        os.close(writes)
        assert (done.returncode, done.stderr) == (0, b"")
    assert os.readlink("/dev/stdout") == before


def test_long_keys_do_not_hide_the_error(tmp_path: Path, call: Call) -> None:
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "long.toml").write_text(f'{"k" * 1_000_000} = "loud"\n')
    code, _, stderr = call("summarize", SAMPLES / "ssh-login" / "ssh-login.truss", "--rules", rules)
    assert code == 2
    assert len(stderr) < 1000
    assert "kkk…kkk" in stderr
