"""A finding: what one rule reports about one place of a trace, with its cost, its evidence and advice."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.data_packages import must_have
from tracealyze.base.heuristics import (
    MIN_ERROR_IMPACT_NS,
    MIN_ERROR_IMPACT_SHARE,
    MIN_WARNING_IMPACT_NS,
    MIN_WARNING_IMPACT_SHARE,
)
from tracealyze.base.program_names import short
from tracealyze.findings.basis import Basis
from tracealyze.model.html_tables import ROWS_SHOWN, element, escaped, in_notebook

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas


class Severity(StrEnum):
    """How much a finding matters, by the time that could be freed."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


SEVERITIES = (
    (Severity.ERROR, MIN_ERROR_IMPACT_NS, MIN_ERROR_IMPACT_SHARE),
    (Severity.WARNING, MIN_WARNING_IMPACT_NS, MIN_WARNING_IMPACT_SHARE),
)
"""Each severity with the minimum impact: nanoseconds, and share of the window. Both must be reached."""

_NOT_SHOWN = ("also", "extent", "together_ns", "known_ns", "busy_share")
"""Fields that the document has under another name, or not."""
_OF_STACKS = ("function", "source", "module")
_CHANGING = re.compile(r"0x[0-9a-f]+|[0-9a-f]{8,}|\d+")


