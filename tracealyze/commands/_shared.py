"""What the commands share: their common options, and opening the captures they name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from time import monotonic
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from tracealyze import units
from tracealyze.capture_input import capture_files
from tracealyze.errors import GateFailed, UnusableInput, WrongUsage
from tracealyze.render import output
from tracealyze.render.capture_notes import losses_line, name_of_capture, reach
from tracealyze.trace import Progress, Trace, read_files

if TYPE_CHECKING:
    from tracealyze.expression import Expression
    from tracealyze.findings.rule_set import Rule

Captures: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[CAPTURE]...",
        help="A file, -, a folder or prefix of strace -ff files, a glob. Without one: standard input, if something is "
        "in it, else the capture named last time.",
        show_default=False,
    ),
]
Pids: TypeAlias = Annotated[
    list[int] | None, typer.Option("--pid", metavar="PID", help="Only this process; may be repeated.")
]
Programs: TypeAlias = Annotated[
    list[str] | None, typer.Option("--program", metavar="NAME", help="Only this program, by path or last part of it.")
]
Start: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="TIME",
        help="Not before: 12.5, +12.5, 09:30:00, line:N, or /REGEX/ for the first line that fits.",
    ),
]
End: TypeAlias = Annotated[str | None, typer.Option("--to", metavar="TIME", help="Not after, in the same forms.")]
Root: TypeAlias = Annotated[
    int | None, typer.Option("--root", metavar="PID", help="The window is this process's life.")
]
Where: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="EXPR",
        help="Only events that meet a condition, such as 'syscall == \"openat\" and dur_ns >= 1ms'; "
        "tracealyze rules --columns events lists the columns.",
    ),
]
RuleFolders: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--rules", metavar="DIR", help="Rules of your own, beside the package's; may be repeated."),
]
Select: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--select", metavar="RULE", help="Only these rules: a name, a code or its beginning, such as TLZ03."),
]
Ignore: TypeAlias = Annotated[
    list[str] | None, typer.Option("--ignore", metavar="RULE", help="All rules but these, in the same forms.")
]
Top: TypeAlias = Annotated[int, typer.Option("--top", metavar="N", min=1, help="How many rows of each list.")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="The same as --format json.")]
Strict: TypeAlias = Annotated[bool, typer.Option("--strict", help="Exit with 1 if a line could not be used.")]
InputFormat: TypeAlias = Annotated[
    str | None, typer.Option("--input-format", metavar="NAME", help="Do not recognise the format, take this one.")
]


class Form(StrEnum):
    """How rows are shown."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


FormOption: TypeAlias = Annotated[Form, typer.Option("--format", help="How to show it.")]


def form_of(form: Form, as_json: bool) -> Form:
    """The form asked for, by either option."""
    if as_json and form not in (Form.TABLE, Form.JSON):
        raise WrongUsage(f"--json and --format {form} ask for two forms. Give one of them.")
    return Form.JSON if as_json else form


@dataclass(frozen=True)
class Choice:
    """What the user wants to see of which captures."""

    captures: Sequence[str]
    pids: Sequence[int] = ()
    programs: Sequence[str] = ()
    start: str | None = None
    end: str | None = None
    root: int | None = None
    input_format: str | None = None
    where: Expression | None = None
    rules: Sequence[Rule] | None = None
    """What is said about them; what the package says unless others were chosen."""

    @classmethod
    def of(
        cls,
        captures: list[str] | None,
        pids: list[int] | None,
        programs: list[str] | None,
        start: str | None,
        end: str | None,
        root: int | None,
        input_format: str | None,
        where: str | None = None,
    ) -> Choice:
        """From what the options hold. A mistake in a condition is told before a long capture is read."""
        return cls(captures or [], pids or (), programs or (), start, end, root, input_format, _condition(where))

    def with_rules(self, rules: Sequence[Rule]) -> Choice:
        """The same, about which these rules speak."""
        return replace(self, rules=rules)

    def traces(self) -> Iterator[Trace]:
        """Each capture in a trace of its own, one after the other."""
        named, files = self._files()
        for number, each in enumerate(files, start=1):
            trace = self._read([each], alone=len(files) == 1)
            if number == len(files):
                capture_files.remember(named)
            yield from _runs(trace)

    def trace(self, syscalls: Sequence[str] = ()) -> Trace:
        """All captures in one trace, of which only these syscalls count."""
        named, files = self._files()
        trace = self._read(files, syscalls)
        capture_files.remember(named)
        return trace

    def _files(self) -> tuple[Sequence[str], list[list[str]]]:
        named = self.captures or _unnamed()
        return named, capture_files.files_of(named)

    def _read(self, files: Sequence[Sequence[str]], syscalls: Sequence[str] = (), alone: bool = True) -> Trace:
        trace = _interruptible(lambda: read_files(files, self.input_format, progress()))
        chosen = trace.select(
            pids=self.pids,
            programs=self.programs,
            start=self.start,
            end=self.end,
            root=self.root,
            syscalls=syscalls,
            where=self.where,
        )
        _must_match(self, chosen)
        if self.start or self.end:
            _must_be_in_time(self, chosen, alone)
        if self.where and not len(chosen.events_of(limit=1)):
            output.note("No event meets the condition of --where.")
        return chosen if self.rules is None else chosen.with_rules(self.rules)


def chosen_rules(
    folders: Sequence[str] | None = None, select: Sequence[str] | None = None, ignore: Sequence[str] | None = None
) -> tuple[Rule, ...]:
    """The rules that the options and the settings of the project leave. A mistake is told before a capture is read."""
    from tracealyze.config import SECTION, settings
    from tracealyze.findings import rule_set

    found = settings()
    project = f"{found.file}, [{SECTION}], "
    return rule_set.chosen(
        known_rules(folders),
        found.select if select is None else _each(select),
        found.ignore if ignore is None else _each(ignore),
        (f"{project}select" if select is None else "--select", f"{project}ignore" if ignore is None else "--ignore"),
    )


