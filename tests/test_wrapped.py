"""Text that a logger, a web page or a mail client puts around the lines of a capture changes no answer."""

from __future__ import annotations

import json
import lzma
import quopri
import re
import textwrap
from collections.abc import Callable
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


def folded_by_mail(line: str) -> str:
    return "\n".join(textwrap.wrap(line, 72, break_long_words=False, break_on_hyphens=False)) or line


def folded_by_terminal(line: str) -> str:
    return "\n".join(line[at : at + 80] for at in range(0, max(len(line), 1), 80))


def quoted_printable(line: str) -> str:
    return quopri.encodestring(line.encode()).decode()


@pytest.mark.parametrize("fold", [folded_by_mail, folded_by_terminal, quoted_printable])
@pytest.mark.parametrize("sample", TRACES)
def test_folded_lines_are_put_together(sample: str, fold: Callable[[str], str], tmp_path: Path) -> None:
    lines = [re.sub(r"\s+", " ", line) for line in text_of(sample).splitlines() if "argc" not in line][:500]
    plain, folded = tmp_path / "plain", tmp_path / "folded"
    plain.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    folded.write_text("".join(f"{fold(line)}\n" for line in lines), encoding="utf-8")
    expected, trace = tracealyze.read(plain), tracealyze.read(folded)
    assert "folds" in trace.captures[0].wrappers and "folds" not in expected.captures[0].wrappers
    assert (trace.totals["calls"], trace.totals["failed"]) == (expected.totals["calls"], expected.totals["failed"])
    assert trace.window.wall_ns == expected.window.wall_ns
    assert any("line breaks of a mail client" in line for line in capture_notes.caveats(trace.captures[0]))


def test_joined_lines_keep_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "mail"
    call = 'openat(AT_FDCWD, "/usr/share/zoneinfo/Europe/Berlin",'
    path.write_text(f"> {call}\n> O_RDONLY|O_CLOEXEC) = 3\n> close(3) = 0\n" * 3)
    table = tracealyze.read(path).events
    assert [event["line"] for event in table] == [1, 3, 4, 6, 7, 9]


def test_output_between_the_lines_is_no_fold(tmp_path: Path) -> None:
    path = tmp_path / "screen"
    text = "this line of output is as long as those of a mail, or so"
    path.write_text(f'write(1, "{text[:32]}"..., 57{text}\n) = 57\n' * 4)
    trace = tracealyze.read(path)
    assert (trace.totals["calls"], trace.captures[0].wrappers) == (4, ())


def test_calls_that_were_joined_are_apart(tmp_path: Path) -> None:
    lines = [
        'openat(AT_FDCWD, "/etc/hosts", O_RDONLY) = 3',
        'read(3, "127.0.0.1 localhost\\n", 4096) = 20',
        'openat(AT_FDCWD, "/etc/nope", O_RDONLY) = -1 ENOENT (No such file or directory)',
        "close(3) = 0",
    ]
    page = "<pre>" + "<br />".join(f"<span>{line}</span>" for line in lines) + "</pre>\n"
    for name, text in (("line", " ".join(lines) + "\n"), ("mail", "> " + " ".join(lines) + "\n"), ("page", page)):
        path = tmp_path / name
        path.write_text(text)
        trace = tracealyze.read(path)
        assert (trace.totals["calls"], trace.totals["failed"]) == (4, 1), name


def test_a_call_in_a_question_is_read(tmp_path: Path) -> None:
    path = tmp_path / "question"
    path.write_text(
        "My server uses all of the CPU.\nI see many of these:\n\n"
        "kevent(0x4, 0x0, 0x0)        = -1 Err#22\n\nWhat could that be?\nThanks.\n"
    )
    trace = tracealyze.read(path)
    assert (trace.captures[0].format, trace.totals["calls"], trace.totals["failed"]) == ("dtruss", 1, 1)


def test_folded_lines_that_do_not_fit_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "mail"
    lines = [f'700 1700000000.{number:06} openat(AT_FDCWD, "/usr/share/{number}", O_RDONLY) = 3' for number in range(9)]
    whole = "700 1700000001.000000 close(3) = 0\n"
    path.write_text("".join(f"{line[: 50 + at]}\n{line[50 + at :]}\n{whole}" for at, line in enumerate(lines)))
    capture = tracealyze.read(path).captures[0]
    assert capture.is_folded
    assert any(note.startswith("Long lines were wrapped") for note in capture_notes.caveats(capture))


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
