"""All measurements, one after the other: `python benches/run.py 100M`."""

from __future__ import annotations

import argparse

import findings
import make_capture
import reading
import startup
import throughput

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("size", nargs="?", type=make_capture.bytes_of, default="100M", help="100M, 1GB …")
    size = parser.parse_args().size
    throughput.main(size)
    print()
    reading.main(size)
    print()
    findings.main(size)
    print()
    startup.main()
