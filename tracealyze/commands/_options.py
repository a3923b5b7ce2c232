"""The options that commands share, each defined once.

A command takes a group of options as one parameter, and `with_options` gives typer the options one by one:

    @with_options(top=20)
    def command(source: CaptureOptions, rows: RowOptions) -> None:

To add an option to all commands of a group, add a field.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from tracealyze.base.errors import WrongUsage
from tracealyze.commands import _captures as captures_of
from tracealyze.commands import _complete
from tracealyze.commands import _losses as losses
from tracealyze.commands._help import INPUT, OUTPUT, RULES, SELECT
from tracealyze.model.selection import Selection
from tracealyze.render import output
from tracealyze.render.forms import Form
from tracealyze.render.output import Color

if TYPE_CHECKING:
    from tracealyze.commands._losses import WithCaptures
    from tracealyze.export.conversion import EventStream
    from tracealyze.findings.rule_set import Rule
    from tracealyze.model.expression import Expression
    from tracealyze.trace.trace import Trace


_Result = TypeVar("_Result")


def _completed(option: str, metavar: str, help: str, panel: str, completion: _complete.Complete) -> Any:
    """An option that takes a word which the shell completes."""
    return typer.Option(option, metavar=metavar, help=help, rich_help_panel=panel, autocompletion=completion)


@dataclass(frozen=True)
class CaptureOptions:
    """Which captures to read, and which of their events count."""

    captures: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CAPTURE]...",
            help='Capture file, "-" for standard input, directory or prefix of strace -ff files, glob, or URL. '
            "Default: standard input if it has data, otherwise the last capture used.",
            show_default=False,
        ),
    ] = None
    pids: Annotated[
        list[str] | None,
        typer.Option("--pid", metavar="PID[,PID...]", help="Only these processes.", rich_help_panel=SELECT),
    ] = None
    programs: Annotated[
        list[str] | None,
        typer.Option(
            "--program",
            metavar="NAME",
            help="Only this program, by path or file name. Repeatable.",
            rich_help_panel=SELECT,
        ),
    ] = None
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TIME",
            help="Start of the time range: 12.5 as in the capture, +12.5 s after its start, 09:30:00, line:N, "
            "or /REGEX/ for the first matching line.",
            rich_help_panel=SELECT,
        ),
    ] = None
    end: Annotated[
        str | None,
        typer.Option("--to", metavar="TIME", help="End of the time range (same forms).", rich_help_panel=SELECT),
    ] = None
    root: Annotated[
        int | None,
        typer.Option(
            "--root", metavar="PID", help="Use the lifetime of this process as the window.", rich_help_panel=SELECT
        ),
    ] = None
    where: Annotated[
        str | None,
        typer.Option(
            "--where",
            metavar="EXPR",
            help="Only events that match a condition, such as 'syscall == \"openat\" and dur_ns >= 1ms'. "
            "List the columns: tracealyze explain --columns events.",
            rich_help_panel=SELECT,
        ),
    ] = None
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if any line could not be parsed.", rich_help_panel=INPUT)
    ] = False
    input_format: Annotated[
        str | None,
        _completed(
            "--input-format", "NAME", "Use this input format instead of detecting it.", INPUT, _complete.input_formats
        ),
    ] = None

    sched: Annotated[
        list[str] | None,
        typer.Option(
            "--sched",
            metavar="FILE",
            help="Scheduler events of the kernel, recorded at the same time: perf.data, or text of perf script or "
            "trace-cmd. They show what ended each wait, and what the time outside of calls is. Repeatable.",
            rich_help_panel=INPUT,
        ),
    ] = None

    def traces(self, rules: Sequence[Rule] | None = None) -> Iterator[Trace]:
        """Each capture as a trace of its own, read one after the other; checked by these rules if given."""
        for trace in captures_of.traces(self.captures or (), self.selection(), self.input_format, self.sched or ()):
            yield trace if rules is None else trace.with_rules(rules)

    def trace(self, syscalls: Sequence[str] = (), rules: Sequence[Rule] | None = None) -> Trace:
        """All captures as one trace, restricted to these syscalls and checked by these rules if given."""
        selection = replace(self.selection(), syscalls=tuple(syscalls))
        trace = captures_of.trace(self.captures or (), selection, self.input_format, self.sched or ())
        return trace if rules is None else trace.with_rules(rules)

    def events(self) -> EventStream | None:
        """The events of all captures, to be written as they come; `None` if the user selects some of them."""
        chosen = (self.pids, self.programs, self.start, self.end, self.root, self.where, self.sched)
        return None if any(chosen) else captures_of.events(self.captures or (), self.input_format)

    def close(self, *traces: WithCaptures) -> None:
        """Report the lines that could not be used; with --strict they fail the run."""
        for trace in traces:
            losses.report(trace)
        self.must_be_complete(sum(map(losses.lost_lines, traces)))

    def must_be_complete(self, lost_lines: int) -> None:
        """With --strict, fail if any line could not be used."""
        if self.strict:
            losses.must_be_none(lost_lines)

    @cached_property
    def condition(self) -> Expression | None:
        """The condition of --where; a mistake in it raises an error."""
        if self.where is None:
            return None
        from tracealyze.model import expression

        return expression.parse(self.where, "events", kind="condition", origin="--where")

    def selection(self) -> Selection:
        """What of each capture is looked at."""
        return Selection(
            pids=tuple(_pid(text) for text in _split(self.pids or ())),
            programs=tuple(self.programs or ()),
            start=self.start,
            end=self.end,
            root=self.root,
            where=self.condition,
        )


@dataclass(frozen=True)
class AxisOptions:
    """How captures are put on one axis."""

    aligned: Annotated[
        list[str] | None,
        typer.Option(
            "--align",
            metavar="CAPTURE=TIME",
            help="Name one moment in each capture (TIME as for --from): the captures are aligned there. For captures "
            "whose clocks have nothing in common. Repeatable.",
            rich_help_panel=INPUT,
        ),
    ] = None


@dataclass(frozen=True)
class RuleOptions:
    """Which rules check the captures."""

    folders: Annotated[
        list[str] | None,
        typer.Option(
            "--rules",
            metavar="DIR",
            help="Add the rules of this directory, or the packaged ones that are off: incubator. Repeatable.",
            rich_help_panel=RULES,
        ),
    ] = None
    select: Annotated[
        list[str] | None,
        _completed(
            "--select",
            "RULE",
            "Run only these rules: a name, a code, or a code prefix such as TLZ03.",
            RULES,
            _complete.rules,
        ),
    ] = None
    ignore: Annotated[
        list[str] | None,
        _completed("--ignore", "RULE", "Skip these rules (same forms).", RULES, _complete.rules),
    ] = None

    def chosen(self) -> tuple[Rule, ...]:
        """The rules that the options and the project's settings select."""
        from tracealyze.base.config import SECTION, settings
        from tracealyze.findings import rule_set

        found = settings()
        project = f"{found.file}, [{SECTION}], "
        return rule_set.chosen(
            self.known(),
            found.select if self.select is None else _split(self.select),
            found.ignore if self.ignore is None else _split(self.ignore),
            (
                f"{project}select" if self.select is None else "--select",
                f"{project}ignore" if self.ignore is None else "--ignore",
            ),
        )

    def known(self) -> tuple[Rule, ...]:
        """All rules: the packaged ones, the project's, and those in the folders named."""
        from pathlib import Path

        from tracealyze.base.config import settings
        from tracealyze.findings.compiled_rules import INCUBATOR
        from tracealyze.findings.rule_set import rules

        named = dict.fromkeys((*settings().rules, *(self.folders or ())))
        return rules(*(INCUBATOR if name == INCUBATOR.name else Path(name) for name in named))


