"""--help, completions, colors, and Ctrl-C."""

from __future__ import annotations

import json
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
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import typer
from conftest import ROOT, SAMPLES, Run, heed_ctrl_c

from tracealyze.commands._cli import COMMANDS, OLDER, SECTIONS, app

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


def test_first_page_has_few_commands_with_one_line_each(run: Run) -> None:
    """One flat list of 26 commands did not show where to begin."""
    text = run("--help").stdout
    lines = text.splitlines()
    first = [command for names in SECTIONS.values() for command in names]
    assert len(first) <= 15
    for command in first:
        at = next(number for number, line in enumerate(lines) if line.startswith(f"  {command} "))
        assert not lines[at + 1].startswith("     ")
    headings = re.findall(r"^(\w[\w ]*):$", text, flags=re.MULTILINE)
    assert headings == [*SECTIONS, "Options"]
    further = text.partition("More commands: ")[2].replace("\n", " ")
    assert all(command in first or re.search(rf"\b{command}\b", further) for command in COMMANDS)


_SIZES = [f"{n}={SAMPLES}/boot-devices/boot-{n}.strace.xz" for n in (10, 20, 40, 80)]
_LOG = SAMPLES / "kernel-shutdown" / "shutdown.log"
_EARLIER: list[tuple[list[object], list[object]]] = [
    (["tree", SSH], ["timeline", SSH, "--tree"]),
    (["tree", SSH, "--depth", 1, "--json"], ["timeline", SSH, "--tree", "--depth", 1, "--json"]),
    (["loops", SSH], ["top-syscalls", SSH, "--by", "loop"]),
    (["gaps", SSH, "--min", "9ms"], ["log", SSH, "--min", "9ms"]),
    (["gaps", _LOG], ["log", _LOG, "--only", "gaps"]),
    (["stages", _LOG, "--format", "csv"], ["log", _LOG, "--format", "csv"]),
    (["stages", _LOG, "--json"], ["log", _LOG, "--json", "--only", "stages"]),
    (["scaling", *_SIZES, "--top", 15], ["diff", *_SIZES]),
    (["rules", "TLZ03"], ["explain", "TLZ03"]),
    (["rules", "--columns", "loops"], ["explain", "--columns", "loops"]),
    (["rules", "--format", "csv"], ["explain", "--format", "csv"]),
]


@pytest.mark.parametrize(("earlier", "now"), _EARLIER, ids=lambda words: " ".join(map(str, words))[:40])
def test_earlier_commands_go_on_working(earlier: list[object], now: list[object], run: Run) -> None:
    """Commands that became part of others print the same under both names."""
    printed = run(*earlier)
    assert printed.returncode == 0 and printed.stdout
    assert printed.stdout == run(*now).stdout


def test_earlier_commands_are_not_listed(run: Run) -> None:
    text = run("--help").stdout
    listed = re.findall(r"(?m)^  ([a-z-]+) ", text) + re.findall(r"[a-z-]+", text.partition("More commands: ")[2])
    assert set(COMMANDS) <= set(listed) and not set(OLDER) & set(listed)
    words = "tracealyze "
    variables = {"_TRACEALYZE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": "1"}
    assert set(run(**variables).stdout.split()) == set(COMMANDS)


def test_log_shows_stages_and_gaps_of_a_log_and_gaps_of_calls(run: Run) -> None:
    both = run("log", _LOG).stdout
    assert run("log", _LOG, "--only", "stages").stdout in both
    assert run("log", _LOG, "--only", "gaps").stdout in both
    document = json.loads(run("log", _LOG, "--json").stdout)
    assert list(document) == ["items", "stages", "gaps"] and document["gaps"] == json.loads(
        run("gaps", _LOG, "--json").stdout
    )
    assert list(json.loads(run("log", SSH, "--json").stdout)) == ["gaps"]


def test_options_of_a_view_need_it(run: Run) -> None:
    """Options that do nothing were wrongly accepted."""
    for words in (["timeline", SSH, "--depth", 1], ["top-syscalls", SSH, "--by", "loop", "--sort", "calls"]):
        assert run(*words).returncode == 2


_FORMS = {"--json", "--format"}
_NO_ROWS = {
    *("summarize", "record", "redact", "reply", "report", "export", "mcp", "skill", "comment"),
    *("fleet index", "fleet compact"),
}
"""Commands that write a file, a text or a document."""
_DOCUMENTS = {"doctor", "timeline", "check", "watch"}
"""Commands with one answer, which programs read as JSON; `check --output` has forms of its own."""


def test_each_command_that_prints_rows_has_all_forms() -> None:
    """`what-if` had JSON only, although the README promises CSV and markdown."""
    root = typer.main.get_command(app)
    for name, command in _leaves(root, typer.Context(root, info_name="tracealyze")):
        options = {option for param in command.params for option in param.opts}
        if name not in _NO_ROWS:
            assert "--json" in options, name
        if name not in _NO_ROWS | _DOCUMENTS:
            assert options >= _FORMS, name


def _leaves(group: Any, context: Any) -> Iterator[tuple[str, Any]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if hasattr(command, "list_commands"):
            yield from ((f"{name} {under}", each) for under, each in _leaves(command, context))
        else:
            yield name, command


def test_table_of_contributing_lists_the_options_that_commands_share() -> None:
    """Each option of several commands means the same in all of them; the table says what, and who has it."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Options")[2].partition("\n## ")[0]
    listed = set(re.findall(r"--[a-z][a-z-]*", "".join(re.findall(r"(?m)^\| (`[^|]*) \|", text))))
    root = typer.main.get_command(app)
    counts: dict[str, int] = {}
    for _, command in _leaves(root, typer.Context(root, info_name="tracealyze")):
        shown = (param for param in command.params if not getattr(param, "hidden", False))
        for option in {each for param in shown for each in param.opts if each.startswith("--")}:
            counts[option] = counts.get(option, 0) + 1
    assert {option for option, number in counts.items() if number > 2} == listed


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
from tracealyze.trace import trace
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
    from tracealyze.commands import _cli, _progress

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
        _cli.main()
    assert ("analyzing: " in capfd.readouterr().err) == is_terminal
