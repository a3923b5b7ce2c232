"""Items and stages of logs: cost per additional item, parallelism, and time per stage."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tracealyze.base import units
from tracealyze.base.heuristics import MAX_UNEVENNESS_RATIO, MIN_COVERED_SHARE, MIN_ITEMS_WITHOUT_BEGIN, MIN_STAGE_SHARE
from tracealyze.base.sanitize import shown
from tracealyze.render.listing import Column, Listing

if TYPE_CHECKING:
    from tracealyze.model.capture_input.capture_info import Capture
    from tracealyze.model.table import Row
    from tracealyze.trace.trace import Trace

_MIN_MESSAGE_WIDTH = 24


def relevant_items(trace: Trace) -> list[Row]:
    """Kinds of items that explain the time of a log: most messages are about them, or they complete in even steps."""
    return [row for row in trace.items if _is_relevant(row)]


def _is_relevant(row: Row) -> bool:
    if (row["share"] or 0) < MIN_STAGE_SHARE or row["exclusive_ns"] < row["elapsed_ns"] * MIN_COVERED_SHARE:
        return False
    is_even = row["residual_ns"] <= row["marginal_ns"] * MAX_UNEVENNESS_RATIO
    return bool(row["stages"] > 1 or (row["items"] >= MIN_ITEMS_WITHOUT_BEGIN and is_even))


def sentence(row: Row, tick_ns: int) -> str:
    """The facts about a kind of items."""

    def length(column: str) -> str:
        return units.duration(row[column], tick_ns)

    ends = f'"{shown(row["first_stage"])}" … ' if row["stages"] > 1 else ""
    facts = [f'{units.counted(row["items"], "item")} ({ends}"{shown(row["last_stage"])}") in {length("elapsed_ns")}']
    if row["first_own_ns"] is not None:
        facts.append(f"the first takes {length('first_own_ns')}")
    spread = (
        f" (linear fit, half of the items within ±{length('residual_ns')})" if row["residual_ns"] >= tick_ns else ""
    )
    facts.append(f"each additional item adds {length('marginal_ns')}{spread}")
    if row["unfinished"]:
        facts.append(f"{units.count(row['unfinished'])} not completed")
    text = f"{facts[0]}: {', '.join(facts[1:])}"
    if row["parallel"] is None:
        return f"{text}."
    effective = "" if row["effective"] is None else f", effective parallelism {row['effective']:.1f}"
    return f"{text}; {row['parallel']:.1f} in progress on average{effective}."


def listing(rows: Sequence[Row], tick_ns: int) -> Listing:
    """Stages for people: time of items in each stage, and silence of the log after it."""
    columns = [
        Column("messages", "messages", drop_order=4, right=True),
        Column("mean_ns", "mean"),
        Column("max_ns", "max", drop_order=2),
        Column("item_share", "of item time", drop_order=3),
        Column("exclusive_ns", "silence"),
        Column("share", "of log", drop_order=1),
        Column("message", "after this message", min_width=_MIN_MESSAGE_WIDTH),
    ]
    return Listing("stages", columns, rows, tick_ns)


def side_by_side(rows: Sequence[Row], captures: Sequence[Capture], tick_ns: int) -> Listing:
    """Stages of several logs, matched by message: mean time of an item in the stage, or silence without items."""
    known: dict[str, dict[str, Any]] = {}
    for row in rows:
        into = known.setdefault(row["message"], {"message": row["message"]})
        into[_column(row["capture"])] = row["exclusive_ns"] if row["item"] is None else row["mean_ns"]
    values = [value for row in known.values() for name, value in row.items() if name != "message"]
    unit, show = units.durations(values, tick_ns)
    columns = [
        Column(_column(number), f"{name} {unit}", right=True)
        for number, name in enumerate(_names(captures))
        if any(_column(number) in row for row in known.values())
    ]
    rows_shown = [
        {name: value if name == "message" else show(value) for name, value in row.items()} for row in known.values()
    ]
    return Listing(
        "stages", [*columns, Column("message", "after this message", min_width=_MIN_MESSAGE_WIDTH)], rows_shown
    )


def _column(capture: int) -> str:
    return f"capture_{capture}"


def _names(captures: Sequence[Capture]) -> Iterator[str]:
    """The distinct parts of the file names: `before` and `after` for `staged-before.log` and `staged-after.log`."""
    names = [os.path.basename(capture.path) for capture in captures]
    # Take the common characters, not the common folder.
    front = len(os.path.commonprefix(names))  # noqa: RUF071
    back = len(os.path.commonprefix([name[front:][::-1] for name in names]))  # noqa: RUF071
    for name in names:
        yield shown(name[front : len(name) - back] or name)
