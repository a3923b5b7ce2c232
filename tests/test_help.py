"""--help, completions, colors, and Ctrl-C."""

from __future__ import annotations

import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import typer
from conftest import SAMPLES, Run, heed_ctrl_c

from tracealyze.cli import COMMANDS, app

SSH = SAMPLES / "ssh-login" / "ssh-login.truss"


def examples(text: str) -> list[str]:
    return re.findall(r"^  (tracealyze .*)$", text, flags=re.MULTILINE)


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_the_width_and_breaks_no_word(command: str, width: int, run: Run) -> None:
    """Lists of choices were wrongly broken inside words at 80 columns."""
    text = run(command, "--help", COLUMNS=str(width)).stdout
    for line in text.splitlines():
        assert len(line) <= width or line.strip() in text.split() or "tracealyze " in line, line
    words = set(run(command, "--help", COLUMNS="2000").stdout.split())
    assert set(text.split()) <= words | {"…"}


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_in_help_are_valid(command: str, run: Run) -> None:
    group: Any = typer.main.get_command(app)
    found = examples(run(command, "--help", COLUMNS="200").stdout)
    assert found
    for example in found:
        words = shlex.split(example.partition(" > ")[0])[1:]
        context = group.make_context("tracealyze", list(words))
        name, member, rest = group.resolve_command(context, words)
        assert name == command
        member.make_context(name, rest)


def test_each_command_has_one_line_at_80_columns(run: Run) -> None:
    lines = run("--help").stdout.splitlines()
    for command in COMMANDS:
        at = next(number for number, line in enumerate(lines) if line.startswith(f"  {command} "))
        assert not lines[at + 1].startswith("     ")


def test_help_of_a_command_has_two_forms(run: Run) -> None:
    assert run("help", "check").stdout == run("check", "--help").stdout != ""
    assert run("help").stdout == run("--help").stdout
    assert run("-V").stdout == run("--version").stdout


def test_options_have_groups(run: Run) -> None:
    text = run("summarize", "--help").stdout
    headings = re.findall(r"^(\w[\w ]*):$", text, flags=re.MULTILINE)
    assert headings == ["Examples", "Arguments", "Options", "Select events", "Rules", "Input", "Output"]


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("explain hot", "hot-loop"),
        ("summarize --select TLZ002", "TLZ002"),
        ("check --output sa", "sarif"),
        ("check --fail-on w", "warning"),
        ("rules --columns process", "processes"),
        ("rules hot", "hot-loop"),
        ("tree --input-format truss-f", "truss-freebsd"),
        ("tree --format mark", "markdown"),
        ("crit", "critical-path"),
    ],
)
def test_shell_completes(typed: str, completed: str, run: Run) -> None:
    words = f"tracealyze {typed}"
    variables = {"_TRACEALYZE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    assert run(**variables).stdout.split() == [completed]


def test_completion_script_is_that_of_the_requested_shell(run: Run) -> None:
    """A packager could not produce the files of other shells."""
    assert "#compdef tracealyze" in run("--show-completion", "zsh").stdout
    assert "complete --command tracealyze" in run("--show-completion", "fish").stdout
    unknown = run("--show-completion", "zhs")
    assert unknown.returncode == 2 and 'Did you mean "zsh"?' in unknown.stderr


@pytest.mark.parametrize(
    ("when", "variables", "styled"),
    [
        ("auto", {}, False),
        ("always", {"NO_COLOR": "1"}, True),
        ("auto", {"NO_COLOR": "", "CLICOLOR_FORCE": "1"}, True),
        ("auto", {"NO_COLOR": "", "CLICOLOR_FORCE": "0"}, False),
        ("auto", {"NO_COLOR": "", "FORCE_COLOR": "1"}, True),
        ("never", {"NO_COLOR": "", "FORCE_COLOR": "1"}, False),
    ],
)
def test_color_follows_option_and_environment(when: str, variables: dict[str, str], styled: bool, run: Run) -> None:
    shown = run("top-syscalls", SSH, "--color", when, **variables).stdout
    assert ("\x1b[" in shown) is styled


def test_several_pids_are_separated_by_commas(run: Run) -> None:
    assert (
        run("tree", SSH, "--pid", "12200,12186", "--json").stdout
        == run("tree", SSH, "--pid", "12200", "--pid", "12186", "--json").stdout
    )
    wrong = run("tree", SSH, "--pid", "12200;3")
    assert wrong.returncode == 2 and "--pid 12200,12186 for several" in wrong.stderr
    assert "it has 408 sshd, 12186 sshd, 12196 ksh" in run("tree", SSH, "--pid", "9").stderr


SLOW = """
import sys, time
from tracealyze import trace
trace.Trace.summary = lambda self: time.sleep(60)
from tracealyze.__main__ import main
sys.argv = ["tracealyze", "summarize", sys.argv[1]]
main()
"""


def on_a_terminal(tmp_path: Path) -> tuple[subprocess.Popen[bytes], int]:
    """Analyze a capture that takes a minute, with standard error on a terminal."""
    file = tmp_path / "slow.py"
    file.write_text(SLOW, encoding="utf-8")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, str(file), str(SSH)], stdout=subprocess.PIPE, stderr=theirs, preexec_fn=heed_ctrl_c
    )
    os.close(theirs)
    return process, ours


def test_analysis_shows_progress_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    """Ctrl-C was wrongly ignored until the report had been printed, and nothing was shown meanwhile."""
    process, terminal = on_a_terminal(tmp_path)
    shown, deadline = b"", time.monotonic() + 40
    while b"analyzing: " not in shown and time.monotonic() < deadline and select.select([terminal], [], [], 40)[0]:
        shown += os.read(terminal, 1000)
    assert b"analyzing: " in shown
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=30)
    # A shell reports a process that SIGINT ended as 130.
    assert process.returncode == -signal.SIGINT
    assert printed == b""
    os.close(terminal)


@pytest.mark.parametrize(
    "arguments",
    [
        *(["summarize"], ["critical-path"], ["tree"], ["top-syscalls"], ["loops"], ["gaps"], ["stages"], ["events"]),
        *(["diff", str(SSH)], ["check", "--budget", "processes <= 9"], ["baseline", "create", "-b", "new.json"]),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("is_terminal", [True, False])
def test_each_command_shows_analysis_on_a_terminal_only(
    arguments: list[str],
    is_terminal: bool,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Some commands showed nothing while they analyzed."""
    from tracealyze import cli
    from tracealyze.commands import _progress

    class AtOnce(threading.Thread):
        def start(self) -> None:
            self.run()

        def join(self, timeout: float | None = None) -> None:
            pass

    class AfterOneLook(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:  # noqa: ARG002
            was_set = self.is_set()
            self.set()
            return was_set

    monkeypatch.setattr(_progress, "Thread", AtOnce)
    monkeypatch.setattr(_progress, "Event", AfterOneLook)
    monkeypatch.setattr(_progress, "_DELAY_S", -1)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["tracealyze", *arguments, str(SSH)])
    with suppress(SystemExit):
        cli.main()
    assert ("analyzing: " in capfd.readouterr().err) == is_terminal
