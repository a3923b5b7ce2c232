"""`rules` and `explain`, and the choice of rules by options and by the settings of the project."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from conftest import SAMPLES, Run

from tracealyze.base.config import Settings, settings
from tracealyze.base.errors import WrongUsage
from tracealyze.findings.compiled_rules import INCUBATOR
from tracealyze.findings.rule_file import EXPLANATION
from tracealyze.findings.rule_set import rules
from tracealyze.model.expression.schema import SCHEMA
from tracealyze.render import explanation

SSH = SAMPLES / "ssh-login" / "ssh-login.truss"

RULE = """\
code = "MINE001"
title = "A quota command is run at login"
table = "loops"
where = 'program ~ "quota$" and turns > 100'
severity = "error"
precedence = 99
message = "{subject}: {turns:time} round"
advice = "Do not ask for quotas at login."

[explain]
finds = "A \\u001b[31mquota\\u001b[0m command."
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder with a user's rule."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "login-quota.toml").write_text(RULE, encoding="utf-8")
    return folder


def findings(run: Run, *options: str | Path, cwd: Path | None = None) -> list[str]:
    done = run("summarize", SSH, "--json", *options, **({"cwd": cwd} if cwd else {}))
    assert done.returncode == 0, done.stderr
    return [finding["name"] for finding in json.loads(done.stdout)["findings"]]


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
def test_rules_lists_every_rule_in_each_form(form: str, run: Run) -> None:
    shown = run("rules", "--format", form, COLUMNS="200").stdout
    for rule in rules():
        assert rule.code in shown
        assert rule.title in shown
    if form == "json":
        assert {"code", "name", "title", "table", "file"} <= set(json.loads(shown)[0])
    if form == "csv":
        assert len(list(csv.reader(io.StringIO(shown)))) == len(rules()) + 1


def test_rules_lists_every_column_with_its_sentence(run: Run) -> None:
    rows = json.loads(run("rules", "--columns", "--json").stdout)
    assert [(row["table"], row["column"], row["unit"], row["what"]) for row in rows] == [
        (column.table, column.name, column.unit, column.says) for column in SCHEMA
    ]
    assert {row["type"] for row in rows} == {"number", "text", "texts", "yes or no"}
    shown = run("rules", "--columns", "loops").stdout
    assert "turns" in shown
    assert "partition" not in shown


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["rules", "--columns", "loop"], 'no table "loop"'),
        (["rules", "hot-lop"], 'no rule "hot-lop". Did you mean "hot-loop"?'),
        (["rules", "--select", "ping-pong"], "--select: ping-pong is in the incubator: --rules incubator turns it on."),
        (["rules", "--ignore", "TLZ0001"], '--ignore: no rule "TLZ0001".'),
        (["rules", "--rules", "nowhere"], "nowhere: no such directory."),
        (["explain", "hot-lop"], 'no rule "hot-lop". Did you mean "hot-loop"?'),
        (["explain", "TLZ0O2"], 'no rule "TLZ0O2". Did you mean "TLZ0'),
        (["summarize", str(SSH), "--select", "hot-lop"], '--select: no rule "hot-lop". Did you mean "hot-loop"?'),
    ],
)
def test_unknown_rule_is_an_error(arguments: list[str], expected: str, run: Run) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr


@pytest.mark.parametrize("name", ["fixed-sleep", "tlz003"])
def test_explain_takes_a_name_or_a_code(name: str, run: Run) -> None:
    done = run("explain", name)
    assert done.returncode == 0, done.stderr
    for heading in (*EXPLANATION.values(), "When it triggers"):
        assert f"\n{heading}\n" in done.stdout


def test_explain_has_five_parts_for_every_rule() -> None:
    for rule in rules():
        explained = dict(explanation.parts(rule))
        assert [*explained][:6] == [*EXPLANATION.values(), "When it triggers"], rule.name
        assert all(paragraphs for paragraphs in explained.values()), rule.name


def test_explain_has_each_form(run: Run) -> None:
    document = json.loads(run("explain", "hot-loop", "--json").stdout)
    assert list(document["explain"]) == list(EXPLANATION)
    assert document["at_least"]["share"] > 0
    assert document["evidence"] == ["samples/ssh-login/ssh-login.truss"]
    assert run("explain", "hot-loop", "--format", "markdown").stdout.startswith("# TLZ002 hot-loop\n")
    assert len({len(row) for row in csv.reader(io.StringIO(run("explain", "hot-loop", "--format", "csv").stdout))}) == 1


def test_incubator_is_off_unless_it_is_named(run: Run, tmp_path: Path) -> None:
    def listed(*arguments: str, cwd: Path | None = None) -> set[str]:
        return {rule["name"] for rule in json.loads(run("rules", "--json", *arguments, cwd=cwd).stdout)}

    off = {rule.name for rule in rules(INCUBATOR)} - {rule.name for rule in rules()}
    assert off
    assert not listed() & off
    assert off <= listed("--rules", "incubator")
    (tmp_path / "tracealyze.toml").write_text('[tool.tracealyze]\nrules = ["incubator"]\n', encoding="utf-8")
    assert off <= listed(cwd=tmp_path)
    assert run("rules", "--ignore", "ping-pong").returncode == 0
    assert run("explain", "ping-pong").stdout.startswith("TLZ044 ping-pong\n")


