"""Counts next to the times of pytest-benchmark and pytest-codspeed, each in its own pytest: `make test-consumers`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from test_pytest_plugin import _must_trace, pytest_in

pytestmark = [pytest.mark.consumers, pytest.mark.usefixtures("_must_trace")]
__all__ = ["_must_trace"]

# Not in the virtual environment: with pytest-xdist, which runs our own tests, pytest-benchmark warns. Each has a
# folder, because pytest-codspeed has no fixture `benchmark` next to pytest-benchmark unless it is enabled.
PLUGINS = ROOT / ".cache"

PROJECT = """
import pytest

LINES = []

def work(path="/etc/passwd"):
    open(path).close()
    LINES.append(path)

@pytest.mark.syscalls("opens == 1", "processes == 0")
def test_marked(benchmark):
    benchmark.extra_info["own"] = 1
    benchmark(work, "/etc/group")
    assert set(LINES) == {"/etc/group"}

@pytest.mark.syscalls("opens == 2")
def test_pedantic(benchmark):
    benchmark.pedantic(lambda a, b: (work(a), work(b)), setup=lambda: (("/etc/passwd", "/etc/group"), {}), rounds=3)

def test_block(benchmark, syscalls):
    with syscalls("opens == 3"):
        for _ in range(3):
            work()
    benchmark(work)

def test_neither(benchmark):
    benchmark(work)

@pytest.mark.syscalls("opens == 0")
def test_exceeds(benchmark):
    benchmark(work)

@pytest.mark.syscalls("opens == 0")
def test_not_called(benchmark):
    pass
"""


def outcome_in(folder: Path, plugin: str, *options: str) -> subprocess.CompletedProcess[str]:
    place = PLUGINS / plugin
    if not place.exists():
        pytest.skip(f"{plugin} is not installed in {place.relative_to(ROOT)}")
    (folder / "test_it.py").write_text(PROJECT, encoding="utf-8")
    return pytest_in(folder, "--syscalls=require", "-p", "no:xdist", *options, PYTHONPATH=str(place))


def fails_as_it_should(done: subprocess.CompletedProcess[str]) -> bool:
    return (
        done.returncode == 1
        and "1. opens 1, must be 0" in done.stdout
        and "the benchmark was not called, so nothing was counted" in done.stdout
        and "2 failed, 4 passed" in done.stdout
    )


def test_counts_are_extra_info_of_pytest_benchmark(tmp_path: Path) -> None:
    quick = ["--benchmark-min-rounds=2", "--benchmark-max-time=0.001", "--benchmark-json=times.json"]
    done = outcome_in(tmp_path, "pytest-benchmark", *quick)
    assert fails_as_it_should(done), done.stdout + done.stderr
    found: dict[str, Any] = {
        each["name"]: each["extra_info"]
        for each in json.loads((tmp_path / "times.json").read_text(encoding="utf-8"))["benchmarks"]
    }
    assert found["test_marked"]["own"] == 1
    opens = {name: extra.get("syscalls", {}).get("opens") for name, extra in found.items()}
    assert opens == {"test_marked": 1, "test_pedantic": 2, "test_block": 3, "test_neither": None}


@pytest.mark.parametrize("options", [[], ["--codspeed", "--codspeed-mode=walltime", "--codspeed-max-time=0.01"]])
def test_benchmarks_of_pytest_codspeed_are_counted(options: list[str], tmp_path: Path) -> None:
    with (tmp_path / "conftest.py").open("w", encoding="utf-8") as file:
        file.write(
            "import pytest\n\n"
            "@pytest.fixture(autouse=True)\n"
            "def _written(request, benchmark):\n"
            "    yield\n"
            "    with open('extra.txt', 'a') as file:\n"
            "        print(request.node.name, benchmark.extra_info.get('syscalls', {}).get('opens'), file=file)\n"
        )
    done = outcome_in(tmp_path, "pytest-codspeed", *options)
    assert fails_as_it_should(done), done.stdout + done.stderr
    assert (tmp_path / "extra.txt").read_text(encoding="utf-8").split() == [
        "test_marked", "1", "test_pedantic", "2", "test_block", "3", "test_neither", "None", "test_exceeds", "1",
        "test_not_called", "None",
    ]  # fmt: skip
