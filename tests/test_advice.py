"""Advice on how to capture again: no rule names the options of a tracer that did not make the capture."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tracealyze
from tracealyze.findings.rule_set import Rule, rules
from tracealyze.model.capture_input.recapture import LACKS, recapture, whole_command
from tracealyze.render.capture_notes import window_lines

_TRACERS = (
    "strace",
    "ltrace",
    "perf-trace",
    "perf-data",
    "kdump",
    "dtruss",
    "fs-usage",
    "gvisor",
    "sysdig",
    "procmon",
    "strace-macos",
    "truss-freebsd",
    "truss-solaris",
    "truss-aix",
)
_COMMANDS = {
    "strace": r"(?<!--)\bstrace\b",
    "ltrace": r"\bltrace\b",
    "kdump": r"\b(?:ktrace|kdump)\b",
    "dtruss": r"\bdtruss\b",
    "fs-usage": r"\bfs_usage\b",
    "gvisor": r"\brunsc\b",
    "sysdig": r"\bsysdig\b",
    "procmon": r"\b(?:procmon|Process Monitor)\b",
    "truss": r"\btruss\b",
}
_FITS = {
    "perf-trace": (),
    "perf-data": (),
    "truss-freebsd": ("truss", "kdump"),
    "truss-solaris": ("truss",),
    "truss-aix": ("truss",),
    # It is called like the tracer of Linux, and lacks what fs_usage prints.
    "strace-macos": ("strace", "fs-usage"),
}
_ONLY_FOR = re.compile(r"\{format:if=([\w-]+)\}")
_PLACEHOLDER = re.compile(r"\{again_(\w+)\}")


def _commands(text: str) -> set[str]:
    return {name for name, command in _COMMANDS.items() if re.search(command, text)}


def _texts(rule: Rule) -> list[str]:
    """The sentences that a finding may show."""
    words = [word for alternatives in rule.words.values() for word in alternatives]
    return [rule.message, rule.advice, rule.remark, *words]


def _shown(text: str, tracer: str) -> str:
    """The text with the commands of this tracer; nothing if it is for another one."""
    if any(only != tracer for only in _ONLY_FOR.findall(text)):
        return ""
    wholes = {"all": whole_command(tracer), "attached": whole_command(tracer, attaches=True)}
    return _PLACEHOLDER.sub(lambda found: wholes.get(found[1]) or recapture(tracer, found[1]), text)


@pytest.mark.parametrize("tracer", _TRACERS)
@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.name)
def test_advice_names_commands_of_the_tracer_only(rule: Rule, tracer: str) -> None:
    fits = set(_FITS.get(tracer, (tracer,)))
    for text in _texts(rule):
        assert _commands(_shown(text, tracer)) <= fits, text


@pytest.mark.parametrize("tracer", _TRACERS)
def test_each_tracer_has_advice_for_each_lack(tracer: str) -> None:
    unknown = {lack for lack in LACKS if recapture(tracer, lack) == recapture("kernel-log", lack)}
    assert unknown == set()


def test_advice_does_not_name_what_the_capture_has(tmp_path: Path) -> None:
    file = tmp_path / "durations.strace"
    file.write_text("futex(0x7f12a00, FUTEX_WAIT_PRIVATE, 2, NULL) = 0 <8.001234>\n", encoding="utf-8")
    trace = tracealyze.read(file)
    assert [each.name for each in trace.findings] == ["outside-wait"]
    (reason,) = window_lines(trace.window, trace.captures[0])
    assert reason.endswith("Capture with strace -f -ttt -yy.")
