"""A redacted capture gives the same answers, and nothing of the original is left in it."""

from __future__ import annotations

import json
import os
import re
import runpy
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, SAMPLES

import tracealyze
from tracealyze import _engine
from tracealyze.base.errors import UnknownFormat, WrongUsage
from tracealyze.capture.redaction import Redaction, verify
from tracealyze.compare.gate import baseline_file
from tracealyze.compare.gate.baseline import baseline_of
from tracealyze.compare.run import Run
from tracealyze.model.capture_input.recorded import read_metadata

KEY = bytes(range(16))
NO_CAPTURES = {".md", ".toml", ".py", ".json", ".c", ".sh", ".pl", ".rs"}
LOGIN = SAMPLES / "ssh-login" / "ssh-login.truss"


def captures() -> Iterator[Path]:
    for folder in ("samples", "tests/kept_rules", "tests/kept_oracle", "tests/field/captures"):
        for file in sorted((ROOT / folder).rglob("*")):
            if (
                file.is_file()
                and file.suffix not in NO_CAPTURES
                and not file.name.endswith((".tar.xz", "programs.txt"))
                # Redaction leaves scheduler events out, and with them the answers that need them.
                and "sched_bytes" not in read_metadata(str(file))
            ):
                yield file


@pytest.fixture
def redactor() -> _engine.Redactor:
    return _engine.Redactor(KEY)


def copied(redactor: _engine.Redactor, file: Path, folder: Path) -> Path:
    made = folder / "redacted"
    with made.open("wb") as stream:
        redactor.copy(str(file), lambda text, _: stream.write(text))
    return made


def facts(file: Path) -> dict[str, Any]:
    """What a capture tells, without names."""
    trace = tracealyze.read(file)
    window = trace.window
    return {
        "accounting": trace.accounting,
        "window": (window.start_ns, window.end_ns) if window else None,
        "partition": rows(trace.partition, "pid", "tid", "class", "syscall", "exclusive_ns", "calls"),
        "tasks": rows(
            trace.tasks, "pid", "tid", "creator_pid", "birth_ns", "death_ns", "calls", "failed", "in_call_ns"
        ),
        "loops": rows(trace.loops, "pid", "turns", "period", "total_ns", "first_line", "last_line"),
        "findings": sorted(
            (found.code, found.severity, found.pid or 0, found.calls or 0, found.impact_ns or (), tuple(found.lines))
            for found in trace.findings
        ),
    }


def rows(table: Any, *names: str) -> Counter[tuple[Any, ...]]:
    data = table.to_pandas()
    present = [name for name in names if name in data.columns]
    assert present
    return Counter(map(repr, data[present].itertuples(index=False, name=None)))  # type: ignore[arg-type]


@pytest.mark.parametrize("file", sorted(captures()), ids=lambda file: str(file.relative_to(ROOT)))
def test_answers_stay_the_same_and_nothing_is_left(file: Path, redactor: _engine.Redactor, tmp_path: Path) -> None:
    made = copied(redactor, file, tmp_path)
    assert facts(made) == facts(file)
    _, count, leaks = verify(str(file), str(made))
    # A pseudonym may contain six bytes of its line by chance.
    assert count <= 1, leaks


def pairs() -> Iterator[tuple[Path, Path]]:
    """Captures of the same folder, which are of one scenario: each with the next one."""
    files = [file for file in sorted(captures()) if file.parent != ROOT / "tests" / "field" / "captures"]
    for one, other in pairwise(files):
        if one.parent == other.parent:
            yield one, other


def pair_name(pair: tuple[Path, Path]) -> str:
    return f"{pair[0].parent.name}-{pair[0].stem}-{pair[1].stem}"


def comparison(before: Path, after: Path, baseline: Path) -> dict[str, Any]:
    """What diff and the gate answer about two captures, without names. The second one is the baseline."""
    difference = tracealyze.diff(before, after)
    runs = [
        Run(trace.of_capture(number)) for trace in [tracealyze.read(after)] for number in range(len(trace.captures))
    ]
    baseline_file.write(baseline_of(runs), baseline)
    gate = tracealyze.check(before, baseline=baseline, fail_on="info")
    return {
        "wall_ns": difference.wall_ns,
        "views": {
            name: Counter((change.status, repr(change.before), repr(change.after)) for change in changes)
            for name, changes in difference.views.items()
        },
        "status": gate.status,
        "judgements": Counter((each.by, each.outcome, each.before, each.after, each.unit) for each in gate.judgements),
    }


@pytest.mark.parametrize("pair", list(pairs()), ids=pair_name)
def test_verdicts_and_differences_stay_the_same(pair: tuple[Path, Path], tmp_path: Path) -> None:
    redacted = []
    for number, file in enumerate(pair):
        (tmp_path / str(number)).mkdir()
        redacted.append(copied(_engine.Redactor(KEY), file, tmp_path / str(number)))
    expected = comparison(*pair, tmp_path / "baseline.json")
    assert comparison(redacted[0], redacted[1], tmp_path / "redacted.json") == expected


def test_verdicts_of_the_pairs_differ(tmp_path: Path) -> None:
    """Otherwise, comparing them would prove nothing."""
    found = {comparison(*pair, tmp_path / "baseline.json")["status"] for pair in list(pairs())[:40]}
    assert len(found) > 1


def run(
    *words: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "tracealyze", *words], input=stdin, capture_output=True, check=False, env=env
    )


