"""Where tracing is refused, `doctor` and `record` name the cause and the cure, and exit with a known code.

Each row of the matrix is judged twice: from kept facts, with a stand-in for strace; and for real (`live`)."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from conftest import ROOT

from tracealyze.capture import processes

HERE = Path(__file__).parent
PYTHON, TOOL = sys.executable, (sys.executable, "-m", "tracealyze")
NOBODY = 65534
NO_PROCESS = 99999999
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
PATIENCE_S = 30

NEW_HELP = "-DDD\n  -f\n  -k, --stack-traces\n  --seccomp-bpf\n %file\n"
OLD_HELP = (
    "usage: strace [-CdffhiqrtttTvVwxxyy] [-I n] [-e expr]...\n-D -- run tracer process as a detached grandchild\n"
)
TRACE = "".join(f"7 1700000000.{us:06} read(0, 0x1, 1) = 1 <0.000010>\n" for us in range(0, 24_000, 20))
NO_CAPABILITY = "CapEff:\t0000000000000000\n"
TARGET = f"Pid:\t{{pid}}\nState:\tS (sleeping)\nVmSize:\t9 kB\nUid:\t{NOBODY}\nCapPrm:\t0\nTracerPid:\t0\n"
# What strace 6.1 writes.
RUN_REFUSED = (
    "strace: test_ptrace_get_syscall_info: PTRACE_TRACEME: Operation not permitted\n"
    "strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted\n"
    "strace: PTRACE_SETOPTIONS: Operation not permitted\n"
)
ATTACH_REFUSED = "strace: attach: ptrace(PTRACE_SEIZE, {pid}): Operation not permitted\n"


@dataclass(frozen=True)
class Row:
    """A refusal: the expected answer, the kept facts, and how to bring it about."""

    name: str
    reason: str
    cure: str
    """A regular expression; {pid} stands for the process to trace, here and in the facts."""
    doctor: int | None = 1
    """Exit code; None where `doctor` is not run."""
    record: int = 3
    options: str = "-- touch made"
    """Of `record`, after the options that all rows have."""
    target: str = ""
    """Trace a running process instead: a sleeper, a traced one, a thread of the kernel or a missing one."""

    facts: Mapping[str, str] = field(default_factory=dict)
    """Files of /proc."""
    refused_run: str = ""
    refused_attach: str = ATTACH_REFUSED
    help: str = NEW_HELP
    user: int = 0
    has_strace: bool = True

    prefix: tuple[str, ...] | None = ()
    """Command that brings it about; None if no test can."""
    live_record: int | None = None
    """Exit code of `record`, if it differs because the command is traced."""


ROWS = (
    Row("no strace", "strace is not installed", "apt-get install -y strace", has_strace=False),
    Row(
        "seccomp filter",
        "Cause: a seccomp filter",
        "seccomp=unconfined|SystemCallFilter=|seccompProfile",
        facts={"self/status": "Seccomp:\t2\n"},
        refused_run=RUN_REFUSED,
        prefix=(PYTHON, str(HERE / "refusals.py"), "seccomp"),
    ),
    Row(
        "this process is traced",
        "already traced by strace",
        r"end that one first: kill \d+",
        facts={"self/status": "TracerPid:\t5\n", "5/status": "Name:\tstrace\n"},
        refused_run=RUN_REFUSED,
        prefix=("strace", "-f", "-o", os.devnull),
    ),
    Row(
        "dropped capability",
        "lacks CAP_SYS_PTRACE",
        "--cap-add=SYS_PTRACE",
        target="sleeper",
        facts={
            "self/status": NO_CAPABILITY,
            "target/status": TARGET.replace("CapPrm:\t0", "CapPrm:\t80000"),
            "1/environ": "container=docker",
        },
        prefix=(PYTHON, str(HERE / "refusals.py"), "capability"),
    ),
    Row(
        "scope of yama",
        "this machine restricts attaching: only its own children may be traced",
        "sudo tracealyze record --pid {pid}",
        target="sleeper",
        facts={"self/status": NO_CAPABILITY, "target/status": TARGET, "sys/kernel/yama/ptrace_scope": "1"},
        user=NOBODY,
        prefix=None,
    ),
    Row(
        "scope of yama, for all",
        "this machine forbids tracing until the next boot",
        "set kernel.yama.ptrace_scope = 1 in /etc/sysctl.d, and reboot",
        facts={"sys/kernel/yama/ptrace_scope": "3"},
        refused_run=RUN_REFUSED,
        prefix=None,
    ),
    Row(
        "process of another user",
        f"belongs to user 0, and this is user {NOBODY}",
        "sudo tracealyze record --pid {pid}",
        target="sleeper",
        facts={"self/status": NO_CAPABILITY, "target/status": TARGET.replace(f"Uid:\t{NOBODY}", "Uid:\t0")},
        user=NOBODY,
        prefix=AS_NOBODY,
    ),
    Row(
        "traced process",
        "the process is already traced by strace (pid ",
        r"end that one first: kill \d+",
        target="traced",
        facts={"target/status": TARGET.replace("TracerPid:\t0", "TracerPid:\t6"), "6/status": "Name:\tstrace\n"},
    ),
    Row(
        "thread of the kernel",
        "this is a thread of the kernel, which makes no system calls",
        "sudo perf record -g -t {pid}",
        target="kernel",
        facts={"target/status": "Pid:\t{pid}\nState:\tI (idle)\nTracerPid:\t0\n"},
    ),
    Row("missing process", "there is no process {pid}", "pgrep -a NAME", doctor=3, target="missing"),
    Row(
        "old strace",
        "This strace has no --seccomp-bpf (strace 5.3)",
        "profile light, files and net are slower",
        doctor=0,
        record=0,
        options="--profile light -- touch made",
        help=OLD_HELP,
        facts={"self/status": NO_CAPABILITY, "target/status": TARGET, "sys/kernel/yama/ptrace_scope": "1"},
        user=NOBODY,
        prefix=None,
    ),
    Row(
        "strace without stacks",
        "this strace was built without stack traces (-k)",
        "a strace that lists -k in: strace -h",
        doctor=None,
        record=2,
        options="--profile stacks -- touch made",
        help=OLD_HELP,
        prefix=None,
    ),
    Row(
        "AddressSanitizer",
        "built with a sanitizer whose leak check fails under a tracer",
        "ASAN_OPTIONS=detect_leaks=0 LSAN_OPTIONS=detect_leaks=0 tracealyze record -- COMMAND",
        doctor=None,
        record=0,
        options="-- ./address",
        live_record=1,
    ),
    Row(
        "LeakSanitizer",
        "built with a sanitizer whose leak check fails under a tracer",
        "ASAN_OPTIONS=detect_leaks=0 LSAN_OPTIONS=detect_leaks=0 tracealyze record -- COMMAND",
        doctor=None,
        record=0,
        options="-- ./leak",
        live_record=23,
    ),
    Row(
        "setuid program",
        "is a setuid program. Under a tracer it runs without its additional privileges",
        "sudo tracealyze record -- COMMAND",
        doctor=None,
        record=0,
        options="-- ./setuid",
        user=NOBODY,
        prefix=AS_NOBODY,
    ),
    Row("not executable", "./plain: permission denied", "chmod [+]x ./plain", None, 126, "-- ./plain"),
    Row("directory", "./folder is a directory", "ls ./folder", None, 126, "-- ./folder"),
    Row(
        "no #! line", "./hashless is a script without a #! line", "record -- sh ./hashless", None, 126, "-- ./hashless"
    ),
    Row("no interpreter", 'its interpreter "/nowhere" does not exist', "head -1 ./lost", None, 127, "-- ./lost"),
    Row("missing command", "no-such: command not found", "record -- sh -c COMMAND", None, 127, "-- no-such"),
    Row("missing path", "no/such: command not found", "ls no", None, 127, "-- no/such"),
    Row("command in one word", "command not found", "tracealyze record -- touch made", None, 127, "-- 'touch made'"),
    Row("not in PATH", "hashless: command not found", "tracealyze record -- ./hashless", None, 127, "-- hashless"),
)


def _programs(folder: Path) -> None:
    """The programs that rows name."""
    (folder / "plain").write_text("text\n")
    (folder / "folder").mkdir()
    for name, text in (("hashless", "echo\n"), ("lost", "#!/nowhere\n")):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    content = Path(shutil.which("true") or "").read_bytes()
    for name, mark, mode in (
        ("address", b"\0__asan_init\0", 0o755),
        ("leak", b"\0__lsan_init\0", 0o755),
        ("setuid", b"", 0o4755),
    ):
        (folder / name).write_bytes(content + mark)
        (folder / name).chmod(mode)


def _call(
    words: tuple[str, ...], folder: Path, environment: Mapping[str, str] = os.environ
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        env={**environment, "PYTHONPATH": str(ROOT)},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )


def _judge(row: Row, command: str, pid: int, code: int, call: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """Run `doctor` or `record`, and compare with the row."""
    attaches = ("--pid", str(pid)) if row.target else ()
    options = attaches or ("",)
    if command == "record":
        options = ("-q", "-o", "a.zst", *(attaches or shlex.split(row.options)))
    done = call(command, *filter(None, options))
    text = done.stdout + done.stderr
    assert done.returncode == code, text
    assert row.reason.format(pid=pid) in text
    assert re.search(row.cure.format(pid=pid), text), text
    assert "does not explain" not in text
    assert "Traceback" not in text


def _cases(*, live: bool) -> Iterator[object]:
    for row in ROWS:
        if live and row.prefix is None:
            continue
        for command in ("doctor", "record") if row.doctor is not None else ("record",):
            yield pytest.param(row, command, id=f"{command}: {row.name}")


@pytest.mark.parametrize(("row", "command"), [*_cases(live=False)])
def test_refusal_is_named_from_kept_facts(tmp_path: Path, row: Row, command: str) -> None:
    work, machine, pid = tmp_path / "work", tmp_path / "machine", NO_PROCESS if row.target == "missing" else os.getpid()
    work.mkdir()
    _programs(work)
    for name, text in row.facts.items():
        file = machine / "proc" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("{pid}", str(pid)))
    path = _stand_in(tmp_path / "bin", row, pid)

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        driver = (PYTHON, str(HERE / "simulated_machine.py"), str(machine), str(row.user))
        return _call((*driver, *words), work, os.environ | {"PATH": path})

    expected = row.record if command == "record" else row.doctor or 0
    _judge(row, command, pid, expected, call)
    # A command that cannot be traced does not run, and no file is left.
    runs = command == "record" and row.record == 0
    assert (work / "a.zst").exists() == runs
    assert (work / "made").exists() == (runs and "made" in row.options)


def _stand_in(folder: Path, row: Row, pid: int) -> str:
    """Install what stands in for strace. Returns PATH."""
    folder.mkdir()
    if not row.has_strace:
        shutil.copy(shutil.which("true") or "", folder / "apt-get")
        return str(folder)
    strace = folder / "strace"
    shutil.copy(HERE / "stand_in_strace.sh", strace)
    strace.chmod(0o755)
    files = {"help": row.help, "trace": TRACE, "run": row.refused_run, "attach": row.refused_attach.format(pid=pid)}
    for name, text in files.items():
        if text:
            (folder / f"strace.{name}").write_text(text)
    return f"{folder}:{os.environ['PATH']}"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that all users may enter and write."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


@pytest.mark.live
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize(("row", "command"), [*_cases(live=True)])
def test_refusal_is_named_where_it_happens(open_folder: Path, row: Row, command: str) -> None:
    _skip_unless_possible(row, open_folder)
    _programs(open_folder)
    if "Sanitizer" in row.name:
        _compile(row.options.removeprefix("-- ./"), open_folder)
    environment = dict(os.environ)
    if not row.has_strace:
        environment["PATH"] = _stand_in(open_folder / "bin", row, 0)
    with _target(row.target) as pid:

        def call(*words: str) -> subprocess.CompletedProcess[str]:
            return _call((*(row.prefix or ()), *TOOL, *words), open_folder, environment)

        live = row.record if row.live_record is None else row.live_record
        expected = live if command == "record" else row.doctor or 0
        _judge(row, command, pid, expected, call)
    assert (open_folder / "a.zst").exists() == (command == "record" and row.record == 0)
    assert not (open_folder / "made").exists()


def _skip_unless_possible(row: Row, folder: Path) -> None:
    if (row.user or "capability" in (row.prefix or ())) and os.geteuid():
        pytest.skip("needs root to change user or capabilities")
    if row.user and _call((*AS_NOBODY, PYTHON, "-c", "import tracealyze"), folder).returncode:
        pytest.skip("other users cannot read this directory")
    if row.target == "kernel" and processes.status(2).get("Name") != "kthreadd":
        pytest.skip("threads of the kernel are not visible here")


def _compile(sanitizer: str, folder: Path) -> None:
    (folder / "ok.c").write_text("int main(void) { return 0; }\n")
    if _call(("cc", f"-fsanitize={sanitizer}", "ok.c", "-o", sanitizer), folder).returncode:
        pytest.skip(f"no compiler with -fsanitize={sanitizer}")
    assert _call((f"./{sanitizer}",), folder).returncode == 0


@contextmanager
def _target(kind: str) -> Iterator[int]:
    """The process to trace; it is not traced when this ends."""
    if kind in ("", "kernel", "missing"):
        yield {"kernel": 2, "missing": NO_PROCESS}.get(kind, 0)
        return
    with subprocess.Popen(["sleep", "600"]) as sleeper:
        try:
            if kind == "traced":
                with _traced(sleeper.pid):
                    yield sleeper.pid
            else:
                yield sleeper.pid
                assert not processes.tracer_of(sleeper.pid)
        finally:
            sleeper.kill()


@contextmanager
def _traced(pid: int) -> Iterator[None]:
    with subprocess.Popen(["strace", "-q", "-o", os.devnull, "-p", str(pid)]) as tracer:
        end = time.monotonic() + PATIENCE_S
        while not processes.tracer_of(pid) and time.monotonic() < end:
            time.sleep(0.01)
        yield
        tracer.send_signal(signal.SIGTERM)


@pytest.mark.live
@pytest.mark.parametrize("sanitizer", ["address", "leak"])
def test_cure_of_a_leak_check_works(tmp_path: Path, sanitizer: str) -> None:
    _compile(sanitizer, tmp_path)
    cured = {"ASAN_OPTIONS": "detect_leaks=0", "LSAN_OPTIONS": "detect_leaks=0"}
    done = _call((*TOOL, "record", "-q", "--", f"./{sanitizer}"), tmp_path, os.environ | cured)
    assert "leak check" not in done.stderr
    assert done.returncode == 0


@pytest.mark.live
def test_doctor_works_where_tracing_works(tmp_path: Path) -> None:
    done = _call((*TOOL, "doctor"), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Tracing a program: works" in done.stdout
    with _target("sleeper") as pid:
        done = _call((*TOOL, "doctor", "--pid", str(pid)), tmp_path)
    assert done.returncode == 0
    assert f"Run: tracealyze record --pid {pid}" in done.stdout