def test_own_rule_is_listed_explained_and_applied(own: Path, run: Run) -> None:
    assert "MINE001" in run("rules", "--rules", own).stdout
    explained = run("explain", "login-quota", "--rules", own).stdout
    assert 'program ~ "quota$" and turns > 100' in " ".join(explained.split())
    assert "A \\x1b[31mquota\\x1b[0m command." in explained
    assert findings(run, "--rules", own)[0] == "login-quota"


def test_selected_rules_apply_to_each_of_several_captures(run: Run) -> None:
    shown = run("summarize", SSH, SSH.parent / SSH.name, "--select", "TLZ001").stdout
    assert "dominant-call" in shown
    assert "hot-loop" not in shown


def test_rules_are_selected_and_ignored(own: Path, run: Run) -> None:
    assert findings(run, "--select", "hot-loop") == ["hot-loop"]
    assert findings(run, "--select", "hot-loop,MINE", "--rules", own) == ["login-quota"]
    assert "hot-loop" not in findings(run, "--ignore", "TLZ002")
    assert findings(run, "--select", "TLZ002", "--ignore", "hot-loop") == []


def test_error_in_an_own_rule_has_a_position(own: Path, run: Run) -> None:
    file = own / "login-quota.toml"
    file.write_text(RULE.replace("program ~", "progam ~"), encoding="utf-8")
    done = run("summarize", "nowhere.strace", "--rules", own)
    assert done.returncode == 2
    first, text, caret = done.stderr.splitlines()
    assert first == f'tracealyze: {file}, where, column 1: no column "progam" in table loops. Did you mean "program"?'
    assert [text, caret] == ['  progam ~ "quota$" and turns > 100', "  ^^^^^^"]


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("name", ["tracealyze.toml", "pyproject.toml"])
def test_settings_apply_in_all_folders_of_a_project(name: str, tmp_path: Path, run: Run) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / name).write_text(
        '[tool.tracealyze]\nrules = ["own"]\nselect = ["MINE", "hot-loop"]\n', encoding="utf-8"
    )
    assert findings(run, cwd=inner) == ["login-quota"]
    # The command line overrides the settings.
    assert findings(run, "--select", "hot-loop", cwd=inner) == ["hot-loop"]
    assert "MINE001" in run("rules", cwd=inner).stdout
    checked = run("check", SSH, "--budget", "finding[login-quota] == 0", cwd=inner)
    assert checked.returncode == 1, checked.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[tool.tracealyze]\nrule = ["x"]', 'there is no key "rule". Did you mean "rules"?'),
        ('[tool.tracealyze]\nselect = "x"', "select must be a list of strings"),
        ("[tool]\ntracealyze = 3", "tool.tracealyze is not a table"),
        ("[tool.tracealyze]\ncheck = 3", "tool.tracealyze.check is not a table"),
        ("[tool.tracealyze", "cannot be read: "),
        ('[tool.tracealyze]\nignore = ["hot-lop"]', 'ignore: no rule "hot-lop". Did you mean "hot-loop"?'),
        ('[tool.tracealyze]\nrules = ["nowhere"]', "nowhere: no such directory."),
    ],
)
def test_error_in_the_settings_is_reported(text: str, expected: str, tmp_path: Path, run: Run) -> None:
    (tmp_path / "tracealyze.toml").write_text(text, encoding="utf-8")
    done = run("summarize", SSH, cwd=tmp_path)
    assert done.returncode == 2
    assert expected in done.stderr


def test_settings_come_from_the_nearest_file_with_this_table(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "tracealyze.toml").write_text(
        '[tool.tracealyze]\nselect = ["outer"]\nrules = ["r"]\n', encoding="utf-8"
    )
    (tmp_path / "a" / "tracealyze.toml").write_text("this is [no TOML", encoding="utf-8")
    found = settings(inner)
    assert (found.select, found.rules) == (("outer",), (str(tmp_path / "r"),))
    # A project ends at the folder with its pyproject.toml.
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    assert settings(inner) == Settings()
    (inner / "pyproject.toml").write_text('[tool.tracealyze.check]\nbudgets = ["calls < 3"]\n', encoding="utf-8")
    assert settings(inner).check == {"budgets": ["calls < 3"]}
    with pytest.raises(WrongUsage, match="cannot be read"):
        (inner / "tracealyze.toml").mkdir()
        settings(inner)


def test_gate_applies_own_rules(own: Path, run: Run, tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    assert run("baseline", "create", SSH, "-o", baseline).returncode == 0
    done = run("check", SSH, "--baseline", baseline, "--rules", own)
    assert done.returncode == 1, done.stderr
    assert "login-quota" in done.stdout
    assert run("check", SSH, "--baseline", baseline, "--rules", own, "--ignore", "login-quota").returncode == 0
