"""Kept captures as other options or other tracers print them: less is known, and no more is claimed."""

from __future__ import annotations

import lzma
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest
import renderings
from rule_cases import CAPTURED, Case, findings_text

import tracealyze
from tracealyze.findings.compiled_rules import INCUBATOR
from tracealyze.findings.finding import Finding, Severity
from tracealyze.findings.rule_set import rules

_ALL = rules(INCUBATOR)
_COSTLY = {rule.name for rule in _ALL if rule.cost}
_PLAIN = [case for case in CAPTURED if case.is_text and "-ttt" in case.options and "-T" in case.options]
_HEALTHY = [case for case in _PLAIN if case.rule == "healthy"]
_FAULTS = [case for case in _PLAIN if case.rule in case.finds]
_TRACERS: dict[str, Callable[[str], str]] = {
    "solaris-truss": renderings.solaris_truss,
    "freebsd-truss": renderings.freebsd_truss,
    "dtruss": renderings.dtruss,
}
_NOT_SHOWN: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("renderings.toml").read_text(encoding="utf-8")
)
# With whole seconds, the time between calls is known only in sum, so neither is the part of it that tracing takes.
_WHOLE_SECONDS_DIFFER = {
    "ping-pong/found-1": "how much of 1 s of hand-overs is spent between calls",
}
_BOUNDED: dict[str, Callable[[str], str]] = {
    "strace-without-T": renderings.without_durations,
    "solaris-truss": renderings.solaris_truss,
}


@cache
def _text(case: Case) -> str:
    return lzma.decompress(case.capture.read_bytes()).decode(errors="surrogateescape")


@cache
def _trace(case: Case) -> tracealyze.Trace:
    return tracealyze.read(case.capture).with_rules(_ALL)


def _accused(trace: tracealyze.Trace) -> list[str]:
    """Rules whose findings are warnings or errors, the most expensive first."""
    return [each.name for each in trace.findings if each.severity is not Severity.INFO]


def _rendered(folder: Path, case: Case, render: Callable[[str], str]) -> tracealyze.Trace:
    capture = folder / "rendered"
    capture.write_text(render(_text(case)), errors="surrogateescape")
    return tracealyze.read(capture).with_rules(_ALL)


@pytest.mark.parametrize("case", _PLAIN, ids=lambda case: case.name)
@pytest.mark.parametrize("tracer", _BOUNDED)
def test_upper_bounds_are_never_called_measured(case: Case, tracer: str, tmp_path: Path) -> None:
    trace = _rendered(tmp_path, case, _BOUNDED[tracer])
    assert all(each.dur_kind == "upper-bound" for each in trace.captures)
    measured = [each.name for each in trace.findings if each.name in _COSTLY and each.confidence == "measured"]
    assert measured == [], findings_text(trace)
    claims = [text for each in trace.findings for text in (each.message, each.advice) if "the kernel takes" in text]
    assert claims == []


@pytest.mark.parametrize("case", _PLAIN, ids=lambda case: case.name)
def test_without_durations_nothing_else_is_accused(case: Case, tmp_path: Path) -> None:
    trace = _rendered(tmp_path, case, renderings.without_durations)
    known = {name for each in _trace(case).findings for name in (each.name, *each.also)}
    assert set(_accused(trace)) <= known, findings_text(trace)


# What the rendering does not print would show another cause.
_SOLARIS_DIFFERS = {
    "expired-timeout/found-4": "the addresses of sockets of Unix",
    "own-timer/found-3": "the timer that ends a read is its limit, and the peer's death is later",
}


@pytest.mark.parametrize("case", _PLAIN, ids=lambda case: case.name)
def test_solaris_bounds_accuse_nothing_else(case: Case, tmp_path: Path) -> None:
    trace = _rendered(tmp_path, case, renderings.solaris_truss)
    known = {name for each in _trace(case).findings for name in (each.name, *each.also)}
    assert (set(_accused(trace)) <= known) is (case.name not in _SOLARIS_DIFFERS), findings_text(trace)


@pytest.mark.parametrize("case", _FAULTS, ids=lambda case: case.name)
@pytest.mark.parametrize("tracer", _TRACERS)
def test_other_tracers_show_the_same_cause(case: Case, tracer: str, tmp_path: Path) -> None:
    trace = _rendered(tmp_path, case, _TRACERS[tracer])
    exact, found = (
        [each for each in traced.findings if case.rule in (each.name, *each.also)] for traced in (_trace(case), trace)
    )
    assert bool(found) is (case.name not in _NOT_SHOWN[tracer]), findings_text(trace)
    named = [each for each in found if each.name == case.rule]
    if named and any(each.name == case.rule for each in exact):
        assert {each.program for each in found} & {each.program for each in exact}, findings_text(trace)
        assert _calls(found, {}) == _calls(exact, renderings.NAMES[tracer]), findings_text(trace)
    if tracer == "dtruss":
        assert trace.window.reason == "per_thread_clock"
        assert {each.basis for each in found} <= {"elapsed"}
        # Without the order of tasks, it is unknown what ends a wait.
        assert [each for each in trace.findings if "outside the capture" in each.diagnosis + each.message] == []


def _calls(findings: Iterable[Finding], names: Mapping[str, str]) -> set[str]:
    """The system calls of findings, by the names that another system has for them."""
    return {names.get(each.syscall, each.syscall) for each in findings if each.syscall}


def test_each_exception_is_a_fault() -> None:
    names = {case.name for case in _FAULTS}
    assert {name for tracer in _NOT_SHOWN.values() for name in tracer} <= names


