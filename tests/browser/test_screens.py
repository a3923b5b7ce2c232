"""The first screens of reports look as they did: golden pictures, for the browser and the fonts that made them.

TRACEALYZE_BLESS=1 makes them anew. Elsewhere letters have other shapes, so that nothing is compared there.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from browsers import installed, shown
from conftest import ROOT

import tracealyze
from tracealyze.render.page import document

pytestmark = pytest.mark.browser

GOLDEN = ROOT / "tests" / "browser" / "golden"
REMEDY = "TRACEALYZE_BLESS=1 .venv/bin/python -m pytest -m browser tests/browser/test_screens.py"
MAX_SHARE = 0.0002
"""Pixels that may differ: a word of a few letters, but no bar and no line. Two runs differ in none."""

MAX_BYTES = 600_000

STORIES = {
    "login": ["ssh-login/ssh-login.truss"],
    "shutdown-change": ["shutdown/before.strace.xz", "shutdown/after.strace.xz"],
    "log": ["kernel-shutdown/shutdown.log"],
}


@pytest.fixture
def chromium(monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Chromium only: Firefox neither turns scripts off nor names its fonts for a test."""
    # The paths of captures are on the screen.
    monkeypatch.chdir(ROOT)
    return installed("chrome")


def page_of(story: str) -> str:
    """The report of a story."""
    read = [tracealyze.read(f"samples/{capture}") for capture in STORIES[story]]
    traces = [(trace, trace.summary()) for trace in read]
    if len(traces) == 1:
        return document.of_captures(traces, 20)
    return document.of_steps(traces, tracealyze.diff(read[0], read[1]), 20)


def compared(browser: tuple[str, str], story: str, page: str, folder: Path, *, make: bool = False) -> dict[str, float]:
    """The share of pixels that differ from the golden pictures, without and with scripts."""
    about = GOLDEN / f"{story}.json"
    GOLDEN.mkdir(exist_ok=True)
    if not make and not about.exists():
        pytest.skip(f"there are no golden pictures of {story}. To make them: {REMEDY}")
    task = "make" if make else "compare"
    seen = shown("screens", browser, page, folder, str(folder), str(GOLDEN / story), task)
    assert seen["errors"] == []
    here = {name: seen[name] for name in ("browser", "fonts")}
    if make:
        about.write_text(json.dumps(here, indent=2) + "\n", encoding="utf-8")
    made_with: dict[str, Any] = json.loads(about.read_text(encoding="utf-8"))
    if made_with != here:
        pytest.skip(f"the golden pictures are of {made_with}, and this is {here}. To make them anew: {REMEDY}")
    differing: dict[str, float] = seen["differing"]
    return differing


@pytest.mark.parametrize("story", STORIES)
def test_the_first_screen_equals_the_golden_picture(story: str, chromium: tuple[str, str], tmp_path: Path) -> None:
    make = bool(os.environ.get("TRACEALYZE_BLESS"))
    differing = compared(chromium, story, page_of(story), tmp_path, make=make)
    assert max(differing.values()) <= MAX_SHARE, f"{differing}; compare {tmp_path}/*.png with {GOLDEN}/{story}-*.png"


@pytest.mark.parametrize(("text", "instead"), [("#d55e00", "#b04000"), ("quota", "quoth")])
def test_another_color_or_word_is_noticed(text: str, instead: str, chromium: tuple[str, str], tmp_path: Path) -> None:
    # The policy of the page names the hash of its script, so that only what is outside of it may be changed.
    markup, script = page_of("login").split("<script", 1)
    assert text in markup
    differing = compared(chromium, "login", f"{markup.replace(text, instead)}<script{script}", tmp_path)
    assert differing["off"] > MAX_SHARE


def test_golden_pictures_are_small_and_belong_to_stories() -> None:
    known = {f"{story}{end}" for story in STORIES for end in (".json", "-off.png", "-on.png")}
    assert {file.name for file in GOLDEN.iterdir()} == known
    assert sum(file.stat().st_size for file in GOLDEN.iterdir()) <= MAX_BYTES
