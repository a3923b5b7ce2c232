"""Rows of a verdict: files of a folder are one, other calls of the program are there, and few new calls are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conftest import Run

START = '7 1700000000.{0:06d} execve("/bin/tool", ["tool"], 0x7f /* 1 var */) = 0 <0.000100>'
END = ("7 1700000009.000000 exit_group(0) = ?", "7 1700000009.000001 +++ exited with 0 +++")


def capture(file: Path, calls: list[str]) -> str:
    """A capture of one program with these calls, one per microsecond."""
    lines = [START.format(0), *(f"7 1700000001.{number:06d} {call} <0.000001>" for number, call in enumerate(calls))]
    file.write_text("\n".join([*lines, *END, ""]), encoding="utf-8")
    return str(file)


def verdict(run: Run, folder: Path, before: list[str], after: list[str]) -> Any:
    """The verdict on three runs of each side."""
    base = [capture(folder / f"base{number}", before) for number in range(3)]
    head = [capture(folder / f"head{number}", after) for number in range(3)]
    done = run("check", *head, "--base", *base, "--json")
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def opened(*files: str) -> list[str]:
    return [f'openat(AT_FDCWD, "{file}", O_RDONLY) = -1 EACCES (Permission denied)' for file in files]


def rows(document: Any) -> list[tuple[str, int, int]]:
    return [(row["what"], row["before"], row["after"]) for each in document["regressions"] for row in each["rows"]]


def test_many_new_files_of_a_folder_are_one_row(run: Run, tmp_path: Path) -> None:
    """Five of thirty files were listed, in the order of their names, and the folder with most of them was not."""
    names = ("events", "futures", "locks", "queues", "runners", "tasks", "streams", "base")
    found = rows(verdict(run, tmp_path, [], opened("/a/b", "/a/c", *(f"/lib/asyncio/{name}.pyc" for name in names))))
    assert found[0] == ("tool openat(/lib/asyncio/*) EACCES", 0, 8)
    assert ("tool openat(/a/b) EACCES", 0, 1) in found


def test_other_calls_over_their_limit_are_listed_with_their_targets(run: Run, tmp_path: Path) -> None:
    """The rows of the first metric were all that was shown, so that the reads of another file were only a number."""
    big = 'openat(AT_FDCWD, "/big", O_RDONLY) = 3</big>'
    missing = [f'openat(AT_FDCWD, "/no{"abcdefghijkl"[number]}", O_RDONLY) = -1 ENOENT (No)' for number in range(12)]
    reads = ['read(3</big>, "x", 100) = 100'] * 30
    found = rows(verdict(run, tmp_path, [big], [big, *missing, *reads]))
    assert ("tool read(/big)", 0, 30) in found


def test_few_new_calls_are_named_and_do_not_fail(run: Run, tmp_path: Path) -> None:
    """A release that writes a file atomically makes one more call, which no limit of five calls notices."""
    written = ['openat(AT_FDCWD, "/new/tag", O_WRONLY|O_CREAT, 0666) = 3</new/tag>', 'write(3</new/tag>, "x", 1) = 1']
    found = verdict(run, tmp_path, [], [*written, 'rename("/new/a", "/new/b") = 0'])
    assert found["verdict"] == "passed"
    assert [each["what"] for each in found["small_changes"]] == ["tool rename(/new/a)", "tool openat(/new/tag)"]


def test_new_calls_of_one_run_are_not_named(run: Run, tmp_path: Path) -> None:
    base = [capture(tmp_path / f"base{number}", []) for number in range(3)]
    head = [capture(tmp_path / f"head{number}", ['rename("/a", "/b") = 0'] * (number == 0)) for number in range(3)]
    assert json.loads(run("check", *head, "--base", *base, "--json").stdout)["small_changes"] == []


def test_base_of_very_many_places_has_all_of_them(run: Run, tmp_path: Path) -> None:
    """A baseline file keeps 2,000 places. The others seemed to be new if the base is at hand."""
    letters = "abcdefghijklm"
    many = opened(*(f"/{a}/{b}/{c}" for a in letters for b in letters for c in letters))
    found = rows(verdict(run, tmp_path, many, [*many, *many[-200:]]))
    assert found
    assert all(before for _, before, _ in found)


def test_first_run_that_fills_caches_is_named_and_not_compared(run: Run, tmp_path: Path) -> None:
    """Its metrics differed from those of the other runs, so that they did not count: the new opens passed."""
    compiles = [f'rename("/p/__pycache__/{name}.1", "/p/__pycache__/{name}.pyc") = 0' for name in "abcdefghij"]
    compiles += opened(*(f"/p/{name}.py" for name in "abcdefghij"))
    work = opened(*(f"/w{name}/a" for name in "abcdefghij"))
    base = [capture(tmp_path / f"base{number}", compiles * (number == 0)) for number in range(3)]
    head = [capture(tmp_path / f"head{number}", [*compiles * (number == 0), *work]) for number in range(3)]
    found = json.loads(run("check", *head, "--base", *base, "--json").stdout)
    assert (found["verdict"], len(found["first_runs"])) == ("failed", 2)
    assert found["first_runs"][0]["because"] == "Python writes compiled files"
    assert found["first_runs"][0]["calls"][0] == {"what": "tool openat(/p/*) EACCES", "before": 0, "after": 10}
    text = run("check", *base, "--base", *base).stdout
    assert f"Not compared: {base[0]}, because only the first run does this: Python writes compiled files." in text


def test_first_run_that_does_less_is_compared(run: Run, tmp_path: Path) -> None:
    """A run that ends early is not a warm-up."""
    more = opened(*(f"/w{name}/a" for name in "abcdefghijklm"))
    head = [capture(tmp_path / f"head{number}", more * (number != 0)) for number in range(3)]
    assert json.loads(run("check", *head, "--base", *head, "--json").stdout)["first_runs"] == []
