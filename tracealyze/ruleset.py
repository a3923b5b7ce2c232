"""The rules: one TOML file each, data that names a table of the engine and says from when on a row of it matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from tracealyze import units
from tracealyze.errors import WrongUsage, did_you_mean

EXPLANATION = {
    "finds": "What it finds",
    "costs": "Why it costs time",
    "fine": "When it is fine",
    "do": "What to do",
    "wrong": "What would prove it wrong",
}
"""The parts of an explanation, in their order."""

PACKAGED = Path(__file__).parent / "rules"
"""The rules that come with the package."""

_REQUIRED = ("code", "title", "table", "message", "advice")


@dataclass(frozen=True)
class AtLeast:
    """Thresholds, of which all must be reached."""

    share: float = 0.0
    total_ns: int = 0
    count: int = 0

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> AtLeast:
        """From the `[at_least]` of a rule."""
        return cls(table.get("share", 0.0), units.read_duration(table.get("total", "0s")), table.get("count", 0))


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
    message: str
    advice: str
    where: str = ""
    """Which rows of the table; all without it."""
    group: tuple[str, ...] = ()
    """Columns whose rows are taken together where they agree; each row by itself without any."""
    keep: str = ""
    """Which groups; all without it."""
    precedence: int = 0
    """Time that several rules speak of belongs to the one with the highest."""
    confidence: str = "measured"
    cost: str = "exclusive_ns"
    """The column that says what it costs on the path; empty for what costs no time by itself."""
    count: str = "calls"
    """The column that the threshold for the count is about."""
    impact: tuple[float | str, float | str] = (0.0, 1.0)
    """What could be freed, from and to: parts of the cost, or expressions."""
    severity: str = ""
    """Fixed; else it follows from the impact."""
    at_least: AtLeast = field(default_factory=AtLeast)
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)
    excluded: Mapping[str, Sequence[str]] = field(default_factory=dict)
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Parts of the message: of each the first form in which no value is missing, or nothing."""
    explain: Mapping[str, str] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    origin: str = ""
    """The file that it comes from."""


def rule_of(name: str, table: Mapping[str, Any], origin: str = "") -> Rule:
    """A rule from its file."""
    where = origin or f"rules/{name}.toml"
    facts = dict(table)
    facts["excluded"] = facts.pop("except", {})
    facts["examples"] = tuple(Example(**example) for example in facts.pop("example", ()))
    facts["at_least"] = AtLeast.of(facts.get("at_least", {}))
    facts["group"] = tuple(facts.get("group", ()))
    words = facts.get("words", {})
    facts["words"] = {key: [part] if isinstance(part, str) else part for key, part in words.items()}
    facts["impact"] = tuple(facts.get("impact", (0.0, 1.0)))
    known = [item.name for item in fields(Rule)]
    for key in facts:
        if key not in known:
            raise WrongUsage(f'{where}: there is no key "{key}".{did_you_mean(key, known)}')
    missing = [key for key in _REQUIRED if not facts.get(key)]
    if missing:
        raise WrongUsage(f"{where}: {', '.join(missing)} is missing.")
    return Rule(**facts | {"name": name, "origin": where})


@cache
def rules(folder: Path = PACKAGED) -> tuple[Rule, ...]:
    """All rules of a folder, by code."""
    import tomllib

    found = []
    for file in folder.glob("*.toml"):
        try:
            table = tomllib.loads(file.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise WrongUsage(f"{file}: {error}.") from error
        found.append(rule_of(file.stem, table, str(file) if folder != PACKAGED else ""))
    return tuple(sorted(found, key=lambda rule: rule.code))
