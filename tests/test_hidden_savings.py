"""A finding does not promise time that another process takes over: a replay without the cause shows that."""

from __future__ import annotations

import tracealyze
from tracealyze.base import units
from tracealyze.findings.finding import Finding

MS = units.MS


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
