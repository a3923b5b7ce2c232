"""Whether the tracer may attach to a running process, and if not, why."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from tempfile import TemporaryFile

from tracealyze.capture import processes
from tracealyze.capture.evidence import gather
from tracealyze.capture.obstacles import CannotTrace, obstacles_of, plain
from tracealyze.capture.tracer import Tracer

_TIME_LIMIT_S = 5.0
_POLL_S = 0.01


def refusal_of(messages: str, pids: Sequence[int]) -> CannotTrace:
    """The error for what strace wrote when it could not attach to one of these processes."""
    lines = messages.strip().splitlines() or ["strace failed"]
    line = next((each for each in lines if "attach" in each), lines[0])
    refused = next((pid for pid in pids if f" {pid})" in line or f" {pid}:" in line), pids[0])
    return CannotTrace(f"{plain(line)}.", obstacles_of(line, gather(refused)))


def wait_for_tracer(tracer: int, pid: int) -> None:
    """Until this tracer is attached to a process, so that times are counted from then; or until it fails."""
    end = time.monotonic() + _TIME_LIMIT_S
    while processes.tracer_of(pid) != tracer and time.monotonic() < end:
        if processes.status(tracer).get("State", "Z")[0] in "ZX":
            return
        time.sleep(_POLL_S)


def probe(tracer: Tracer, pid: int) -> CannotTrace | None:
    """Attach to a process for a moment. Returns why that is refused."""
    with TemporaryFile() as messages:
        tracing = subprocess.Popen(
            [tracer.path, "-q", "-o", "/dev/null", "-e", "trace=none", "-p", str(pid)],
            stdin=subprocess.DEVNULL,
            stdout=messages,
            stderr=messages,
        )
        end = time.monotonic() + _TIME_LIMIT_S
        while tracing.poll() is None and processes.tracer_of(pid) != tracing.pid and time.monotonic() < end:
            time.sleep(_POLL_S)
        is_attached = tracing.poll() is None
        tracing.terminate()
        tracing.wait()
        messages.seek(0)
        text = messages.read().decode(errors="replace")
    return None if is_attached else refusal_of(text, [pid])


def probe_own(tracer: Tracer) -> CannotTrace | None:
    """Attach to a process of the same user, which the tracer did not start."""
    with subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        try:
            return probe(tracer, process.pid)
        finally:
            process.kill()
