"""Compare released versions whose changelog says that their calls changed, and versions with themselves.

    python tests/pairs/run.py               all pairs and all neutral comparisons; writes the table into docs/gate.md
    python tests/pairs/run.py NAME...       these pairs only; the table is printed
    python tests/pairs/run.py --verdicts    also print what `check` says about each pair
    python tests/pairs/run.py --again       compare the captures of the last time; only the neutral ones are recorded

Installs from PyPI, npm and crates.io into .cache/pairs, records with strace, and needs about ten minutes.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from neutral import neutral
from pair import CACHE, ROOT, RUNS, Pair, alive, install, pairs, record, run

_NEUTRAL = 20
"""Number of programs that are compared with themselves, three times each."""
_DOCUMENT = ROOT / "docs" / "gate.md"
_TABLE = re.compile(r"(<!-- make pairs -->\n).*(<!-- end of make pairs -->\n)", re.DOTALL)
_LONG = 90
_SHOWN = 5
"""Number of new calls within the limits that the text of `check` shows."""


@dataclass(frozen=True)
class Found:
    """What `check` says about a pair."""

    pair: Pair
    document: Any

    @property
    def named(self) -> tuple[str, str]:
        """How the right call is named, and the row that does so; empty if nothing does.

        It fails the check, is a remark because it depends on scheduling, or is within the limits."""
        for how, text in _rows(self.document):
            if re.search(self.pair.call, text):
                return how, text
        return "", ""

    @property
    def site(self) -> str:
        """The source line of the calls, if the program has debug information."""
        sources = [each["source"] for each in self.document["regressions"] if each["source"]]
        return f"{sources[0]['file']}:{sources[0]['line']}" if sources else ""


def _rows(document: Any) -> Iterator[tuple[str, str]]:
    """The rows of a verdict that name calls: those that fail come first."""
    for regression in document["regressions"]:
        for row in regression["rows"]:
            yield "fails", _row(row["what"], row)
    for judged in document["judgements"]:
        for place in (judged["explanation"] or {}).get("differences", ()) if judged["outcome"] == "warned" else ():
            yield "remark", _row(f"{place['program']} {place['shape']}", place)
    for row in document["small_changes"][:_SHOWN]:
        yield "within the limits", _row(row["what"], row)


def _row(what: str, numbers: Any) -> str:
    return f"{what} {numbers['before']} → {numbers['after']}"


def captures(pair: Pair, side: str, is_new: bool) -> list[str]:
    """The captures of a version: recorded now, or those of the last time."""
    files = [CACHE / "captures" / pair.name / f"{side}-{number}.strace.zst" for number in range(1, RUNS + 1)]
    if is_new or not all(file.exists() for file in files):
        with alive(pair, side):
            run(pair)
            for file in files:
                record(pair, file)
    return [str(file) for file in files]


def verdict(pair: Pair, head: Sequence[str], base: Sequence[str]) -> Any:
    """The verdict of `check` as JSON. Exit codes above 2 are failures of the command."""
    words = [sys.executable, "-m", "tracealyze", "check", *head, "--base", *base, "--json"]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", cwd=ROOT, check=False)
    if done.returncode > 2:
        raise SystemExit(f"{pair.name}: {done.stderr}")
    return json.loads(done.stdout)


def compared(pair: Pair, is_new: bool) -> Found:
    """Check the version that makes more calls against the other."""
    base, head = (captures(pair, side, is_new) for side in (pair.fewer, pair.more))
    return Found(pair, verdict(pair, head, base))


def table(found: Sequence[Found]) -> str:
    """The pairs as markdown, those that are not named last."""
    lines = ["| program | fewer → more calls | changelog | named by `check` | |", "|---|---|---|---|---|"]
    for each in sorted(found, key=lambda each: not each.named[0]):
        pair, (how, row) = each.pair, each.named
        versions = f"{pair.version(pair.fewer)} → {pair.version(pair.more)}"
        site = f" at `{each.site}`" if each.site else ""
        shown = f"`{_short(row)}`{site}" if row else "not named"
        lines.append(
            f"| {pair.program} | {versions} | [{_escaped(pair.says)}]({pair.url}) | {_escaped(shown)} | {how} |"
        )
    return "".join(f"{line}\n" for line in lines)


def _short(text: str) -> str:
    for place in (CACHE, sys.base_prefix):
        text = text.replace(f"{place}/", "…/")
    return text if len(text) <= _LONG else f"{text[: _LONG // 2]}…{text[-_LONG // 2 :]}"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def neutral_failures(chosen: Sequence[Pair]) -> tuple[int, list[str]]:
    """The number of comparisons of versions with themselves, and those that fail."""
    number, failures = 0, []
    for pair in chosen:
        base = captures(pair, pair.more, is_new=False)
        for kind, head in neutral(pair):
            number += 1
            document = verdict(pair, head, base)
            if document["verdict"] == "failed":
                failures.append(f"{pair.name}, {kind}")
            _say(f"{pair.name}, {kind}: {document['verdict']}")
            for how, row in _rows(document) if document["verdict"] == "failed" else ():
                _say(f"    {how}: {row}")
    return number, failures


def page(found: Sequence[Found], unchanged: tuple[int, list[str]]) -> str:
    """What docs/gate.md has between the marks."""
    named = [each for each in found if each.named[0]]
    failing = sum(each.named[0] == "fails" for each in named)
    number, failures = unchanged
    failed = f"{len(failures)} fail ({'; '.join(failures)})" if failures else "none fails"
    return (
        f"{date.today()}: {len(named)} of {len(found)} pairs are named with the right call, {failing} of them by a "
        f"failed check. Of {number} neutral comparisons {failed}.\n\n{table(found)}"
    )


def main() -> None:
    """Install, record, compare, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--verdicts", action="store_true")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    chosen = pairs(options.names)
    found = list(_compared_pairs(chosen, options))
    if options.names:
        sys.stdout.write(table(found))
        return
    unchanged = neutral_failures([each.pair for each in found][:_NEUTRAL])
    text = page(found, unchanged)
    content = _DOCUMENT.read_text(encoding="utf-8")
    _DOCUMENT.write_text(_TABLE.sub(lambda match: f"{match[1]}{text}{match[2]}", content), encoding="utf-8")


def _compared_pairs(chosen: Sequence[Pair], options: argparse.Namespace) -> Iterator[Found]:
    for pair in chosen:
        try:
            install(pair)
            found = compared(pair, not options.again)
        except (SystemExit, subprocess.TimeoutExpired) as error:
            _say(f"{pair.name}: {error}")
            continue
        _say(f"{pair.name}: {': '.join(found.named) if found.named[0] else 'NOT NAMED'} {found.site}")
        for how, row in _rows(found.document) if options.verdicts else ():
            _say(f"    {how}: {row}")
        yield found


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    main()
