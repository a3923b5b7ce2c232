"""Findings and headlines promise no more than a replay without the causes saves."""

from __future__ import annotations

import pytest
from conftest import ROOT

import tracealyze
from tracealyze.base import units
from tracealyze.findings import replayed_savings
from tracealyze.findings.finding import Finding
from tracealyze.model.trace_tables import LeftOut, Variant
from tracealyze.trace.outcome.verdict import saving_ns

MS = units.MS
FIELD = ROOT / "tests" / "field"


def _trace(lives_ms: dict[str, int]) -> tracealyze.Trace:
    return tracealyze.read(_text(lives_ms).encode())


def _text(lives_ms: dict[str, int]) -> str:
    """A shell that starts programs in parallel, each of which sleeps, and waits for all of them."""
    lines = ['1 1700000001.000000 execve("/bin/sh", ["sh"], 0x1) = 0 <0.001000>']
    ends = []
    for number, (program, sleep_ms) in enumerate(lives_ms.items()):
        pid, at_us = number + 2, 2_000 + number * 1_000
        end_us = at_us + 400 + sleep_ms * 1_000
        lines += [
            f"1 {_at(at_us)} clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = {pid} <0.000100>",
            f'{pid} {_at(at_us + 150)} execve("/bin/{program}", ["{program}"], 0x1) = 0 <0.000200>',
            f"{pid} {_at(at_us + 400)} nanosleep({{tv_sec=0, tv_nsec=1}}, NULL) = 0 <{sleep_ms / 1000:.6f}>",
            f"{pid} {_at(end_us + 20)} exit_group(0) = ?",
            f"{pid} {_at(end_us + 60)} +++ exited with 0 +++",
        ]
        ends.append((end_us, pid))
    at_us = 2_000 + len(lives_ms) * 1_000
    for end_us, pid in sorted(ends):
        took_us = max(end_us + 100 - at_us, 20)
        status = "[{WIFEXITED(s) && WEXITSTATUS(s) == 0}]"
        lines.append(f"1 {_at(at_us)} wait4(-1, {status}, 0, NULL) = {pid} <{took_us / 1e6:.6f}>")
        at_us += took_us + 30
    lines += [f"1 {_at(at_us)} exit_group(0) = ?", f"1 {_at(at_us + 50)} +++ exited with 0 +++"]
    lines.sort(key=lambda line: line.split()[1])
    return "\n".join(lines) + "\n"


def _sleep(trace: tracealyze.Trace) -> Finding:
    return next(each for each in trace.findings if each.name == "fixed-sleep")


def _at(us: int) -> str:
    return f"{1_700_000_001 + us // 1_000_000}.{us % 1_000_000:06}"


def _saved_ms(finding: Finding) -> int:
    assert finding.impact_ns
    return round(finding.impact_ns[1] / MS)


def test_a_sleep_alone_saves_all_of_it() -> None:
    assert 690 <= _saved_ms(_sleep(_trace({"sleeper": 700}))) <= 700


def test_a_sleep_beside_a_shorter_one_saves_the_difference() -> None:
    trace = _trace({"sleeper": 700, "other": 500})
    finding = _sleep(trace)
    assert finding.program == "/bin/sleeper"
    assert 190 <= _saved_ms(finding) <= 200
    assert finding.advice.startswith("other runs meanwhile")
    assert "saves up to 698 ms" in finding.advice
    # With the other sleep removed, what-if still removes all of this one.
    both = trace.what_if([finding], without=['program == "/bin/other" and syscall == "nanosleep"'])
    assert both.observed_ns - both.together_ns[0] > 690 * MS


def test_large_captures_are_replayed_without_all_causes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replayed_savings, "MAX_REPLAYED_CALLS", 1)
    assert 190 <= _saved_ms(_sleep(_trace({"sleeper": 700, "other": 500}))) <= 200
    monkeypatch.setattr(replayed_savings, "MAX_REPLAYED_ONCE_CALLS", 1)
    assert 690 <= _saved_ms(_sleep(_trace({"sleeper": 700, "other": 500}))) <= 700


def test_a_short_rival_is_not_worth_a_word() -> None:
    finding = _sleep(_trace({"sleeper": 700, "other": 50}))
    assert 690 <= _saved_ms(finding) <= 700
    assert "meanwhile" not in finding.advice


