"""The data of a page: one JSON document, and sections of compressed columns that it lists.

`tests/schemas/report.json` is the contract. A section is the base64 form of a raw deflate stream of variable-length
integers (LEB128), column by column. Columns whose names begin with `d_` are differences with a sign (zigzag).
"""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zlib import crc32

from tracealyze.base.sanitize import shown
from tracealyze.findings.grouping import is_about_capture
from tracealyze.model.time_names import CLASSES
from tracealyze.render.picture.looks import LOOKS, known
from tracealyze.render.picture.stretches import MAX_LINES, stretches_of
from tracealyze.render.top_calls import numbers_of_calls
from tracealyze.render.viewer.icicle import icicle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tracealyze.findings.finding import Finding
    from tracealyze.trace.trace import Trace

SCHEMA = "tracealyze.report/1"

_LANE_TITLES = {"child": "blocked on a child", "gap": "silence, or lines left out", "external": "outside the capture"}
"""Classes that mean less in a lane than on the critical path: the path continues in the child that a task waits for."""
MAX_FINDINGS = 200
_MAX_CHARACTERS = 400
_MAX_NUMBERS = 100
"""Names of calls with their numbers, where not all calls are drawn: a search counts all that the report does."""
_CAPTURE_BYTES = 8_000
"""Bytes of the description of a capture in the document, and of the elements of its sections."""


@dataclass(frozen=True)
class Section:
    """A data block of the page: a script element that no browser runs."""

    id: str
    media_type: str
    text: str
    """Without `<`, so that it cannot end its element."""

    def html(self) -> str:
        """The element."""
        return f'<script type="{self.media_type}" id="{self.id}">{self.text}</script>\n'


def data_sections(
    trace: Trace,
    budget_bytes: int,
    articles: Mapping[str, Finding] | None = None,
    prefix: str = "tz",
    scale_ns: int | None = None,
    label: str = "",
) -> list[Section]:
    """The sections of all windows of a trace, in at most `budget_bytes` of HTML; empty if there is no window.

    `articles` are the findings that the page describes, by the ids of their elements. On a page with several captures,
    `prefix` keeps the ids of sections apart, `scale_ns` is the time that the width of all timelines stands for, and
    `label` is what the page calls the capture."""
    if not trace.window.wall_ns:
        return []
    about: dict[str, Any] = {
        "schema": SCHEMA,
        **({"scale_ns": scale_ns} if scale_ns else {}),
        **({"label": shown(label)} if label else {}),
        "classes": [],
        "captures": [],
        "findings": _findings(trace, trace.findings[:MAX_FINDINGS], articles or {}),
        "findings_total": len(trace.findings),
        "icicle": icicle(trace),
    }
    windows = [each for each in trace.windows if each.wall_ns]
    left = max(0, budget_bytes - len(_json(about)) - _CAPTURE_BYTES * len(windows))
    # Base64 has four characters for three bytes.
    pictures = trace.pictures(left * 3 // 4 // len(windows))
    sections: list[Section] = []
    for window, picture in zip(trace.windows, pictures, strict=True):
        if picture is not None and window.capture is not None:
            about["classes"] = _classes(picture["classes"])
            about["captures"].append(_capture(trace, window.capture, picture, prefix))
            sections += _blocks(window.capture, picture, prefix)
    return [Section(f"{prefix}-meta", "application/json", _json(about)), *sections]


def _capture(trace: Trace, number: int, picture: dict[str, Any], prefix: str) -> dict[str, Any]:
    known = trace.capture_of(number)
    members = ("name", "rows", "columns", "raw_bytes")
    limits = picture["limits"]
    is_whole = limits["exact_calls"] == limits["calls"] or len(trace.captures) > 1
    numbers = {} if is_whole else dict(list(numbers_of_calls(trace).items())[:_MAX_NUMBERS])
    return {
        "capture": number,
        "name": shown(known.path if known else ""),
        "tick_ns": known.tick_ns if known else 0,
        "offset_ns": max(picture["limits"]["start_ns"] - ((known and known.first_ns) or 0), 0),
        "limits": limits,
        **({"calls": [[_text(name), count] for name, count in numbers.items()]} if numbers else {}),
        "folded_ns": picture["folded_ns"],
        "wake_kinds": picture["wake_kinds"],
        "confidences": picture["confidences"],
        "sections": [
            {name: each[name] for name in members}
            | {"id": _id(prefix, number, each["name"]), "codec": "deflate-raw", "crc32": crc32(each["bytes"])}
            for each in picture["sections"]
        ],
    }


def _classes(names: Sequence[str]) -> list[dict[str, str]]:
    classes = []
    for name in names:
        look, title = LOOKS[known(name)], CLASSES.get(name, name)
        titles = {"title": title, "lane_title": _LANE_TITLES.get(name, title)}
        classes.append({"name": name, **titles, "letter": look.letter, "color": look.color, "hatch": look.hatch})
    return classes


def _id(prefix: str, number: int, name: str) -> str:
    return f"{prefix}-{number}-{name}"


def _blocks(number: int, picture: dict[str, Any], prefix: str) -> list[Section]:
    return [
        Section(_id(prefix, number, each["name"]), "application/octet-stream;base64", b64encode(each["bytes"]).decode())
        for each in picture["sections"]
    ]


def _findings(trace: Trace, findings: Sequence[Finding], articles: Mapping[str, Finding]) -> list[dict[str, Any]]:
    """Findings with the stretches that their evidence spans, by task."""
    return [
        {
            "code": each.code,
            "name": each.name,
            "severity": str(each.severity),
            "confidence": each.confidence,
            "title": _text(each.diagnosis or each.title or each.message),
            "impact_ns": each.impact_ns,
            "capture": each.capture,
            "pid": each.pid,
            "lines": each.lines[:MAX_LINES],
            "article": next((ident for ident, finding in articles.items() if finding == each), None),
            "stretches": [] if is_about_capture(trace, each) else stretches_of(trace, each),
        }
        for each in findings
    ]


def _text(text: str) -> str:
    whole = shown(text)
    return whole if len(whole) <= _MAX_CHARACTERS else f"{whole[:_MAX_CHARACTERS]}…"


def _json(value: object) -> str:
    """JSON that cannot end a script element, in ASCII."""
    return json.dumps(value, separators=(",", ":"), default=list).replace("<", "\\u003c")
