"""Pages of `report`: complete without scripts and network, with the numbers of `summarize`, whatever a trace says."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import ROOT, SAMPLES, Run, captures_of_samples

import tracealyze
from tracealyze.base import units
from tracealyze.findings.grouping import grouped
from tracealyze.render import finding_block
from tracealyze.render.page import document, markup, sections
from tracealyze.render.picture.boot_chart import boot_chart
from tracealyze.render.picture.lanes import MAX_LANES, lanes
from tracealyze.render.report import headline
from tracealyze.render.viewer import bundle

SSH = SAMPLES / "ssh-login" / "ssh-login.truss"
SHUTDOWN = [SAMPLES / "shutdown" / f"{name}.strace.xz" for name in ("before", "after", "parallel")]
HOSTILE = [
    "</svg><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\\\"'><style>*{display:none}</style>",
    "\\33[2J\\0\\342\\200\\256evil",
    "]]>--><!--",
    "x" * 65_536,
]
VOID = {"meta", "br", "img", "link", "rect", "path", "circle", "input"}
ELEMENTS = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "section", "article", "footer", "figure"),
    *("figcaption", "h1", "h2", "h3", "p", "ul", "li", "dl", "dt", "dd", "pre", "div", "span"),
    *("table", "thead", "tbody", "tr", "th", "td", "svg", "g", "defs", "pattern", "path", "rect"),
    *("circle", "text", "a", "script", "strong", "input", "label"),
}


class Outline(HTMLParser):
    """The elements of a page, its attributes, and its text. Fails where elements are not nested."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["script"]:
            self.scripts.append(data)
        elif self.open[-1:] != ["style"]:
            self.texts.append(data)


def page_of(capture: Path) -> str:
    trace = tracealyze.read(capture)
    return document.of_captures([(trace, trace.summary())], 20)


def checked(page: str) -> Outline:
    """The outline of a page that loads nothing, runs nothing, and has only known elements."""
    outline = Outline(page)
    assert outline.elements <= ELEMENTS
    names = {name for name, _ in outline.attributes}
    assert not {name for name in names if name.startswith("on")} | (names & {"src", "action", "style"})
    # Links lead to places of the page.
    targets = {value for name, value in outline.attributes if name == "href"}
    assert targets <= {f"#{value}" for name, value in outline.attributes if name == "id"}
    # Names of namespaces, which nothing loads; those of the viewer come with its library.
    namespaces = {f"http://www.w3.org/{name}" for name in ("2000/svg", "1999/xhtml", "1998/Math/MathML")}
    assert set(re.findall(r'https?://[^"\s<]+', page.split("<body>")[1])) <= namespaces
    idents = [value for name, value in outline.attributes if name == "id"]
    assert len(idents) == len(set(idents))
    return outline


@pytest.mark.parametrize("capture", captures_of_samples(), ids=lambda path: path.name)
def test_pages_of_samples_are_complete(capture: Path) -> None:
    trace = tracealyze.read(capture)
    summary = trace.summary()
    page = document.of_captures([(trace, summary)], 20)
    text = "".join(checked(page).texts)
    assert headline(trace, summary) in text
    for sentence in summary.diagnosis:
        assert sentence.text in text
    for finding in summary.findings[:3]:
        assert finding.message in text
    assert len(page.encode()) <= 300_000
    assert page == page_of(capture)


@pytest.mark.parametrize("capture", captures_of_samples(), ids=lambda path: path.name)
def test_headline_cards_and_badges_agree(capture: Path) -> None:
    """A headline of 76% was above a card of 285 ms, one without a saving above cards with one; badge 2 came first."""
    trace = tracealyze.read(capture)
    summary = trace.summary()
    causes = page_of(capture).partition('<ul class="causes">')[2].partition("</ul>")[0]
    badges = [int(number) for number in re.findall(r'<a class="badge[^>]*>(\d+)</a>', causes)]
    assert badges == sorted(badges)
    assert badges[:1] in ([], [1])
    has_saving = "could save" in headline(trace, summary)
    assert has_saving or "saves" not in causes
    low_ns, high_ns = summary.saving_ns
    groups = [group for group in grouped(summary.findings) if finding_block.saving(trace, group)]
    assert has_saving == bool(high_ns) == bool(groups)
    assert low_ns <= high_ns <= summary.window.wall_ns
    # All cards together promise what the headline does, unless it is limited to what is left without the tracer.
    promised = [sum(group.impact_ns[end] for group in groups) for end in (0, 1)]
    assert low_ns <= promised[0]
    assert high_ns <= promised[1]
    assert summary.untraced or [low_ns, high_ns] == promised


