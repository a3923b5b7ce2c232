"""The Python API: lazy tables that every Arrow consumer accepts."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pandas
import pyarrow
import pytest
from conftest import SAMPLES, captures_of_samples

import tracealyze
from tracealyze.model import arrow_export

SSH = SAMPLES / "ssh-login" / "ssh-login.truss"


@pytest.fixture(scope="module")
def trace() -> tracealyze.Trace:
    return tracealyze.read(str(SSH))


@pytest.mark.parametrize("name", ["events", "tasks", "processes", "partition", "critical_path", "loops", "gaps"])
def test_table_is_the_same_in_every_form(name: str, trace: tracealyze.Trace) -> None:
    table = getattr(trace, name)
    arrow = pyarrow.table(table)
    frame = table.to_pandas()
    assert arrow.num_rows == len(frame) == len(table) == len(list(table))
    assert arrow.column_names == list(frame.columns) == table.columns
    assert arrow.slice(0, 5).to_pylist() == [dict(row) for row, _ in zip(table, range(5), strict=False)]


def test_missing_integers_stay_integers(trace: tracealyze.Trace) -> None:
    assert str(trace.events.to_pandas().dur_ns.dtype) == "Int64"


@pytest.mark.parametrize("condition", [None, "outcome == 'failed'", "dur_ns > 40ms", "syscall == 'nothing'"])
def test_frames_of_whole_columns_are_those_of_the_arrow_table(condition: str | None) -> None:
    trace = tracealyze.read(SSH).select(where=condition)
    for events in (trace.events, trace.events_of(["pid", "target"], limit=7), trace.events_of(["args"], limit=7)):
        pandas.testing.assert_frame_equal(events.to_pandas(), arrow_export.data_frame(events.to_arrow()))


def test_frames_can_be_changed_and_outlive_their_trace() -> None:
    frame = tracealyze.read(SSH).events.to_pandas()
    before = frame.dur_ns.sum()
    frame.loc[frame.index[0], "dur_ns"] = before
    frame.loc[frame.index[0], "line"] = pandas.NA
    assert frame.dur_ns.iloc[0] == before
    assert frame.line.isna().sum() == 1


def test_batches_with_dictionaries_of_their_own_are_not_joined_by_code() -> None:
    parts = [pyarrow.table({"name": pyarrow.array(names).dictionary_encode()}) for names in (["a", "b"], ["b", "c"])]
    whole = pyarrow.concat_tables(parts)
    assert arrow_export.data_frame(arrow_export.arrow_table(whole)).name.tolist() == ["a", "b", "b", "c"]


def test_table_has_an_html_form(trace: tracealyze.Trace) -> None:
    assert ">dur_ns</th>" in trace.events._repr_html_()
    assert "2279 rows" in repr(trace.events)


def test_misspelt_key_error_suggests_the_right_one(trace: tracealyze.Trace) -> None:
    with pytest.raises(tracealyze.WrongUsage, match='Did you mean "syscall"'):
        trace.calls(by=["sycall"])
    with pytest.raises(tracealyze.WrongUsage, match='Did you mean "pid"'):
        trace.processes.column("pod")


def test_selection_counts_only_selected_events(trace: tracealyze.Trace) -> None:
    chosen = trace.select(pids=[12200])
    assert set(chosen.events.to_pandas().pid) == {12200}
    assert chosen.totals["processes"] == 1
    assert trace.totals["processes"] == 5


def test_select_takes_a_single_name(trace: tracealyze.Trace) -> None:
    assert trace.select(programs="quota").totals == trace.select(programs=["quota"]).totals
    assert trace.select(syscalls="ioctl", pids=12200).totals["calls"] == 893
    with pytest.raises(tracealyze.WrongUsage, match='Did you mean "syscall"'):
        trace.events_of(["line", "sycall"])


@pytest.mark.parametrize("capture", captures_of_samples(), ids=lambda file: file.name)
def test_totals_equal_those_of_the_events(capture: Path) -> None:
    trace = tracealyze.read(capture)
    events = list(trace.events_of(["kind", "outcome"]))
    counted = Counter((row["kind"], row["outcome"]) for row in events)
    kinds = Counter(row["kind"] for row in events)
    totals = {name: trace.totals[name] for name in ("calls", "failed", "interrupted", "open", "signals")}
    ends = {name: counted["call", name] for name in ("failed", "interrupted", "open")}
    assert totals == {"calls": kinds["call"], **ends, "signals": kinds["signal"]}


def test_calls_without_quantiles_are_otherwise_equal(trace: tracealyze.Trace) -> None:
    keys = ["syscall", "target"]
    quantiles = {"p50_ns", "p90_ns", "p99_ns"}
    without = [{key: row[key] for key in row if key not in quantiles} for row in trace.calls(keys)]
    assert [dict(row) for row in trace.calls(keys, quantiles=False)] == without


def test_read_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert tracealyze.read([SSH]).summary().document()
    assert tuple(capfd.readouterr()) == ("", "")


def test_events_have_arguments_and_accounting_on_request() -> None:
    trace = tracealyze.read(SSH)
    assert "args" not in trace.events.columns
    [first] = [
        row
        for row in trace.events_of(["line", "op", "args"])
        if row["op"] == "ZFS_IOC_OBJSET_STATS" and row["line"] == 199
    ]
    assert first["args"] == "3, ZFS_IOC_OBJSET_STATS, 0x08046390"
    assert trace.accounting.to_pandas().lines.sum() == sum(trace.accounting.values())


def test_read_takes_a_path_in_bytes() -> None:
    """It was wrongly treated as a list of numbers."""
    assert tracealyze.read(os.fsencode(SSH)).accounting == tracealyze.read(SSH).accounting


def test_head_of_a_negative_number_is_empty() -> None:
    with pytest.raises(tracealyze.TracealyzeError, match="-3 rows"):
        tracealyze.read(SSH).tasks.head(-3)


def test_calls_are_grouped_by_all_requested_keys(trace: tracealyze.Trace) -> None:
    """Keys after the sixth were silently ignored."""
    keys = ["program", "pid", "tid", "task", "syscall", "op", "shape", "target", "errno", "outcome"]
    table = trace.calls(by=[*keys, "pid"])
    assert list(table.columns)[: len(keys)] == keys
    assert sum(table.column("calls")) == trace.totals["calls"]
    assert {row["target"] for row in table} == {row["target"] for row in trace.calls(by="target")}