def known_rules(folders: Sequence[str] | None = None) -> tuple[Rule, ...]:
    """All rules: the package's, the project's, and those of these folders."""
    from pathlib import Path

    from tracealyze.config import settings
    from tracealyze.findings.rule_set import rules

    return rules(*(Path(name) for name in dict.fromkeys((*settings().rules, *(folders or ())))))


def _each(listed: Sequence[str]) -> list[str]:
    return [name.strip() for each in listed for name in each.split(",")]


def _condition(text: str | None) -> Expression | None:
    if text is None:
        return None
    from tracealyze import expression

    return expression.parse(text, "events", kind="condition", origin="--where")


def _runs(trace: Trace) -> Iterator[Trace]:
    """The runs of a tracer in one file, each by itself; of those, the ones that have what was asked for."""
    if len(trace.captures) == 1:
        yield trace
        return
    runs = [trace.of_capture(number) for number in range(len(trace.captures))]
    chosen = trace.selection
    asked_for = chosen.pids or chosen.programs or chosen.root is not None or chosen.start or chosen.end
    yield from (run for run in runs if not asked_for or run.totals["threads"])


def _interruptible(work: Callable[[], Trace]) -> Trace:
    """Work outside the interpreter does not see Ctrl-C; the main thread, which only waits for it, does."""
    from threading import Thread

    done: list[Trace] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:
            failed.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return done[0]


def _unnamed() -> list[str]:
    if capture_files.stdin_has_input():
        return [capture_files.STDIN]
    last = capture_files.last()
    if not last:
        raise WrongUsage("No capture: name a file, or - for standard input.")
    output.note(f"Capture: {' '.join(last)} (named last time)")
    return last


def _must_match(choice: Choice, trace: Trace) -> None:
    """A process or program that is not there is a misspelt one, not an empty answer."""
    from tracealyze.errors import did_you_mean

    rootless = choice.root is not None and all(window.reason == "no_process" for window in trace.windows)
    asked_for = choice.pids or choice.programs or choice.root is not None
    if not asked_for or (trace.totals["threads"] and not rootless):
        return
    if choice.where and trace.select(pids=choice.pids, programs=choice.programs, root=choice.root).totals["threads"]:
        return
    everything = trace.select().processes
    if choice.programs and not rootless:
        from tracealyze.program_names import short

        known = sorted({short(name) for name in everything.column("program") if name})
        wanted = choice.programs[0]
        raise UnusableInput(f'no program "{wanted}" in the capture.{did_you_mean(wanted, known)}')
    known_pids = sorted({pid for pid in everything.column("pid") if pid is not None})
    listed = ", ".join(str(pid) for pid in known_pids[:12]) + (", …" if len(known_pids) > 12 else "")
    asked = choice.root if rootless or not choice.pids else choice.pids[0]
    raise UnusableInput(f"no process {asked} in the capture; it has {listed or 'no process ids'}.")


def _is_backwards(choice: Choice, trace: Trace) -> bool:
    """Whether the end lies before the start. A call that goes on over both is not meant."""
    if choice.start is None or choice.end is None:
        return False
    begin, end = trace.select(start=choice.start).window.start_ns, trace.select(end=choice.end).window.end_ns
    return begin is not None and end is not None and begin > end


def _must_be_in_time(choice: Choice, trace: Trace, alone: bool) -> None:
    """A stretch with nothing in it is a slip, not an empty answer; of several captures, some may lie outside of it."""
    asked_for = trace.select(start=choice.start, end=choice.end)
    if any(window.wall_ns for window in trace.windows) or (
        len(asked_for.events_of(limit=1)) and not _is_backwards(choice, trace)
    ):
        return
    asked = " ".join(f"{option} {text}" for option, text in (("--from", choice.start), ("--to", choice.end)) if text)
    reaches = "; ".join(filter(None, map(reach, trace.captures)))
    name = ", ".join(name_of_capture(each) for each in trace.captures)
    message = f"{name}: nothing lies in {asked}{f'; the capture reaches {reaches}' if reaches else ''}."
    if alone:
        raise UnusableInput(message)
    output.note(message)


_PATIENCE_S = 0.5


def progress() -> Progress | None:
    """Tell how far reading is, on a terminal, once it takes long enough to ask."""
    if not sys.stderr.isatty():
        return None
    began = last = monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal last
        now = monotonic()
        if total and done >= total and last > began:
            sys.stderr.write("\r\x1b[K")
        elif now - began > _PATIENCE_S and now - last > _PATIENCE_S / 5:
            last = now
            of_all = f" of {units.size(total)}, {units.share(done / total)}" if total else ""
            sys.stderr.write(f"\rreading: {units.size(done)}{of_all}\x1b[K")
        sys.stderr.flush()

    return tell


def tell_losses(trace: Trace) -> None:
    """Say on standard error what could not be used."""
    for each in trace.captures:
        if each.losses:
            output.note(f"{name_of_capture(each)}: {losses_line(each)}")


def lost_lines(trace: Trace) -> int:
    """How many lines could not be used."""
    return sum(loss.lines for each in trace.captures for loss in each.losses)


def must_be_whole(lost: int, strict: bool) -> None:
    """With --strict, input that could not be used fails the run."""
    if strict and lost:
        raise GateFailed(f"{units.counted(lost, 'line')} could not be used (--strict).")


def close(trace: Trace, strict: bool) -> None:
    """What every command says last: what could not be used, which fails the run with --strict."""
    tell_losses(trace)
    must_be_whole(lost_lines(trace), strict)
