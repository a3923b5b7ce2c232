"""The baseline: what was accepted, as a file of sorted JSON that people can read and review."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracealyze import syscall_families as families
from tracealyze.errors import WrongUsage
from tracealyze.gate.stats import Series, Stats, series_of
from tracealyze.gate.work import Amounts, Place, largest, places
from tracealyze.metrics import Class, Name
from tracealyze.words import short

if TYPE_CHECKING:
    from tracealyze.finding import Finding
    from tracealyze.metrics import Run

SCHEMA = "tracealyze.baseline/1"
DEFAULT = "tracealyze-baseline.json"
_SYSTEMS = {"strace": "Linux", "ltrace": "Linux", "perf-trace": "Linux", "dtruss": "macOS", "truss-solaris": "Solaris"}
_SYSTEMS |= {"truss-freebsd": "FreeBSD", "truss-aix": "AIX", "kdump": "BSD"}
# What makes fewer calls may do without those that others make: as in the rule narrow-filter.
_ENOUGH_CALLS = 100


@dataclass(frozen=True)
class HowCaptured:
    """How a capture was made, as far as it shows."""

    format: str = ""
    system: str = ""
    argv: str = ""
    clock: str = "none"
    durations: str = "none"
    ids: bool = False
    follows: bool | None = None
    """Whether children are in it (-f); None if there are none."""
    filtered: bool | None = None
    """Whether only some kinds of calls were traced; None if that is not known."""
    seen: tuple[str, ...] = ()
    """Of a filtered one, the kinds of calls that are in it."""

    @classmethod
    def of(cls, run: Run) -> HowCaptured:
        """Of one capture."""
        trace, capture = run.trace, run.trace.captures[0]
        processes = trace.processes.head(1)
        followed = trace.totals["processes"] > 1
        filtered = capture.filtered if trace.totals["calls"] >= _ENOUGH_CALLS else None
        return cls(
            format=capture.format,
            system=_SYSTEMS.get(capture.format, ""),
            argv=str(processes[0]["argv"] or processes[0]["program"] or "") if processes else "",
            clock=capture.clock,
            durations=capture.dur_kind,
            ids=bool(capture.has.get("tids")),
            follows=True if followed else False if capture.unseen_children else None,
            filtered=filtered,
            seen=tuple(sorted(capture.families)) if filtered else (),
        )

    def counts_differ(self, other: HowCaptured) -> list[str]:
        """Why counts of the two cannot be compared."""
        why = [f"the baseline is {other.format}, this is {self.format}"] if self.format != other.format else []
        if self.follows is not None and other.follows is not None and self.follows != other.follows:
            why.append("only one of them follows children (-f)")
        if None not in (self.filtered, other.filtered) and self.filtered != other.filtered:
            why.append(f"only {'this' if self.filtered else 'the baseline'} is of some kinds of calls (-e trace=…)")
        elif self.seen and other.seen and not self._sees_as(other):
            why.append(f"the baseline has calls of the kinds {', '.join(other.seen)}, this of {', '.join(self.seen)}")
        return why

    def _sees_as(self, other: HowCaptured) -> bool:
        """Whether the filters of the two may be the same: a program may begin to make calls of a further kind."""
        return set(self.seen) <= set(other.seen) or set(self.seen) >= set(other.seen)

    def commands_differ(self, other: HowCaptured) -> list[str]:
        """That the two did not run the same, if they did not."""
        return (
            [] if _same_command(self.argv, other.argv) else [f'the baseline ran "{other.argv}", this is "{self.argv}"']
        )

    def times_differ(self, other: HowCaptured) -> list[str]:
        """Why times of the two cannot be compared."""
        why = self.counts_differ(other)
        for what in ("durations", "clock"):
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine != theirs:
                why.append(
                    f"{what} are {theirs} in the baseline and {mine} here"
                    if what == "durations"
                    else f"the clock is {theirs} in the baseline and {mine} here"
                )
        return why


def _same_command(one: str, other: str) -> bool:
    """Whether two command lines can be the same: the tracer may have cut long words, each at another length."""
    mine, theirs = one.split(" "), other.split(" ")
    if one == other or one.endswith(" ...") or other.endswith(" ..."):
        return one == other
    return len(mine) == len(theirs) and all(map(_same_word, mine, theirs))


def _same_word(one: str, other: str) -> bool:
    cut = [word.removesuffix("...") for word in (one, other) if word.endswith("...")]
    return one == other or any(one.startswith(head) and other.startswith(head) for head in cut)


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
        captured=HowCaptured.of(runs[0]),
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
