"""No output form of any command prints control characters that a trace, a log or a file name brings along."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest
from conftest import Call, Run

from tracealyze import export
from tracealyze.base.sanitize import HIDDEN_RANGES
from tracealyze.render.gate import FORMS as GATE_FORMS

ESCAPES = "\x1b]0;own\x07\x1b[2J\x9b31m\u202eme\x0b\u2066\x7f\U000e0041\xad\u3164\u206a"
"""Window title, cleared screen, C1, bidirectional controls, DEL, and letters that only programs read."""
FORBIDDEN = {chr(code) for first, last in HIDDEN_RANGES for code in range(first, last + 1)} - set("\n")

CALLS = f"""\
7 1700000000.000000 execve("/bin/{ESCAPES}", ["{ESCAPES}", "-c"], 0x7f /* 3 vars */) = 0 <0.000100>
7 1700000000.000200 clone(child_stack=NULL, flags=SIGCHLD) = 8 <0.000100>
8 1700000000.000400 execve("/usr/{ESCAPES}/child", ["{ESCAPES}"], 0x7f /* 3 vars */) = 0 <0.000100>
8 1700000000.001000 fsync(4</home/{ESCAPES}.db>) = 0 <2.000000>
8 1700000002.010000 odd_call("{ESCAPES}") = -1 EIO ({ESCAPES}) <0.500000>
8 1700000002.600000 +++ exited with 0 +++
7 1700000000.000500 wait4(8, [{{WIFEXITED(s) && WEXITSTATUS(s) == 0}}], 0, NULL) = 8 <2.600000>
7 1700000002.700000 clock_nanosleep(CLOCK_REALTIME, 0, {{tv_sec=1, tv_nsec=0}}, NULL) = 0 <1.000100>
7 1700000003.800000 connect(5<TCP:[10.0.0.1:1->{ESCAPES}:443]>, {{"/run/{ESCAPES}"}}, 20) = 0 <1.000000>
7 1700000005.000000 +++ exited with 0 +++
"""
MESSAGES = f"""\
[    0.000000] start of it
[    1.000000] got {ESCAPES}\x00\x08message\rnow
[    9.000000] {ESCAPES}: took 7 s
[   10.000000] end of it
"""
SYSLOG = f"""\
Mar  5 19:43:34 web1 sshd[812]: session {ESCAPES} opened
Mar  5 19:43:44 web1 {ESCAPES}[813]: done\x00\x08\r{ESCAPES}
Mar  5 19:43:54 {ESCAPES} sshd[812]: session closed
"""

ROWS = ("table", "json", "csv", "markdown")
COMMANDS = (
    *(f"summarize {form}" for form in ("", "--full", "--brief", "--json", "--format markdown", "--top 50")),
    *(f"{command} --format {form}" for command in ("top-syscalls", "critical-path", "gaps") for form in ROWS),
    *(f"{command} --format {form}" for command in ("loops", "events", "stages", "tree") for form in ROWS),
    *(f"top-syscalls --by {key}" for key in ("target", "program", "process", "shape")),
    "reply",
    "reply --markdown",
    "what-if --fix fixed-sleep",
    "what-if --fix 1 --json",
    "what-if --without 'syscall == \"fsync\"'",
    "timeline",
    "timeline --full",
    *(f"check --budget 'wall <= 1ms' --output {form}" for form in GATE_FORMS),
    *(f"export --to {name} -o -" for name, form in export.FORMATS.items() if form.is_text),
)
OF_TWO = tuple(f"diff --format {form}" for form in ("table", "json", "markdown"))


def assert_inert(text: str) -> None:
    assert not (FORBIDDEN & set(text)), [line for line in text.splitlines() if FORBIDDEN & set(line)][:3]


@pytest.fixture
def captures(tmp_path: Path) -> list[Path]:
    """Three captures, whose file names are hostile too."""
    contents = {".strace": CALLS, "-kernel.log": MESSAGES, "-syslog.log": SYSLOG}
    files = [tmp_path / f"-{ESCAPES}\r$(id){end}" for end in contents]
    for file, content in zip(files, contents.values(), strict=True):
        file.write_bytes(content.encode("utf-8", "surrogateescape"))
    return files


@pytest.mark.parametrize("command", COMMANDS)
def test_no_form_prints_control_characters(command: str, call: Call, captures: list[Path]) -> None:
    for capture in captures:
        code, stdout, stderr = call(*shlex.split(command), "--", capture)
        assert code in (0, 1, 2, 3), stderr
        assert stdout or stderr, command
        assert_inert(stdout.replace("\t", ""))
        assert_inert(stderr)


@pytest.mark.parametrize("command", OF_TWO)
def test_comparisons_print_no_control_characters(command: str, run: Run, captures: list[Path]) -> None:
    changed = captures[1].with_name(f"{ESCAPES}later.log")
    changed.write_text(MESSAGES.replace("9.0", "29.0").replace("10.0", "30.0"))
    done = run(*shlex.split(command), captures[1], changed)
    assert "silence" in done.stdout
    assert_inert(done.stdout + done.stderr)


def test_terminals_get_only_own_escapes(run: Run, captures: list[Path]) -> None:
    for capture in captures:
        done = run("summarize", "--full", "--color", "always", capture, TERM="xterm-256color")
        assert "\x1b[" in done.stdout
        assert not {"\x07", "\x9b", "\u202e", "\x00", "\r"} & set(done.stdout)
        assert "\x1b]" not in done.stdout
        assert "\x1b[2J" not in done.stdout


def test_reports_and_redacted_captures_are_inert(run: Run, captures: list[Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = run("report", *captures, "-o", page)
    assert not done.returncode, done.stderr
    assert_inert(page.read_text(encoding="utf-8").replace("\t", ""))
    for capture in captures:
        done = run("redact", capture, "-o", "-")
        assert done.stdout
        assert_inert(done.stdout.replace("\t", ""))


def test_errors_name_files_without_control_characters(run: Run, tmp_path: Path) -> None:
    empty = tmp_path / f"{ESCAPES}.empty"
    empty.write_bytes(b"")
    for command in ("summarize", "tree", "check", "redact --verify", "baseline create", "fleet index"):
        for name in (empty, tmp_path / f"{ESCAPES}.gone"):
            done = run(*shlex.split(command), name, cwd=tmp_path)
            assert_inert(done.stdout + done.stderr)
    assert os.path.exists(empty)
