"""Numbers that no run has: shares stay shares, and nothing overflows."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import tracealyze
from tracealyze import Trace

_TABLE = "  97.13        6.511904                      4      1610277      1596010  open\n"
_OTHER = "   2.87        0.192000                     40         4800              read\n"
_CALL = "18799 01:45:16.198077 close(3)          = 0 <0.000007>\n"
_HUGE = """\
Process 5121 attached with 6 threads - interrupt to quit
[pid  5126] 08:19:03 futex(0x77ad04, FUTEX_WAIT_PRIVATE, 51220117, NULL <unfinished ...>
[pid  5121] 08:19:03 accept4(11, 0, NULL, SOCK_CLOEXEC|SOCK_NONBLOCK) = -1 EMFILE (Too many open files) <{0}>
[pid  5121] 08:19:03 close(8)           = 0 <{1}>
"""


def _numbers(value: object, name: str = "") -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _numbers(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from _numbers(item, name)
    elif isinstance(value, int | float):
        yield name, value


def _is_sane(trace: Trace) -> None:
    document = trace.summary().document(full=True)
    json.dumps(document, allow_nan=False)
    for name, number in _numbers(document):
        assert not name.endswith("_ns") or 0 <= number < 2**63, name
        assert not name.endswith("share") or 0 <= number <= 1, name


@pytest.mark.parametrize("text", [_TABLE + _CALL, _CALL + _TABLE, _OTHER + _CALL + _TABLE])
def test_shares_of_a_tracers_table_are_of_the_table(text: str) -> None:
    trace = tracealyze.read(text.encode())
    _is_sane(trace)
    found = {each.name: each for each in trace.findings}
    assert found["lookup-total"].basis == found["costly-total"].basis == "elapsed"
    total_ns = 6_703_904_000 if _OTHER in text else 6_511_904_000
    assert found["costly-total"].share == pytest.approx(6_511_904_000 / total_ns)
    assert "in the tracer's table)" in found["costly-total"].message


@pytest.mark.parametrize(
    "durations", [("4294967295", "18446744073709551616"), ("9223372036854775807.999999", "9223372036.854775")]
)
def test_absurd_durations_do_not_overflow(durations: tuple[str, str]) -> None:
    _is_sane(tracealyze.read(_HUGE.format(*durations).encode()))


def test_sums_of_many_absurd_durations_do_not_overflow() -> None:
    lines = [f"7 17000000{at:02}.000000 close(3) = 0 <9223372035.854775>" for at in range(10, 99)]
    threads = [f"{at} 1700000100.000000 close(3) = 0 <9223372035.854775>" for at in range(100, 400)]
    _is_sane(tracealyze.read("\n".join([*lines, *threads, ""]).encode()))
