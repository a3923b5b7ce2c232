"""The baseline: what was accepted, as a file of sorted JSON that people can read and review."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracealyze import syscall_families as families
from tracealyze.errors import WrongUsage
from tracealyze.gate.captured import HowCaptured
from tracealyze.gate.stats import Series, Stats, series_of
from tracealyze.gate.work import Amounts, Place, largest, places
from tracealyze.metrics import Class, Name
from tracealyze.words import short

if TYPE_CHECKING:
    from tracealyze.finding import Finding
    from tracealyze.metrics import Run

SCHEMA = "tracealyze.baseline/1"
DEFAULT = "tracealyze-baseline.json"


@dataclass(frozen=True)
class Known:
    """A finding that was accepted."""

    name: str
    code: str
    severity: str
    program: str | None
    syscall: str | None
    number: int

    @classmethod
    def of(cls, findings: Sequence[Finding]) -> Known:
        """Of findings with one fingerprint."""
        one = findings[0]
        return cls(one.name, one.code, str(one.severity), short(one.program) or None, one.syscall, len(findings))


@dataclass(frozen=True)
class Baseline:
    """What was accepted."""

    captured: HowCaptured
    runs: int
    metrics: Mapping[str, Series]
    findings: Mapping[str, Known]
    places: Mapping[Place, Amounts]
    places_left_out: int = 0
    pace_ns: int | None = None
    """The mean length of calls that wait for nothing: how fast the machine was."""

    def document(self) -> dict[str, Any]:
        """As it stands in the file."""
        return {
            "schema": SCHEMA,
            "captured": asdict(self.captured),
            "runs": self.runs,
            "pace_ns": self.pace_ns,
            "metrics": {name: _series_document(series) for name, series in self.metrics.items()},
            "findings": {fingerprint: asdict(known) for fingerprint, known in self.findings.items()},
            "work": _places_document(self.places),
            "work_left_out": self.places_left_out,
        }


def baseline_of(runs: Sequence[Run]) -> Baseline:
    """What these runs would accept."""
    everything = places(runs)
    kept = largest(everything)
    return Baseline(
        captured=HowCaptured.of(runs),
        runs=len(runs),
        metrics={name: series for name, series in series_of(runs).items() if Name.of(name).metric.in_baseline},
        findings=_known(runs),
        places=kept,
        places_left_out=len(everything) - len(kept),
        pace_ns=pace_ns(runs),
    )


def by_fingerprint(run: Run) -> dict[str, list[Finding]]:
    """The findings of a run that have one cause."""
    found: dict[str, list[Finding]] = {}
    for finding in run.findings:
        found.setdefault(finding.fingerprint, []).append(finding)
    return found


def _known(runs: Sequence[Run]) -> dict[str, Known]:
    known: dict[str, Known] = {}
    for run in runs:
        for fingerprint, findings in by_fingerprint(run).items():
            mine = Known.of(findings)
            before = known.get(fingerprint)
            known[fingerprint] = mine if before is None else replace(before, number=max(before.number, mine.number))
    return known


def pace_ns(runs: Sequence[Run]) -> int | None:
    """How long calls take that neither wait nor sleep, on average over all runs.

    On a busy machine most of them are as short as ever, and a few wait until it is their program's turn again: the mean
    shows that, a median does not.
    """
    rows = [row for run in runs for row in run.trace.calls(by=["syscall"]) if row["syscall"] in families.QUICK]
    total_ns = sum(row["total_ns"] or 0 for row in rows)
    return total_ns // sum(row["calls"] for row in rows) if total_ns else None


def _series_document(series: Series) -> dict[str, Any]:
    document: dict[str, Any] = asdict(series.whole) | {"class": str(series.cls)}
    if series.unit:
        document["unit"] = series.unit
    if series.unstable:
        document["unstable"] = True
    if series.firm != series.whole:
        # Apart from what depends on scheduling.
        document["firm"] = asdict(series.firm)
    if series.values and len(series.values) > 1:
        document["values"] = list(series.values)
    return document


def _series(document: Mapping[str, Any]) -> Series:
    whole = _stats(document)
    return Series(
        whole=whole,
        firm=_stats(document["firm"]) if "firm" in document else whole,
        cls=Class(document["class"]),
        unit=document.get("unit", ""),
        values=tuple(document.get("values", (whole.median,) if document["class"] == Class.CLOCK else ())),
        unstable=document.get("unstable", False),
    )


def _stats(document: Mapping[str, Any]) -> Stats:
    return Stats(*(int(document[item.name]) for item in fields(Stats)))


def _places_document(found: Mapping[Place, Amounts]) -> dict[str, dict[str, dict[str, int]]]:
    document: dict[str, dict[str, dict[str, int]]] = {}
    for (program, shape), amounts in found.items():
        document.setdefault(program, {})[shape] = {key: value for key, value in asdict(amounts).items() if value}
    return document


def write(baseline: Baseline, file: Path) -> None:
    """Write the file, as a whole or not at all."""
    text = json.dumps(baseline.document(), indent=1, sort_keys=True, ensure_ascii=True)
    new = file.with_name(f".{file.name}.new")
    try:
        new.write_text(text + "\n", encoding="utf-8")
        new.replace(file)
    except OSError as error:
        raise WrongUsage(f"{file}: cannot be written: {error.strerror or error}.") from error


class NoBaseline(WrongUsage):
    """The baseline is missing or cannot be read: a verdict of its own, never a pass."""


def read(file: Path) -> Baseline:
    """Read the file."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NoBaseline(
            f"{file}: no such baseline. Make it from good captures: tracealyze baseline create CAPTURE… -o {file}"
        ) from None
    except (OSError, ValueError) as error:
        raise NoBaseline(f"{file}: cannot be read as a baseline: {error}.") from error
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        raise NoBaseline(
            f'{file}: not a baseline of this version: its schema is "{schema}", not "{SCHEMA}". Create it anew.'
        )
    try:
        return _baseline(document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise NoBaseline(f"{file}: damaged: {type(error).__name__} {error}. Create it anew.") from error


def _baseline(document: Mapping[str, Any]) -> Baseline:
    known = {item.name for item in fields(HowCaptured)}
    return Baseline(
        captured=HowCaptured(**{key: _frozen(value) for key, value in document["captured"].items() if key in known}),
        runs=int(document["runs"]),
        metrics={name: _series(series) for name, series in document["metrics"].items()},
        findings={fingerprint: Known(**each) for fingerprint, each in document["findings"].items()},
        places={
            (program, shape): Amounts(**amounts)
            for program, shapes in document["work"].items()
            for shape, amounts in shapes.items()
        },
        places_left_out=int(document["work_left_out"]),
        pace_ns=document["pace_ns"],
    )


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
