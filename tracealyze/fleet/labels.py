"""Labels of captures, such as version and host: from the pattern of their paths, from a CSV file.

--label-from '{host}/{version}/{run}.strace*'
--labels runs.csv                              path,version,ticket
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from tracealyze.base.errors import WrongUsage

_PART = re.compile(r"\{(?P<name>[^{}]*)\}|(?P<deep>\*\*)|(?P<any>\*)|(?P<one>\?)")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def pattern_of(text: str) -> re.Pattern[str]:
    """The regular expression of a pattern, which must fit the end of a path. Raises `WrongUsage`.

    >>> pattern_of("{version}/{run}.strace*").search("s3://b/4.1/7.strace.xz").groupdict()
    {'version': '4.1', 'run': '7'}
    """
    parts, end = [r"(?:\A|/)"], 0
    for found in _PART.finditer(text):
        parts.append(re.escape(text[end : found.start()]))
        end = found.end()
        name = found["name"]
        if name is not None and (not _NAME.fullmatch(name) or f"(?P<{name}>" in "".join(parts)):
            raise WrongUsage(f'--label-from: "{{{name}}}" is not a name, or occurs twice. Write {{host}}.')
        parts.append(f"(?P<{name}>[^/]+?)" if name else ".*" if found["deep"] else "[^/]*" if found["any"] else "[^/]")
    return re.compile("".join(parts) + re.escape(text[end:]) + r"\Z")


@dataclass(frozen=True)
class Labels:
    """Where labels come from."""

    patterns: Sequence[re.Pattern[str]] = ()
    table: Sequence[tuple[str, Mapping[str, str]]] = ()
    """Path, end of a path or glob, with the labels of the captures that it names."""
    exact: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, patterns: Sequence[str] = (), file: str | None = None) -> Labels:
        """From the options. Raises `WrongUsage`."""
        rows = _rows(Path(file)) if file else []
        exact = {path: labels for path, labels in rows if not set("*?[") & set(path)}
        return cls([pattern_of(each) for each in patterns], [row for row in rows if row[0] not in exact], exact)

    def of_path(self, path: str) -> dict[str, str]:
        """The labels of a capture. Those of the CSV file take precedence."""
        found: dict[str, str] = {}
        for pattern in self.patterns:
            match = pattern.search(path)
            found |= match.groupdict() if match else {}
        for glob, labels in self.table:
            if fnmatchcase(path, glob) or fnmatchcase(path, f"*/{glob}"):
                found |= labels
        # All ends of the path that begin after a slash.
        ends = (path[at:] for at in [0, *(slash.end() for slash in re.finditer("/", path))])
        for end in ends if self.exact else ():
            found |= self.exact.get(end, {})
        return {name: value for name, value in found.items() if value}


def _rows(file: Path) -> list[tuple[str, dict[str, str]]]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, strict=True)
            first, *names = reader.fieldnames or [""]
            if not names or not all(_NAME.fullmatch(name) for name in names):
                raise WrongUsage(f"{file}: the first line must name columns: path, then one per label.")
            return [(row[first], {name: row[name] for name in names if row[name]}) for row in reader if row[first]]
    except (OSError, ValueError, csv.Error) as error:
        if isinstance(error, WrongUsage):
            raise
        raise WrongUsage(f"{file}: cannot be read as CSV: {error}.") from error
