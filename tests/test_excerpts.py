"""Excerpts: lines that somebody quoted from a trace, with words between them."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import SAMPLES

import tracealyze
from tracealyze.render.capture_notes import window_lines

LOGIN = SAMPLES / "ssh-login" / "ssh-login.truss"
QUOTA = 12200


def read_text(folder: Path, text: str) -> tracealyze.Trace:
    capture = folder / "page.txt"
    capture.write_text(text, encoding="utf-8")
    return tracealyze.read(str(capture))


def every(step: int) -> str:
    """Every so many lines of the login, and the first and last ones of quota."""
    lines = LOGIN.read_text(encoding="utf-8").splitlines()
    ends = [at for at, line in enumerate(lines) if "forkx" in line or "_exit(" in line or "execve(" in line]
    return "\n".join(line for at, line in enumerate(lines) if at % step == 0 or at in ends)


@pytest.mark.parametrize("step", [5, 11, 40])
def test_left_out_time_belongs_to_no_program(tmp_path: Path, step: int) -> None:
    trace = read_text(tmp_path, every(step))
    assert sum(row["exclusive_ns"] for row in trace.partition_by(["pid", "class"])) == trace.window.wall_ns
    by_pid = {row["pid"]: row["exclusive_ns"] for row in trace.partition_by(["pid"])}
    assert by_pid[QUOTA] > 0.8 * trace.window.wall_ns
    classes = {row["class"]: row["exclusive_ns"] for row in trace.partition_by(["class"])}
    assert classes["gap"] > 0.1 * trace.window.wall_ns
    assert classes.get("user", 0) < 0.05 * trace.window.wall_ns


def test_a_page_of_quotations_names_the_process_that_lived_longest() -> None:
    trace = tracealyze.read(str(SAMPLES / "ssh-login" / "excerpt.txt"))
    assert not trace.captures[0].cut
    assert trace.captures[0].places_left_out > 0
    assert next(finding.pid for finding in trace.findings if finding.name == "excerpt") == QUOTA
    assert "cpu-bound" not in [finding.name for finding in trace.findings]


def test_a_whole_trace_has_nothing_left_out() -> None:
    trace = tracealyze.read(str(LOGIN))
    assert trace.captures[0].places_left_out == 0


def test_messages_that_a_page_joined_are_separate_events(tmp_path: Path) -> None:
    text = "It took long:\n[ 1.486287] md: stopping all md devices. [ 2.492737] ACPI: S5 [ 2.493129] Power down.\nWhy?"
    trace = read_text(tmp_path, text)
    assert trace.accounting["log"] == 1
    assert sum(trace.accounting.values()) == 3
    assert trace.window.wall_ns == 1_006_842_000


def test_a_first_line_with_all_that_a_program_wrote_is_recognised(tmp_path: Path) -> None:
    # More than the part of a file that was searched for the end of the first line.
    line = f'1000 1700000000.000000 write(1, "{"a" * (17 << 20)}", 17825792) = 17825792 <0.010000>\n'
    assert read_text(tmp_path, line + line.replace("00.00", "00.02")).accounting["call"] == 2


def test_a_mark_between_two_calls_hides_what_the_task_did(tmp_path: Path) -> None:
    text = (
        '100 1700000010.000000 execve("/bin/tool", ["tool"], 0x7ffd /* 1 var */) = 0 <0.001000>\n'
        '100 1700000010.001000 read(3, "x", 1) = 1 <0.000010>\n[...]\n'
        '100 1700000019.001000 read(3, "", 1) = 0 <0.000010>\n'
        "100 1700000019.002000 exit_group(0) = ?\n100 1700000019.003000 +++ exited with 0 +++\n"
    )
    trace = read_text(tmp_path, text)
    assert trace.accounting["elision"] == 1
    classes = {row["class"]: row["exclusive_ns"] for row in trace.partition_by(["class"])}
    assert classes["gap"] > 8_900_000_000
    assert "cpu-bound" not in [finding.name for finding in trace.findings]


def test_a_line_of_a_new_process_is_a_birth_and_no_call() -> None:
    births = [row for row in tracealyze.read(str(LOGIN)).calls(["syscall"]) if row["syscall"] == "forkx"]
    assert [row["calls"] for row in births] == [4]


def test_a_table_of_cpu_time_says_how_long_the_run_waited() -> None:
    trace = tracealyze.read(Path(__file__).parent / "kept_excerpts" / "table-solaris.txt")
    notes = " ".join(window_lines(trace.window, trace.captures[0]))
    assert "took 8.42 s: 406 ms on a CPU in system calls, 51 ms in its own code, 7.96 s waiting" in notes


def test_a_call_that_a_person_interrupts_is_named_also_if_it_is_no_hang(tmp_path: Path) -> None:
    line = '170000000{at} read(3</mnt/big>, "x"..., 4096) = 4096 <0.000300>\n'
    end = "1700000000.090000 read(3</mnt/big>, ^Cstrace: Process 77 detached\n <detached ...>\n"
    trace = read_text(tmp_path, "".join(line.format(at=f"0.0{at}0000") for at in range(3)) + end)
    assert "is in read on /mnt/big" in trace.summary().diagnosis[-1].text
    assert not trace.findings
