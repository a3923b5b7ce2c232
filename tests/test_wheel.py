"""The wheel that users install, built from the source distribution, which proves that that is complete.

Building it takes minutes, so plain `pytest` leaves this out: `pytest -m wheel`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

pytestmark = pytest.mark.wheel

_SMOKE = ROOT / "packaging" / "smoke.py"


def maturin(*arguments: str | Path, cwd: Path = ROOT) -> None:
    environment = {"CARGO_TARGET_DIR": str(ROOT / "target"), **os.environ}
    subprocess.run([sys.executable, "-m", "maturin", *map(str, arguments)], cwd=cwd, env=environment, check=True)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution."""
    folder = tmp_path_factory.mktemp("source")
    maturin("sdist", "--out", folder)
    (file,) = folder.glob("*.tar.gz")
    return file


@pytest.fixture(scope="module")
def wheel(source: Path) -> Path:
    """The wheel that is built from the source distribution."""
    with tarfile.open(source) as archive:
        archive.extractall(source.parent, filter="data")
    (unpacked,) = (entry for entry in source.parent.iterdir() if entry.is_dir())
    # Files in a source distribution are old, so cargo would take what an earlier run compiled from other ones.
    for file in unpacked.rglob("*"):
        os.utime(file)
    maturin("build", "--release", "--locked", "--quiet", "--out", source.parent / "dist", cwd=unpacked)
    (file,) = (source.parent / "dist").glob("*.whl")
    return file


def test_wheel_holds_the_package_with_its_rules_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"tracealyze"}
    folder = ROOT / "rules"
    rules = {f"tracealyze/rules/{file.relative_to(folder)}" for file in folder.glob("**/*.toml")}
    assert rules
    assert {*rules, "tracealyze/rules/compiled.json"} <= set(names)
    assert "tracealyze/py.typed" in names
    assert any(name.startswith("tracealyze/_engine.") for name in names)


def test_wheel_has_licences_and_a_list_of_what_is_linked(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for ending in ("licenses/LICENSE", "THIRD-PARTY-LICENSES.txt", ".cyclonedx.json"):
        assert [name for name in names if ".dist-info/" in name and name.endswith(ending)], ending


def test_wheel_is_for_all_versions_of_python(wheel: Path) -> None:
    assert "-cp311-abi3-" in wheel.name


def test_source_has_what_distributions_package(source: Path) -> None:
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        assert not [member.name for member in archive.getmembers() if member.issym()]
    completions = {f"packaging/completions/{name}" for name in ("tracealyze.bash", "_tracealyze", "tracealyze.fish")}
    assert {"packaging/man/tracealyze.1", "Cargo.lock", "LICENSE", *completions} <= names


def test_metadata_is_accepted_by_the_index(source: Path, wheel: Path) -> None:
    pytest.importorskip("twine", reason="twine is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", source, wheel], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout.decode()


@pytest.mark.parametrize("kind", ["whole", "light"])
def test_wheel_reads_the_samples_in_a_bare_environment(kind: str, wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"

    def pip(*arguments: str | Path) -> bool:
        words = [str(python), "-m", "pip", "install", "--quiet", *map(str, arguments)]
        return subprocess.run(words, check=False).returncode == 0

    if not pip(f"{wheel}[pandas]" if kind == "whole" else wheel):
        pytest.skip("the packages that it needs cannot be installed here")
    shutil.copytree(ROOT / "samples", tmp_path / "samples")
    (tmp_path / "packaging").mkdir()
    smoke = shutil.copy(_SMOKE, tmp_path / "packaging")
    done = subprocess.run(
        ["env", "-i", f"HOME={tmp_path}", "PATH=/usr/bin:/bin", python, smoke],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert ("pandas is not installed" in done.stdout) is (kind == "light")
    if kind == "light":
        assert _installed_mb(tmp_path / "venv") <= 60


def _installed_mb(venv: Path) -> float:
    """The size of what was installed in a new environment, without what it has from the start."""
    [packages] = venv.glob("lib/python*/site-packages")
    ours = (each for each in packages.iterdir() if not each.name.startswith(("pip", "setuptools", "pkg_resources")))
    files = (file for each in ours for file in ([each] if each.is_file() else each.rglob("*")) if file.is_file())
    return sum(file.stat().st_size for file in files) / 1e6
