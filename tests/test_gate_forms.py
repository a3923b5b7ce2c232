"""The forms of a verdict: each is valid for its consumer, even with text from a hostile trace."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from conftest import SAMPLES, Run

from tracealyze.render.addresses import SITE
from tracealyze.render.gate import FORMS

SCHEMAS = Path(__file__).parent / "schemas"

# A path that closes elements, ends commands and moves the cursor.
HOSTILE = r"/x\"]]>\n::error::no<script>alert(1)</script>|`*_%0A\33[2J\0"
COMMAND = r"::(error|warning|notice) file=[^:,\r\n]*,line=\d+,title=[^:,\r\n]*::[^\r\n]*"
BEFORE = '100 1700000010.000000 execve("/usr/bin/tool", ["tool"], 0x7ffd /* 1 var */) = 0 <0.000500>\n'
AFTER = "".join(
    f'100 1700000010.{at:06} openat(AT_FDCWD, "{HOSTILE}", O_RDONLY) = -1 ENOENT (No such file or directory)\n'
    for at in range(1000, 1040)
)
FUTEXES = "".join(
    f"100 1700000010.{at:06} futex(0x1, FUTEX_WAKE_PRIVATE, 1) = 0 <0.00002>\n" for at in range(2000, 2040)
)
END = "100 1700000012.000000 exit_group(0) = ?\n"


@pytest.fixture
def report(tmp_path: Path, run: Run) -> Path:
    """All forms of a verdict with failures and warnings, and of one without a comparison, in a folder."""
    (tmp_path / "before.strace").write_text(BEFORE + END, encoding="utf-8")
    (tmp_path / "after.strace").write_text(BEFORE + AFTER + FUTEXES + END, encoding="utf-8")
    (tmp_path / "cut.strace").write_text(BEFORE, encoding="utf-8")
    assert run("baseline", "create", "before.strace", "-o", "base.json", cwd=tmp_path).returncode == 0
    checks = (("failed", "after", "base", 1), ("missing", "after", "none", 2), ("unlike", "cut", "base", 2))
    for name, capture, base, code in checks:
        outputs = [word for form in FORMS for word in ("--output", f"{form}={name}.{form}")]
        done = run("check", f"{capture}.strace", "--baseline", f"{base}.json", *outputs, cwd=tmp_path)
        assert done.returncode == code, done.stderr
    return tmp_path


def document(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("form", ["json", "sarif", "gitlab", "bmf", "github-benchmark"])
@pytest.mark.parametrize("name", ["failed", "missing", "unlike"])
def test_json_forms_match_their_schemas(form: str, name: str, report: Path) -> None:
    schema = document(SCHEMAS / f"{form}.json")
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document(report / f"{name}.{form}"), schema)


def test_baseline_matches_its_schema(report: Path) -> None:
    jsonschema.validate(document(report / "base.json"), document(SCHEMAS / "baseline.json"))


def test_forms_have_no_control_character(report: Path) -> None:
    for file in report.glob("*.*"):
        if file.suffix.removeprefix(".") in FORMS:
            assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", file.read_text(encoding="utf-8")), file


def test_junit_counts_its_cases(report: Path) -> None:
    [unlike] = ElementTree.parse(report / "unlike.junit").getroot().findall("testsuite")
    # Metrics are no cases: the check is one.
    assert int(unlike.attrib["tests"]) == len(unlike.findall("testcase")) == 1
    assert int(unlike.attrib["errors"]) == len(unlike.findall("testcase/error")) == 1
    root = ElementTree.parse(report / "failed.junit").getroot()
    [suite] = root.findall("testsuite")
    cases = suite.findall("testcase")
    assert root.tag == "testsuites"
    assert int(suite.attrib["tests"]) == len(cases)
    assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure")) > 0
    assert int(suite.attrib["skipped"]) == len(suite.findall("testcase/skipped")) > 0
    assert all({"name", "classname", "time"} <= set(case.attrib) for case in cases)
    assert len({(case.get("classname"), case.get("name")) for case in cases}) == len(cases)
    assert all({"message", "type"} <= set(each.attrib) for each in suite.iter("failure"))
    [failure] = suite.iter("failure")
    assert "\ncalls[openat, ENOENT] 0 → 40" in (failure.text or "")
    assert all("calls[openat, ENOENT]" not in (case.get("name") or "") for case in cases)
    [whole] = [case for case in cases if case.get("name") == "baseline"]
    assert re.match(r"\d+ metrics within the limits\n", whole.findtext("system-out") or "")


def test_sarif_results_name_a_rule_and_a_line(report: Path) -> None:
    [run] = document(report / "failed.sarif")["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert len(result["locations"]) == 1
    for name in ("missing", "unlike"):
        [without] = document(report / f"{name}.sarif")["runs"]
        assert without["invocations"][0]["executionSuccessful"] is False


def test_one_regression_is_one_annotation_and_one_result(report: Path) -> None:
    """One regression was an error, four warnings and three notices, and eight results of SARIF."""
    verdict = document(report / "failed.json")
    lines = (report / "failed.github").read_text(encoding="utf-8").splitlines()
    errors = [line for line in lines if line.startswith("::error ")]
    assert lines == errors and len(errors) == len(verdict["regressions"]) > 0
    [run] = document(report / "failed.sarif")["runs"]
    assert len(run["results"]) == len(errors)
    assert {result["level"] for result in run["results"]} == {"error"}
    notes = [each["message"]["text"] for each in run["invocations"][0]["toolExecutionNotifications"]]
    assert any("calls[futex]" in note for note in notes)
    assert "calls[futex]" in errors[0] and all("calls[futex]" not in line for line in errors[1:])


def test_format_of_check_names_output(run: Run) -> None:
    done = run("check", "--format", "sarif")
    assert done.returncode == 2 and "Write --output sarif." in done.stderr


@pytest.mark.parametrize("is_released", [True, False])
def test_sarif_leads_to_the_page_of_each_rule(
    is_released: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Viewers show the link next to the result: that is how users find what a finding means. In a clone it was dead."""
    from tracealyze.commands import _cli
    from tracealyze.render import addresses

    monkeypatch.setattr(addresses, "_IS_RELEASED", is_released)
    capture = str(SAMPLES / "ssh-login" / "ssh-login.truss")
    words = ["check", capture, "--fail-on", "error", "--budget", "processes <= 2", "--output", "sarif"]
    monkeypatch.setattr(sys, "argv", ["tracealyze", *words])
    with pytest.raises(SystemExit):
        _cli.main()
    written = json.loads(capsys.readouterr().out)
    jsonschema.validate(written, document(SCHEMAS / "sarif.json"))
    [sarif] = written["runs"]
    driver = sarif["tool"]["driver"]
    pages = {rule["id"]: rule.get("helpUri") for rule in driver["rules"]}
    if is_released:
        assert pages == {"processes": f"{SITE}gate.html", "finding[hot-loop]": f"{SITE}rules/hot-loop.html"}
        assert driver["informationUri"] == SITE
    else:
        assert set(pages.values()) == {None} and "informationUri" not in driver


