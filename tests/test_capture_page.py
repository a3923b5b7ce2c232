"""The commands of "How to capture": each is well formed, and those that this system can run do what the page says."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from conftest import ROOT, Run, heed_ctrl_c

import tracealyze
from tracealyze.capture import processes
from tracealyze.commands._cli import app
from tracealyze.model.capture_input.recapture import whole_command
from tracealyze.model.capture_input.recorded import read_metadata

_PAGE = ROOT / "docs" / "capture.md"
_PATIENCE_S = 30.0
_PROGRAM = "sleep 0.05; sync . & wait; cat /etc/passwd"


def live(test: Any) -> Any:
    """Mark a test that traces on the spot."""
    needed = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
    return pytest.mark.live(needed(test))


def _shown() -> list[str]:
    """The lines of the page's blocks and the code in its table of systems."""
    text = _PAGE.read_text(encoding="utf-8")
    lines = [line for block in re.findall(r"```\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    rows = re.findall(r"(?m)^\| [^`|]+ \| `([^`]+)` \| `([^`]+)` \|$", text)
    return [line for line in lines if line] + [cell for row in rows for cell in row]


def _calls(name: str) -> list[str]:
    """What the page calls a program with, also within commands of containers and services."""
    pattern = re.compile(rf".*?(?:^|(?<= )|(?<=/))({name} (?!.* {name} ).*)")
    return [found[1] for line in _shown() if (found := pattern.match(line))]


@pytest.mark.parametrize("line", _calls("tracealyze"))
def test_calls_of_tracealyze_are_valid(line: str) -> None:
    group: Any = typer.main.get_command(app)
    words = shlex.split(line.replace("$(docker inspect -f '{{.State.Pid}}' NAME)", "4711"))[1:]
    name, member, rest = group.resolve_command(group.make_context("tracealyze", list(words)), words)
    member.make_context(name, rest)


@pytest.mark.parametrize("line", _calls("strace"))
def test_calls_of_strace_have_the_options_that_lack_nothing(line: str) -> None:
    advised = whole_command("strace").partition(" -o ")[0]
    assert line.startswith(f"{advised} -o ")


_TRACERS = {
    "Solaris, illumos": "truss-solaris",
    "FreeBSD": "truss-freebsd",
    "OpenBSD, NetBSD": "kdump",
    "AIX": "truss-aix",
    "macOS": "dtruss",
}


@pytest.mark.parametrize(("system", "tracer"), _TRACERS.items(), ids=_TRACERS.values())
def test_other_systems_have_the_commands_that_are_advised(system: str, tracer: str) -> None:
    [row] = re.findall(rf"(?m)^\| {re.escape(system)} \| `(.+)` \| `(.+)` \|$", _PAGE.read_text(encoding="utf-8"))
    for shown, attaches in zip(row, (False, True), strict=True):
        assert shown.replace("trace.out", "FILE") == whole_command(tracer, attaches=attaches)


def test_table_of_options_names_options(run: Run) -> None:
    text = _PAGE.read_text(encoding="utf-8")
    shown = set(re.findall(r"(?m)^\| `(-[-a-z]+)", text))
    known = set(re.findall(r"(?<![\w-])--?[a-z][-a-z]*", run("record", "--help", COLUMNS="200").stdout))
    assert shown and not shown - known


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    program = tmp_path / "slow-program"
    program.write_text(f"#!/bin/sh\n{_PROGRAM}\n", encoding="utf-8")
    program.chmod(0o755)
    shutil.copy(program, tmp_path / "scenario.sh")
    return tmp_path


@pytest.fixture
def server() -> Iterator[int]:
    """The process id of a program that writes to the disk twenty times a second."""
    script = "import os, time\nfile = open('/tmp/' + str(os.getpid()), 'wb')\nos.unlink(file.name)\n"
    script += "while True: time.sleep(0.05); os.fsync(file.fileno())"
    process = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
    yield process.pid
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _started(line: str, folder: Path, pid: int = 0) -> subprocess.Popen[str]:
    line = line.replace("4711", str(pid)).replace("-p PID", f"-p {pid}").replace("--its-options", "")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COMMIT": "12ab", "PATH": _with_tracealyze(folder)}
    return subprocess.Popen(
        ["sh", "-c", f"exec {line}"],
        cwd=folder,
        env=environment,
        encoding="utf-8",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_ctrl_c,
    )


def _with_tracealyze(folder: Path) -> str:
    """A search path on which `tracealyze` is this checkout."""
    command = folder / "bin" / "tracealyze"
    command.parent.mkdir(exist_ok=True)
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m tracealyze "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    return f"{command.parent}{os.pathsep}{os.environ['PATH']}"


def _finished(started: subprocess.Popen[str]) -> str:
    out, err = started.communicate(timeout=_PATIENCE_S)
    assert started.returncode == 0, err
    return out + err


def _found(pattern: str, name: str = "tracealyze") -> list[str]:
    found = [line for line in _calls(name) if re.search(pattern, line)]
    assert found, pattern
    return found


@live
def test_command_is_recorded_with_its_report(folder: Path) -> None:
    [line] = _found(r"^tracealyze record -- ")
    started = _started(line, folder)
    out, err = started.communicate(timeout=_PATIENCE_S)
    assert started.returncode == 0, err
    assert out == Path("/etc/passwd").read_text(encoding="utf-8")
    assert "slow-program" in err
    assert read_metadata(str(folder / "slow-program.strace.zst"))["exit"] == 0


@live
@pytest.mark.parametrize("line", [line for line in _calls("strace") if "/slow-program" in line])
def test_strace_alone_writes_a_complete_capture(line: str, folder: Path) -> None:
    _finished(_started(line, folder))
    assert tracealyze.read(folder / "trace.out").totals["processes"] >= 3


@live
def test_doctor_finds_nothing_to_cure(folder: Path, server: int) -> None:
    _finished(_started("strace -f -ttt -T -yy -o trace.out ./slow-program", folder))
    for line in _found(r"^tracealyze doctor"):
        assert "Traceback" not in _finished(_started(line, folder, server))


_LIMITED = [line for line in _calls("tracealyze") if "--pid 4711" in line and "record" in line and "--live" not in line]
"""The screen of `--live` goes on until somebody ends it; tests/test_watch.py does."""


@live
@pytest.mark.parametrize("line", _LIMITED)
def test_server_goes_on_after_its_capture(line: str, folder: Path, server: int) -> None:
    """The limits are those of the page, but for their values: nobody waits for half a minute, or for a slow disk."""
    quick = (
        re.sub(r"--for \d+s", "--for 1s", line).replace("dur_ns >= 1s", "dur_ns >= 1us").replace("--ring", "-q --ring")
    )
    assert quick != line
    _finished(_started(quick, folder, server))
    assert not processes.tracer_of(server)
    [file] = folder.glob("*.strace.zst")
    assert tracealyze.read(file).totals["calls"] > 0


@live
@pytest.mark.parametrize("line", [line for line in _calls("strace") if line.endswith("-p 4711")])
def test_strace_releases_a_server(line: str, folder: Path, server: int) -> None:
    started = _started(line, folder, server)
    _until_written(folder / "trace.out")
    started.send_signal(signal.SIGINT)
    started.communicate(timeout=_PATIENCE_S)
    assert not processes.tracer_of(server)
    assert tracealyze.read(folder / "trace.out").totals["calls"] > 0


@live
def test_scenario_of_a_pipeline_is_recorded_and_checked(folder: Path) -> None:
    [line] = _found(r"^tracealyze record -q -o run1")
    _finished(_started(line, folder))
    assert read_metadata(str(folder / "run1.strace.zst"))["labels"] == {"commit": "12ab"}
    _finished(_started("tracealyze check run1.strace.zst --accept", folder))
    [line] = _found(r"^tracealyze check ")
    assert "Traceback" not in _finished(_started(line, folder))


def _until_written(file: Path) -> None:
    end = time.monotonic() + _PATIENCE_S
    while not (file.exists() and file.stat().st_size > 1000):
        assert time.monotonic() < end, f"nothing is written to {file}"
        time.sleep(0.01)
