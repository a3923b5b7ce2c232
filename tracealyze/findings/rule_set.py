"""The rules, one TOML file each: which table of the engine to search, and which of its rows are findings."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from tracealyze.base import toml_file, units
from tracealyze.base.errors import WrongUsage, did_you_mean
from tracealyze.findings.compiled_rules import (
    INCUBATOR,
    PACKAGED,
    CompiledRule,
    ParsedRule,
    compiled_rules,
    digest,
    sections,
)


@dataclass(frozen=True)
class AtLeast:
    """Thresholds; all must be reached."""

    share: float = 0.0
    total_ns: int = 0
    count: int = 0
    busy_share: float = 0.0
    """A share of the window without the time in which a server was idle: enough instead of `share`, unless it is 0."""

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> AtLeast:
        """From the `[at_least]` section of a rule."""
        total_ns = units.read_duration(table.get("total", "0s"))
        return cls(table.get("share", 0.0), total_ns, table.get("count", 0), table.get("busy_share", 0.0))


_FIRST_STAMP_NS = 1_700_000_011 * units.S
"""The first `{stamp}` in the trace of an example."""


@dataclass(frozen=True)
class Example:
    """A trace, and the number of findings of the rule in it."""

    name: str
    findings: int
    format: str | None = None
    trace: str | None = None
    sched: str | None = None
    """Scheduler events beside the trace, as `perf script` prints them."""
    sample: str | None = None
    n_from: str | None = None
    """For a sample with captures of several sizes: a pattern for the size in their names."""
    iterations: int = 1
    """How often consecutive lines with `{stamp}` or `{iteration}` in them are repeated, as a block."""
    step: str = "1ms"
    """The time from one `{stamp}` to the next. `{iteration}` is the number of the iteration, from 1."""

    @property
    def text(self) -> str:
        """The trace with its repetitions written out."""
        return "".join(_written_out(self)).lstrip("\n")


def _written_out(example: Example) -> Iterator[str]:
    stamps = map(_seconds, itertools.count(_FIRST_STAMP_NS, units.read_duration(example.step)))
    lines = (example.trace or "").splitlines(keepends=True)
    for is_repeated, block in itertools.groupby(lines, key=_is_repeated):
        if is_repeated:
            body = list(block)
            for number in range(1, example.iterations + 1):
                for line in body:
                    yield line.replace("{stamp}", next(stamps)).replace("{iteration}", str(number))
        else:
            yield from block


def _is_repeated(line: str) -> bool:
    return "{stamp}" in line or "{iteration}" in line


def _seconds(moment_ns: int) -> str:
    return f"{moment_ns // units.S}.{moment_ns % units.S:09}"


@dataclass(frozen=True)
class Rule:
    """What to look for, in which table, from which threshold on, and the message."""

    name: str
    code: str
    title: str
    table: str
    message: str
    advice: str
    diagnosis: str = ""
    """The cause in one sentence, without a period, as the report begins; empty for the message."""
    remark: str = ""
    """A sentence after the advice of a more specific finding that covers a match: what that finding leaves out."""
    where: str = ""
    """A condition on rows of the table; empty for all."""
    group: tuple[str, ...] = ()
    """Columns to group rows by; empty for single rows."""
    keep: str = ""
    """A condition on groups; empty for all."""
    precedence: int = 0
    """Time that several rules claim belongs to the one with the highest precedence."""
    leads: bool = False
    """Whether its findings precede other infos of little impact, because they put these in doubt."""
    upper_bounds: str = ""
    """What to do where durations include the program's own time: "ignore" matches, report them as "info", or, if empty,
    nothing in particular."""
    waiting: tuple[str, ...] = ()
    """System calls that usually wait, so that most of an upper bound is theirs; upper_bounds does not apply to them."""
    means: tuple[str, ...] = ()
    """What its findings mean for the verdict of a run: keys of `rule_file.MEANINGS`."""
    evidence: tuple[str, ...] = ()
    """Real captures in which it is the cause: addresses of public ones, paths of those in the repository."""
    confidence: str = "measured"
    cost: str = "exclusive_ns"
    """The column with the path time that a match costs; empty if a match costs no time by itself."""
    count: str = "calls"
    """The column that the count threshold applies to."""
    impact: tuple[float | str, float | str] = (0.0, 1.0)
    """Bounds of the time that could be freed: fractions of the cost, or expressions."""
    severity: str = ""
    """A fixed severity; empty to derive it from the impact."""
    at_least: AtLeast = field(default_factory=AtLeast)
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)
    excluded: Mapping[str, Sequence[str]] = field(default_factory=dict)
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Optional parts of the message, with alternatives: the first one without a missing value is used."""
    needs_window: bool = False
    """Whether the rule is silent where there is no window, because its meaning needs the order of events in time."""
    needs_durations: bool = False
    """Whether the rule is silent where limits that waits reached are all that is known of durations."""
    warning_from: int = 0
    """Minimum count at which a match by counts is a warning; 0 if it is always an info."""
    quoted: AtLeast | None = None
    """Other thresholds for matches by counts, either of which suffices: people quote a few lines of a long trace."""
    short_windows: bool = False
    """Whether calls are counted in windows below the threshold of time, too: people quote a few lines."""
    always: bool = False
    """Whether calls are counted in any capture: the number says enough, whatever they took."""
    counted: tuple[Rule, ...] = ()
    """The rule as it applies where calls are counted, with alternatives; empty if it is silent there."""
    explain: Mapping[str, str] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    origin: str = ""
    """The file, as messages name it."""
    forms: Mapping[str, Any] = field(default_factory=dict)
    """Its expressions as forms: where, keep, and both bounds of the impact."""


