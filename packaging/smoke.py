"""Check an installed tracealyze on the samples: `python packaging/smoke.py`, with the Python that it is installed in.

It must run without anything that is not installed with tracealyze, on each system that has a wheel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
CAUSES = {
    "ssh-login/ssh-login.truss": ("TLZ002", "quota"),
    "shutdown/before.strace.xz": ("TLZ013", "sh"),
    "boot-devices/boot-320.strace.xz": ("TLZ042", "perl"),
    "kernel-shutdown/shutdown.log": ("TLZ004", "md: stopping all md devices."),
    "jail-start/before.strace.xz": ("TLZ005", "/srv/demo/jails/lock"),
}
"""The cause of each sample, and a word of its message."""


def call(*arguments: str, codes: tuple[int, ...] = (0,)) -> str:
    """What the command prints, run outside of the repository, so that only the installed package can be found."""
    done = subprocess.run(
        [sys.executable, "-m", "tracealyze", *arguments],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        cwd=tempfile.gettempdir(),
        env={**os.environ, "PYTHONUTF8": "1", "COLUMNS": "80"},
        encoding="utf-8",
        check=False,
    )
    if done.returncode not in codes:
        sys.exit(f"tracealyze {' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def main() -> None:
    """Stop with the first difference."""
    print(call("--version").strip(), "on", sys.platform, sys.version.split()[0])
    for sample, (code, word) in CAUSES.items():
        findings = json.loads(call("summarize", str(SAMPLES / sample), "--json"))["findings"]
        if not any(each["code"] == code and word in each["message"] for each in findings):
            sys.exit(f"{sample}: the findings are {[(each['code'], each['message']) for each in findings]}")
        if code not in call("summarize", str(SAMPLES / sample)):
            sys.exit(f"{sample}: the report lacks {code}")
        print(f"{sample}: {code}")
    for words in (["rules"], ["explain", "hot-loop"], ["record", "--help"], ["doctor", "--help"]):
        call(*words)
    call("check", "--demo", codes=(1,))
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        call("report", str(SAMPLES / "shutdown/before.strace.xz"), "-o", str(page))
        print(f"report: {page.stat().st_size:,} bytes")
    _read_tables()


def _read_tables() -> None:
    """The interface of Python, if the packages for data are installed."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        print("pandas is not installed: tables were not checked")
        return
    os.chdir(tempfile.gettempdir())
    sys.path[:] = [path for path in sys.path if path not in ("", str(Path(__file__).parent))]
    import tracealyze

    calls = tracealyze.read(SAMPLES / "ssh-login/ssh-login.truss").calls(by=["program", "syscall"]).to_pandas()
    if not len(calls) or "total_ns" not in calls:
        sys.exit(f"the table of calls has {len(calls)} rows and the columns {list(calls)}")
    print(f"tables: {len(calls)} rows of calls")


if __name__ == "__main__":
    main()
