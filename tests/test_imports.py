"""Imports point one way, there is no circle of files, and starting does not load unused modules."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from conftest import ROOT, SAMPLES

PACKAGE = ROOT / "tracealyze"

# Rooms of tracealyze/, and folders in them. Each may import those of its own level and of the levels above it here.
LAYERS = [
    ["_engine"],
    ["base"],
    ["model.capture_input", "model.expression"],
    ["model"],
    ["findings"],
    ["trace.outcome", "trace.together"],
    ["trace"],
    ["compare"],
    ["render"],
    ["render.picture", "export"],
    ["render.viewer", "capture"],
    ["render.page", "fleet"],
    ["pytest_plugin", "commands"],
    ["__main__"],
]
LEVELS = {name: level for level, names in enumerate(LAYERS) for name in names}

FILES = [file for file in sorted(PACKAGE.rglob("*.py")) if file != PACKAGE / "__init__.py"]


def name_of(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {name_of(file): file for file in FILES}


@cache
def imported(file: Path) -> frozenset[str]:
    """The modules that a file imports, anywhere in it, including those for types."""
    return frozenset(_imported(file))


def _imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{file}: import by the full name"
            members = {f"{node.module}.{alias.name}" for alias in node.names}
            # `from package import module` needs the module; any other name is defined in, or imported by, the package.
            yield from (name if name in MODULES or name == "tracealyze._engine" else node.module for name in members)


def layer(module: str) -> str:
    """The folder of a module that the list names, or else its room."""
    parts = module.split(".")[1:]
    return next((name for name in (".".join(parts[:2]), parts[0]) if name in LEVELS), parts[0])


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_downward(name: str) -> None:
    used = {layer(other) for other in imported(MODULES[name]) if other.startswith("tracealyze.")}
    assert not {other for other in used if LEVELS[other] > LEVELS[layer(name)]}


def test_layers_list_existing_rooms() -> None:
    assert {layer(name) for name in MODULES} | {"_engine"} == set(LEVELS)


def test_rooms_are_few_enough_to_know() -> None:
    """A newcomer looks for a room, so the top floor has few of them, and modules are in rooms."""
    rooms = {file.name for file in PACKAGE.iterdir() if file.is_dir() and file.name != "__pycache__"}
    assert len(rooms) <= 12
    assert {file.name for file in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py"}
    assert len(LAYERS) <= 14


def test_files_have_no_import_circle() -> None:
    left = {name: {other for other in imported(file) if other in MODULES} - {name} for name, file in MODULES.items()}
    while free := {name for name in left if not left[name] or not any(name in needed for needed in left.values())}:
        left = {name: needed - free for name, needed in left.items() if name not in free}
    assert not left


@pytest.mark.parametrize("name", MODULES)
def test_rules_and_parsers_are_not_imported(name: str) -> None:
    assert not {"rules", "parsers"} & {other.split(".")[0] for other in imported(MODULES[name])}


def test_summarize_does_not_load_unused_modules(tmp_path: Path) -> None:
    # Newer versions of typer load pydantic.
    heavy = {"pandas", "numpy", "pyarrow", "pyparsing", "tomllib", "rich.console"}
    program = (
        "import sys; from tracealyze.commands._cli import main\n"
        f"sys.argv = ['tracealyze', 'summarize', {str(SAMPLES / 'ssh-login' / 'ssh-login.truss')!r}]\n"
        "try: main()\n"
        f"except SystemExit: print(sorted({heavy!r} & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True, cwd=tmp_path
    )
    assert done.stderr.strip() == "[]"
