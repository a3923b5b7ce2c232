"""scaling: what grows with the size of a problem, and how fast."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from tracealyze.commands import _shared as shared
from tracealyze.commands._shared import Choice, Form
from tracealyze.errors import WrongUsage

if TYPE_CHECKING:
    from tracealyze.compare.metrics import Run


def command(
    captures: Annotated[
        list[str] | None,
        typer.Argument(metavar="N=CAPTURE...", help="Captures with their sizes: 10=small.strace.", show_default=False),
    ] = None,
    n_from: Annotated[
        str | None,
        typer.Option(
            "--n-from",
            metavar="REGEX",
            help="Take N from file names: the first group of, say, 'boot-([0-9]+)'.",
        ),
    ] = None,
    target: Annotated[
        float | None,
        typer.Option("--target-n", metavar="N", help="Say what to expect at this size; else ten times the largest."),
    ] = None,
    programs: shared.Programs = None,
    start: shared.Start = None,
    end: shared.End = None,
    where: shared.Where = None,
    top: shared.Top = 10,
    folders: shared.RuleFolders = None,
    select: shared.Select = None,
    ignore: shared.Ignore = None,
    form: shared.FormOption = Form.TABLE,
    as_json: shared.AsJson = False,
    strict: shared.Strict = False,
    input_format: shared.InputFormat = None,
) -> None:
    """Fit the number of calls of each kind as c + a·N^k over captures of several sizes, and say what grows too fast.

    Four sizes that span a factor of eight are the least. Several captures of one size are runs of it.
    """
    from tracealyze.compare.metrics import Run
    from tracealyze.compare.scaling import findings, scaling
    from tracealyze.render import json
    from tracealyze.render import scaling as rendered
    from tracealyze.render.listing import FORMS

    if target is not None and not 0 < target < float("inf"):
        raise WrongUsage("--target-n: a size is above zero.")
    rules = shared.chosen_rules(folders, select, ignore)
    runs: list[tuple[float, Run]] = []
    for size, named in _sized(captures or [], n_from):
        choice = Choice.of([named], None, programs, start, end, None, input_format, where)
        runs.extend((size, Run(trace)) for trace in choice.traces())
    found = scaling(runs, target)
    if shared.form_of(form, as_json) is Form.JSON:
        json.write(found.document(rules))
    elif form is Form.TABLE:
        rendered.show(found, top, findings(found, rules))
    elif form is Form.MARKDOWN:
        FORMS[form](rendered.listing([found.total, *found.rows[:top]], found))
    else:
        FORMS[form](rendered.flat(found))
    for _, run in runs:
        shared.tell_losses(run.trace)
    shared.must_be_whole(sum(shared.lost_lines(run.trace) for _, run in runs), strict)


def _sized(captures: Sequence[str], n_from: str | None) -> list[tuple[float, str]]:
    """Each capture with its size."""
    if not captures:
        raise WrongUsage("scaling needs captures with their sizes, such as: tracealyze scaling 10=a 20=b 40=c 80=d")
    if n_from is None:
        return [_named(each) for each in captures]
    try:
        pattern = re.compile(n_from)
    except re.error as error:
        raise WrongUsage(f'--n-from "{n_from}": not a regular expression: {error}.') from error
    if pattern.groups < 1:
        raise WrongUsage(f'--n-from "{n_from}": no group says which part is N; write it in brackets, such as ([0-9]+).')
    return [_found(file, pattern) for each in captures for file in _files(each)]


def _files(name: str) -> list[str]:
    from glob import glob

    return sorted(glob(name)) or [name]


def _named(text: str) -> tuple[float, str]:
    size, equals, name = text.partition("=")
    if not equals or not name:
        raise WrongUsage(f'"{text}": no size; write N=CAPTURE, such as 10={text}, or use --n-from.')
    return _size(size, text), name


def _found(file: str, pattern: re.Pattern[str]) -> tuple[float, str]:
    match = pattern.search(file)
    if match is None:
        raise WrongUsage(f'{file}: --n-from "{pattern.pattern}" finds nothing in this name.')
    return _size(match[1] or "", file), file


def _size(text: str, where: str) -> float:
    try:
        size = float(text)
    except ValueError:
        size = 0.0
    if not 0 < size < float("inf"):
        raise WrongUsage(f'"{where}": "{text}" is no size; N is a number above zero.')
    return size
