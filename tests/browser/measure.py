"""Measure reports in the browsers that are installed: size, time to make, first paint, frames, answers, conditions.

    python tests/browser/measure.py CAPTURE... [--search TEXT]

`benches/make_capture.py` makes large captures. Nothing here passes or fails: speed is not a property of the code alone.
`make test-browser` installs what the browsers are driven with.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
MODULES = ROOT / ".cache" / "browser" / "node_modules"
BROWSERS = {"chrome": "chromium", "firefox": "firefox-esr"}


def cpu_s(*arguments: str) -> float:
    """Run a command of tracealyze; its CPU time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "tracealyze", *arguments], check=True, capture_output=True, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def made(capture: Path, report: Path) -> dict[str, Any]:
    """Write the report twice; the times of the best of two, and whether the files are equal."""
    digests, times = [], []
    for _ in range(2):
        times.append(cpu_s("report", str(capture), "-o", str(report)))
        digests.append(hashlib.sha256(report.read_bytes()).hexdigest())
    summarize_s = min(cpu_s("summarize", str(capture)) for _ in range(2))
    ratio = min(times) / summarize_s
    return {"report_s": min(times), "summarize_s": summarize_s, "ratio": ratio, "is_same": len(set(digests)) == 1}


def seen(kind: str, executable: str, report: Path, search: str, home: Path) -> dict[str, Any]:
    """What a browser shows."""
    done = subprocess.run(
        ["node", str(Path(__file__).with_suffix(".cjs")), kind, executable, str(report), search],
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=400,
        env={**os.environ, "NODE_PATH": str(MODULES), "HOME": str(home)},
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def written(figures: dict[str, Any]) -> None:
    """A line of JSON."""
    sys.stdout.write(json.dumps(figures) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Print a line of JSON per capture and browser."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captures", nargs="+", type=Path, help="captures to report")
    parser.add_argument("--search", default="lib", help="the text to search for; default: lib")
    arguments = parser.parse_args()
    for capture in arguments.captures:
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.html"
            written({"capture": capture.name, "bytes": capture.stat().st_size, **made(capture, report)})
            for kind, name in BROWSERS.items():
                if executable := shutil.which(name):
                    figures = seen(kind, executable, report, arguments.search, Path(folder))
                    written({"browser": kind, **figures})


if __name__ == "__main__":
    main()
