"""The text of --help: usage, what the command does, examples, and options by group, at any width."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup

from tracealyze.render import output

SELECT = "Select events"
RULES = "Rules"
INPUT = "Input"
OUTPUT = "Output"
_OWN = "Options"
_GROUPS = ("Arguments", _OWN, SELECT, RULES, INPUT, OUTPUT)

_WIDEST, _NARROWEST = 100, 40
_NAMES = 26
"""Longer names are on a line of their own."""


def text(command: Any, context: Any) -> str:
    """The help text of a command."""
    width = max(min(shutil.get_terminal_size().columns, _WIDEST), _NARROWEST)
    return "".join(f"{line.rstrip()}\n" for line in _lines(command, context, width))


def _lines(command: Any, context: Any, width: int) -> Iterator[str]:
    for paragraph in (command.help or "").replace(r"\[", "[").split("\n\n"):
        yield from wrap(paragraph, width, break_on_hyphens=False, break_long_words=False)
        yield ""
    yield from wrap(
        f"Usage: {usage(command, context)}",
        width,
        subsequent_indent="       ",
        break_on_hyphens=False,
        break_long_words=False,
    )
    if examples := getattr(command, "examples", ()):
        yield from ("", _bold("Examples:"), *(f"  {example}" for example in examples))
    for heading, rows in groups(command, context).items():
        yield from ("", _bold(f"{heading}:"))
        yield from _table(rows, width)
    if further := getattr(command, "further", ()):
        text = f"More commands: {', '.join(further)}. tracealyze COMMAND --help describes each."
        yield from ("", *wrap(text, width, break_on_hyphens=False, break_long_words=False))


def groups(command: Any, context: Any) -> dict[str, list[tuple[str, str]]]:
    """The subcommands, arguments and options of a command with their descriptions, by heading."""
    groups: dict[str, list[tuple[str, str]]] = {name: [] for name in _GROUPS}
    for param in command.get_params(context):
        if not getattr(param, "hidden", False):
            is_argument = isinstance(param, TyperArgument)
            own = "Arguments" if is_argument else getattr(param, "rich_help_panel", None) or _OWN
            groups.setdefault(own, []).append((_named(param, is_argument), _described(param)))
    if isinstance(command, TyperGroup):
        sections = getattr(command, "sections", None) or {"Commands": command.list_commands(context)}
        groups = {heading: _members(command, context, names) for heading, names in sections.items()} | groups
    return {heading: rows for heading, rows in groups.items() if rows}


def _members(group: TyperGroup, context: Any, names: Iterable[str]) -> list[tuple[str, str]]:
    members = (group.get_command(context, name) for name in names)
    return [(str(each.name), _first_sentence(each.help)) for each in members if each]


def usage(command: Any, context: Any) -> str:
    """How the command is called, in one line."""
    arguments = [_placeholder(each) for each in command.get_params(context) if isinstance(each, TyperArgument)]
    members = [command.subcommand_metavar] if isinstance(command, TyperGroup) else []
    return " ".join([context.command_path, "[OPTIONS]", *arguments, *members])


def _placeholder(argument: TyperArgument) -> str:
    """An argument in the usage line. A name in brackets already says how many of it there may be."""
    name = str(argument.metavar or argument.name)
    return name if name.startswith("[") else f"{{{name}}}" if argument.required else f"[{name}]"


def _named(param: Any, is_argument: bool) -> str:
    if is_argument:
        return str(param.metavar or param.name)
    shorts, longs = ([each for each in param.opts if each.startswith("--") is long] for long in (False, True))
    names = ", ".join([*shorts, *longs])
    value = "" if param.is_flag or param.count else f" {param.metavar or 'VALUE'}"
    return f"{names if shorts else f'    {names}'}{value}"


def _described(param: Any) -> str:
    sentence = str(param.help or "").replace(r"\[", "[")
    choices = choices_of(param)
    if choices:
        sentence = f"{sentence} One of {', '.join(choices)}."
    default = getattr(param.default, "value", param.default)
    if getattr(param, "show_default", False) and default not in (None, False, [], ()) and not param.is_flag:
        sentence = f"{sentence} Default: {default}."
    return sentence


def choices_of(param: Any) -> list[str]:
    """The words that an argument or option accepts; empty for any."""
    # Older versions of the framework describe a type in another attribute.
    kind = getattr(param, "type_descriptor", None) or getattr(param, "type", None)
    return [str(getattr(each, "value", each)) for each in getattr(kind, "choices", None) or ()]


def _first_sentence(help_text: str | None) -> str:
    first = " ".join((help_text or "").split("\n\n")[0].split()).replace(r"\[", "[")
    return re.split(r"\. |: (?=which|how|time|critical-path|what)", first)[0].rstrip(".")


def _table(rows: Sequence[tuple[str, str]], width: int) -> Iterator[str]:
    column = min(max((len(name) for name, _ in rows if len(name) <= _NAMES), default=0), _NAMES, width // 3)
    for name, sentence in rows:
        texts = wrap(sentence, width - column - 4, break_on_hyphens=False, break_long_words=False) or [""]
        if len(name) > column:
            yield f"  {name}"
        else:
            yield f"  {name:<{column}}  {texts.pop(0)}"
        yield from (f"  {'':<{column}}  {line}" for line in texts)


def _bold(heading: str) -> str:
    is_plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return heading if is_plain else f"\x1b[1m{heading}\x1b[0m"


def _each_with_its_option(args: Sequence[str], options: Sequence[str]) -> Iterator[str]:
    """`--base a --base b` for `--base a b`."""
    option, words = "", iter(args)
    for word in words:
        if word in options:
            option = word
            # The first value may begin with a dash; if it is missing, the parser reports that.
            yield from (option, *([value] if (value := next(words, None)) is not None else []))
        elif word.startswith("-") and word != "-":
            option = ""
            yield word
        else:
            yield from (option, word) if option else (word,)
        if word == "--":
            break
    yield from words


class Command(TyperCommand):
    """A command with this help text."""

    takes_several: Sequence[str] = ()
    """Options that take all words up to the next option, as a shell expands a pattern to several."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(_each_with_its_option(args, self.takes_several)))

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        # Printed here: without arguments, the framework would make it the message of an error.
        output.write_styled(text(self, ctx))


class Group(TyperGroup):
    """A command with subcommands and this help text."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        # Printed here: without arguments, the framework would make it the message of an error.
        output.write_styled(text(self, ctx))
