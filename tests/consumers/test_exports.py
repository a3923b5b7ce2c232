"""Exports opened in the programs that they are for, whose sums are ours: `make test-consumers`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, SAMPLES

import tracealyze
from tracealyze.export import writer

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
