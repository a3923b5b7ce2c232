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
from tracealyze import units
from tracealyze.commands.what_if import scaled

HERE = Path(__file__).resolve().parent
_PAIRS = tomllib.loads((HERE / "pairs.toml").read_text(encoding="utf-8"))
_MEASURED = tomllib.loads((HERE / "measured.toml").read_text(encoding="utf-8"))
_MIN_PAIRS = 40
_MIN_RIGHT_SHARE = 0.9
_MAX_WIDTH_SHARE = 0.25
_NOISE_S = 0.02
"""Runs of one program differ by this much: the start of the program and of its shell on a machine that others use."""

_NOISE_SHARE = 0.05


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
        miss = "" if each.is_right else "outside"
        lines.append(f"| {each.name} | {each.cause_s:.2f} s | {predicted} | {each.fixed_s:.2f} s | {miss} |")
    return lines


def figures() -> tuple[int, int, float]:
    """Number of pairs, of those with the measured time in the range, and the median width as a share of the saving."""
    found = proofs()
    return len(found), sum(each.is_right for each in found), statistics.median(each.width_share for each in found)


def test_each_pair_has_a_capture_and_measured_times() -> None:
    assert set(_PAIRS) == set(_MEASURED) == {file.name.split(".")[0] for file in (HERE / "captures").iterdir()}
    assert len(_PAIRS) >= _MIN_PAIRS


@pytest.mark.parametrize("name", _PAIRS)
def test_a_replay_without_changes_is_the_capture(name: str) -> None:
    trace = tracealyze.read(HERE / "captures" / f"{name}.strace.xz")
    found = trace.what_if(scale={"dur_ns >= 0": 1})
    assert found.replayed_ns == found.observed_ns


def test_predictions_agree_with_the_fixed_programs() -> None:
    pairs, right, width_share = figures()
    sys.stdout.write("\n".join(["", *table(), f"{right} of {pairs} in the range; median width {width_share:.0%}", ""]))
    assert right >= _MIN_RIGHT_SHARE * pairs
    assert width_share <= _MAX_WIDTH_SHARE
