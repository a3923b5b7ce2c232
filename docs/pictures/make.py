"""The pictures of the documents: reports in a headless Chromium, driven through Node. Run by `make pictures`.

Small captures are samples. Large ones are made here, of the programs in `scenarios/`: that needs strace, make,
gcc, nginx, php-fpm and curl.
"""

from __future__ import annotations

import os
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
    "task-convoy": (["gcc", "-pthread", "convoy.c", "-o", "convoy"], ["./convoy"]),
    "task-storm": (["true"], ["sh", "storm.sh"]),
    "task-build": (["true"], ["make", "-j4", "-f", "build.mk"]),
    "task-server": (["true"], []),
}
"""Name of the picture, what to run before, and the program that is traced, in a folder with all scenarios. Without one,
a script of the name records servers."""
PICTURES = {
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
            command = ["node", str(FOLDER / "shot.cjs"), browser, str(page), str(picture), *size.split(",")]
            # Chromium by itself takes its picture before the timeline is there, on a busy machine.
            modules = {"NODE_PATH": str(ROOT / ".cache" / "browser" / "node_modules")}
            subprocess.run(command, check=True, capture_output=True, env=os.environ | modules)


def _recorded(name: str, folder: Path) -> str:
    """A capture of a scenario, made now."""
    before, program = RECORDED[name]
    short = name.removeprefix("task-")
    here = folder / name
    shutil.copytree(SCENARIOS, here)
    subprocess.run(before, check=True, cwd=here)
    capture = folder / f"{short}.strace"
    tracer = ["strace", "-f", "-ttt", "-T", "-yy", "-o", str(capture), *program]
    # Scripts record with this Python.
    settings = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    script = ["sh", f"{short}.sh", str(capture)]
    subprocess.run(tracer if program else script, check=True, cwd=here, stdout=subprocess.DEVNULL, env=settings)
    return capture.name


if __name__ == "__main__":
    main()
