"""Times, sizes and shares, as people read and write them."""

from __future__ import annotations

import pytest

from tracealyze import units
from tracealyze.errors import WrongUsage


@pytest.mark.parametrize(
    ("ns", "tick_ns", "shown"),
    [
        (1_700_000_000_100_000_000, 1, "1700000000.100000000"),
        (1_700_000_000_999_999_999, 1_000, "1700000001.000000"),
        (3_724_500_000, 100_000, "3.7245"),
        (-1_500, 1, "-0.000001500"),
        (41_000_000_000, units.S, "41"),
    ],
)
def test_a_moment_has_each_digit_of_its_clock(ns: int, tick_ns: int, shown: str) -> None:
    assert units.moment(ns, tick_ns) == shown


@pytest.mark.parametrize(
    ("ns", "tick_ns", "shown"),
    [
        (9_741_200_000, 100_000, "9.74 s"),
        (10_260_900_000, 100_000, "10.26 s"),
        (32_798_000, 1_000, "32.8 ms"),
        (300_000, 100_000, "0.3 ms"),
        (40_000, 100_000, "< 0.1 ms"),
        (1_234, 1, "1.23 µs"),
        (12, 1, "12 ns"),
        (999_999_999, 1, "1.00 s"),
        (5_000_000_000, 1_000_000_000, "5 s ±1 s"),
        (400_000_000, 1_000_000_000, "< 1 s"),
        (130_000_000_000, 1_000_000_000, "130 s"),
        (30_000_000, 10_000_000, "30 ms ±10 ms"),
        (0, 1, "0 s"),
        (700_000_000_000, 1, "11 min 40 s"),
        (86_000_000_000_000, 1, "23 h 53 min"),
    ],
)
def test_a_duration_has_no_more_digits_than_its_clock(ns: int, tick_ns: int, shown: str) -> None:
    assert units.duration(ns, tick_ns) == shown


@pytest.mark.parametrize(("text", "ns"), [("10ms", 10_000_000), ("1.5 s", 1_500_000_000), ("2min", 120_000_000_000)])
def test_a_duration_is_read_with_its_unit(text: str, ns: int) -> None:
    assert units.read_duration(text) == ns


@pytest.mark.parametrize("text", ["10", "ten ms", "10 parsecs", ""])
def test_what_is_no_duration_says_how_to_write_one(text: str) -> None:
    with pytest.raises(WrongUsage, match="write 10ms"):
        units.read_duration(text)


@pytest.mark.parametrize(
    ("fraction", "shown"),
    [(0.0, "0%"), (0.0004, "< 0.1%"), (0.008, "0.8%"), (0.853, "85%"), (0.9997, "> 99%"), (1.0, "100%")],
)
def test_a_share_is_neither_nothing_nor_all_by_rounding(fraction: float, shown: str) -> None:
    assert units.share(fraction) == shown


def test_a_share_says_how_far_it_may_be_off_if_that_is_much() -> None:
    assert [units.share(0.375, precision) for precision in (0.0, 0.001, 0.125)] == ["38%", "38%", "38% ±12%"]
    assert units.share(1.0, 0.125) == "100%"


def test_a_limit_below_the_step_of_the_clock_is_told_as_a_step() -> None:
    assert [units.least(8_000_000, tick_ns) for tick_ns in (1_000, 1_000_000_000)] == ["8.00 ms", "1 s"]


def test_a_column_of_durations_has_one_unit() -> None:
    name, show = units.durations([9_741_200_000, 254_000_000, 95_000_000, None], 100_000)
    assert (name, show(254_000_000), show(None), show(1_000)) == ("s", "0.254", "", "<0.001")