@cache
def rules(*folders: Path) -> tuple[Rule, ...]:
    """The packaged rules and those of these folders, by code. A rule replaces an earlier one of the same name."""
    found = [rule for folder in (PACKAGED, *folders) for rule in _rules_in(folder, compiled_rules())]
    by_name = {rule.name: rule for rule in found}
    codes: dict[str, Rule] = {}
    for rule in by_name.values():
        other = codes.setdefault(rule.code, rule)
        if other is not rule:
            raise WrongUsage(f"{rule.origin}, code: {rule.code} is already the code of {other.name} ({other.origin}).")
    return tuple(sorted(by_name.values(), key=lambda rule: rule.code))


def parsed_rules(folder: Path) -> list[Rule]:
    """The rules of a folder, parsed from their files. Raises `WrongUsage` for mistakes in them."""
    return _rules_in(folder, {})


def _rules_in(folder: Path, compiled: Mapping[str, CompiledRule]) -> list[Rule]:
    files = sorted(folder.glob("*.toml"))
    if not files:
        problem = "no rules (*.toml) in this directory" if folder.is_dir() else "no such directory"
        raise WrongUsage(f"{folder}: {problem}.")
    return [_rule(_parsed(file, compiled.get(_packaged_name(file)))) for file in files]


def _packaged_name(file: Path) -> str:
    """The path of a packaged rule below `PACKAGED`; empty for others."""
    return {PACKAGED: file.name, INCUBATOR: f"{INCUBATOR.name}/{file.name}"}.get(file.parent, "")


def _parsed(file: Path, compiled: CompiledRule | None) -> ParsedRule:
    """The compiled rule, or the parsed file if that differs from what was compiled."""
    origin = f"rules/{_packaged_name(file)}" if _packaged_name(file) else str(file)
    try:
        content = toml_file.content_of(file, origin)
    except OSError as error:
        raise WrongUsage(f"{origin}: cannot be read: {error.strerror or error}.") from error
    if compiled is not None and compiled["digest"] == digest(content):
        return compiled["rule"]
    from tracealyze.findings.rule_file import parsed_rule

    return parsed_rule(content, file.stem, origin)


