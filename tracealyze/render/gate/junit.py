"""The verdict as JUnit XML: one test case per regression, per budget that holds and per reason for a remark.

One more case stands for the other metrics. Systems that show reports keep the history of a
case by its name, so names contain no numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from tracealyze.base import units
from tracealyze.compare.gate.judgement import By, Judgement, Outcome
from tracealyze.render.gate.words import DOUBTFUL, body, by_reason, headline, title

if TYPE_CHECKING:
    from tracealyze.compare.gate.regressions import Regression
    from tracealyze.compare.gate.verdict import Verdict

# Characters that XML 1.0 cannot represent.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def rendered(verdict: Verdict) -> str:
    """As XML."""
    suites = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(suites, "testsuite")
    _whole(suite, verdict)
    for regression in verdict.regressions:
        _failure(suite, regression)
    for why, group in by_reason(verdict.of(*DOUBTFUL)).items():
        _remarks(suite, why, group)
    for judgement in verdict.of(Outcome.PASSED, Outcome.IMPROVED):
        if judgement.by is By.BUDGET:
            _case(suite, str(By.BUDGET), judgement.metric)
    if verdict.notes:
        ElementTree.SubElement(suite, "system-out").text = _legal("\n".join(verdict.notes))
    kinds = {"tests": "testcase", "failures": "testcase/failure", "errors": "testcase/error"}
    kinds["skipped"] = "testcase/skipped"
    totals = {name: str(len(suite.findall(path))) for name, path in kinds.items()}
    for element, name in ((suites, "tracealyze"), (suite, "tracealyze check")):
        element.attrib.update({"name": name, **totals, "time": "0"})
    ElementTree.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suites, encoding="unicode")}\n'


def _whole(suite: ElementTree.Element, verdict: Verdict) -> None:
    """A case for the check as a whole, with the metrics that hold. Without a verdict, it is an error."""
    case = _case(suite, "check", "baseline")
    if verdict.is_open:
        facts = {"message": _legal(headline(verdict)), "type": str(verdict.status)}
        ElementTree.SubElement(case, "error", facts).text = _legal("\n".join(verdict.notes))
        return
    passed = [each for each in verdict.of(Outcome.PASSED, Outcome.IMPROVED) if each.by is not By.BUDGET]
    lines = [f"{units.counted(len(passed), 'metric')} within the limits", *(title(each) for each in passed)]
    ElementTree.SubElement(case, "system-out").text = _legal("\n".join(lines))


def _failure(suite: ElementTree.Element, regression: Regression) -> None:
    lead = regression.lead
    case = _case(suite, str(lead.by), lead.key.partition(":")[2] if lead.fingerprint else lead.metric)
    facts = {"message": _legal(regression.title), "type": str(lead.by)}
    metrics = ["", "metrics:", *(title(each) for each in regression.judgements)]
    text = [regression.title, *body(regression), *metrics]
    ElementTree.SubElement(case, "failure", facts).text = _legal("\n".join(text))


def _remarks(suite: ElementTree.Element, why: str, group: Sequence[Judgement]) -> None:
    case = _case(suite, "remark", "; ".join(dict.fromkeys(each.metric for each in group)))
    message = f"{why}: {'; '.join(title(each) for each in group)}"
    ElementTree.SubElement(case, "skipped", {"message": _legal(message)})


def _case(suite: ElementTree.Element, kind: str, name: str) -> ElementTree.Element:
    facts = {"classname": f"tracealyze.{kind}", "name": _legal(name), "time": "0"}
    return ElementTree.SubElement(suite, "testcase", facts)


def _legal(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
