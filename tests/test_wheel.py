"""The wheel that users install. Building it takes minutes, so plain `pytest` leaves this out: `pytest -m wheel`."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT


@pytest.mark.wheel
def test_wheel_holds_the_package_with_its_rules_and_nothing_else(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "maturin", "build", "--release", "--quiet", "--out", str(tmp_path)], cwd=ROOT, check=True
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"tracealyze"}
    rules = {f"tracealyze/rules/{file.name}" for file in (ROOT / "rules").glob("*.toml")}
    assert rules
    assert {*rules, "tracealyze/rules/compiled.json"} <= set(names)
    assert "tracealyze/py.typed" in names
    assert any(name.startswith("tracealyze/_engine.") for name in names)
