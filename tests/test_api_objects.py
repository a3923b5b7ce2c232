"""What the objects of the Python API show, export and store."""

from __future__ import annotations

import datetime
import inspect
import pickle
import pydoc
import re
from pathlib import Path

import pandas
import pytest
from conftest import SAMPLES, captures_of_samples
from pyarrow import parquet

import tracealyze
from tracealyze.render.report import headline

SSH = SAMPLES / "ssh-login" / "ssh-login.truss"
LINE = "{} 17000000{:02}.000000 {} = 0 <0.000010>\n"


@pytest.fixture(scope="module")
def trace() -> tracealyze.Trace:
    return tracealyze.read(SSH)


def test_trace_shows_itself_in_one_line(trace: tracealyze.Trace) -> None:
    shown = "ssh-login.truss: 11.42 s, 5 processes, 2,275 calls, 1 finding (saves up to 9.74 s)"
    assert repr(trace) == f"<Trace {shown}>"
    assert shown in trace._repr_html_()
    assert "<b>hot-loop</b> (TLZ002)" in trace._repr_html_()
    assert repr(trace.select(pid=12203)).startswith("<Trace selected events of ssh-login.truss: ")


@pytest.mark.parametrize("capture", captures_of_samples(), ids=str)
def test_trace_shows_the_saving_of_the_report(capture: Path) -> None:
    """It was the sum of all findings, also of those that the headline does not count."""
    trace = tracealyze.read(capture)
    saved = re.search(r"could save (.*) \(", re.sub(r" \([^()]*%\)( to)", r"\1", headline(trace, trace.summary())))
    shown = re.search(r"\(saves (.*)\)>", repr(trace))
    assert (shown and shown[1]) == (saved and saved[1])


def test_html_escapes_what_a_capture_contains() -> None:
    lines = [LINE.format(1, at, 'openat(AT_FDCWD, "<script>", O_RDONLY)') for at in range(9)]
    trace = tracealyze.read("".join(lines))
    for shown in (trace.calls("target"), trace.findings, trace, trace.calls("target").head()):
        assert "<script>" not in shown._repr_html_()
    assert "&lt;script&gt;" in trace.calls("target")._repr_html_()


def test_objects_show_themselves_in_one_short_line(trace: tracealyze.Trace) -> None:
    for shown in (trace, trace.events, trace.loops, trace.window, *trace.captures, *trace.findings):
        assert len(repr(shown)) < 150
        assert "\n" not in repr(shown)


def test_rows_show_themselves_as_a_table(trace: tracealyze.Trace) -> None:
    rows = trace.processes.head(2)
    assert [row["pid"] for row in rows] == trace.processes["pid"][:2]
    assert ">pid</th>" in rows._repr_html_()
    assert list(rows.to_pandas().pid) == [row["pid"] for row in rows]
    assert trace.findings.to_pandas().name.tolist() == ["hot-loop"]


def test_where_returns_the_rows_that_match(trace: tracealyze.Trace) -> None:
    """It was a zip of numbers and rows."""
    assert [row["pid"] for row in trace.processes.where("failed > 100")] == [12200]


@pytest.mark.parametrize("name", ["events", "processes", "partition", "tasks"])
def test_rows_have_numbers(name: str, trace: tracealyze.Trace) -> None:
    """`events[0]` raised "'int' object is not iterable", and `events[:3]` named no way that works."""
    table = getattr(trace, name)
    rows = table.head(len(table))
    assert (table[0], table[-1]) == (rows[0], rows[-1])
    for part in (slice(2, 4), slice(-2, None), slice(None, None, -1), slice(9, 3)):
        assert table[part] == rows[part]
    assert table[["pid", "program"]][1] == {name: rows[1][name] for name in ("pid", "program")}
    with pytest.raises(IndexError, match=f"has {len(rows)} rows"):
        table[len(rows)]
    with pytest.raises(tracealyze.WrongUsage, match='no column "pidd"'):
        table[["pidd"]]


def test_where_of_events_is_that_of_other_tables(trace: tracealyze.Trace) -> None:
    condition = "dur_ns >= 30ms and syscall == 'ioctl'"
    found = trace.events.where(condition)
    assert found == trace.select(where=condition).events.head(10_000)
    assert found and all(row["syscall"] == "ioctl" for row in found)


def test_completion_offers_the_documented_names_of_a_trace(trace: tracealyze.Trace) -> None:
    """It offered 60 names that only reports use."""
    described = inspect.getdoc(tracealyze.Trace) or ""
    names = dir(trace)
    assert len(names) <= 21
    assert all(name in described and hasattr(trace, name) for name in names)


def test_events_are_available_as_dictionaries(trace: tracealyze.Trace) -> None:
    """They raised a RuntimeError."""
    rows = list(trace.events.dicts(["line", "syscall"]))
    assert len(rows) == len(trace.events)
    assert list(rows[0]) == ["line", "syscall"]
    assert list(trace.partition.dicts()) == list(trace.partition)
    with pytest.raises(tracealyze.WrongUsage, match='Did you mean "syscall"'):
        trace.events.dicts(["sycall"])


@pytest.fixture
def appended(tmp_path: Path) -> Path:
    """Two runs in one file, as `strace -A` writes them."""
    file = tmp_path / "twice.strace"
    run = "".join(LINE.format(7, at, call) for at, call in enumerate(['execve("/bin/a", ["a"], 0x0)', "close(3)"]))
    file.write_text(run + "7 1700000009.000000 +++ exited with 0 +++\n" + run.replace("7 17", "9 18"))
    return file


