"""Tables that tracers print (-c, -s) in `diff` and `check`: counts and seconds, and nothing that they do not have."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from conftest import ROOT, Run
from test_golden import equals_golden

GOLDEN = ROOT / "tests" / "golden_gate"
SCHEMA = json.loads((ROOT / "tests" / "schemas" / "states.json").read_text(encoding="utf-8"))

Rows = dict[str, tuple[int, int, int]]
"""The calls, failed calls and microseconds of each syscall."""

HEALTHY: Rows = {"read": (200, 0, 4_000), "openat": (40, 8, 900), "futex": (10, 0, 300_000)}
DEGRADED: Rows = {"read": (2_000, 0, 41_000), "openat": (41, 8, 950), "futex": (90, 4, 2_900_000)}
STUCK: Rows = {"openat": (40, 8, 900), "futex": (12, 11, 60_000_000)}


def strace(rows: Rows) -> str:
    head = "% time     seconds  usecs/call     calls    errors syscall\n"
    head += "------ ----------- ----------- --------- --------- ----------------\n"
    body = (
        f"  1.00 {us / 1e6:11.6f} {us // calls:11} {calls:9} {failed or '':>9} {name}\n"
        for name, (calls, failed, us) in rows.items()
    )
    return f"{head}{''.join(body)}"


def perf(rows: Rows) -> str:
    head = " Summary of events:\n\n tool (4711), 500 events, 99.0%\n\n"
    head += "   syscall            calls  errors  total       min       avg       max       stddev\n"
    head += "                                     (msec)    (msec)    (msec)    (msec)        (%)\n"
    head += "   --------------- --------  ------ -------- --------- --------- ---------     ------\n"
    return head + "".join(
        f"   {name:<15} {calls:8} {failed:6} {us / 1e3:9.3f} {0.001:9.3f} {0.001:9.3f} {9.1:9.3f}     10.00%\n"
        for name, (calls, failed, us) in rows.items()
    )


def perf_bpf(rows: Rows) -> str:
    """`perf trace -s --bpf-summary --summary-mode=total`."""
    return perf(rows).replace(" tool (4711), 500 events, 99.0%", " total, 500 events")


def truss(rows: Rows) -> str:
    body = (f"{name:<20} {us / 1e6:14.9f} {calls:7} {failed:7}\n" for name, (calls, failed, us) in rows.items())
    return f"syscall                     seconds   calls  errors\n{''.join(body)}"


def dtruss(rows: Rows) -> str:
    body = (f"{name:<32}{calls:>17}\n" for name, (calls, _, _) in rows.items())
    return f"CALL                                        COUNT\n{''.join(body)}"


TRACERS = [strace, perf, perf_bpf, truss, dtruss]


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return name


@pytest.mark.parametrize("tracer", TRACERS)
def test_states_are_columns_of_all_tables(tracer: Callable[[Rows], str], tmp_path: Path, run: Run) -> None:
    named = {"healthy": HEALTHY, "degraded": DEGRADED, "stuck": STUCK}
    files = [write(tmp_path, f"{name}.txt", tracer(rows)) for name, rows in named.items()]
    done = run("diff", *files, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    jsonschema.validate(found, SCHEMA)
    assert [each["name"] for each in found["states"]] == list(named)
    rows = {each["syscall"]: each for each in found["syscalls"]}
    assert rows["read"]["calls"] == [200, 2_000, 0]
    has_times = tracer is not dtruss
    assert rows["futex"]["failed"] == ([0, 4, 11] if has_times else [0, 0, 0])
    assert rows["futex"]["total_ns"] == ([300_000_000, 2_900_000_000, 60_000_000_000] if has_times else [None] * 3)
    assert found["syscalls"][0]["syscall"] == ("futex" if has_times else "read")


def test_states_look_like_this(tmp_path: Path, run: Run) -> None:
    named = {"healthy": HEALTHY, "degraded": DEGRADED, "stuck": STUCK}
    files = [write(tmp_path, f"{name}.txt", strace(rows)) for name, rows in named.items()]
    equals_golden(run("diff", *files, cwd=tmp_path, COLUMNS="110").stdout, GOLDEN / "states.txt")
    for form, end in (("markdown", "md"), ("csv", "csv")):
        equals_golden(run("diff", *files, "--format", form, cwd=tmp_path).stdout, GOLDEN / f"states.{end}")


def test_states_of_equal_tables_do_not_differ(tmp_path: Path, run: Run) -> None:
    files = [write(tmp_path, f"{name}.txt", strace(HEALTHY)) for name in "abc"]
    assert run("diff", *files, cwd=tmp_path).stdout.endswith("No syscall differs.\n")


def test_states_may_be_captures_with_calls(tmp_path: Path, run: Run) -> None:
    calls = '7 1700000010.000000 execve("/bin/tool", ["tool"], 0x7ffd /* 1 var */) = 0 <0.000500>\n'
    calls += '7 1700000010.001000 read(3, "x", 1) = 1 <0.500000>\n'
    files = [write(tmp_path, "one.strace", calls), *(write(tmp_path, f"{n}.txt", strace(HEALTHY)) for n in "ab")]
    rows = json.loads(run("diff", *files, "--json", cwd=tmp_path).stdout)["syscalls"]
    assert next(each for each in rows if each["syscall"] == "read")["total_ns"] == [500_000_000, 4_000_000, 4_000_000]


@pytest.mark.parametrize("tracer", TRACERS)
def test_gate_compares_tables(tracer: Callable[[Rows], str], tmp_path: Path, run: Run) -> None:
    base, head = (write(tmp_path, f"{n}.txt", tracer(rows)) for n, rows in (("a", HEALTHY), ("b", DEGRADED)))
    done = run("check", head, "--base", base, "--json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    [cause] = found["regressions"]
    assert cause["rows"][0] | {"lines": []} == {
        "what": "read()", "before": 200, "after": 2000, "unit": "", "by": "", "lines": []
    }  # fmt: skip
    metrics = {each["metric"] for each in found["judgements"]}
    assert {"calls", "failed", "calls[futex]"} <= metrics
    assert not metrics & {"opens", "processes", "lookups_missed", "bytes_read", "deliberate_wait"}
    assert "Processes, files opened, requested waits" in found["notes"][0]
    assert run("check", base, "--base", base, cwd=tmp_path).returncode == 0


def test_baseline_of_tables_is_a_baseline(tmp_path: Path, run: Run) -> None:
    base, head = (write(tmp_path, f"{n}.txt", strace(rows)) for n, rows in (("a", HEALTHY), ("b", DEGRADED)))
    assert run("baseline", "create", base, cwd=tmp_path).returncode == 0
    assert run("check", base, cwd=tmp_path).returncode == 0
    assert "1,800 more calls of read" not in (found := run("check", head, cwd=tmp_path).stdout)
    assert "read()" in found


def test_budgets_hold_for_seconds_of_a_table(tmp_path: Path, run: Run) -> None:
    file = write(tmp_path, "a.txt", strace(HEALTHY))
    assert run("check", file, "--budget", "call_duration[futex] <= 1s", cwd=tmp_path).returncode == 0
    done = run("check", file, "--budget", "call_duration[futex] <= 10ms", cwd=tmp_path)
    assert (done.returncode, "call_duration[futex] 300 ms, limit 10.0 ms" in done.stdout) == (1, True)


@pytest.mark.parametrize("metric", ["opens", "processes", "calls[openat, ENOENT]", "lookups_missed", "bytes_read"])
def test_budgets_on_what_a_table_lacks_are_refused(metric: str, tmp_path: Path, run: Run) -> None:
    """A table has no errors by name. Such a budget passed with zero."""
    done = run("check", write(tmp_path, "a.txt", strace(HEALTHY)), "--budget", f"{metric} <= 1", cwd=tmp_path)
    assert done.returncode == 2
    assert "a table of the tracer, which has only calls, calls[SYSCALL], failed" in done.stderr


def test_seconds_of_a_table_without_seconds_are_refused(tmp_path: Path, run: Run) -> None:
    file = write(tmp_path, "a.txt", dtruss(HEALTHY))
    done = run("check", file, "--budget", "call_duration <= 1s", cwd=tmp_path)
    assert (done.returncode, "which has only calls, calls[SYSCALL], failed." in done.stderr) == (2, True)


def test_comment_has_no_zero_for_what_a_table_lacks(tmp_path: Path, run: Run) -> None:
    base, head = (write(tmp_path, f"{n}.txt", strace(rows)) for n, rows in (("a", HEALTHY), ("b", DEGRADED)))
    equals_golden(run("check", head, "--base", base, "--output", "pr", cwd=tmp_path).stdout, GOLDEN / "pr-table.md")
