"""What tracing costs on this machine: measured before a capture, with a program that does next to nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tracealyze.capture.evidence import gather
from tracealyze.capture.obstacles import CannotTrace, obstacles_of, plain
from tracealyze.capture.tracer import Tracer

_COPIES = 500
"""Bytes that dd copies one by one: 1,000 calls, 20 to 50 ms under a tracer."""
_CALL = re.compile(rb"^\d+ +(\d+)\.(\d+) (?:read|write)\(", re.MULTILINE)
_TIME_LIMIT_S = 20


def measured_ns(tracer: Tracer, flags: Sequence[str]) -> int | None:
    """The median time from one traced call to the next, in a program that does nothing between two calls.

    None if the machine has no dd. Raises `CannotTrace` if nothing can be traced here."""
    program = shutil.which("dd")
    if program is None:
        return None
    copy = [program, "if=/dev/zero", "of=/dev/null", "bs=1", f"count={_COPIES}"]
    with TemporaryDirectory() as folder:
        capture = Path(folder) / "overhead"
        done = subprocess.run(
            [tracer.path, *_without_filter(flags), "-o", str(capture), "--", *copy],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=False,
            timeout=_TIME_LIMIT_S,
        )
        text = capture.read_bytes() if capture.exists() else b""
    stamps_ns = [int(seconds) * 10**9 + int(part.ljust(9, b"0")) for seconds, part in _CALL.findall(text)]
    if len(stamps_ns) < _COPIES:
        message = done.stderr.decode(errors="replace").strip().splitlines() or ["it wrote no trace"]
        raise CannotTrace(
            f"strace cannot trace a program here: {plain(message[0])}.",
            obstacles_of("\n".join(message), gather()),
        )
    return round(median(later - earlier for earlier, later in pairwise(stamps_ns)))


def _without_filter(flags: Sequence[str]) -> list[str]:
    """The same flags for all calls: the cost of a traced call does not depend on which are traced."""
    words = iter(flags)
    return [word for word in words if word != "--seccomp-bpf" and not (word == "-e" and next(words))]
