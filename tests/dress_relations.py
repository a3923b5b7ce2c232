"""What must hold between the answers about one incident in different dresses, and the incidents.

    accuses   taking information away accuses no rule that the whole capture does not name, unless that is a more
              general one for time that the whole capture accuses, too
    severity  it makes nothing more severe
    promise   it promises no larger saving
    verdict   it does not say that a run went worse
    shows     what counts, errors or order alone show, a clock, durations or another tracer do not hide
    same      other process ids, a later clock, files per thread, compression and standard input change nothing

`python tests/dress_relations.py` tries all dresses of all incidents, and prints how many relations fail, by kind.

When they were tried first, with one dress of each of 585 incidents, 28 of 585 dresses accused a rule that the whole
capture does not name (18 of them that the capture is lossy), 2 were more severe, 1 promised more, 17 had a worse
verdict; 15 of 158 facts that counts show were not shown, and 31 of 2,047 readings of the same differed.
"""

from __future__ import annotations

import gzip
import json
import lzma
import os
import re
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache, cached_property
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import dresses
import renderings
from dresses import Dress
from rule_cases import CASES, KEPT

import tracealyze
from tracealyze import _engine
from tracealyze.base.errors import TracealyzeError
from tracealyze.findings.compiled_rules import PACKAGED
from tracealyze.findings.finding import Severity
from tracealyze.findings.rule_set import parsed_rules, rules
from tracealyze.model.engine_errors import translated
from tracealyze.trace.outcome import Verdict

HERE = Path(__file__).parent
_KEY = bytes(range(16))
_STAMPED = re.compile(r"^(?:\[pid +\d+\] |\d+ +)?(\d{9,10}\.\d{3,9}) \S", re.MULTILINE)
_DURATION = re.compile(r" <\d+\.\d+>$", re.MULTILINE)
_STRACE = re.compile(r"^(?:\[pid +\d+\] |\d+ +)?(?:\d{9,10}\.\d+ )?\w+\(.*\)\s+= ", re.MULTILINE)
_MAX_LINES = 20_000
_MAX_OVERLAP_US = 100
_PRECEDENCE = {rule.name: rule.precedence for rule in rules()}
_RANK = {Severity.INFO: 0, Severity.WARNING: 1, Severity.ERROR: 2}
_BAD = (Verdict.FAILED, Verdict.CRASHED, Verdict.HUNG, Verdict.BUSY, Verdict.SLOW)
_STATUS = re.compile(r"exited with status \d+")
_MAX_RATIO, _TOLERANCE_NS = 1.1, 20_000_000


@dataclass(frozen=True)
class Incident:
    """A capture with a cause, or without one."""

    name: str
    text: str = field(repr=False, hash=False, compare=False)
    is_kept_rule: bool = False

    @cached_property
    def is_strace(self) -> bool:
        """Whether it is text of strace."""
        return len(_STRACE.findall(self.text)) * 2 > self.text.count("\n") or self.is_kept_rule

    @cached_property
    def has_clock(self) -> bool:
        """Whether most lines have a timestamp of `-ttt`, and none an earlier one than the line before."""
        stamps = _STAMPED.findall(self.text) if self.is_strace else []
        return len(stamps) * 2 > self.text.count("\n") and all(one <= next_ for one, next_ in pairwise(stamps))

    @cached_property
    def has_durations(self) -> bool:
        """Whether lines have the durations of `-T`."""
        return self.is_strace and bool(_DURATION.search(self.text))

    def dresses(self) -> list[Dress]:
        """What it can wear."""
        found = dresses.all_dresses(
            has_clock=self.has_clock, has_durations=self.has_durations, can_render=self.can_render
        )
        return [each for each in found if each != self.whole]

    @cached_property
    def can_render(self) -> bool:
        """Whether other formats can show it: times are known, and no task is in two calls at once."""
        if not (self.has_clock and self.has_durations):
            return False
        last_us: dict[int, int] = {}
        for call in sorted(renderings.story(self.text).calls, key=lambda each: each.start_us):
            if call.start_us + _MAX_OVERLAP_US < last_us.get(call.pid, 0):
                return False
            last_us[call.pid] = call.end_us
        return True

    @cached_property
    def whole(self) -> Dress:
        """As it is."""
        return Dress(clock="ttt" if self.has_clock else "none", durations=self.has_durations)


