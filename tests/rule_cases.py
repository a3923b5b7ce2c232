"""Small programs that have a fault, and some that look alike and have none: the cases that the rules are judged by.

They are data: `live_rules/*.toml`, a `[[case]]` each.

    name = "what the program does"
    language = "python" or "sh"
    program = "its text"
    options = ["-f", "-ttt", "-T", "-y"]   of strace; these are the usual ones. `-e inject=fsync:delay_enter=20000`
                                           makes calls slow on any machine
    edit = "truncate -s -9 own.strace"     what happens to the capture then, in sh
    needs = ["gcc"]                        programs without which the case cannot be captured
    finds = ["sync-storm"]                 rules that must match, as findings or below more specific ones
    first = "sync-storm"                   the rule of the first finding
    calm = true                            no finding is a warning or an error
    never = ["tiny-io"]                    rules that must not match

A capture of each is kept in `kept_rules/`, made once on a machine with nothing else to do. What a rule must not say is
judged by these: on a machine that is slow or busy, what is quick in itself may cost seconds, and saying so is right.

    python tests/rule_cases.py             make those that are missing or of a program that has changed since
"""

from __future__ import annotations

import hashlib
import lzma
import os
import re
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
KEPT = HERE / "kept_rules"


@dataclass(frozen=True)
class Case:
    """A program, how to capture it, and what the rules must and must not say about it."""

    name: str
    program: str
    language: str = "python"
    options: tuple[str, ...] = ("-f", "-ttt", "-T", "-y")
    edit: str = ""
    needs: tuple[str, ...] = ()
    finds: tuple[str, ...] = ()
    first: str = ""
    never: tuple[str, ...] = ()
    calm: bool = False

    @property
    def kept(self) -> Path:
        """Its capture; another program, or other options, are another file."""
        made_by = repr((self.language, self.program, self.options, self.edit))
        digest = hashlib.sha256(made_by.encode()).hexdigest()[:6]
        return KEPT / f"{re.sub('[^a-z0-9]+', '-', self.name.lower())}.{digest}.strace.xz"

    def missing(self) -> list[str]:
        """The programs that it needs and this machine has not."""
        return [tool for tool in self.needs if not shutil.which(tool)]

    def captured(self, folder: Path, python: str = sys.executable) -> Path:
        """A capture of it, made here and now: without what an installation adds to the start of Python."""
        text = textwrap.dedent(self.program)
        command = [python, "-I", "-S", "-c", text] if self.language == "python" else ["/bin/sh", "-c", text]
        folder.mkdir(exist_ok=True)
        capture = oracle.capture_as(command, folder, *self.options)
        if self.edit:
            oracle.run(["sh", "-c", self.edit], folder)
        return capture

    def is_found(self, trace: Trace) -> bool:
        """Whether the rules say what they must."""
        is_first = not self.first or (bool(trace.findings) and trace.findings[0].name == self.first)
        return is_first and set(self.finds) <= found(trace)

    def is_spared(self, trace: Trace) -> bool:
        """Whether the rules do not say what they must not."""
        is_calm = not self.calm or all(each.severity == Severity.INFO for each in trace.findings)
        return is_calm and not set(self.never) & found(trace)


def found(trace: Trace) -> set[str]:
    """The rules that match, as findings or below more specific ones."""
    return {name for finding in trace.findings for name in (finding.name, *finding.also)}


def told(trace: Trace) -> str:
    """The findings, a line each."""
    return "\n".join(
        f"{each.severity} {each.name}: {each.message} (also {', '.join(each.also)})" for each in trace.findings
    )


def _case(table: dict[str, Any]) -> Case:
    facts: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    return Case(**facts)


def _cases() -> list[Case]:
    files = sorted((HERE / "live_rules").glob("*.toml"))
    return [_case(table) for file in files for table in tomllib.loads(file.read_text(encoding="utf-8"))["case"]]


CASES = _cases()


def _keep(case: Case) -> None:
    """Capture the program and keep it, with the same names of folders wherever that was."""
    interpreter = Path(sys.executable).resolve()
    prefix, home = interpreter.parent.parent, Path.home()
    os.environ.pop("PWD", None)
    os.environ |= {"PATH": f"{interpreter.parent}:/usr/local/bin:/usr/bin:/bin", "HOME": "/home/user"}
    with TemporaryDirectory(prefix="kept-") as folder:
        text = case.captured(Path(folder), str(interpreter)).read_bytes()
    for real, shown in (
        (folder, b"/tmp/case"),
        (prefix, b"/usr/local"),
        (prefix.parent, b"/usr"),
        (home, b"/home/user"),
    ):
        text = text.replace(os.fsencode(real), shown)
    case.kept.write_bytes(lzma.compress(text, preset=9))


def main() -> None:
    KEPT.mkdir(exist_ok=True)
    for file in set(KEPT.iterdir()) - {case.kept for case in CASES}:
        file.unlink()
    for case in CASES:
        if not case.kept.exists():
            _keep(case)


if __name__ == "__main__":
    main()