def test_a_rival_with_a_sleep_of_unknown_duration_is_read() -> None:
    text = _text({"sleeper": 700, "other": 500})
    line = next(line for line in text.splitlines() if line.startswith("3 ") and "nanosleep" in line)
    # Nothing shows how long this sleep took: its end was not printed.
    unknown = f"3 {line.split()[1]} select(0, NULL, NULL, NULL, {{tv_sec=0, tv_usec=70}}) = ? ERESTARTNOHAND"
    trace = tracealyze.read(text.replace(line, f"{unknown}\n{line}").encode())
    assert None in {row["ran_ns"] for row in trace.table("sleeps")}
    assert 190 <= _saved_ms(_sleep(trace)) <= 200


def _twice_sleeping() -> str:
    """A program waits for the sleep of one child. Another sleeps, waits for its word, and sleeps again."""
    sleep = "nanosleep({{tv_sec=0, tv_nsec={ns}}}, NULL) = 0 <{s}>"
    wait = "wait4({pid}, [{{WIFEXITED(s) && WEXITSTATUS(s) == 0}}], 0, NULL) = {pid} <{s}>"
    fork = "clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = {pid} <0.000100>"
    records = [
        (1, 0, 'execve("/bin/chief", ["chief"], 0x1) = 0 <0.001000>'),
        (1, 2_000, fork.format(pid=2)),
        (2, 2_200, 'execve("/bin/first", ["first"], 0x1) = 0 <0.000200>'),
        (2, 2_500, sleep.format(ns=700_000_000, s="0.700000")),
        (1, 2_600, fork.format(pid=3)),
        (3, 2_800, 'execve("/bin/second", ["second"], 0x1) = 0 <0.000200>'),
        (3, 3_100, sleep.format(ns=500_000_000, s="0.500000")),
        (1, 3_200, wait.format(pid=2, s="0.699500")),
        (3, 503_200, 'read(0<pipe:[9]>, "x", 1) = 1 <0.199600>'),
        (2, 702_600, "exit_group(0) = ?"),
        (2, 702_650, "+++ exited with 0 +++"),
        (1, 702_750, 'write(4<pipe:[9]>, "x", 1) = 1 <0.000010>'),
        (1, 702_800, wait.format(pid=3, s="0.500400")),
        (3, 702_900, sleep.format(ns=500_000_000, s="0.500000")),
        (3, 1_203_000, "exit_group(0) = ?"),
        (3, 1_203_100, "+++ exited with 0 +++"),
        (1, 1_203_300, "exit_group(0) = ?"),
        (1, 1_203_350, "+++ exited with 0 +++"),
    ]
    return "".join(f"{pid} {_at(us)} {rest}\n" for pid, us, rest in records)


def test_a_sleep_behind_another_cause_says_what_it_saves_alone() -> None:
    trace = tracealyze.read(_twice_sleeping().encode())
    second, first = trace.findings
    assert (first.program, second.program) == ("/bin/first", "/bin/second")
    # Its first sleep is over before that of the other child.
    assert second.advice.startswith("Alone, this saves at most 500 ms: another cause takes as long. ")
    assert "Alone" not in first.advice
    assert [_saved_ms(second), _saved_ms(first)] == [1000, 199]
    fix = trace.what_if([second, first]).fixes[0]
    assert fix.saves_ns[1] <= 500 * MS < 990 * MS < fix.saves_with_others_ns


def test_a_cause_that_another_fix_removes_says_so() -> None:
    trace = tracealyze.read(FIELD / "proofs" / "captures" / "retries-with-pauses.strace.xz")
    retries = next(finding for finding in trace.findings if finding.name == "retry-loop")
    assert retries.advice.startswith("After the other causes are fixed, this saves nothing. ")


def test_the_headline_is_no_more_than_a_replay_without_all_causes_saves() -> None:
    trace = tracealyze.read(FIELD / "captures" / "curl-serial.strace.xz")
    low_ns, high_ns = saving_ns(trace, trace.findings)
    promised_ns = sum(finding.impact_ns[1] for finding in trace.findings if finding.impact_ns)
    claims = [cause.claims for cause in trace.diagnosis.causes]
    kept = [
        (number, cause.kept_ppm(finding.impact_ns[1] if finding.impact_ns else 0))
        for number, (finding, cause) in enumerate(zip(trace.findings, trace.diagnosis.causes, strict=True))
    ]
    variants = [Variant(tuple(shares), LeftOut.NOTHING) for shares in ([], kept)]
    before, after = trace.replayed(0, claims, (), variants)
    assert high_ns < 0.95 * promised_ns
    assert (low_ns, high_ns) == (0, before.wall_ns - after.wall_ns)