def test_github_commands_are_one_line_and_within_the_limit(report: Path) -> None:
    lines = (report / "failed.github").read_text(encoding="utf-8").splitlines()
    for line in lines:
        assert re.fullmatch(COMMAND, line), line
        assert not re.search(r"%(?!25|0A|0D|3A|2C)", line), line
    for level in ("error", "warning", "notice"):
        assert sum(line.startswith(f"::{level} ") for line in lines) <= 10
    assert (report / "missing.github").read_text(encoding="utf-8").startswith("::error title=No baseline")
    assert (
        (report / "unlike.github")
        .read_text(encoding="utf-8")
        .startswith("::error file=base.json,line=1,title=Not comparable")
    )


def test_gitlab_fingerprints_differ(report: Path) -> None:
    found = document(report / "failed.gitlab")
    assert len({each["fingerprint"] for each in found}) == len(found) > 0
    assert [each["severity"] for each in document(report / "missing.gitlab")] == ["critical"]


def test_markdown_has_no_markup_from_the_trace(report: Path) -> None:
    text = (report / "failed.markdown").read_text(encoding="utf-8")
    assert "<script>" not in text
    assert "### tracealyze check: failed" in text


def test_program_named_like_a_runner_command_is_harmless(tmp_path: Path, run: Run) -> None:
    """The runner reads commands from all output, not only from annotations."""
    before, named = BEFORE.replace("/usr/bin/tool", "/tmp/::add-mask::x"), AFTER.replace(HOSTILE, "/a##[error]b")
    (tmp_path / "before.strace").write_text(before + END, encoding="utf-8")
    (tmp_path / "after.strace").write_text(before + named + END, encoding="utf-8")
    assert run("baseline", "create", "before.strace", cwd=tmp_path).returncode == 0
    for runner, obeyed in (("", True), ("true", False)):
        shown = run("check", "after.strace", cwd=tmp_path, GITHUB_ACTIONS=runner).stdout
        assert any(line.strip().startswith("::") for line in shown.splitlines()) is obeyed
        assert ("##[" in shown) is obeyed


def test_documents_do_not_share_stdout(report: Path, run: Run) -> None:
    shared = ["--output", "json", "--output", "sarif=-"]
    done = run("check", "after.strace", "--baseline", "base.json", *shared, cwd=report)
    assert done.returncode == 2
    assert "cannot share standard output" in done.stderr
    both = run(
        "check", "after.strace", "--baseline", "base.json", "--output", "text", "--output", "github=-", cwd=report
    )
    assert both.returncode == 1
    assert "Failed: " in both.stdout
    assert "::error" in both.stdout


@pytest.mark.parametrize(
    ("output", "expected"), [("jnit=x", 'Did you mean "junit"?'), ("junit=", "the file name is missing")]
)
def test_wrong_output_option_is_an_error(output: str, expected: str, run: Run) -> None:
    done = run("check", "--demo", "--output", output)
    assert done.returncode == 2
    assert expected in done.stderr


def test_unwritable_report_is_not_a_failed_gate(run: Run, tmp_path: Path) -> None:
    done = run("check", "--demo", "--output", f"junit={tmp_path}/no/such/folder.xml")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr


@pytest.mark.parametrize("form", FORMS)
def test_demo_fails_in_each_form(form: str, run: Run) -> None:
    done = run("check", "--demo", "--output", form)
    assert done.returncode == 1
    assert "deliberate" in done.stdout


def test_closed_pipe_does_not_make_a_pass() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "wb") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "tracealyze", "check", "--demo"], stdout=pipe, stderr=subprocess.PIPE
        )
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
