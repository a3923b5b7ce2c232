"""Stacks: from calls to functions and lines of the source, in tables, findings, exports and the gate."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from conftest import ROOT, SAMPLES, Run
from hypothesis import given
from hypothesis import strategies as st
from test_export import exported, fields, folded_values, numbers

import tracealyze
from tracealyze.capture.tracer import Profile, Tracer

KEPT = ROOT / "tests" / "kept_stacks"
CAPTURES = sorted(KEPT.glob("*.xz"))
QUOTA = KEPT / "quota-kk.strace.xz"
MIN_USER_SHARE = 0.95


def capture(tmp_path: Path, turns: int, pause_us: int = 4000, source: str = "src/quota.c") -> Path:
    """A program whose function makes slow calls, as strace -kk prints them."""
    lines = ['7 1795224170.000000 execve("/srv/quota", ["quota"], 0x7ffd /* 3 vars */) = 0 <0.000100>']
    at_us = 1_000
    for _ in range(turns):
        lines += [
            f"7 1795224170.{at_us:06} clock_nanosleep(CLOCK_REALTIME, 0, {{tv_sec=0, tv_nsec={pause_us * 1000}}}, NULL)"
            f" = 0 <0.{pause_us:06}>",
            " > /usr/lib/libc.so.6(clock_nanosleep@GLIBC_2.2.5+0x23) [0xcf503] ../sysdeps/clock_nanosleep.c:71",
            f" > /srv/quota(quota_lookup+0x28) [0x11a1] {source}:3",
            f" > /srv/quota(main+0x45) [0x1275] {source}:6",
            f"7 1795224170.{at_us + pause_us:06} getppid() = 1 <0.000010>",
        ]
        at_us += pause_us + 100
    lines += [f"7 1795224170.{at_us:06} exit_group(0) = ?", f"7 1795224170.{at_us + 10:06} +++ exited with 0 +++"]
    path = tmp_path / f"turns-{turns}.strace"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_sums_by_function_are_those_of_all_calls(path: Path) -> None:
    trace = tracealyze.read(path)
    whole = next(iter(trace.calls(by=[])))
    for key in ("function", "source", "module"):
        rows = list(trace.calls(by=[key]))
        for amount in ("calls", "failed", "total_ns", "exclusive_ns"):
            assert sum(row[amount] for row in rows) == whole[amount], (key, amount)
    events = trace.events.to_pandas()
    calls = events[events.kind == "call"]
    by_function = {row["function"]: row["calls"] for row in trace.calls(by=["function"])}
    assert Counter(calls.function.dropna()) == {name: number for name, number in by_function.items() if name}


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_stack_times_sum_to_the_partition(path: Path) -> None:
    trace = tracealyze.read(path)
    by_program: Counter[str] = Counter()
    for row in trace.partition:
        by_program[row["program"], row["class"], row["syscall"]] += row["exclusive_ns"]  # type: ignore[index]
    for row in trace.stack_times:
        by_program[row["program"], row["class"], row["syscall"]] -= row["exclusive_ns"]  # type: ignore[index]
    assert set(by_program.values()) == {0}
    assert sum(row["exclusive_ns"] for row in trace.stack_times) == trace.window.wall_ns
    assert sum(row["calls"] for row in trace.stack_times) == sum(trace.partition["calls"])


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_exports_with_stacks_sum_to_the_window(path: Path, tmp_path: Path) -> None:
    trace = tracealyze.read(path)
    wall_ns = trace.window.wall_ns
    assert sum(folded_values(exported(trace, "folded", tmp_path / "folded")).values()) == wall_ns
    speedscope = json.loads(exported(trace, "speedscope", tmp_path / "speedscope"))
    assert sum(sum(each["weights"]) for each in speedscope["profiles"]) == wall_ns
    pprof = fields(gzip.decompress(exported(trace, "pprof", tmp_path / "pprof")))
    values = [numbers(value) for number, sample in pprof if number == 2 for key, value in fields(sample) if key == 2]
    assert sum(ns for _, ns in values) == wall_ns


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_each_frame_is_a_continuation(path: Path) -> None:
    trace = tracealyze.read(path)
    assert not {"foreign", "damaged"} & {kind for kind, lines in trace.accounting.items() if lines}
    assert trace.accounting["continuation"] > trace.accounting["call"]


def test_a_flame_graph_has_the_functions_between_program_and_call(tmp_path: Path) -> None:
    folded = folded_values(exported(QUOTA, "folded", tmp_path / "folded"))
    slow = max(folded, key=lambda stack: folded[stack])
    frames = slow.split(";")
    assert frames[0] == "quota"
    assert frames[-1] == "clock_nanosleep"
    assert frames.index("main") < frames.index("quota_lookup") < frames.index("usleep")


def test_functions_in_profiles_have_their_place_in_the_source(tmp_path: Path) -> None:
    speedscope = json.loads(exported(QUOTA, "speedscope", tmp_path / "speedscope"))
    frames = {frame["name"]: frame for frame in speedscope["shared"]["frames"]}
    assert frames["quota_lookup"]["file"] == "/srv/quota/quota.c"
    assert frames["quota_lookup"]["line"] in (10, 11)
    assert "file" not in frames["user"]
    pprof = fields(gzip.decompress(exported(QUOTA, "pprof", tmp_path / "pprof")))
    texts = [value.decode() for number, value in pprof if number == 6]
    functions = [dict(fields(value)) for number, value in pprof if number == 5]
    files = {texts[function[2]]: texts[function[4]] for function in functions if 4 in function}
    assert files["quota_lookup"] == "/srv/quota/quota.c"


def test_calls_in_timelines_have_their_function(tmp_path: Path) -> None:
    chrome = json.loads(exported(QUOTA, "chrome", tmp_path / "chrome"))
    calls = [each["args"] for each in chrome["traceEvents"] if each.get("args", {}).get("function")]
    assert {"quota_lookup", "quota_print"} <= {args["function"] for args in calls}


@pytest.mark.parametrize(
    ("lines", "flag"),
    [
        ("  -k, --stack-traces\n", "-k"),
        ("  -k, --stack-trace[=symbol]\n  -kk, --stack-trace=source\n", "-kk"),
        ("  -k             obtain stack trace between each syscall\n", "-k"),
    ],
    ids=["6.1", "6.7", "4.9"],
)
def test_record_prints_stacks_with_lines_where_strace_has_them(lines: str, flag: str) -> None:
    tracer = Tracer("strace", "", f"Tracing:\n{lines}  -n, --syscall-number\n")
    assert tracer.flags(Profile.STACKS, may_filter=False)[-1] == flag


def test_a_finding_names_the_function_that_makes_its_calls(run: Run) -> None:
    finding = next(each for each in tracealyze.read(QUOTA).findings if each.name == "fixed-sleep")
    assert (finding.function, finding.source, finding.module) == (
        "quota_lookup",
        "/srv/quota/quota.c:10",
        "/srv/quota/quota",
    )
    assert "quota_lookup (quota.c:10) makes all 297 calls" in finding.message
    assert finding.diagnosis.endswith(", in quota_lookup (quota.c:10).")
    document = json.loads(run("summarize", str(QUOTA), "--json").stdout)
    assert document["findings"][0]["function"] == "quota_lookup"
    assert "quota_lookup (quota.c:10)" in run("summarize", str(QUOTA)).stdout.replace("\n", " ")


def test_without_source_lines_a_finding_names_the_function() -> None:
    finding = next(each for each in tracealyze.read(KEPT / "quota-k.strace.xz").findings if each.name == "fixed-sleep")
    assert (finding.function, finding.source) == ("quota_lookup", None)
    assert "; quota_lookup makes all 297 calls, " in finding.message


def test_a_finding_of_calls_of_many_functions_names_none(tmp_path: Path) -> None:
    text = capture(tmp_path, 60).read_text(encoding="utf-8")
    for number in range(60):
        text = text.replace("quota_lookup+", f"f{number % 4}+", 1)
    (tmp_path / "many.strace").write_text(text, encoding="utf-8")
    finding = next(each for each in tracealyze.read(tmp_path / "many.strace").findings if each.syscall)
    assert finding.function is None
    assert "makes" not in finding.message


def test_findings_without_stacks_have_no_member_for_functions(run: Run) -> None:
    document = json.loads(run("summarize", str(SAMPLES / "ssh-login" / "ssh-login.truss"), "--json").stdout)
    assert all("function" not in finding and "source" not in finding for finding in document["findings"])


def test_calls_are_ranked_and_filtered_by_function(run: Run) -> None:
    ranked = json.loads(run("top-syscalls", str(QUOTA), "--by", "function", "--json").stdout)
    rows = ranked["calls"] if isinstance(ranked, dict) else ranked
    assert rows[0]["function"] == "quota_lookup"
    assert rows[0]["calls"] == 2 * 297
    trace = tracealyze.read(QUOTA).select(where='function == "quota_print"')
    assert [row["syscall"] for row in trace.calls(by=["syscall"])] == ["write"]
    assert {row["source"] for row in trace.events} == {"/srv/quota/quota.c:18"}


def test_a_capture_without_stacks_says_how_to_capture_them(run: Run) -> None:
    done = run("top-syscalls", str(SAMPLES / "shutdown" / "before.strace.xz"), "--by", "function")
    assert "The capture has no stacks. Capture with strace -k" in done.stderr


def test_too_many_keys_are_refused() -> None:
    keys = ["syscall", "op", "shape", "target", "target_kind", "errno", "outcome", "program", "program_name", "pid"]
    with pytest.raises(tracealyze.TracealyzeError, match="at most 12 keys"):
        tracealyze.read(QUOTA).calls(by=[*keys, "tid", "task", "function"])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with the source that the captures name."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "quota.c").write_text("one\n" * 10, encoding="utf-8")
    return tmp_path


def checked(run: Run, project: Path, form: str, source: str = "src/quota.c") -> str:
    """The output of the gate for a program that sleeps more often than before."""
    before, after = capture(project, 20, source=source), capture(project, 60, source=source)
    run("baseline", "create", before, cwd=project)
    return run("check", after, "--output", form, cwd=project).stdout


def test_sarif_points_to_the_source_and_relates_the_trace(run: Run, project: Path) -> None:
    sarif = json.loads(checked(run, project, "sarif"))
    results = {each["ruleId"]: each for each in sarif["runs"][0]["results"]}
    result = results["deliberate_wait"]
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("src/quota.c", 3)
    related = result["relatedLocations"][0]
    assert related["physicalLocation"]["artifactLocation"]["uri"].endswith("turns-60.strace")
    assert "clock_nanosleep" in related["message"]["text"]


@pytest.mark.parametrize("source", ["/elsewhere/quota.c", "../quota.c", "src/missing.c"])
def test_sources_outside_the_project_are_not_pointed_to(run: Run, project: Path, source: str) -> None:
    (project.parent / "quota.c").write_text("one\n" * 10, encoding="utf-8")
    sarif = json.loads(checked(run, project, "sarif", source))
    for result in sarif["runs"][0]["results"]:
        assert not result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith(".c")
        assert "relatedLocations" not in result


def test_annotations_point_to_the_source(run: Run, project: Path) -> None:
    assert "::error file=src/quota.c,line=3,title=" in checked(run, project, "github")
    gitlab = json.loads(run("check", "turns-60.strace", "--output", "gitlab", cwd=project).stdout)
    assert {"path": "src/quota.c", "lines": {"begin": 3}} in [each["location"] for each in gitlab]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), min_size=1, max_size=30))
def test_calls_with_and_without_functions_sum_to_all(tmp_path_factory: pytest.TempPathFactory, calls: list) -> None:  # type: ignore[type-arg]
    lines = []
    for at, (function, has_stack) in enumerate(calls):
        lines.append(f"7 1795224170.{at:06} getppid() = 1 <0.00000{at % 10}>")
        lines += [f" > /srv/app({function}+0x1) [0x2]"] if has_stack else []
    path = tmp_path_factory.mktemp("stacks") / "trace.strace"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    trace = tracealyze.read(path)
    rows = {row["function"]: row["calls"] for row in trace.calls(by=["function"])}
    assert rows == Counter(function if has_stack else None for function, has_stack in calls)
    assert sum(row["exclusive_ns"] for row in trace.stack_times) == trace.window.wall_ns


@pytest.mark.live
@pytest.mark.skipif(shutil.which("strace") is None or shutil.which("gcc") is None, reason="needs strace and gcc")
def test_path_time_in_calls_of_a_program_has_its_functions(tmp_path: Path) -> None:
    subprocess.run(["gcc", "-g", "-O0", str(KEPT / "quota.c"), "-o", str(tmp_path / "quota")], check=True)
    traced = tmp_path / "quota.strace"
    command = ["strace", "-k", "-f", "-ttt", "-T", "-o", str(traced), str(tmp_path / "quota")]
    if subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        pytest.skip("strace has no -k here, or may not trace")
    rows = list(tracealyze.read(traced).calls(by=["function"]))
    of_program = sum(row["exclusive_ns"] for row in rows if row["function"])
    assert of_program >= MIN_USER_SHARE * sum(row["exclusive_ns"] for row in rows)
