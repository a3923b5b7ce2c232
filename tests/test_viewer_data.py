"""The data of the page of a report: sums equal those of `summarize`, and sizes are bounded."""

from __future__ import annotations

import base64
import json
import zlib
from collections import Counter
from itertools import accumulate
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import SAMPLES

import tracealyze
from tracealyze.render.picture.looks import LOOKS
from tracealyze.render.picture.stretches import stretches_of
from tracealyze.render.viewer.data import Section, data_sections

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "report.json").read_text(encoding="utf-8"))
BUDGET = 200_000
CAPTURES = [
    SAMPLES / "ssh-login" / "ssh-login.truss",
    SAMPLES / "shutdown" / "before.strace.xz",
    SAMPLES / "jail-start" / "before.strace.xz",
    SAMPLES / "kernel-shutdown" / "shutdown.log",
]


def meta(sections: list[Section]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(sections[0].text)
    return document


def columns(sections: list[Section], name: str) -> dict[str, list[int]]:
    """The columns of a section of the first capture."""
    about = next(each for each in meta(sections)["captures"][0]["sections"] if each["name"] == name)
    raw = inflated(sections, about)
    numbers, number, shift = [], 0, 0
    for byte in raw:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(number)
            number, shift = 0, 0
    assert len(numbers) == about["rows"] * len(about["columns"])
    found = {}
    for at, column in enumerate(about["columns"]):
        values = numbers[at * about["rows"] : (at + 1) * about["rows"]]
        signed = [value >> 1 ^ -(value & 1) for value in values]
        found[column] = list(accumulate(signed)) if column.startswith("d_") else values
    return found


def inflated(sections: list[Section], about: dict[str, Any]) -> bytes:
    block = base64.b64decode(next(each.text for each in sections if each.id == about["id"]), validate=True)
    assert zlib.crc32(block) == about["crc32"]
    raw = zlib.decompress(block, wbits=-15)
    assert len(raw) == about["raw_bytes"]
    return raw


@pytest.fixture(params=CAPTURES, ids=lambda path: path.parent.name, scope="module")
def trace(request: pytest.FixtureRequest) -> tracealyze.Trace:
    return tracealyze.read(str(request.param))


def test_the_document_matches_its_schema(trace: tracealyze.Trace) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(meta(data_sections(trace, BUDGET)), SCHEMA)


def test_sections_of_several_captures_have_ids_of_their_own(trace: tracealyze.Trace) -> None:
    both = [data_sections(trace, BUDGET, prefix=prefix, scale_ns=10**12) for prefix in ("tz-c1", "tz-c2")]
    for sections in both:
        jsonschema.validate(meta(sections), SCHEMA)
        listed = {each["id"] for each in meta(sections)["captures"][0]["sections"]}
        assert listed == {each.id for each in sections[1:]}
    ids = [each.id for sections in both for each in sections]
    assert len(ids) == len(set(ids))


def test_the_same_trace_gives_the_same_bytes(trace: tracealyze.Trace) -> None:
    assert data_sections(trace, BUDGET) == data_sections(trace, BUDGET)


@pytest.mark.parametrize("budget", [20_000, BUDGET])
def test_the_path_sums_to_the_partition_by_class(trace: tracealyze.Trace, budget: int) -> None:
    sections = data_sections(trace, budget)
    path, names = columns(sections, "path"), [each["name"] for each in meta(sections)["classes"]]
    sums: Counter[str] = Counter()
    for dur_ns, number in zip(path["dur"], path["class"], strict=True):
        sums[names[number]] += dur_ns
    assert sums == {row["class"]: row["exclusive_ns"] for row in trace.partition_by(["class"])}
    assert sum(sums.values()) == trace.window.wall_ns


def test_lanes_list_each_task_with_its_time_on_the_path(trace: tracealyze.Trace) -> None:
    tasks = columns(data_sections(trace, BUDGET), "tasks")
    expected = {row["task"]: row["exclusive_ns"] for row in trace.tasks}
    assert dict(zip(tasks["d_task"], tasks["on_path"], strict=True)) == expected


def test_sources_of_a_log_add_up_to_the_window() -> None:
    log = tracealyze.read(str(SAMPLES / "jail-start" / "staged-before.log"))
    sections = data_sections(log, BUDGET)
    jsonschema.validate(meta(sections), SCHEMA)
    sources, messages = columns(sections, "sources"), columns(sections, "messages")
    assert sum(sources["on_path"]) == log.window.wall_ns
    # Six jails with five messages each, as counted with `cut -d: -f3 | sort | uniq -c`.
    assert sources["messages"] == [5] * 6
    starts, lives = sources["d_start"], sources["life"]
    last: dict[int, int] = {}
    for source, start_ns, dur_ns in zip(messages["d_source"], messages["d_start"], messages["dur"], strict=True):
        # The messages of a source follow each other without a break.
        assert start_ns == last.get(source, starts[source])
        last[source] = start_ns + dur_ns
    assert last == {source: starts[source] + lives[source] for source in range(6)}


def test_a_log_that_is_too_large_keeps_the_longest() -> None:
    lines = [f"2026-11-21 07:45:{at // 100:02}.{at % 100:02}0000 job{at % 50}: step {at}\n" for at in range(3_000)]
    sections = data_sections(tracealyze.read("".join(lines).encode()), 20_000)
    limits = meta(sections)["captures"][0]["limits"]
    assert (limits["messages"], limits["all_sources"]) == (3_000, 50)
    assert 0 < limits["exact_messages"] < 3_000
    assert sum(len(each.html()) for each in sections) <= 20_000


def test_children_of_the_icicle_sum_to_their_parent(trace: tracealyze.Trace) -> None:
    nodes = meta(data_sections(trace, BUDGET))["icicle"]
    assert nodes[0] == [0, "", trace.window.wall_ns]
    for at, (depth, _, exclusive_ns) in enumerate(nodes):
        below = []
        for child_depth, _, child_ns in nodes[at + 1 :]:
            if child_depth <= depth:
                break
            if child_depth == depth + 1:
                below.append(child_ns)
        assert not below or sum(below) == exclusive_ns


def test_sections_fit_their_budget(trace: tracealyze.Trace) -> None:
    for budget in (40_000, 80_000, BUDGET):
        assert sum(len(each.html()) for each in data_sections(trace, budget)) <= budget


def test_each_timed_finding_has_a_stretch_in_the_window(trace: tracealyze.Trace) -> None:
    findings = meta(data_sections(trace, BUDGET))["findings"]
    assert findings
    for finding in findings:
        # What is true of all of the capture has no place in it.
        if finding["lines"] and any(finding["impact_ns"] or ()):
            assert finding["stretches"]
        for _, start_ns, end_ns in finding["stretches"]:
            assert 0 <= start_ns <= end_ns <= trace.window.wall_ns


def test_the_wall_time_is_exact_for_scripts(trace: tracealyze.Trace) -> None:
    limits = dict(meta(data_sections(trace, BUDGET))["captures"][0]["limits"])
    assert limits["wall_ns"] == trace.window.wall_ns
    # Times since 1970 are not exact in a script, and only these two are such times.
    del limits["start_ns"], limits["end_ns"]
    assert max(limits.values()) < 2**53


def test_the_loop_of_the_login_spans_its_lines() -> None:
    login = tracealyze.read(str(CAPTURES[0]))
    finding = meta(data_sections(login, BUDGET))["findings"][0]
    (task, start_ns, end_ns), *others = finding["stretches"]
    assert not others
    assert {row["task"]: row["pid"] for row in login.tasks}[task] == 12200
    assert (end_ns - start_ns) / 1e9 == pytest.approx(9.9, abs=0.1)


def test_a_finding_spans_more_than_the_lines_that_it_quotes() -> None:
    nap = "clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=200000000}, NULL) = 0 <0.200000>"
    naps = "".join(
        f"7 {1700000000 + 0.201 * turn:.6f} {nap}\n7 {1700000000.2005 + 0.201 * turn:.6f} getppid() = 1 <0.000010>\n"
        for turn in range(40)
    )
    end = "7 1700000008.100000 exit_group(0) = ?\n7 1700000008.100100 +++ exited with 0 +++\n"
    trace = tracealyze.read(f'7 1699999999.900000 execve("/bin/job", ["job"], 0) = 0 <0.001>\n{naps}{end}'.encode())
    finding = trace.findings[0]
    [(_, start_ns, end_ns)] = stretches_of(trace, finding)
    assert finding.name == "fixed-sleep"
    assert (end_ns - start_ns) / 1e9 == pytest.approx(39 * 0.201 + 0.2, abs=0.01)
    assert len(finding.places) < 40


def test_hostile_names_cannot_end_an_element() -> None:
    line = (
        b'7 1700000000.000000 execve("/bin/</script><b>\\33[2J", ["x"], 0) = 0 <0.5>\n'
        b"7 1700000001.000000 +++ exited with 0 +++\n"
    )
    sections = data_sections(tracealyze.read(line), BUDGET)
    assert len(sections) > 1
    assert not [each.id for each in sections if "<" in each.text or not each.text.isascii()]


def test_a_capture_without_a_window_has_no_sections() -> None:
    assert data_sections(tracealyze.read(b"read(3, 0x1, 1) = 0\nclose(3) = 0\n"), BUDGET) == []


def test_each_class_of_the_engine_has_a_look() -> None:
    picture = tracealyze.read(str(CAPTURES[0])).pictures(BUDGET)[0]
    assert picture is not None
    assert set(picture["classes"]) == set(LOOKS)