def test_words_of_a_redacted_capture_stay(redactor: _engine.Redactor, tmp_path: Path) -> None:
    once = copied(redactor, LOGIN, tmp_path).read_bytes()
    again = _engine.Redactor(bytes(16))
    pseudonyms = re.compile(rb"[ghjkmnpqrstvwxyz]{14}")
    assert pseudonyms.findall(again.feed(once) + again.finish()) == pseudonyms.findall(once) != []


def test_pieces_of_any_size_give_the_same(redactor: _engine.Redactor, tmp_path: Path) -> None:
    whole = copied(redactor, LOGIN, tmp_path).read_bytes()
    text = LOGIN.read_bytes()
    pieces = [text[start : start + 1009] for start in range(0, len(text), 1009)]
    assert b"".join(redactor.feed(piece) for piece in pieces) + redactor.finish() == whole


def test_equal_names_have_equal_pseudonyms_only_with_the_same_key() -> None:
    names = [_engine.Redactor(key).name(b"/home/alice/notes.txt") for key in (KEY, KEY, bytes(16))]
    assert names[0] == names[1] != names[2]
    assert names[0].startswith(b"/home/") and names[0].endswith(b".txt") and b"alice" not in names[0]


def test_the_map_translates_back_and_is_private(tmp_path: Path) -> None:
    tracealyze.redact(LOGIN, tmp_path / "out", map_file=tmp_path / "map")
    assert stat.S_IMODE(os.stat(tmp_path / "map").st_mode) == 0o600
    pairs = [line.split("\t") for line in (tmp_path / "map").read_text().splitlines()]
    (quota,) = (made for made, word in pairs if word == "quota")
    assert quota in (tmp_path / "out").read_text()


def test_kept_names_stay(tmp_path: Path) -> None:
    tracealyze.redact(LOGIN, tmp_path / "kept", keep="quot.")
    tracealyze.redact(LOGIN, tmp_path / "programs", keep_programs=True)
    tracealyze.redact(LOGIN, tmp_path / "none")
    texts = [(tmp_path / name).read_text() for name in ("kept", "programs", "none")]
    assert ["/usr/sbin/quota" in text for text in texts] == [True, True, False]
    assert verify(str(LOGIN), str(tmp_path / "kept"), keep="quot.")[1] == 0


def test_files_per_thread_become_a_directory(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    for pid in (11, 12):
        (folder / f"secret.{pid}").write_text(
            "".join(f'1700000000.00000{at} openat(AT_FDCWD, "/x{at}", O_RDONLY) = 3 <0.000010>\n' for at in range(5))
        )
    tracealyze.redact(folder, tmp_path / "out")
    assert sorted(os.listdir(tmp_path / "out")) == ["trace.11", "trace.12"]
    assert verify(str(folder), str(tmp_path / "out"))[:2] == (10, 0)


@pytest.mark.parametrize("name", ["out.strace", "out.strace.gz", "out.strace.zst"])
def test_the_name_decides_about_compression(name: str, tmp_path: Path) -> None:
    tracealyze.redact(LOGIN, tmp_path / name)
    assert tracealyze.read(tmp_path / name).accounting == tracealyze.read(LOGIN).accounting


def test_a_leak_is_found_and_not_repeated() -> None:
    done = run("redact", "--verify", str(LOGIN), str(LOGIN))
    assert done.returncode == 1
    assert b"ssh-login.truss:" in done.stdout and b"quota" not in done.stdout


def test_standard_streams_are_used() -> None:
    done = run("redact", "-", "-o", "-", stdin=LOGIN.read_bytes())
    assert done.returncode == 0 and done.stdout.count(b"\n") == LOGIN.read_bytes().count(b"\n")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"output": "exists"}, WrongUsage),
        ({"key": "exists"}, WrongUsage),
        ({"key": "missing"}, WrongUsage),
        ({"map_file": "exists"}, WrongUsage),
        ({"keep": "("}, WrongUsage),
        ({"input_format": "no-format"}, WrongUsage),
        ({"capture": "exists"}, UnknownFormat),
    ],
    ids=str,
)
def test_mistakes_are_explained(options: dict[str, str], error: type[Exception], tmp_path: Path) -> None:
    (tmp_path / "exists").write_text("no capture\n")
    at = {name: tmp_path / value if name not in ("keep", "input_format") else value for name, value in options.items()}
    with pytest.raises(error):
        tracealyze.redact(**({"capture": LOGIN, "output": tmp_path / "out"} | at))  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_metadata_tells_nothing_about_the_command() -> None:
    facts = {
        "record": 1,
        "argv": ["/opt/acme/run", "--token=s3cr3tvalue"],
        "labels": {"customer": "acme"},
        "kernel": "6.1.0-acme",
        "profile": "full",
        "overhead_ns": 5,
    }
    made = Redaction.of().facts(facts)
    assert (made["profile"], made["overhead_ns"], made["kernel"]) == ("full", 5, "6.1.0")
    assert not {"acme", "s3cr3tvalue", "customer"} & set(
        json.dumps(made).replace("/", '"').replace("=", '"').split('"')
    )


def test_words_that_engine_and_rules_ask_for_are_kept() -> None:
    """After a change of their sources: python redact/known/make.py"""
    make = runpy.run_path(str(ROOT / "redact" / "known" / "make.py"))
    kept = set((ROOT / "redact" / "known" / "asked.txt").read_text().split())
    assert make["asked"]() - kept == set()