def incidents() -> dict[str, Incident]:
    """The incidents by name: kept captures, excerpts, outcomes, and the examples of rules."""
    return {incident.name: incident for incident in (*_kept(), *_excerpts(), *_outcomes(), *_examples(), *_samples())}


def _kept() -> Iterator[Incident]:
    for case in CASES:
        if case.capture.is_relative_to(KEPT) and case.is_text:
            text = lzma.decompress(case.capture.read_bytes()).decode(errors="surrogateescape")
            yield Incident(f"kept/{case.name}", text, is_kept_rule=True)


def _excerpts() -> Iterator[Incident]:
    for file in sorted((HERE / "kept_excerpts").glob("*.txt")):
        yield Incident(f"excerpt/{file.stem}", file.read_text(encoding="utf-8", errors="surrogateescape"))


def _outcomes() -> Iterator[Incident]:
    cases = tomllib.loads((HERE / "outcomes" / "cases.toml").read_text(encoding="utf-8"))
    for name, case in cases.items():
        yield Incident(f"outcome/{name}", case["trace"].removeprefix("\n"))


def _examples() -> Iterator[Incident]:
    for rule in parsed_rules(PACKAGED):
        for number, example in enumerate(rule.examples, 1):
            if example.trace and not example.sched:
                yield Incident(f"example/{rule.name}/{number}", example.text)


def _samples() -> Iterator[Incident]:
    for name in ("shutdown/after.strace.xz", "boot-devices/boot-20.strace.xz", "ssh-login/excerpt.txt"):
        file = HERE.parent / "samples" / name
        content = file.read_bytes()
        text = (lzma.decompress(content) if file.suffix == ".xz" else content).decode(errors="surrogateescape")
        yield Incident(f"sample/{name}", text)


@dataclass(frozen=True)
class Answer:
    """What is said about a capture."""

    severities: Mapping[str, Severity]
    """By rule: the highest one of findings that name it."""
    promises_ns: Mapping[str, int]
    """By rule: the largest saving of findings that name it."""
    own: frozenset[str]
    """Rules that have findings of their own."""
    verdict: Verdict
    texts: tuple[str, ...]
    """All sentences."""
    facts: tuple[tuple[str, str, str], ...]
    """What counts show: kind, call, and target or error."""
    line: int
    """A line that shows the cause."""

    @property
    def accused(self) -> set[str]:
        """Rules whose own findings are warnings or errors."""
        return {name for name in self.own if self.severities[name] is not Severity.INFO}


_UNREADABLE = Answer({}, {}, frozenset(), Verdict.CANNOT_TELL, ("",), (), 1)