def test_runs_of_one_file_share_its_name(appended: Path) -> None:
    """The dictionary had the path once per run: "Categorical categories must be unique"."""
    trace = tracealyze.read(appended)
    assert len(trace.captures) == 2
    for each in (trace, trace.of_capture(1), trace.select(where="syscall == 'close'")):
        assert set(each.events.to_pandas().file) == {str(appended)}


def test_exports_have_the_same_rows(trace: tracealyze.Trace, tmp_path: Path) -> None:
    for table in (trace.events, trace.partition, trace.loops):
        table.to_parquet(tmp_path / "table.parquet")
        rows = list(table)
        assert table.to_arrow().to_pylist() == rows
        assert parquet.read_table(tmp_path / "table.parquet").to_pylist() == rows


@pytest.mark.parametrize("columns", [None, ["target", "args"], ["line", "syscall"]])
@pytest.mark.parametrize("limit", [None, 0, 3])
def test_events_in_arrow_equal_their_rows(
    trace: tracealyze.Trace, columns: list[str] | None, limit: int | None
) -> None:
    for chosen in (trace, trace.select(pid=12200), trace.select(where='syscall == "no such call"')):
        events = chosen.events_of(columns, limit)
        assert events.to_arrow().to_pydict() == {name: events.column(name) for name in events.columns}


def test_categories_are_the_texts_of_the_chosen_events(trace: tracealyze.Trace) -> None:
    for name in ("syscall", "target", "shape", "program", "kind"):
        column = trace.select(pid=12200).events.to_pandas()[name]
        assert set(column.cat.categories) == set(column.dropna())


def test_polars_takes_a_table(trace: tracealyze.Trace) -> None:
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(trace.loops).shape == trace.loops.to_polars().shape


def test_times_are_dates_if_the_clock_has_one(trace: tracealyze.Trace) -> None:
    events = trace.events.to_pandas(times=True)
    assert events.start.iloc[0] == pandas.Timestamp("2009-11-23T23:55:35.070800Z")
    assert (events.start + events.dur).dropna().max() == events.end.max()
    since = tracealyze.read("1 00:00:01 close(3) = 0\n1 00:00:03 close(3) = 0\n")
    starts = since.events.to_arrow(times=True)["start"].to_pylist()
    assert starts == [datetime.timedelta(seconds=1), datetime.timedelta(seconds=3)]


@pytest.mark.parametrize("name", ["events", "tasks", "partition", "loops", "gaps", "critical_path"])
def test_pickled_table_has_the_same_rows(name: str, trace: tracealyze.Trace) -> None:
    table = getattr(trace, name)
    stored = pickle.loads(pickle.dumps(table))
    assert list(stored) == list(table)
    assert (stored.name, stored.columns) == (table.name, table.columns)
    assert stored.to_pandas(times=True).dtypes.astype(str).equals(table.to_pandas(times=True).dtypes.astype(str))
    if name != "events":
        assert stored.where("pid == 12200") == table.where("pid == 12200")


def test_pickled_trace_reads_its_capture_again(trace: tracealyze.Trace) -> None:
    chosen = trace.select(pid=12200, where="dur_ns >= 40ms")
    assert pickle.loads(pickle.dumps(chosen)).totals == chosen.totals
    content = tracealyze.read(SSH.read_bytes())
    assert pickle.loads(pickle.dumps(content)).accounting == trace.accounting


def test_pickled_trace_rejects_a_changed_capture(tmp_path: Path) -> None:
    file = tmp_path / "small.strace"
    file.write_text(LINE.format(1, 1, "close(3)"))
    stored = pickle.dumps(tracealyze.read(file))
    file.write_text(LINE.format(1, 1, "close(3)") * 2)
    with pytest.raises(tracealyze.UnusableInput, match="changed since the trace was pickled"):
        pickle.loads(stored)


def test_comparisons_take_paths_and_traces(trace: tracealyze.Trace) -> None:
    assert tracealyze.diff(trace, SSH).to_pandas("processes").empty
    assert tracealyze.check([trace, SSH], budgets=["processes <= 5"]).has_passed
    assert not tracealyze.check(trace, fail_on="error").has_passed
    assert tracealyze.check(trace, base=[trace, SSH]).has_passed
    with pytest.raises(ValueError, match="nothing to check against"):
        tracealyze.check(trace)
    with pytest.raises(ValueError, match='no view "proceses"'):
        tracealyze.diff(trace, SSH).to_pandas("proceses")
    with pytest.raises(ValueError, match="-1 is not a size"):
        tracealyze.scaling({-1: trace})


def test_public_names_are_documented() -> None:
    public = {name: getattr(tracealyze, name) for name in dir(tracealyze) if not name.startswith("_")}
    classes = {name: value for name, value in public.items() if inspect.isclass(value)}
    for name in {*classes, *tracealyze.__all__} - {"__version__"}:
        assert inspect.getdoc(getattr(tracealyze, name)), name
    for function in (tracealyze.read, tracealyze.diff, tracealyze.check, tracealyze.scaling):
        described = inspect.getdoc(function) or ""
        assert all(part in described for part in ("Arguments:", "Raises:", "Example:")), function
    described = pydoc.plain(pydoc.render_doc(tracealyze))
    assert tracealyze.__version__ in described
    errors = [name for name, value in classes.items() if issubclass(value, Exception)]
    assert len(errors) == 7
    assert all(name in described for name in errors)
    # The methods that seven errors inherit took 700 of 1,144 lines. `Fleet`, `redact`, `convert` and some methods of
    # traces, which came later, take 290, and rows by number 10.
    assert len(described.splitlines()) < 550 + 310