def test_tracing_is_said_first_where_it_is_most_of_the_time(run: Run) -> None:
    """That 80% of the time was tracing stood below causes that were nothing else."""
    capture = SAMPLES / "boot-devices" / "boot-40.strace.xz"
    said = "Tracing takes most of the time (90%): trust counts more than times."
    causes = page_of(capture).partition('<ul class="causes">')[2]
    assert re.findall(r'<span class="answer">([^<]*)', causes)[0] == said
    headline, *_ = text = [line for line in run("summarize", capture).stdout.splitlines()[1:] if line.strip()]
    assert "168 ms traced, less than 34.0 ms without" in headline
    assert text[1].strip() == said


@pytest.mark.parametrize("name", ["find-exec", "sh-children", "xargs-serial"])
def test_no_finding_has_more_tracing_than_its_capture(name: str) -> None:
    """Of 34.36 s, 32.80 s were tracing, although tracing took 29.88 s of the capture."""
    trace = tracealyze.read(ROOT / "tests" / "field" / "captures" / f"{name}.strace.xz")
    [capture] = trace.table("captures")
    assert max(finding.tracing_ns for finding in trace.findings) == capture["tracing_ns"]


def test_style_and_remarks_agree_on_what_is_printed() -> None:
    style = (ROOT / "tracealyze" / "render" / "page" / "report.css").read_text(encoding="utf-8")
    assert f".wide tbody tr:nth-child(n+{markup.MAX_PRINTED_ROWS + 1})" in style
    assert f"article:nth-of-type(n+{sections.MAX_PRINTED_FINDINGS + 1})" in style
    page = page_of(SAMPLES / "jail-start" / "before.strace.xz")
    rows = [table.count("<tr>") for table in re.findall(r"<tbody>(.*?)</tbody>", page, re.DOTALL)]
    remarks = re.findall(r'<p class="printed remark" hidden>(\d+) more rows?', page)
    assert [int(each) for each in remarks] == [each - 15 for each in rows if each > 15]


def test_the_policy_allows_only_the_viewer_to_run() -> None:
    page = page_of(SSH)
    scripts = re.findall(r"<script(?: type=\"([^\"]+)\")?[^>]*>(.*?)</script>", page, re.DOTALL)
    assert [text for kind, text in scripts if not kind] == [bundle.script()]
    assert {kind for kind, _ in scripts} == {"", "application/json", "application/octet-stream;base64"}
    digest = base64.b64encode(hashlib.sha256(bundle.script().encode()).digest()).decode()
    policy = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert [each.split("script-src ")[1] for each in policy] == [f"'sha256-{digest}'"]


@pytest.mark.parametrize("capture", captures_of_samples(), ids=lambda path: path.name)
def test_lanes_have_all_time_of_processes(capture: Path) -> None:
    trace = tracealyze.read(capture)
    of_processes = sum(ns or 0 for ns in trace.processes.column("exclusive_ns"))
    assert sum(row.exclusive_ns for row in lanes(trace).rows) == of_processes


def strace_of(programs: Iterator[tuple[str, int]]) -> str:
    """A shell that runs programs one after the other, each for some microseconds."""
    lines = ['1000 1700000000.000000 execve("/bin/sh", ["sh"], 0x7ffd /* 9 vars */) = 0 <0.000100>']
    at_us = 1_000
    for number, (program, run_us) in enumerate(programs):
        pid = 2000 + number
        lines += [
            f"1000 {stamp(at_us)} vfork() = {pid} <0.000050>",
            f'{pid} {stamp(at_us + 60)} execve("/bin/{program}", ["{program}"], 0x7ffd /* 9 vars */) = 0 <0.000100>',
            f"1000 {stamp(at_us + 100)} wait4(-1,  <unfinished ...>",
            f'{pid} {stamp(at_us + 200)} read(3, "", 4096) = 0 <0.{run_us:06}>',
            f"{pid} {stamp(at_us + 210 + run_us)} exit_group(0) = ?",
            f"{pid} {stamp(at_us + 220 + run_us)} +++ exited with 0 +++",
            f"1000 {stamp(at_us + 230 + run_us)} <... wait4 resumed>NULL, 0, NULL) = {pid} <0.{run_us + 130:06}>",
        ]
        at_us += run_us + 400
    lines.append(f"1000 {stamp(at_us)} +++ exited with 0 +++")
    return "\n".join(lines) + "\n"


def stamp(at_us: int) -> str:
    return f"{1_700_000_000 + at_us // 1_000_000}.{at_us % 1_000_000:06}"


def test_many_processes_are_folded_and_add_up(tmp_path: Path) -> None:
    file = tmp_path / "many.strace"
    file.write_text(strace_of((f"tool{number % 60}", 1_000 + number) for number in range(2_000)), encoding="utf-8")
    trace = tracealyze.read(file)
    found = lanes(trace)
    assert len(found.rows) <= MAX_LANES
    assert found.folded > 2_000 - MAX_LANES
    assert sum(row.exclusive_ns for row in found.rows) == sum(trace.processes.column("exclusive_ns"))
    chart = boot_chart(trace)
    assert len(chart.svg) <= 150_000
    assert f"{found.folded:,} processes" in chart.caption


