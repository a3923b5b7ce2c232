"""The pytest plugin: small projects, run by a pytest of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import ROOT

from tracealyze.pytest_plugin import accepted_tests, judging

PROJECT = """
import os, subprocess, threading, time, unittest
import pytest

@pytest.fixture
def many_files():
    for _ in range(50):
        open("/etc/passwd").close()

@pytest.mark.syscalls("opens == 1", "processes == 0", "calls[openat] == 1")
def test_counts_the_call_only(many_files):
    open("/etc/passwd").close()

@pytest.mark.syscalls("opens <= 2", "calls[openat, ENOENT] == 0")
def test_exceeds_a_limit():
    for _ in range(5):
        open("/etc/passwd").close()

@pytest.mark.syscalls("execs[true] == 1", "processes == 1", "threads == 0")
def test_follows_children():
    subprocess.run(["true"], check=True)

@pytest.mark.syscalls("processes == 0")
def test_starts_a_process():
    subprocess.run(["true"], check=True)

@pytest.mark.syscalls("threads == 1", "processes == 0", "opens == 1")
def test_counts_threads():
    thread = threading.Thread(target=lambda: open("/etc/passwd").close())
    thread.start()
    thread.join()

@pytest.mark.syscalls("opens == 0", "bytes_read == 0", "processes == 0")
def test_without_files():
    pass

@pytest.mark.syscalls("deliberate_wait <= 1ms")
def test_sleeps():
    time.sleep(0.01)

@pytest.mark.syscalls("opens <= 2")
def test_fails_by_itself():
    assert not os.getcwd()

@pytest.mark.syscalls("opns <= 2")
def test_with_a_misspelt_metric():
    pass

@pytest.mark.syscalls(40)
def test_with_a_number():
    pass

@pytest.mark.syscalls("processes == 0")
def test_waits_for_any_child():
    # The tracer is not a child: otherwise this would wait for it.
    with pytest.raises(ChildProcessError):
        os.wait()

def test_block(syscalls):
    with syscalls("opens <= 1") as counted:
        open("/etc/passwd").close()
    assert counted["opens"] == 1
    assert counted["calls[openat]"] == 1
    with pytest.raises(pytest.fail.Exception, match="opens 2, limit 0"), syscalls("opens <= 0"):
        open("/etc/passwd").close()
        open("/etc/passwd").close()

@pytest.mark.syscalls("opens == 3")
def test_block_in_a_marked_test(syscalls):
    open("/etc/passwd").close()
    with syscalls("opens == 1"):
        open("/etc/passwd").close()
    open("/etc/passwd").close()

def test_unmarked():
    open("/etc/passwd").close()

class Old(unittest.TestCase):
    @pytest.mark.syscalls("opens == 1")
    def test_of_unittest(self):
        open("/etc/passwd").close()
"""

# The outcome of each test, and a text of its failure.
EXPECTED = {
    "test_counts_the_call_only": ("passed", ""),
    "test_exceeds_a_limit": ("failed", "opens 5, limit 2"),
    "test_follows_children": ("passed", ""),
    "test_starts_a_process": ("failed", "processes 1, must be 0"),
    "test_counts_threads": ("passed", ""),
    "test_without_files": ("passed", ""),
    "test_sleeps": ("failed", "clock_nanosleep"),
    "test_fails_by_itself": ("failed", "assert not"),
    "test_with_a_misspelt_metric": ("failed", 'no metric "opns". Did you mean "opens"?'),
    "test_with_a_number": ("failed", 'a budget is a text such as "opens <= 40", not 40.'),
    "test_waits_for_any_child": ("passed", ""),
    "test_block": ("passed", ""),
    "test_block_in_a_marked_test": ("passed", ""),
    "test_unmarked": ("passed", ""),
    "test_of_unittest": ("passed", ""),
}

ONE_TEST = """
import pytest

@pytest.mark.syscalls({budgets})
def test_one():
    for _ in range({opens}):
        open("/etc/passwd").close()
