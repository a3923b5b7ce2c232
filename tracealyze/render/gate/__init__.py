"""The verdict of the gate, for people and for pipelines. Each output form renders it as one text."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from tracealyze.base.errors import WrongUsage, did_you_mean
from tracealyze.base.standard_output import is_standard_output
from tracealyze.render import output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracealyze.compare.gate.verdict import Verdict

FORMS = ("text", "json", "markdown", "pr", "junit", "sarif", "github", "gitlab", "bmf", "github-benchmark")
"""The output forms by name. Each is a module of this package with a function `rendered`."""

# A document must be alone on standard output. Texts may follow each other.
_DOCUMENTS = frozenset(("json", "junit", "sarif", "gitlab", "bmf", "github-benchmark"))


def destinations(outputs: Sequence[str], origin: str = "--output") -> list[tuple[str, str]]:
    """Forms and destinations of texts such as `junit=report.xml`. Text goes to standard output by default.

    `origin` is what errors call the place of the texts."""
    found = [_destination(each, origin) for each in outputs]
    to_stdout = [form for form, where in found if where == "-"]
    if len(to_stdout) > 1 and _DOCUMENTS & set(to_stdout):
        raise WrongUsage(
            f"{origin}: {' and '.join(to_stdout)} cannot share standard output; give one a file, FORM=FILE."
        )
    return found if to_stdout else [*found, ("text", "-")]


def _destination(text: str, origin: str) -> tuple[str, str]:
    form, equals, where = text.partition("=")
    if form not in FORMS:
        hint = did_you_mean(form, FORMS)
        raise WrongUsage(f'{origin} {text}: there is no form "{form}" ({", ".join(FORMS)}).{hint}')
    if equals and not where:
        raise WrongUsage(
            f"{origin} {text}: the file name is missing; write {form}=FILE, or {form}=- for standard output."
        )
    return form, "-" if not where or is_standard_output(where) else where


def write(verdicts: Sequence[Verdict], wanted: list[tuple[str, str]]) -> None:
    """Write the verdicts in all forms. Files come first, so that they exist even if standard output fails."""
    for form, where in sorted(wanted, key=lambda each: each[1] == "-"):
        text = _rendered(verdicts, form)
        if where == "-":
            output.write(text)
            continue
        try:
            Path(where).write_text(text, encoding="utf-8", errors="backslashreplace")
        except (OSError, ValueError) as error:
            # Settings may have a zero byte in a name.
            raise WrongUsage(f"{where}: cannot be written: {getattr(error, 'strerror', None) or error}.") from error


def must_take_several(wanted: list[tuple[str, str]]) -> None:
    """Raise `WrongUsage` if one of the forms is a document of a single scenario."""
    able = [form for form in FORMS if form not in _DOCUMENTS or hasattr(_module(form), "together")]
    for form, _ in wanted:
        if form not in able:
            raise WrongUsage(f"--output {form} has one scenario. With --all use {', '.join(able)}.")


def _rendered(verdicts: Sequence[Verdict], form: str) -> str:
    """A form may have a function `together` for several scenarios. Texts of the others follow each other."""
    module = _module(form)
    if len(verdicts) == 1:
        return str(module.rendered(verdicts[0]))
    if hasattr(module, "together"):
        return str(module.together(verdicts))
    return "\n".join(module.rendered(_with_names(verdict)) for verdict in verdicts)


def _with_names(verdict: Verdict) -> Verdict:
    """The verdict with the name of its scenario in each title: an annotation stands alone."""
    named = (replace(each, title=f"{verdict.scenario}: {each.title}") for each in verdict.regressions)
    return replace(verdict, regressions=tuple(named))


def _module(form: str) -> ModuleType:
    return import_module(f"{__name__}.{form.replace('-', '_')}")
