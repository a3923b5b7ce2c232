"""Parsing and checking rule files. Mistakes are reported with the file, the key and the place."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from string import Formatter
from typing import Any

from tracealyze.base import toml_file, units
from tracealyze.base.errors import WrongUsage, did_you_mean
from tracealyze.findings.compiled_rules import ParsedRule, sections
from tracealyze.model import expression
from tracealyze.model.capture_input.recapture import LACKS
from tracealyze.model.expression.checks import columns_of

_TEXTS = (
    *("code", "title", "diagnosis", "table", "where", "keep", "message", "advice", "remark"),
    *("confidence", "cost", "count", "severity"),
)
_TABLES = ("at_least", "only", "except", "words", "explain")
_COUNTED_TEXTS = ("where", "message", "advice", "count")
_COUNTED_KEYS = (*_COUNTED_TEXTS, "warning", "at_least", "quoted", "short_windows", "always")
_REQUIRED = ("code", "title", "table", "message", "advice")
_OTHERS = (
    "group",
    "precedence",
    "leads",
    "upper_bounds",
    "waiting",
    "means",
    "evidence",
    "needs_window",
    "needs_durations",
    "impact",
    "counted",
    "example",
)
KEYS = (*_TEXTS, *_OTHERS, *_TABLES)
"""The keys of a rule file."""

MEANINGS = {
    "open call": "a call has not returned when the capture ends",
    "peer": "the program waits for another machine or process that does not answer",
    "spin": "the program does the same again and again",
    "ready": "a wait returns at once, because nobody takes what it reports",
    "pause": "healthy programs wait or repeat like this, too: only how long it takes matters",
    "counts": "a tracer's table has counts, and no delays",
    "exhausted": "a resource ran out, so some of the work was not done",
}
"""What a finding can mean for the verdict of a run."""

EXPLANATION = {
    "finds": "What it finds",
    "costs": "Why it costs time",
    "fine": "When it is fine",
    "do": "What to do",
    "wrong": "How to disprove it",
}
"""The parts of an explanation with their titles, in order."""

PLACEHOLDERS = {
    "subject": "pid and program",
    "program": "the last component of the program's path",
    "process": "the same with the pid, as the subject of a sentence: quota (pid 12200)",
    "call": "the call and its sub-operation",
    "times": "the number of calls: once, 297 times",
    "cost_ns": "its time on the critical path",
    "share": "that time as a share of the window",
    "busy_share": "the same of the window without idle time, where only that share reaches the threshold `busy_share`",
    "window": "the length of the window",
    "window_ns": "the same as a number",
    "has_window": "true if times are on a clock: the order of tasks is known; a condition for the parts of `[words]`",
    "whole_seconds": "the cost in seconds, if one call took a whole number of them",
    "calls_per_turn": "calls in an iteration of a loop, if there are several",
    "up_to": '"up to " if durations are upper bounds',
    "in_total": "how many calls the process makes, or the capture has, where only counts are known",
    "exact": "true unless durations are upper bounds; a condition for the parts of `[words]`",
    "even": "true unless a few of the calls of a loop take most of its time; a condition for the parts of `[words]`",
    "own_side": "before or after, if most of the time may be the program's own on that side of the call",
    "in_one_ns": "the longest call, if it has most of the time of several calls",
    "mean_ns": "the mean duration of the calls",
    **{f"again_{lack}": f"the command that captures again with {lack}, for the tracer" for lack in LACKS},
    "format": "the format of the capture",
    "again_all": "the command that captures again and lacks nothing, for the tracer",
    "again_attached": "the same for a running process",
    "took": "the time on the critical path, as the end of a sentence: `: 9.74 s, 85% of the wall time`",
}
"""What messages may name in addition to the columns of their table and the parts of `[words]`."""

# Columns of the partition that every group has, whatever its keys.
_OF_PIECES = ("capture", "exclusive_ns", "share", "calls", "first_line", "last_line", "targets", "processes", "pieces")
_COUNTED = ("whole_seconds", "calls_per_turn")
_THRESHOLDS = ("share", "total", "count", "busy_share")
_EXAMPLE: Mapping[str, type] = {
    **dict.fromkeys(("name", "format", "trace", "sched", "sample", "n_from", "step"), str),
    **dict.fromkeys(("findings", "iterations"), int),
}
_WORDS = {
    "severity": ("error", "warning", "info"),
    "confidence": ("measured", "inferred"),
    "upper_bounds": ("ignore", "info"),
}


_TOO_LARGE = 2**63

# An address, or a path below the root of the repository.
_CAPTURE = re.compile(r"https://[!-~]+|\w[\w./-]*")


def parsed_rule(content: bytes, name: str, origin: str) -> ParsedRule:
    """The rule in the content of a file, checked. `origin` is what messages call the file.

    Raises `WrongUsage` with the file, the key and the place of a mistake."""
    table = toml_file.parsed(content, origin)
    check = _Check(origin, table)
    check.keys()
    check.values()
    check.columns()
    check.messages()
    return {"name": name, "origin": origin, "table": table, "forms": check.forms()}


class _Check:
    def __init__(self, shown: str, table: Mapping[str, Any]) -> None:
        self.shown = shown
        self.table = table

    def wrong(self, key: str, problem: str) -> WrongUsage:
        """The error for a mistake in the value of a key."""
        return WrongUsage(f"{self.shown}, {key}: {problem}")

    def keys(self) -> None:
        """Check that all keys are known and that no required one is missing."""
        _must_be_known(f"{self.shown}: there is no key", self.table, KEYS)
        missing = [key for key in _REQUIRED if not self.table.get(key)]
        if missing:
            raise WrongUsage(f"{self.shown}: {', '.join(missing)} is missing.")
        known_keys = {
            "at_least": _THRESHOLDS,
            "explain": tuple(EXPLANATION),
        }
        for key, known in known_keys.items():
            if isinstance(self.table.get(key, {}), Mapping):
                _must_be_known(f"{self.shown}, {key}: there is no key", self.table.get(key, {}), known)
        for section in self._sections():
            _must_be_known(f"{self.shown}, counted: there is no key", section, _COUNTED_KEYS)

    def _sections(self) -> Sequence[Mapping[str, Any]]:
        found = sections(self.table.get("counted", []))
        if not isinstance(found, list) or not all(isinstance(section, Mapping) for section in found):
            raise self.wrong("counted", "a table is required; write [counted], or [[counted]] for each of several.")
        return found

    def values(self) -> None:
        """Check that values have the types that their keys require."""
        for key in _TEXTS:
            if not isinstance(self.table.get(key, ""), str):
                raise self.wrong(key, f'a string is required, such as {key} = "…".')
        for key in _TABLES:
            if not isinstance(self.table.get(key, {}), Mapping):
                raise self.wrong(key, f"a table is required; write [{key}].")
        if not _is_whole(self.table.get("precedence", 0)):
            raise self.wrong("precedence", "a whole number is required.")
        for key in ("leads", "needs_window", "needs_durations"):
            if type(self.table.get(key, False)) is not bool:
                raise self.wrong(key, "true or false is required.")
        self._explanation()
        self._lists()
        self._named()
        self._counted()
        self._thresholds("at_least", self.table.get("at_least", {}))
        self._examples()

    def _explanation(self) -> None:
        for key, text in self.table.get("explain", {}).items():
            if not isinstance(text, str):
                raise self.wrong(f"explain.{key}", f'a string is required, such as {key} = "…".')

    def _lists(self) -> None:
        for key in ("only", "except"):
            if not all(_is_values(values) for values in self.table.get(key, {}).values()):
                raise self.wrong(key, 'each column needs a list of values, such as class = ["sleep"].')
        if not _is_texts(self.table.get("group", [])):
            raise self.wrong("group", 'a list of columns is required, such as group = ["pid"].')
        means = self.table.get("means", [])
        if not _is_texts(means) or not set(means) <= set(MEANINGS):
            raise self.wrong("means", f"a list of some of these is required: {', '.join(MEANINGS)}.")
        evidence = self.table.get("evidence", [])
        if not _is_texts(evidence) or not all(_CAPTURE.fullmatch(each) for each in evidence):
            raise self.wrong(
                "evidence", "a list of captures is required: addresses, or paths of files in the repository."
            )
        if not _is_texts(self.table.get("waiting", [])):
            raise self.wrong("waiting", 'a list of system calls is required, such as waiting = ["fsync"].')

    def _named(self) -> None:
        if not re.fullmatch(r"[A-Z]+[0-9]+", self.table["code"]):
            raise self.wrong(
                "code", f'"{self.table["code"]}" is not a valid code; write letters and a number, such as MINE001.'
            )
        for key, known in _WORDS.items():
            value = self.table.get(key, "")
            if value != "" and value not in known:
                hint = did_you_mean(value, known) if isinstance(value, str) else ""
                raise self.wrong(key, f'"{value}" is not one of {", ".join(known)}.{hint}')

    def _counted(self) -> None:
        for section in self._sections():
            for key in _COUNTED_TEXTS:
                if not isinstance(section.get(key, ""), str):
                    raise self.wrong(f"counted.{key}", f'a string is required, such as {key} = "…".')
            if not section.get("message"):
                raise self.wrong("counted.message", "it is missing.")
            if not _is_whole(section.get("warning", 0)):
                raise self.wrong("counted.warning", "a whole number is required.")
            for key in ("short_windows", "always"):
                if type(section.get(key, False)) is not bool:
                    raise self.wrong(f"counted.{key}", "true or false is required.")
            for key in ("at_least", "quoted"):
                least = section.get(key, {})
                if not isinstance(least, Mapping):
                    raise self.wrong(f"counted.{key}", f"a table is required; write [counted.{key}].")
                self._thresholds(f"counted.{key}", least)

    def _thresholds(self, name: str, least: Mapping[str, Any]) -> None:
        for key in ("share", "count", "busy_share"):
            if not _is_number(least.get(key, 0)):
                raise self.wrong(f"{name}.{key}", "a number is required.")
        try:
            units.read_duration(least.get("total", "0s"))
        except (WrongUsage, AttributeError) as error:
            problem = str(error) if isinstance(error, WrongUsage) else 'a string is required, such as total = "100ms".'
            raise self.wrong(f"{name}.total", problem) from None

    def _examples(self) -> None:
        examples = self.table.get("example", [])
        if not isinstance(examples, list):
            raise self.wrong("example", "write [[example]].")
        for example in examples:
            if not isinstance(example, Mapping):
                raise self.wrong("example", "write [[example]].")
            _must_be_known(f"{self.shown}, example: there is no key", example, _EXAMPLE)
            if not {"name", "findings"} <= set(example) or not {"trace", "sample"} & set(example):
                raise self.wrong("example", "name, findings, and trace or sample are required.")
            for key, value in example.items():
                if type(value) is not _EXAMPLE[key]:
                    what = "a string" if _EXAMPLE[key] is str else "a whole number"
                    raise self.wrong(f"example.{key}", f"{what} is required.")

    def columns(self) -> None:
        """Check that the table has all columns that the rule names."""
        table = self.table["table"]
        try:
            known = columns_of(table)
        except WrongUsage as error:
            raise self.wrong("table", str(error)) from None
        for key in ("group", "only", "except"):
            for name in self.table.get(key, ()):
                self._must_be_column(key, name, known)
        for key, usual in (("cost", "exclusive_ns"), ("count", "calls")):
            name = self.table.get(key, usual)
            wanted = key == "cost" or "count" in self.table.get("at_least", {}) or key in self.table
            if name and wanted:
                self._must_be_column(key, name, known)
                if known[name].kind != "number":
                    raise self.wrong(key, f"{name} is {known[name].called}, but a number is required.")

    def _must_be_column(self, key: str, name: str, known: Collection[str]) -> None:
        if name not in known:
            hint = did_you_mean(name, known) or f" Columns: {', '.join(known)}."
            raise self.wrong(key, f'no column "{name}" in table {self.table["table"]}.{hint}')

    def messages(self) -> None:
        """Check that all placeholders of message, advice, diagnosis and words exist."""
        words = self.table.get("words", {})
        texts = [(key, self.table[key]) for key in ("message", "advice", "diagnosis", "remark") if key in self.table]
        for section in self._sections():
            texts += [(f"counted.{key}", section[key]) for key in ("message", "advice") if key in section]
        for name, parts in words.items():
            if not isinstance(parts, str) and not _is_texts(parts):
                raise self.wrong(f"words.{name}", "a string or a list of strings is required.")
            texts += [(f"words.{name}", part) for part in ([parts] if isinstance(parts, str) else parts)]
        for key, text in texts:
            try:
                named = [each[1:] for each in Formatter().parse(text) if each[1] is not None]
            except ValueError as error:
                raise self.wrong(key, f"{error}; write {{{{ for a brace.") from None
            for name, noun, conversion in named:
                if conversion:
                    raise self.wrong(key, f"{{{name}!{conversion}}} has a conversion; write {{{name}}}.")
                self._must_be_known(key, name or "", noun or "", words)

    def _must_be_known(self, key: str, name: str, noun: str, words: Collection[str]) -> None:
        columns = columns_of(self.table["table"])
        known = {*columns, *PLACEHOLDERS, *words}
        length = f"{name.removesuffix('share')}ns"
        if name not in known and not (name.endswith("_share") and length in columns):
            hint = did_you_mean(name, known) or f" Known: {', '.join(sorted(known))}."
            raise self.wrong(
                key, f"{{{name}}} is neither a column of table {self.table['table']} nor another known value.{hint}"
            )
        is_condition = noun == units.ONLY_IF or noun.startswith(units.ONLY_IF_EQUAL)
        counts = noun and not is_condition and name not in _COUNTED
        if counts and (name not in columns or columns[name].kind != "number"):
            raise self.wrong(key, f"{{{name}:{noun}}} needs a number, and {name} is not one.")

    def forms(self) -> dict[str, Any]:
        """The expressions of the rule, as forms for the engine and the evaluator."""
        forms: dict[str, Any] = {"impact": [self._bound(bound) for bound in self._bounds()]}
        for key in ("where", "keep"):
            if self.table.get(key):
                forms[key] = self._condition(key, self.table[key])
        wheres = [section.get("where") for section in self._sections()]
        if wheres:
            forms["counted_where"] = [where and self._condition("counted.where", where) for where in wheres]
        return forms

    def _condition(self, key: str, text: str) -> Any:
        origin = f"{self.shown}, {key}"
        found = expression.parse(text, self.table["table"], grouped=key == "keep", kind="condition", origin=origin)
        self._must_be_together(key, found.columns)
        return found.for_engine()

    def _must_be_together(self, key: str, names: Collection[str]) -> None:
        """Pieces of the partition are grouped first, and groups have no other columns than their keys."""
        group = self.table.get("group", [])
        for name in sorted(names) if group and self.table["table"] == "partition" else ():
            if name not in group and name not in _OF_PIECES:
                raise self.wrong(key, f"{name} is not in group, so groups of parts do not have it. Add it to group.")

    def _bounds(self) -> list[Any]:
        bounds = self.table.get("impact", [0.0, 1.0])
        if not isinstance(bounds, list) or len(bounds) != 2:
            raise self.wrong("impact", "two values are required, from and to, such as [0.0, 1.0].")
        return bounds

    def _bound(self, bound: object) -> object:
        if _is_number(bound) and not isinstance(bound, bool):
            return bound
        if not isinstance(bound, str):
            raise self.wrong("impact", "a fraction of the cost, such as 0.5, or an expression is required.")
        found = expression.parse(bound, self.table["table"], kind="number", origin=f"{self.shown}, impact")
        if found.unit != "ns" and bound.strip() != "0":
            raise self.wrong("impact", f'"{bound}" is not a time; write a fraction of the cost without quotes.')
        return found.for_engine()


def _must_be_known(what: str, keys: Collection[str], known: Collection[str]) -> None:
    for key in keys:
        if key not in known:
            hint = did_you_mean(key, known) or f" Known: {', '.join(known)}."
            raise WrongUsage(f'{what} "{key}".{hint}')


def _is_texts(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _is_whole(value: object) -> bool:
    return type(value) is int and abs(value) < _TOO_LARGE


def _is_number(value: object) -> bool:
    """Whether a value is a number to calculate with: TOML also has infinities and numbers of any length."""
    return isinstance(value, int | float) and abs(value) < _TOO_LARGE


def _is_values(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) or _is_number(value) for value in values)
