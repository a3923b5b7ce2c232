"""Rule files: mistakes are reported with their place, users' rules can do all that packaged ones can."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import SAMPLES, Run

import tracealyze
from tracealyze.base.errors import WrongUsage
from tracealyze.findings import rule_set
from tracealyze.findings.compile_rules import compiled_text, known_text
from tracealyze.findings.compiled_rules import COMPILED, COMPILED_KNOWN, PACKAGED
from tracealyze.findings.rule_file import PLACEHOLDERS
from tracealyze.findings.rule_set import chosen, rules

RULE = """\
code = "MINE001"
title = "A read that takes long"
table = "slow_targets"
where = 'syscall == "read" and calls >= 2'
group = ["pid", "target"]
keep = "sum(exclusive_ns) >= 100ms"
precedence = 90
impact = ["exclusive_ns - 1ms", 1.0]
message = "{subject} reads {target}"
advice = "Read less."

[at_least]
share = 0.05
total = "100ms"
count = 2

[explain]
finds = "Long reads."

[[example]]
name = "one"
findings = 1
sample = "ssh-login"
"""

READS = """\
100 1700000010.000000 execve("/bin/tool", ["tool"], 0x7ffd /* 1 var */) = 0 <0.001000>
100 1700000010.001000 read(3</a>, "x", 1) = 1 <0.000100>
100 1700000010.002000 read(4</slow>, "x", 1) = 1 <0.300000>
100 1700000010.303000 read(4</slow>, "x", 1) = 1 <0.300000>
100 1700000010.604000 exit_group(0) = ?
100 1700000010.605000 +++ exited with 0 +++
"""

Write = Callable[..., Path]


@pytest.fixture
def own(tmp_path: Path) -> Write:
    """Write a user's rule, changed in one place; returns its folder."""

    def write(old: str = "", new: str = "", name: str = "slow-read") -> Path:
        folder = tmp_path / "own"
        folder.mkdir(exist_ok=True)
        assert old in RULE
        (folder / f"{name}.toml").write_text(RULE.replace(old, new) if old else RULE, encoding="utf-8")
        return folder

    return write


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("code =", "cod =", 'there is no key "cod". Did you mean "code"?'),
        ('title = "A read that takes long"\n', "", "title is missing."),
        ('"MINE001"', '"mine"', 'code: "mine" is not a valid code'),
        ('"MINE001"', "1", "code: a string is required"),
        ('"slow_targets"', '"slow_target"', 'table: no table "slow_target"'),
        ("syscall ==", "sycall ==", 'where, column 1: no column "sycall" in table slow_targets. Did you mean'),
        ('"read" and', "5 and", "where, column 12: syscall cannot be compared with a number."),
        ("'syscall == \"read\" and calls >= 2'", '"calls"', "where, column 1: a condition is required here"),
        ("sum(exclusive_ns)", "exclusive_ns", "keep, column 1: a group has many values; write sum(exclusive_ns)"),
        ("100ms\"\nprecedence", "100\"\nprecedence", "keep, column 22: it is compared with a time; give the unit"),
        ('["pid", "target"]', '["pid", "traget"]', 'group: no column "traget" in table slow_targets. Did you mean'),
        ('["pid", "target"]', '"pid"', "group: a list of columns is required"),
        ("exclusive_ns - 1ms", "exclusive - 1ms", 'impact, column 1: no column "exclusive"'),
        ("exclusive_ns - 1ms", "calls", 'impact: "calls" is not a time'),
        (', 1.0]', "]", "impact: two values are required"),
        ("share = 0.05", 'share = "5%"', "at_least.share: a number is required."),
        ("share = 0.05", "shares = 0.05", 'at_least: there is no key "shares". Did you mean "share"?'),
        ('total = "100ms"', 'total = "100"', "at_least.total: "),
        ('total = "100ms"', "total = 100", "at_least.total: "),
        ("finds =", "found =", 'explain: there is no key "found". Did you mean "finds"?'),
        ('name = "one"', 'nam = "one"', 'example: there is no key "nam". Did you mean "name"?'),
        ('sample = "ssh-login"', "", "example: name, findings, and trace or sample are required."),
        ("[at_least]", 'cost = "exclusiv_ns"\n[at_least]', 'cost: no column "exclusiv_ns"'),
        ("[at_least]", 'count = "target"\n[at_least]', "count: target is a string, but a number is required."),
        ("[at_least]", 'severity = "eror"\n[at_least]', 'severity: "eror" is not one of error, warning, info. Did'),
        ("precedence = 90", "precedence = 1.5", "precedence: a whole number is required."),
        ("[at_least]", 'leads = "yes"\n[at_least]', "leads: true or false is required."),
        ("[at_least]", 'upper_bounds = "hide"\n[at_least]', 'upper_bounds: "hide" is not one of ignore, info.'),
        ("[at_least]", 'waiting = "fsync"\n[at_least]', "waiting: a list of system calls is required"),
        ("[at_least]", 'evidence = ["see the list"]\n[at_least]', "evidence: a list of captures is required"),
        ("[at_least]", "only = 3\n[at_least]", "only: a table is required; write [only]."),
        ("[at_least]", '[only]\nclas = ["disk"]\n[at_least]', 'only: no column "clas"'),
        ("[at_least]", '[except]\npid = "5"\n[at_least]', "except: each column needs a list of values"),
        ("reads {target}", "reads {traget}", 'message: {traget} is neither a column of table slow_targets'),
        ("reads {target}", "reads {target:call}", "message: {target:call} needs a number, and target is not one."),
        ("reads {target}", "reads {target", "message: expected '}' before end of string; write {{ for a brace."),
        ('"Read less."', '"Read {les}."', "advice: {les} is neither a column"),
        ("[at_least]", '[words]\npart = "{x}"\n[at_least]', "words.part: {x} is neither a column"),
        ("[at_least]", "[words]\npart = 3\n[at_least]", "words.part: a string or a list of strings is required."),
        ("[at_least]", "[at_least", "(at line 12"),
        # Values of other types and sizes than any rule has. Each ended in a traceback.
        ("share = 0.05", "share = nan", "at_least.share: a number is required."),
        ("count = 2", f"count = {'9' * 30}", "at_least.count: a number is required."),
        ('total = "100ms"', 'total = "1e400s"', 'at_least.total: "1e400s" is not a duration'),
        ('total = "100ms"', 'total = "1e30s"', 'at_least.total: "1e30s" is too long; the limit is 2562047 h.'),
        (', 1.0]', ", inf]", "impact: a fraction of the cost, such as 0.5, or an expression is required."),
        (', 1.0]', ", 1e308]", "impact: a fraction of the cost, such as 0.5, or an expression is required."),
        ("precedence = 90", f"precedence = {2**63}", "precedence: a whole number is required."),
        ('"Long reads."', "5", "explain.finds: a string is required"),
        ("reads {target}", "reads {target!r}", "message: {target!r} has a conversion; write {target}."),
        ("[at_least]", "upper_bounds = 5\n[at_least]", 'upper_bounds: "5" is not one of ignore, info.'),
        ("[at_least]", "[only]\npid = [{}]\n[at_least]", "only: each column needs a list of values"),
        ("[at_least]", f"[except]\npid = [{10**30}]\n[at_least]", "except: each column needs a list of values"),
        ("[explain]", '[counted]\nmessage = "x"\nat_least = 5\n[explain]', "counted.at_least: a table is required"),
        ('name = "one"', "name = 5", "example.name: a string is required."),
        ("findings = 1", 'findings = "one"', "example.findings: a whole number is required."),
    ],
)  # fmt: skip
def test_error_in_a_rule_names_file_key_and_position(old: str, new: str, expected: str, own: Write) -> None:
    folder = own(old, new)
    with pytest.raises(WrongUsage) as caught:
        rules(folder)
    assert expected in str(caught.value)
    assert str(caught.value).startswith(str(folder / "slow-read.toml"))


