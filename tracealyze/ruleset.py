"""The rules: one TOML file each, data that names a table of the engine and says from when on a row of it matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from tracealyze import units
from tracealyze.errors import WrongUsage, did_you_mean
from tracealyze.trace import Row

EXPLANATION = {
    "finds": "What it finds",
    "costs": "Why it costs time",
    "fine": "When it is fine",
    "do": "What to do",
    "wrong": "What would prove it wrong",
}
"""The parts of an explanation, in their order."""


@dataclass(frozen=True)
class AtLeast:
    """Thresholds, of which all must be reached."""

    share: float = 0.0
    total_ns: int = 0
    count: int = 1

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> AtLeast:
        """From the `[at_least]` of a rule."""
        return cls(table.get("share", 0.0), units.read_duration(table.get("total", "0s")), table.get("count", 1))


@dataclass(frozen=True)
class Example:
    """A trace, and how many findings the rule must give for it."""

    name: str
    findings: int
    format: str | None = None
    trace: str | None = None
    sample: str | None = None


@dataclass(frozen=True)
class Rule:
    """What to look for in which table, from when on it matters, and what to say then."""

    name: str
    code: str
    title: str
    table: str
    group: tuple[str, ...]
    message: str
    advice: str
    precedence: int = 0
    confidence: str = "measured"
    impact: tuple[float, float] = (0.0, 1.0)
    at_least: AtLeast = field(default_factory=AtLeast)
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)
    excluded: Mapping[str, Sequence[str]] = field(default_factory=dict)
    explain: Mapping[str, str] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()

    def asks_for(self, row: Row) -> bool:
        """Whether a row of the table is one that the rule is about."""
        wanted = all(row.get(name) in values for name, values in self.only.items())
        return wanted and not any(row.get(name) in values for name, values in self.excluded.items())


def rule_of(name: str, table: Mapping[str, Any]) -> Rule:
    """A rule from its file."""
    facts = dict(table)
    facts["excluded"] = facts.pop("except", {})
    facts["examples"] = tuple(Example(**example) for example in facts.pop("example", ()))
    facts["at_least"] = AtLeast.of(facts.get("at_least", {}))
    facts["group"] = tuple(facts.get("group", ()))
    facts["impact"] = tuple(facts.get("impact", (0.0, 1.0)))
    known = [item.name for item in fields(Rule)]
    for key in facts:
        if key not in known:
            raise WrongUsage(f'rules/{name}.toml: there is no key "{key}".{did_you_mean(key, known)}')
    missing = [key for key in ("code", "title", "table", "group", "message", "advice") if not facts.get(key)]
    if missing:
        raise WrongUsage(f"rules/{name}.toml: {', '.join(missing)} is missing.")
    return Rule(name=name, **facts)


@cache
def rules(folder: Path = Path(__file__).parent / "rules") -> tuple[Rule, ...]:
    """All rules of a folder, by code."""
    import tomllib

    found = []
    for file in folder.glob("*.toml"):
        try:
            table = tomllib.loads(file.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise WrongUsage(f"{file}: {error}.") from error
        found.append(rule_of(file.stem, table))
    return tuple(sorted(found, key=lambda rule: rule.code))
