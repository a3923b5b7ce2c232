"""The man page and the completion files, which packages of distributions contain, are those of the commands."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from conftest import ROOT

from tracealyze.commands._cli import COMMANDS

FOLDER = ROOT / "packaging"
PAGE = FOLDER / "man" / "tracealyze.1"


def test_generated_files_are_current(monkeypatch: pytest.MonkeyPatch) -> None:
    """`make man` writes them."""
    monkeypatch.syspath_prepend(FOLDER)
    expected = import_module("generate").files()
    kept = {str(file.relative_to(FOLDER)) for folder in ("man", "completions") for file in (FOLDER / folder).iterdir()}
    assert kept == set(expected)
    for name, content in expected.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == content, f"{name} is out of date: run make man"


def test_page_has_a_section_for_each_command() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f".SS tracealyze {name.replace('-', chr(92) + '-')}\n" in text


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="mandoc is not installed")
def test_page_passes_the_checks_of_mandoc() -> None:
    done = subprocess.run(["mandoc", "-T", "lint", PAGE], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_page_passes_the_checks_of_groff() -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z", PAGE], capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("file", sorted((FOLDER / "completions").iterdir()), ids=lambda file: file.name)
def test_completion_file_is_valid_for_its_shell(file: Path) -> None:
    shell = {"tracealyze.bash": "bash", "_tracealyze": "zsh", "tracealyze.fish": "fish"}[file.name]
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n", file], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_licenses_of_all_linked_crates_are_in_the_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    """MIT, BSD and Apache ask that the notices go with the binary. `make licenses` writes the file."""
    monkeypatch.syspath_prepend(FOLDER)
    licenses = import_module("licenses")
    text = licenses.FILE.read_text(encoding="utf-8")
    missing = [name for name, terms in licenses.linked().items() if f"\n{name} ({terms})\n" not in text]
    assert not missing
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert str(licenses.FILE.relative_to(ROOT)) in settings["project"]["license-files"]
