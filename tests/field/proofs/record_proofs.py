"""Captures the pairs of `pairs.toml`, and runs each untraced with its cause and without: `make proofs`.

    python tests/field/proofs/record_proofs.py [NAME...]

The order of the untraced runs alternates, so that a busy minute of the machine hits both. Their median is kept, and of
several captures the one of median length.
"""

from __future__ import annotations

import lzma
import os
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
RUNS = 7
CAPTURES = 3
_LIMIT_S = 60
_NOT_FOUND = 127
"""Exit status of a shell that does not find a program."""
_START_S = 0.4
"""How long a service gets to listen."""
_TRACER = ["strace", "-f", "-ttt", "-T", "-yy", "-o"]
_SERVER = """
import http.server, sys, time

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        kind, _, size = self.path.strip("/").rpartition("/")
        time.sleep(0 if kind else float(size))
        body = b"x" * (int(size) if kind else 3)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def main() -> int:
    """Record the named pairs, or all."""
    pairs = tomllib.loads((FOLDER / "pairs.toml").read_text(encoding="utf-8"))
    names = sys.argv[1:] or list(pairs)
    failed = 0
    for name in names:
        try:
            facts = _record(name, pairs[name])
        except (subprocess.SubprocessError, OSError) as error:
            sys.stderr.write(f"{name}: {error}\n")
            failed += 1
            continue
        _keep(name, facts)
        sys.stderr.write(f"{name}: {facts['cause_s']} s, fixed {facts['fixed_s']} s\n")
    return 1 if failed else 0


def _record(name: str, pair: dict[str, str]) -> dict[str, float | str]:
    with tempfile.TemporaryDirectory(prefix="proof-") as folder:
        work = Path(folder) / "work"
        work.mkdir()
        (work / "server.py").write_text(_SERVER, encoding="utf-8")
        if "setup" in pair:
            _run(["sh", "-c", pair["setup"]], work)
        with _service(pair.get("service"), work):
            log = _median_capture(pair["cause"], Path(folder))
            measured: dict[str, list[float]] = {"cause": [], "fixed": []}
            for _ in range(RUNS):
                for side, times in measured.items():
                    times.append(_run(["sh", "-c", pair[side]], work))
        text = log.read_bytes().replace(str(work).encode(), b"/work").replace(b"/root", b"/home")
        (FOLDER / "captures" / f"{name}.strace.xz").write_bytes(lzma.compress(text, preset=9))
    medians = {f"{side}_s": round(statistics.median(times), 4) for side, times in measured.items()}
    return {"date": time.strftime("%Y-%m-%d"), **medians}


def _median_capture(cause: str, folder: Path) -> Path:
    captures = []
    for number in range(CAPTURES):
        log = folder / f"{number}.strace"
        captures.append((_run([*_TRACER, str(log), "sh", "-c", cause], folder / "work"), log))
    return sorted(captures)[CAPTURES // 2][1]


def _run(command: list[str], work: Path) -> float:
    """Seconds that a command takes."""
    started = time.monotonic()
    process = subprocess.Popen(
        command, cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=_environment(), start_new_session=True,
    )  # fmt: skip
    # Waiting with a time limit looks every 50 ms, which is more than some of these programs take.
    limit = threading.Timer(_LIMIT_S, os.killpg, (process.pid, signal.SIGKILL))
    limit.start()
    status = process.wait()
    seconds = time.monotonic() - started
    limit.cancel()
    if status == -signal.SIGKILL:
        raise subprocess.TimeoutExpired(command, _LIMIT_S)
    if status == _NOT_FOUND:
        raise FileNotFoundError(f"a program of {shlex.join(command)} is not installed")
    return seconds


def _environment() -> dict[str, str]:
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C"}


@contextmanager
def _service(command: str | None, work: Path) -> Iterator[None]:
    """A process beside the runs, which is stopped at the end."""
    if command is None:
        yield
        return
    service = subprocess.Popen(["sh", "-c", command], cwd=work, env=_environment(), start_new_session=True)
    try:
        time.sleep(_START_S)
        yield
    finally:
        os.killpg(service.pid, signal.SIGTERM)
        service.wait(_LIMIT_S)


def _keep(name: str, facts: dict[str, float | str]) -> None:
    """Write the measured times next to those of other pairs."""
    file = FOLDER / "measured.toml"
    known = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    known[name] = facts
    lines = ["# Written by record_proofs.py.\n"]
    for each, values in sorted(known.items()):
        rows = [f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}" for key, value in values.items()]
        lines.append("\n".join([f"[{each}]", *rows]) + "\n")
    file.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
