"""Conversion of captures to files of events: the rows of `Trace.events`, also those that waited in a file."""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import SAMPLES, Run, captures_of_samples

import tracealyze
from tracealyze import _engine
from tracealyze.export.conversion import EventStream
from tracealyze.model.arrow_export import batches

SSH = SAMPLES / "ssh-login" / "ssh-login.truss"
MANY = 5 * 65_536
"""More rows than are in memory at a time."""


def strace_lines() -> Iterator[str]:
    """Two threads. Every 40,000th call is open for 200,000 lines, so it ends when its row is in the file."""
    yield "7 1700000000.000000 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_THREAD) = 8 <0.000050>"
    for number in range(MANY):
        at = f"17000{number // 1_000_000:05d}.{number % 1_000_000:06d}"
        if number % 200_000 == 40_000:
            yield f"8 {at} poll([{{fd=3, events=POLLIN}}], 1, 60000 <unfinished ...>"
        elif number % 200_000 == 199_000:
            yield f"8 {at} <... poll resumed>) = 1 ([{{fd=3, revents=POLLIN}}]) <0.159000>"
        else:
            yield f'7 {at} openat(AT_FDCWD, "/srv/{number % 7919}", O_RDONLY) = -1 ENOENT (No such file) <0.000001>'


def solaris_lines() -> Iterator[str]:
    """Each line has a CPU time."""
    for number in range(MANY):
        call = f"read({number % 5}, 0x08046390, 512)     = 17"
        yield f"{100 + number % 2}: {number / 1000:.4f} 0.0010 0.000{number % 9} {call}"


def text_of(lines: Iterator[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def rows_of(table: Any) -> Iterator[dict[str, object]]:
    return itertools.chain.from_iterable(batch.to_pylist() for batch in batches(table))


def assert_same_rows(stream: EventStream, trace: tracealyze.Trace) -> None:
    """Compares in columns, which is fast, and then names the first row that differs."""
    pyarrow = pytest.importorskip("pyarrow")
    ours, expected = (pyarrow.Table.from_batches(batches(each)) for each in (stream, trace.events))
    assert ours.num_rows == expected.num_rows == len(stream)
    for name in expected.column_names:
        found, wanted = (table.column(name).combine_chunks() for table in (ours, expected))
        if pyarrow.types.is_dictionary(wanted.type):
            found, wanted = found.cast(pyarrow.string()), wanted.cast(pyarrow.string())
        if not found.equals(wanted):
            at = next(at for at, (one, other) in enumerate(zip(found, wanted, strict=True)) if one != other)
            pytest.fail(f"{name} of row {at}: {found[at]} instead of {wanted[at]}")


@pytest.mark.parametrize("capture", captures_of_samples(), ids=lambda path: path.name)
def test_rows_are_those_of_the_trace(capture: Path) -> None:
    trace = tracealyze.read(capture)
    files = list(dict.fromkeys(tuple(each.files) for each in trace.captures))
    assert list(rows_of(EventStream(files))) == list(rows_of(trace.events))


@pytest.mark.parametrize("lines", [strace_lines, solaris_lines], ids=["strace", "truss"])
def test_rows_that_waited_in_a_file_are_the_same(lines: Any, tmp_path: Path) -> None:
    capture = tmp_path / "capture"
    capture.write_bytes(text_of(lines()))
    trace = tracealyze.read(capture)
    assert_same_rows(EventStream([[str(capture)]]), trace)


def test_files_of_threads_that_waited_in_a_file_are_the_same(tmp_path: Path) -> None:
    for tid in (7, 8, 9):
        lines = (
            f"{1_700_000_000 + at / 1000 + tid / 1e4:.6f} close({at % 9}) = 0 <0.000002>" for at in range(MANY // 3)
        )
        (tmp_path / f"trace.{tid}").write_bytes(text_of(lines))
    trace = tracealyze.read(tmp_path)
    assert_same_rows(EventStream([trace.captures[0].files]), trace)


@pytest.mark.parametrize("name", ["events.jsonl", "events.jsonl.gz"])
def test_json_lines(name: str, tmp_path: Path) -> None:
    to = tmp_path / name
    captures = tracealyze.convert(SSH, to)
    text = gzip.decompress(to.read_bytes()) if name.endswith(".gz") else to.read_bytes()
    rows = [json.loads(line) for line in text.splitlines()]
    assert rows == list(rows_of(tracealyze.read(SSH).events))
    assert captures[0].accounting == tracealyze.read(SSH).captures[0].accounting
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    to = tmp_path / "events.parquet"
    tracealyze.convert(SSH.read_bytes(), to)
    assert parquet.read_table(to).to_pylist() == [
        row | {"file": found} for row, found in zip(rows_of(tracealyze.read(SSH).events), files_in(to), strict=True)
    ]


def files_in(to: Path) -> Iterator[object]:
    """The content was given as bytes, so its file has a name of its own."""
    parquet = pytest.importorskip("pyarrow.parquet")
    return iter(parquet.read_table(to, columns=["file"]).column("file").to_pylist())


def test_the_command_writes_the_same_with_and_without_the_trace(run: Run) -> None:
    streamed = run("export", SSH, "--to", "jsonl").stdout
    assert streamed == run("export", SSH, "--to", "jsonl", "--from", "line:1").stdout
    assert run("export", "-", "--to", "jsonl", stdin=SSH.read_text()).stdout.count("\n") == streamed.count("\n")


def test_events_are_taken_once() -> None:
    stream = EventStream([[str(SSH)]])
    assert sum(1 for _ in rows_of(stream)) == len(stream)
    with pytest.raises(RuntimeError, match="taken before"):
        list(rows_of(stream))


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(_engine.UnreadableInput, match="missing"):
        _engine.stream_events([[str(SSH)]], str(tmp_path / "missing"))


@pytest.mark.parametrize("name", ["events.csv", "events", "events.parquet.gz"])
def test_other_names_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(tracealyze.WrongUsage, match=r"\.parquet, \.jsonl or \.jsonl\.gz"):
        tracealyze.convert(SSH, tmp_path / name)


def test_the_capture_is_not_overwritten(tmp_path: Path) -> None:
    capture = tmp_path / "capture.jsonl"
    capture.write_bytes(SSH.read_bytes())
    with pytest.raises(tracealyze.WrongUsage, match="is the capture"):
        tracealyze.convert(capture, capture)
    assert capture.read_bytes() == SSH.read_bytes()


def test_equal_captures_give_equal_compressed_files(tmp_path: Path) -> None:
    one, other = tmp_path / "one.jsonl.gz", tmp_path / "other.jsonl.gz"
    for to in (one, other):
        tracealyze.convert(SSH, to)
    assert one.read_bytes() == other.read_bytes()
    assert one.read_bytes()[4:8] == bytes(4), "no time of compression"


def test_other_files_of_a_directory_are_skipped_with_a_warning(tmp_path: Path) -> None:
    captures = tmp_path / "captures"
    captures.mkdir()
    (captures / "login.truss").write_bytes(SSH.read_bytes())
    (captures / "README").write_text("how these were captured\n")
    with pytest.warns(UserWarning, match="skipped, not captures: .*README"):
        converted = tracealyze.convert(captures, tmp_path / "events.jsonl")
    assert [Path(each.path).name for each in converted] == ["login.truss"]
