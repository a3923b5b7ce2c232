"""Scenarios of a project: `[tool.tracealyze.check.scenarios.NAME]`, each a command that `check --all` records."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any

from tracealyze.base.config import must_be_known, must_be_texts
from tracealyze.base.errors import WrongUsage, did_you_mean
from tracealyze.compare.metrics import METRICS, Name


@dataclass(frozen=True)
class Scenario:
    """A command, how to prepare it, and what its counts must not exceed."""

    name: str
    command: str
    base_command: str | None = None
    """The command of the other side, if it is another one."""
    setup: str = ""
    """Run before each run, and not recorded."""
    ignore: tuple[str, ...] = ()
    """Rules and metrics that do not count."""
    budgets: tuple[str, ...] = ()
    runs: int | None = None

    def ignored(self, rules: Collection[str]) -> tuple[frozenset[str], frozenset[str]]:
        """The rules and the metrics that do not count. Raises `WrongUsage` for a name that is neither."""
        of_rules = frozenset(name for name in self.ignore if name in rules)
        metrics = [name for name in self.ignore if name not in of_rules]
        for name in metrics:
            _must_be_metric(name, rules, self.name)
        return of_rules, frozenset(str(Name.of(name)) for name in metrics)


def _must_be_metric(name: str, rules: Collection[str], scenario: str) -> None:
    families = {metric.name for metric in METRICS}
    if Name.of(name).family not in families:
        hint = did_you_mean(name, families) or did_you_mean(name, rules)
        raise WrongUsage(f'scenario {scenario}, ignore: there is no rule or metric "{name}".{hint}')
    Name.of(name).metric  # noqa: B018  Raises an error for a wrong number of arguments.


_KEYS = {item.name.replace("_", "-"): item.name for item in fields(Scenario) if item.name != "name"}
_LISTS = frozenset(("ignore", "budgets"))


def scenarios_of(content: object, where: str) -> tuple[Scenario, ...]:
    """The scenarios of a settings file. Raises `WrongUsage` if one has a wrong or missing key."""
    if not isinstance(content, Mapping) or not all(isinstance(each, Mapping) for each in content.values()):
        raise WrongUsage(f"{where}: scenarios must be tables, such as [tool.tracealyze.check.scenarios.start].")
    return tuple(_scenario(name, each, f"{where}, scenario {name}") for name, each in content.items())


def _scenario(name: str, content: Mapping[str, Any], where: str) -> Scenario:
    must_be_known(content, _KEYS, where)
    if "command" not in content:
        raise WrongUsage(f'{where}: the command is missing, such as command = "./tool --help".')
    found = {_KEYS[key]: _checked(key, value, where) for key, value in content.items()}
    return Scenario(name, **found)


def _checked(key: str, value: object, where: str) -> Any:
    if key in _LISTS:
        return must_be_texts(value, key, where)
    if key == "runs":
        if type(value) is not int or value < 1:
            raise WrongUsage(f"{where}: runs must be a number of 1 or more.")
        return value
    if not isinstance(value, str):
        raise WrongUsage(f'{where}: {key} must be a string, such as {key} = "…".')
    return value