@pytest.mark.parametrize("examples", ["[5]", "[[1]]", '["one"]'])
def test_examples_of_other_types_are_an_error(examples: str, tmp_path: Path) -> None:
    rule = RULE[: RULE.index("[at_least]")] + f"example = {examples}\n"
    (tmp_path / "slow-read.toml").write_text(rule, encoding="utf-8")
    with pytest.raises(WrongUsage, match=re.escape("slow-read.toml, example: write [[example]].")):
        rules(tmp_path)


def test_own_rule_can_do_what_packaged_ones_can(own: Write, strace: Callable[[str], Path]) -> None:
    trace = tracealyze.read(strace(READS)).with_rules(rules(own()))
    [finding] = [finding for finding in trace.findings if finding.name == "slow-read"]
    assert finding.message == "pid 100 /bin/tool reads /slow"
    assert finding.impact_ns == (599_000_000, 600_000_000)


def test_message_takes_only_known_placeholders(own: Write, strace: Callable[[str], Path]) -> None:
    message = " ".join(f"{name}={{{name}}}" for name in PLACEHOLDERS)
    folder = own("{subject} reads {target}", f"{message} {{max_share}} {{calls:call|calls}}")
    trace = tracealyze.read(strace(READS)).with_rules(rules(folder))
    [finding] = [finding for finding in trace.findings if finding.name == "slow-read"]
    values = "subject=pid 100 /bin/tool program=tool process=tool (pid 100) call=read times=2 times cost_ns=600 ms"
    assert values in finding.message
    assert finding.message.endswith(" 2 calls")


def test_own_rule_replaces_the_packaged_one_of_its_name(own: Write) -> None:
    folder = own(name="hot-loop")
    [mine] = [rule for rule in rules(folder) if rule.name == "hot-loop"]
    assert mine.code == "MINE001"
    assert len(rules(folder)) == len(rules())


def test_two_rules_with_one_code_are_an_error(own: Write) -> None:
    own()
    with pytest.raises(WrongUsage, match="MINE001 is already the code of"):
        rules(own(name="other"))


