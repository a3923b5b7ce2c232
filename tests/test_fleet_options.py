"""Options of `fleet index`, and how it tells its progress."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pyarrow
import pytest
from conftest import Run
from fleet_stores import capture_text, content, write_captures
from test_fleet_index import Here, indexed

from tracealyze import Fleet, _engine
from tracealyze.commands import fleet as command
from tracealyze.fleet.index import Options, Progress, index
from tracealyze.fleet.labels import Labels
from tracealyze.fleet.pool import Limits
from tracealyze.fleet.store import Store
from tracealyze.model.capture_input.recorded import metadata_frame


def test_labels_of_record_yield_to_those_of_paths_and_tables(tmp_path: Path) -> None:
    """A capture has the labels that `record` wrote, unless its path or the CSV file says something else."""
    facts = {"record": 1, "labels": {"ticket": "T-1", "version": "0", "host": "recorded", "cores": 4}}
    file = tmp_path / "in" / "4.1" / "run.strace.zst"
    file.parent.mkdir(parents=True)
    text = pyarrow.compress(capture_text(1).encode(), codec="zstd", asbytes=True)
    file.write_bytes(metadata_frame(facts) + text)
    table = tmp_path / "labels.csv"
    table.write_text("path,host\nrun.strace.zst,table\n", encoding="utf-8")
    labels = Labels.of(["{version}/run*"], str(table))
    (row,) = indexed(tmp_path / "store", tmp_path / "in", labels=labels)["captures"]
    assert dict(row["labels"]) == {"ticket": "T-1", "version": "4.1", "host": "table", "cores": "4"}
    assert Fleet(str(tmp_path / "store")).where('ticket == "T-1"').captures.num_rows == 1


def test_refresh_reads_what_another_version_has_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_captures(tmp_path / "in", 4)
    before = indexed(tmp_path / "store", tmp_path / "in")
    monkeypatch.setattr(_engine, "__version__", "99.0")
    store = Store(str(tmp_path / "store"))
    options = Options(executor=Here())
    assert index([str(tmp_path / "in")], store, options).done == 0
    assert content(store.uri) == before
    assert index([str(tmp_path / "in")], store, replace(options, refresh=True)).done == 4
    after = content(store.uri)["captures"]
    assert [row["engine"] for row in after] == ["99.0"] * 4
    assert index([str(tmp_path / "in")], store, replace(options, refresh=True)).done == 0


def test_a_capture_that_needs_too_much_memory_is_a_failure(tmp_path: Path) -> None:
    write_captures(tmp_path / "in", 3)
    line = '100 1700000000.%06d openat(AT_FDCWD, "/data/%d", O_RDONLY) = 3 <0.000010>\n'
    large = "".join(line % (number, number) for number in range(400_000))
    (tmp_path / "in" / "large.strace").write_text(large, encoding="utf-8")
    store = Store(str(tmp_path / "store"))
    done = index([str(tmp_path / "in")], store, Options(workers=1, limits=Limits(memory_bytes=MEMORY_LIMIT)))
    rows = {Path(row["uri"]).name: row for row in content(store.uri)["captures"]}
    assert (done.done, done.failed) == (4, 1)
    assert rows["large.strace"]["error_kind"] == "out-of-memory"
    assert "memory" in rows["large.strace"]["error"]


MEMORY_LIMIT = 64 << 20
"""Enough for small captures."""


def test_progress_counts_captures_and_bytes(tmp_path: Path) -> None:
    write_captures(tmp_path / "in", 10)
    told: list[Progress] = []
    options = Options(executor=Here(), max_captures=3, workers=1)
    done = index(
        [str(tmp_path / "in")], Store(str(tmp_path / "store")), options, lambda each: told.append(replace(each))
    )
    size = sum(file.stat().st_size for file in (tmp_path / "in").rglob("*.strace"))
    assert (done.captures, done.done, done.bytes, done.done_bytes) == (10, 10, size, size)
    assert [each.done for each in told] == sorted(each.done for each in told)
    assert [told[0].done, told[-1].done] == [0, 10]
    assert len(told) == 5


def test_progress_has_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(command, "monotonic", lambda: 20.0)
    tell = command._told(10.0)
    tell(Progress(captures=400, bytes=8_000_000, known=0))
    assert not terminal.getvalue()
    tell(Progress(captures=400, bytes=8_000_000, known=0, done=100, done_bytes=2_000_000, failed=3))
    shown = terminal.getvalue()
    for part in ("100 of 400 captures", "3 failed", "10 captures/s", "195 KiB/s", "30.0 s left"):
        assert part in shown


@pytest.mark.parametrize("question", [["top"], ["outliers"], ["failures"], ["query", "captures"], ["trend"]])
def test_an_empty_store_has_an_answer_or_an_advice(question: list[str], run: Run, tmp_path: Path) -> None:
    Store(str(tmp_path)).create()
    done = run("fleet", *question, "--store", tmp_path)
    assert done.returncode == (2 if question == ["trend"] else 0), done.stderr
    assert "contains no captures. Add some: tracealyze fleet index" in done.stderr
    assert "--label-from" in done.stderr or question != ["trend"]


def test_notebooks_show_how_many_captures_there_are(tmp_path: Path) -> None:
    write_captures(tmp_path / "in", 3)
    (tmp_path / "in" / "<b>.strace").write_text("nothing\n", encoding="utf-8")
    indexed(tmp_path / "store", tmp_path / "in", labels=Labels.of(["{version}/run*"]))
    shown = Fleet(str(tmp_path / "store"))._repr_html_()
    for part in ("4 captures", "ok", "3", "skipped", "1", "Labels: version"):
        assert part in shown
