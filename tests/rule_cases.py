"""Small programs with a fault, and programs that look alike and have none: the cases that the rules are judged by.

They are data: `kept_rules/RULE/cases.toml`, with a capture of each program next to it.

    [found-1]                              the rule finds the fault; `[quiet-1]`: it must not report the program
    claim = "what the program does"
    language = "python" or "sh"
    program = "its text"
    options = ["-f", "-ttt", "-T", "-y"]   strace's options; these are the default. `-e inject=fsync:delay_enter=20000`
                                           makes calls slow on any machine
    sched = true                           captured with scheduler events, by `tracealyze record --sched`
    beside = "its text"                    a second program, which runs meanwhile and is not traced
    edit = "truncate -s -9 own.strace"     a change to the capture, in sh
    needs = ["gcc"]                        programs without which the case cannot be captured
    sample = "ssh-login/ssh-login.truss"   instead of a program: a capture in samples/
    finds = ["sync-storm"]                 other rules that must match, as findings or below more specific ones
    first = true                           the first finding is of this rule
    never = ["tiny-io"]                    other rules that must not match
    no_warnings = true                     no finding is a warning or an error

`kept_rules/healthy/` has programs without a fault that no single rule is about.

The captures were made on an idle machine. Whether a rule stays quiet is judged by these only: on a busy machine,
a quick operation may take seconds, and a finding about it is right.

    python tests/rule_cases.py             capture the programs that are new or have changed
"""

from __future__ import annotations

import hashlib
import lzma
import os
import shutil
import sys
import textwrap
import tomllib
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import oracle

from tracealyze import Trace
from tracealyze.findings.finding import Severity

HERE = Path(__file__).parent
SAMPLES = HERE.parent / "samples"
KEPT = HERE / "kept_rules"
PROGRAMS = KEPT / "programs.txt"
"""From which program each capture was made: a digest and the case, a line each."""


@dataclass(frozen=True)
class Case:
    """A program, how to capture it, and which rules must and must not match."""

    name: str
    """`RULE/found-1` or `RULE/quiet-1`."""
    claim: str
    program: str = ""
    sample: str = ""
    language: str = "python"
    options: tuple[str, ...] = ("-f", "-ttt", "-T", "-y")
    sched: bool = False
    beside: str = ""
    edit: str = ""
    needs: tuple[str, ...] = ()
    finds: frozenset[str] = frozenset()
    first: bool = False
    never: frozenset[str] = frozenset()
    no_warnings: bool = False

    @property
    def rule(self) -> str:
        """The rule that the case is about, or `healthy`."""
        return self.name.split("/")[0]

    @property
    def capture(self) -> Path:
        """The capture in the repository."""
        return SAMPLES / self.sample if self.sample else KEPT / f"{self.name}.strace.{'zst' if self.sched else 'xz'}"

    @property
    def is_text(self) -> bool:
        """Whether the capture can be shown in other forms. Scheduler events are not text."""
        return not self.sched

    @property
    def digest(self) -> str:
        """It differs if the program or the way to capture it has changed."""
        made_by = repr((self.language, self.program, self.options, self.edit, *filter(None, [self.beside])))
        return hashlib.sha256(made_by.encode()).hexdigest()[:6]

    def missing(self) -> list[str]:
        """The needed programs that are not installed."""
        return [tool for tool in self.needs if not shutil.which(tool)]

    def capture_here(self, folder: Path, python: str = sys.executable) -> Path:
        """Capture the program on this machine, in a Python without site packages."""
        command, beside = self._command(self.program, python), self._command(self.beside, python)
        folder.mkdir(exist_ok=True)
        with oracle.running(beside if self.beside else None):
            if self.sched:
                return oracle.record_with_sched(command, folder)
            capture = oracle.capture_as(command, folder, *self.options)
        if self.edit:
            oracle.run(["sh", "-c", self.edit], folder)
        return capture

    def _command(self, program: str, python: str) -> list[str]:
        text = textwrap.dedent(program)
        return [python, "-I", "-S", "-c", text] if self.language == "python" else ["/bin/sh", "-c", text]

    def is_found(self, trace: Trace) -> bool:
        """Whether the rules that must match do."""
        is_first = not self.first or (bool(trace.findings) and trace.findings[0].name == self.rule)
        return is_first and self.finds <= matching_rules(trace)

    def is_quiet(self, trace: Trace) -> bool:
        """Whether the rules that must not match do not."""
        has_no_warnings = not self.no_warnings or all(each.severity == Severity.INFO for each in trace.findings)
        return has_no_warnings and not self.never & matching_rules(trace)


def matching_rules(trace: Trace) -> set[str]:
    """The rules that match, as findings or below more specific ones."""
    return {name for finding in trace.findings for name in (finding.name, *finding.also)}


def findings_text(trace: Trace) -> str:
    """The findings, a line each."""
    return "\n".join(
        f"{each.severity} {each.name}: {each.message} (also {', '.join(each.also)})" for each in trace.findings
    )


def _case(rule: str, key: str, table: dict[str, Any]) -> Case:
    facts: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}
    implied = {rule} - {"healthy"}
    finds = frozenset(facts.pop("finds", ())) | (implied if key.startswith("found") else set())
    never = frozenset(facts.pop("never", ())) | (implied if key.startswith("quiet") else set())
    return Case(f"{rule}/{key}", finds=finds, never=never, **facts)


CASES = [
    _case(file.parent.name, key, table)
    for file in sorted(KEPT.glob("*/cases.toml"))
    for key, table in tomllib.loads(file.read_text(encoding="utf-8")).items()
]
CAPTURED = [case for case in CASES if case.program]


def kept_captures() -> set[Path]:
    """All captures that are kept."""
    return {file for ending in ("xz", "zst") for file in KEPT.glob(f"*/*.{ending}")}


def digests() -> dict[str, str]:
    """The digest of the program that each capture was made from."""
    lines = PROGRAMS.read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in map(str.split, lines)}


def _capture(case: Case) -> None:
    """Capture the program, with the same names of folders on every machine."""
    interpreter = Path(sys.executable).resolve()
    prefix, home = interpreter.parent.parent, Path.home()
    os.environ.pop("PWD", None)
    os.environ |= {"PATH": f"{interpreter.parent}:/usr/local/bin:/usr/bin:/bin", "HOME": "/home/user"}
    with TemporaryDirectory(prefix="kept-") as folder:
        text = case.capture_here(Path(folder), str(interpreter)).read_bytes()
    for real, shown in (
        (folder, b"/tmp/case"),
        (prefix, b"/usr/local"),
        (prefix.parent, b"/usr"),
        (home, b"/home/user"),
    ):
        text = text if case.sched else text.replace(os.fsencode(real), shown)
    # Frames of zstd have checksums, and their facts no names of folders.
    case.capture.write_bytes(text if case.sched else lzma.compress(text, preset=9))


def main() -> None:
    made = digests()
    for file in kept_captures() - {case.capture for case in CAPTURED}:
        file.unlink()
    for case in CAPTURED:
        if not case.capture.exists() or made.get(case.name) != case.digest:
            _capture(case)
    by_name = sorted(CAPTURED, key=lambda case: case.name)
    PROGRAMS.write_text("".join(f"{case.digest}  {case.name}\n" for case in by_name), encoding="utf-8")


if __name__ == "__main__":
    main()
