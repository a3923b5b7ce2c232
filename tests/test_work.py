"""The work of a capture, which `check` and `diff` compare, has the same rows and sums as `calls`."""

from __future__ import annotations

from collections import Counter

from conftest import ROOT

import tracealyze

KEYS = ("program_name", "syscall", "op", "errno", "outcome", "target_kind")
AMOUNTS = ("calls", "bytes", "exclusive_ns", "first_line", "last_line")
CAPTURE = ROOT / "samples" / "ssh-login" / "ssh-login.truss"


def test_all_shapes_are_rows_of_calls_in_their_order() -> None:
    trace = tracealyze.read(CAPTURE)
    shapes, sums = trace.work(1000, 500, ())
    columns = (*KEYS, "shape", *AMOUNTS)
    assert sums is None
    assert list(shapes.dicts(columns)) == list(trace.calls((*KEYS, "shape"), quantiles=False).dicts(columns))


def test_the_largest_shapes_are_listed_and_sums_have_all_calls() -> None:
    trace = tracealyze.read(CAPTURE)
    shapes, sums = trace.work(10, 2, ("execve",))
    assert sums is not None
    most = trace.calls((*KEYS, "shape"), order="calls", limit=2)
    assert shapes["shape"][:2] == most["shape"]
    assert {row["shape"] for row in shapes} >= {
        row["shape"] for row in trace.calls((*KEYS, "shape")) if row["syscall"] == "execve"
    }
    columns = (*KEYS, *AMOUNTS)
    assert list(sums.dicts(columns)) == list(trace.calls(KEYS, quantiles=False).dicts(columns))


def test_calls_of_programs_with_threads_are_loose() -> None:
    lines = [
        '1 1.000000 execve("/bin/a", ["a"], 0x1 /* 1 var */) = 0 <0.000100>',
        "1 1.001000 clone(child_stack=0x1, flags=CLONE_VM|CLONE_SIGHAND|CLONE_THREAD) = 2 <0.000100>",
        "2 1.002000 getppid() = 0 <0.000100>",
        "1 1.003000 fork() = 3 <0.000100>",
        '3 1.004000 execve("/bin/b", ["b"], 0x1 /* 1 var */) = 0 <0.000100>',
        "3 1.005000 getppid() = 1 <0.000100>",
    ]
    shapes, _ = tracealyze.read("\n".join(lines).encode() + b"\n").work(100, 50, ())
    loose: Counter[tuple[str, str]] = Counter()
    for row in shapes:
        loose[row["program_name"], row["syscall"]] += row["loose_calls"]
    assert loose["a", "getppid"] == 1
    assert loose["b", "getppid"] == 0