@pytest.mark.parametrize("case", _HEALTHY, ids=lambda case: case.name)
def test_dtruss_accuses_nothing_else_than_strace(case: Case, tmp_path: Path) -> None:
    trace = _rendered(tmp_path, case, renderings.dtruss)
    known = {name for each in _trace(case).findings for name in (each.name, *each.also)}
    assert set(_accused(trace)) <= known, findings_text(trace)


def test_dtruss_reports_what_ran_and_what_waited(tmp_path: Path) -> None:
    case = next(case for case in _PLAIN if case.name == "fixed-sleep/found-2")
    trace = _rendered(tmp_path, case, renderings.dtruss)
    rows = {row["syscall"]: row for row in trace.calls(["syscall"])}
    assert rows["__semwait_signal"]["cpu_ns"] < 0.001 * rows["__semwait_signal"]["total_ns"]
    assert all(row["cpu_ns"] > 0 for row in trace.processes if row["calls"])


@pytest.mark.parametrize("phase_ms", [0, 250, 500, 750])
@pytest.mark.parametrize("case", _PLAIN, ids=lambda case: case.name)
def test_whole_seconds_show_the_same_cause(case: Case, phase_ms: int, tmp_path: Path) -> None:
    trace = _rendered(tmp_path, case, lambda text: renderings.whole_seconds(text, phase_ms))
    first, exact = (next(iter(_accused(each)), None) for each in (trace, _trace(case)))
    known = {name for each in _trace(case).findings for name in (each.name, *each.also)}
    assert set(_accused(trace)) <= known, findings_text(trace)
    if case.name not in _WHOLE_SECONDS_DIFFER:
        assert first == exact, findings_text(trace)
        assert set(_accused(trace)) <= set(_accused(_trace(case)))


_BUSY = """\
\tPID/THRD  RELATIVE  ELAPSD    CPU SYSCALL(args) \t\t = return
  501/0x501:        12       9      5 open("/etc/hosts\\0", 0x0, 0x1B6)\t\t = 3 0
  501/0x501:        25       7      4 read(0x3, "127.0.0.1\\0", 0x1000)\t\t = 10 0
  501/0x501:   2670412      31     12 write(0x1, "done\\n\\0", 0x5)\t\t = 5 0
  501/0x501:   2671450       5      2 close(0x1)\t\t = 0 0
"""


def test_dtruss_names_cpu_time_between_calls(tmp_path: Path) -> None:
    file = tmp_path / "busy.dtruss"
    file.write_text(_BUSY, encoding="utf-8")
    trace = tracealyze.read(file)
    (process,) = trace.processes
    # The clock of the thread counts before the first line, too: calls that the tracer did not see.
    own_us = 2_671_450 - 12 - (4 + 12 + 2)
    assert process["own_cpu_ns"] == own_us * 1_000
    assert (process["max_own_cpu_ns"], process["max_own_cpu_line"]) == ((2_670_412 - 25 - 12) * 1_000, 4)
    sentence, ending = trace.summary().diagnosis
    steps = "Its last steps: open /etc/hosts (line 2); read /etc/hosts (line 3)."
    assert ending.text == f"The capture ends before pid 501 does. {steps}"
    assert "2.67 s of CPU outside system calls, 2.67 s of it before line 4" in sentence.text


def test_cpu_time_is_said_before_counts_of_calls(tmp_path: Path) -> None:
    head, opened, _, *rest = _BUSY.splitlines(keepends=True)
    reads = [
        f'  501/0x501:  {25 + 7 * number:8}       7      4 read(0x3, "abc\\0", 0x1000)\t\t = 3 0\n'
        for number in range(40)
    ]
    file = tmp_path / "reads.dtruss"
    file.write_text("".join([head, opened, *reads, *rest]), encoding="utf-8")
    first, second = tracealyze.read(file).summary().diagnosis
    assert "2.67 s of CPU outside system calls" in first.text
    assert "reads 120 bytes in 40 pieces" in second.text


def _subshells(waited: bool) -> str:
    lines = ["\tPID/THRD  RELATIVE  ELAPSD    CPU SYSCALL(args) \t\t = return"]
    for pid in range(600, 660):
        lines += [
            f"  501/0x9a1:  {20 * pid:8}    2900     15 fork()\t\t = {pid} 0",
            f"{pid:5}/0x{3 * pid:x}:        0:      0:      0: fork()\t\t = 0 0",
            f'{pid:5}/0x{3 * pid:x}:        90      12      8 write(0x1, "2\\n\\0", 0x2)\t\t = 2 0',
        ]
        if waited:
            lines.append(f"  501/0x9a1:  {20 * pid + 5:8}    7100      9 wait4(0x0, 0x7FFEEFBFE8A4, 0x0)\t\t = {pid} 0")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("waited", [True, False])
def test_dtruss_counts_subshells_that_waits_return(waited: bool, tmp_path: Path) -> None:
    """Processes that no wait returns may be the workers of a server."""
    file = tmp_path / "shell.dtruss"
    file.write_text(_subshells(waited), encoding="utf-8")
    names = {each.name for each in tracealyze.read(file).findings}
    assert ("process-storm" in names) is waited


def test_strace_has_no_cpu_time_outside_calls(tmp_path: Path) -> None:
    file = tmp_path / "plain.strace"
    file.write_text('1 1700000000.000000 write(1, "a", 1) = 1 <0.5>\n', encoding="utf-8")
    assert tracealyze.read(file).processes.column("own_cpu_ns") == [None]
