"""What questions to a trace in memory take, the first and the second time, and all its events as a DataFrame.

python benches/python_api.py --size 1GB --kind threads
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import kinds
import make_capture
import measure

# The bounds that the project sets: for a DataFrame of this number of rows, and for a repeated question.
BOUND_ROWS = 10_000_000
BOUND_S = 2.0
BOUND_AGAIN_S = 0.01
# Prints the number of events, and for each question the wall time of the first and of the second call.
QUESTIONS = """
import json, sys, time
import pandas, pyarrow
import tracealyze

def timed(ask):
    begin = time.perf_counter()
    ask()
    return time.perf_counter() - begin

trace = tracealyze.read(sys.argv[1])
questions = {
    "to_pandas, all events": lambda: trace.events.to_pandas(),
    "findings": lambda: trace.findings,
    "partition": lambda: trace.partition.head(),
    "calls by program and syscall": lambda: trace.calls(by=["program", "syscall"]).head(),
    "loops": lambda: trace.loops.head(),
    "critical path": lambda: trace.critical_path.head(),
}
print(json.dumps([len(trace.events), {name: [timed(ask), timed(ask)] for name, ask in questions.items()}]))
"""


def best(path: Path) -> tuple[int, dict[str, tuple[float, float]]]:
    """The number of events, and the least times of each question: of its first and of its second call."""
    rounds = list(map(json.loads, measure.printed(QUESTIONS, path)))
    events, names = rounds[0][0], list(rounds[0][1])
    of = {name: [found[name] for _, found in rounds] for name in names}
    return events, {
        name: (min(first for first, _ in runs), min(again for _, again in runs)) for name, runs in of.items()
    }


def main(size: int, kind: str) -> None:
    events, found = best(make_capture.cached(kind, size))
    print(f"{kind}, {size / 2**20:,.0f} MiB, {events:,} events in memory, best of {measure.ROUNDS}\n")
    print(f"{'':30}{'seconds':>10}{'again, ms':>11}")
    for name, (first_s, again_s) in found.items():
        is_slow = again_s > BOUND_AGAIN_S and "pandas" not in name
        print(f"{name:30}{first_s:10.3f}{again_s * 1000:11.1f}{'   bound: 10 ms' if is_slow else ''}")
    rate_s = next(iter(found.values()))[0] / events * BOUND_ROWS
    print(f"\nto_pandas   {rate_s:.2f} s for {BOUND_ROWS:,} events   (to reach: at most {BOUND_S:g} s)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=make_capture.bytes_of, default="100M", help="100M, 1GB …")
    parser.add_argument("--kind", choices=kinds.KINDS, default="repetitive", help="kind of capture")
    arguments = parser.parse_args()
    main(arguments.size, arguments.kind)
