"""Diagnoses of short captures with times: the first finding, and the words that an expert would use."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import tracealyze

_CASES: dict[str, dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "outcomes" / "diagnoses.toml").read_text(encoding="utf-8")
)


def _capture(case: dict[str, Any]) -> bytes:
    turns = "".join(case["turn"].removeprefix("\n").replace("{n}", f"{n:04}") for n in range(case.get("turns", 0)))
    text: str = case["trace"]
    return text.removeprefix("\n").replace("{turns}\n", turns).encode()


@pytest.mark.parametrize("name", _CASES)
def test_diagnosis_says_what_an_expert_would(name: str) -> None:
    case = _CASES[name]
    summary = tracealyze.read(_capture(case)).summary()
    document = summary.document()
    text = f"{document['outcome']['text']} {' '.join(each['text'] for each in document['diagnosis'])}"
    assert [each.name for each in summary.findings][:1] == [case["first"]][: bool(case["first"])], text
    assert [words for words in case["says"] if words not in text] == [], text
    assert [words for words in case.get("never", ()) if words in text] == [], text


def _syncs(tid: int, first_us: int, number: int) -> list[str]:
    stamps = (1700000000000000 + first_us + 11000 * n for n in range(number))
    call = "fdatasync(5</srv/wal>) = 0 <0.010000>"
    return [f"{tid} {stamp // 1000000}.{stamp % 1000000:06} {call}" for stamp in stamps]


def test_syncs_off_the_critical_path_are_counted_with_their_time() -> None:
    """50 syncs of a thread, while the process computes, were believed to take no time; 10 follow that it waits for."""
    flags = "CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM"
    begin = [
        '100 1700000000.000000 execve("/bin/db", ["db"], 0x7f /* 1 var */) = 0 <0.001000>',
        f"100 1700000000.002000 clone3({{flags={flags}}}, 88) = 101 <0.000100>",
    ]
    exit_of_thread = ["101 1700000000.600000 exit(0) = ?", "101 1700000000.600100 +++ exited with 0 +++"]
    exit_of_process = ["100 1700000001.200000 exit_group(0) = ?", "100 1700000001.200100 +++ exited with 0 +++"]
    lines = [*begin, *_syncs(101, 5000, 50), *exit_of_thread, *_syncs(100, 1000000, 10), *exit_of_process]
    summary = tracealyze.read("\n".join([*lines, ""]).encode()).summary()
    text = " ".join(each.text for each in summary.diagnosis)
    assert "waits 60 times until data is on the disk: 600 ms in all, 100 ms of it on the critical path" in text
