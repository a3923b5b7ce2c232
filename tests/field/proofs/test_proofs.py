"""Predictions of what-if from kept captures, held against the measured times of the fixed programs, which ran untraced.

python -m pytest tests/field/proofs -s              print the table
"""

from __future__ import annotations

import statistics
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import tracealyze
from tracealyze.base import units
from tracealyze.commands.what_if import scaled

HERE = Path(__file__).resolve().parent
_PAIRS = tomllib.loads((HERE / "pairs.toml").read_text(encoding="utf-8"))
_MEASURED = tomllib.loads((HERE / "measured.toml").read_text(encoding="utf-8"))
_MIN_PAIRS = 40
_KNOWN_MISSES = {
    # On the busy machine, the reads took milliseconds each, and they stay in the replay.
    "slow-reader-of-a-pipe",
    # Children in parallel probably waited for CPUs, which other work used as well.
    "make-in-parallel",
    "xargs-in-parallel",
}
"""Steady pairs whose measured time is outside the range. With them, 93% are right, after two faults that the pairs
showed were mended; the goal is 90%."""
_MAX_WIDTH_SHARE = 0.25
_NOISE_S = 0.02
"""Runs of one program differ by this much: the start of the program and of its shell on a machine that others use."""

_NOISE_SHARE = 0.05
_MAX_UNSTEADY_SHARE = 0.25


@dataclass(frozen=True)
class Proof:
    """A prediction and the truth, in seconds."""

    name: str
    captured_s: float
    cause_s: float
    fixed_s: float
    low_s: float
    high_s: float

    @property
    def is_in_range(self) -> bool:
        """Whether the measured time lies in the range, but for the start of the process."""
        return self.low_s - _NOISE_S <= self.fixed_s <= self.high_s + _NOISE_S

    @property
    def is_right(self) -> bool:
        """The same, if the machine had been as quick in the untraced runs as during the capture: the run with the cause
        shows how much quicker or slower it was."""
        noise_s = max(_NOISE_S, _NOISE_SHARE * self.fixed_s)
        slower_s = self.cause_s - self.captured_s
        quickest_s, slowest_s = min(slower_s, 0.0), max(slower_s, 0.0)
        return self.low_s + quickest_s - noise_s <= self.fixed_s <= self.high_s + slowest_s + noise_s

    @property
    def is_steady(self) -> bool:
        """Whether the untraced run with the cause took about as long as the capture. If not, the machine was busy, and
        the pair proves nothing."""
        return abs(self.cause_s - self.captured_s) <= _MAX_UNSTEADY_SHARE * self.cause_s

    @property
    def width_share(self) -> float:
        """The width of the range as a share of the saving; 0 if there is none."""
        saving_s = self.cause_s - self.fixed_s
        return (self.high_s - self.low_s) / saving_s if saving_s > _NOISE_S else 0.0


@cache
def proofs() -> list[Proof]:
    """All pairs."""
    return [_proof(name) for name in _PAIRS]


def _proof(name: str) -> Proof:
    options = _PAIRS[name]["fix"]
    asked: dict[str, list[str]] = {"--fix": [], "--without": [], "--scale": [], "--parallel": []}
    for option, value in zip(options[::2], options[1::2], strict=True):
        asked[option].append(value)
    trace = tracealyze.read(HERE / "captures" / f"{name}.strace.xz")
    found = trace.what_if(
        asked["--fix"],
        without=asked["--without"],
        scale=dict(map(scaled, asked["--scale"])),
        parallel=asked["--parallel"],
    )
    low_s, high_s = (ns / units.S for ns in found.together_ns)
    measured = _MEASURED[name]
    return Proof(name, found.observed_ns / units.S, measured["cause_s"], measured["fixed_s"], low_s, high_s)


def table() -> list[str]:
    """The table of the document."""
    lines = ["| pair | with the cause | predicted | without, measured | |", "|---|---|---|---|---|"]
    for each in proofs():
        predicted = f"{each.low_s:.2f} s … {each.high_s:.2f} s"
        miss = "busy machine" if not each.is_steady else "" if each.is_right else "outside"
        lines.append(f"| {each.name} | {each.cause_s:.2f} s | {predicted} | {each.fixed_s:.2f} s | {miss} |")
    return lines


def figures() -> tuple[int, int, int, float]:
    """Number of steady pairs, of those that are right, and of those in the range as it is; the median width of the
    ranges as a share of the saving."""
    steady = [each for each in proofs() if each.is_steady]
    width_share = statistics.median(each.width_share for each in steady)
    return len(steady), sum(each.is_right for each in steady), sum(each.is_in_range for each in steady), width_share


def test_each_pair_has_a_capture_and_measured_times() -> None:
    assert set(_PAIRS) == set(_MEASURED) == {file.name.split(".")[0] for file in (HERE / "captures").iterdir()}
    assert len(_PAIRS) >= _MIN_PAIRS


@pytest.mark.parametrize("name", _PAIRS)
def test_a_replay_without_changes_is_the_capture(name: str) -> None:
    trace = tracealyze.read(HERE / "captures" / f"{name}.strace.xz")
    found = trace.what_if(scale={"dur_ns >= 0": 1})
    assert found.replayed_ns == found.observed_ns


def test_predictions_agree_with_the_fixed_programs() -> None:
    steady, right, in_range, width_share = figures()
    last = f"{right} of {steady} steady pairs are right, {in_range} without allowance; median width {width_share:.0%}"
    sys.stdout.write("\n".join(["", *table(), last, ""]))
    missed = {each.name for each in proofs() if each.is_steady and not each.is_right}
    assert missed == _KNOWN_MISSES
    assert width_share <= _MAX_WIDTH_SHARE
