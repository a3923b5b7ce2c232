"""Captures of a store as a baseline of the gate: the last ones with some labels are its runs.

fleet:STORE?scenario=boot&branch=main&last=20
fleet:STORE?label.last=a                        a label with the name "last"
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import numpy

from tracealyze.base import units
from tracealyze.base.errors import UnusableInput, WrongUsage
from tracealyze.base.heuristics import FLEET_BASELINE_RUNS
from tracealyze.base.sanitize import shown
from tracealyze.compare.gate.baseline import Baseline, baseline_of
from tracealyze.compare.gate.baseline_file import NoBaseline
from tracealyze.compare.gate.check_settings import STORE
from tracealyze.compare.run import Run
from tracealyze.fleet import locations
from tracealyze.fleet.capture_set import CaptureSet
from tracealyze.fleet.fetching import captures_of, opened_items
from tracealyze.fleet.labels import Labels
from tracealyze.fleet.sources import INSIDE, Item, items
from tracealyze.trace.trace import read_files

if TYPE_CHECKING:
    from tracealyze.trace.trace import Trace

_LAST = "last"
_LABEL = "label."


@dataclass(frozen=True)
class Wanted:
    """A store, and the labels of the captures in it that are the runs of a baseline."""

    store: str
    labels: Mapping[str, str]
    last: int = FLEET_BASELINE_RUNS
    """Maximum number of captures."""

    @classmethod
    def of(cls, text: str) -> Wanted:
        """From `fleet:STORE?label=value&last=N`. What follows the last question mark is labels. Raises `WrongUsage`."""
        name = text.removeprefix(STORE)
        store, query = name.rsplit("?", 1) if "?" in name else (name, "")
        parts = [part.partition("=") for part in query.split("&") if part]
        labels = {unquote(label): unquote(value) for label, _, value in parts}
        is_plain = all(label and equals for label, equals, _ in parts) and len(labels) == len(parts)
        last = labels.pop(_LAST, str(FLEET_BASELINE_RUNS))
        if is_plain and "" in labels.values():
            raise WrongUsage(f'--baseline: "{shown(text)}" has a label without a value; captures without one lack it.')
        labels = {name.removeprefix(_LABEL): value for name, value in labels.items()}
        if not store or not is_plain or not last.isdecimal() or not int(last):
            raise WrongUsage(f'--baseline: "{shown(text)}" cannot be read; write {STORE}STORE?label=value&last=10.')
        return cls(store, labels, int(last))


def accepted(
    wanted: Wanted,
    runs_of: Callable[[Trace], Iterable[Trace]],
    judged: Collection[str] = (),
    input_format: str | None = None,
) -> tuple[Baseline, list[str]]:
    """The baseline of the wanted captures, which are read again where they lie, and notes on it.

    Arguments:
        wanted: Which captures.
        runs_of: The runs of a capture, restricted as those that are judged.
        judged: Paths of captures that are not compared with themselves.
        input_format: Use this format instead of detecting it.

    Raises:
        NoBaseline: There is no such store, it has no such captures, or none of them can be read.
    """
    try:
        fleet = CaptureSet(wanted.store)
    except UnusableInput as error:
        raise NoBaseline(str(error)) from error
    rows = _rows(fleet, wanted, {str(Path(each).absolute()) for each in judged})
    if not rows:
        labels = ", ".join(f"{name}={value}" for name, value in wanted.labels.items())
        raise NoBaseline(f"{fleet.name}: no complete capture{' with ' if labels else ''}{shown(labels)}.")
    with TemporaryDirectory(prefix="tracealyze-fleet-") as folder:
        found = list(_found(rows, wanted.store, Path(folder)))
        if not found:
            raise NoBaseline(f"{fleet.name}: the captures are gone, or have changed since. Index again.")
        runs = [Run(run) for files in found for run in runs_of(read_files([files], input_format, None))]
        made = baseline_of(runs)
    notes = [f"The baseline is {units.counted(len(found), 'capture')} of {fleet.name}."]
    if len(found) < len(rows):
        left_out = units.counted(len(rows) - len(found), "capture")
        notes.append(f"{left_out} of the baseline left out: gone, or changed since indexed.")
    return made, notes


def _rows(fleet: CaptureSet, wanted: Wanted, judged: Collection[str]) -> list[dict[str, Any]]:
    """The last captures with the labels. Those without a date are the oldest."""
    chosen = _has(fleet, "status", "ok")
    for name, value in wanted.labels.items():
        fleet.must_have_label(name, "--baseline")
        chosen &= _has(fleet, name, value)
    places = numpy.flatnonzero(chosen)
    starts = numpy.nan_to_num(fleet.numbers("start_ns")[places], nan=-numpy.inf)
    newest = places[numpy.lexsort((fleet.ids[places], -starts))][: wanted.last + len(judged)]
    rows = fleet.at(newest.tolist(), ["uri", "item", "etag"])
    return [row for row in rows if row["uri"] not in judged and row["item"] not in judged][: wanted.last]


def _has(fleet: CaptureSet, name: str, value: str) -> Any:
    texts = fleet.texts(name)
    return numpy.array([*(each == value for each in texts.names), False], bool)[texts.codes]


def _found(rows: list[dict[str, Any]], store: str, folder: Path) -> Iterator[list[str]]:
    """The files of each capture that has not changed since it was indexed."""
    listed = [_listed(row, store) for row in rows]
    kept = [(row, item) for row, item in zip(rows, listed, strict=True) if item is not None]
    opened = opened_items([item for _, item in kept], folder)
    for (row, item), fetch in zip(kept, opened, strict=True):
        try:
            files = captures_of(item, fetch()).get(row["uri"])
        except (OSError, KeyError, EOFError, ValueError):
            continue
        if files is not None:
            yield files


def _listed(row: Mapping[str, Any], store: str) -> Item | None:
    """The item of a capture, if it is still there and unchanged."""
    name = glob.escape(row["item"].partition(INSIDE)[0])
    if row["item"].endswith(".") and INSIDE not in row["item"]:
        # The files of one capture, which differ in the number at the end.
        name += "*"
    if locations.is_uri(name) and urlsplit(name).scheme == urlsplit(store).scheme and urlsplit(store).query:
        # The options that open the store open the captures, too.
        name += f"?{urlsplit(store).query}"
    try:
        found = {item.uri: item for item in items([name], Labels())}.get(row["item"])
    except (UnusableInput, OSError):
        return None
    return found if found is not None and found.etag == row["etag"] else None