def _rule(parsed: ParsedRule) -> Rule:
    members = dict(parsed["table"])
    members["excluded"] = members.pop("except", {})
    members["examples"] = tuple(Example(**example) for example in members.pop("example", ()))
    members["at_least"] = AtLeast.of(members.get("at_least", {}))
    words = members.get("words", {})
    members["words"] = {key: [part] if isinstance(part, str) else part for key, part in words.items()}
    members["group"] = tuple(members.get("group", ()))
    for key in ("waiting", "means", "evidence"):
        members[key] = tuple(members.get(key, ()))
    members["impact"] = tuple(members.get("impact", (0.0, 1.0)))
    counted = sections(members.pop("counted", []))
    rule = Rule(**members, name=parsed["name"], origin=parsed["origin"], forms=parsed["forms"])
    wheres = rule.forms.get("counted_where", [])
    return replace(rule, counted=tuple(_counted(rule, *each) for each in zip(counted, wheres, strict=True)))


def _counted(rule: Rule, section: Mapping[str, Any], where: Any) -> Rule:
    """The rule by a `[counted]` section: without a cost, and with other conditions and words."""
    forms = dict(rule.forms)
    if "where" in section:
        forms["where"] = where
    members = {name: section[name] for name in ("where", "message", "advice", "count") if name in section}
    return replace(
        rule,
        **members,
        cost="",
        diagnosis="",
        confidence="counted",
        warning_from=section.get("warning", 0),
        at_least=AtLeast.of(section.get("at_least", {})),
        quoted=AtLeast.of(section["quoted"]) if "quoted" in section else None,
        short_windows=section.get("short_windows", False),
        always=section.get("always", False),
        forms=forms,
    )


def chosen(
    among: Sequence[Rule],
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    origins: tuple[str, str] = ("select", "ignore"),
) -> tuple[Rule, ...]:
    """The rules that are selected, all if `select` is empty, and not ignored: by name, code, or prefix of a code.

    `origins` name the places of the two lists, for the error about an unknown rule."""
    # A project may ignore a rule that is off by now.
    ignorable = (*among, *rules(INCUBATOR)) if ignore else ()
    for origin, wanted, known in zip(origins, (select, ignore), (among, ignorable), strict=True):
        for each in wanted:
            if not any(_is_called(rule, each) for rule in known):
                raise no_rule(each, among, f"{origin}: ")
    selected = (rule for rule in among if not select or any(_is_called(rule, each) for each in select))
    return tuple(rule for rule in selected if not any(_is_called(rule, each) for each in ignore))


def named(name: str, among: Sequence[Rule]) -> Rule:
    """The rule with this name or code. Raises `WrongUsage` if there is none."""
    for rule in among:
        if name.lower() in (rule.name.lower(), rule.code.lower()):
            return rule
    raise no_rule(name, among)


def is_prefix(name: str, among: Sequence[Rule]) -> bool:
    """Whether this is the prefix of codes, and no rule itself: `TLZ03`."""
    codes = [rule.code.lower() for rule in among]
    return name.lower() not in codes and any(code.startswith(name.lower()) for code in codes if name)


def no_rule(name: str, among: Sequence[Rule], origin: str = "") -> WrongUsage:
    """The error for the name of a rule that does not exist."""
    if any(name.lower() in (rule.name, rule.code.lower()) for rule in rules(INCUBATOR)):
        return WrongUsage(f"{origin}{name} is in the incubator: --rules {INCUBATOR.name} turns it on.")
    hint = did_you_mean(name, [known for rule in among for known in (rule.name, rule.code)])
    return WrongUsage(f'{origin}no rule "{name}".{hint or " tracealyze explain lists them."}')


def _is_called(rule: Rule, text: str) -> bool:
    return bool(text) and (rule.name == text or rule.code.startswith(text.upper()))
