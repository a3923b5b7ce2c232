"""parquet: a folder with one file per table, or one file of events, for pandas, polars, DuckDB, Spark and others."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from tracealyze import _engine

if TYPE_CHECKING:
    from tracealyze.model.arrow_export import Streamed
    from tracealyze.model.capture_input.capture_info import Capture
    from tracealyze.model.table import Table
    from tracealyze.trace.trace import Trace

_CALLS_BY = ("task", "pid", "program", "syscall", "op", "errno")
_NOTES = ("Arguments of calls, loops and the other tables of rules are not in the files.",)


_NOTES_OF_EVENTS = ("Only events: arguments, the critical path and findings are not in the file.",)


def write(trace: Trace, to: Path) -> Sequence[str]:
    """Write the tables into a folder. The metadata of each file names the captures and the window."""
    import pyarrow
    from pyarrow import parquet

    about = json.dumps(_about(trace.captures, _NOTES) | {"window": asdict(trace.window)})
    to.mkdir(exist_ok=True)
    for name, table in _tables(trace).items():
        _write_table(table, to / f"{name}.parquet", about)
    findings = pyarrow.Table.from_pylist(list(_findings(trace)), schema=_finding_schema(pyarrow))
    parquet.write_table(
        findings.replace_schema_metadata({"tracealyze": about}), to / "findings.parquet", compression="zstd"
    )
    return _NOTES


def write_events(events: Streamed, captures: Sequence[Capture], to: BinaryIO) -> Sequence[str]:
    """Write one file with rows of the table of events, as they come."""
    _write_table(events, to, json.dumps(_about(captures, _NOTES_OF_EVENTS)))
    return _NOTES_OF_EVENTS


def _about(captures: Sequence[Capture], notes: Sequence[str]) -> dict[str, Any]:
    return {
        "exporter": f"tracealyze {_engine.__version__}",
        "captures": [each.path for each in captures],
        "left_out": notes,
    }


def _write_table(table: Streamed, to: Path | BinaryIO, about: str) -> None:
    """Write a table batch by batch: only a part of its rows is in memory as Arrow at a time."""
    import pyarrow
    from pyarrow import parquet

    reader = pyarrow.RecordBatchReader.from_stream(table)
    schema = _plain(pyarrow, reader.schema).with_metadata({"tracealyze": about})
    with parquet.ParquetWriter(to, schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_table(pyarrow.Table.from_batches([batch]).cast(schema))


def _tables(trace: Trace) -> Mapping[str, Table]:
    return {
        "events": trace.events,
        "calls": trace.calls(_CALLS_BY),
        "tasks": trace.tasks,
        "processes": trace.processes,
        "partition": trace.partition,
        "path": trace.critical_path,
    }


def _plain(pyarrow: Any, schema: Any) -> Any:
    """The schema with texts instead of dictionaries, which Parquet has anyway: all batches then have the same types."""
    is_dictionary = pyarrow.types.is_dictionary
    return pyarrow.schema([each.with_type(pyarrow.string()) if is_dictionary(each.type) else each for each in schema])


def _findings(trace: Trace) -> Iterator[dict[str, object]]:
    for finding in trace.findings:
        low, high = finding.impact_ns or (None, None)
        yield finding.document() | {"min_impact_ns": low, "max_impact_ns": high}


def _finding_schema(pyarrow: Any) -> Any:
    text, number = pyarrow.string(), pyarrow.int64()
    types = {
        **dict.fromkeys(("code", "name", "title", "severity", "confidence", "basis", "diagnosis", "message"), text),
        **dict.fromkeys(("advice", "program", "syscall", "op", "target", "fingerprint"), text),
        **dict.fromkeys(("capture", "pid", "calls", "min_impact_ns", "max_impact_ns", "tracing_ns"), number),
        "share": pyarrow.float64(),
        "lines": pyarrow.list_(number),
        **dict.fromkeys(("files", "also_matches"), pyarrow.list_(text)),
    }
    return pyarrow.schema(list(types.items()))
