"""What the tables and rules cost beside reading: the findings of a capture that is in memory, its path walked already.

python benches/findings.py --size 1GB
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import make_capture
import measure

# The bound that the project sets: so much of the time that reading takes.
TIMES = 0.5
# Prints wall and CPU time of each phase, and how far the peak of memory rose, in bytes.
PHASES = """
import json, resource, sys, time
import tracealyze

def phase(work):
    wall, cpu, peak = time.perf_counter(), time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = work()
    rose = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) * (1 if sys.platform == "darwin" else 1024)
    done.append((time.perf_counter() - wall, time.process_time() - cpu, rose))
    return result

def read():
    trace = tracealyze.read(sys.argv[1])
    return trace, trace.accounting

done = []
trace, _ = phase(read)
phase(lambda: trace.partition_by(["class"]))
phase(lambda: trace.diagnosis)
print(json.dumps(done))
"""
NAMES = ("reading", "the path", "tables and rules")


def phases(path: Path) -> list[tuple[float, float, int]]:
    """Of each phase the least wall time, with its CPU time, and the most that memory rose by."""
    by_phase = zip(*map(json.loads, measure.printed(PHASES, path)), strict=True)
    return [(*min(runs)[:2], max(run[2] for run in runs)) for runs in by_phase]


def main(size: int, kind: str = "distinct") -> None:
    found = phases(make_capture.cached(kind, size))
    print(f"{kind}, {size / 2**20:,.0f} MiB, best of {measure.ROUNDS}\n")
    print(f"{'':20}{'seconds':>10}{'of CPUs':>10}{'× reading':>11}{'memory +MiB':>13}")
    reading_s = found[0][0]
    for name, (wall_s, cpu_s, rose) in zip(NAMES, found, strict=True):
        print(f"{name:20}{wall_s:10.3f}{cpu_s:10.3f}{wall_s / reading_s:11.2f}{rose / 2**20:13.0f}")
    print(f"\nrules   {found[-1][0] / reading_s:6.2f} × reading   (to reach: at most {TIMES:g})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=make_capture.bytes_of, default="64M", help="64M, 1GB … (64M unless told)")
    main(parser.parse_args().size)
