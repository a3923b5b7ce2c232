"""`summarize` on a large capture, beside programs that only look for bytes or sum a column.

python benches/throughput.py --size 1GB
"""

from __future__ import annotations

import argparse
import os
import subprocess
from pathlib import Path

import make_capture
import measure

# Sum of <T> for each call, the way it is done by hand.
AWK = r"""
{ name = $3; if (name == "<...") name = $4; sub(/\(.*/, "", name) }
$NF ~ /^<[0-9.]+>$/ { total[name] += substr($NF, 2) }
END { for (name in total) print total[name], name }
"""
# The bounds that the design sets for 1 GB: time as a multiple of grep's, memory per line above what is always there.
GREPS = 2.0
BYTES_PER_EVENT = 60
ALWAYS_BYTES = 100 * 1024 * 1024


def lines_of(path: Path) -> int:
    """Also reads the file once, so that all find it in memory."""
    return int(subprocess.run(["wc", "-l", path], capture_output=True, text=True, check=True).stdout.split()[0])


def main(size: int) -> None:
    path = make_capture.cached(size)
    lines = lines_of(path)
    print(
        f"{path.stat().st_size / 2**20:,.0f} MiB, {lines:,} lines, {os.cpu_count()} cores, best of {measure.ROUNDS}\n"
    )
    runs = measure.best_in_turn(
        {
            "wc -l": ["wc", "-l", str(path)],
            "grep -c ENOENT": ["grep", "-c", "ENOENT", str(path)],
            "awk, sum of <T> per call": ["awk", AWK, str(path)],
            "tracealyze summarize": [measure.tracealyze(), "summarize", str(path)],
        }
    )
    wc, grep = runs["wc -l"], runs["grep -c ENOENT"]
    print(f"{'':26}{'seconds':>10}{'× wc':>8}{'× grep':>8}{'peak MiB':>10}")
    for name, run in runs.items():
        ratios = f"{run.seconds / wc.seconds:8.1f}{run.seconds / grep.seconds:8.2f}"
        print(f"{name:26}{run.seconds:10.3f}{ratios}{run.peak_bytes / 2**20:10.0f}")
    ours = runs["tracealyze summarize"]
    per_line = max(0, ours.peak_bytes - ALWAYS_BYTES) / lines
    print(f"\ntime    {ours.seconds / grep.seconds:6.2f} × grep        (to reach at 1 GB: at most {GREPS:g})")
    print(f"memory  {per_line:6.1f} bytes per line above 100 MiB (to reach at 1 GB: at most {BYTES_PER_EVENT})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=make_capture.bytes_of, default="1GB", help="100M, 1GB … (1GB unless told)")
    main(parser.parse_args().size)
