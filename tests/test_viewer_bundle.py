"""The script that the package ships is built from the sources in `viewer/`."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

from tracealyze.render.viewer import bundle

VIEWER = ROOT / "viewer"
SHIPPED = ROOT / "tracealyze" / "render" / "viewer"


def needs_node() -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed: the bundle is not compared with its sources")
    if not (VIEWER / "node_modules").is_dir():
        pytest.skip("viewer/node_modules is missing: make viewer installs it")


def node(*arguments: str) -> str:
    done = subprocess.run(["node", *arguments], cwd=VIEWER, capture_output=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_bundle_is_the_build_of_its_sources(tmp_path: Path) -> None:
    needs_node()
    node("build.mjs", "--out", str(tmp_path))
    for name in ("viewer.js", "viewer.css"):
        assert (tmp_path / name).read_bytes() == (SHIPPED / name).read_bytes(), f"run make viewer: {name} is outdated"


def test_functions_of_the_viewer_pass_their_tests() -> None:
    needs_node()
    node("build.mjs", "--tests")
    node("--test", ".build/")


def test_the_bundle_is_small_and_loads_nothing() -> None:
    script = bundle.script()
    assert len(script.encode()) + len(bundle.style().encode()) <= 120_000
    assert "</script" not in script.lower()
    sources = "".join(file.read_text(encoding="utf-8") for file in sorted((VIEWER / "src").iterdir()))
    assert not [word for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write") if word in sources]
    for word in ("fetch(", "XMLHttpRequest", "WebSocket", "import(", "eval("):
        assert word not in script
