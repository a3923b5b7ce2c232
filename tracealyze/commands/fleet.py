"""fleet: index many captures in a store, and ask what they have in common."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from tracealyze.base import suggested, units
from tracealyze.commands import _complete
from tracealyze.commands._help import Command, Group
from tracealyze.commands._options import RowOptions, with_options
from tracealyze.render import output

if TYPE_CHECKING:
    from collections.abc import Callable

    from tracealyze.fleet.fleet import Fleet
    from tracealyze.fleet.index import Progress

EXAMPLES = (
    "tracealyze fleet index captures/ --label-from '{version}/{run}.strace*' --store store",
    "tracealyze fleet top --store store",
    "tracealyze fleet like trace.out --store store",
    "tracealyze fleet trend --over version --store store",
    "tracealyze fleet compare 'version == \"4.1\"' 'version == \"4.2\"' --store store",
    "tracealyze fleet query findings --where 'rule == \"fixed-sleep\" and share >= 50%' --store store",
)

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    cls=Group,
    help="Index many captures, and ask what they have in common.\n\nThe index is a store of Parquet files. It answers: "
    "has anybody seen this cause, in how many captures, since which version?",
    context_settings={"help_option_names": ["-h", "--help"]},
)

_BY = ("fingerprint", "rule", "program", "target", "class")
_TABLES = ("captures", "processes", "calls", "classes", "findings")

StoreOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--store",
        "-s",
        metavar="URI",
        envvar="TRACEALYZE_STORE",
        help="The store: a folder, or a URI such as s3://bucket/store. Default: $TRACEALYZE_STORE.",
        show_default=False,
    ),
]
WhereOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="EXPR",
        help="Only captures that meet a condition on their columns and labels, such as 'version == \"4.1\"'.",
    ),
]


@app.command("index", cls=Command)
def index(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="File, folder, glob or archive (.tar, .zip), here or behind a URI such as s3://.",
        ),
    ],
    store: StoreOption,
    label_from: Annotated[
        list[str] | None,
        typer.Option(
            "--label-from",
            metavar="PATTERN",
            help="Labels from paths, such as '{host}/{version}/{run}.strace*'. Repeatable.",
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option("--labels", metavar="FILE", help="Labels from a CSV file: path or glob, then a column per label."),
    ] = None,
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", min=0, help="Number of processes. Default: one per core.")
    ] = 0,
    executor: Annotated[
        str | None,
        typer.Option("--executor", metavar="dask://HOST:PORT", help="Let the workers of a Dask cluster read."),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option("--shard", metavar="i/n", help="Read the i-th of n parts, for n jobs that share the store."),
    ] = None,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Read captures again that another version or other rules have read.")
    ] = False,
    time_limit: Annotated[
        str, typer.Option("--time-limit", metavar="TIME", help="Maximum time for one capture.")
    ] = "300s",
    memory_limit: Annotated[
        str, typer.Option("--memory-limit", metavar="SIZE", help="Maximum memory for one capture.")
    ] = "4G",
    input_format: Annotated[
        str | None,
        typer.Option("--input-format", metavar="NAME", help="Use this format instead of detecting it."),
    ] = None,
) -> None:
    """Read captures that the store lacks, and add them to it.

    Each capture is read once. Captures that cannot be read are rows of the store: see `fleet failures`. If the command
    is interrupted, run it again: it continues. Several can write to one store at the same time.
    """
    from tracealyze.base.errors import UnusableInput
    from tracealyze.fleet.index import Options
    from tracealyze.fleet.index import index as run
    from tracealyze.fleet.labels import Labels
    from tracealyze.fleet.pool import Limits
    from tracealyze.fleet.shards import shard_of
    from tracealyze.fleet.store import Store

    options = Options(
        labels=Labels.of(label_from or (), labels),
        input_format=input_format,
        workers=workers,
        executor=executor,
        shard=shard_of(shard) if shard else None,
        refresh=refresh,
        limits=Limits(units.read_duration(time_limit) / units.S, units.read_size(memory_limit)),
    )
    start = monotonic()
    into = Store(store)
    done = run(sources, into, options, _told(start))
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    if not done.captures and not done.known:
        output.note("The sources contain no captures.")
    failed = f", {units.count(done.failed)} of them failed (tracealyze fleet failures)" if done.failed else ""
    others = f"; {units.counted(done.others, 'other file')} left out, no format was recognized" if done.others else ""
    known = f"; {units.count(done.known)} were in the store already" if done.known else ""
    took = units.duration((monotonic() - start) * units.S)
    read = units.counted(done.done - done.others, "capture")
    output.write(f"{read} read in {took}{failed}{others}{known}.\n")
    if done.left:
        raise UnusableInput(
            f"{units.counted(done.left, 'capture')} could not be stored: {done.error.rstrip('.')}. "
            "Run the command again; it continues."
        )


def _told(start: float) -> Callable[[Progress], None]:
    """Writes progress, rate and the time left to a terminal."""
    is_terminal = sys.stderr.isatty()

    def tell(progress: Progress) -> None:
        spent = monotonic() - start
        if not is_terminal or not progress.done:
            return
        rate = progress.done / max(spent, 1e-9)
        left = units.duration((progress.captures - progress.done) / rate * units.S, 100 * units.MS)
        speed = f"{rate:,.0f} captures/s, {units.size(progress.done_bytes / max(spent, 1e-9))}/s"
        failed = f", {units.count(progress.failed)} failed" if progress.failed else ""
        of_all = f"{units.count(progress.done)} of {units.counted(progress.captures, 'capture')}"
        sys.stderr.write(f"\r{of_all}{failed}, {speed}, {left} left\x1b[K")
        sys.stderr.flush()

    return tell


@app.command("top", cls=Command)
@with_options()
def top(
    rows: RowOptions,
    store: StoreOption,
    by: Annotated[
        str,
        typer.Option(
            "--by", metavar="KEY", help=f"What to count: {', '.join(_BY)}.", autocompletion=_complete.of(*_BY)
        ),
    ] = "fingerprint",
    where: WhereOption = None,
) -> None:
    """Show what occurs in how many captures, and what it costs.

    "of" counts the captures that could show it: one that was filtered to files cannot show a network call. From and to
    are bounds of 95 % for the fraction.
    """
    _show("top", _fleet(store, where).top(by, rows.top), rows)


@app.command("like", cls=Command)
@with_options()
def like(
    capture: Annotated[str, typer.Argument(metavar="CAPTURE", help="The capture to look for.")],
    rows: RowOptions,
    store: StoreOption,
    where: WhereOption = None,
) -> None:
    """Has anybody seen this? Show the captures with the most similar causes."""
    from tracealyze.trace.trace import read

    _show("like", _fleet(store, where).like(read(capture), rows.top), rows)


@app.command("trend", cls=Command)
@with_options()
def trend(
    rows: RowOptions,
    store: StoreOption,
    over: Annotated[
        str, typer.Option("--over", metavar="LABEL", help='A label such as version, or "day" of the capture.')
    ] = "version",
    where: WhereOption = None,
) -> None:
    """Show causes that changed from one version or day to the next, and since when.

    Of the reported changes, at most 5 % are expected to be chance.
    """
    _show("trend", _fleet(store, where).trend(over, rows.top), rows)


@app.command("compare", cls=Command)
@with_options()
def compare(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="A condition on captures.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="Another one.")],
    rows: RowOptions,
    store: StoreOption,
    where: WhereOption = None,
) -> None:
    """Show causes that differ between two groups of captures."""
    _show("compare", _fleet(store, where).compare(before, after, rows.top), rows)


@app.command("outliers", cls=Command)
@with_options()
def outliers(
    rows: RowOptions,
    store: StoreOption,
    within: Annotated[
        str | None,
        typer.Option("--within", metavar="LABEL", help="Compare those with the same value of this label."),
    ] = None,
    where: WhereOption = None,
) -> None:
    """Show captures whose time went elsewhere than in the others."""
    _show("outliers", _fleet(store, where).outliers(within, rows.top), rows)


@app.command("failures", cls=Command)
@with_options()
def failures(rows: RowOptions, store: StoreOption, where: WhereOption = None) -> None:
    """Show captures that could not be read, and why."""
    _show("failures", _fleet(store, where).failures(rows.top), rows)


@app.command("query", cls=Command)
@with_options()
def query(
    table: Annotated[
        str,
        typer.Argument(metavar="TABLE", help=f"{', '.join(_TABLES)}.", autocompletion=_complete.of(*_TABLES)),
    ],
    rows: RowOptions,
    store: StoreOption,
    where: Annotated[
        str | None,
        typer.Option("--where", metavar="EXPR", help="A condition on columns of the table, URI and labels."),
    ] = None,
) -> None:
    """Show rows of a table, in the language of --where of the other commands."""
    _show("query", _fleet(store, None).query(table, where, rows.top), rows)


@app.command("sql", cls=Command)
@with_options()
def sql(
    statement: Annotated[
        str, typer.Argument(metavar="STATEMENT", help="A query on captures, processes, calls, classes and findings.")
    ],
    rows: RowOptions,
    store: StoreOption,
) -> None:
    """Run a query of DuckDB on the tables of the store (needs tracealyze\\[sql])."""
    from tracealyze.fleet.questions import sql as question

    _show("sql", question.sql(_fleet(store, None), statement, rows.top), rows)


@app.command("compact", cls=Command)
def compact(
    store: StoreOption,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove the former parts, too; commands that are reading now may fail.")
    ] = False,
) -> None:
    """Merge small parts of the store, so that it answers quickly."""
    from tracealyze.fleet.compact import compact as run
    from tracealyze.fleet.store import Store

    opened = Store(store)
    opened.must_exist()
    before, after = run(opened, prune=prune)
    output.write(f"{units.counted(before, 'batch', 'batches')} before, {units.count(after)} now.\n")


def _fleet(store: str, where: str | None) -> Fleet:
    from tracealyze.fleet.fleet import Fleet

    fleet = Fleet(store)
    if fleet.snapshot.is_empty:
        output.note(
            f"{fleet.name} contains no captures. Add some: tracealyze fleet index SOURCE "
            f"--store {suggested.quoted(fleet.name)}"
        )
    return fleet.where(where, "--where")


def _show(question: str, document: dict[str, object], rows: RowOptions) -> None:
    from tracealyze.render import fleet

    fleet.show(question, document, rows.form)