def _pid(text: str) -> int:
    if not text.isdecimal():
        raise WrongUsage(f'--pid: "{text}" is not a process id; write --pid 12200, or --pid 12200,12186 for several.')
    return int(text)


def _split(names: Sequence[str]) -> list[str]:
    return [name.strip() for each in names for name in each.split(",")]


@dataclass(frozen=True)
class RowOptions:
    """How many rows to show, and in which format."""

    top: Annotated[
        int,
        typer.Option("--top", metavar="N", min=1, help="Show up to N rows of each list.", rich_help_panel=OUTPUT),
    ] = 20
    format_option: Annotated[
        Form, typer.Option("--format", metavar="NAME", help="Output format.", rich_help_panel=OUTPUT)
    ] = Form.TABLE
    as_json: Annotated[bool, typer.Option("--json", help="Same as --format json.", rich_help_panel=OUTPUT)] = False
    color: Annotated[
        Color,
        typer.Option(
            "--color",
            metavar="WHEN",
            help="Use colors and bold text.",
            rich_help_panel=OUTPUT,
            callback=output.use_color,
        ),
    ] = Color.AUTO

    @property
    def form(self) -> Form:
        """The format that either option requests."""
        if self.as_json and self.format_option not in (Form.TABLE, Form.JSON):
            raise WrongUsage(f"--json and --format {self.format_option} are different formats. Use one of them.")
        return Form.JSON if self.as_json else self.format_option


def with_options(
    omit: Sequence[str] = (), **defaults: object
) -> Callable[[Callable[..., _Result]], Callable[..., _Result]]:
    """Replace the parameters of a command that are groups of options by the options in them.

    `omit` names options that the command does not take; `defaults` are other defaults than those of the group."""

    def decorate(command: Callable[..., _Result]) -> Callable[..., _Result]:
        parameters = inspect.signature(command, eval_str=True).parameters.values()
        groups: dict[str, Any] = {each.name: each.annotation for each in parameters if is_dataclass(each.annotation)}
        options = [each.replace(kind=each.KEYWORD_ONLY) for each in parameters if each.name not in groups]
        taken = {name: _options(group, omit, defaults) for name, group in groups.items()}
        options.extend(option for group in taken.values() for option in group)

        def run(**values: Any) -> _Result:
            for name, group in groups.items():
                values[name] = group(**{option.name: values.pop(option.name) for option in taken[name]})
            return command(**values)

        run.__doc__ = command.__doc__
        run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
        return run

    return decorate


def _options(group: Any, omit: Sequence[str], defaults: Mapping[str, object]) -> list[inspect.Parameter]:
    types = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=defaults.get(each.name, each.default),
            annotation=types[each.name],
        )
        for each in fields(group)
        if each.name not in omit
    ]