def test_repeated_children_share_a_row(tmp_path: Path) -> None:
    file = tmp_path / "same.strace"
    file.write_text(strace_of(("tool", 1_000) for _ in range(5)), encoding="utf-8")
    rows = lanes(tracealyze.read(file)).rows
    assert [(row.name, len(row.spans)) for row in rows] == [("1000 sh", 1), ("5 × tool", 5)]


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_stay_text(name: str, tmp_path: Path) -> None:
    file = tmp_path / "hostile.strace"
    file.write_text(strace_of((each, 50_000) for each in (name, "true")), encoding="utf-8")
    outline = checked(page_of(file))
    assert not any(character in text for text in outline.texts for character in "\x1b\0\u202e")


UNTIMED = (
    'execve("/bin/true", ["true"], 0x7ffd /* 9 vars */) = 0\n' + "close(9) = -1 EBADF (Bad file descriptor)\n" * 20
)
TABLE = """% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 90.00    0.900000        9000       100           read
 10.00    0.100000        1000       100        50 openat
------ ----------- ----------- --------- --------- ----------------
100.00    1.000000        5000       200        50 total
"""


@pytest.mark.parametrize("content", [UNTIMED, TABLE], ids=["untimed", "table"])
def test_without_a_clock_the_page_has_counts(content: str, tmp_path: Path) -> None:
    file = tmp_path / "trace"
    file.write_text(content, encoding="utf-8")
    page = page_of(file)
    text = "".join(checked(page).texts)
    assert "There is no timeline" in text
    assert "Top calls" in text


def test_comparison_has_a_chart_for_each_step_on_one_scale() -> None:
    traces = [tracealyze.read(file) for file in SHUTDOWN]
    found = tracealyze.diff(traces[0], traces[-1])
    page = document.of_steps([(trace, trace.summary()) for trace in traces], found, 20)
    text = "".join(checked(page).texts)
    assert "41.27 s → 16.60 s → 7.05 s, 5.9 times as fast" in text
    charts = re.findall(r"<svg xmlns.*?</svg>", page, re.S)
    assert len(charts) == 3
    assert len({tuple(re.findall(r'text-anchor="middle"[^>]*>([^<]+)<', chart)) for chart in charts}) == 1
    for title in ("No longer there", "In both", "Time by class"):
        assert title in text
    documents = re.findall(r'<script type="application/json" id="tz-(c\d)-meta">(.*?)</script>', page)
    assert [prefix for prefix, _ in documents] == ["c1", "c2", "c3"]
    assert {json.loads(each)["scale_ns"] for _, each in documents} == {traces[0].window.wall_ns}
    assert all(f'<section id="{prefix}-timeline">' in page for prefix, _ in documents)
    assert len(page.encode()) <= 300_000


def test_command_writes_a_page(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "login.html"
    done = run("report", SSH, "-o", target)
    assert done.returncode == 0, done.stderr
    assert done.stderr == f"Written: {target}\n"
    text = html.unescape(target.read_text(encoding="utf-8"))
    assert "quota (pid 12200) calls ioctl ZFS_IOC_OBJSET_STATS 297 times in a loop" in text
    assert run("report", SSH, "-o", "-").stdout == target.read_text(encoding="utf-8")


def test_several_captures_are_listed(run: Run) -> None:
    done = run("report", SHUTDOWN[1], SHUTDOWN[0], "-o", "-")
    text = "".join(checked(done.stdout).texts)
    assert "2 captures, the slowest below" in text
    assert "41.27 s wall time" in text


def test_capture_is_not_overwritten(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "capture"
    file.write_bytes(SSH.read_bytes())
    done = run("report", file, "-o", file)
    assert done.returncode == 2
    assert "is the capture" in done.stderr
    assert file.read_bytes() == SSH.read_bytes()


def test_each_combination_of_fixes_has_its_time() -> None:
    """The time after two fixes is that of a replay without both, and the style has a rule for each combination."""
    trace = tracealyze.read(SHUTDOWN[0])
    page = document.of_captures([(trace, trace.summary())], 20)
    answers = dict(re.findall(r'<span class="set(\d+)">([^<]+)</span>', page))
    boxes = page.count('<input type="checkbox"')
    assert len(answers) == 2**boxes > 2
    both = trace.what_if([1, 2]).together_ns
    assert answers["3"].split(" without ")[0].endswith(" … ".join(units.duration(ns, trace.tick_ns) for ns in both))
    style = page.split("</style>")[0]
    assert all(f":has(.fix{place}:checked)" in style for place in range(boxes))
    assert all(f".set{mask}" in style for mask in range(2**boxes))


def test_a_log_has_no_fixes_to_replay() -> None:
    assert '<input type="checkbox"' not in page_of(SAMPLES / "kernel-shutdown" / "shutdown.log")
