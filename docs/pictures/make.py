"""The pictures of the documents: reports in a headless Chromium. Run by `make pictures`.

Small captures are samples. Large ones are made here, of the programs in `scenarios/`: that needs strace, make and gcc.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
SHUTDOWN = [f"samples/shutdown/{name}.strace.xz" for name in ("before", "after")]
SCENARIOS = FOLDER / "scenarios"
RECORDED = {
    "task-convoy": (["gcc", "-pthread", str(SCENARIOS / "convoy.c"), "-o", "convoy"], ["./convoy"]),
    "task-storm": (["true"], ["sh", str(SCENARIOS / "storm.sh")]),
    "task-build": (["true"], ["make", "-j4", "-f", str(SCENARIOS / "build.mk")]),
}
"""Name of the picture, what to run before, and the program that is traced."""
PICTURES = {
    "task-server": (["tests/field/captures/nginx-and-upstream.strace.xz"], "1280,760"),
    "task-boot": (["docs/pictures/scenarios/boot.log"], "1280,760"),
    "ssh-login": (["samples/ssh-login/ssh-login.truss"], "1280,720"),
    "shutdown": (SHUTDOWN[:1], "1280,1000"),
    "shutdown-change": (["--before", *SHUTDOWN], "1280,1600"),
}
"""Name, arguments of `report`, and size in pixels."""


def main() -> None:
    """Make all pictures anew, or those that the arguments name."""
    wanted = sys.argv[1:] or [*PICTURES, *RECORDED]
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("needs chromium: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted:
            recorded = name in RECORDED
            arguments, size = ([_recorded(name, Path(folder))], "1280,760") if recorded else PICTURES[name]
            page = Path(folder) / f"{name}.html"
            report = [sys.executable, "-m", "tracealyze", "report", *arguments, "-o", str(page)]
            subprocess.run(report, check=True, cwd=folder if recorded else ROOT)
            picture = FOLDER / f"{name}.png"
            options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--virtual-time-budget=8000"]
            command = [browser, *options, f"--screenshot={picture}", f"--window-size={size}", page.as_uri()]
            subprocess.run(command, check=True, capture_output=True)


def _recorded(name: str, folder: Path) -> str:
    """A capture of a scenario, made now."""
    before, program = RECORDED[name]
    here = folder / name
    here.mkdir()
    subprocess.run(before, check=True, cwd=here)
    capture = folder / f"{name.removeprefix('task-')}.strace"
    strace = ["strace", "-f", "-ttt", "-T", "-yy", "-o", str(capture)]
    subprocess.run([*strace, *program], check=True, cwd=here, stdout=subprocess.DEVNULL)
    return capture.name


if __name__ == "__main__":
    main()
