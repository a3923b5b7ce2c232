"""Durations, sizes and shares, as people read and write them."""

from __future__ import annotations

import pytest

from tracealyze.base import units
from tracealyze.base.errors import WrongUsage


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
def test_moment_has_the_digits_of_its_clock(ns: int, tick_ns: int, shown: str) -> None:
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
def test_duration_has_no_more_digits_than_its_clock(ns: int, tick_ns: int, shown: str) -> None:
    assert units.duration(ns, tick_ns) == shown


@pytest.mark.parametrize(("text", "ns"), [("10ms", 10_000_000), ("1.5 s", 1_500_000_000), ("2min", 120_000_000_000)])
def test_duration_is_read_with_its_unit(text: str, ns: int) -> None:
    assert units.read_duration(text) == ns


@pytest.mark.parametrize("text", ["10", "ten ms", "10 parsecs", ""])
def test_invalid_duration_error_shows_a_valid_one(text: str) -> None:
    with pytest.raises(WrongUsage, match="write 10ms"):
        units.read_duration(text)


@pytest.mark.parametrize(
    ("fraction", "shown"),
    [(0.0, "0%"), (0.0004, "< 0.1%"), (0.008, "0.8%"), (0.853, "85%"), (0.9997, "> 99%"), (1.0, "100%")],
)
def test_share_is_not_rounded_to_nothing_or_all(fraction: float, shown: str) -> None:
    assert units.share(fraction) == shown


def test_share_shows_its_error_if_large() -> None:
    assert [units.share(0.375, precision) for precision in (0.0, 0.001, 0.125)] == ["38%", "38%", "38% ±12%"]
    assert units.share(1.0, 0.125) == "100%"


def test_limit_below_the_clock_step_is_shown_as_a_step() -> None:
    assert [units.min_duration(8_000_000, tick_ns) for tick_ns in (1_000, 1_000_000_000)] == ["8.00 ms", "1 s"]


def test_duration_column_has_one_unit() -> None:
    name, show = units.durations([9_741_200_000, 254_000_000, 95_000_000, None], 100_000)
    assert (name, show(254_000_000), show(None), show(1_000)) == ("s", "0.254", "", "<0.001")
