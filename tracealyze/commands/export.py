"""export: a capture as a file that other programs open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracealyze.base.errors import UnusableInput, WrongUsage, did_you_mean
from tracealyze.commands import _complete
from tracealyze.commands._help import SELECT
from tracealyze.commands._options import CaptureOptions, with_options
from tracealyze.commands._output_file import STDOUT, name_beside, opened, output_option
from tracealyze.commands._progress import analyzing
from tracealyze.export import FORMATS, Format, writer
from tracealyze.export.conversion import write_parquet
from tracealyze.export.jsonl import write_events
from tracealyze.render import output
from tracealyze.trace.trace import Trace

if TYPE_CHECKING:
    from tracealyze.commands._losses import WithCaptures

EXAMPLES = (
    "tracealyze export trace.out --to speedscope -o trace.speedscope.json",
    "tracealyze export trace.out --to folded | flamegraph.pl > trace.svg",
    "tracealyze export trace.out --to parquet -o tables --from +1 --until +5",
    "tracealyze export trace.out --to parquet -o events.parquet",
)


@with_options(omit=["end"])
def command(
    source: CaptureOptions,
    to: Annotated[
        list[str] | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help=f"The format: {', '.join(FORMATS)}.",
            autocompletion=_complete.of(*FORMATS),
            show_default=False,
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until", metavar="TIME", help="End of the time range (as --to of other commands).", rich_help_panel=SELECT
        ),
    ] = None,
    file: Annotated[
        str | None,
        output_option("standard output for text, and otherwise a file next to the capture"),
    ] = None,
) -> None:
    """Write a file for flame graphs, speedscope, pprof or DuckDB."""
    name, end = _format_and_end(to or ())
    if end and until:
        raise WrongUsage("--until and --to TIME are the same. Use one of them.")
    source = replace(source, end=until or end)
    if name == "jsonl" or (name == "parquet" and _is_file_of_events(file)):
        _events(source, name, file)
        return
    trace = source.trace()
    form = FORMATS[name]
    _must_have_content(trace.is_summary_only or len(trace.events_of(limit=1)) > 0)
    target = file or _default_target(trace, form)
    with analyzing():
        if form.is_folder:
            notes = _folder(trace, name, target)
        else:
            is_packed = form.extension.endswith(".gz")
            with opened(target, _files(trace), is_text=form.is_text, packs=not is_packed) as stream:
                notes = writer(name)(trace, stream)
    _tell(name, notes, target)
    source.close(trace)


def _events(source: CaptureOptions, name: str, file: str | None) -> None:
    """Write the rows of the table of events, as they come. Events that the user selects need the whole trace."""
    events = source.events()
    trace = source.trace() if events is None else events
    rows = trace.events if isinstance(trace, Trace) else trace
    _must_have_content(trace.is_summary_only or len(rows) > 0)
    target = file or STDOUT
    is_text = name == "jsonl"
    with analyzing(), opened(target, _files(trace), is_text=is_text, packs=is_text) as stream:
        notes = write_events(rows, stream) if is_text else write_parquet(rows, trace.captures, stream)
    _tell(name, notes, target)
    source.close(trace)


def _tell(name: str, notes: Sequence[str], target: str) -> None:
    for note in notes:
        output.note(f"{name}: {note}")
    if target != STDOUT:
        output.note(f"Written: {target}")


def _format_and_end(values: Sequence[str]) -> tuple[str, str | None]:
    """The format, and the end of the time range in the older form `--to TIME`: no time is the name of a format."""
    names = [each for each in values if each in FORMATS]
    times = [each for each in values if each not in FORMATS]
    known = ", ".join(FORMATS)
    if not names or len(times) > 1:
        wrong = next((each for each in times if each[:1].isalpha() and not each.startswith("line:")), None)
        if wrong is not None:
            raise WrongUsage(f'--to: there is no format "{wrong}" ({known}).{did_you_mean(wrong, FORMATS)}')
    if len(names) != 1 or len(times) > 1:
        raise WrongUsage(f"--to: give one format ({known}), and at most one time.")
    return names[0], times[0] if times else None


def _must_have_content(has_content: bool) -> None:
    if not has_content:
        raise UnusableInput("nothing to export: no event of the capture is selected.")


def _default_target(trace: Trace, form: Format) -> str:
    if form.is_text:
        return STDOUT
    return name_beside(trace, form.extension)


def _is_file_of_events(name: str | None) -> bool:
    """Whether the user named a file for events, instead of a folder for all tables."""
    return name is not None and name.endswith(".parquet") and not Path(name).is_dir()


def _folder(trace: Trace, name: str, target: str) -> Sequence[str]:
    path = Path(target)
    if target == STDOUT or (path.exists() and not path.is_dir()):
        raise WrongUsage(f"--to {name} writes a folder: give the name of one with -o.")
    if any(Path(file).resolve().is_relative_to(path.resolve()) for file in _files(trace)):
        raise WrongUsage(f"{target} contains the capture. Give another folder with -o.")
    return writer(name)(trace, path)


def _files(trace: WithCaptures) -> list[str]:
    return [file for each in trace.captures for file in each.files]
