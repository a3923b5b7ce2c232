"""What works without pandas, pyarrow and numpy, and what Windows can load: the modules are blocked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, SAMPLES

SSH = SAMPLES / "ssh-login" / "ssh-login.truss"
BEFORE, AFTER = (SAMPLES / "shutdown" / f"{name}.strace.xz" for name in ("before", "after"))

_BLOCK_PACKAGES = """
import sys
for name in ("numpy", "pandas", "pyarrow"):
    sys.modules[name] = None
"""
# Names of Unix that the library itself uses are kept: these modules are loaded before.
_BLOCK_UNIX = """
import sys, subprocess, tempfile, asyncio, shutil, multiprocessing, ctypes, mmap, inspect
import pathlib, platform, rich.console, typer, platformdirs, pyparsing, pyarrow
import os, signal, select, sysconfig
sysconfig.get_config_vars()
for name in ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"):
    sys.modules[name] = None
for name in ("environb", "fork", "getegid", "geteuid", "getgid", "getuid", "posix_spawn", "setsid", "uname"):
    delattr(os, name)
for name in [name for name in vars(os) if name.startswith("POSIX_SPAWN")]:
    delattr(os, name)
for name in ("SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSTOP", "SIGXFSZ", "pthread_sigmask", "sigtimedwait"):
    delattr(signal, name)
del signal.struct_siginfo, select.poll
"""
_RUN = """
sys.argv = ["tracealyze", *sys.argv[1:]]
from tracealyze.__main__ import main
main()
"""


def blocked(preamble: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", preamble + _RUN, *map(str, arguments)],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        encoding="utf-8",
        cwd=ROOT,
        check=False,
    )


READING: list[tuple[str | Path, ...]] = [
    ("--help",),
    ("summarize", SSH),
    ("summarize", SSH, "--json"),
    ("summarize", SSH, "--format", "csv"),
    ("top-syscalls", SSH, "--by", "program", "--where", "dur_ns > 1ms"),
    ("tree", BEFORE),
    ("critical-path", BEFORE),
    ("timeline", BEFORE),
    ("loops", SSH),
    ("gaps", SSH),
    ("events", SSH, "--top", "3"),
    ("events", SSH, "--json"),
    ("stages", SAMPLES / "jail-start" / "staged-before.log"),
    ("diff", BEFORE, AFTER),
    ("diff", "--n-from", r"boot-(\d+)", str(SAMPLES / "boot-devices" / "boot-[0-9]*.xz")),
    ("check", SSH, "--budget", "processes <= 5"),
    ("rules", "--columns", "events"),
    ("explain", "hot-loop"),
    ("doctor", SSH),
    ("export", SSH, "--to", "folded", "-o", "-"),
    ("scaling", "--n-from", r"boot-(\d+)", str(SAMPLES / "boot-devices" / "boot-[0-9]*.xz")),
]


@pytest.mark.parametrize("arguments", READING, ids=lambda each: " ".join(map(str, each))[:40].replace(str(ROOT), ""))
@pytest.mark.parametrize("preamble", [_BLOCK_PACKAGES, _BLOCK_UNIX], ids=["no-data-packages", "no-unix"])
def test_reading_prints_the_same_with_less(preamble: str, arguments: tuple[str | Path, ...]) -> None:
    less, whole = blocked(preamble, *arguments), blocked("import sys\n", *arguments)
    assert (less.returncode, less.stderr) == (whole.returncode, whole.stderr) == (0, whole.stderr)
    assert less.stdout == whole.stdout


def test_report_is_the_same_page_without_the_data_packages(tmp_path: Path) -> None:
    pages = []
    for preamble in (_BLOCK_PACKAGES, "import sys\n"):
        done = blocked(preamble, "report", SSH, "-o", tmp_path / "page.html")
        assert done.returncode == 0, done.stderr
        pages.append((tmp_path / "page.html").read_bytes())
    assert pages[0] == pages[1]


@pytest.mark.parametrize("name", ["jsonl", "perfetto", "chrome", "speedscope", "pprof", "svg"])
def test_exports_are_the_same_files_without_the_data_packages(name: str, tmp_path: Path) -> None:
    files = []
    for preamble in (_BLOCK_PACKAGES, "import sys\n"):
        done = blocked(preamble, "export", SSH, "--to", name, "-o", tmp_path / "file")
        assert done.returncode == 0, done.stderr
        files.append((tmp_path / "file").read_bytes())
    assert files[0] == files[1]


@pytest.mark.parametrize("arguments", [("export", SSH, "--to", "parquet"), ("fleet", "top", "--store", "nowhere")])
def test_missing_package_is_named_with_its_remedy(arguments: tuple[str | Path, ...]) -> None:
    done = blocked(_BLOCK_PACKAGES, *arguments)
    assert done.returncode == 2
    lacks = "this needs the package pyarrow, which is not installed"
    remedy = "python3 -m pip install 'tracealyze[pandas]'"
    assert done.stderr.splitlines()[-1] == f"tracealyze: {lacks}. Run: {remedy}"


@pytest.mark.parametrize("method", ["to_pandas", "to_arrow", "to_parquet"])
def test_tables_name_the_missing_package(method: str) -> None:
    arguments = '"file.parquet"' if method == "to_parquet" else ""
    script = f"import tracealyze\ntracealyze.read({str(SSH)!r}).processes.{method}({arguments})\n"
    done = subprocess.run(
        [sys.executable, "-c", _BLOCK_PACKAGES + script], capture_output=True, encoding="utf-8", check=False
    )
    last = done.stderr.splitlines()[-1]
    assert last.startswith("tracealyze.base.errors.WrongUsage: this needs the package")
    assert last.endswith("Run: python3 -m pip install 'tracealyze[pandas]'.")


def test_windows_can_load_every_module_that_reads() -> None:
    """`resource`, `fcntl` and signals of Unix were imported by the list of commands, so nothing started on Windows."""
    names = [
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for file in sorted((ROOT / "tracealyze").rglob("*.py"))
    ]
    # The modules that run tracers, which `record` loads after it has looked for these.
    loaded_late = ("guard", "held_command", "launch", "light", "recording", "untraced_run")
    tracing = {f"tracealyze.capture.{name}" for name in loaded_late}
    assert tracing < set(names)
    loads = (
        f"from importlib import import_module\nfor name in {sorted(set(names) - tracing)}:\n    import_module(name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", _BLOCK_UNIX + loads], capture_output=True, encoding="utf-8", cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr


def test_record_names_the_system_that_it_needs() -> None:
    done = blocked(_BLOCK_UNIX + "sys.platform = 'win32'\n", "record", "--", "true")
    assert done.returncode == 2
    assert "strace, which Windows does not have" in done.stderr