"""


def pytest_in(folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a folder, with the plugins that are installed. Warnings are errors, as in strict projects."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-W", "error", "--strict-markers", "-p", "no:hypothesispytest", *options],
        cwd=folder,
        env=kept | environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture(scope="module")
def _must_trace() -> None:
    """Skip where nothing can be traced."""
    from tracealyze.base.errors import TracealyzeError
    from tracealyze.capture import attaching, tracer

    try:
        refusal = attaching.probe_own(tracer.find())
    except TracealyzeError as error:
        refusal = error  # type: ignore[assignment]
    if refusal is not None:
        pytest.skip(f"nothing can be traced here: {refusal}")


def outcomes(report: Path) -> Iterator[tuple[str, str, str]]:
    """Name, outcome and text of each test of a JUnit report."""
    for case in ElementTree.parse(report).iter("testcase"):
        found = next((each for each in case if each.tag in ("failure", "error", "skipped")), None)
        kinds = {"failure": "failed", "error": "error", "skipped": "skipped"}
        text = "" if found is None else f"{found.get('message')}\n{found.text}"
        yield str(case.get("name")), "passed" if found is None else kinds[found.tag], text


@pytest.mark.live
@pytest.mark.usefixtures("_must_trace")
@pytest.mark.parametrize("workers", ["0", "2"])
def test_marked_tests_are_counted(tmp_path: Path, workers: str) -> None:
    (tmp_path / "test_it.py").write_text(PROJECT)
    done = pytest_in(tmp_path, "--junitxml=report.xml", f"--numprocesses={workers}")
    found = {name: (outcome, text) for name, outcome, text in outcomes(tmp_path / "report.xml")}
    assert {name: outcome for name, (outcome, _) in found.items()} == {
        name: outcome for name, (outcome, _) in EXPECTED.items()
    }, done.stdout
    for name, (_, text) in EXPECTED.items():
        assert text in found[name][1]
    # A failure names the calls and lines of a capture that is kept.
    lines = found["test_exceeds_a_limit"][1]
    place = re.search(r"(\S+\.strace):(\d+): ", lines)
    assert "openat(/etc/passwd)" in lines and place
    kept = next(tmp_path.rglob(Path(place[1]).name)).read_text().splitlines()
    assert '"/etc/passwd"' in kept[int(place[2]) - 1]
    assert not list(tmp_path.rglob("*test-counts-the-call-only*"))


@pytest.mark.live
@pytest.mark.usefixtures("_must_trace")
def test_accepted_counts_are_compared(tmp_path: Path) -> None:
    test = tmp_path / "test_it.py"
    test.write_text(ONE_TEST.format(budgets="", opens=3))
    against = ("--syscalls-baseline", "accepted.json")
    missing = pytest_in(tmp_path, *against)
    assert missing.returncode == 1
    assert "accepted.json has no counts of test_it.py::test_one. Accept this run:" in missing.stdout
    assert pytest_in(tmp_path, *against, "--syscalls-accept", "--numprocesses=1").returncode == 0
    assert list(json.loads((tmp_path / "accepted.json").read_text())["tests"]) == ["test_it.py::test_one"]
    assert pytest_in(tmp_path, *against).returncode == 0
    test.write_text(ONE_TEST.format(budgets="", opens=30))
    worse = pytest_in(tmp_path, *against)
    assert worse.returncode == 1
    assert "opens 3 → 30" in worse.stdout and "Intended? Accept it:" in worse.stdout
    (tmp_path / "accepted.json").write_text("[]")
    damaged = pytest_in(tmp_path, *against)
    assert damaged.returncode == 1 and "not a file of accepted tests" in damaged.stdout


_BLOCK = "".join(f'7 1.{n:06} openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3 <0.000001>\n' for n in range(3))
_OTHER_THREAD = '8 1.000005 read(0, "x", 1) = 1 <0.000001>\n'


@pytest.mark.parametrize(("before", "after"), [("", _OTHER_THREAD), (_OTHER_THREAD, "")])
def test_other_threads_do_not_prevent_a_comparison(tmp_path: Path, before: str, after: str) -> None:
    """Whether another thread makes a call during a test is chance."""
    file, baseline = tmp_path / "block", str(tmp_path / "accepted.json")
    file.write_text(_BLOCK + before)
    accepted = judging.judged("test", file, [8], judging.Limits([], baseline, accepts=True)).accepted
    accepted_tests.write(baseline, {"test": accepted})
    for lines, failure in ((_BLOCK, ""), (_BLOCK * 10, "limits exceeded")):
        file.write_text(lines + after)
        found = judging.judged("test", file, [8], judging.Limits([], baseline, accepts=False)).failure
        assert failure in found and bool(failure) == bool(found), found


def test_block_without_calls_is_compared(tmp_path: Path) -> None:
    file, baseline = tmp_path / "block", str(tmp_path / "accepted.json")
    file.write_text(_BLOCK)
    accepted = judging.judged("test", file, [], judging.Limits([], baseline, accepts=True)).accepted
    accepted_tests.write(baseline, {"test": accepted})
    file.write_text("")
    assert judging.judged("test", file, [], judging.Limits([], baseline, accepts=False)).failure == ""


@pytest.mark.live
@pytest.mark.usefixtures("_must_trace")
def test_report_shows_counts_and_never_fails(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(ONE_TEST.format(budgets='"opens <= 1"', opens=3))
    done = pytest_in(tmp_path, "--syscalls=report", "--numprocesses=1")
    assert done.returncode == 0
    assert re.search(r"calls +failed +opens +execs +processes +threads\n +\d+ +\d+ +3 .*test_one", done.stdout)


def test_off_runs_marked_tests_untraced(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(ONE_TEST.format(budgets='"opens <= 1"', opens=3))
    assert pytest_in(tmp_path, "--syscalls=off", PATH="/nonexistent").returncode == 0


@pytest.mark.parametrize(
    ("options", "status"), [((), 1), (("--syscalls=off",), 0), (("--syscalls-baseline", "new.json"), 0)]
)
def test_mark_without_anything_to_compare_with_fails(tmp_path: Path, options: tuple[str, ...], status: int) -> None:
    """It passed whatever the test did. With a file, tracing is tried, and refused here."""
    (tmp_path / "test_it.py").write_text(ONE_TEST.format(budgets="", opens=3))
    done = pytest_in(tmp_path, *options, PATH="/nonexistent")
    assert done.returncode == status
    assert ("nothing to compare with" in done.stdout) is (status == 1)


@pytest.mark.parametrize(("mode", "status", "text"), [("auto", 0, "1 skipped"), ("require", 1, "1 failed")])
def test_a_refusal_has_its_reason(tmp_path: Path, mode: str, status: int, text: str) -> None:
    (tmp_path / "test_it.py").write_text(ONE_TEST.format(budgets='"opens <= 1"', opens=0))
    done = pytest_in(tmp_path, f"--syscalls={mode}", "-rs", PATH="/nonexistent")
    assert done.returncode == status
    assert text in done.stdout and "strace is not installed" in done.stdout


def test_accepting_needs_a_file(tmp_path: Path) -> None:
    done = pytest_in(tmp_path, "--syscalls-accept")
    assert done.returncode == 4
    assert "name the file to write with --syscalls-baseline FILE" in done.stderr


def test_unmarked_tests_load_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import sys\n"
        "def test_modules():\n"
        "    assert 'tracealyze.pytest_plugin' in sys.modules\n"
        "    loaded = {name for name in sys.modules if name.startswith('tracealyze')}\n"
        "    assert loaded == {'tracealyze', 'tracealyze.pytest_plugin'}\n"
    )
    done = pytest_in(tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.live
@pytest.mark.usefixtures("_must_trace")
def test_counts_are_exact_over_many_runs(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest, subprocess\n"
        "@pytest.mark.parametrize('number', range(1000))\n"
        "@pytest.mark.syscalls('opens == 2', 'lookups_missed == 1', 'processes == 0', 'threads == 0')\n"
        "def test_files(number):\n"
        "    open('/etc/passwd').close()\n"
        "    open('/etc/group').close()\n"
        "    with pytest.raises(FileNotFoundError):\n"
        "        open('/etc/missing')\n"
    )
    done = pytest_in(tmp_path, "--numprocesses=4")
    assert done.returncode == 0, done.stdout
    assert "1000 passed" in done.stdout


@pytest.mark.live
@pytest.mark.usefixtures("_must_trace")
def test_example_of_the_documentation_passes(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "pytest.md").read_text(), re.DOTALL)
    (tmp_path / "test_it.py").write_text("".join(blocks))
    done = pytest_in(tmp_path, "--syscalls=require")
    assert done.returncode == 0 and "2 passed" in done.stdout
