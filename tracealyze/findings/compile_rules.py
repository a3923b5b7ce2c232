"""Compile the packaged rules: `python -m tracealyze.findings.compile_rules`, or `make rules`."""

from __future__ import annotations

import json
import tomllib
from pathlib import PurePosixPath

from tracealyze.findings.compiled_rules import (
    COMPILED,
    COMPILED_KNOWN,
    INCUBATOR,
    KNOWN,
    PACKAGED,
    CompiledRule,
    ParsedRule,
    digest,
)
from tracealyze.findings.rule_file import parsed_rule


def compiled_text() -> str:
    """The content of the compiled file: one line per rule, so that changes can be merged."""
    files = [*sorted(PACKAGED.glob("*.toml")), *sorted(INCUBATOR.glob("*.toml"))]
    names = {file.relative_to(PACKAGED).as_posix(): file for file in files}
    rules = {name: _compiled(file.read_bytes(), name) for name, file in names.items()}
    lines = (f"{json.dumps(name)}: {json.dumps(rule, ensure_ascii=True)}" for name, rule in rules.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def known_text() -> str:
    """The same for what is known of errors, signals and messages: the tables of the files as they are."""
    tables = {
        file.stem: {"digest": digest(file.read_bytes()), "table": tomllib.loads(file.read_text(encoding="utf-8"))}
        for file in sorted(KNOWN.glob("*.toml"))
    }
    lines = (f"{json.dumps(name)}: {json.dumps(table, ensure_ascii=True)}" for name, table in tables.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _compiled(content: bytes, name: str) -> CompiledRule:
    rule = parsed_rule(content, PurePosixPath(name).stem, f"rules/{name}")
    return {"digest": digest(content), "rule": _without_traces(rule)}


def _without_traces(rule: ParsedRule) -> ParsedRule:
    """Traces of examples are needed by tests only, and are two thirds of all text."""
    examples = [
        {key: value for key, value in example.items() if key != "trace"} for example in rule["table"].get("example", ())
    ]
    return {**rule, "table": rule["table"] | {"example": examples}}


def main() -> None:
    """Write the compiled files."""
    COMPILED.write_text(compiled_text(), encoding="ascii")
    COMPILED_KNOWN.write_text(known_text(), encoding="ascii")


if __name__ == "__main__":
    main()
