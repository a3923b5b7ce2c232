"""Pages opened in an installed browser, which a script in tests drives."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

BROWSERS = {"chrome": "chromium", "firefox": "firefox-esr"}
MODULES = ROOT / ".cache" / "browser" / "node_modules"


def installed(kind: str) -> tuple[str, str]:
    """A kind of browser and its program. Skips the test if something is missing."""
    executable = shutil.which(BROWSERS[kind])
    if executable is None:
        pytest.skip(f"{BROWSERS[kind]} is not installed: apt-get install {BROWSERS[kind]}")
    if shutil.which("node") is None or not all((MODULES / name).is_dir() for name in ("puppeteer-core", "axe-core")):
        pytest.skip("puppeteer-core and axe-core are not installed: make test-browser installs them, and needs Node")
    return kind, executable


def shown(script: str, browser: tuple[str, str], page: str, folder: Path, *more: str) -> dict[str, Any]:
    """What a script sees in a page."""
    report = folder / "report.html"
    report.write_text(page, encoding="utf-8")
    return driven(ROOT / "tests" / "browser" / f"{script}.cjs", *browser, str(report), *more, home=folder)


def driven(script: Path, *arguments: str, home: Path) -> dict[str, Any]:
    """What a script that drives a browser prints."""
    done = subprocess.run(
        ["node", str(script), *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        env={**os.environ, "NODE_PATH": str(MODULES), "HOME": str(home)},
    )
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen
