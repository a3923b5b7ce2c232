"""The expression language: its syntax, errors and their positions, and equal results in the engine and in Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import SAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st

import tracealyze
from tracealyze import _engine
from tracealyze.base.errors import WrongUsage
from tracealyze.model.expression import Budget, WrongExpression, evaluate, evaluate_group, parse, parse_budget
from tracealyze.model.expression.schema import SCHEMA
from tracealyze.model.table import Table

SSH = SAMPLES / "ssh-login" / "ssh-login.truss"
TABLES = sorted({table for table, *_ in SCHEMA})


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("dur_ns >= 10ms", (">=", ("column", "dur_ns"), 10_000_000)),
        ("dur_ns > 1.5us", (">", ("column", "dur_ns"), 1500)),
        ("dur_ns < 3min", ("<", ("column", "dur_ns"), 180_000_000_000)),
        ("start_ns == 1700000010.658193123s", ("==", ("column", "start_ns"), 1_700_000_010_658_193_123)),
        ("bytes == 4KiB", ("==", ("column", "bytes"), 4096)),
        ("bytes >= 512", (">=", ("column", "bytes"), 512)),
        ("dur_ns != 0", ("!=", ("column", "dur_ns"), 0)),
        ("ret == -1", ("==", ("column", "ret"), -1)),
        ("cpu_ns >= 90% * dur_ns", (">=", ("column", "cpu_ns"), ("*", 0.9, ("column", "dur_ns")))),
        (
            "dur_ns - cpu_ns - 1ms > 0",
            (">", ("-", ("-", ("column", "dur_ns"), ("column", "cpu_ns")), 1_000_000), 0),
        ),
        ("dur_ns / cpu_ns > 2", (">", ("/", ("column", "dur_ns"), ("column", "cpu_ns")), 2)),
        ("target ~ '\\.so$'", ("~", ("column", "target"), "\\.so$")),
        ('target !~ "say \\"x\\""', ("!~", ("column", "target"), 'say "x"')),
        ("errno in ('ENOENT', \"EACCES\")", ("in", ("column", "errno"), ("ENOENT", "EACCES"))),
        ("pid not in (1, -2)", ("not in", ("column", "pid"), (1, -2))),
        ("errno is missing", ("missing", ("column", "errno"))),
        ("errno is not missing", ("not", ("missing", ("column", "errno")))),
        ("errno == missing", ("missing", ("column", "errno"))),
        ("errno != missing", ("not", ("missing", ("column", "errno")))),
        (
            "pid == 1 or pid == 2 and not (tid == 3)",
            (
                "or",
                ("==", ("column", "pid"), 1),
                ("and", ("==", ("column", "pid"), 2), ("not", ("==", ("column", "tid"), 3))),
            ),
        ),
        ("(pid + 1) * 2 == 4", ("==", ("*", ("+", ("column", "pid"), 1), 2), 4)),
    ],
)
def test_expression_parses_to_its_form(text: str, form: object) -> None:
    assert parse(text, "events").for_engine() == form


def test_boolean_column_is_a_condition() -> None:
    text = "is_thread and superseded == false"
    assert parse(text, "tasks").for_engine() == (
        "and",
        ("column", "is_thread"),
        ("==", ("column", "superseded"), False),
    )


def test_tree_ignores_blanks_and_lists_its_columns() -> None:
    tight, loose = parse("pid==1 and dur_ns>=10ms", "events"), parse(" pid  ==  1\n and dur_ns >= 10 ms ", "events")
    assert tight.root == loose.root
    assert loose.columns == {"pid", "dur_ns"}
    assert parse("dur_ns - cpu_ns", "events").unit == "ns"


@pytest.mark.parametrize(
    ("text", "at", "expected"),
    [
        ("duraton > 1ms", 0, 'no column "duraton" in table events. Did you mean "dur_ns"?'),
        ("pid == 1 and duration > 1ms", 13, 'Did you mean "dur_ns"?'),
        ("path == '/etc'", 0, 'Did you mean "target"?'),
        ("syscall == openat", 11, 'Put strings in quotes: "openat".'),
        ("dur_ns > 10", 9, "dur_ns is a time; give the unit, such as 10ms, 1.5s."),
        ("5 < dur_ns", 0, "dur_ns is a time"),
        ("dur_ns + 3 > 1s", 9, "dur_ns is a time"),
        ("dur_ns in (1ms, 5)", 16, "dur_ns is a time"),
        ("dur_ns > 4KiB", 9, "dur_ns is a time, but this is a number of bytes."),
        ("pid > 4ms", 6, "pid is a number, but this is a time."),
        ("dur_ns * dur_ns > 0", 9, "a time multiplied by a time"),
        ("1 / dur_ns > 0", 4, "a number divided by a time"),
        ("bytes > 4kib", 9, 'no unit "kib"'),
        ("dur_ns > 10mss", 11, 'Did you mean "ms"?'),
        ("pid == '12'", 7, "pid cannot be compared with a string."),
        ("syscall == 5", 11, "syscall cannot be compared with a number."),
        ("syscall > 'a'", 0, "strings cannot be ordered"),
        ("pid ~ '1'", 0, '"~" works on strings, but pid is a number.'),
        ("target ~ '(a'", 9, "the pattern is not a valid regular expression: unclosed group."),
        ("target ~ target", 9, "a string in quotes"),
        ("pid and tid", 0, "a condition is required here, but this is a number"),
        ("sum(dur_ns) > 1s", 0, "this condition is for single rows"),
        ("avg(dur_ns) > 1s", 0, 'no function "avg"'),
        ("pid = 1", 4, 'write "==" to compare'),
        ("pid == 1 && tid == 2", 9, 'write "and"'),
        ("pid == 1 AND tid == 2", 9, 'write "and"'),
        ("pid == 1 tid == 2", 9, 'unexpected "tid"; expected and, or, or the end.'),
        ("pid ==", 6, "unexpected end; expected a column, a number, a string or a parenthesis."),
        ("(pid == 1", 9, 'unexpected end; expected ")".'),
        ("syscall == 'read", 11, "the closing quote is missing."),
        ("pid in ()", 8, "a number or a string"),
        ("pid == 1e400", 7, "the number is too large."),
        ("", 0, "the expression is empty."),
        ("(" * 100, 24, "nested parentheses"),
        ("1" + "+1" * 1000 + " == pid", None, "operations are nested too deeply"),
        ("pid == 1 or " * 400 + "pid == 2", 4000, "the limit is 4,000"),
    ],
)
def test_error_has_a_reason_and_a_position(text: str, at: int | None, expected: str) -> None:
    with pytest.raises(WrongExpression) as caught:
        parse(text, "events", origin="--where")
    assert expected in caught.value.message
    assert caught.value.message.startswith("--where, column ")
    assert at is None or caught.value.at == at


def test_caret_is_below_the_error_in_any_text() -> None:
    with pytest.raises(WrongExpression) as caught:
        parse('syscall == "\x1b[2J" and\n  target ~ "\u202ex" and duraton > 1ms', "events")
    _, line, caret = caught.value.lines
    assert line[caret.index("^") :].startswith("duraton")
    assert caret.count("^") == len("duraton")
    with pytest.raises(WrongExpression) as caught:
        parse("\tpid\t== 1 and\tnothing", "events")
    assert caught.value.at == len("\tpid\t== 1 and\t")
    assert "\u202e" not in line


def test_sum_needs_a_group_and_a_number() -> None:
    keep = parse("sum(exclusive_ns) >= 100ms and count() >= 2 and p99(share) < 5%", "loops", grouped=True)
    rows: list[dict[str, Any]] = [
        {"exclusive_ns": 70_000_000, "share": 0.04, "program": "a"},
        {"exclusive_ns": 40_000_000, "share": None, "program": "a"},
    ]
    assert evaluate_group(keep, rows) is True
    assert evaluate_group(keep, rows[:1]) is False
    assert evaluate_group(parse("program == 'a' and count(share) == 1", "loops", grouped=True), rows) is True
    values = {name: evaluate_group((name, "exclusive_ns"), rows) for name in ("min", "max", "mean", "p50", "p90")}
    assert values == {"min": 40e6, "max": 70e6, "mean": 55e6, "p50": 40e6, "p90": 70e6}
    assert evaluate_group(("max", "share"), [{"share": None}]) is None
    for text, expected in [
        ("exclusive_ns > 1s", "write sum(exclusive_ns)"),
        ("sum(program) > 1", "program is a string"),
        ("max() > 1", "max() of which column?"),
    ]:
        with pytest.raises(WrongUsage, match=expected.replace("(", r"\(").replace(")", r"\)").replace("?", r"\?")):
            parse(text, "loops", grouped=True)


def test_parse_checks_the_requested_kind() -> None:
    assert parse("total_ns - exclusive_ns", "loops", kind="number").kind == "number"
    with pytest.raises(WrongUsage, match="a condition is required here, but this is a time"):
        parse("total_ns", "loops", kind="condition")


def test_unknown_table_is_an_error() -> None:
    with pytest.raises(WrongUsage, match=r'no table "loop" .* Did you mean "loops"'):
        parse("pid == 1", "loop")


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("calls[openat, ENOENT] <= 200", ("calls", ("openat", "ENOENT"), "<=", 200, "")),
        ("finding[fixed-sleep] == 0", ("finding", ("fixed-sleep",), "==", 0, "")),
        ("wall.median<=3s", ("wall.median", (), "<=", 3_000_000_000, "ns")),
        ("deliberate_wait <= 200ms", ("deliberate_wait", (), "<=", 200_000_000, "ns")),
        ('exclusive["a, b"] < 1.5s', ("exclusive", ("a, b",), "<", 1_500_000_000, "ns")),
        ("exclusive[/opt/my tool] < 1s", ("exclusive", ("/opt/my tool",), "<", 1_000_000_000, "ns")),
        ("bytes_read <= 4MiB", ("bytes_read", (), "<=", 4 * 1024 * 1024, "bytes")),
    ],
)
def test_budget_is_a_metric_and_its_limit(text: str, budget: tuple[Any, ...]) -> None:
    assert parse_budget(text) == Budget(text, *budget)


@pytest.mark.parametrize(
    ("text", "at"), [("calls", 5), ("calls[", 6), ("calls[] < 1", 6), ("calls =< 3", 6), ("calls < x", 8), ("<= 3", 0)]
)
def test_budget_error_has_a_position(text: str, at: int) -> None:
    with pytest.raises(WrongExpression) as caught:
        parse_budget(text, "--budget")
    assert caught.value.at == at


_WORDS = st.sampled_from(
    [
        *("pid", "dur_ns", "syscall", "target", "is_thread", "body", "sum", "count", "p99", "nothing"),
        *("and", "or", "not", "in", "is", "missing", "true", "false", "(", ")", ",", "[", "]", ".", " ", "\n"),
        *("==", "!=", "<", "<=", ">", ">=", "~", "!~", "+", "-", "*", "/", "%", "=", "&&", "\\", "'", '"'),
        *("'x'", '"a|b"', "'('", "1", "0", "5ms", "5%", "4KiB", "1e9", "2.5", "10q"),
    ]
)
_TEXTS = st.one_of(st.text(max_size=40), st.lists(_WORDS, max_size=20).map(" ".join), st.lists(_WORDS).map("".join))


@settings(deadline=None)
@given(text=_TEXTS, table=st.sampled_from(TABLES), grouped=st.booleans())
def test_any_text_parses_or_has_an_error_position(text: str, table: str, grouped: bool) -> None:
    try:
        expression = parse(text, table, grouped=grouped)
    except WrongExpression as mistake:
        assert 0 <= mistake.at <= len(text)
        assert str(mistake)
    else:
        assert json.loads(json.dumps(expression.for_engine())) is not None
        evaluate_group(expression, [{}])


@settings(deadline=None)
@given(text=_TEXTS)
def test_any_budget_text_parses_or_has_an_error_position(text: str) -> None:
    try:
        assert parse_budget(text).metric
    except WrongExpression as mistake:
        assert 0 <= mistake.at <= len(text)


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    trace = tracealyze.read(SSH)
    return {"loops": trace.loops, "tasks": trace.tasks, "gaps": trace.gaps, "partition": trace.partition}


# Conditions of every kind, on complete columns, columns with missing values, and lists.
_NUMBERS = st.sampled_from(["tid", "pid", "capture", "first_line", "exit_code", "creator", "calls", "failed"])
_TIMES = st.sampled_from(["birth_ns", "death_ns", "in_call_ns", "gap_ns", "exclusive_ns"])
_NAMES = st.sampled_from(["program", "argv", "created_by", "exit_signal"])
_SIGNS = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
_AMOUNTS = st.recursive(
    _NUMBERS | st.integers(-5, 20_000).map(str),
    lambda inner: st.builds(lambda a, sign, b: f"({a} {sign} {b})", inner, st.sampled_from("+-*/"), inner),
    max_leaves=4,
)
_ATOMS = st.one_of(
    st.builds(lambda a, sign, b: f"{a} {sign} {b}", _AMOUNTS, _SIGNS, _AMOUNTS),
    st.builds(lambda a, sign, b, n: f"{a} {sign} {b} * {n}%", _TIMES, _SIGNS, _TIMES, st.integers(0, 200)),
    st.builds(lambda a, sign, n: f"{a} {sign} {n}ms", _TIMES, _SIGNS, st.integers(0, 20_000)),
    st.builds(
        lambda a, sign, p: f"{a} {sign} '{p}'", _NAMES, st.sampled_from(["~", "!~"]), st.sampled_from(["s", "^/"])
    ),
    st.builds(
        lambda a, sign, p: f"{a} {sign} '{p}'", _NAMES, st.sampled_from(["==", "!="]), st.sampled_from(["/bin/mail"])
    ),
    st.builds(lambda a, no: f"{a} {no} ('/bin/mail', 'fork1')", _NAMES, st.sampled_from(["in", "not in"])),
    st.builds(lambda a, no: f"{a} is {no} missing", _NUMBERS | _TIMES | _NAMES, st.sampled_from(["", "not"])),
    st.just("is_thread"),
    st.just("superseded == false"),
)
_CONDITIONS = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        inner.map(lambda a: f"not ({a})"),
        st.builds(lambda a, word, b: f"({a}) {word} ({b})", inner, st.sampled_from(["and", "or"]), inner),
    ),
    max_leaves=6,
)


@settings(deadline=None)
@given(text=_CONDITIONS)
def test_engine_and_python_agree_on_every_row(text: str, tables: dict[str, Table]) -> None:
    expression = parse(text, "tasks")
    table = tables["tasks"]
    expected = [number for number, row in enumerate(table) if evaluate(expression, row)]
    assert table._source.where(expression.for_engine()) == expected
    assert table._source.where(json.loads(json.dumps(expression.for_engine()))) == expected


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ("loops", "body ~ 'ZFS_IOC_OBJSET_STATS' and turns > 100"),
        ("loops", "body == 'no such' or failing is missing"),
        ("gaps", "dur_ns >= 10ms and before !~ '^poll'"),
        ("partition", "class in ('disk', 'other') and share >= 0.1%"),
    ],
)
def test_engine_and_python_filter_tables_alike(table: str, text: str, tables: dict[str, Table]) -> None:
    expression = parse(text, table)
    expected = [number for number, row in enumerate(tables[table]) if evaluate(expression, row)]
    assert tables[table]._source.where(expression.for_engine()) == expected


@pytest.mark.parametrize(
    "form", [(), ("and", 3), ("==", 1), ("column", 5), ("nothing", 1, 2), [[]], None, ("~", ("column", "target"), "(")]
)
def test_unparsed_form_is_an_error(form: object, tables: dict[str, Table]) -> None:
    with pytest.raises((_engine.EngineError, TypeError)):
        tables["loops"]._source.where(form)


def test_endless_form_is_an_error(tables: dict[str, Table]) -> None:
    form: list[Any] = ["not"]
    form.append(form)
    with pytest.raises(_engine.InvalidExpression):
        tables["loops"]._source.where(form)


def test_engine_pattern_matches_anywhere() -> None:
    assert _engine.Pattern("b+$").found_in("abb")
    assert not _engine.Pattern("^b").found_in("abb")


def test_evaluation_does_not_load_the_grammar(tmp_path: Path) -> None:
    import subprocess
    import sys

    program = (
        "import sys; from tracealyze.model import expression\n"
        "assert expression.evaluate(['>', ['column', 'a'], 1], {'a': 2})\n"
        "assert 'pyparsing' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path)


@pytest.mark.parametrize("pad", [0, 20, 60, 200])
def test_caret_is_below_the_error_in_a_shortened_line(pad: int) -> None:
    """A line that fits lost its first letters if the error was in its second half."""
    text = f'syscall == "{"x" * pad}" and syscall in ("open", "openat", "read") and taget == "/etc"'
    with pytest.raises(WrongExpression) as wrong:
        parse(text, "events")
    _, line, caret = wrong.value.lines
    assert line[caret.index("^") :].startswith("taget")
    assert line.strip().startswith("syscall") or line.strip().startswith("…")
