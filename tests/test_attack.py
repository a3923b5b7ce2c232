"""Each reproduction of the attack on revision 8c7c8ed is a test: where it is, and those that have no better place.

The findings are A1 to A24. A test is named by its file and its name, and must be there."""

from __future__ import annotations

import gzip
import random
import string
from pathlib import Path
from typing import BinaryIO

import pytest
from conftest import ROOT, Call

from tracealyze import _engine
from tracealyze.capture.redaction import verify

TESTS: dict[str, tuple[str, ...]] = {
    "A1 null in the metadata": ("test_recordings.py::test_each_end_of_a_recording_is_read_by_every_command",),
    "A2 escapes in messages": ("test_hostile_text.py::test_no_form_prints_control_characters",),
    "A3 addresses of hardware": ("test_redact_secrets.py::test_no_eight_characters_of_a_secret_are_left",),
    "A4 digits before units, %xx": ("test_redact_secrets.py::test_no_eight_characters_of_a_secret_are_left",),
    "A5 constants": ("test_redact.py::test_words_that_engine_and_rules_ask_for_are_kept",),
    "A6 execve in vfork": ("test_same_run.py::test_a_child_of_vfork_owns_its_whole_execve",),
    "A7 without -T": ("test_same_run.py::test_without_durations_nobody_else_is_accused",),
    "A8 shares of tables": ("test_hostile_numbers.py::test_shares_of_a_tracers_table_are_of_the_table",),
    "A9 absurd durations": ("test_hostile_numbers.py::test_absurd_durations_do_not_overflow",),
    "A10 ids of children": ("test_same_run.py::test_ids_of_children_make_one_target_whatever_their_length",),
    "A11 rules and settings": ("test_ruleset.py::test_unreadable_toml_is_an_error_with_its_name",),
    "A12 quadratic": ("test_attack.py::test_calls_with_ever_other_names_have_one_bench",),
    "A13 suggested commands": (
        "test_suggested.py::test_redact_suggests_a_check_that_runs",
        "test_suggested.py::test_report_suggests_commands_that_can_be_pasted",
    ),
    "A14 raw bytes of redact": ("test_hostile_text.py::test_reports_and_redacted_captures_are_inert",),
    "A15 record is killed": ("test_record.py::test_killed_record_leaves_a_readable_file",),
    "A16 time limit": ("test_record.py::test_report_does_not_wait_for_the_command",),
    "A17 put back": (
        "test_redact_secrets.py::test_verify_finds_a_secret_that_was_put_back",
        "test_attack.py::test_verify_finds_a_word_of_another_line",
    ),
    "A18 table alone": ("test_hostile_files.py::test_listings_of_a_table_alone_are_empty_json",),
    "A19 lone surrogates": ("test_hostile_files.py::test_recordings_with_odd_metadata_are_read_and_redacted",),
    "A20 good lines, compressed": ("test_attack.py::test_good_lines_in_a_small_file_are_all_read",),
    "A21 damaged stores": (
        "test_hostile_files.py::test_nested_lists_in_a_store_are_unusable_input",
        "test_hostile_files.py::test_parts_of_a_store_with_other_columns_are_unusable_input",
    ),
    "A22 limits, full disk, endless key": (
        "test_hostile_files.py::test_limits_of_a_recording_are_positive",
        "test_hostile_files.py::test_endless_keys_are_refused",
        "test_capture_file.py::test_facts_survive_a_disk_that_is_full_before_the_first_frame",
        "test_capture_file.py::test_what_was_complete_before_a_full_disk_is_readable",
    ),
    "A23 tools": ("test_hostile_files.py::test_tools_answer_halves_of_characters_and_impossible_names",),
    "A24 names with NUL": ("test_hostile_files.py::test_names_that_no_file_has_are_unusable_input",),
}


@pytest.mark.parametrize("finding", TESTS)
def test_each_finding_has_a_test(finding: str) -> None:
    for test in TESTS[finding]:
        file, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), test


def test_each_finding_is_listed() -> None:
    assert [name.split()[0] for name in TESTS] == [f"A{number}" for number in range(1, 25)]


def test_calls_with_ever_other_names_have_one_bench() -> None:
    cases = (ROOT / "benches" / "worst_cases.py").read_text(encoding="utf-8")
    assert all(f"def _{case}(" in cases for case in ("names", "reuse", "chain", "targets"))


def _name(chance: random.Random, letters: str, length: int) -> str:
    return "".join(chance.choice(letters) for _ in range(length))


def _copy(original: Path, stream: BinaryIO) -> None:
    _engine.Redactor(bytes(range(16))).copy(str(original), lambda text, _: stream.write(text))


@pytest.mark.parametrize("letters", [string.ascii_lowercase, string.ascii_letters + string.digits])
@pytest.mark.parametrize(("source", "target"), [(0, 4), (4, 0)], ids=["earlier line", "later line"])
def test_verify_finds_a_word_of_another_line(letters: str, source: int, target: int, tmp_path: Path) -> None:
    """A name that looks made up was believed to be a pseudonym, wherever it came from."""
    chance = random.Random(f"{letters} {source}")
    line = '7 1700000000.00000{} openat(AT_FDCWD, "/srv/{}", O_RDONLY) = 3 <0.000322>\n'
    original, redacted = tmp_path / "original", tmp_path / "redacted"
    for _ in range(20):
        names = [_name(chance, letters, 10) for _ in range(6)]
        original.write_text("".join(map(line.format, range(6), names)), encoding="utf-8")
        with redacted.open("wb") as stream:
            _copy(original, stream)
        assert verify(str(original), str(redacted))[1] == 0
        lines = redacted.read_text(encoding="utf-8").splitlines(keepends=True)
        lines[target] = line.format(target, names[source])
        redacted.write_text("".join(lines), encoding="utf-8")
        assert verify(str(original), str(redacted))[1] > 0, names[source]


def test_good_lines_in_a_small_file_are_all_read(tmp_path: Path, call: Call) -> None:
    """Memory grows with the lines: benches measure it."""
    line = b"1 1700000000.0%05d close(3) = 0 <0.000010>\n"
    file = tmp_path / "bomb.gz"
    file.write_bytes(gzip.compress(b"".join(line % number for number in range(90_000)), 9))
    code, stdout, stderr = call("summarize", "--json", file)
    assert code == 0, stderr
    assert '"call": 90000' in stdout
