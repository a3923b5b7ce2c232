"""Statistics of a fleet, compared with counting all cases and with published values."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracealyze.fleet import statistics

numbers = st.lists(st.integers(0, 6), min_size=1, max_size=6)


def test_wilson_gives_published_values() -> None:
    # Newcombe, Statistics in Medicine 17 (1998), table I.
    assert statistics.wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert statistics.wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert statistics.wilson(0, 0) == (0.0, 1.0)


@given(st.integers(0, 8), st.integers(0, 8), st.integers(0, 8), st.integers(0, 8))
def test_growth_is_the_share_of_draws(hits: int, others: int, later_hits: int, later_others: int) -> None:
    before, after = (hits, hits + others), (later_hits, later_hits + later_others)
    every = hits + later_hits
    number = before[1] + after[1]
    draws = sum(comb(every, k) * comb(number - every, after[1] - k) for k in range(later_hits, after[1] + 1))
    assert statistics.chance_of_growth(before, after) == pytest.approx(draws / comb(number, after[1]))


@given(numbers, numbers)
def test_difference_is_the_share_of_splits(before: list[int], after: list[int]) -> None:
    both = before + after

    def rank_sum(chosen: list[int]) -> float:
        return sum((both.count(v) + 1) / 2 + sum(w < v for w in both) for v in chosen)

    seen = rank_sum(after)
    sums = [rank_sum([both[at] for at in chosen]) for chosen in combinations(range(len(both)), len(after))]
    above, below = (sum(hit) / len(sums) for hit in ([s >= seen for s in sums], [s <= seen for s in sums]))
    assert statistics.chance_of_difference(before, after) == pytest.approx(min(1, 2 * min(above, below)))


@given(st.permutations(range(16)), st.integers(6, 10))
def test_approximation_is_near_the_exact_value(values: list[int], number: int) -> None:
    before, after = values[:number], values[number:]
    exact = statistics.chance_of_difference(before, after)
    assert statistics._approximate_difference(before, after) == pytest.approx(exact, abs=0.02)


def test_equal_values_do_not_differ() -> None:
    assert statistics.chance_of_difference([5] * 40, [5] * 40) == 1.0
    assert statistics.chance_of_difference([], [1]) == 1.0
    assert statistics.chance_of_difference(list(range(40)), list(range(100, 140))) < 1e-12


@given(st.lists(st.floats(0, 1), max_size=30), st.floats(0.001, 0.5))
def test_rates_select_what_the_step_up_procedure_selects(chances: list[float], rate: float) -> None:
    ordered = sorted(chances)
    largest = max((k for k in range(1, len(ordered) + 1) if ordered[k - 1] <= rate * k / len(ordered)), default=0)
    rejected = ordered[:largest]
    rates = statistics.false_discovery_rates(chances)
    assert sum(each <= rate * (1 + 1e-12) for each in rates) >= len(rejected)
    assert sum(each < rate * (1 - 1e-12) for each in rates) <= len(rejected)


def test_scores_find_the_outlier() -> None:
    assert statistics.tail_scores(numpy.array([1.0, 2, 3, 4, 5])) == pytest.approx(
        [-1.349, -0.6745, 0, 0.6745, 1.349], abs=1e-3
    )
    scores = statistics.tail_scores(numpy.array([10.0] * 9 + [20.0]))
    assert scores[:9].tolist() == [0.0] * 9 and scores[9] > 3.5
    assert statistics.tail_scores(numpy.array([7.0, 7.0])).tolist() == [0.0, 0.0]
    assert statistics.tail_scores(numpy.empty(0)).tolist() == []


def test_scores_of_two_kinds_are_small() -> None:
    chance = numpy.random.default_rng(2)
    both = numpy.concatenate([chance.normal(0.1, 0.01, 80), chance.normal(0.7, 0.01, 20)])
    assert abs(statistics.tail_scores(both)).max() < 3.5
    normal = statistics.tail_scores(chance.normal(0.5, 0.1, 100_000))
    assert normal.std() == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("shape", [0.5, 1.0, 3.0])
def test_skewed_values_are_no_outliers(shape: float) -> None:
    """Hardly more values are as far as a probability says; one that is really far has a small one."""
    chance = numpy.random.default_rng(4)
    values = chance.gamma(shape, 1.0, 20_000)
    for threshold in (0.05, 0.01, 0.001):
        assert (statistics.tail_chances(values) < threshold).mean() < 4 * threshold
    assert statistics.tail_chances(numpy.append(values, 60.0))[-1] < 1e-6
    assert statistics.tail_chances(numpy.array([10.0] * 9 + [20.0]))[-1] < 0.001
    assert statistics.tail_chances(numpy.empty(0)).tolist() == []


@pytest.mark.parametrize(
    "ordered",
    [
        ["1.9", "1.10rc1", "1.10", "1.10.1", "2"],
        ["v1.2.0-alpha", "v1.2.0-beta2", "v1.2.0-rc.1", "1.2.0", "1.2.0-1", "1.2.1"],
        ["2025-12-31", "2026-01-02", "2026-01-10"],
        ["5.15.0-91-generic", "5.15.0-101-generic", "6.1.0-18-amd64"],
        ["", "0", "1"],
    ],
)
def test_versions_are_ordered_as_people_do(ordered: list[str]) -> None:
    mixed = ordered[::-1]
    assert sorted(mixed, key=statistics.version_key) == ordered
