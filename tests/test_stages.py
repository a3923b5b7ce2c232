"""Items and stages of logs: which items go through the same messages, and what each additional item costs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import SAMPLES, Run

import tracealyze
from tracealyze.trace.trace import Trace

Log = Callable[[str], Trace]

BEFORE, AFTER = (SAMPLES / "jail-start" / f"staged-{name}.log" for name in ("before", "after"))
MS = 1_000_000


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """Read a small log, given as text."""

    def write(text: str) -> Trace:
        file = tmp_path / "small.log"
        file.write_text(text, encoding="utf-8")
        return tracealyze.read(file, input_format="kernel-log")

    return write


def staged(stages: Sequence[str], items: Sequence[str], begin_ms: Callable[[int, int], int]) -> str:
    """A log in which each item goes through the stages: `begin_ms` takes an item and a stage."""
    lines = [
        (begin_ms(item, stage), text.format(name))
        for item, name in enumerate(items)
        for stage, text in enumerate(stages)
    ]
    return "".join(f"[{ms // 1000:5}.{ms % 1000:03}000] {text}\n" for ms, text in sorted(lines))


def test_stages_show_jails_that_queue_before_and_overlap_after() -> None:
    (before,), (after,) = tracealyze.read(BEFORE).items, tracealyze.read(AFTER).items
    assert (before["item"], before["items"], after["items"]) == ("jail N", 6, 6)
    assert 320 * MS < before["marginal_ns"] < 340 * MS
    assert 30 * MS < after["marginal_ns"] < 45 * MS
    assert before["parallel"] > 3 > 1.5 > before["effective"]
    assert after["effective"] > 4


def test_stages_show_jails_that_run_one_at_a_time(log: Log) -> None:
    """Sixteen jails in 132 s: 8.25 s each."""
    trace = log(
        staged(["jail {}: start", "jail {}: up"], [*map(str, range(1, 17))], lambda jail, up: 8250 * (jail + up))
    )
    (row,) = trace.items
    assert (row["elapsed_ns"], row["marginal_ns"], row["residual_ns"]) == (132_000 * MS, 8250 * MS, 0)
    assert (row["parallel"], row["effective"]) == (1.0, 1.0)
    assert [finding.name for finding in trace.findings] == ["serial-items"]


def test_items_with_names_are_one_kind(log: Log) -> None:
    stages = ["{}: starting", "{}: network up", "{}: ready"]
    trace = log(staged(stages, ["web", "mail", "print", "news"], lambda item, stage: 700 * item + 250 * stage))
    (row,) = trace.items
    assert (row["item"], row["items"], row["stages"]) == ("NAME", 4, 3)
    assert [each["message"] for each in trace.stages] == ["NAME: starting", "NAME: network up", "NAME: ready"]


def test_stage_lasts_until_the_next_message_of_its_item(log: Log) -> None:
    trace = log(staged(["job {}: begin", "job {}: end"], ["1", "2", "3"], lambda job, end: 10 * job + 1000 * end))
    begin, end = trace.stages
    assert (begin["total_ns"], begin["mean_ns"], end["total_ns"]) == (3000 * MS, 1000 * MS, None)
    assert (begin["exclusive_ns"], end["exclusive_ns"]) == (1000 * MS, 20 * MS)


@pytest.mark.parametrize(
    "file", [BEFORE, AFTER, SAMPLES / "kernel-shutdown" / "shutdown.log"], ids=lambda file: file.name
)
def test_silences_of_all_stages_sum_to_the_window(file: Path) -> None:
    trace = tracealyze.read(file)
    assert sum(row["exclusive_ns"] for row in trace.stages) == trace.window.wall_ns
    assert sum(row["messages"] for row in trace.stages) == trace.accounting["log"]


BOOT = """\
[    0.000000] Linux version 6.1.0 (gcc 12.2.0)
[    0.500000] ACPI: Early table checksum verification disabled
[    1.100000] smp: Bringing up secondary CPUs ...
[    1.900000] pci 0000:00:1f.2: reg 0x10: [io  0xf090-0xf097]
[    2.600000] SCSI subsystem initialized
[    3.300000] NET: Registered PF_INET6 protocol family
[    4.400000] EXT4-fs (sda1): mounted filesystem with ordered data mode
[    5.000000] systemd[1]: Detected architecture x86-64.
[    6.200000] e1000e 0000:00:19.0 eth0: NIC Link is Up 1000 Mbps Full Duplex
[    7.000000] random: crng init done
"""
LINK = "".join(f"[{second:5}.000000] eth0: link is {'down' if second % 2 else 'up'}\n" for second in range(1, 20))
CLOCK = "".join(f"[{second:5}.000000] tick 5 of the watchdog at level 3\n" for second in range(1, 20))
OTHERS = "".join(
    f"[{second:5}.000000] {text}\n"
    for second, text in enumerate(["disk 1: found", "fan 2: slow", "port 3: reset", "key 4: set"])
)


@pytest.mark.parametrize("text", [BOOT, LINK, CLOCK, OTHERS], ids=["boot", "link", "clock", "others"])
def test_unrelated_messages_have_no_items(text: str, log: Log) -> None:
    trace = log(text)
    assert list(trace.items) == []
    assert not {"serial-items", "queued-items"} & {finding.name for finding in trace.findings}


def test_occasional_connections_are_not_serial_items(log: Log) -> None:
    stages = ["conn {}: accepted", "conn {}: closed"]
    trace = log(staged(stages, [*map(str, range(40))], lambda conn, end: 2000 * conn + (conn % 7) * 90 + 30 * end))
    assert not {"serial-items", "queued-items"} & {finding.name for finding in trace.findings}


def test_clock_of_whole_seconds_gives_no_parallelism(log: Log) -> None:
    text = "".join(
        f"Nov 21 07:45:{second:02} host rc: jail {jail}: {what}\n"
        for jail in range(1, 9)
        for what, second in (("start", 2 * jail), ("up", 2 * jail + 1))
    )
    (row,) = log(text).items
    assert (row["parallel"], row["effective"]) == (None, None)


def test_truncated_log_leaves_items_unfinished(log: Log) -> None:
    whole = staged(
        ["jail {}: start", "jail {}: up"], [*map(str, range(8))], lambda jail, up: 10 * jail + 1000 * up * (jail + 1)
    )
    (row,) = log("".join(whole.splitlines(keepends=True)[:-3])).items
    assert (row["items"], row["unfinished"]) == (5, 3)


def document(run: Run, *arguments: str | Path) -> Any:
    return json.loads(run(*arguments, "--json").stdout)


def test_stages_command_and_summary_agree(run: Run) -> None:
    shown, summary = document(run, "stages", BEFORE), document(run, "summarize", BEFORE)
    for name in ("items", "stages"):
        assert [{key: row[key] for key in row if key != "capture"} for row in shown[name]] == summary[name]


def test_stages_lists_several_logs(run: Run) -> None:
    shown = run("stages", BEFORE, AFTER).stdout
    assert "before ms  after ms" in shown
    assert "294.059    34.691  jail N: has the lock" in shown


def test_captures_of_calls_have_no_stages(run: Run, strace: Callable[[str], Path]) -> None:
    shown = run("stages", strace('1 1700000010.000000 read(3, "x", 1) = 1 <0.000010>\n'))
    assert shown.returncode == 0
    assert "Only logs have stages" in shown.stderr
