"""Threads that use one trace at the same time get the answers that one thread gets."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from conftest import SAMPLES, captures_of_samples

import tracealyze
from tracealyze import Trace
from tracealyze.commands._later import Later
from tracealyze.trace.summary import long_lists

QUESTIONS: list[Callable[[Trace], Any]] = [
    lambda trace: [finding.document() for finding in trace.findings],
    lambda trace: list(trace.partition),
    lambda trace: list(trace.processes),
    lambda trace: list(trace.loops),
    lambda trace: list(trace.critical_path),
    lambda trace: list(trace.calls(["syscall", "target"])),
    lambda trace: list(trace.events),
    lambda trace: trace.captures,
]
"""The engine computes the answers to these from others that they have in common."""


@pytest.mark.parametrize("capture", captures_of_samples(), ids=lambda file: file.name)
def test_threads_get_the_same_answers(capture: Path) -> None:
    expected = [question(tracealyze.read(capture)) for question in QUESTIONS]
    with ThreadPoolExecutor(2 * len(QUESTIONS)) as threads:
        for _ in range(2):
            trace = tracealyze.read(capture)
            asked = [threads.submit(question, trace) for question in (*QUESTIONS, *reversed(QUESTIONS))]
            answers = [each.result() for each in asked]
            assert answers == [*expected, *reversed(expected)]


def test_lists_that_a_thread_makes_are_those_of_the_document() -> None:
    capture = SAMPLES / "ssh-login" / "ssh-login.truss"
    trace = tracealyze.read(capture)
    lists = Later(lambda: long_lists(trace)).get
    parts = trace.summary().parts(lists=lists)
    expected = tracealyze.read(capture).summary().document()
    assert {name: getattr(part, "dicts", lambda part=part: part)() for name, part in parts.items()} == expected


def test_without_a_thread_the_call_is_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Thread, "start", refuse)
    assert Later(lambda: 7).get() == 7


def test_an_error_of_a_thread_is_raised_where_its_result_is_used() -> None:
    later: Later[int] = Later(lambda: int("x"))
    with pytest.raises(ValueError, match="'x'"):
        later.get()
