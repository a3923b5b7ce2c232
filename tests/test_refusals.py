"""Where tracing is refused, `doctor` and `record` name the cause and the cure. The refusals are real."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

from tracealyze.capture import processes

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed"),
]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to change user or capabilities")

REFUSALS = str(Path(__file__).parent / "refusals.py")
TOOL = (sys.executable, "-m", "tracealyze")


def call(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture
def sleeper() -> Iterator[int]:
    """A process of this user."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process.pid
        process.kill()


def test_doctor_works_where_tracing_works(tmp_path: Path, sleeper: int) -> None:
    done = call(*TOOL, "doctor", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Tracing a program: works" in done.stdout
    done = call(*TOOL, "doctor", "--pid", str(sleeper), cwd=tmp_path)
    assert done.returncode == 0
    assert f"Run: tracealyze record --pid {sleeper}" in done.stdout
    assert processes.tracer_of(sleeper) == 0


def test_seccomp_filter_is_named(tmp_path: Path) -> None:
    done = call(sys.executable, REFUSALS, "seccomp", *TOOL, "doctor", cwd=tmp_path)
    assert done.returncode == 1
    assert "Cause: a seccomp filter" in done.stdout
    assert "seccomp" in done.stdout.split("Seen in:")[1]
    done = call(sys.executable, REFUSALS, "seccomp", *TOOL, "record", "--", "touch", "made", cwd=tmp_path)
    assert done.returncode == 3
    assert "Cause: a seccomp filter" in done.stderr
    # The command does not run untraced, and no file is left.
    assert list(tmp_path.iterdir()) == []


def test_tracer_of_this_process_is_named(tmp_path: Path) -> None:
    done = call("strace", "-f", "-o", os.devnull, *TOOL, "doctor", cwd=tmp_path)
    assert done.returncode == 1
    assert "already traced by strace" in done.stdout


def test_missing_strace_is_named(tmp_path: Path) -> None:
    done = call(*TOOL, "doctor", cwd=tmp_path, PATH=str(tmp_path))
    assert done.returncode == 1
    assert "strace is not installed" in done.stdout
    done = call(*TOOL, "record", "--", "/bin/true", cwd=tmp_path, PATH=str(tmp_path))
    assert done.returncode == 3
    assert "install" in done.stderr


def test_tracer_of_the_target_is_named(tmp_path: Path, sleeper: int) -> None:
    with subprocess.Popen(["strace", "-q", "-o", os.devnull, "-p", str(sleeper)]) as tracer:
        end = time.monotonic() + 30
        while not processes.tracer_of(sleeper) and time.monotonic() < end:
            time.sleep(0.01)
        for command in ("doctor", "record"):
            done = call(*TOOL, command, "--pid", str(sleeper), cwd=tmp_path)
            assert done.returncode == (1 if command == "doctor" else 3)
            assert f"already traced by strace (pid {tracer.pid})" in done.stdout + done.stderr
        tracer.send_signal(signal.SIGTERM)
    assert list(tmp_path.iterdir()) == []


@as_root
def test_missing_capability_is_named(tmp_path: Path, sleeper: int) -> None:
    done = call(sys.executable, REFUSALS, "capability", *TOOL, "doctor", "--pid", str(sleeper), cwd=tmp_path)
    assert done.returncode == 1
    assert "lacks CAP_SYS_PTRACE" in done.stdout


@as_root
def test_owner_of_the_target_is_named(sleeper: int) -> None:
    drop = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    if call(*drop, sys.executable, "-c", "import tracealyze", cwd=Path("/")).returncode:
        pytest.skip("other users cannot read this directory")
    done = call(*drop, *TOOL, "doctor", "--pid", str(sleeper), cwd=Path("/"))
    assert done.returncode == 1
    assert "belongs to user 0, and this is user 65534" in done.stdout


def test_thread_of_the_kernel_is_named(tmp_path: Path) -> None:
    if processes.status(2).get("Name") != "kthreadd":
        pytest.skip("threads of the kernel are not visible here")
    done = call(*TOOL, "doctor", "--pid", "2", cwd=tmp_path)
    assert done.returncode == 1
    assert "thread of the kernel" in done.stdout


@pytest.mark.parametrize("sanitizer", ["address", "leak"])
def test_leak_check_is_announced_with_its_cure(tmp_path: Path, sanitizer: str) -> None:
    (tmp_path / "ok.c").write_text("int main(void) { return 0; }\n")
    if call("cc", f"-fsanitize={sanitizer}", "ok.c", "-o", "ok", cwd=tmp_path).returncode:
        pytest.skip(f"no compiler with -fsanitize={sanitizer}")
    assert call("./ok", cwd=tmp_path).returncode == 0
    done = call(*TOOL, "record", "-q", "--", "./ok", cwd=tmp_path)
    assert "leak check fails under a tracer" in done.stderr
    assert done.returncode != 0
    cured = {"ASAN_OPTIONS": "detect_leaks=0", "LSAN_OPTIONS": "detect_leaks=0"}
    done = call(*TOOL, "record", "-q", "--", "./ok", cwd=tmp_path, **cured)
    assert "leak check" not in done.stderr
    assert done.returncode == 0


@as_root
def test_setuid_program_is_announced(tmp_path: Path) -> None:
    drop = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    if call(*drop, sys.executable, "-c", "import tracealyze", cwd=Path("/")).returncode:
        pytest.skip("other users cannot read this directory")
    shutil.copy(shutil.which("id") or "", tmp_path / "who")
    (tmp_path / "who").chmod(0o4755)
    open_folder = Path("/tmp") / f"record-{os.getpid()}"
    open_folder.mkdir(mode=0o777)
    open_folder.chmod(0o777)
    try:
        shutil.copy2(tmp_path / "who", open_folder)
        done = call(*drop, *TOOL, "record", "-q", "--", "./who", cwd=open_folder)
    finally:
        shutil.rmtree(open_folder)
    assert "setuid program" in done.stderr
    assert "euid=0" not in done.stdout
    assert done.returncode == 0
