"""All measurements: `python benches/run.py 100M`; `--kind distinct` for some kinds of captures only."""

from __future__ import annotations

import argparse

import findings
import kinds
import make_capture
import python_api
import startup
import table
import yardsticks

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("size", nargs="?", type=make_capture.bytes_of, default="100M", help="100M, 1GB …")
    parser.add_argument("--kind", action="append", choices=kinds.KINDS, help="kind of capture; repeatable, default all")
    arguments = parser.parse_args()
    names = arguments.kind or list(kinds.KINDS)
    table.main(arguments.size, names)
    print()
    findings.main(arguments.size, names[0])
    print()
    python_api.main(arguments.size, names[0])
    print()
    startup.main()
    yardsticks.main(arguments.size)
