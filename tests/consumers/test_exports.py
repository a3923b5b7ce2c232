"""Exports opened in the programs that they are for, whose sums are ours: `make test-consumers`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, SAMPLES
from trace_processor import answers

import tracealyze
from tracealyze.export import writer
from tracealyze.export.timeline import FIRST_SYNTHETIC

pytestmark = pytest.mark.consumers

CAPTURES = [SAMPLES / "ssh-login" / "ssh-login.truss", SAMPLES / "shutdown" / "before.strace.xz"]
SPEEDSCOPE = ROOT / ".cache" / "consumers" / "node_modules" / "speedscope" / "dist" / "release"


@pytest.fixture(params=CAPTURES, ids=lambda path: path.name)
def trace(request: pytest.FixtureRequest) -> tracealyze.Trace:
    """A capture with a wall clock."""
    return tracealyze.read(request.param)


def exported(trace: tracealyze.Trace, name: str, to: Path) -> Path:
    """The file of a format."""
    with to.open("wb") as stream:
        writer(name)(trace, stream)
    return to


def test_pprof_has_the_time_of_the_window(trace: tracealyze.Trace, tmp_path: Path) -> None:
    go = shutil.which("go")
    if go is None:
        pytest.skip("needs go, which contains pprof")
    file = exported(trace, "pprof", tmp_path / "trace.pb.gz")
    raw = subprocess.run([go, "tool", "pprof", "-raw", str(file)], capture_output=True, text=True, check=True).stdout
    samples = re.findall(r"^ +(\d+) +(\d+): [\d ]+$", raw, re.MULTILINE)
    assert sum(int(ns) for _, ns in samples) == trace.window.wall_ns
    assert sum(int(calls) for calls, _ in samples) == sum(trace.partition["calls"])
    assert "calls/count wall/nanoseconds" in raw


ERRORS = "select name, value from stats where severity = 'error' and value > 0"
CALLS = "select count(*), sum(dur) from slice join thread_track on slice.track_id = thread_track.id where dur > 0"


def calls_of(trace: tracealyze.Trace) -> list[int]:
    """The durations of all calls that have one."""
    return [row["dur_ns"] for row in trace.events.dicts() if row["kind"] == "call" and row["dur_ns"]]


def test_perfetto_has_calls_parents_and_the_path(trace: tracealyze.Trace, tmp_path: Path) -> None:
    file = exported(trace, "perfetto", tmp_path / "trace.pftrace")
    track = (
        "select t.name, sum(s.dur) from slice s join track t on s.track_id = t.id where t.name is not null group by 1"
    )
    parents = "select p.pid, q.pid from process p left join process q on p.parent_upid = q.upid where p.pid > 0"
    targets = "select distinct string_value from args where flat_key = 'debug.target'"
    arrows = "select count(*) from flow"
    errors, calls, tracks, tree, texts, [[flows]] = answers(file, [ERRORS, CALLS, track, parents, targets, arrows])
    assert errors == []
    known = {row["target"] for row in trace.events.dicts() if row["kind"] == "call" and row["dur_ns"] is not None}
    known |= {row["target"] for row in trace.path_from(0)}
    assert {text for (text,) in texts} == known - {None}
    assert calls == [(len(calls_of(trace)), sum(calls_of(trace)))]
    assert flows == len([row for row in trace.path_from(0) if row["waiter_pid"] is not None])
    wall_ns = trace.window.wall_ns
    assert {(name, ns) for name, ns in tracks if name != "Findings"} == {
        ("Critical path", wall_ns),
        ("Class of time", wall_ns),
    }
    expected = {row["pid"]: row["parent_pid"] for row in trace.processes}
    assert {pid: parent if parent in expected else None for pid, parent in tree if pid in expected} == expected


def test_perfetto_reads_the_chrome_file(trace: tracealyze.Trace, tmp_path: Path) -> None:
    file = exported(trace, "chrome", tmp_path / "trace.json")
    threads = "slice join thread_track t on slice.track_id = t.id join thread using (utid)"
    path = f"select sum(dur) from {threads} where tid = {FIRST_SYNTHETIC - 1}"
    errors, calls, on_path = answers(file, [ERRORS, CALLS, path])
    assert errors == []
    wall_ns = trace.window.wall_ns
    assert on_path == [(wall_ns,)]
    assert calls[0][1] - wall_ns == sum(calls_of(trace))


def test_speedscope_accepts_the_file(trace: tracealyze.Trace, tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schemas = list(SPEEDSCOPE.glob("file-format-schema*.json"))
    if not schemas:
        pytest.skip("needs the npm package speedscope in .cache/consumers")
    document = json.loads(exported(trace, "speedscope", tmp_path / "trace.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, json.loads(schemas[0].read_text(encoding="utf-8")))


def test_flame_graph_has_the_time_of_the_window(trace: tracealyze.Trace, tmp_path: Path) -> None:
    program = shutil.which("flamegraph.pl") or shutil.which("inferno-flamegraph")
    if program is None:
        pytest.skip("needs flamegraph.pl or inferno-flamegraph")
    file = exported(trace, "folded", tmp_path / "trace.folded")
    image = subprocess.run([program, str(file)], capture_output=True, text=True, check=True).stdout
    assert f"all ({trace.window.wall_ns:,} samples, 100%)" in image


def test_the_picture_is_well_formed(trace: tracealyze.Trace, tmp_path: Path) -> None:
    program = shutil.which("xmllint")
    if program is None:
        pytest.skip("needs xmllint: apt-get install libxml2-utils")
    done = subprocess.run(
        [program, "--noout", "--nonet", str(exported(trace, "svg", tmp_path / "trace.svg"))],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_duckdb_reads_the_tables(trace: tracealyze.Trace, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    writer("parquet")(trace, tmp_path)
    exported(trace, "jsonl", tmp_path / "events.jsonl")
    connection = duckdb.connect()
    for value, file, expected in (
        ("sum(exclusive_ns)", "partition.parquet", trace.window.wall_ns),
        ("sum(calls)", "calls.parquet", trace.totals["calls"]),
        ("count(*)", "events.parquet", len(trace.events)),
        ("count(*)", "events.jsonl", len(trace.events)),
    ):
        [[found]] = connection.execute(f"select {value} from '{tmp_path / file}'").fetchall()
        assert found == expected, file


def test_polars_reads_the_tables(trace: tracealyze.Trace, tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    writer("parquet")(trace, tmp_path)
    assert polars.read_parquet(tmp_path / "partition.parquet")["exclusive_ns"].sum() == trace.window.wall_ns
    assert polars.DataFrame(trace.events).height == len(trace.events)