def test_folder_without_rules_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match=r"no rules \(\*\.toml\) in this directory"):
        rules(tmp_path)
    with pytest.raises(WrongUsage, match="no such directory"):
        rules(tmp_path / "nowhere")


def test_rules_are_selected_by_name_code_or_prefix() -> None:
    everything = rules()
    assert [rule.name for rule in chosen(everything, ["hot-loop"])] == ["hot-loop"]
    assert [rule.name for rule in chosen(everything, ["TLZ003"])] == ["fixed-sleep"]
    assert chosen(everything, ["TLZ"]) == everything
    names = {rule.name for rule in chosen(everything, ["tlz00"], ["fixed-sleep", "TLZ001"])}
    assert "hot-loop" in names
    assert not names & {"fixed-sleep", "dominant-call"}
    for wanted in ("hot-lop", "TLZ9999", ""):
        with pytest.raises(WrongUsage, match="select: no rule"):
            chosen(everything, [wanted])
    with pytest.raises(WrongUsage, match=r'ignore: no rule "fixd-sleep"\. Did you mean "fixed-sleep"'):
        chosen(everything, [], ["fixd-sleep"])


def test_compiled_rules_are_current() -> None:
    assert COMPILED.read_text(encoding="ascii") == compiled_text(), "rule files were edited: run `make rules`"
    assert COMPILED_KNOWN.read_text(encoding="ascii") == known_text(), "rules/known was edited: run `make rules`"


def test_edited_packaged_rule_is_parsed_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for file in PACKAGED.glob("*.toml"):
        text = file.read_text(encoding="utf-8")
        edited = re.sub(r"(?m)^title = .*", 'title = "Edited"', text) if file.name == "hot-loop.toml" else text
        (tmp_path / file.name).write_text(edited, encoding="utf-8")
    monkeypatch.setattr(rule_set, "PACKAGED", tmp_path)
    changed = {rule.name for rule in rules.__wrapped__() if rule.title == "Edited"}
    assert changed == {"hot-loop"}


def test_packaged_rules_need_no_parser() -> None:
    program = "import sys; from tracealyze.findings.rule_set import rules; rules(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"pyparsing", "tomllib"} & set(done.stdout.split())


WHOLE = """\
code = "MINE001"
title = "Own"
severity = "info"
message = "{program} {syscall} {target}"
advice = "None."
"""


@pytest.mark.parametrize(
    ("rule", "messages"),
    [
        # Rules on calls were wrongly limited to grouping by name.
        ("""table = "calls"\nwhere = 'syscall == "read" and target == "/slow"'""", ["tool read /slow"]),
        ("""table = "calls"\nwhere = "bytes > 0"\ngroup = ["pid"]\nkeep = "sum(calls) >= 3\"""", ["tool read unknown"]),
        ("""table = "calls"\nwhere = "bytes > 0"\ngroup = ["pid"]\nkeep = "sum(calls) >= 4\"""", []),
        # Pieces without a group were wrongly merged into one.
        ("""table = "partition"\nwhere = 'target == "/slow"'""", ["tool read /slow"]),
        ("""table = "partition"\ngroup = ["program", "syscall"]\nkeep = "sum(exclusive_ns) >= 9s\"""", []),
    ],
)  # fmt: skip
def test_own_rules_may_group_calls_and_pieces_by_any_key(
    rule: str, messages: list[str], strace: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "own.toml").write_text(WHOLE + rule, encoding="utf-8")
    trace = tracealyze.read(strace(READS)).with_rules(chosen(rules(folder), ["MINE"], ()))
    assert [finding.message for finding in trace.findings] == messages


def test_condition_on_groups_takes_only_their_columns(tmp_path: Path) -> None:
    rule = 'table = "partition"\ngroup = ["program"]\nwhere = \'target == "/slow"\''
    (tmp_path / "own.toml").write_text(WHOLE + rule, encoding="utf-8")
    with pytest.raises(WrongUsage, match=re.escape("own.toml, where: target is not in group")):
        rules(tmp_path)


@pytest.mark.parametrize("kind", ["pipe", "device", "nested", "large"])
@pytest.mark.parametrize("name", ["bad.toml", "tracealyze.toml"])
def test_unreadable_toml_is_an_error_with_its_name(kind: str, name: str, tmp_path: Path, run: Run) -> None:
    """A pipe blocked, a device never ended, and brackets ended in a traceback."""
    folder = tmp_path / "rules"
    folder.mkdir()
    file = (folder if name == "bad.toml" else tmp_path) / name
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "device":
        file.symlink_to("/dev/zero")
    else:
        file.write_text(f"tracealyze = {'[' * 5000}" if kind == "nested" else "# tracealyze\n" * 1_000_000)
    options = ["--rules", str(folder)] if name == "bad.toml" else []
    done = run("summarize", *options, SAMPLES / "ssh-login" / "ssh-login.truss", cwd=tmp_path)
    assert (done.returncode, name in done.stderr, "bug" in done.stderr) == (2, True, False), done.stderr
