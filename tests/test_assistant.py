"""Answers for language models: bounded, confined to a directory, and nothing in a trace becomes an instruction."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, SAMPLES
from test_brief import HOSTILE

import tracealyze
from tracealyze.commands._assistant.answers import MAX_TOKENS, Answers
from tracealyze.commands._assistant.server import TOOLS
from tracealyze.render.brief import brief, tokens_of

SSH = "ssh-login/ssh-login.truss"
BEFORE, AFTER = "shutdown/before.strace.xz", "shutdown/after.strace.xz"
LINE = "1 1700000000.000000 close(3) = 0 <0.000010>\n"


@pytest.fixture(scope="module")
def answers() -> Answers:
    return Answers(SAMPLES)


def test_summary_is_the_short_report(answers: Answers) -> None:
    assert answers.summary(SSH) == brief(tracealyze.read(SAMPLES / SSH))


def test_finding_has_the_lines_that_prove_it(answers: Answers) -> None:
    lines = answers.finding(SSH, 1).splitlines()
    assert lines[0] == "hot-loop (TLZ002), error, inferred"
    assert any(line.startswith("| 199: 12200:") and "ZFS_IOC_OBJSET_STATS" in line for line in lines)
    with pytest.raises(tracealyze.WrongUsage, match="no finding 2; the summary lists 1"):
        answers.finding(SSH, 2)


def test_events_are_selected_and_counted(answers: Answers) -> None:
    text = answers.events(SSH, where='op == "ZFS_IOC_OBJSET_STATS" and dur_ns >= 50ms', limit=3)
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert [row.split()[1] for row in rows] == ["264", "316", "461"]
    assert all("/usr/sbin/quota" in row and "51.2" in rows[0] for row in rows)


def test_diff_has_the_largest_changes_first(answers: Answers) -> None:
    text = answers.diff(BEFORE, AFTER)
    assert text.startswith("Wall time: 41.27 s -> 16.60 s")
    assert "- changed sleep: 30.00 s -> 4.81 s, calls 5 -> 48" in text


def test_explain_has_the_parts_of_an_explanation(answers: Answers) -> None:
    text = answers.explain("hot-loop")
    for heading in ("What it finds", "Why it costs time", "When it is fine"):
        assert heading in text


def test_no_answer_exceeds_its_length(answers: Answers) -> None:
    for max_tokens in (200, 1000, 100_000):
        for text in (
            answers.summary(BEFORE, max_tokens),
            answers.finding(BEFORE, 1, max_tokens),
            answers.events(BEFORE, limit=10_000, max_tokens=max_tokens),
            answers.diff(BEFORE, AFTER, max_tokens),
            answers.explain("hot-loop", max_tokens),
        ):
            assert tokens_of(text) <= min(max_tokens, MAX_TOKENS)
    assert answers.events(BEFORE, limit=200, max_tokens=300).splitlines()[-1].startswith("[cut")


def test_tools_are_methods_and_at_most_six() -> None:
    assert len(TOOLS) <= 6
    assert all(callable(getattr(Answers, name)) for name in TOOLS)


@pytest.fixture
def jail(tmp_path: Path) -> Path:
    """A directory with a capture, next to a secret, with links that lead out of it."""
    root = tmp_path / "root"
    (root / "inside").mkdir(parents=True)
    (root / "inside" / "trace.out").write_text(LINE)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.out").write_text(LINE)
    (root / "link.out").symlink_to(outside / "secret.out")
    (root / "folder").symlink_to(outside)
    (root / "good.out").symlink_to(root / "inside" / "trace.out")
    (tmp_path / "root-2").mkdir()
    (tmp_path / "root-2" / "trace.out").write_text(LINE)
    os.mkfifo(root / "fifo")
    return root


def test_files_below_the_root_are_read(jail: Path) -> None:
    for name in ("inside/trace.out", "good.out", str(jail / "inside" / "trace.out"), "inside", "inside/*.out"):
        assert "1 call" in Answers(jail).summary(name)


@pytest.mark.parametrize(
    "name",
    [
        *("../outside/secret.out", "../outside/missing.out", "link.out", "folder", "folder/secret.out", "folder/*"),
        *(
            "../root-2/trace.out",
            "/etc/passwd",
            "inside/../../outside/secret.out",
            "*/secret.out",
            "*.out",
            "..",
            "fifo",
        ),
        *("-", "", "a\0b", "file:///etc/passwd", "memory://x"),
    ],
)
def test_files_elsewhere_are_refused(name: str, jail: Path) -> None:
    with pytest.raises(tracealyze.TracealyzeError) as caught:
        Answers(jail).summary(name)
    assert "secret.out" not in str(caught.value).replace(name, "")


def test_missing_file_names_what_there_is(jail: Path) -> None:
    with pytest.raises(tracealyze.MissingCapture, match=r"no such file below the root directory. It contains fifo, "):
        Answers(jail).summary("trace.out")


def test_changed_file_is_read_again(jail: Path) -> None:
    answers = Answers(jail)
    assert "1 call" in answers.summary("good.out")
    (jail / "inside" / "trace.out").write_text(LINE * 7)
    assert "7 calls" in answers.summary("good.out")


def test_text_of_a_trace_is_data_on_marked_lines(strace: Callable[[str], Path]) -> None:
    file = strace(HOSTILE)
    answers = Answers(file.parent)
    for text in (answers.summary(file.name), answers.finding(file.name, 1), answers.events(file.name)):
        free = [line for line in text.splitlines() if not line.startswith("| ")]
        assert "evil" not in "\n".join(free).lower()
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "evil" not in answers.diff(file.name, file.name).lower()


def test_command_names_the_missing_package_or_directory(run: Callable[..., object], tmp_path: Path) -> None:
    done = run("mcp", "--root", tmp_path / "missing")
    assert done.returncode == 2  # type: ignore[attr-defined]
    assert "is not a directory" in done.stderr  # type: ignore[attr-defined]
    blocked = run("mcp", PYTHONPATH=str(_without_sdk(tmp_path)), cwd=ROOT)
    assert blocked.returncode == 2  # type: ignore[attr-defined]
    assert 'pip install "tracealyze[mcp]"' in blocked.stderr  # type: ignore[attr-defined]


def _without_sdk(folder: Path) -> Path:
    (folder / "mcp.py").write_text("raise ImportError('not installed')\n")
    return folder
