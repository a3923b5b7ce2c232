"""Every number of a store is that of `summarize --json`, for all captures of the repository: `make test-fleet`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from fleet_stores import by_uri, content
from test_fleet_index import calls_agree

from tracealyze.base.errors import UnusableInput
from tracealyze.base.program_names import short
from tracealyze.fleet.fetching import captures_of, opened_items
from tracealyze.fleet.index import Options, index
from tracealyze.fleet.labels import Labels
from tracealyze.fleet.sources import items
from tracealyze.fleet.store import Store
from tracealyze.trace.trace import Trace, read_files

pytestmark = pytest.mark.fleet

SOURCES = [str(ROOT / "samples"), str(ROOT / "tests")]
LEAST = 400
"""Fewer captures than this would mean that the sources are not found."""


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, list[Any]]]:
    """By URI of the capture, the rows of each table."""
    store = str(tmp_path_factory.mktemp("store"))
    index(SOURCES, Store(store), Options(workers=2))
    return by_uri(content(store))


def captures(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """The URI and the files of each capture."""
    found = items(SOURCES, Labels())
    for item, fetch in zip(found, opened_items(found, folder), strict=True):
        yield from captures_of(item, fetch()).items()


def test_every_number_is_that_of_summarize(rows: dict[str, dict[str, list[Any]]], tmp_path: Path) -> None:
    seen: Counter[str] = Counter()
    for uri, files in captures(tmp_path):
        tables = rows[uri]
        (row,) = tables["captures"]
        seen[row["status"]] += 1
        try:
            trace = read_files([files], None, None)
            document = trace.summary().document(full=True)
        except UnusableInput:
            assert row["status"] in ("failed", "skipped"), uri
            continue
        assert row["status"] in ("ok", "partial"), (uri, row["error"])
        must_agree(uri, tables, document, trace)
    assert sum(seen.values()) == len(rows) > LEAST
    assert seen["ok"] > LEAST


def must_agree(uri: str, tables: dict[str, list[Any]], document: dict[str, Any], trace: Trace) -> None:
    """All tables of a capture."""
    (row,) = tables["captures"]
    assert capture_numbers(row) == numbers_of_document(document), uri
    for mine, theirs in (
        (findings_of_rows(tables["findings"]), findings_of(document["findings"])),
        (processes_of(tables["processes"], "program"), processes_of(document["processes"], "program")),
        (sorted(map(class_of, tables["classes"])), classes_of(document["partition"])),
    ):
        assert mine == theirs, uri
    calls_agree(tables["calls"], trace.summary())
    assert sum(each["calls"] for each in tables["calls"]) == row["calls"], uri


TOTALS = ("processes", "threads", "calls", "failed")


def capture_numbers(row: dict[str, Any]) -> dict[str, Any]:
    """What the row of a capture tells of it as a whole."""
    names = ("format", "lines", "bytes", "wall_ns", "no_window", "filtered", "cut", "overhead_share", "lost_lines")
    others = ("unexplained_ns", "findings", *TOTALS)
    return {name: row[name] for name in (*names, *others)} | {"impact": [row["impact_low_ns"], row["impact_high_ns"]]}


def numbers_of_document(document: dict[str, Any]) -> dict[str, Any]:
    """The same from the document."""
    files = document["captures"]
    return {
        "format": files[0]["format"],
        "lines": sum(each["lines"] for each in files),
        "bytes": sum(each["bytes"] for each in files),
        "wall_ns": document["window"]["wall_ns"],
        "no_window": document["window"]["reason"],
        "filtered": any(each["filtered"] for each in files),
        "cut": any(each["cut"] for each in files),
        "overhead_share": files[0]["overhead_share"],
        "lost_lines": sum(loss["lines"] for each in files for loss in each["losses"]),
        "unexplained_ns": document["unexplained_ns"],
        "findings": len(document["findings"]),
        "impact": list(document["impact_ns"]),
        **{name: document["totals"][name] for name in TOTALS},
    }


FINDING = (
    "code",
    "title",
    "confidence",
    "fingerprint",
    "pid",
    "syscall",
    "op",
    "target",
    "calls",
    "share",
    "diagnosis",
)


def findings_of_rows(rows: list[dict[str, Any]]) -> list[str]:
    """The findings in rows, in one order."""
    return sorted(
        repr([*(row[name] for name in FINDING), row["rule"], row["impact_low_ns"], row["impact_high_ns"], row["line"]])
        for row in rows
    )


def findings_of(documents: list[dict[str, Any]]) -> list[str]:
    """The findings of a document, in one order."""
    return sorted(
        repr(
            [
                *(each[name] for name in FINDING),
                each["name"],
                *(each["impact_ns"] or (None, None)),
                each["lines"][0] if each["lines"] else None,
            ]
        )
        for each in documents
    )


PROCESS = ("pid", "wall_ns", "exclusive_ns", "in_call_ns", "calls", "failed", "exit_code", "exit_signal")


def processes_of(rows: list[dict[str, Any]], program: str) -> list[str]:
    """Processes in one order, with the short names of their programs."""
    return sorted(repr([*(row[name] for name in PROCESS), short(row[program]) or None]) for row in rows)


def class_of(row: dict[str, Any]) -> tuple[str, int, int]:
    """Name, time and calls."""
    return row["class"], row["exclusive_ns"], row["calls"]


def classes_of(partition: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    """The sums by class, in one order."""
    times: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for row in partition:
        times[row["class"]] += row["exclusive_ns"]
        calls[row["class"]] += row["calls"]
    return sorted((name, times[name], calls[name]) for name in times)
