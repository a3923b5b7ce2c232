"""Speedscope's page, opened in a browser with an export, shows the numbers of `summarize --json`."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from browsers import driven, installed
from conftest import ROOT, SAMPLES, Run

pytestmark = pytest.mark.consumers

PAGE = ROOT / ".cache" / "consumers" / "node_modules" / "speedscope" / "dist" / "release" / "index.html"
# Their partitions name each target. In larger ones, targets that differ only by a number may share a row.
CAPTURES = ["ssh-login/ssh-login.truss", "shutdown/before.strace.xz", "boot-devices/boot-10.strace.xz"]
UNITS_NS = {"ns": 1, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
COMPARED = 20
"""Frames with the most time of their own."""


def opened(profile: bytes, folder: Path) -> dict[str, Any]:
    """The rows of the table of frames that the page shows, and the profile that it saves."""
    browser = installed("chrome")
    if not PAGE.exists():
        pytest.skip("needs the npm package speedscope in .cache/consumers: make test-consumers installs it")
    # What the command of the package writes for the page.
    content = json.dumps(base64.b64encode(profile).decode())
    script = folder / "profile.js"
    script.write_text(f'speedscope.loadFileFromBase64("trace.json", {content})', encoding="utf-8")
    return driven(Path(__file__).with_name("speedscope.cjs"), *browser, str(PAGE), str(script), home=folder)


def rounded(shown: str) -> tuple[float, float]:
    """A time such as `9.76s (85%)` in nanoseconds, and by how much its rounding may have changed it."""
    found = re.match(r"(\d+\.\d\d)(ns|µs|ms|s) \(", shown)
    assert found is not None, shown
    unit_ns = UNITS_NS[found[2]]
    return float(found[1]) * unit_ns, 0.00501 * unit_ns


def assert_shown(shown: Sequence[str], ns: int) -> None:
    """The sum of rounded times is a time."""
    values, margins = zip(*map(rounded, shown), strict=True)
    assert abs(sum(values) - ns) <= sum(margins), (shown, ns)


def expected(partition: Iterable[dict[str, Any]]) -> tuple[Counter[str], Counter[str]]:
    """By frame: the time of it and of what it contains, and its own time."""
    total_ns: Counter[str] = Counter()
    own_ns: Counter[str] = Counter()
    for row in partition:
        frames = [row[name] for name in ("syscall", "op", "target") if row[name]] or [row["class"]]
        own_ns[frames[-1]] += row["exclusive_ns"]
        for frame in set(frames):
            total_ns[frame] += row["exclusive_ns"]
    return total_ns, own_ns


@pytest.mark.parametrize("capture", CAPTURES)
def test_the_page_shows_the_numbers_of_the_summary(capture: str, run: Run, tmp_path: Path) -> None:
    file = SAMPLES / capture
    seen = opened(run("export", file, "--to", "speedscope").stdout.encode(), tmp_path)
    assert seen["errors"] == []
    summary = json.loads(run("summarize", file, "--json", "--full").stdout)
    wall_ns = summary["window"]["wall_ns"]
    [saved] = seen["saved"]["profiles"]
    assert saved["endValue"] - saved["startValue"] == wall_ns
    shown: dict[str, list[tuple[str, str]]] = {}
    for total, own, name in sorted({tuple(row) for row in seen["rows"]}):
        # A class may have a frame for a part of it, such as `user (polled)`.
        shown.setdefault(name.split(" (")[0], []).append((total, own))
    total_ns, own_ns = expected(summary["partition"])
    for name, ns in own_ns.most_common(COMPARED):
        assert_shown([own for _, own in shown[name]], ns)
        assert_shown([total for total, _ in shown[name]], total_ns[name])
    [(of_root, _)] = shown[Path(summary["window"]["root_program"]).name]
    assert_shown([of_root], wall_ns)
    assert of_root.endswith("(100%)")
