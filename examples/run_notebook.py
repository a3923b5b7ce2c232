"""Run the cells of a notebook in order and store their outputs: `python examples/run_notebook.py login.ipynb`."""

from __future__ import annotations

import ast
import json
import os
import sys
from pathlib import Path
from typing import Any


def executed(notebook: Path) -> dict[str, Any]:
    """The notebook with the outputs of its cells. Paths in cells are relative to the notebook."""
    content: dict[str, Any] = json.loads(notebook.read_text(encoding="utf-8"))
    names: dict[str, object] = {}
    before = Path.cwd()
    os.chdir(notebook.parent)
    try:
        for number, cell in enumerate(each for each in content["cells"] if each["cell_type"] == "code"):
            cell["execution_count"] = number + 1
            cell["outputs"] = _outputs("".join(cell["source"]), names, number + 1)
    finally:
        os.chdir(before)
    return content


def _outputs(source: str, names: dict[str, object], number: int) -> list[dict[str, Any]]:
    """The value of the last expression of a cell, as a notebook shows it."""
    *statements, last = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        exec(compile(source, "cell", "exec"), names)
        return []
    exec(compile(ast.Module(statements, []), "cell", "exec"), names)
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    data = {"text/plain": _lines(repr(value))}
    if hasattr(value, "_repr_html_"):
        data = {"text/html": _lines(value._repr_html_()), **data}
    return [{"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"}]


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def stored(content: dict[str, Any]) -> str:
    """The text of a notebook file."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(stored(executed(Path(name).resolve())), encoding="utf-8")