class Wardrobe:
    """Reads incidents in dresses. Answers are kept as long as the same incident is asked about."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.of = ""
        self.answers: dict[str, Answer] = {}
        self.redactor = _engine.Redactor(_KEY)

    def answer(self, incident: Incident, dress: Dress) -> Answer:
        """What is said about an incident in a dress."""
        if incident.name != self.of:
            self.of, self.answers = incident.name, {}
        key = str(dress)
        if key not in self.answers:
            whole = incident.whole
            line = 1 if dress == whole or dress.cut == "whole" else self.answer(incident, whole).line
            text = dresses.dressed(incident.text, dress, line)
            self.answers[key] = self.read(text, redacted=dress.redacted)
        return self.answers[key]

    def read(self, text: str, *, redacted: bool = False) -> Answer:
        """What is said about a text."""
        file = self.folder / "capture"
        file.write_text(text, encoding="utf-8", errors="surrogateescape")
        try:
            if redacted:
                copy = self.folder / "redacted"
                with copy.open("wb") as stream:
                    translated(lambda: self.redactor.copy(str(file), lambda piece, _: stream.write(piece)))
                file = copy
            return answer_of(tracealyze.read(file))
        except TracealyzeError:
            return _UNREADABLE


def answer_of(trace: tracealyze.Trace) -> Answer:
    """What is said about a trace."""
    summary = trace.summary()
    severities: dict[str, Severity] = {}
    promises_ns: dict[str, int] = {}
    for finding in summary.findings:
        for name in (finding.name, *finding.also):
            severities[name] = max(severities.get(name, Severity.INFO), finding.severity, key=_RANK.__getitem__)
            promise_ns = finding.impact_ns[1] if finding.impact_ns else 0
            promises_ns[name] = max(promises_ns.get(name, 0), promise_ns)
    outcome = summary.outcome
    texts = [
        *(
            part
            for each in summary.findings
            for part in (each.message, each.diagnosis, f"{each.syscall} {each.target}")
        ),
        *(each.text for each in summary.observations),
        *(each.text for each in summary.diagnosis),
        str(outcome.document()["text"]),
    ]
    lines = [each.lines[0] for each in summary.findings if each.lines and each.severity is not Severity.INFO]
    lines += [*outcome.lines[:1], *(each.lines[0] for each in summary.findings if each.lines)]
    return Answer(
        severities,
        promises_ns,
        frozenset(each.name for each in summary.findings),
        outcome.verdict,
        tuple(texts),
        tuple(_facts(trace, summary)),
        lines[0] if lines else max(1, trace.captures[0].lines // 2),
    )


def _facts(trace: tracealyze.Trace, summary: Any) -> Iterator[tuple[str, str, str]]:
    """What counts alone show: findings by counts and observations, with the call and the target that they name."""
    for finding in summary.findings:
        if finding.basis == "counts" and finding.syscall:
            yield f"finding {finding.name}", finding.syscall, finding.target or ""
    observed = [each for each in summary.observations if each.kind in ("error", "limit", "repeats")]
    if not observed:
        return
    calls = {row["syscall"] for row in trace.calls(["syscall"]) if row["syscall"]}
    targets = {row["target"] for row in trace.calls(["target"]) if row["target"] and len(row["target"]) > 3}
    for each in observed:
        words = dict.fromkeys(word for word in re.findall(r"\w+", each.text) if word in calls)
        named = [target for target in targets if target in each.text]
        if words:
            yield f"observation {each.kind}", " ".join(words), max(named, key=len, default="")


@dataclass(frozen=True)
class Tried:
    """A relation that was tried."""

    relation: str
    incident: str
    dress: str
    kind: str = ""
    """The rule, the kind of a fact or the verdict that it fails for; empty if it holds."""
    detail: str = ""

    @property
    def holds(self) -> bool:
        """Whether it holds."""
        return not self.kind


def tried(wardrobe: Wardrobe, incident: Incident, dress: Dress) -> Iterator[Tried]:
    """The relations between a dress and the whole capture, and that without a clock."""
    whole, found = (wardrobe.answer(incident, each) for each in (incident.whole, dress))
    yield from _less(whole, found, incident, dress)
    if not dress.redacted and (dress.format == "strace" or dress.cut == "whole"):
        bare = Dress(clock="none", durations=False, cut=dress.cut)
        if dress != bare:
            yield from _shows(wardrobe.answer(incident, bare), found, incident, dress)


def _less(whole: Answer, found: Answer, incident: Incident, dress: Dress) -> Iterator[Tried]:
    at = (incident.name, str(dress))
    new = sorted(name for name in found.accused - set(whole.severities) if not _is_general(name, whole, found))
    yield Tried("accuses", *at)
    yield from (Tried("accuses", *at, name) for name in new)
    yield Tried("severity", *at)
    yield Tried("promise", *at)
    for name in found.own & set(whole.severities):
        if _RANK[found.severities[name]] > _RANK[whole.severities[name]]:
            yield Tried("severity", *at, name, f"{whole.severities[name]} -> {found.severities[name]}")
        if found.promises_ns[name] > _limit_ns(whole.promises_ns[name]) and found.severities[name] is not Severity.INFO:
            yield Tried("promise", *at, name, f"{whole.promises_ns[name] / 1e9} -> {found.promises_ns[name] / 1e9} s")
    yield Tried("verdict", *at)
    # What takes time is busy where no time is known.
    is_less = (whole.verdict is Verdict.SLOW and found.verdict is Verdict.BUSY) or _says_so(whole, found)
    if found.verdict in _BAD and found.verdict is not whole.verdict and not is_less:
        yield Tried("verdict", *at, f"{whole.verdict} -> {found.verdict}", found.texts[-1])


def _is_general(name: str, whole: Answer, found: Answer) -> bool:
    """Whether a rule only says less of time that a more specific one has in the whole capture."""
    return any(
        _PRECEDENCE[name] < _PRECEDENCE[other] and found.promises_ns[name] <= _limit_ns(whole.promises_ns[other])
        for other in whole.accused
    )


def _limit_ns(promise_ns: int) -> float:
    return promise_ns * _MAX_RATIO + _TOLERANCE_NS


def _says_so(whole: Answer, found: Answer) -> bool:
    """Whether the whole capture is said to have failed, too, although something else matters more there."""
    said = _STATUS.search(found.texts[-1])
    return found.verdict is Verdict.FAILED and said is not None and said[0] in whole.texts[-1]


def _shows(bare: Answer, found: Answer, incident: Incident, dress: Dress) -> Iterator[Tried]:
    names = _NAMES.get(dress.format, {})
    for kind, calls, target in dict.fromkeys(bare.facts):
        at = ("shows", incident.name, str(dress))
        yield Tried(*at)
        words = {name for call in calls.split() for name in (call, names.get(call, call))}
        # Other systems print fewer targets, and of many targets any may be named.
        is_shown = any(
            words & set(re.findall(r"\w+", text))
            and (target in text or dress.format != "strace" or "different targets" in text)
            for text in found.texts
        )
        if not is_shown:
            yield Tried(*at, kind, f"{calls} {target}")


_NAMES = {
    "solaris-truss": renderings.SOLARIS_NAMES,
    "freebsd-truss": renderings.FREEBSD_NAMES,
    "kdump": renderings.FREEBSD_NAMES,
    **{name: renderings.MACOS_NAMES for name in dresses.FORMATS if name.startswith("dtruss")},
}

_PARTS = ("outcome", "observations", "diagnosis", "findings")
_LINES = re.compile(r"(?:,? ?\(lines? [\d, ]+\)| (?:from|before|at|after|in) lines? [\d,]+| lines? [\d,]+)")


def same(wardrobe: Wardrobe, incident: Incident) -> Iterator[Tried]:
    """The relations between an incident and what is the same but for names."""
    folder, text = wardrobe.folder, incident.text
    plain = folder / "capture"
    plain.write_text(text, encoding="utf-8", errors="surrogateescape")
    expected = _document(plain)
    packed = folder / "capture.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    yield _compared("gz", incident, expected, _document(packed))
    with _as_stdin(plain):
        yield _compared("stdin", incident, expected, _document("-"))
    if not incident.is_strace:
        return
    pids = dresses.renumbered(text)
    if pids != text:
        plain.write_text(pids, encoding="utf-8", errors="surrogateescape")
        yield _compared("pids", incident, expected, dresses.original_pids(_document(plain), dresses.pids_of(text)))
    if incident.has_clock:
        plain.write_text(dresses.shifted(text), encoding="utf-8", errors="surrogateescape")
        yield _compared("clock", incident, expected, _document(plain))
        files = dresses.per_thread(text) if dresses.has_ids(text) else {}
        if len(files) > 1:
            with tempfile.TemporaryDirectory(dir=folder) as split:
                for pid, lines in files.items():
                    (Path(split) / f"capture.{pid}").write_text(lines, encoding="utf-8", errors="surrogateescape")
                yield _compared("ff", incident, _without_lines(expected), _without_lines(_document(split)))


@contextmanager
def _as_stdin(file: Path) -> Iterator[None]:
    before = os.dup(0)
    with file.open("rb") as stream:
        os.dup2(stream.fileno(), 0)
    try:
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)


def _document(capture: Path | str) -> str:
    try:
        document = tracealyze.read(capture).summary().document()
    except TracealyzeError as error:
        return f"{type(error).__name__}"
    text = json.dumps({part: document[part] for part in _PARTS}, indent=1, default=str)
    return text.replace(str(capture), "FILE") if isinstance(capture, Path) else text


def _without_lines(document: str) -> str:
    """Without the numbers of lines, which files per thread have of their own."""
    try:
        parts = json.loads(document)
    except ValueError:
        return document
    for each in (parts["outcome"], *parts["observations"], *parts["findings"]):
        for key in ("lines", "files", "file"):
            each.pop(key, None)
    return _LINES.sub("", json.dumps(parts, indent=1))


def _compared(how: str, incident: Incident, expected: str, found: str) -> Tried:
    if expected == found:
        return Tried("same", incident.name, how)
    pairs = zip(expected.splitlines(), found.splitlines(), strict=False)
    first = next(((old, new) for old, new in pairs if old != new), ("", "more or fewer lines"))
    return Tried("same", incident.name, how, how, f"{first[0].strip()[:300]} | {first[1].strip()[:300]}")


@dataclass(frozen=True)
class Excuse:
    """Why a relation need not hold."""

    relation: str
    reason: str
    kind: str = "*"
    incident: str = "*"
    dress: str | list[str] = "*"

    def covers(self, failed: Tried) -> bool:
        """Whether it is about this failure."""
        patterns = (self.relation, self.kind, self.incident)
        values = (failed.relation, failed.kind, failed.incident)
        dresses = [self.dress] if isinstance(self.dress, str) else self.dress
        return all(map(fnmatchcase, values, patterns)) and any(fnmatchcase(failed.dress, each) for each in dresses)


@cache
def excuses() -> list[Excuse]:
    """The exceptions."""
    table = tomllib.loads((HERE / "dresses.toml").read_text(encoding="utf-8"))
    return [Excuse(**each) for each in table["exception"]]


def unexcused(relations: Iterator[Tried]) -> list[Tried]:
    """Those that fail without an excuse."""
    return [each for each in relations if not each.holds and not any(excuse.covers(each) for excuse in excuses())]


def chosen(incident: Incident, number: int) -> list[Dress]:
    """Some dresses of an incident; fewer for long captures."""
    if incident.text.count("\n") > _MAX_LINES:
        number = 1
    return dresses.pairwise(incident.dresses(), incident.name, number)


def main() -> None:
    """Try all dresses, or so many of each incident, and print failures by kind."""
    number, pattern = (int(sys.argv[1]) if len(sys.argv) > 1 else 0), (sys.argv[2] if len(sys.argv) > 2 else "*")
    all_tried: Counter[str] = Counter()
    failed: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        wardrobe = Wardrobe(Path(folder))
        for incident in sorted(incidents().values(), key=lambda each: sha256(each.name.encode()).digest()):
            if not fnmatchcase(incident.name, pattern):
                continue
            wanted = chosen(incident, number) if number else incident.dresses()
            for each in [*(t for dress in wanted for t in tried(wardrobe, incident, dress)), *same(wardrobe, incident)]:
                if each.holds or each.relation == "same":
                    all_tried[each.relation] += 1
                if not each.holds:
                    failed[each.relation, each.kind] += 1
                    print(f"{each.relation}\t{each.kind}\t{each.incident}\t{each.dress}\t{each.detail}")
    print("tried", dict(all_tried))
    for (relation, kind), times in sorted(failed.items(), key=lambda item: (item[0][0], -item[1])):
        print(f"{times:6} {relation} {kind}")


if __name__ == "__main__":
    main()
