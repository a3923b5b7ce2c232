"""Commands that a text suggests can be pasted: a shell reads from them the words that were meant."""

from __future__ import annotations

import html
import os
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import SAMPLES, Call, Run

import tracealyze
from tracealyze.base.errors import WrongUsage
from tracealyze.base.suggested import command, file_word
from tracealyze.trace.outcome import failures

NAMES = (
    "a b.strace", "a;id", "$(touch PWNED)", "it's", "`touch PWNED`", "*", "~", "~root", "-rf", "--help", "a\nb",
    "\x1b[2Jx", "a|b", 'say "x"', "back\\slash", "ü…\u202e", "!!",
)  # fmt: skip

CAPTURE = """\
7 1700000000.000000 fsync(4</data/db>) = 0 <2.000000>
7 1700000002.100000 +++ exited with 0 +++
"""


def read_by_shell(text: str, folder: Path, program: str = "tracealyze") -> list[str]:
    """The words of a command of this program as a shell reads them."""
    script = f"{program}() {{ printf '%s\\0' \"$@\"; }}\n{text}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True, cwd=folder)
    return done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]


@pytest.mark.parametrize("name", NAMES)
def test_shell_reads_the_name_of_a_file(name: str, tmp_path: Path) -> None:
    text = command("summarize", files=[name, "other"], options=["--full"])
    assert text.isprintable()
    meant = ["--full", "--", name, "other"] if name.startswith("-") else [name, "other", "--full"]
    assert read_by_shell(text, tmp_path) == ["summarize", *meant]
    assert not os.listdir(tmp_path)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, empty."""
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_report_suggests_commands_that_can_be_pasted(name: str, call: Call, folder: Path) -> None:
    (folder / name).write_text(CAPTURE)
    _, stdout, _ = call("summarize", "--", name)
    lines = re.findall(r"^(?:next:|     ) (tracealyze .*)$", stdout, re.MULTILINE)
    assert 1 <= len(lines) <= 2
    words = [read_by_shell(line, folder) for line in lines]
    assert all("|" not in each for each in words)
    assert any(each[-1] == name for each in words)
    assert os.listdir(folder) == [name]


@pytest.mark.parametrize("name", NAMES)
def test_redact_suggests_a_check_that_runs(name: str, call: Call, folder: Path) -> None:
    (folder / name).write_text(CAPTURE)
    _, _, stderr = call("redact", "-o", "out.strace", "--", name)
    words = read_by_shell(stderr.partition("Check it: ")[2].splitlines()[0], folder)
    assert words[-2:] == [name, "out.strace"]
    assert call(*words)[0] == 0
    assert sorted(os.listdir(folder)) == sorted([name, "out.strace"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("syscall", "errno", "program"),
    [("openat", "EROFS", "findmnt"), ("connect", "ECONNREFUSED", "ls"), ("openat", "EACCES", "namei")],
)
def test_other_programs_get_the_name_that_failed(
    syscall: str, errno: str, program: str, name: str, tmp_path: Path
) -> None:
    row = {"syscall": syscall, "errno": errno, "target": f"/srv/{name}", "op": None}
    text = failures.command(row, None).removesuffix("; ss -lx")
    assert text.isprintable()
    assert read_by_shell(text, tmp_path, program)[-1] == f"/srv/{name}"
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("host", ["-oProxyCommand=id", "--help"])
def test_no_peer_is_an_option(host: str) -> None:
    row = {"syscall": "connect", "errno": "EHOSTUNREACH", "target": f"{host}:443", "op": None}
    assert not failures.command(row, None)
    assert failures.command(row | {"target": "db.example:443"}, None) == "ip route get db.example"


@pytest.mark.parametrize("name", NAMES)
def test_files_are_named_for_any_program(name: str, tmp_path: Path) -> None:
    words = read_by_shell(f"cat {file_word(name)}", tmp_path, "cat")
    assert words == [f"./{name}" if name.startswith("-") else name]
    with pytest.raises(WrongUsage) as missing:
        tracealyze.redact("a.strace", tmp_path / "b.strace", key=name)
    advised = str(missing.value).partition("urandom > ")[2].removesuffix(" and keep it secret.")
    assert read_by_shell(f"cat {advised}", tmp_path, "cat") == words


def test_loops_come_first_where_calls_repeat(run: Run, strace: Callable[[str], Path]) -> None:
    calls = "".join(
        f"7 1700000000.{at * 2000:06} ioctl(3</dev/x>, FIONREAD, [0]) = 0 <0.000900>\n"
        f'7 1700000000.{at * 2000 + 1000:06} write(4</dev/y>, "x", 1) = 1 <0.000900>\n'
        for at in range(400)
    )
    text = run("summarize", strace(calls)).stdout
    # The name of a file is left out where the line would be too wide for it.
    assert re.search(r"^next: tracealyze top-syscalls( \S+)? --by loop$", text, re.MULTILINE), text


def test_page_has_the_commands_of_the_report(run: Run, tmp_path: Path) -> None:
    capture = SAMPLES / "ssh-login" / "ssh-login.truss"
    assert run("report", capture, "-o", tmp_path / "page.html").returncode == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    commands = re.findall(r"<footer>(?:next: )?(.*?)</footer>", page)
    first = f"tracealyze top-syscalls {shlex.quote(str(capture))} --by loop"
    assert [html.unescape(each) for each in commands] == [first, "tracealyze explain hot-loop"]
