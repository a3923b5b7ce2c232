"""Write the man page and the completion files from the commands, for packages of distributions: `make man`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any

import typer
from typer import _completion_shared
from typer._completion_classes import completion_init

import tracealyze
from tracealyze.commands._cli import app
from tracealyze.commands._help import groups, usage
from tracealyze.render.addresses import REPOSITORY, SITE

FOLDER = Path(__file__).resolve().parent
_NAMES = {"bash": "tracealyze.bash", "zsh": "_tracealyze", "fish": "tracealyze.fish"}
"""The file names under which shells look for the completion of a command."""

_LINE = 64
"""Characters per line of text, before signs are escaped."""

_EXIT_CODES = (
    ("0", "Success."),
    ("1", "A failed gate, or lines lost with --strict."),
    ("2", "Wrong usage, or nothing to compare with."),
    ("3", "Input that cannot be read or recognized, or output that cannot be written."),
)
_VARIABLES = (
    ("NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE", "Whether to use colors; --color overrides them."),
    ("FORCE_HYPERLINK", "1 or 0: whether findings are hyperlinks to the page of their rule, in a terminal."),
    ("COLUMNS", "The width of the output in a pipe."),
    ("XDG_STATE_HOME", "Where the last capture used is remembered."),
    ("TRACEALYZE_MEMORY", "How much memory a trace may use, as 512M or 8G; 2G if not set. Its rest is in a file."),
    ("TMPDIR", "The folder of that file, which has no name; /var/tmp if not set."),
    ("TRACEALYZE_DEBUG", "1: show where an unexpected error happened."),
)


def files() -> dict[str, str]:
    """All files with their content, by path in this folder."""
    completion_init()
    found = {"man/tracealyze.1": "\n".join(_page()) + "\n"}
    for shell, name in _NAMES.items():
        script = _completion_shared.get_completion_script(
            prog_name="tracealyze", complete_var="_TRACEALYZE_COMPLETE", shell=shell
        )
        # In a folder of fpath, the file itself is the function that zsh calls.
        script = script.replace("compdef _tracealyze_completion tracealyze", '_tracealyze_completion "$@"')
        found[f"completions/{name}"] = script.strip() + "\n"
    return found


def _page() -> Iterator[str]:
    root = typer.main.get_command(app)
    context = typer.Context(root, info_name="tracealyze")
    yield f'.TH TRACEALYZE 1 "{_released()}" "tracealyze {tracealyze.__version__}" "User Commands"'
    yield from (".SH NAME", r"tracealyze \- find the cause of slow programs in syscall traces and logs")
    yield from (".SH SYNOPSIS", *_synopsis(usage(root, context)))
    yield from (".SH DESCRIPTION", *_paragraphs(root.help))
    yield from (
        *_text("Without a capture, a command reads standard input if it is piped, otherwise the last capture used."),
        ".SH OPTIONS",
        *_rows(groups(root, context)["Options"]),
        ".SH COMMANDS",
    )
    for name in root.list_commands(context):
        yield from _command(root.get_command(context, name), context, name)
    yield from (".SH EXIT STATUS", *_rows(_EXIT_CODES))
    yield from (".SH ENVIRONMENT", *_rows(_VARIABLES))
    yield from (".SH SEE ALSO", ".BR strace (1)", ".PP", _escaped(SITE), ".PP", _escaped(REPOSITORY))


def _released() -> str:
    """The date of the newest release in the changelog."""
    text = (FOLDER.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    return re.findall(r"(?m)^## \d\S* \((\d{4}-\d\d-\d\d)\)", text)[0]


def _command(command: Any, parent: Any, name: str) -> Iterator[str]:
    context = typer.Context(command, info_name=name, parent=parent)
    yield from (f".SS {_escaped(context.command_path)}", *_synopsis(usage(command, context)), ".PP")
    yield from _paragraphs(command.help)
    for heading, rows in groups(command, context).items():
        if heading == "Commands":
            continue
        yield from (".PP", f".I {heading}", *_rows(rows))
    if examples := getattr(command, "examples", ()):
        yield from (".PP", ".I Examples", ".PP", ".RS 4", ".nf", *map(_escaped, examples), ".fi", ".RE")
    for each in command.list_commands(context) if hasattr(command, "list_commands") else ():
        yield from _command(command.get_command(context, each), context, each)


def _synopsis(text: str) -> Iterator[str]:
    name, _, rest = text.partition(" [")
    yield f".B {_escaped(name)}"
    if rest:
        yield _escaped(f"[{rest}")


def _rows(rows: Any) -> Iterator[str]:
    for name, sentence in rows:
        yield from (".TP", f".B {_escaped(' '.join(name.split()))}", *_text(sentence))


def _paragraphs(text: str | None) -> Iterator[str]:
    paragraphs = (text or "").replace(r"\[", "[").split("\n\n")
    for number, paragraph in enumerate(paragraphs):
        yield from ([".PP"] if number else [])
        yield from _text(paragraph)


def _text(sentence: str) -> Iterator[str]:
    """Each sentence begins on a line of its own, as formatters expect."""
    for each in re.split(r"(?<=[.?])\s+(?=[A-Z])", " ".join(sentence.split())):
        yield from map(_escaped, wrap(each, _LINE, break_long_words=False, break_on_hyphens=False))


def _escaped(text: str) -> str:
    """Text without the signs of the formatter; hyphens of options stay such when they are copied."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace('"', r"\(dq")
    text = text.replace("^", r"\(ha").replace("~", r"\(ti").replace("`", r"\(ga")
    return rf"\&{text}" if text.startswith(".") else text


def main() -> None:
    """Write all files."""
    for name, content in files().items():
        (FOLDER / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
