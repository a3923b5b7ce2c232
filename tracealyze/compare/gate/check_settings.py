"""Settings of the gate: `[tool.tracealyze.check]` in tracealyze.toml or pyproject.toml."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tracealyze.base.config import SECTION, must_be_known, must_be_texts, seen_from, settings
from tracealyze.base.errors import WrongUsage
from tracealyze.compare.gate.scenarios import Scenario, scenarios_of

STORE = "fleet:"
"""Begins the name of a baseline that is a store of many captures."""


@dataclass(frozen=True)
class CheckSettings:
    """The settings of `check`. Options on the command line take precedence."""

    baseline: str | None = None
    budgets: tuple[str, ...] = ()
    fail_on: str | None = None
    output: tuple[str, ...] = ()
    captures: tuple[str, ...] = ()
    scenarios: tuple[Scenario, ...] = ()
    file: str | None = None
    """The file that contains these settings."""


_KEYS = {item.name.replace("_", "-"): item.name for item in fields(CheckSettings) if item.name != "file"}
_LISTS = frozenset(("budgets", "output", "captures"))


def check_settings(folder: Path | None = None) -> CheckSettings:
    """The settings of the project that contains a folder. Paths in the file are relative to it."""
    here = (folder or Path.cwd()).absolute()
    found = settings(here)
    return _checked_settings(found.check, found.file, here) if found.file else CheckSettings()


def _checked_settings(content: Mapping[str, Any], file: Path, here: Path) -> CheckSettings:
    where = f"{file}, [{SECTION}.check]"
    must_be_known(content, _KEYS, where)
    found = {_KEYS[key]: _checked(key, value, where) for key, value in content.items()}
    if isinstance(found.get("baseline"), str):
        found["baseline"] = _baseline_seen_from(here, file, found["baseline"])
    if "captures" in found:
        found["captures"] = tuple(seen_from(here, file, each) for each in found["captures"])
    return CheckSettings(**found, file=os.path.relpath(file, here))


def _baseline_seen_from(here: Path, file: Path, name: str) -> str:
    prefix = STORE if name.startswith(STORE) else ""
    place = name.removeprefix(prefix)
    return name if "://" in place else prefix + seen_from(here, file, place)


def _checked(key: str, value: object, where: str) -> Any:
    if key == "scenarios":
        return scenarios_of(value, where)
    if key in _LISTS:
        return must_be_texts(value, key, where)
    if not isinstance(value, str):
        raise WrongUsage(f'{where}: {key} must be a string, such as {key} = "…".')
    return value
