"""The timeline of a report in real browsers: the story by keyboard, sums, hostile names, and no request."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from browsers import BROWSERS, installed, shown
from conftest import SAMPLES

import tracealyze
from tracealyze.render.page import document
from tracealyze.render.picture.looks import LOOKS

pytestmark = pytest.mark.browser

MAX_SHEETS = 4
HOSTILE = "</script><img src=x onerror=alert(1)><b>"


@pytest.fixture(params=BROWSERS)
def browser(request: pytest.FixtureRequest) -> tuple[str, str]:
    return installed(request.param)


def ran(script: str, browser: tuple[str, str], trace: tracealyze.Trace, folder: Path, *more: str) -> dict[str, Any]:
    """What a script sees in the report of a trace."""
    return shown(script, browser, document.of_captures([(trace, trace.summary())], 20), folder, *more)


def story(browser: tuple[str, str], trace: tracealyze.Trace, folder: Path) -> dict[str, Any]:
    seen = ran("story", browser, trace, folder, str(folder / "page.png"))
    sys.stdout.write(f"\n{browser[0]}: {seen.get('timing')}\n")
    return seen


def by_class(trace: tracealyze.Trace) -> dict[str, int]:
    return {row["class"]: row["exclusive_ns"] for row in trace.partition_by(["class"])}


def test_the_cause_is_found_with_the_keyboard(browser: tuple[str, str], tmp_path: Path) -> None:
    trace = tracealyze.read(SAMPLES / "ssh-login" / "ssh-login.truss")
    seen = story(browser, trace, tmp_path)
    assert (seen["errors"], seen["requests"]) == ([], [])
    assert seen["whole"] == by_class(trace)
    assert "Finding 1 of 1: quota (pid 12200) calls ioctl" in seen["finding"]
    assert seen["lane"] == "quota 12200"
    assert seen["link"].startswith("#t=") and "f=0" in seen["link"]
    assert seen["selection"]["disk"] / sum(seen["selection"].values()) > 0.85
    assert seen["stretch"].startswith("Critical path, ")
    assert (seen["help"], seen["mode"]) == (1, "tree")
    assert len(seen["lanes"]) == 5


def test_the_shutdown_can_be_explored(browser: tuple[str, str], tmp_path: Path) -> None:
    trace = tracealyze.read(SAMPLES / "shutdown" / "before.strace.xz")
    seen = story(browser, trace, tmp_path)
    assert (seen["errors"], seen["requests"]) == ([], [])
    assert seen["whole"] == by_class(trace)
    assert " of " in seen["search"]


def test_hostile_names_do_nothing(browser: tuple[str, str], tmp_path: Path) -> None:
    name = HOSTILE.replace("/", "")
    capture = (
        f'7 1700000000.000000 execve("/bin/{name}", ["{HOSTILE}", "\\33[2J"], 0) = 0 <0.000100>\n'
        f'7 1700000000.100000 openat(AT_FDCWD, "/{HOSTILE}", O_RDONLY) = 3 <0.500000>\n'
        "7 1700000001.000000 +++ exited with 0 +++\n"
    )
    seen = story(browser, tracealyze.read(capture.encode()), tmp_path)
    assert (seen["errors"], seen["requests"], seen["foreign"]) == ([], [], 0)


def test_the_silence_of_a_log_is_found_with_the_keyboard(browser: tuple[str, str], tmp_path: Path) -> None:
    trace = tracealyze.read(SAMPLES / "kernel-shutdown" / "shutdown.log")
    seen = story(browser, trace, tmp_path)
    assert (seen["errors"], seen["requests"], seen["form"]) == ([], [], "ready")
    assert seen["whole"] == by_class(trace)
    assert "The log is silent for 1.01 s" in seen["finding"]
    assert (seen["lane"], seen["mode"]) == ("md", "tree")
    # The visible time has a margin of 8% before the silence, and the last 41 ms of the log after it.
    assert seen["selection"]["gap"] == pytest.approx(1.08 * 1.006842e9 + 40.8e6, rel=0.001)
    assert " of " in seen["search"]


def test_timelines_that_are_compared_show_the_same_time(browser: tuple[str, str], tmp_path: Path) -> None:
    traces = [tracealyze.read(SAMPLES / "shutdown" / f"{name}.strace.xz") for name in ("before", "after")]
    found = tracealyze.diff(traces[0], traces[1])
    page = document.of_steps([(trace, trace.summary()) for trace in traces], found, 20)
    seen = shown("steps", browser, page, tmp_path)
    assert (seen["form"], seen["errors"], seen["accessibility"]) == ("ready", [], [])
    assert seen["sums"] == [trace.window.wall_ns for trace in traces]
    first, second = seen["ranges"]
    assert first == second != seen["whole"]
    assert seen["icicle"] > 0
    assert set(seen["grey"]) == {"none"}
    assert {"none", "grayscale(1)"} == set(seen["greyOfSearch"])


def test_equal_captures_can_be_told_apart(browser: tuple[str, str], tmp_path: Path) -> None:
    # The rules of accessibility want regions with labels of their own.
    trace = tracealyze.read(SAMPLES / "shutdown" / "after.strace.xz")
    both = [(trace, trace.summary())] * 2
    seen = shown("steps", browser, document.of_steps(both, tracealyze.diff(trace, trace), 20), tmp_path)
    assert (seen["form"], seen["errors"], seen["accessibility"]) == ("ready", [], [])
    assert seen["labels"] == [
        "Timeline of after.strace.xz (1). Press ? for the keys.",
        "Timeline of after.strace.xz (2). Press ? for the keys.",
    ]


def test_two_captures_print_on_few_sheets(browser: tuple[str, str], tmp_path: Path) -> None:
    traces = [tracealyze.read(SAMPLES / "jail-start" / f"{name}.strace.xz") for name in ("before", "after")]
    page = document.of_steps([(each, each.summary()) for each in traces], tracealyze.diff(traces[0], traces[1]), 20)
    seen = shown("conditions", browser, page, tmp_path)
    assert seen["errors"] == []
    assert seen.get("sheets", 1) <= MAX_SHEETS


def test_keys_work_without_a_click_and_enter_shows_all_of_a_finding(browser: tuple[str, str], tmp_path: Path) -> None:
    """Keys had no effect before a click, and a finding of 15 s was shown as its first 14 µs."""
    seen = ran("keys", browser, tracealyze.read(SAMPLES / "shutdown" / "before.strace.xz"), tmp_path, "sleep")
    assert seen["errors"] == []
    assert (seen["help"]["help"], seen["search"]["focus"]) == (1, "INPUT")
    assert seen["finding"]["range"] == "0.0 s to 16.4 s (16.36 s)"
    assert re.fullmatch(r"1 of \d+.*", seen["search"]["hits"]) and seen["next"]["hits"].startswith("2 of ")
    assert seen["search"]["message"] != seen["next"]["message"]


def storm(processes: int) -> bytes:
    """A shell that starts processes, two of which live at the same time; each opens and reads a file."""
    lines = ['1 1700000000.000000 execve("/bin/sh", ["sh", "run.sh"], 0x7ffd /* 9 vars */) = 0 <0.000100>']
    for at in range(processes):
        pid, start_us = at + 2, 1_000 + 10_000 * at
        calls = [
            (1, 0, f"clone(child_stack=NULL, flags=SIGCHLD) = {pid} <0.000200>"),
            (pid, 300, 'execve("/usr/bin/wc", ["wc", "-l"], 0x7ffd /* 9 vars */) = 0 <0.000500>'),
            (pid, 1_000, f'openat(AT_FDCWD, "/data/part{at}", O_RDONLY) = 3 <0.000100>'),
            (pid, 2_000, 'read(3, "", 4096) = 4096 <0.012000>'),
            (pid, 15_000, "+++ exited with 0 +++"),
        ]
        lines += [f"{each} {1700000000 + (start_us + us) / 1e6:.6f} {call}" for each, us, call in calls]
    end_us = 30_000 + 10_000 * processes
    lines.append(f"1 {1700000000 + end_us / 1e6:.6f} +++ exited with 0 +++")
    lines.sort(key=lambda line: float(line.split()[1]))
    return ("\n".join(lines) + "\n").encode()


@pytest.mark.parametrize(("word", "hits"), [("openat", 60), ("wc", 120)])
def test_a_search_marks_counts_and_moves_in_all_rows(
    word: str, hits: int, browser: tuple[str, str], tmp_path: Path
) -> None:
    """The second hit looked like the first one, and rows with several tasks had no marks."""
    seen = ran("search", browser, tracealyze.read(storm(60)), tmp_path, word)
    assert seen["errors"] == []
    assert set(seen["modes"]) == {"tree", "packed", "path", "program"}
    for mode, found in seen["modes"].items():
        before, first, following = found["marked"]
        assert before == 0, mode
        assert min(first, following) > 0, mode
        assert found["moves"], mode
        assert found["hits"] == [f"1 of {hits}", f"2 of {hits}"], mode
        assert len(set(found["messages"])) == 2, mode


def test_a_search_counts_the_calls_that_the_page_counts(browser: tuple[str, str], tmp_path: Path) -> None:
    """The page counted 3,125 calls of a loop, and a search found 2,871."""
    trace = tracealyze.read(SAMPLES / "boot-devices" / "boot-320.strace.xz")
    [calls] = [row["calls"] for row in trace.calls(by=["syscall"]) if row["syscall"] == "readlink"]
    seen = ran("keys", browser, trace, tmp_path, "readlink")
    assert seen["search"]["hits"].endswith(f" in what is drawn exactly; {calls:,} calls in all")


def test_bars_and_labels_have_the_colors_of_their_classes(browser: tuple[str, str], tmp_path: Path) -> None:
    """A bar had the color of memory and the label "outside syscalls"."""
    # The second process reads, and then takes a bit less time outside of its calls.
    capture = (
        '7 1700000000.000000 execve("/bin/sort", ["sort"], 0x7ffd /* 9 vars */) = 0 <0.000100>\n'
        "7 1700000000.100000 clone(child_stack=NULL, flags=SIGCHLD) = 8 <0.000100>\n"
        "7 1700000000.100200 wait4(8, NULL, 0, NULL) = 8 <0.499800>\n"
        '8 1700000000.100300 read(3</data/in>, "", 4096) = 4096 <0.300000>\n'
        "8 1700000000.600000 +++ exited with 0 +++\n"
        "7 1700000000.600000 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 3</data/in>, 0) = 0x7f <0.300000>\n"
        "7 1700000001.000000 +++ exited with 0 +++\n"
    )
    trace = tracealyze.read(capture.encode())
    seen = ran("colors", browser, trace, tmp_path)
    assert seen["errors"] == []
    path, names = seen["path"], {"mmap": "memory", "read": "disk"}
    for name, exclusive_ns in by_class(trace).items():
        share = path.count(LOOKS[name].color) / len(path)
        assert share == pytest.approx(exclusive_ns / trace.window.wall_ns, abs=0.005), name
    named = {word: label for label in seen["labels"] for word in names if word in label["text"]}
    assert set(named) == set(names)
    for word, label in named.items():
        color = LOOKS[names[word]].color
        assert label["ground"] == darkened(color), word
        assert label["path"].count(color) >= 0.95 * len(label["path"]), word


def darkened(color: str) -> str:
    """The ground of a label, as in `viewer/src/raster.ts`."""
    return "#" + "".join(f"{int(int(color[at : at + 2], 16) * 0.72 + 0.5):02x}" for at in (1, 3, 5))


SECOND_TIMELINE = 54 + 2 * 22
"""Pixels of the axis, of the critical path, and of two rows below it."""


@pytest.mark.parametrize("sample", ["shutdown", "jail-start"])
def test_both_timelines_of_a_comparison_are_in_sight(sample: str, browser: tuple[str, str], tmp_path: Path) -> None:
    """The second timeline was below the first screen."""
    traces = [tracealyze.read(SAMPLES / sample / f"{name}.strace.xz") for name in ("before", "after")]
    page = document.of_steps([(each, each.summary()) for each in traces], tracealyze.diff(traces[0], traces[1]), 20)
    seen = shown("fold", browser, page, tmp_path)
    assert seen["errors"] == []
    for size in seen["sizes"]:
        assert size["texts"] == ["before.strace.xz", "after.strace.xz"]
        _, second = size["tops"]
        assert size["bottoms"][0] < second
        assert second + SECOND_TIMELINE <= size["height"], size


def convoy(threads: int) -> bytes:
    """Threads that take turns with one lock, and wait for the disk while they have it."""
    lines = ['1 1700000000.000000 execve("/bin/db", ["db"], 0x7ffd /* 9 vars */) = 0 <0.000100>']
    for at in range(threads):
        call = f"clone3({{flags=CLONE_VM|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD, stack=0x7f}}, 88) = {at + 2}"
        lines.append(f"1 1700000000.{1000 + at:06} {call} <0.000001>")
    for at in range(threads):
        start_us = 2_000 + 10_000 * at
        waited = f"{(start_us - 1500 - at) / 1e6:.6f}"
        lines += [
            f"{at + 2} 1700000000.{1500 + at:06} futex(0x55d0, FUTEX_WAIT_PRIVATE, 2, NULL) = 0 <{waited}>",
            f"{at + 2} {1700000000 + (start_us + 100) / 1e6:.6f} fsync(3</srv/journal.db>) = 0 <0.009500>",
            f"{at + 2} {1700000000 + (start_us + 9_900) / 1e6:.6f} futex(0x55d0, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000050>",
            f"{at + 2} {1700000000 + (start_us + 9_980) / 1e6:.6f} +++ exited with 0 +++",
        ]
    lines.append(f"1 {1700000000 + (5_000 + 10_000 * threads) / 1e6:.6f} +++ exited with 0 +++")
    lines.sort(key=lambda line: float(line.split()[1]))
    return ("\n".join(lines) + "\n").encode()


def test_a_lock_has_its_holder_and_who_waits(browser: tuple[str, str], tmp_path: Path) -> None:
    """64 threads were rows of one letter, and the lock an address."""
    seen = ran("keys", browser, tracealyze.read(convoy(50)), tmp_path, "fsync")
    assert (seen["errors"], seen["first"]["mode"]) == ([], "program")
    [lock] = [each for each in seen["first"]["notes"] if "one lock" in each]
    assert re.fullmatch(
        r"50 tasks wait for one lock, up to 50 at once; its holders spend .* in fsync journal.db, \d+ times.", lock
    )
    assert [row.partition(":")[0] for row in seen["first"]["rows"][:2]] == ["lock of 50 tasks", "db ×51"]


STORIES = [
    ("ssh-login/ssh-login.truss", "ZFS_IOC_OBJSET_STATS 297 times", "Batch the calls"),
    ("shutdown/before.strace.xz", "sleeps for a fixed time", "Wait for the process to exit"),
    ("jail-start/before.strace.xz", "is blocked on the lock", "Hold the lock for a shorter time"),
    ("boot-devices/boot-320.strace.xz", "in a loop whose iterations get longer", "cache those results"),
    (
        "jail-start/staged-before.log",
        "start together but finish one by one",
        "Hold the lock only for work that needs it",
    ),
    ("kernel-shutdown/shutdown.log", "The log is silent for 1.01 s", "Find out what runs"),
]


@pytest.mark.parametrize(("capture", "cause", "advice"), STORIES, ids=lambda text: text.split("/")[0][:20])
def test_the_first_screen_has_cause_and_remedy(
    capture: str, cause: str, advice: str, browser: tuple[str, str], tmp_path: Path
) -> None:
    trace = tracealyze.read(SAMPLES / capture)
    seen = ran("conditions", browser, trace, tmp_path)
    for text in (seen["off"], seen["on"], seen["strict"]["text"]):
        assert cause in text
        assert advice in text
    assert seen["strict"]["charts"] > 0
    # The style is the only thing that the policy forbids and a browser tries.
    assert seen["strict"]["violations"] == {"style-src-elem": 1}
    assert seen.get("sheets", 1) <= MAX_SHEETS
    assert seen["form"] == "ready"
    assert (seen["errors"], seen.get("accessibility", [])) == ([], [])


def test_a_capture_with_many_tasks_since_1970_is_interactive(browser: tuple[str, str], tmp_path: Path) -> None:
    # The wall time is not a multiple of the 256 ns to which times since 1970 are exact in scripts.
    lines = []
    for number in range(3_000):
        at_us = number * 337 + number % 7
        stamp = f"{1795574970 + at_us // 1_000_000}.{at_us % 1_000_000:06}"
        lines.append(
            f'{100 + number % 40} {stamp} openat(AT_FDCWD, "/etc/{number}", O_RDONLY) = 3 <0.000{number % 300:03}>'
        )
    seen = ran("conditions", browser, tracealyze.read("\n".join(lines).encode()), tmp_path)
    assert (seen["form"], seen["errors"]) == ("ready", [])
    assert seen.get("sheets", 1) <= MAX_SHEETS