@dataclass(frozen=True, repr=False)
class Finding:
    """What one rule reports about one place of a trace.

    code, name, title          the rule: TLZ002, hot-loop, "The same calls repeat in a loop"
    severity, confidence       error, warning or info; measured, inferred or counted
    diagnosis, message         the cause in one sentence; the same with all numbers
    advice                     what to do
    impact_ns                  lower and upper bound of the time that could be saved; None if only counts are known
    share, basis               the cost as a fraction of the window, or of what `basis` names
    pid, program               the process
    syscall, op, target, calls the call, and how often it was made
    places                     file and line of the evidence
    function, source, module   the function that makes most of the calls, if the capture has stacks
    also                       names of more general rules that match here too
    """

    code: str
    name: str
    severity: Severity
    confidence: str
    """measured, inferred or counted."""
    message: str
    pid: int | None
    program: str | None
    syscall: str | None
    op: str | None
    target: str | None
    calls: int
    impact_ns: tuple[int, int] | None
    """Lower and upper bound of the path time, or elapsed time, that could be freed; None if only counts are known."""
    share: float | None
    """Cost as a fraction of the window, or of the elapsed time of the process's calls, 0 to 1; None if unknown."""
    lines: tuple[int, ...]
    """Lines of evidence."""
    advice: str
    basis: Basis = Basis.WALL
    """What the cost is a share of."""
    capture: int = 0
    """Number of the capture."""
    files: tuple[str, ...] = ()
    """The file of each line, where a capture has several; an empty text if the file is unknown."""
    also: tuple[str, ...] = ()
    """Names of more general rules that match here too."""
    title: str = ""
    """What the rule finds, in a few words."""
    diagnosis: str = ""
    """The cause in one sentence."""
    function: str | None = None
    """The function of the program that makes most of the calls, if the capture has stacks."""
    source: str | None = None
    """Source file and line in it, if the stacks have them."""
    module: str | None = None
    """The program or library that contains the function."""
    extent: tuple[tuple[str, int], ...] = ()
    """First and last lines of its parts, with their files, as in `places`. They span all of it in time."""
    tracing_ns: int = 0
    """Estimated tracing overhead within its own time, from calls that return at once. It cannot be freed."""
    known_ns: int = 0
    """A long time that its calls took at least, where nothing else in the capture has one; 0 if it is short."""
    together_ns: tuple[int, int] | None = None
    """Bounds of what all warnings and errors of its capture save together, by a replay; None if it was not replayed."""

    busy_share: float | None = None
    """Its share of the window without idle time, where that makes it a finding."""

    @property
    def places(self) -> tuple[tuple[str, int], ...]:
        """File and line of each piece of evidence; the file is empty if it is the only one or unknown."""
        return tuple(zip(self.files or ("",) * len(self.lines), self.lines, strict=True))

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits, equal for the same cause in another capture: ids, lines and times do not count."""
        from hashlib import blake2b

        from tracealyze._engine import without_random_name

        path = (self.target or "").encode(errors="surrogateescape")
        target = without_random_name(path).decode(errors="surrogateescape")
        target = _CHANGING.sub("N", target)
        identity = "\0".join((self.name, short(self.program), self.syscall or "", self.op or "", target))
        return blake2b(identity.encode(errors="surrogateescape"), digest_size=8).hexdigest()

    def __repr__(self) -> str:
        process = " ".join(
            part for part in (f"pid {self.pid}" if self.pid is not None else "", short(self.program)) if part
        )
        saving = _saving(self)
        parts = ", ".join(part for part in (str(self.severity), process, saving and f"saves {saving}") if part)
        return f"<Finding {self.code} {self.name}: {parts}>"

    def _repr_html_(self) -> str:
        return in_notebook(findings_element([self]))

    def document(self) -> dict[str, object]:
        """The finding as it appears in JSON."""
        members = {item.name: getattr(self, item.name) for item in fields(self) if item.name not in _NOT_SHOWN}
        # Only captures with stacks have these.
        members = {name: value for name, value in members.items() if name not in _OF_STACKS or value is not None}
        return members | {"fingerprint": self.fingerprint, "also_matches": list(self.also)}


class FindingList(list[Finding]):
    """Findings: a list that a notebook shows with costs, lines and advice."""

    def to_pandas(self) -> pandas.DataFrame:
        """One row per finding, with the members of the JSON document."""
        must_have("pandas")
        import pandas

        columns = [item.name for item in fields(Finding) if item.name not in _NOT_SHOWN] + [
            "fingerprint",
            "also_matches",
        ]
        return pandas.DataFrame([finding.document() for finding in self], columns=columns)

    def _repr_html_(self) -> str:
        return in_notebook(findings_element(self))


def _saving(finding: Finding) -> str:
    return f"up to {units.duration(finding.impact_ns[1])}" if finding.impact_ns and finding.impact_ns[1] else ""


def findings_element(findings: Sequence[Finding], most: int = ROWS_SHOWN) -> str:
    """The first findings as a list: what was found, what it costs, the lines that prove it, and what to do."""
    if not findings:
        return element("p", "No findings.", class_="remark")
    items = "".join(_item(number, finding) for number, finding in enumerate(findings[:most], 1))
    more = element("p", f"{len(findings) - most} more findings", class_="remark") if len(findings) > most else ""
    return f'<ul class="causes">\n{items}</ul>\n{more}'


def _item(number: int, finding: Finding) -> str:
    severity, saving = escaped(finding.severity), _saving(finding)
    lines = f"; line{'s' if len(finding.lines) > 1 else ''} {_listed(finding.lines)}" if finding.lines else ""
    return (
        f'<li><span class="badge {severity}">{number}</span>\n<span class="answer">'
        f'<b class="{severity}">{severity}</b> <b>{escaped(finding.name)}</b> ({escaped(finding.code)}): '
        f"{escaped(finding.diagnosis or finding.message)}</span>\n"
        + element("span", f"saves {saving}" if saving else "", class_="worth")
        + element("p", f"{finding.message}{lines}", class_="remark")
        + element("p", finding.advice, class_="advice")
        + "</li>\n"
    )


def _listed(lines: Sequence[int]) -> str:
    return ", ".join(map(str, lines))


def severity(impact_ns: int, share: float) -> Severity:
    """The severity of an impact that is this share of the window."""
    for name, min_ns, min_share in SEVERITIES:
        if impact_ns >= min_ns and share >= min_share:
            return name
    return Severity.INFO
