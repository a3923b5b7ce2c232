"""Shared by all tests: the same terminal, clock and language everywhere, and a command line to call."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from warm_commands import HANGS_AFTER_S, WarmCommands

# A busy machine generates examples slowly, which says nothing about the code.
hypothesis_settings.register_profile("any machine", suppress_health_check=[HealthCheck.too_slow], deadline=None)
hypothesis_settings.load_profile("any machine")

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "samples"

Run = Callable[..., subprocess.CompletedProcess[str]]
Call = Callable[..., tuple[int, str, str]]

_SETTINGS = {"COLUMNS": "80", "NO_COLOR": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}
_UNSET = ("FORCE_COLOR", "TRACEALYZE_DEBUG", "TRACEALYZE_MEMORY", "TERM", "CI", "GITHUB_ACTIONS", "PYTHONIOENCODING")


def captures_of_samples() -> list[Path]:
    """The captures in samples/, without the files that explain and make them."""
    kinds = {".strace", ".truss", ".dtruss", ".kdump", ".log"}
    return sorted(file for file in SAMPLES.glob("*/*") if kinds & set(file.suffixes))


def heed_ctrl_c() -> None:
    """For a child process: jobs that a script starts in the background ignore the signal, and so do their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Fix what the output depends on."""
    for name, value in _SETTINGS.items():
        monkeypatch.setenv(name, value)
    for name in _UNSET:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(scope="session")
def warm_commands() -> Iterator[WarmCommands]:
    """The process from which commands are forked."""
    environment = {name: value for name, value in os.environ.items() if name not in _UNSET}
    commands = WarmCommands(environment | _SETTINGS)
    yield commands
    commands.close()


@pytest.fixture
def run(warm_commands: WarmCommands) -> Run:
    """Call the command line: `run("summarize", path)`."""

    def call(
        *arguments: str | Path, stdin: str | None = None, cwd: Path = ROOT, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        words, variables = list(map(str, arguments)), os.environ | environment
        return warm_commands.run(words, stdin, cwd, variables) or subprocess.run(
            [sys.executable, "-m", "tracealyze", *words],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            encoding="utf-8",
            cwd=cwd,
            env=variables,
            timeout=HANGS_AFTER_S,
            check=False,
        )

    return call


@pytest.fixture
def strace(tmp_path: Path) -> Callable[[str], Path]:
    """Write a small strace capture, given as text."""

    def write(text: str) -> Path:
        file = tmp_path / "small.strace"
        file.write_text(text, encoding="utf-8")
        return file

    return write


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Call the command line in this process, for many calls: exit code, standard output, standard error."""
    from tracealyze.commands import _cli

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["tracealyze", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            _cli.main()
        stdout, stderr = capsys.readouterr()
        return int(ended.value.code or 0), stdout, stderr

    return call
