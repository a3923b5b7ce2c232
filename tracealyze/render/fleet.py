"""The answers about many captures, for people: a line on what was counted, a table, and where to look next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tracealyze.base import suggested, units
from tracealyze.base.sanitize import shown
from tracealyze.render import json, output
from tracealyze.render.forms import Form
from tracealyze.render.listing import Column, Listing, write_listing

_URI = Column("uri", "capture", min_width=20)
_LINE = Column("line", "line", right=True)
_CAUSE = (
    Column("rule", "rule", min_width=18),
    Column("program", "program", min_width=10),
    Column("syscall", "call", drop_order=2),
    Column("target", "target", min_width=14, drop_order=3),
)

_COLUMNS: Mapping[str, Sequence[Column]] = {
    "top": (
        # Names identify a row: they are never cut to a few letters, other columns are left out before.
        Column("class", "class", min_width=8),
        Column("rule", "rule", min_width=18),
        Column("program", "program", min_width=10),
        Column("syscall", "syscall", min_width=10),
        Column("target", "target", min_width=14, drop_order=2),
        Column("captures", "captures", right=True),
        Column("could_show", "of", right=True),
        Column("low_share", "from", drop_order=4),
        Column("high_share", "to", drop_order=4),
        Column("time_ns", "time"),
        Column("median_share", "median", drop_order=1),
        Column("p90_share", "p90", drop_order=3),
        _URI,
        _LINE,
    ),
    "like": (
        Column("similarity_share", "similar"),
        Column("rules", "common causes", min_width=10),
        Column("wall_ns", "wall"),
        Column("labels", "labels", min_width=10, drop_order=2),
        _URI,
        _LINE,
    ),
    "trend": (
        Column("change", "change"),
        Column("since", "since"),
        Column("first", "first"),
        *_CAUSE,
        Column("before_share", "before"),
        Column("after_share", "after"),
        _URI,
        _LINE,
    ),
    "compare": (
        Column("change", "change"),
        *_CAUSE,
        Column("before_share", "before"),
        Column("after_share", "after"),
        _URI,
        _LINE,
    ),
    "outliers": (
        Column("class", "class"),
        Column("share", "share"),
        Column("median_share", "median"),
        Column("score", "score", right=True),
        Column("group", "group"),
        Column("wall_ns", "wall"),
        _URI,
    ),
    "failures": (Column("error_kind", "kind"), _URI, Column("error", "error", min_width=20)),
}
"""The columns of each answer."""


def show(question: str, document: Mapping[str, Any], form: Form) -> None:
    """Write an answer in an output form."""
    if form is Form.JSON:
        json.write(document)
        return
    rows = [_row(question, row) for row in document["rows"]]
    columns = _COLUMNS.get(question) or [Column(name, name) for name in (rows[0] if rows else ())]
    if form is Form.TABLE:
        output.write(f"{shown(_heading(question, document))}\n")
    if rows or form is not Form.TABLE:
        write_listing(Listing(question, columns, rows), form)
    if form is Form.TABLE and rows and rows[0].get("uri"):
        output.write(f"\nMore: {suggested.command('summarize', files=[rows[0]['uri']])}\n")


def _row(question: str, row: Mapping[str, Any]) -> dict[str, Any]:
    made = dict(row)
    if isinstance(made.get("labels"), Mapping):
        made["labels"] = " ".join(f"{name}={value}" for name, value in made["labels"].items())
    if question == "like":
        causes = row["causes"]
        made["similarity_share"] = row["similarity"]
        made["rules"] = ", ".join(dict.fromkeys(cause["rule"] for cause in causes))
        made["line"] = causes[0]["line"] if causes else None
    if question == "outliers":
        made["score"] = f"{row['score']:.1f}"
    if question not in _COLUMNS:
        made = {name: _text(value) for name, value in made.items()}
    return made


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, list | dict) else value


def _heading(question: str, document: Mapping[str, Any]) -> str:
    return _HEADINGS[question](document)


def _captures(number: int) -> str:
    return units.counted(number, "capture")


def _top(answer: Mapping[str, Any]) -> str:
    groups = units.counted(answer["groups"], answer["by"], _PLURALS.get(answer["by"]))
    return f"{_captures(answer['usable'])} of {units.count(answer['captures'])} were read: {groups}."


_PLURALS = {"class": "classes", "fingerprint": "causes"}


def _like(answer: Mapping[str, Any]) -> str:
    what = "causes" if answer["basis"] == "causes" else "classes of time (it has no findings)"
    number = f"{units.count(answer['similar'])} of {_captures(answer['captures'])}"
    return f"By {what}, {number} are similar, {units.count(answer['identical'])} of them alike."


def _trend(answer: Mapping[str, Any]) -> str:
    groups = answer["groups"]
    reach = f"{groups[0]['name']} to {groups[-1]['name']} ({len(groups)} of {answer['over']})"
    return f"{reach}: {units.count(answer['changed'])} of {units.counted(answer['tested'], 'cause')} changed."


def _compare(answer: Mapping[str, Any]) -> str:
    before, after = answer["groups"]
    walls = [units.duration(each["median_wall_ns"]) for each in (before, after)]
    sides = f"{_captures(before['captures'])} (median {walls[0]}) against {units.count(after['captures'])} ({walls[1]})"
    return f"{sides}: {units.count(answer['differ'])} of {units.counted(answer['tested'], 'cause')} differ."


def _outliers(answer: Mapping[str, Any]) -> str:
    return f"{units.count(answer['outliers'])} of {_captures(answer['compared'])} are outliers."


# The kind of files that are not captures.
_OTHER = "unknown-format"


def _failures(answer: Mapping[str, Any]) -> str:
    others = answer["statuses"].get("skipped", 0)
    failed = answer["statuses"].get("failed", 0)
    kinds = ", ".join(f"{units.count(number)} {name}" for name, number in answer["kinds"].items() if name != _OTHER)
    failures = (
        f"{units.count(failed)} of {_captures(answer['captures'] - others)} failed{f': {kinds}' if kinds else ''}"
    )
    left_out = f" {units.counted(others, 'other file')} left out: no format was recognized." if others else ""
    return f"{failures}.{left_out}"


def _rows(answer: Mapping[str, Any]) -> str:
    return f"{units.counted(answer['matches'], 'row')}."


_HEADINGS = {
    "top": _top,
    "like": _like,
    "trend": _trend,
    "compare": _compare,
    "outliers": _outliers,
    "failures": _failures,
    "query": _rows,
    "sql": _rows,
}
