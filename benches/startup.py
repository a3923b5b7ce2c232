"""`summarize` on a capture of 1 MB, beside an interpreter that only imports what any such program imports.

python benches/startup.py
"""

from __future__ import annotations

import make_capture
import measure

SIZE = 1_000_000
ROUNDS = 10
IMPORTS = "import typer, rich.table"
# The bound that the design sets.
TIMES = 2.0


def main() -> None:
    path = make_capture.cached("distinct", SIZE)
    program = measure.tracealyze()
    runs = measure.best_in_turn(
        {
            f'python -c "{IMPORTS}"': [str(measure.TRACEALYZE.with_name("python")), "-c", IMPORTS],
            "tracealyze --help": [program, "--help"],
            "tracealyze summarize, 1 MB": [program, "summarize", str(path)],
        },
        ROUNDS,
    )
    imports = next(iter(runs.values()))
    print(f"best of {ROUNDS}\n\n{'':38}{'ms':>8}{'× imports':>11}{'peak MiB':>10}")
    for name, run in runs.items():
        print(f"{name:38}{run.seconds * 1000:8.0f}{run.seconds / imports.seconds:11.2f}{run.peak_bytes / 2**20:10.0f}")
    ratio = runs["tracealyze summarize, 1 MB"].seconds / imports.seconds
    print(f"\nstart   {ratio:6.2f} × the imports   (to reach: at most {TIMES:g})")


if __name__ == "__main__":
    main()
