"""Captures with different clocks on one axis: calls and a log, and the captures of two hosts."""

from __future__ import annotations

from pathlib import Path

import pytest

import tracealyze
from tracealyze.base.errors import TracealyzeError
from tracealyze.render.picture.timeline_document import document
from tracealyze.trace.together.connections import Ends, difference_ns
from tracealyze.trace.together.shared_axis import Basis, Extent, Shift, axis_of, extents_of, note, shifts

S = 1_000_000_000
HOUR = 3600 * S
DAY = 24 * HOUR
NOON = 20_000 * DAY + 12 * HOUR

CASES = [
    ("one clock", [Extent("a", "epoch", False, False, NOON, NOON + S)] * 2, (0, Basis.CLOCK)),
    (
        "a time of day",
        [
            Extent("a", "epoch", True, True, NOON, NOON + S),
            Extent("b", "time-of-day", False, False, 12 * HOUR, 13 * HOUR),
        ],
        (20_000 * DAY, Basis.DAYS),
    ),
    (
        "local time of a log",
        [
            Extent("a", "epoch", False, False, NOON, NOON + S),
            Extent("b", "epoch", True, True, NOON + 2 * HOUR, NOON + 2 * HOUR + S),
        ],
        (-2 * HOUR, Basis.ZONE),
    ),
    (
        "a log that prints its zone is of another time",
        [
            Extent("a", "epoch", False, False, NOON, NOON + S),
            Extent("b", "epoch", True, False, NOON + 2 * HOUR, NOON + 2 * HOUR + S),
        ],
        (0, Basis.CLOCK),
    ),
    (
        "captures of an hour fit in several zones",
        [
            Extent("a", "epoch", False, False, NOON, NOON + HOUR),
            Extent("b", "epoch", True, True, NOON + 2 * HOUR, NOON + 3 * HOUR),
        ],
        (0, Basis.CLOCK),
    ),
    (
        "two runs of one command",
        [
            Extent("a", "epoch", False, False, NOON, NOON + S),
            Extent("b", "epoch", False, False, NOON + HOUR, NOON + HOUR + S),
        ],
        (0, Basis.CLOCK),
    ),
    (
        "moments that the user names",
        [
            Extent("a", "epoch", False, False, NOON, NOON + S, NOON + S),
            Extent("b", "since-previous", False, False, 0, 5 * S, 2 * S),
        ],
        (NOON - S, Basis.GIVEN),
    ),
]


@pytest.mark.parametrize(("extents", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_shift_to_the_first_clock(extents: list[Extent], expected: tuple[int, Basis]) -> None:
    assert shifts(extents)[1] == Shift(*expected)


def test_clocks_without_a_common_moment_have_no_shift() -> None:
    extents = [Extent("a", "epoch", False, False, NOON, NOON + S), Extent("b", "since-start", True, True, 0, S)]
    assert shifts(extents) == [Shift(0), None]
    assert axis_of(extents) is None


def test_axis_has_captures_of_one_time_only() -> None:
    first = Extent("a", "epoch", False, False, NOON, NOON + 4 * S)
    second = Extent("b", "epoch", True, True, NOON + S, NOON + 5 * S)
    axis = axis_of([first, second])
    assert axis is not None
    assert [axis.on(0), axis.on(1)] == [(0, 5 * S), (S, 5 * S)]
    assert axis_of([first, Extent("b", "epoch", True, False, NOON + HOUR, NOON + HOUR + S)]) is None


def test_what_was_received_bounds_the_difference() -> None:
    near, far = {("c", "s"): Ends(100, 900)}, {("s", "c"): Ends(1_800, 1_200)}
    assert difference_ns(near, far) == (-1_100, -900)
    assert difference_ns(near, {("s", "x"): Ends(1, 2)}) is None


_CLIENT = """9 1764374400.000000 execve("/bin/ask", ["ask"], 0x7ffd /* 1 var */) = 0 <0.001000>
9 1764374400.100000 sendto(3<TCP:[10.0.0.1:4000->10.0.0.2:80]>, "q", 1, 0, NULL, 0) = 1 <0.000020>
9 1764374400.110000 recvfrom(3<TCP:[10.0.0.1:4000->10.0.0.2:80]>, "a", 9, 0, NULL, NULL) = 1 <0.800000>
9 1764374400.920000 exit_group(0) = ?
"""
_SERVER = """4 1764374397.000000 execve("/bin/serve", ["serve"], 0x7ffd /* 1 var */) = 0 <0.001000>
4 1764374397.599000 recvfrom(4<TCP:[10.0.0.2:80->10.0.0.1:4000]>, "q", 9, 0, NULL, NULL) = 1 <0.000010>
4 1764374398.400000 sendto(4<TCP:[10.0.0.2:80->10.0.0.1:4000]>, "a", 1, 0, NULL, 0) = 1 <0.000020>
4 1764374398.500000 exit_group(0) = ?
"""


def _written(folder: Path) -> list[tracealyze.Trace]:
    texts = {"client.strace": _CLIENT, "server.strace": _SERVER}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [tracealyze.read(folder / name) for name in texts]


def test_hosts_are_aligned_by_their_connection(tmp_path: Path) -> None:
    extents = extents_of(_written(tmp_path))
    shift = shifts(extents)[1]
    assert shift is not None
    # The request bounds it from below, and the answer from above.
    assert 2_500_990_000 <= shift.ns <= 2_510_000_000
    assert "2.51 s behind, by what the hosts sent each other" in str(note(extents[1], shift))


def test_timeline_of_both_has_one_axis(tmp_path: Path) -> None:
    client, server = document(_written(tmp_path), 9)["captures"]
    assert client["axis_ns"] == server["axis_ns"] >= client["wall_ns"] + client["before_ns"]
    assert (server["before_ns"], client["before_ns"] > 0) == (0, True)


@pytest.mark.parametrize(
    ("text", "said"), [("other.strace=line:1", "the captures are"), ("client.strace=line:99", "no such line")]
)
def test_wrong_moments_are_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(TracealyzeError, match=said):
        extents_of(_written(tmp_path), [text])


def test_named_moments_are_the_same(tmp_path: Path) -> None:
    found = shifts(extents_of(_written(tmp_path), ["client.strace=line:1", "server.strace=line:1"]))
    assert found[1] == Shift(3 * S, Basis.GIVEN)
