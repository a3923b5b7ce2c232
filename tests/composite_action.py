"""Runs the steps of action.yml like the runner of GitHub: conditions, variables and outputs, one step after the other.

Only what the action uses is understood. A step that uses another action must have a condition that does not hold.
"""

from __future__ import annotations

import os
import re
import subprocess
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from conftest import ROOT

_TEXT = (ROOT / "action.yml").read_text(encoding="utf-8")
_CONTEXT = re.compile(r"\b(inputs|github|runner)\.([\w-]+)|\bsteps\.(\w+)\.outputs\.([\w-]+)")
_EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")


@dataclass
class Action:
    """One use of the action in a checkout."""

    checkout: Path
    temporary: Path
    path: str
    """Where programs are looked up."""
    inputs: Mapping[str, str]
    github: Mapping[str, str]
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables that the runner sets for each step."""
    outputs: dict[tuple[str, str], str] = field(default_factory=dict)
    done: dict[str, subprocess.CompletedProcess[str]] = field(default_factory=dict)
    """The steps that ran, by name."""

    def run(self) -> bool:
        """Run all steps. After a failed step, only those run that the job's end does not prevent."""
        self.temporary.mkdir(exist_ok=True)
        has_passed = True
        for step in re.split(r"(?m)^    - name: ", _TEXT.partition("  steps:\n")[2])[1:]:
            name = step.partition("\n")[0]
            condition = _field(step, "if").strip('"')
            if not ((has_passed or "!cancelled()" in condition) and self._holds(condition)):
                continue
            assert not _field(step, "uses"), f"{name} needs another action"
            self.done[name] = self._run(step)
            has_passed = has_passed and self.done[name].returncode == 0
        return has_passed

    def _run(self, step: str) -> subprocess.CompletedProcess[str]:
        output = self.temporary / "output"
        output.write_text("", encoding="utf-8")
        known = {"PATH": self.path, "PYTHONPATH": str(ROOT), "GITHUB_ACTION_PATH": str(ROOT)}
        known |= {"GITHUB_OUTPUT": str(output), "RUNNER_TEMP": str(self.temporary)}
        environment = {"HOME": os.environ["HOME"]} | known | dict(self.variables) | self._variables(step)
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", _script(step)],
            cwd=self.checkout / self._filled(_field(step, "working-directory") or "."),
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        for line in output.read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition("=")
            self.outputs[_field(step, "id"), key] = value
        return done

    def _variables(self, step: str) -> dict[str, str]:
        block = re.search(r"(?m)^      env:\n((?:        .*\n)+)", step)
        pairs = re.findall(r"(?m)^        (\w+): (.*)$", block[1]) if block else []
        return {name: self._filled(value) for name, value in pairs}

    def _filled(self, text: str) -> str:
        return _EXPRESSION.sub(lambda match: self._value(match[1]), text)

    def _value(self, name: str) -> str:
        match = _CONTEXT.fullmatch(name)
        assert match, name
        if match[3]:
            return self.outputs.get((match[3], match[4]), "")
        if match[1] == "inputs":
            return self.inputs.get(match[2], self._filled(_default(match[2])))
        return self.github.get(match[2], "")

    def _holds(self, condition: str) -> bool:
        """Comparisons of texts, all of one kind: joined by && or by ||."""
        parts = [part for part in re.split(r" (?:&&|\|\|) ", condition) if part and part != "!cancelled()"]
        held = [self._compared(part) for part in parts]
        return any(held) if "||" in condition else all(held)

    def _compared(self, text: str) -> bool:
        name, operator, wanted = text.split(" ")
        assert operator in ("==", "!="), text
        return (self._value(name) == wanted.strip("'")) == (operator == "==")


def _field(step: str, name: str) -> str:
    found = re.search(rf"(?m)^      {name}: (.*)$", step)
    return found[1] if found else ""


def _script(step: str) -> str:
    block = re.search(r"(?m)^      run: \|\n((?:        .*\n|\n)+)", step)
    return textwrap.dedent(block[1]) if block else _field(step, "run")


def _default(name: str) -> str:
    found = re.search(rf"(?m)^  {name}:\n    description: .*\n    default: (.*)$", _TEXT)
    assert found, f"no input {name}"
    return found[1].strip('"')
