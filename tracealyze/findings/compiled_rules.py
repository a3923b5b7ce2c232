"""The packaged rules, compiled ahead into one JSON file next to their TOML files.

Parsing 58 rule files takes 0.33 s, most of it for the expressions in them; loading the compiled file takes 3 ms.
`make rules` writes it. It has the digest of each rule file: a file that was edited since is parsed instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

PACKAGED = Path(__file__).parent.parent / "rules"
"""The folder of the packaged rules."""

INCUBATOR = PACKAGED / "incubator"
"""Packaged rules that are off by default, because no real capture is known in which they are the cause."""

COMPILED = PACKAGED / "compiled.json"
"""Per rule file, by its path below `PACKAGED`: its digest and what it was compiled to, without traces of examples."""


KNOWN = PACKAGED / "known"
"""The folder of what is known of errors, signals and messages, for the outcome of a run."""

COMPILED_KNOWN = KNOWN / "compiled.json"
"""The same for these files: reading TOML at each start would take longer than all else that they are for."""


class ParsedRule(TypedDict):
    """A rule file, checked."""

    name: str
    origin: str
    """The file, as messages name it."""
    table: dict[str, Any]
    """The contents of the file."""
    forms: dict[str, Any]
    """Its expressions, as nested lists for the engine and the evaluator: where, keep, impact."""


class CompiledRule(TypedDict):
    """A rule file in the compiled file."""

    digest: str
    rule: ParsedRule


def digest(content: bytes) -> str:
    """Sixteen hex digits that identify the content of a rule file."""
    from hashlib import blake2b

    return blake2b(content, digest_size=8).hexdigest()


def compiled_rules() -> Mapping[str, CompiledRule]:
    """The compiled rules by the paths of their files below `PACKAGED`; empty if there is no compiled file."""
    import json

    try:
        found: Mapping[str, CompiledRule] = json.loads(COMPILED.read_bytes())
    except FileNotFoundError:
        return {}
    return found


def known_table(name: str) -> dict[str, Any]:
    """The contents of a file of known things: from the compiled file, or parsed if it was edited since."""
    import json

    file = KNOWN / f"{name}.toml"
    try:
        compiled = json.loads(COMPILED_KNOWN.read_bytes()).get(name, {})
    except FileNotFoundError:
        compiled = {}
    content = file.read_bytes()
    if compiled.get("digest") == digest(content):
        table: dict[str, Any] = compiled["table"]
        return table
    import tomllib

    return tomllib.loads(content.decode())


def sections(counted: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The `[counted]` section of a rule, or each of its `[[counted]]` sections."""
    return [counted] if isinstance(counted, Mapping) else counted
