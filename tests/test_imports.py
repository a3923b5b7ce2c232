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

# Files and packages of tracealyze/. Each may import those of its own layer and of the layers above it in this list.
LAYERS = [
    ["_engine", "errors", "heuristics", "sanitize", "schema", "program_names", "inert", "addresses", "later"],
    ["suggested", "toml_file"],
    ["units", "config"],
    ["html_tables"],
    ["capture_input"],
    ["engine_errors"],
    ["expression"],
    ["table", "arrow_export", "selection", "claims"],
    ["trace_tables"],
    ["path_overview", "time_names"],
    ["findings"],
    ["verdict"],
    ["outcome"],
    ["bounded", "together"],
    ["summary", "trace_overview", "what_if"],
    ["notebook_view"],
    ["trace"],
    ["compare"],
    ["render"],
    ["picture"],
    ["viewer"],
    ["page"],
    ["comparisons"],
    ["export"],
    ["conversion"],
    ["capture"],
    ["redaction", "job_comment"],
    ["assistant"],
    ["fleet"],
    ["pytest_plugin"],
    ["commands"],
    ["cli"],
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
    return module.split(".")[1]


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_downward(name: str) -> None:
    used = {layer(other) for other in imported(MODULES[name]) if other.startswith("tracealyze.")}
    assert not {other for other in used if LEVELS[other] > LEVELS[layer(name)]}


def test_layers_list_existing_modules() -> None:
    assert {layer(name) for name in MODULES} | {"_engine"} == set(LEVELS)


def test_files_have_no_import_circle() -> None:
    left = {name: {other for other in imported(file) if other in MODULES} - {name} for name, file in MODULES.items()}
    while free := {name for name in left if not left[name] or not any(name in needed for needed in left.values())}:
        left = {name: needed - free for name, needed in left.items() if name not in free}
    assert not left


@pytest.mark.parametrize("name", MODULES)
def test_rules_and_parsers_are_not_imported(name: str) -> None:
    assert not {"rules", "parsers"} & {other.split(".")[0] for other in imported(MODULES[name])}


def test_summarize_does_not_load_unused_modules(tmp_path: Path) -> None:
    heavy = {"pandas", "numpy", "pyarrow", "pyparsing", "tomllib", "pydantic", "rich.console"}
    program = (
        "import sys; from tracealyze.cli import main\n"
        f"sys.argv = ['tracealyze', 'summarize', {str(SAMPLES / 'ssh-login' / 'ssh-login.truss')!r}]\n"
        "try: main()\n"
        f"except SystemExit: print(sorted({heavy!r} & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True, cwd=tmp_path
    )
    assert done.stderr.strip() == "[]"
