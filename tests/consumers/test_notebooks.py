"""Jupyter itself executes the example notebook, and shows what Python shows."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "examples" / "login.ipynb"

pytestmark = pytest.mark.consumers


@pytest.mark.filterwarnings("ignore")
def test_jupyter_executes_the_example(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed: pip install nbclient ipykernel")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: pip install nbclient ipykernel")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed: pip install ipykernel")
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(EXAMPLE, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(EXAMPLE.parent)}})
    # The kernel of this interpreter, whatever other kernels are installed.
    client.create_kernel_manager()
    client.km.kernel_cmd = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    asyncio.run(client.async_execute())
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert not [output for output in outputs if output.output_type == "error"]
    shown = [output.data["text/html"] for output in outputs if "text/html" in output.get("data", {})]
    assert '<div class="tracealyze">' in shown[0]
    assert "could save up to 9.74 s" in shown[0]
