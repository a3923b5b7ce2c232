"""The pictures of the documents: reports of samples in a headless Chromium. Run by `make pictures`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
SHUTDOWN = [f"samples/shutdown/{name}.strace.xz" for name in ("before", "after")]
PICTURES = {
    "ssh-login": (["samples/ssh-login/ssh-login.truss"], "1280,720"),
    "shutdown": (SHUTDOWN[:1], "1280,1000"),
    "shutdown-change": (["--before", *SHUTDOWN], "1280,1600"),
}
"""Name, arguments of `report`, and size in pixels."""


def main() -> None:
    """Make all pictures anew."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("needs chromium: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder:
        for name, (arguments, size) in PICTURES.items():
            page = Path(folder) / f"{name}.html"
            report = [sys.executable, "-m", "tracealyze", "report", *arguments, "-o", str(page)]
            subprocess.run(report, check=True, cwd=ROOT)
            picture = FOLDER / f"{name}.png"
            options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--virtual-time-budget=4000"]
            command = [browser, *options, f"--screenshot={picture}", f"--window-size={size}", page.as_uri()]
            subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    main()
