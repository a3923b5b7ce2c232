"""Captures behind URLs: fsspec fetches them, and everything else is as for files."""

from __future__ import annotations

import http.server
import io
import pickle
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import SAMPLES, Run

import tracealyze

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed: pip install fsspec")

SSH = SAMPLES / "ssh-login" / "ssh-login.truss"
BEFORE = SAMPLES / "shutdown" / "before.strace.xz"


@pytest.fixture
def bucket() -> Iterator[str]:
    """A bucket in memory with two captures, and the files of two threads."""
    memory = fsspec.filesystem("memory")
    memory.pipe("/bucket/login.truss", SSH.read_bytes())
    memory.pipe("/bucket/runs/before.strace.xz", BEFORE.read_bytes())
    for tid in (11, 12):
        line = f"1700000000.{tid}0000 close(3) = 0 <0.000010>\n".encode()
        memory.pipe(f"/bucket/parts/trace.{tid}", line * 3)
    yield "memory://bucket"
    memory.rm("/bucket", recursive=True)


def test_url_is_read_like_its_file(bucket: str) -> None:
    trace = tracealyze.read(f"{bucket}/login.truss")
    assert trace.accounting == tracealyze.read(SSH).accounting
    assert trace.quote([199]) == tracealyze.read(SSH).quote([199])
    assert trace.captures[0].path.endswith("/login.truss")
    assert tracealyze.read(f"{bucket}/runs/before.strace.xz").totals == tracealyze.read(BEFORE).totals


def test_urls_and_files_are_several_captures(bucket: str) -> None:
    trace = tracealyze.read([f"{bucket}/login.truss", BEFORE])
    assert [Path(each.path).name for each in trace.captures] == ["before.strace.xz", "login.truss"][::-1]


def test_wildcard_names_several_files(bucket: str) -> None:
    assert len(tracealyze.read(f"{bucket}/*.truss").captures) == 1
    parts = tracealyze.read(f"{bucket}/parts/trace.*")
    assert len(parts.captures) == 1
    assert sorted(parts.tasks["tid"]) == [11, 12]
    with pytest.raises(tracealyze.MissingCapture, match=r"missing\*: no file matches"):
        tracealyze.read(f"{bucket}/missing*")


def test_fetched_trace_is_pickled_with_its_content(bucket: str) -> None:
    trace = tracealyze.read(f"{bucket}/login.truss", pid=12203)
    content = pickle.dumps(trace)
    del trace
    again = pickle.loads(content)
    assert again.totals["calls"] == 10
    assert again.quote([199])


def test_file_objects_of_fsspec_are_read(bucket: str) -> None:
    with fsspec.open(f"{bucket}/login.truss", "rb") as file:
        assert tracealyze.read(file).accounting == tracealyze.read(SSH).accounting


def test_diff_and_check_take_urls(bucket: str) -> None:
    assert tracealyze.diff(f"{bucket}/login.truss", SSH).wall_ns == (11_423_300_000, 11_423_300_000)
    assert tracealyze.check(f"{bucket}/login.truss", budgets="processes <= 5").has_passed


def test_missing_objects_and_unknown_protocols_are_named(bucket: str) -> None:
    with pytest.raises(tracealyze.MissingCapture, match=r"memory://bucket/lost: no such file"):
        tracealyze.read(f"{bucket}/lost")
    with pytest.raises(tracealyze.UnreadableCapture, match=r"nowhere://x/y: cannot be read: Protocol not known"):
        tracealyze.read("nowhere://x/y")


def test_secrets_of_urls_are_not_shown() -> None:
    with pytest.raises(tracealyze.TracealyzeError) as caught:
        tracealyze.read("nowhere://anna:hunter2@host/trace?sig=hunter3")
    assert "nowhere://host/trace" in str(caught.value)
    assert "hunter" not in str(caught.value)


def test_missing_fsspec_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(tracealyze.WrongUsage, match=r'pip install "tracealyze\[urls\]"'):
        tracealyze.read("s3://bucket/trace")


def test_command_line_takes_urls(tmp_path: Path, run: Run) -> None:
    url = f"local://{SSH}"
    done = run("summarize", url, cwd=tmp_path)
    assert "quota (pid 12200)" in done.stdout
    assert "quota (pid 12200)" in run("summarize", cwd=tmp_path).stdout
    missing = run("summarize", "local:///missing/trace", cwd=tmp_path)
    assert missing.returncode == 3
    assert missing.stderr == "tracealyze: local:///missing/trace: no such file.\n"


def test_http_is_read() -> None:
    pytest.importorskip("aiohttp", reason="aiohttp is not installed: pip install aiohttp")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(SAMPLES))  # type: ignore[arg-type]

        def log_message(self, *_: object) -> None:
            """Keep standard error empty."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_address[1]}"
        assert tracealyze.read(f"{base}/ssh-login/ssh-login.truss").accounting == tracealyze.read(SSH).accounting
        with pytest.raises(tracealyze.MissingCapture):
            tracealyze.read(f"{base}/missing")
        server.shutdown()


def test_member_of_an_archive_is_not_a_file_of_the_same_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile("all.zip", "w") as archive:
        archive.write(SSH, "trace.out")
    Path("trace.out").write_text("1 1700000000.000000 close(3) = 0 <0.000010>\n")
    with zipfile.ZipFile("all.zip") as archive, archive.open("trace.out") as member:
        assert tracealyze.read(member).totals["calls"] == 2275
    assert tracealyze.read("zip://trace.out::all.zip").totals["calls"] == 2275


def test_text_in_another_encoding_is_refused_in_one_sentence() -> None:
    text = io.TextIOWrapper(io.BytesIO(b'1 1700000000.1 write(1, "\xff", 1) = 1 <0.000010>\n'), encoding="utf-8")
    with pytest.raises(tracealyze.WrongUsage, match='is not utf-8; open it with mode "rb"'):
        tracealyze.read(text)
