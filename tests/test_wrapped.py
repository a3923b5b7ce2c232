"""Text that a logger, a web page or a mail client puts around the lines of a capture changes no answer."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

import tracealyze
from tracealyze.render import capture_notes

SAMPLES = Path(__file__).parents[1] / "samples"
TRACES = ("ssh-login/ssh-login.truss", "shutdown/after.strace.xz", "jail-start/after.strace.xz")
OWN = ("path", "files", "bytes", "wrappers", "sender")
"""Keys that differ between a capture and the same capture with wrapped lines."""

FORMS = {
    "timestamps": "2026-01-02T03:{minute:02}:{second:02}.123456789Z {line}",
    "syslog": "Jan 02 03:{minute:02}:{second:02} host strace[12]: {line}",
    "cri": "2026-01-02T03:{minute:02}:{second:02}.123456789Z stderr F {line}",
    "json": '{{"log":{json},"stream":"stderr","time":"2026-01-02T03:04:05.123456789Z"}}',
    "compose": "web-1  | {line}",
    "kubectl": "[pod/web-5d/app] {line}",
    "numbers": "{number:6}\t{line}",
    "quotes": "> {line}",
}


def text_of(sample: str) -> str:
    path = SAMPLES / sample
    content = path.read_bytes()
    return (lzma.decompress(content) if path.suffix == ".xz" else content).decode("utf-8", "surrogateescape")


def wrapped(sample: str, form: str, into: Path) -> Path:
    with into.open("w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        for number, line in enumerate(text_of(sample).splitlines(), 1):
            time = {"minute": number // 60 % 60, "second": number % 60}
            file.write(form.format(number=number, line=line, json=json.dumps(f"{line}\n"), **time) + "\n")
    return into


def document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(tracealyze.read(path).summary().document()))
    for capture in found["captures"]:
        for name in OWN:
            del capture[name]
    # Findings quote lines of the file as they are.
    text = json.dumps(found).replace(str(path), "PATH")
    return json.loads(text)  # type: ignore[no-any-return]


@pytest.mark.parametrize("sample", TRACES)
def test_wrapped_trace_gives_the_same_answer(sample: str, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(text_of(sample).encode("utf-8", "surrogateescape"))
    expected = document(plain)
    for name, form in FORMS.items():
        path = wrapped(sample, form, tmp_path / name)
        assert tracealyze.read(path).captures[0].wrappers == (name,)
        assert document(path) == expected, name


def test_report_names_the_wrapper_and_its_clock(tmp_path: Path) -> None:
    path = tmp_path / "log"
    lines = ['execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0', "close(3) = 0", "close(4) = 0", "+++ exited with 0 +++"]
    lines = [f"Jan 02 03:04:0{number} host strace[12]: {line}" for number, line in enumerate(lines)]
    path.write_text("\n".join([*lines, "Jan 02 03:04:09 host kernel: usb 1-1: new device", ""]))
    trace = tracealyze.read(path)
    capture = trace.captures[0]
    assert (capture.format, capture.wrappers, capture.sender, capture.is_logged_clock) == (
        "strace",
        ("syslog",),
        "strace",
        True,
    )
    notes = list(capture_notes.caveats(capture))
    assert notes[0] == (
        "Stripped from each line: timestamp and sender (syslog or journal). "
        'Read only lines from "strace"; ignored the rest.'
    )
    assert notes[1].startswith("The trace has no timestamps of its own, so those of the log are used")
    assert capture.accounting["foreign"] == 1
    assert trace.window.wall_ns == 3_000_000_000


def test_folded_lines_are_reported_as_unreliable(tmp_path: Path) -> None:
    path = tmp_path / "mail"
    lines = [f'700 1700000000.{number:06} openat(AT_FDCWD, "/usr/share/{number}", O_RDONLY) = 3' for number in range(9)]
    whole = "700 1700000001.000000 close(3) = 0\n"
    path.write_text("".join(f"{line[:60]}\n{line[60:]}\n{whole}" for line in lines))
    capture = tracealyze.read(path).captures[0]
    assert capture.is_folded
    assert any(note.startswith("Long lines were wrapped") for note in capture_notes.caveats(capture))


def test_calls_that_a_mail_wrapped_are_whole(tmp_path: Path) -> None:
    lines = [
        f'17:01:0{second}.123456 openat(AT_FDCWD, "/usr/lib/{second}",\nO_RDONLY|O_CLOEXEC) = 3 <0.00{second}100>'
        for second in range(1, 9)
    ]
    path = tmp_path / "mail"
    path.write_text("".join(f"{line}\n" for line in lines))
    trace = tracealyze.read(path)
    assert trace.captures[0].is_folded
    assert (trace.totals["calls"], trace.totals["failed"]) == (8, 0)
    assert sum(event["dur_ns"] for event in trace.events) == sum(range(1, 9)) * 1_000_000 + 8 * 100_000


@pytest.mark.parametrize("form", ["{number}. {line}", "{number:3}| {line}", "{number}) {line}", "    {line}"])
def test_untimed_lines_of_a_page_are_read(form: str, tmp_path: Path) -> None:
    lines = [f'openat(AT_FDCWD, "/usr/lib/{number}", O_RDONLY) = {number}' for number in range(3, 15)]
    path = tmp_path / "page"
    path.write_text("".join(form.format(number=number, line=line) + "\n" for number, line in enumerate(lines, 1)))
    trace = tracealyze.read(path)
    assert (trace.captures[0].format, trace.accounting) == ("strace", {"call": 12})


def test_a_table_with_indented_rows_is_of_its_tracer(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_text(
        "syscall               seconds   calls  errors\n  read                   .010      20\n"
        "  open                   .005      12      3\n                     --------  ------   ----\n"
        "  sys totals:            .015      32      3\n  usr time:              .002\n  elapsed:              1.230\n"
    )
    trace = tracealyze.read(path)
    assert (trace.captures[0].format, trace.accounting) == ("truss-solaris", {"summary_table": 7})
