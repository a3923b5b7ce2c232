"""What `tracealyze.read` accepts and rejects, and its errors."""

from __future__ import annotations

import io
import lzma
import shutil
import sys
from pathlib import Path

import pytest
from conftest import SAMPLES, Run

import tracealyze

SSH = SAMPLES / "ssh-login" / "ssh-login.truss"
BEFORE = SAMPLES / "shutdown" / "before.strace.xz"
LINE = b"1 1700000000.000000 close(3) = 0 <0.000010>\n"


def test_open_file_is_read_by_its_path() -> None:
    """It was iterated as a list of paths."""
    with SSH.open() as text, SSH.open("rb") as binary, lzma.open(BEFORE) as compressed:
        assert tracealyze.read(text).captures[0].path == str(SSH)
        assert tracealyze.read(binary).accounting == tracealyze.read(SSH).accounting
        assert tracealyze.read(compressed).accounting == tracealyze.read(BEFORE).accounting


def test_contents_are_read_like_their_file() -> None:
    content = SSH.read_bytes()
    whole = tracealyze.read(SSH).accounting
    for given in (content, bytearray(content), content.decode(), io.BytesIO(content), io.StringIO(content.decode())):
        assert tracealyze.read(given).accounting == whole
    assert tracealyze.read(BEFORE.read_bytes()).totals == tracealyze.read(BEFORE).totals


def test_partly_read_file_is_read_from_there() -> None:
    file = io.BytesIO(LINE * 3)
    file.readline()
    assert tracealyze.read(file).totals["calls"] == 2


def test_contents_exist_as_long_as_the_trace() -> None:
    trace = tracealyze.read(LINE)
    assert trace.select(pid=1).quote([1]) == [LINE.decode().rstrip("\n")]
    folder = Path(trace.captures[0].path).parent.parent
    assert folder.exists()
    del trace
    assert not folder.exists()


@pytest.mark.parametrize("given", [42, None, [3], [str(SSH), 3.5], type])
def test_other_objects_are_rejected_in_one_sentence(given: object) -> None:
    with pytest.raises(ValueError, match="is not a capture; pass a path") as caught:
        tracealyze.read(given)  # type: ignore[call-overload, arg-type, unused-ignore]
    assert len(str(caught.value)) < 150


def test_errors_are_also_those_of_python(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such file"):
        tracealyze.read(tmp_path / "missing")
    (tmp_path / "prose").write_text("This is not a capture.\nIt has two lines.\n")
    with pytest.raises(ValueError, match=r"pass input_format=NAME\.$") as caught:
        tracealyze.read(tmp_path / "prose")
    assert isinstance(caught.value, tracealyze.UnknownFormat)
    assert "--" not in str(caught.value)
    with pytest.raises(ValueError, match='Did you mean "loops"'):
        tracealyze.read(SSH).table("lops")


def test_unknown_format_names_the_option_on_the_command_line(tmp_path: Path, run: Run) -> None:
    (tmp_path / "prose").write_text("This is not a capture.\nIt has two lines.\n")
    assert "--input-format NAME" in run("summarize", tmp_path / "prose").stderr


def test_other_files_of_a_directory_are_skipped_with_a_warning(tmp_path: Path, run: Run) -> None:
    shutil.copy(SSH, tmp_path / "login.truss")
    (tmp_path / "README.md").write_text("# A capture\n\nIt shows a slow login.\n")
    shutil.copy(SSH, tmp_path / "expected.py")
    with pytest.warns(UserWarning, match=r"skipped, not captures: .*README\.md, .*expected\.py"):
        trace = tracealyze.read(tmp_path)
    assert [Path(each.path).name for each in trace.captures] == ["login.truss"]
    shown = run("summarize", tmp_path)
    assert shown.returncode == 0
    assert "Skipped, not captures" in shown.stderr
    with pytest.raises(tracealyze.UnknownFormat, match=r"README\.md"):
        tracealyze.read(tmp_path, input_format="truss-solaris")


def test_read_selects_like_the_command_line() -> None:
    trace = tracealyze.read(SSH, pid=12200, from_="+2", to="line:2000", where="dur_ns >= 1ms")
    old = tracealyze.read(SSH).select(pids=[12200], start="+2", end="line:2000", where="dur_ns >= 1ms")
    assert trace.selection.pids == (12200,)
    assert trace.totals == old.totals
    with pytest.raises(ValueError, match="pid and pids are the same argument"):
        trace.select(pid=1, pids=2)


def test_import_from_the_source_folder_names_the_remedy(tmp_path: Path) -> None:
    """It failed with "cannot import name '_engine' (most likely due to a circular import)"."""
    import subprocess

    package = Path(tracealyze.__file__).parent
    shutil.copytree(package, tmp_path / "tracealyze", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for arguments in (["-c", "import tracealyze"], ["-m", "tracealyze"]):
        done = subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False, env={}
        )
        assert done.returncode == 1
        assert "without its compiled engine" in done.stderr.splitlines()[-1]
        assert "pip install --editable ." in done.stderr.splitlines()[-1]


def test_a_thread_whose_only_call_is_open_shows_nothing_of_the_options(tmp_path: Path) -> None:
    """Its file has no duration, which said of all files that they have none."""
    (tmp_path / "t.101").write_text("1700000010.000000 read(4<pipe:[71]>,  <unfinished ...>\n")
    (tmp_path / "t.102").write_text(
        "1700000010.000100 read(5</etc/hosts>, 'x', 1) = 1 <2.000000>\n1700000012.000200 exit_group(0) = ?\n"
    )
    assert tracealyze.read(tmp_path).captures[0].has["durations"]
