"""Documents for contributors name files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT

DOCUMENTS = [ROOT / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "parsers/README.md", "benches/README.md")]
DOCUMENTS += sorted((ROOT / "docs").glob("*.md"))
FOLDERS = ("benches", "docs", "engine", "fuzz", "packaging", "parsers", "redact", "rules", "tests", "tracealyze")
OF_USERS = {"tools/rules/slow-config.toml", "tracealyze.toml"}
SUFFIXES = (".cases", ".md", ".py", ".rs", ".toml")


def named_files(document: Path) -> set[str]:
    """Names of files and folders in backticks, except patterns such as `rules/NAME.toml`, and files of users."""
    words = {
        word for quoted in re.findall(r"`([^`\n]+)`", document.read_text(encoding="utf-8")) for word in quoted.split()
    }
    names = {word.removeprefix("../") for word in words if word.endswith((*SUFFIXES, "/"))}
    return {name for name in names - OF_USERS if not re.search(r"^[./]|NAME|RULE|[*<>=:$]", name)}


def known_files() -> set[str]:
    files = {file for folder in FOLDERS for file in (ROOT / folder).rglob("*") if "target" not in file.parts}
    paths = {str(file.relative_to(ROOT)) + "/" * file.is_dir() for file in {*files, *ROOT.glob("*")}}
    return paths | {f"{folder}/" for folder in FOLDERS}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.relative_to(ROOT)))
def test_files_in_documents_exist(document: Path) -> None:
    known = known_files()
    missing = {name for name in named_files(document) if not any(f"/{file}".endswith(f"/{name}") for file in known)}
    assert not missing


def test_architecture_has_two_pages() -> None:
    lines = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 110
    assert max(map(len, lines)) <= 125
