"""The verdict as JUnit XML: one test case per judged metric."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from tracealyze.compare.gate.judgement import Judgement, Outcome
from tracealyze.render.gate.words import DOUBTFUL, details, headline, title

if TYPE_CHECKING:
    from tracealyze.compare.gate.verdict import Verdict

# Characters that XML 1.0 cannot represent.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def rendered(verdict: Verdict) -> str:
    """As XML."""
    has_whole = verdict.is_open or not verdict.judgements
    cases = len(verdict.judgements) + has_whole
    totals = {
        "tests": str(cases),
        "failures": str(len(verdict.of(Outcome.FAILED))),
        "errors": str(int(verdict.is_open)),
        "skipped": str(len(verdict.of(*DOUBTFUL))),
    }
    suites = ElementTree.Element("testsuites", {"name": "tracealyze", **totals, "time": "0"})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "tracealyze check", **totals, "time": "0"})
    if has_whole:
        _whole(suite, verdict)
    for judgement in verdict.judgements:
        _case(suite, judgement)
    if verdict.notes:
        ElementTree.SubElement(suite, "system-out").text = _legal("\n".join(verdict.notes))
    ElementTree.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suites, encoding="unicode")}\n'


def _whole(suite: ElementTree.Element, verdict: Verdict) -> None:
    """A case for a check without a verdict or without judged metrics: a report without cases looks like a success."""
    case = ElementTree.SubElement(suite, "testcase", {"classname": "tracealyze.check", "name": "baseline", "time": "0"})
    if verdict.is_open:
        facts = {"message": _legal(headline(verdict)), "type": str(verdict.status)}
        ElementTree.SubElement(case, "error", facts).text = _legal("\n".join(verdict.notes))


def _case(suite: ElementTree.Element, judgement: Judgement) -> None:
    facts = {"classname": f"tracealyze.{judgement.by}", "name": _legal(judgement.metric), "time": "0"}
    case = ElementTree.SubElement(suite, "testcase", facts)
    if judgement.outcome is Outcome.FAILED:
        failure = ElementTree.SubElement(
            case, "failure", {"message": _legal(title(judgement)), "type": str(judgement.by)}
        )
        failure.text = _legal("\n".join([title(judgement), *details(judgement)]))
    elif judgement.outcome in DOUBTFUL:
        message = f"{judgement.outcome}: {title(judgement)}. {judgement.why}".strip()
        ElementTree.SubElement(case, "skipped", {"message": _legal(message)})


def _legal(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
