"""Imports point one way, and starting up does not pay for what is not used."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT, SAMPLES

from tracealyze.findings.rule_set import rules

PACKAGE = ROOT / "tracealyze"

# A module may import those in layers below its own, and those of its own layer.
LAYERS = [
    ["_engine", "errors", "sanitize", "schema"],
    ["units", "config"],
    ["capture_input"],
    ["engine_errors"],
    ["expression"],
    ["table", "selection"],
    ["trace"],
    ["findings"],
    ["summary"],
    ["syscall_families"],
    ["compare"],
    ["render"],
    ["commands"],
    ["cli"],
    ["__main__"],
]
LEVELS = {name: level for level, names in enumerate(LAYERS) for name in names}

# The trace is the face of the package: three of its members are made by layers above it, imported when asked for.
UPWARD = {("trace", "findings"), ("trace", "summary")}

MODULES = [file for file in sorted(PACKAGE.rglob("*.py")) if file != PACKAGE / "__init__.py"]


def imported(file: Path) -> Iterator[str]:
    """Names below `tracealyze` that a module imports, anywhere in it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "tracealyze":
            yield from (f"tracealyze.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def layer(module: str) -> str:
    return module.split(".")[1]


@pytest.mark.parametrize("file", MODULES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_imports_point_downward(file: Path) -> None:
    here = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
    there = {layer(name) for name in imported(file) if name.startswith("tracealyze.")}
    upward = {name for name in there if LEVELS[name] > LEVELS[here] and (here, name) not in UPWARD}
    assert not upward


@pytest.mark.parametrize("file", MODULES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_neither_rules_nor_parsers_are_imported(file: Path) -> None:
    assert not {"rules", "parsers"} & {name.split(".")[0] for name in imported(file)}


def test_summarize_does_not_load_what_it_does_not_use() -> None:
    # The grammar is needed once, to make the rules ready.
    rules()
    heavy = {"pandas", "numpy", "pyarrow", "pyparsing", "pydantic", "rich.console"}
    program = (
        "import sys; from tracealyze.cli import main\n"
        f"sys.argv = ['tracealyze', 'summarize', {str(SAMPLES / 'ssh-login' / 'ssh-login.truss')!r}]\n"
        "try: main()\n"
        f"except SystemExit: print(sorted({heavy!r} & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)
    assert done.stderr.strip() == "[]"
