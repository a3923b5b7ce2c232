"""`check --baseline fleet:STORE?label=value` compares with the last runs of a store, as with a file made of them."""

from __future__ import annotations

import json
import re
import shlex
import tarfile
from pathlib import Path

import pytest
from conftest import ROOT, Run
from fleet_stores import capture_text
from test_fleet_index import Here

from tracealyze.base.errors import WrongUsage
from tracealyze.fleet.accepted import Wanted
from tracealyze.fleet.index import Options, index
from tracealyze.fleet.labels import Labels
from tracealyze.fleet.store import Store

RUNS = {
    "main/1": (1, 30),
    "main/2": (2, 20),
    "main/3": (3, 20),
    "main/4": (4, 20),
    "topic/5": (5, 40),
}
"""By branch and name of a run, the time of its start in seconds, and how many files it opens."""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of the runs, which are below `in`."""
    for name, (seed, calls) in RUNS.items():
        file = tmp_path / "in" / f"{name}.strace"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(capture_text(seed, calls=calls), encoding="utf-8")
    return indexed(tmp_path / "in", tmp_path / "store")


def indexed(source: Path, store: Path) -> Path:
    index([str(source)], Store(str(store)), Options(executor=Here(), labels=Labels.of(["{branch}/{run}.strace*"])))
    return store


def checked(run: Run, calls: int, baseline: str, tmp_path: Path) -> tuple[int, dict[str, int], str]:
    """The exit code of a check of a capture that opens so many files, the failed metrics with their values before, and
    what it says."""
    new = tmp_path / "new.strace"
    new.write_text(capture_text(99, calls=calls), encoding="utf-8")
    done = run("check", new, "--baseline", baseline, "--json", cwd=tmp_path)
    verdict = json.loads(done.stdout) if done.stdout else {"judgements": [], "notes": []}
    worse = {each["metric"]: each["before"] for each in verdict["judgements"] if each["outcome"] == "failed"}
    return done.returncode, worse, done.stderr + " ".join(verdict["notes"])


@pytest.mark.parametrize(
    ("query", "calls", "code", "before"),
    [
        ("?branch=main&last=3", 20, 0, None),
        ("?branch=main&last=3", 30, 1, 20),
        ("?branch=topic", 40, 0, None),
        ("?branch=topic", 60, 1, 40),
        ("?branch=main&run=1", 40, 1, 30),
        ("?last=1", 60, 1, 40),
        ("?last=2&branch=main", 40, 1, 20),
    ],
)
def test_the_last_runs_with_the_labels_decide(
    query: str, calls: int, code: int, before: int | None, store: Path, run: Run, tmp_path: Path
) -> None:
    found, worse, _ = checked(run, calls, f"fleet:{store}{query}", tmp_path)
    assert found == code
    assert worse.get("opens") == before


def test_verdict_is_that_of_a_file_of_the_same_runs(store: Path, run: Run, tmp_path: Path) -> None:
    files = [tmp_path / "in" / f"main/{number}.strace" for number in (4, 3, 2)]
    run("baseline", "create", *files, "-o", tmp_path / "base.json")
    new = tmp_path / "new.strace"
    new.write_text(capture_text(99, calls=33, sleep_ms=300), encoding="utf-8")
    verdicts = [
        json.loads(run("check", new, "--baseline", baseline, "--json").stdout)
        for baseline in (f"fleet:{store}?branch=main&last=3", str(tmp_path / "base.json"))
    ]
    assert verdicts[0]["judgements"] == verdicts[1]["judgements"]
    assert verdicts[0]["regressions"] == verdicts[1]["regressions"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("none", "no store"),
        ("store?branch=none", "no complete capture with branch=none"),
        ("store?brunch=main", 'no capture has a label "brunch". Did you mean "branch"?'),
        ("store?branch", "write fleet:STORE?label=value"),
        ("store?branch=", "has a label without a value"),
        ("store?last=0", "write fleet:STORE?label=value"),
    ],
)
@pytest.mark.usefixtures("store")
def test_what_is_not_in_the_store_is_no_pass(query: str, expected: str, run: Run, tmp_path: Path) -> None:
    code, _, text = checked(run, 20, f"fleet:{query}", tmp_path)
    assert code == 2
    assert expected in text


def test_captures_that_are_gone_or_changed_are_left_out(store: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "in" / "main/4.strace").unlink()
    (tmp_path / "in" / "main/3.strace").write_text(capture_text(3, calls=90), encoding="utf-8")
    code, worse, text = checked(run, 40, f"fleet:{store}?branch=main&last=3", tmp_path)
    assert code == 1
    assert worse["opens"] == 20
    assert "2 captures of the baseline left out" in text
    (tmp_path / "in" / "main/2.strace").unlink()
    code, _, text = checked(run, 20, f"fleet:{store}?branch=main&last=3", tmp_path)
    assert code == 2
    assert "gone, or have changed" in text


def test_a_capture_is_not_compared_with_itself(store: Path, run: Run, tmp_path: Path) -> None:
    newest = tmp_path / "in" / "topic/5.strace"
    done = run("check", newest, "--baseline", f"fleet:{store}?last=1", "--json")
    worse = [each["before"] for each in json.loads(done.stdout)["judgements"] if each["metric"] == "opens"]
    assert worse == [20]


@pytest.mark.parametrize("kind", ["archive", "parts"])
def test_captures_of_several_files_and_of_archives_are_read(kind: str, run: Run, tmp_path: Path) -> None:
    texts = {f"main/job.out.{pid}": re.sub("(?m)^100 ", "", capture_text(pid)) for pid in (7, 8)}
    for name, text in texts.items():
        file = tmp_path / "in" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    source = tmp_path / "in"
    if kind == "archive":
        source = tmp_path / "bundle.tar"
        with tarfile.open(source, "w") as tar:
            tar.add(tmp_path / "in", "in")
    store = indexed(source, tmp_path / "store")
    _, worse, text = checked(run, 60, f"fleet:{store}", tmp_path)
    assert worse["opens"] == 40
    assert "The baseline is 1 capture" in text


@pytest.mark.usefixtures("store")
def test_store_of_the_settings_is_next_to_their_file(run: Run, tmp_path: Path) -> None:
    settings = '[tool.tracealyze.check]\nbaseline = "fleet:store?branch=main&last=3"\n'
    (tmp_path / "tracealyze.toml").write_text(settings, encoding="utf-8")
    (tmp_path / "below").mkdir()
    new = tmp_path / "new.strace"
    for calls, code in ((20, 0), (40, 1)):
        new.write_text(capture_text(99, calls=calls), encoding="utf-8")
        done = run("check", new, cwd=tmp_path / "below")
        assert done.returncode == code, done.stderr
        assert "baseline update" not in done.stdout
    done = run("baseline", "update", new, cwd=tmp_path)
    assert done.returncode == 2
    assert "fleet index" in done.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fleet:store", Wanted("store", {}, 10)),
        ("fleet:store?", Wanted("store", {}, 10)),
        ("fleet:store?a=b%26c&last=3", Wanted("store", {"a": "b&c"}, 3)),
        ("fleet:s3://b/store?region=x?a=1", Wanted("s3://b/store?region=x", {"a": "1"}, 10)),
        ("fleet:store?label.last=a&last=3&label.b=c", Wanted("store", {"last": "a", "b": "c"}, 3)),
        ("fleet:store?version=1.0+rc", Wanted("store", {"version": "1.0+rc"}, 10)),
    ],
)
def test_store_and_labels_are_read(text: str, expected: Wanted) -> None:
    assert Wanted.of(text) == expected


@pytest.mark.parametrize("text", ["fleet:", "fleet:?a=1", "fleet:s?a=1&a=2", "fleet:s?=1", "fleet:s?last=x"])
def test_what_is_no_store_is_an_error(text: str) -> None:
    with pytest.raises(WrongUsage, match="write fleet:STORE"):
        Wanted.of(text)


@pytest.mark.parametrize("page", ["gate", "fleet"])
def test_commands_of_the_documents_work(page: str, run: Run, tmp_path: Path) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^tracealyze (check .*fleet:.*)$", text, re.MULTILINE)
    place = tmp_path / "in" / "boot" / "main"
    place.mkdir(parents=True)
    for seed in range(3):
        (place / f"{seed}.strace").write_text(capture_text(seed), encoding="utf-8")
    labels = Labels.of(["{scenario}/{branch}/{run}.strace"])
    index([str(place)], Store(str(tmp_path / "store")), Options(executor=Here(), labels=labels))
    for calls, code in ((20, 0), (40, 1)):
        (tmp_path / "new.strace").write_text(capture_text(99, calls=calls), encoding="utf-8")
        done = run(*shlex.split(command), cwd=tmp_path)
        assert done.returncode == code, done.stderr
