"""How runs went: the verdict of short captures, and the words that explain it."""

from __future__ import annotations

import gzip
import json
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tracealyze
from tracealyze.trace.outcome import known

_CASES: dict[str, dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "outcomes" / "cases.toml").read_text(encoding="utf-8")
)
_RUNNING = {"server-until-ctrl-c", "threads-wait-for-each-other", "still-loading"}
_ANSWER = ("outcome", "observations", "diagnosis", "findings")
Run = Callable[..., subprocess.CompletedProcess[str]]


def _capture(folder: Path, name: str) -> Path:
    file = folder / f"{name}.strace"
    file.write_text(_CASES[name]["trace"].removeprefix("\n"), encoding="utf-8")
    return file


@pytest.mark.parametrize("name", _CASES)
def test_outcome_says_how_the_run_went(name: str, tmp_path: Path) -> None:
    case = _CASES[name]
    document = tracealyze.read(_capture(tmp_path, name)).summary().document()["outcome"]
    assert document["verdict"] == case["verdict"], document
    assert [words for words in case["says"] if words not in document["text"]] == [], document
    assert [words for words in case.get("never", ()) if words in document["text"]] == [], document
    assert case.get("next", "") in document["next"], document


@pytest.mark.parametrize("name", _CASES)
def test_report_begins_with_the_verdict(name: str, tmp_path: Path, run: Run) -> None:
    case, capture = _CASES[name], _capture(tmp_path, name)
    shown = " ".join("\n".join(run("summarize", capture).stdout.splitlines()[:12]).split())
    assert f"{case['verdict'].replace('-', ' ').upper()}: " in shown
    assert [words for words in case["says"][:2] if words not in shown] == []


@pytest.mark.parametrize("name", _CASES)
def test_outcome_is_the_same_however_it_is_read(name: str, tmp_path: Path, run: Run) -> None:
    capture = _capture(tmp_path, name)
    packed = capture.with_suffix(".gz")
    packed.write_bytes(gzip.compress(capture.read_bytes()))
    expected = json.loads(run("summarize", "--json", capture).stdout)
    texts = [run("summarize", "--json", packed).stdout]
    texts.append(run("summarize", "--json", "-", stdin=capture.read_text(encoding="utf-8")).stdout)
    for text in texts:
        found = json.loads(text)
        assert [found[key] for key in _ANSWER] == [expected[key] for key in _ANSWER]


@pytest.mark.parametrize("name", sorted(set(_CASES) - _RUNNING))
def test_cutting_a_capture_accuses_nothing_new(name: str, tmp_path: Path) -> None:
    whole = _CASES[name]["trace"].removeprefix("\n").splitlines(keepends=True)
    for lines in range(1, len(whole)):
        file = tmp_path / f"{lines}.strace"
        file.write_text("".join(whole[:lines]), encoding="utf-8")
        try:
            verdict = tracealyze.read(file).summary().outcome.verdict
        except tracealyze.UnknownFormat:
            # Too little of a table, or of a log within prose.
            continue
        allowed = (_CASES[name]["verdict"], *_CASES[name].get("prefixes", ()), "cannot-tell", "fine")
        assert verdict in allowed, "".join(whole[:lines])


def test_a_silent_name_server_is_slow_without_a_clock(tmp_path: Path) -> None:
    file = tmp_path / "a.strace"
    asked = r'sendto(3, "\216\247\1\0\0\1\0\0\0\0\0\0\3www\7example\3com\0\0\1\0\1", 33, 0, NULL, 0) = 33'
    waited = "poll([{fd=3, events=POLLIN}], 1, 5000) = 0 (Timeout)"
    server = '{sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.0.0.2")}'
    file.write_text("\n".join([f"connect(3, {server}, 16) = 0", asked, waited, asked, waited, ""]), encoding="utf-8")
    summary = tracealyze.read(file).summary()
    assert summary.outcome.verdict == "slow"
    assert "10.0.0.2:53: at least 10.00 s" in summary.diagnosis[0].text


def test_each_error_and_signal_has_a_text() -> None:
    assert all(error.text and 0 <= error.weight <= 10 for error in known.errors().values())
    assert all(signal.kind in ("crash", "killed", "asked") for signal in known.signals().values())
    assert known.usual_failures()
    assert all(usual.because for usual in known.usual_failures())


def test_all_turns_of_a_long_loop_are_counted(tmp_path: Path) -> None:
    turn = "read(4, 0x1ffb70f, 4096) = -1 EBADF (Bad file descriptor)\nclose(4) = -1 EBADF (Bad file descriptor)\n"
    (tmp_path / "a.strace").write_text('execve("/bin/relay", ["relay"], 0x7ffd /* 1 var */) = 0\n' + 5_000 * turn)
    text = tracealyze.read(tmp_path / "a.strace").summary().document()["outcome"]["text"]
    assert "5,000 times without success" in text


def _log(*, lines: int, failed_at: int) -> str:
    texts = [f"systemd[1]: Started Service {number}." for number in range(lines)]
    texts[failed_at] = "systemd[1]: Failed to start Weather station."
    stamps = (f"Mar 02 08:{number // 60:02}:{number % 60:02} node7" for number in range(lines))
    return "".join(f"{stamp} {text}\n" for stamp, text in zip(stamps, texts, strict=True))


@pytest.mark.parametrize(("failed_at", "verdict"), [(100, "cannot-tell"), (390, "failed")])
def test_failure_in_the_middle_of_a_long_log_was_survived(failed_at: int, verdict: str, tmp_path: Path) -> None:
    log = tmp_path / "journal"
    log.write_text(_log(lines=400, failed_at=failed_at), encoding="utf-8")
    outcome = tracealyze.read(log).summary().document()["outcome"]
    assert (outcome["verdict"], "Weather station" in outcome["text"]) == (verdict, True), outcome


def test_call_that_a_signal_ends_at_once_is_no_hang(tmp_path: Path) -> None:
    """Files of threads follow each other as files: what is in a later file did not happen later."""
    killed = (
        'execve("/bin/sleep", ["sleep", "9"], 0x7ffd /* 1 var */) = 0 <0.000100>',
        "mmap(NULL, 50, PROT_READ, MAP_PRIVATE, 3</etc/locale>, 0) = ?",
        "+++ killed by SIGKILL +++",
    )
    (tmp_path / "t.7").write_text("".join(f"1700000017.000{at}00 {text}\n" for at, text in enumerate(killed, 1)))
    calls = "".join(f"1700000017.{at:06} getppid() = 1 <0.000001>\n" for at in range(100, 300))
    begins = '1700000017.000050 execve("/bin/jobs", ["jobs"], 0x7ffd /* 1 var */) = 0 <0.00001>\n'
    (tmp_path / "t.8").write_text(begins + calls)
    outcome = tracealyze.read(tmp_path / "t").summary().document()["outcome"]
    assert outcome["verdict"] != "hung", outcome["text"]
