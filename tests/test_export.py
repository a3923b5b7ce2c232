"""Exports contain the numbers of the summary, whatever the names in a capture are."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conftest import SAMPLES, Run, captures_of_samples

import tracealyze
from tracealyze.export import FORMATS, writer
from tracealyze.export.timeline import FIRST_SYNTHETIC, timeline_of
from tracealyze.render.picture.boot_chart import boot_chart

SSH = SAMPLES / "ssh-login" / "ssh-login.truss"
SHUTDOWN = SAMPLES / "shutdown" / "before.strace.xz"
PATH_PID = FIRST_SYNTHETIC - 1
HOSTILE = "a;b 1</script>\\33[2J\\342\\200\\256 9"


def exported(capture: Path | tracealyze.Trace, name: str, to: Path) -> bytes:
    """What a format contains, as bytes."""
    trace = tracealyze.read(capture) if isinstance(capture, Path) else capture
    with to.open("wb") as stream:
        writer(name)(trace, stream)
    return to.read_bytes()


def folded_values(content: bytes) -> dict[str, int]:
    """The value of each line, as flame graph tools read it."""
    values = (line.rsplit(" ", 1) for line in content.decode().splitlines())
    return {stack: int(value) for stack, value in values}


def fields(message: bytes) -> list[tuple[int, Any]]:
    """The fields of a protobuf message: numbers and values."""
    found: list[tuple[int, Any]] = []
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            found.append((key >> 3, varint()))
        else:
            size = varint() if key & 7 == 2 else 8
            found.append((key >> 3, message[at : at + size]))
            at += size
    return found


def numbers(packed: bytes) -> list[int]:
    """The numbers of a packed field."""
    found, value, shift = [], 0, 0
    for byte in packed:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            found.append(value)
            value = shift = 0
    return found


@pytest.mark.parametrize("capture", captures_of_samples(), ids=lambda path: path.name)
def test_stacks_sum_to_the_window(capture: Path, tmp_path: Path) -> None:
    trace = tracealyze.read(capture)
    wall_ns = trace.window.wall_ns
    assert wall_ns > 0
    folded = folded_values(exported(trace, "folded", tmp_path / "folded"))
    assert sum(folded.values()) == wall_ns
    speedscope = json.loads(exported(trace, "speedscope", tmp_path / "speedscope"))
    assert sum(sum(each["weights"]) for each in speedscope["profiles"]) == wall_ns
    pprof = fields(gzip.decompress(exported(trace, "pprof", tmp_path / "pprof")))
    values = [numbers(value) for number, sample in pprof if number == 2 for key, value in fields(sample) if key == 2]
    assert sum(ns for _, ns in values) == wall_ns
    assert sum(calls for calls, _ in values) == sum(trace.partition["calls"])


def test_folded_has_the_calls_of_the_partition(run: Run) -> None:
    folded = folded_values(run("export", SSH, "--to", "folded").stdout.encode())
    partition = json.loads(run("summarize", SSH, "--json").stdout)["partition"]
    of_ioctl = sum(ns for stack, ns in folded.items() if ";disk;ioctl;ZFS_IOC_OBJSET_STATS;" in stack)
    assert of_ioctl == sum(row["exclusive_ns"] for row in partition if row["op"] == "ZFS_IOC_OBJSET_STATS")
    assert "sshd;sshd;ksh;quota;disk;ioctl;ZFS_IOC_OBJSET_STATS;/dev/zfs" in folded


def test_speedscope_frames_are_in_order_of_time(tmp_path: Path) -> None:
    profile = json.loads(exported(SSH, "speedscope", tmp_path / "file"))
    frames = [frame["name"] for frame in profile["shared"]["frames"]]
    stacks = [[frames[number] for number in stack] for stack in profile["profiles"][0]["samples"]]
    assert stacks[0][:2] == ["sshd", "network (idle)"]
    assert stacks[-1][0] == "sshd"
    assert profile["profiles"][0]["endValue"] == tracealyze.read(SSH).window.wall_ns


def test_merged_stacks_keep_their_sums(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tracealyze.export import folded, speedscope

    monkeypatch.setattr(folded, "MAX_STACKS", 5)
    monkeypatch.setattr(speedscope, "MAX_SAMPLES", 5)
    trace = tracealyze.read(SSH)
    small = folded_values(exported(trace, "folded", tmp_path / "folded"))
    assert sum(small.values()) == trace.window.wall_ns
    assert "disk;(smaller stacks)" in small
    profile = json.loads(exported(trace, "speedscope", tmp_path / "speedscope"))
    assert sum(profile["profiles"][0]["weights"]) == trace.window.wall_ns
    assert "merged by class" in profile["exporter"]


@pytest.mark.parametrize("capture", [SSH, SHUTDOWN], ids=lambda path: path.name)
def test_jsonl_has_all_events(capture: Path, tmp_path: Path) -> None:
    trace = tracealyze.read(capture)
    rows = [json.loads(line) for line in exported(trace, "jsonl", tmp_path / "file").splitlines()]
    assert rows == list(trace.events)


def test_parquet_has_the_tables(tmp_path: Path, run: Run) -> None:
    from pyarrow import parquet

    folder = tmp_path / "tables"
    assert run("export", SHUTDOWN, "--to", "parquet", "-o", folder).returncode == 0
    trace = tracealyze.read(SHUTDOWN)
    rows = {file.stem: parquet.read_table(file).to_pylist() for file in folder.iterdir()}
    assert sorted(rows) == ["calls", "events", "findings", "partition", "path", "processes", "tasks"]
    assert rows["events"] == list(trace.events)
    assert sum(row["exclusive_ns"] for row in rows["partition"]) == trace.window.wall_ns
    assert sum(row["calls"] for row in rows["calls"]) == trace.totals["calls"]
    assert [row["code"] for row in rows["findings"]] == [finding.code for finding in trace.findings]
    about = json.loads(parquet.read_schema(folder / "events.parquet").metadata[b"tracealyze"])
    assert about["window"]["wall_ns"] == trace.window.wall_ns


def test_parquet_file_has_the_events(tmp_path: Path, run: Run) -> None:
    from pyarrow import parquet

    file = tmp_path / "events.parquet"
    assert run("export", SHUTDOWN, "--to", "parquet", "-o", file).returncode == 0
    assert parquet.read_table(file).to_pylist() == list(tracealyze.read(SHUTDOWN).events)
    assert "Only events" in json.loads(parquet.read_schema(file).metadata[b"tracealyze"])["left_out"][0]
    other = tmp_path / "folder.parquet"
    other.mkdir()
    assert run("export", SHUTDOWN, "--to", "parquet", "-o", other).returncode == 0
    assert (other / "findings.parquet").exists()


@pytest.mark.parametrize("name", [name for name, form in FORMATS.items() if not form.is_folder])
def test_equal_captures_give_equal_files(name: str, tmp_path: Path) -> None:
    first = exported(SHUTDOWN, name, tmp_path / "first")
    assert first == exported(SHUTDOWN, name, tmp_path / "second")
    assert len(first) > 1000


@pytest.mark.parametrize("name", FORMATS)
def test_selected_events_only(name: str, tmp_path: Path, run: Run) -> None:
    file = tmp_path / "output"
    done = run("export", SSH, "--to", name, "--pid", "12200", "--from", "+1", "--to", "+5", "-o", file)
    assert done.returncode == 0, done.stderr
    assert f"{name}: " in done.stderr
    assert file.exists()


def test_jsonl_has_selected_events_only(run: Run) -> None:
    lines = run("export", SSH, "--to", "jsonl", "--pid", "12200", "--until", "+5").stdout.splitlines()
    selected = tracealyze.read(SSH).select(pid=12200, to="+5").events
    assert [json.loads(line) for line in lines] == list(selected)
    assert 0 < len(lines) < len(tracealyze.read(SSH).select(pid=12200).events)


def test_hostile_names_do_not_break_a_format(strace: Callable[[str], Path], tmp_path: Path) -> None:
    file = strace(
        f'7 1700000000.000000 execve("/bin/{HOSTILE}", ["{HOSTILE}"], 0x1) = 0 <0.100000>\n'
        f'7 1700000000.200000 unlink("/tmp/{HOSTILE}") = 0 <0.300000>\n7 1700000001.000000 +++ exited with 0 +++\n'
    )
    trace = tracealyze.read(file)
    content = exported(trace, "folded", tmp_path / "folded")
    assert sum(folded_values(content).values()) == trace.window.wall_ns == 1_000_000_000
    assert all(len(line.rsplit(" ", 1)[0].split(";")) <= 4 for line in content.decode().splitlines())
    assert b"\x1b" not in content
    speedscope = json.loads(exported(trace, "speedscope", tmp_path / "speedscope"))
    assert sum(speedscope["profiles"][0]["weights"]) == 1_000_000_000
    rows = [json.loads(line) for line in exported(trace, "jsonl", tmp_path / "jsonl").splitlines()]
    assert rows == list(trace.events)
    assert fields(gzip.decompress(exported(trace, "pprof", tmp_path / "pprof")))


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ('open("/a", O_RDONLY) = 3\nread(3, "x", 10) = 1\nclose(3) = 0\nexit(0) = ?\n', 4),
        ('read(3, "x", 10) = 1 <0.000500>\nread(3, "x", 10) = 1 <0.000250>\nclose(3) = 0 <0.000010>\n', 760_000),
        (
            "% time     seconds  usecs/call     calls    errors syscall\n"
            "------ ----------- ----------- --------- --------- ----------------\n"
            " 75.00    0.000300         100         3           read\n"
            " 25.00    0.000100          50         2           close\n"
            "------ ----------- ----------- --------- --------- ----------------\n"
            "100.00    0.000400          80         5           total\n",
            400_000,
        ),
    ],
    ids=["no times", "durations only", "summary table"],
)
def test_captures_without_a_window_export_what_they_have(content: str, value: int, tmp_path: Path, run: Run) -> None:
    file = tmp_path / "capture.strace"
    file.write_text(content, encoding="utf-8")
    done = run("export", file, "--to", "folded")
    assert sum(folded_values(done.stdout.encode()).values()) == value, done.stderr
    assert "Without" in done.stderr
    for name in FORMATS:
        done = run("export", file, "--to", name, "-o", tmp_path / name)
        assert done.returncode == 0, done.stderr


def calls_of(trace: tracealyze.Trace) -> list[dict[str, Any]]:
    """The calls with a start and a duration."""
    return [row for row in trace.events.dicts() if row["kind"] == "call" and row["dur_ns"] is not None]


@pytest.mark.parametrize("capture", captures_of_samples()[::2], ids=lambda path: path.name)
def test_chrome_has_each_call_once_and_no_overlap(capture: Path, tmp_path: Path) -> None:
    trace = tracealyze.read(capture)
    document = json.loads(exported(trace, "chrome", tmp_path / "trace.json"))
    slices = [each for each in document["traceEvents"] if each["ph"] == "X"]
    calls = [each for each in slices if each["cat"] == "call"]
    assert len(calls) == len(calls_of(trace))
    assert sum(round(each["dur"] * 1000) for each in calls) == sum(row["dur_ns"] for row in calls_of(trace))
    path = [each for each in slices if each["pid"] == PATH_PID]
    assert sum(round(each["dur"] * 1000) for each in path) == trace.window.wall_ns
    ends: dict[int, int] = {}
    for each in sorted(slices, key=lambda each: (each["ts"], -each["dur"])):
        begin, end = round(each["ts"] * 1000), round((each["ts"] + each["dur"]) * 1000)
        assert begin >= ends.get(each["tid"], begin) or end <= ends[each["tid"]]
        ends[each["tid"]] = max(end, ends.get(each["tid"], end))
    named = {each["pid"] for each in document["traceEvents"] if each["name"] == "process_name"}
    assert {each["pid"] for each in slices} <= named
    assert document["otherData"]["notes"]


@pytest.mark.parametrize("capture", captures_of_samples()[::2], ids=lambda path: path.name)
def test_perfetto_slices_end_and_have_the_time_of_calls(capture: Path, tmp_path: Path) -> None:
    trace = tracealyze.read(capture)
    packets = [dict(fields(packet)) for _, packet in fields(exported(trace, "perfetto", tmp_path / "trace"))]
    open_at: dict[int, list[int]] = {}
    sums: dict[int, int] = {}
    for packet in packets:
        if 11 not in packet:
            continue
        event = dict(fields(packet[11]))
        if event[9] == 1:
            open_at.setdefault(event[11], []).append(packet[8])
        elif event[9] == 2:
            sums[event[11]] = sums.get(event[11], 0) + packet[8] - open_at[event[11]].pop()
    assert not any(open_at.values())
    assert sums.pop(11) == sums.pop(12) == trace.window.wall_ns
    assert sum(sums.values()) == sum(row["dur_ns"] for row in calls_of(trace))
    tracks = [dict(fields(packet[60])) for packet in packets if 60 in packet]
    assert len([track for track in tracks if 4 in track]) == len(trace.tasks)
    assert len({track[1] for track in tracks}) == len(tracks)


def test_merged_slices_keep_number_and_time() -> None:
    trace = tracealyze.read(SHUTDOWN)
    calls = calls_of(trace)
    pieces: list[bytes] = []
    timeline_of(trace, max_slices=1_000).write_chrome([], pieces.append)
    found = [each for each in json.loads(b"".join(pieces))["traceEvents"] if each.get("cat") == "call"]
    assert len(found) <= 1_200
    assert sum(each["args"].get("calls", 1) for each in found) == len(calls)
    total_ns = [each["args"].get("total_ns", round(each["dur"] * 1000)) for each in found]
    assert sum(total_ns) == sum(row["dur_ns"] for row in calls)
    merged = [each for each in found if "calls" in each["args"]]
    assert merged
    assert all(each["args"]["total_ns"] <= round(each["dur"] * 1000) for each in merged)


def test_reused_ids_are_processes_of_their_own(tmp_path: Path) -> None:
    lines = ['1000 1700000000.000000 execve("/bin/sh", ["sh"], 0x7ffd /* 9 vars */) = 0 <0.000100>']
    for at in (1, 2):
        lines += [
            f"1000 170000000{at}.000000 vfork() = 2000 <0.000050>",
            f'2000 170000000{at}.000100 execve("/bin/tool{at}", ["tool{at}"], 0x7ffd /* 9 vars */) = 0 <0.000100>',
            f"2000 170000000{at}.100000 exit_group(0) = ?",
            f"2000 170000000{at}.100100 +++ exited with 0 +++",
            f"1000 170000000{at}.100200 wait4(-1, NULL, 0, NULL) = 2000 <0.000010>",
        ]
    file = tmp_path / "reuse.strace"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    trace = tracealyze.read(file)
    document = json.loads(exported(trace, "chrome", tmp_path / "trace.json"))
    names = {each["args"]["name"]: each["pid"] for each in document["traceEvents"] if each["name"] == "process_name"}
    assert names["tool1"] == 2000
    assert names["tool2"] == FIRST_SYNTHETIC
    assert any("reused" in note for note in document["otherData"]["notes"])


def test_nothing_selected_is_an_error(run: Run) -> None:
    done = run("export", SSH, "--to", "folded", "--where", 'syscall == "vfork"')
    assert (done.returncode, done.stdout) == (3, "")
    assert "nothing to export" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--to", "fold"], 'Did you mean "folded"?'),
        ([], "give one format"),
        (["--to", "folded", "--to", "pprof"], "give one format"),
        (["--to", "folded", "--to", "+1", "--to", "+2"], "at most one time"),
        (["--to", "parquet", "-o", "-"], "folder"),
    ],
)
def test_wrong_options_name_the_remedy(options: list[str], message: str, run: Run) -> None:
    done = run("export", SSH, *options)
    assert done.returncode == 2
    assert message in done.stderr


def test_the_capture_is_never_overwritten(tmp_path: Path, run: Run) -> None:
    file, link = tmp_path / "capture.truss", tmp_path / "link"
    file.write_bytes(SSH.read_bytes())
    link.symlink_to(file)
    for target in (file, link):
        done = run("export", file, "--to", "pprof", "-o", target)
        assert done.returncode == 2
        assert "is the capture" in done.stderr
    assert run("export", file, "--to", "parquet", "-o", tmp_path).returncode == 2
    assert file.read_bytes() == SSH.read_bytes()


def test_binary_files_are_next_to_the_capture(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "capture.strace.xz"
    file.write_bytes(SHUTDOWN.read_bytes())
    assert run("export", file, "--to", "pprof").returncode == 0
    assert sorted(each.name for each in tmp_path.iterdir() if each.is_file()) == [
        "capture.strace.pb.gz",
        "capture.strace.xz",
    ]


def test_names_in_gz_are_compressed(tmp_path: Path, run: Run) -> None:
    plain, packed = tmp_path / "a.jsonl", tmp_path / "a.jsonl.gz"
    for target in (plain, packed):
        assert run("export", SSH, "--to", "jsonl", "-o", target).returncode == 0
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()


def test_several_captures_have_a_profile_each(run: Run) -> None:
    after = SAMPLES / "shutdown" / "after.strace.xz"
    profile = json.loads(run("export", SHUTDOWN, after, "--to", "speedscope").stdout)
    walls = [tracealyze.read(file).window.wall_ns for file in (SHUTDOWN, after)]
    assert [each["endValue"] for each in profile["profiles"]] == walls


def test_a_clock_that_begins_at_0_changes_nothing(tmp_path: Path) -> None:
    text = (SAMPLES / "ssh-login" / "ssh-login.truss").read_text(encoding="utf-8", errors="replace")
    stamp = re.compile(r"(?m)^(\d+(?:/\d+)?:\s+)(\d+\.\d{4})(?=\s)")
    first = min(Decimal(match[2]) for match in stamp.finditer(text))
    moved = stamp.sub(lambda match: f"{match[1]}{Decimal(match[2]) - first}", text)
    (tmp_path / "0").mkdir()
    captures = [tmp_path / "login.truss", tmp_path / "0" / "login.truss"]
    for capture, content in zip(captures, (text, moved), strict=True):
        capture.write_text(content, encoding="utf-8")
    later, zero = map(tracealyze.read, captures)
    assert (zero.window.start_ns, later.window.start_ns) == (0, int(first * 10**9))
    for name in ("perfetto", "chrome", "folded"):
        files = [exported(trace, name, tmp_path / f"{at}.out") for at, trace in enumerate((zero, later))]
        assert files[0] == files[1], name
    assert boot_chart(zero).svg == boot_chart(later).svg
