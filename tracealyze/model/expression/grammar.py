"""The grammar: parses a text into a tree whose names are not yet resolved."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from pyparsing import (
    Forward,
    Group,
    Keyword,
    MatchFirst,
    Opt,
    ParseBaseException,
    ParserElement,
    ParseResults,
    Regex,
    Suppress,
    ZeroOrMore,
    one_of,
)

from tracealyze.base import units
from tracealyze.base.errors import did_you_mean
from tracealyze.model.expression.tree import (
    Aggregate,
    Binary,
    Column,
    Literal,
    Matching,
    Membership,
    Missing,
    Node,
    Not,
    Several,
)

_RESERVED = "and|or|not|in|is|missing|true|false"
_DIGITS = r"(?P<digits>\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)"
# After a space, a word that is not a unit is something else.
_UNIT = (
    rf"(?P<unit>%|(?!(?:{_RESERVED})\b)[A-Za-zµ]+|\s+(?:{'|'.join(sorted(units.NAMED, key=len, reverse=True))})(?!\w))"
)
_TEXT = r'"(?:[^"\\\n]|\\.)*"' + "|" + r"'(?:[^'\\\n]|\\.)*'"
_OPERAND = "a column, a number, a string or a parenthesis"
# Operators of other languages, and their equivalents here.
_FOREIGN = {
    "=": 'write "==" to compare',
    "&&": 'write "and"',
    "&": 'write "and"',
    "||": 'write "or"',
    "|": 'write "or"',
    "!": 'write "not"',
    "=~": 'write "~" for a pattern',
    "<>": 'write "!="',
}


class Mistake(Exception):
    """A mistake, and its position in the text."""

    def __init__(self, problem: str, at: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.at = at


def tree(text: str) -> Node:
    """The tree of a text. The caller limits its length and nesting."""
    root: Node = _read(_grammar(), text)[0]
    return root


def budget(text: str) -> tuple[Column, list[str], str, Literal]:
    """Metric, arguments, operator and limit of a budget."""
    found = _read(_budget_grammar(), text)
    arguments = [str(each.value) for each in found.get("arguments", ())]
    return found["metric"], arguments, found["operator"], found["limit"]


def _read(grammar: ParserElement, text: str) -> Any:
    try:
        return grammar.parse_string(text, parse_all=True)
    except ParseBaseException as error:
        raise _mistake(text, error) from None


def _mistake(text: str, error: ParseBaseException) -> Mistake:
    at = len(text) - len(text[error.loc :].lstrip())
    rest = text[at:]
    expected = error.msg.removeprefix("Expected ").replace("end of text", "and, or, or the end")
    if not rest:
        return Mistake(f"unexpected end; expected {expected}", len(text.rstrip()))
    if rest[0] in "\"'" and not re.match(_TEXT, rest):
        return Mistake("the closing quote is missing", at)
    word = re.match(r"[&|=<>!~]+|[\w.]+|.", rest, flags=re.DOTALL)
    found = word[0] if word else rest[:1]
    foreign = _FOREIGN.get(found) or (f'write "{found.lower()}"' if found.lower() in ("and", "or", "not", "in") else "")
    if foreign and (found in _FOREIGN or found != found.lower()):
        return Mistake(f'"{found}" is not an operator; {foreign}', at)
    return Mistake(f'unexpected "{found}"; expected {expected}', at)


def _literal(_text: str, at: int, tokens: ParseResults) -> Literal:
    """A number with its unit. The value is exact: a time since 1970 has more digits than a float."""
    unit = str(tokens.as_dict().get("unit") or "").strip()
    if unit and unit not in units.NAMED:
        place = at + tokens[0].rindex(unit)
        if unit.lower() in _RESERVED.split("|"):
            raise Mistake(f'"{unit}" is not known; write "{unit.lower()}"', place)
        raise Mistake(f'no unit "{unit}" ({", ".join(units.NAMED)}).{did_you_mean(unit, units.NAMED)}', place)
    value = units.exactly(tokens["digits"].replace("_", ""), unit)
    if value is None:
        raise Mistake("the number is too large", at)
    return Literal(value, units.NAMED[unit][0] if unit else "", at)


def _quoted(_text: str, at: int, tokens: ParseResults) -> Literal:
    """Backslashes are preserved for patterns, apart from those that escape the quote."""
    quoted = tokens[0]
    return Literal(quoted[1:-1].replace(f"\\{quoted[0]}", quoted[0]), at=at)


def _signed(_text: str, at: int, tokens: ParseResults) -> Node:
    operand: Node = tokens[-1]
    if len(tokens) % 2 == 1:
        return operand
    if isinstance(operand, Literal) and isinstance(operand.value, int | float) and not isinstance(operand.value, bool):
        return Literal(-operand.value, operand.unit, at)
    return Binary("-", Literal(0, at=at), operand, at)


def _chain(_text: str, _at: int, tokens: ParseResults) -> Node:
    """`a - b - c` from the left."""
    node: Node = tokens[0]
    for operator, right in zip(tokens[1::2], tokens[2::2], strict=True):
        node = Binary(operator, node, right, right.at)
    return node


def _inverted(_text: str, at: int, tokens: ParseResults) -> Node:
    node: Node = tokens[-1]
    return node if len(tokens) % 2 else Not(node, at)


def _several(operator: str) -> Callable[[str, int, ParseResults], Node]:
    def made(_text: str, at: int, tokens: ParseResults) -> Node:
        parts = tuple(part for part in tokens if part != operator)
        return parts[0] if len(parts) == 1 else Several(operator, parts, at)

    return made


def _compared(_text: str, _at: int, tokens: ParseResults) -> Node:
    operand: Node = tokens[0]
    if len(tokens) == 1:
        return operand
    words, last = [word for word in tokens[1:] if isinstance(word, str)], tokens[-1]
    operator = " ".join(words)
    if operator in ("is missing", "== missing"):
        return Missing(operand, operand.at)
    if operator in ("is not missing", "!= missing"):
        return Not(Missing(operand, operand.at), operand.at)
    if operator in ("in", "not in"):
        return Membership(operator, operand, tuple(tokens[1 + len(words) :]), operand.at)
    if operator in ("~", "!~"):
        return Matching(operator, operand, last, operand.at)
    return Binary(operator, operand, last, last.at)


def _number() -> ParserElement:
    return Regex(f"{_DIGITS}{_UNIT}?").set_name("a number").set_parse_action(_literal)


def _text() -> ParserElement:
    return Regex(_TEXT).set_name("a string in quotes").set_parse_action(_quoted)


def _operand(condition: ParserElement) -> ParserElement:
    truth = Regex(r"(?:true|false)\b").set_parse_action(lambda _, at, found: Literal(found[0] == "true", at=at))
    name = Regex(rf"(?!(?:{_RESERVED})\b)[A-Za-z_]\w*").set_name("a column")
    column = name.copy().set_parse_action(lambda _, at, found: Column(found[0], at))
    function = Regex(rf"(?!(?:{_RESERVED})\b)[A-Za-z_]\w*(?=\s*\()")
    call = function + Suppress("(") - Opt(column) - Suppress(Regex(r"\)").set_name('")"'))
    call.set_parse_action(lambda _, at, found: Aggregate(found[0], found[1] if len(found) > 1 else None, at))
    closed = Suppress("(") - condition - Suppress(Regex(r"\)").set_name('")"'))
    return MatchFirst([_number(), _text(), truth, call, column, closed]).set_name(_OPERAND)


def _comparison(value: ParserElement) -> ParserElement:
    missing = Keyword("missing").set_name('"missing"')
    sign = Opt(Regex("-").set_name('"-"'))
    truth = Regex(r"(?:true|false)\b").set_parse_action(lambda _, at, found: Literal(found[0] == "true", at=at))
    constant = (sign + _number()).set_parse_action(_signed) | _text() | truth
    constant.set_name("a number or a string")
    values = Suppress(Regex(r"\(").set_name('"("')) - constant - ZeroOrMore(Suppress(",") - constant)
    values -= Suppress(Regex(r"\)").set_name('"," or ")"'))
    tail = MatchFirst(
        [
            one_of("~ !~") - _text(),
            one_of("== !=") + missing,
            one_of("== != <= >= < >") - value,
            Opt(Keyword("not")) + Keyword("in") - values,
            Keyword("is") - Opt(Keyword("not")) - missing,
        ]
    )
    return (value + Opt(tail)).set_parse_action(_compared)


@cache
def _grammar() -> ParserElement:
    condition = Forward()
    signed = (ZeroOrMore("-") + _operand(condition)).set_parse_action(_signed)
    signed.set_name(_OPERAND)
    product = (signed + ZeroOrMore(one_of("* /") - signed)).set_parse_action(_chain)
    value = (product + ZeroOrMore(one_of("+ -") - product)).set_parse_action(_chain)
    value.set_name(_OPERAND)
    inverted = (ZeroOrMore(Keyword("not")) + _comparison(value)).set_parse_action(_inverted)
    inverted.set_name("a condition")
    both = (inverted + ZeroOrMore(Keyword("and") - inverted)).set_parse_action(_several("and"))
    condition <<= (both + ZeroOrMore(Keyword("or") - both)).set_parse_action(_several("or"))
    condition.set_name("a condition")
    # Keep tabs, so that positions are those of the text.
    return condition.parse_with_tabs()


@cache
def _budget_grammar() -> ParserElement:
    metric = Regex(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*").set_name("a metric")
    metric.set_parse_action(lambda _, at, found: Column(found[0], at))
    bare = Regex(r"[^\s,\[\]\"'][^,\[\]\"']*").set_name("an argument")
    bare.set_parse_action(lambda _, at, found: Literal(found[0].strip(), at=at))
    argument = (_text() | bare).set_name("an argument")
    listed = argument - ZeroOrMore(Suppress(",") - argument)
    arguments = Suppress("[") - Group(listed)("arguments") - Suppress(Regex(r"\]").set_name('"," or "]"'))
    operator = one_of("<= >= == != < >").set_name("one of <= < == != >= >")
    whole = metric("metric") + Opt(arguments) + operator("operator") - _number()("limit")
    return whole.parse_with_tabs()
