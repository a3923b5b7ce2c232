"""The file of a baseline: sorted JSON that people can read and review."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from tracealyze.base import suggested
from tracealyze.base.errors import WrongUsage
from tracealyze.base.standard_output import is_standard_output
from tracealyze.compare.gate.baseline import Baseline
from tracealyze.compare.gate.captured import HowCaptured
from tracealyze.compare.gate.known_finding import KnownFinding
from tracealyze.compare.gate.places import Amounts, Place
from tracealyze.compare.gate.stats import Series, Stats
from tracealyze.compare.metrics import Class, Name

SCHEMA = "tracealyze.baseline/1"
DEFAULT = "tracealyze-baseline.json"

_Made = TypeVar("_Made")


class NoBaseline(WrongUsage):
    """The baseline is missing or cannot be read. This is a verdict of its own, never a pass."""


def document(baseline: Baseline) -> dict[str, Any]:
    """The content of the file."""
    return {
        "schema": SCHEMA,
        "captured": asdict(baseline.captured),
        "runs": baseline.runs,
        "pace_ns": baseline.pace_ns,
        "metrics": {name: _series_document(series) for name, series in baseline.metrics.items()},
        "findings": {fingerprint: asdict(known) for fingerprint, known in baseline.findings.items()},
        "work": _places_document(baseline.places),
        "work_left_out": baseline.places_left_out,
        "commands": dict(baseline.commands),
    }


def _series_document(series: Series) -> dict[str, Any]:
    found: dict[str, Any] = asdict(series.whole) | {"class": str(series.cls)}
    if series.unit:
        found["unit"] = series.unit
    if series.unstable:
        found["unstable"] = True
    if series.firm != series.whole:
        # Without what depends on scheduling.
        found["firm"] = asdict(series.firm)
    if series.values and len(series.values) > 1:
        found["values"] = list(series.values)
    return found


def _places_document(places: Mapping[Place, Amounts]) -> dict[str, dict[str, dict[str, int]]]:
    found: dict[str, dict[str, dict[str, int]]] = {}
    for (program, shape), amounts in places.items():
        found.setdefault(program, {})[shape] = {key: value for key, value in asdict(amounts).items() if value}
    return found


def write(baseline: Baseline, file: Path) -> None:
    """Write the file, completely or not at all. Raises `WrongUsage` if it cannot be written."""
    write_document(document(baseline), file)


def write_document(content: Mapping[str, Any], file: Path) -> None:
    """Write sorted JSON, completely or not at all. Raises `WrongUsage` if it cannot be written."""
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=True) + "\n"
    try:
        if is_standard_output(file):
            sys.stdout.write(text)
            sys.stdout.flush()
            return
        if file.exists() and not file.is_file():
            # A device or a pipe must not be replaced by a file.
            file.write_text(text, encoding="utf-8")
            return
        place = file.resolve()
        new = place.with_name(f".{place.name}.new")
        new.write_text(text, encoding="utf-8")
        new.replace(place)
    except BrokenPipeError:
        # Nobody reads any more what goes to /dev/stdout.
        raise
    except (OSError, ValueError) as error:
        raise WrongUsage(f"{file}: cannot be written: {getattr(error, 'strerror', None) or error}.") from error


def read(file: Path) -> Baseline:
    """Read the file. Raises `NoBaseline` if it is missing or damaged."""
    if is_standard_output(file):
        raise NoBaseline(f"{file}: a baseline cannot be read from standard output. Name its file with -b.")
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NoBaseline(
            f"{file}: no such baseline. Create it from good captures: tracealyze check CAPTURE… --accept "
            f"-b {suggested.quoted(str(file))}"
        ) from None
    except OSError as error:
        raise NoBaseline(f"{file}: cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise NoBaseline(f"{file}: cannot be read as a baseline: {error}. Recreate it.") from error
    return of_document(content, str(file))


def of_document(content: object, where: str) -> Baseline:
    """A baseline from its content. Raises `NoBaseline` if it is damaged."""
    schema = content.get("schema") if isinstance(content, dict) else None
    if not isinstance(content, dict) or schema != SCHEMA:
        raise NoBaseline(
            f'{where}: not a baseline of this version: its schema is "{schema}", not "{SCHEMA}". Recreate it.'
        )
    try:
        return _baseline(content)
    except (_Damaged, WrongUsage) as error:
        raise NoBaseline(f"{where}: damaged, or of another version: {str(error).rstrip('.')}. Recreate it.") from error


class _Damaged(Exception):
    """The content does not have the expected form."""


def _baseline(content: Mapping[str, Any]) -> Baseline:
    return Baseline(
        captured=_made(HowCaptured, _part(content, "captured", dict), "captured"),
        runs=_part(content, "runs", int),
        metrics={name: _series(name, each) for name, each in _part(content, "metrics", dict).items()},
        findings={
            key: _made(KnownFinding, each, f"findings, {key}") for key, each in _part(content, "findings", dict).items()
        },
        places={
            (program, shape): _made(Amounts, amounts, f"work, {program}, {shape}")
            for program in _part(content, "work", dict)
            for shape, amounts in _part(content["work"], program, dict).items()
        },
        places_left_out=_part(content, "work_left_out", int),
        commands=_numbers(content.get("commands", {})),
        pace_ns=None if content.get("pace_ns", "") is None else _part(content, "pace_ns", int),
    )


def _numbers(content: object) -> dict[str, int]:
    if not isinstance(content, dict) or not all(type(value) is int for value in content.values()):
        raise _Damaged('"commands" is of the wrong type')
    return content


def _part(content: Mapping[str, Any], key: str, kind: type[_Made]) -> _Made:
    value = content.get(key)
    if type(value) is not kind:
        raise _Damaged(f'"{key}" is {"missing" if key not in content else "of the wrong type"}')
    return value


def _series(name: str, content: Any) -> Series:
    where, metric = f"metrics, {name}", Name.of(name).metric
    whole = _made(Stats, content, where)
    kind = content.get("class")
    if kind not in tuple(Class):
        raise _Damaged(f"{where}: there is no class {json.dumps(kind)}")
    values = content.get("values", [whole.median] if kind == Class.CLOCK else [])
    if not _is_list_of(int, values):
        raise _Damaged(f'{where}: "values" is of the wrong type')
    return Series(
        whole=whole,
        firm=_made(Stats, content["firm"], f"{where}, firm") if "firm" in content else whole,
        cls=Class(kind),
        unit=metric.unit,
        values=tuple(values),
        unstable=bool(content.get("unstable", False)),
    )


def _is_list_of(kind: type, value: object) -> bool:
    return isinstance(value, list) and all(type(each) is kind for each in value)


_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "int": lambda value: type(value) is int,
    "str": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "str | None": lambda value: value is None or isinstance(value, str),
    "bool | None": lambda value: value is None or isinstance(value, bool),
    "tuple[str, ...]": lambda value: _is_list_of(str, value),
}
"""Checks of JSON values, by the declared type of a field."""


def _made(cls: type[_Made], content: Any, where: str) -> _Made:
    """An object from its JSON members. Members of later versions are ignored."""
    if not isinstance(content, dict):
        raise _Damaged(f"{where} is of the wrong type")
    found: dict[str, Any] = {}
    for item in fields(cls):  # type: ignore[arg-type]
        if item.name in content:
            value = content[item.name]
            if not _KINDS[str(item.type)](value):
                raise _Damaged(f'{where}: "{item.name}" is of the wrong type')
            found[item.name] = tuple(value) if isinstance(value, list) else value
        elif item.default is MISSING:
            raise _Damaged(f'{where}: "{item.name}" is missing')
    return cls(**found)
