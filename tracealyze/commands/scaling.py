"""scaling: which calls grow with the size of a problem, and how fast."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from tracealyze.base.errors import WrongUsage
from tracealyze.commands._options import CaptureOptions, RowOptions, RuleOptions, with_options
from tracealyze.commands._progress import analyzing
from tracealyze.render.forms import Form

if TYPE_CHECKING:
    from tracealyze.findings.rule_set import Rule

EXAMPLES = (
    "tracealyze scaling 10=small.strace 20=mid.strace 40=large.strace 80=huge.strace",
    "tracealyze scaling --n-from 'boot-([0-9]+)' 'boot-*.strace' --target-n 1000",
)


_SIZED = re.compile(r"\d+(?:\.\d+)?=.")

NFrom: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--n-from",
        metavar="REGEX",
        help="Take N from file names: the first group of the pattern, such as 'boot-([0-9]+)'.",
    ),
]
TargetN: TypeAlias = Annotated[
    float | None,
    typer.Option("--target-n", metavar="N", help="Predict counts at this size. Default: ten times the largest."),
]


@dataclass(frozen=True)
class Sizes:
    """Where the sizes of captures are, and the size to predict."""

    n_from: str | None = None
    target: float | None = None


@with_options(omit=["captures", "pids", "root"], top=10)
def command(
    source: CaptureOptions,
    rules: RuleOptions,
    rows: RowOptions,
    captures: Annotated[
        list[str] | None,
        typer.Argument(metavar="N=CAPTURE...", help="Captures with their sizes: 10=small.strace.", show_default=False),
    ] = None,
    n_from: NFrom = None,
    target: TargetN = None,
) -> None:
    """Show how calls grow with the problem size.

    Fits the number of calls of each kind as c + a·N^k over captures of several sizes.

    At least four sizes that span a factor of eight are required. Several captures of one size are runs of it.
    """
    show(replace(source, captures=captures), rules.chosen(), rows, Sizes(n_from, target))


def have_sizes(captures: Sequence[str]) -> bool:
    """Whether each capture is named with its size, and no file has that name."""
    return bool(captures) and all(_SIZED.match(each) and not os.path.exists(each) for each in captures)


def show(source: CaptureOptions, rules: Sequence[Rule], rows: RowOptions, sizes: Sizes) -> None:
    """Write how calls grow over captures of several sizes."""
    from tracealyze.compare.run import Run
    from tracealyze.compare.scaling import findings, scaling
    from tracealyze.render import json
    from tracealyze.render import scaling as rendered
    from tracealyze.render.listing import write_listing

    if sizes.target is not None and not 0 < sizes.target < float("inf"):
        raise WrongUsage("--target-n: the size must be above zero.")
    form = rows.form
    runs = [
        (size, Run(trace))
        for size, name in _sized(source.captures or [], sizes.n_from)
        for trace in replace(source, captures=[name]).traces()
    ]
    with analyzing():
        found = scaling(runs, sizes.target)
        growing = findings(found, rules)
    if form is Form.JSON:
        json.write(found.document(rules))
    elif form is Form.TABLE:
        rendered.show(found, rows.top, growing)
    elif form is Form.MARKDOWN:
        write_listing(rendered.listing([found.total, *found.rows[: rows.top]], found), form)
    else:
        write_listing(rendered.flat(found), form)
    source.close(*(run.trace for _, run in runs))


def _sized(captures: Sequence[str], n_from: str | None) -> list[tuple[float, str]]:
    """Each capture with its size."""
    if not captures:
        raise WrongUsage("captures with their sizes are required, such as: tracealyze diff 10=a 20=b 40=c 80=d")
    if n_from is None:
        return [_named(each) for each in captures]
    try:
        pattern = re.compile(n_from)
    except re.error as error:
        raise WrongUsage(f'--n-from: "{n_from}" is not a valid regular expression: {error}.') from error
    if pattern.groups < 1:
        raise WrongUsage(f'--n-from "{n_from}": no group marks N; put it in parentheses, such as ([0-9]+).')
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
        raise WrongUsage(f'{file}: --n-from "{pattern.pattern}" does not match this name.')
    return _size(match[1] or "", file), file


def _size(text: str, where: str) -> float:
    try:
        size = float(text)
    except ValueError:
        size = 0.0
    if not 0 < size < float("inf"):
        raise WrongUsage(f'"{where}": "{text}" is not a size; N must be a number above zero.')
    return size
