"""The timeline of a report in real browsers: the story by keyboard, sums, hostile names, and no request."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, SAMPLES

import tracealyze
from tracealyze.page import document

pytestmark = pytest.mark.browser

BROWSERS = {"chrome": "chromium", "firefox": "firefox-esr"}
MODULES = ROOT / ".cache" / "browser" / "node_modules"
HOSTILE = "</script><img src=x onerror=alert(1)><b>"


@pytest.fixture(params=BROWSERS)
def browser(request: pytest.FixtureRequest) -> tuple[str, str]:
    kind: str = request.param
    executable = shutil.which(BROWSERS[kind])
    if executable is None:
        pytest.skip(f"{BROWSERS[kind]} is not installed: apt-get install {BROWSERS[kind]}")
    if shutil.which("node") is None or not (MODULES / "puppeteer-core").is_dir():
        pytest.skip("puppeteer-core is not installed: make test-browser installs it, and needs Node")
    return kind, executable


def story(browser: tuple[str, str], trace: tracealyze.Trace, folder: Path) -> dict[str, Any]:
    report = folder / "report.html"
    report.write_text(document.of_captures([(trace, trace.summary())], 20), encoding="utf-8")
    done = subprocess.run(
        ["node", str(ROOT / "tests" / "browser" / "story.cjs"), *browser, str(report), str(folder / "page.png")],
        capture_output=True,
        encoding="utf-8",
        timeout=180,
        env={**os.environ, "NODE_PATH": str(MODULES), "HOME": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    sys.stdout.write(f"\n{browser[0]}: {seen.get('timing')}\n")
    return seen


def by_class(trace: tracealyze.Trace) -> dict[str, int]:
    return {row["class"]: row["exclusive_ns"] for row in trace.partition_by(["class"])}


def test_the_cause_is_found_with_the_keyboard(browser: tuple[str, str], tmp_path: Path) -> None:
    trace = tracealyze.read(SAMPLES / "ssh-login" / "ssh-login.truss")
    seen = story(browser, trace, tmp_path)
    assert (seen["errors"], seen["requests"]) == ([], [])
    assert seen["whole"] == by_class(trace)
    assert "Finding 1 of 1: quota (pid 12200) calls ioctl" in seen["finding"]
    assert seen["lane"] == "quota 12200"
    assert seen["link"].startswith("#t=") and "f=0" in seen["link"]
    assert seen["selection"]["disk"] / sum(seen["selection"].values()) > 0.85
    assert seen["stretch"].startswith("Critical path, ")
    assert (seen["help"], seen["mode"]) == (1, "tree")
    assert len(seen["lanes"]) == 5


def test_the_shutdown_can_be_explored(browser: tuple[str, str], tmp_path: Path) -> None:
    trace = tracealyze.read(SAMPLES / "shutdown" / "before.strace.xz")
    seen = story(browser, trace, tmp_path)
    assert (seen["errors"], seen["requests"]) == ([], [])
    assert seen["whole"] == by_class(trace)
    assert " of " in seen["search"]


def test_hostile_names_do_nothing(browser: tuple[str, str], tmp_path: Path) -> None:
    name = HOSTILE.replace("/", "")
    capture = (
        f'7 1700000000.000000 execve("/bin/{name}", ["{HOSTILE}", "\\33[2J"], 0) = 0 <0.000100>\n'
        f'7 1700000000.100000 openat(AT_FDCWD, "/{HOSTILE}", O_RDONLY) = 3 <0.500000>\n'
        "7 1700000001.000000 +++ exited with 0 +++\n"
    )
    seen = story(browser, tracealyze.read(capture.encode()), tmp_path)
    assert (seen["errors"], seen["requests"], seen["foreign"]) == ([], [], 0)


def test_a_log_keeps_its_static_picture(browser: tuple[str, str], tmp_path: Path) -> None:
    trace = tracealyze.read(SAMPLES / "kernel-shutdown" / "shutdown.log")
    seen = story(browser, trace, tmp_path)
    assert (seen["errors"], seen["requests"], seen["form"], seen["charts"]) == ([], [], "static", 1)
