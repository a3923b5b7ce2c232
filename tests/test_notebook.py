"""What notebooks show: the look of the report for own elements only, without scripts, whatever a trace contains."""

from __future__ import annotations

import pickle
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from conftest import SAMPLES

import tracealyze
from tracealyze.findings.finding import FindingList

SSH = SAMPLES / "ssh-login" / "ssh-login.truss"
LOG = SAMPLES / "kernel-shutdown" / "shutdown.log"
BEFORE, AFTER = (SAMPLES / "shutdown" / f"{name}.strace.xz" for name in ("before", "after"))
HOSTILE = (
    '1 1700000{:03}.000000 openat(AT_FDCWD, "</style></td><script>alert(1)</script><img src=x onerror=a>") = 0 <0.9>\n'
)


class Page(HTMLParser):
    """The elements of a text, which must be closed in order."""

    VOID = frozenset(("rect",))

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def objects() -> dict[str, Any]:
    trace, log = tracealyze.read(SSH), tracealyze.read(LOG)
    hostile = tracealyze.read("".join(HOSTILE.format(at) for at in range(40)))
    change = tracealyze.diff(BEFORE, AFTER)
    shown = {"trace": trace, "log": log, "hostile": hostile, "diff": change, "nothing": FindingList()}
    shown |= {f"{name} of {key}": getattr(shown[key], name) for key in ("trace", "hostile") for name in TABLES}
    return shown | {
        "finding": trace.findings[0],
        "rows": trace.loops.head(3),
        "no rows": trace.loops.where("turns < 0"),
    }


TABLES = ("findings", "partition", "events", "processes", "critical_path", "loops")
OBJECTS = objects()


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_are_harmless_elements(name: str) -> None:
    page = Page(OBJECTS[name]._repr_html_())
    assert page.tags <= {
        *("b", "div", "li", "p", "rect", "span", "style", "svg", "table", "tbody", "td", "th", "thead", "tr", "ul")
    }
    assert page.attributes <= {"aria-hidden", "class", "fill", "height", "title", "viewbox", "width"}


def test_style_applies_to_own_elements_only() -> None:
    [style] = re.findall(r"<style>(.*?)</style>", OBJECTS["trace"]._repr_html_(), re.DOTALL)
    rules = re.sub(r"@media[^{]*\{((?:[^{}]*\{[^{}]*\})*[^{}]*)\}", r"\1", style)
    selectors = [each.strip() for names in re.findall(r"([^{}]+)\{[^{}]*\}", rules) for each in names.split(",")]
    assert len(selectors) > 20
    assert all(re.match(r"\.tracealyze(\s|$)", each) for each in selectors), selectors
    assert "http" not in style
    assert "@import" not in style


def test_trace_shows_the_answer_first() -> None:
    text = OBJECTS["trace"]._repr_html_()
    order = ["11.42 s wall time; could save up to 9.74 s (85%)", "hot-loop", "lines 199, 4049", "Batch the calls"]
    order += ["Where the time went", "ZFS_IOC_OBJSET_STATS</td>"]
    places = [text.index(each) for each in order]
    assert places == sorted(places)


def test_numbers_have_units_and_keep_their_exact_value() -> None:
    text = OBJECTS["partition of trace"]._repr_html_()
    assert re.search(r'<td class="n" title="97\d+">9\.74 s</td>', text)
    assert 'title="12200">12200</td>' in text
    assert "first 20 of 159 rows" in text


def test_shares_have_bars() -> None:
    partition = OBJECTS["trace"].partition
    widths = [float(width) for width in re.findall(r'<rect width="([\d.]+)"', partition._repr_html_())]
    assert widths == [round(120 * share, 1) for share in partition["share"][:20]]


def test_rows_keep_their_units_when_pickled() -> None:
    rows = OBJECTS["rows"]
    assert pickle.loads(pickle.dumps(rows))._repr_html_() == rows._repr_html_()
