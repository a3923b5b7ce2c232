"""The timeline fits the terminal and has the sums of the summary; as a picture of its own it is well-formed."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest
from conftest import SAMPLES, Run, captures_of_samples

import tracealyze
from tracealyze.base import units
from tracealyze.export import svg
from tracealyze.render.picture.lanes import lanes
from tracealyze.render.picture.path_runs import path_runs
from tracealyze.render.terminal import cells

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "timeline.json").read_text(encoding="utf-8"))
SHUTDOWN = SAMPLES / "shutdown" / "before.strace.xz"
WIDE = "\u65e5\u672c\u8a9e" * 20
COMBINING = "e\u0301" * 60


def drawn_rows(text: str) -> list[str]:
    """The lines of the chart, from the path on."""
    lines = text.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("critical path"))
    return lines[at:]


@pytest.mark.parametrize("columns", ["40", "80", "120", "200"])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("capture", captures_of_samples()[::3], ids=lambda path: path.name)
def test_no_line_is_wider_than_the_terminal(capture: Path, columns: str, encoding: str, run: Run) -> None:
    done = run("timeline", capture, COLUMNS=columns, PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    assert max(map(cells, done.stdout.splitlines())) <= int(columns)


@pytest.mark.parametrize(
    "name", [WIDE, COMBINING, "\\33[31mred", "x" * 9_000], ids=["wide", "combining", "escape", "long"]
)
def test_odd_names_do_not_widen_lines(name: str, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "odd.strace"
    file.write_text(
        f'1 1700000000.000000 execve("/bin/{name}", ["{name}", "{name}"], 0x7ffd /* 9 vars */) = 0 <0.000100>\n'
        "1 1700000001.000000 nanosleep({tv_sec=1, tv_nsec=0}, NULL) = 0 <1.000100>\n"
        "1 1700000002.100000 +++ exited with 0 +++\n",
        encoding="utf-8",
    )
    done = run("timeline", file, COLUMNS="80")
    assert done.returncode == 0, done.stderr
    assert max(map(cells, done.stdout.splitlines())) <= 80
    assert "\x1b" not in done.stdout


def storm(number: int) -> str:
    """A process that starts many short ones, one after the other."""
    lines = ['1 1700000000.000000 execve("/bin/sh", ["sh", "storm.sh"], 0x7ffd /* 9 vars */) = 0 <0.000100>']
    for at in range(number):
        pid, start = at + 2, 1700000000 + 0.001 * (at + 1)
        lines += [
            f"1 {start:.6f} clone(child_stack=NULL, flags=SIGCHLD) = {pid} <0.000050>",
            f'{pid} {start + 0.0001:.6f} execve("/bin/tr", ["tr", "{at}"], 0x7ffd /* 9 vars */) = 0 <0.000200>',
            f"{pid} {start + 0.0004:.6f} read(0, 0x7ffd, 9) = 0 <0.000100>",
            f"{pid} {start + 0.0006:.6f} +++ exited with 0 +++",
            f"1 {start + 0.0005:.6f} wait4(-1, [{{WIFEXITED(s) && WEXITSTATUS(s) == 0}}], 0, NULL) = {pid} <0.000150>",
        ]
    return "\n".join([*lines, f"1 {1700000000 + 0.001 * (number + 2):.6f} +++ exited with 0 +++\n"])


def test_path_of_many_short_processes_has_no_holes(run: Run, tmp_path: Path) -> None:
    """13 of 44 columns were blank, because each stretch in them was short, while the label had the whole time."""
    file = tmp_path / "storm.strace"
    file.write_text(storm(400), encoding="utf-8")
    path = drawn_rows(run("timeline", file, "--top", "3", COLUMNS="80").stdout)[0]
    assert re.fullmatch(r"critical path +[\d.]+ ms [A-Z]+", path), path
    assert len(path) == 80
    trace = tracealyze.read(file)
    step_ns = trace.window.wall_ns // 300
    runs = path_runs(trace, lanes(trace, 3).lane_of, step_ns).runs
    assert sum(each.end - each.begin for each in runs) == -(-trace.window.wall_ns // step_ns)
    drawn = BytesIO()
    svg.write(trace, drawn)
    ET.fromstring(drawn.getvalue())


def test_path_comes_first_with_letters_of_its_classes(run: Run) -> None:
    rows = drawn_rows(run("timeline", SHUTDOWN, COLUMNS="120").stdout)
    assert rows[0].split()[:4] == ["critical", "path", "41.27", "s"]
    path = rows[0].split(" s ")[1]
    # 30.00 s of sleep and 10.66 s of user code, in columns of the same length.
    assert path.count("S") / len(path) == pytest.approx(30.00 / 41.27, abs=0.03)
    assert path.count("U") / len(path) == pytest.approx(10.66 / 41.27, abs=0.03)
    key = " ".join(rows[-4:])
    assert "S sleep 30.00 s (73%), U outside syscalls 10.66 s (26%)" in key


@pytest.mark.parametrize("limit", [2, 5, 20, 400])
def test_combined_rows_keep_the_time(limit: int) -> None:
    trace = tracealyze.read(SHUTDOWN)
    found = lanes(trace, limit)
    assert len(found.rows) <= limit
    assert sum(row.exclusive_ns for row in found.rows) == trace.window.wall_ns


@pytest.mark.parametrize("capture", captures_of_samples(), ids=lambda path: path.name)
def test_runs_cover_the_path_without_overlap(capture: Path) -> None:
    trace = tracealyze.read(capture)
    step_ns = trace.window.wall_ns // 100
    drawn = path_runs(trace, lanes(trace).lane_of, step_ns)
    for pieces in (drawn.runs, drawn.stays):
        at = 0
        for piece in pieces:
            assert piece.begin == at
            at = piece.end
        assert at * step_ns >= trace.window.wall_ns


@pytest.mark.parametrize("capture", captures_of_samples(), ids=lambda path: path.name)
def test_json_adds_up_and_follows_its_schema(capture: Path, run: Run) -> None:
    found = json.loads(run("timeline", capture, "--json", "--top", "12").stdout)
    jsonschema.validate(found, SCHEMA)
    wall_ns = tracealyze.read(capture).window.wall_ns
    for each in found["captures"]:
        assert len(each["lanes"]) <= 12
        assert sum(lane["exclusive_ns"] for lane in each["lanes"]) == wall_ns == each["wall_ns"]
        assert sum(row["dur_ns"] for row in each["path"]) + each["path_rest_ns"] == wall_ns
        for row, following in pairwise(each["path"]):
            assert row["start_ns"] + row["dur_ns"] <= following["start_ns"]
        of_lane = Counter[int]()
        for row in each["path"]:
            of_lane[row["lane"]] += row["dur_ns"]
        assert all(ns <= each["lanes"][lane]["exclusive_ns"] for lane, ns in of_lane.items())


LIFE = (
    '{pid} {at}.000000 execve("/bin/{name}{pid}", ["x"], 0) = 0 <0.000100>\n{pid} {at}.900000 +++ exited with 0 +++\n'
)
FORK = "999 {at}.000000 clone(child_stack=NULL, flags=SIGCHLD) = {pid} <0.000100>\n"


@pytest.mark.parametrize("form", [LIFE, FORK + LIFE], ids=["runs", "processes"])
def test_json_is_bounded(form: str, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "many.strace"
    lives = (form.format(pid=1000 + at, at=1700000000 + at, name="x" * 900) for at in range(3_000))
    file.write_text("".join(lives), encoding="utf-8")
    done = run("timeline", file, "--json", "--top", "3000")
    found = json.loads(done.stdout)
    jsonschema.validate(found, SCHEMA)
    assert len(done.stdout) <= 2_000_000
    shown, every = (found if form == LIFE else found["captures"][0])["counts"]["captures" if form == LIFE else "lanes"]
    assert 0 < shown < every == (3_000 if form == LIFE else every)


def test_json_is_one_document_about_all_captures(run: Run) -> None:
    both = json.loads(run("timeline", SHUTDOWN, SHUTDOWN.with_name("after.strace.xz"), "--json").stdout)
    assert [Path(each["capture"]).name for each in both["captures"]] == ["before.strace.xz", "after.strace.xz"]
    assert both["counts"] == {"captures": [2, 2]}


def test_without_a_clock_a_sentence_says_so(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "trace"
    file.write_text("close(9) = -1 EBADF (Bad file descriptor)\n" * 3, encoding="utf-8")
    done = run("timeline", file)
    assert done.returncode == 0
    assert "There is no timeline" in done.stdout


@pytest.mark.parametrize("capture", captures_of_samples(), ids=lambda path: path.name)
def test_svg_is_well_formed_and_boxes_add_up(capture: Path) -> None:
    trace = tracealyze.read(capture)
    to = BytesIO()
    svg.write(trace, to)
    document = ET.fromstring(to.getvalue())
    assert document.tag == "{http://www.w3.org/2000/svg}svg"
    boxes = [
        (float(each.attrib["y"]), float(each.attrib["x"]), float(each.attrib["width"]))
        for each in document.iter("{http://www.w3.org/2000/svg}rect")
        if each.find("{http://www.w3.org/2000/svg}title") is not None
    ]
    by_row: dict[float, list[tuple[float, float]]] = {}
    for y, x, width in boxes:
        by_row.setdefault(y, []).append((x, width))
    for row in by_row.values():
        row.sort()
        for (x, width), (following, _) in pairwise(row):
            assert x + width <= following + 0.2
    assert f"all: {units.duration(trace.window.wall_ns)}" in re.sub(r"<[^>]+>", "", to.getvalue().decode())
