"""stages: messages that a log repeats for its items, and the cost of each additional item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracealyze.commands._options import CaptureOptions, RowOptions, with_options
from tracealyze.commands._progress import analyzing
from tracealyze.render import output
from tracealyze.render.forms import Form

if TYPE_CHECKING:
    from tracealyze.trace.trace import Trace


EXAMPLES = (
    "tracealyze stages boot.log",
    "tracealyze stages before.log after.log",
)


@with_options(omit=["pids", "programs", "root"])
def command(source: CaptureOptions, rows: RowOptions) -> None:
    """Show the stages of a log and the cost of each additional item.

    Stages are messages that differ only in a number or name.

    The stages of several logs are shown next to each other."""
    form, top = rows.form, rows.top
    trace = source.trace()
    if form is Form.JSON:
        from tracealyze.render import json

        json.write(document(trace, top))
    else:
        show(trace, form, top)
    if not any(each.dur_kind == "gap" for each in trace.captures):
        output.note("Only logs have stages. For calls, tracealyze top-syscalls --by loop shows what is repeated.")
    source.close(trace)


def document(trace: Trace, top: int) -> dict[str, Any]:
    """The stages and items as they appear in JSON."""
    from tracealyze.trace.summary import ITEMS, STAGES

    _compute(trace)
    return {
        "items": [{key: row[key] for key in ("capture", *ITEMS)} for row in trace.items.head(top)],
        "stages": [{key: row[key] for key in ("capture", *STAGES)} for row in trace.stages.head(top)],
    }


def show(trace: Trace, form: Form, top: int) -> None:
    """Write the stages as a table, CSV or markdown."""
    from tracealyze.render.listing import Column, Listing, write_listing
    from tracealyze.trace.summary import STAGES

    _compute(trace)
    if form is Form.CSV:
        columns = [Column(name, name) for name in ("capture", *STAGES)]
        write_listing(Listing("stages", columns, trace.stages.head(top)), form)
    else:
        _draw(trace, top, form)


def _compute(trace: Trace) -> None:
    with analyzing():
        # Tables are computed when they are first used, and kept.
        _ = trace.stages, trace.items


def _draw(trace: Trace, top: int, form: Form) -> None:
    from tracealyze.base.sanitize import shown
    from tracealyze.render import stages
    from tracealyze.render.listing import write_listing
    from tracealyze.render.terminal import Terminal

    terminal, rows = Terminal(), list(trace.stages)
    several = len({row["capture"] for row in rows}) > 1
    items = stages.relevant_items(trace) if form is Form.TABLE else []
    for item in items:
        name = f"{shown(trace.captures[item['capture']].path)}: " if several else ""
        terminal.paragraph(name + stages.sentence(item, trace.tick_ns))
    if items:
        terminal.line(("", ""))
    if several:
        write_listing(stages.side_by_side(rows[: top * len(trace.captures)], trace.captures, trace.tick_ns), form)
        return
    largest = sorted(rows, key=lambda row: -(row["exclusive_ns"] or 0))[:top]
    largest.sort(key=lambda row: (row["start_ns"], row["first_line"]))
    write_listing(stages.listing(largest, trace.tick_ns), form)
    if len(rows) > top:
        output.note(f"Hidden: {len(rows) - top} stages with less silence; use --top N to see more.")
