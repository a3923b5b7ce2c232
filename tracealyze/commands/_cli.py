"""The command line: subcommands that are loaded on demand, and one place that reports errors."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer._completion_classes import completion_init

from tracealyze import _engine
from tracealyze.base import suggested
from tracealyze.base.data_packages import DATA_PACKAGES, remedy
from tracealyze.base.errors import ExitCode, TracealyzeError, WrongUsage, did_you_mean
from tracealyze.commands._help import Command, Group, choices_of
from tracealyze.render import output

SECTIONS: Mapping[str, tuple[str, ...]] = {
    "Capture": ("record", "watch", "doctor"),
    "Understand": ("summarize", "report", "timeline", "top-syscalls", "log", "explain"),
    "Compare": ("diff", "check", "what-if"),
    "Many captures": ("fleet",),
    "Share": ("redact", "export"),
}
"""The subcommands that the first page of help lists, by what people want."""
_FURTHER = ("critical-path", "events", "reply", "comment", "mcp", "skill")
COMMANDS = (*(name for names in SECTIONS.values() for name in names), *_FURTHER)
"""The subcommands of the help. Each is a module of tracealyze.commands."""
OLDER: Mapping[str, str] = {
    "tree": "timeline --tree",
    "loops": "top-syscalls --by loop",
    "gaps": "log --only gaps",
    "stages": "log --only stages",
    "scaling": "diff",
    "rules": "explain",
    "baseline": "check --accept",
}
"""Subcommands that became part of others, which do the same. They go on working, and help does not list them."""


class _Commands(Group):
    """Loads the module of a subcommand when it is run or described, so that others do not slow down the start."""

    sections, further = SECTIONS, _FURTHER

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name not in COMMANDS and cmd_name not in OLDER:
            return None
        module = import_module(f"tracealyze.commands.{cmd_name.replace('-', '_')}")
        app = getattr(module, "app", None)
        if app is None:
            app = typer.Typer(add_completion=False, context_settings={"help_option_names": ["-h", "--help"]})
            app.command(cmd_name, cls=Command)(module.command)
        command: Any = typer.main.get_command(app)
        command.name, command.hidden = cmd_name, cmd_name in OLDER
        command.help = _reflowed(command.help) if command.help else None
        command.examples = module.EXAMPLES
        command.takes_several = getattr(module, "TAKES_SEVERAL", ())
        # After the name of a program, all words are its own.
        if not getattr(module, "HAS_OPTIONS_ANYWHERE", True):
            command.allow_interspersed_args = False
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0] if args else ""
        if name == "help":
            # `tracealyze help COMMAND` is `tracealyze COMMAND --help`.
            return super().resolve_command(ctx, [*args[1:2], "--help"] if args[1:] else ["--help"])
        if name and name not in COMMANDS and name not in OLDER and not name.startswith("-"):
            hint = did_you_mean(name, COMMANDS) or _if_a_file(name) or f" There are {', '.join(COMMANDS)}."
            raise WrongUsage(f'no command "{name}".{hint}')
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        # Handled here, because the framework would turn it into exit code 1.
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            output.abandon()
            return ExitCode.FINE


def _reflowed(text: str) -> str:
    """Help text whose paragraphs break at the width of the terminal, not where the source does.

    Brackets are markup in help, so those of section names are escaped."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    return "\n\n".join(paragraphs).replace("[", r"\[")


def _if_a_file(name: str) -> str:
    return f" For a capture: {suggested.command('summarize', files=[name])}" if os.path.exists(name) else ""


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(is_set: bool) -> None:
    if is_set:
        output.write(f"tracealyze {_engine.__version__}\n")
        raise typer.Exit


def _completion(shell: str | None, install: bool) -> None:
    """Print or install the completion of a shell; without a name, of the shell that runs this."""
    from typer import _completion_shared as completion

    completion_init()
    known = [each.value for each in completion.Shells]
    name = completion._get_shell_name() if shell == _THIS_SHELL else shell
    if name not in known:
        raise WrongUsage(f'no completion for the shell "{name}" ({", ".join(known)}).{did_you_mean(name or "", known)}')
    if install:
        _, path = completion.install(shell=name, prog_name="tracealyze", complete_var=_COMPLETE)
        output.write(f"Completion for {name} installed in {path}. Restart the terminal to use it.\n")
    else:
        script = completion.get_completion_script(prog_name="tracealyze", complete_var=_COMPLETE, shell=name)
        output.write(f"{script}\n")
    raise typer.Exit


_COMPLETE = "_TRACEALYZE_COMPLETE"
_THIS_SHELL = "this"


def _show_completion(shell: str | None) -> None:
    if shell is not None:
        _completion(shell, install=False)


def _install_completion(shell: str | None) -> None:
    if shell is not None:
        _completion(shell, install=True)


def _with_shell(arguments: Sequence[str]) -> list[str]:
    """The arguments, with a shell after a completion option that has none."""
    found = []
    for at, word in enumerate(arguments):
        found.append(word)
        has_value = arguments[at + 1 : at + 2] and not arguments[at + 1].startswith("-")
        if word in ("--show-completion", "--install-completion") and not has_value:
            found.append(_THIS_SHELL)
    return found


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    show_completion: Annotated[
        str | None,
        typer.Option(
            "--show-completion",
            metavar="[SHELL]",
            callback=_show_completion,
            is_eager=True,
            help="Print the completion script of bash, zsh, fish or powershell.",
        ),
    ] = None,
    install_completion: Annotated[
        str | None,
        typer.Option(
            "--install-completion",
            metavar="[SHELL]",
            callback=_install_completion,
            is_eager=True,
            help="Install it for the current user.",
        ),
    ] = None,
) -> None:
    """Find out why a program was slow, from a syscall trace or log that you already have."""


def main() -> None:
    """The entry point: run the command and exit with its code."""
    output.prepare()
    code = _run()
    error = output.flush(sys.stdout)
    if error is not None and not isinstance(error, BrokenPipeError):
        failure = _unwritable(error)
        code = code or failure
    output.flush(sys.stderr)
    sys.exit(code)


def _run() -> int:
    """Run the command; all errors are reported here."""
    try:
        if _COMPLETE in os.environ:
            completion_init()
        code = app(_with_shell(sys.argv[1:]), prog_name="tracealyze", standalone_mode=False)
        return code if isinstance(code, int) else ExitCode.FINE
    except TracealyzeError as error:
        return _report(error.lines, error.exit_code)
    except typer.TyperException as error:
        return _report([_usage(error)], ExitCode.WRONG_USAGE)
    except (KeyboardInterrupt, typer.Abort):
        return ExitCode.INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # The library that lays out help raises SystemExit when the pipe is closed.
        output.abandon()
        return ExitCode.FINE
    except OSError as error:
        return _unwritable(error)
    except Exception as error:
        if isinstance(error, UnicodeEncodeError) and any(error.object in word for word in sys.argv):
            return _report([f'"{error.object}" is not UTF-8. Write it in UTF-8.'], ExitCode.WRONG_USAGE)
        if os.environ.get("TRACEALYZE_DEBUG"):
            raise
        return _unexpected(error)


def _unexpected(error: Exception) -> int:
    if isinstance(error, ModuleNotFoundError) and error.name in DATA_PACKAGES:
        return _report([remedy(error.name)], ExitCode.WRONG_USAGE)
    what = f"{type(error).__name__}: {error}"
    advice = "Please report it; TRACEALYZE_DEBUG=1 shows where it happened."
    return _report([f"This is a bug in tracealyze: {what}. {advice}"], ExitCode.BUG)


def _unwritable(error: OSError) -> int:
    return _report([f"cannot write the output: {error.strerror or error}."], ExitCode.UNUSABLE_INPUT)


def _usage(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    where = f" See {context.command_path} --help." if context is not None else ""
    possible = getattr(error, "possibilities", None)
    if possible:
        return f"{error.message}. Did you mean {' or '.join(possible)}?{where}"
    # The message is empty if there are no arguments at all.
    problem = _unknown_choice(error) or error.format_message().rstrip(".") or "no command"
    return f"{problem}{'' if problem.endswith('?') else '.'}{where}"


_CHOICE = re.compile(r"'(?P<value>.*)' is not one of ")


def _unknown_choice(error: typer.TyperException) -> str | None:
    """The message for an unknown choice, with a suggestion."""
    param = getattr(error, "param", None)
    known = choices_of(param) if param is not None else []
    match = _CHOICE.search(error.message) if known else None
    if param is None or match is None:
        return None
    hint = did_you_mean(match["value"], known)
    return f'{param.opts[0]}: there is no "{match["value"]}" ({", ".join(known)}){f".{hint}" if hint else ""}'


def _report(lines: Sequence[str], code: ExitCode) -> int:
    """Write an error to standard error, after what the command has written so far."""
    output.flush(sys.stdout)
    output.note(_LONG_WORD.sub(_ends, f"tracealyze: {lines[0]}"))
    for line in lines[1:]:
        output.note(_LONG_WORD.sub(_ends, line))
    return code


# Longer than any name of a file (4,095 bytes): a key or value that only hides the sentence around it.
_LONG_WORD = re.compile(r"\S{4096,}")


def _ends(word: re.Match[str]) -> str:
    """Both ends of a word. The last one may be a remedy."""
    return f"{word[0][:100]}…{word[0][-100:]}"
