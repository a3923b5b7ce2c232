"""One page per rule, from its file, with the output and the timelines of its examples on this version."""

from __future__ import annotations

import io
import os
import re
import textwrap
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import tracealyze
from tracealyze.compare.run import Run
from tracealyze.compare.scaling import findings, scaling
from tracealyze.export import svg
from tracealyze.findings.compiled_rules import INCUBATOR, PACKAGED
from tracealyze.findings.rule_file import EXPLANATION
from tracealyze.findings.rule_set import Example, Rule, parsed_rules, rules
from tracealyze.render import explanation
from tracealyze.render.addresses import REPOSITORY
from tracealyze.render.picture.boot_chart import Mark, boot_chart
from tracealyze.render.picture.stretches import stretches_of

ROOT = Path(__file__).resolve().parent.parent.parent
_SHOWN_LINES = 14
_MAX_LANES = 24
"""Rows of the timeline of an example."""
_CONDITION_WIDTH = 88
_TITLES = {"costs": "Why it costs time", "fine": "When it is fine", "do": "What to do", "wrong": "How to disprove it"}
_GROUPS = {
    "0": "Where the time goes",
    "1": "Waits",
    "2": "Waits for others, and ends of captures",
    "3": "Files and memory",
    "4": "Calls and transfers",
    "5": "Processes and threads",
    "6": "Logs and tables of tracers",
    "8": "What a capture lacks",
    "9": "Several captures",
}
"""Headings in the list of rules, by the second digit of the code from the right."""


class ExampleChanged(Exception):
    """An example does not have the findings that its rule file states."""


def write(folder: Path) -> None:
    """Write the page of each rule, and `index.md` that lists them."""
    folder.mkdir(parents=True)
    packaged = sorted([*parsed_rules(PACKAGED), *parsed_rules(INCUBATOR)], key=lambda rule: rule.code)
    for rule in packaged:
        (folder / f"{rule.name}.md").write_text("\n".join(_page(rule, folder)) + "\n", encoding="utf-8")
    (folder / "index.md").write_text("\n".join(_index(packaged)) + "\n", encoding="utf-8")


def _index(packaged: list[Rule]) -> Iterator[str]:
    yield "# All rules"
    yield ""
    yield f"{len(packaged)} rules, by code. [Rules](../rules.md) describes how to select and how to write them."
    for digit, title in _GROUPS.items():
        mine = [rule for rule in packaged if rule.code[-2] == digit]
        yield from ("", f"## {title}", "", "| code | rule | what it finds |", "|---|---|---|")
        yield from (f"| {rule.code} | [{rule.name}]({rule.name}.md) | {_plain(rule.title)} |" for rule in mine)
    yield from ("", "```{toctree}", ":hidden:", ":maxdepth: 1", "")
    yield from (rule.name for rule in packaged)
    yield "```"


def _page(rule: Rule, folder: Path) -> Iterator[str]:
    yield f"# {rule.name}"
    yield ""
    yield f"**{rule.code}**: {_plain(rule.title)}."
    yield ""
    yield _plain(rule.explain["finds"])
    parts = dict(explanation.parts(rule))
    for key, title in _TITLES.items():
        yield from ("", f"## {title}", "", _plain(rule.explain[key]))
        if key == "do":
            yield from ("", f"The report suggests: {_plain(_advice(rule))}")
    assert set(_TITLES) < set(EXPLANATION)
    yield from ("", "## When it triggers", "")
    yield from (f"- {_code_like(text)}" for text in parts["When it triggers"])
    yield from (
        "",
        f"`tracealyze explain {rule.name}` prints this page. "
        + (f"`--ignore {rule.name}` switches the rule off. " if rule.evidence else "`--rules incubator` turns it on. ")
        + f"The rule is the file [{rule.origin}]({REPOSITORY}/blob/main/{rule.origin}).",
    )
    yield from ("", "## Examples", "", "Each example was run with this version when this page was made.")
    for is_found in (True, False):
        for example in (each for each in rule.examples if bool(each.findings) is is_found):
            yield from _example(rule, example, folder)


def _advice(rule: Rule) -> str:
    """The advice, without the parts that depend on the capture."""
    return re.sub(r"\s*\{[^{}]*\}", "", rule.advice).replace("{{", "{").replace("}}", "}")


def _plain(text: str) -> str:
    """One paragraph, with its signs of Markdown escaped."""
    return re.sub(r"([*_<>\[\]`|\\])", r"\\\1", " ".join(text.split()))


def _code_like(text: str) -> str:
    """A condition, which contains quotes, comparisons and line breaks."""
    head, separator, condition = text.partition(" with ")
    if not separator:
        return _plain(text)
    lines = textwrap.wrap(" ".join(condition.split()).removesuffix("."), _CONDITION_WIDTH, break_long_words=False)
    return "\n".join([f"{_plain(head)} with", "", "  ```", *(f"  {line}" for line in lines), "  ```", ""])


def _example(rule: Rule, example: Example, folder: Path) -> Iterator[str]:
    command, text = _printed(rule, example, folder)
    verdict = "Found" if example.findings else "Similar, but not found"
    title = f"{verdict}: {_plain(example.name)}"
    yield from ("", f"### {title}", "")
    if example.trace:
        yield from ("```", *_shortened(example.text.splitlines()), "```", "")
    if example.findings:
        yield from ("```console", f"$ {command}", *text.rstrip().splitlines(), "```")
        picture = _picture_name(rule, example)
        if (folder / picture).exists():
            yield from ("", f"![Timeline: {_plain(example.name)}]({picture})")
    else:
        yield f"`{command}` reports no finding of this rule."


def _shortened(lines: list[str]) -> Iterator[str]:
    if len(lines) <= _SHOWN_LINES + 1:
        yield from lines
        return
    yield from lines[: _SHOWN_LINES - 3]
    yield f"… {len(lines) - _SHOWN_LINES:,} similar lines …"
    yield from lines[-3:]


def _printed(rule: Rule, example: Example, folder: Path) -> tuple[str, str]:
    """The command that shows an example, and what it prints. Raises `ExampleChanged` if the findings are others."""
    if example.n_from:
        return _across(rule, example)
    with chdir(ROOT if example.sample else folder):
        file = _file(example)
        trace = tracealyze.read(file, input_format=example.format).with_rules(rules(INCUBATOR))
        names = [name for finding in trace.findings for name in (finding.name, *finding.also)]
        if names.count(rule.name) != example.findings:
            raise ExampleChanged(f"{rule.name}: {example.name}: {names}")
        words = ["summarize", str(file), "--select", rule.name]
        words += [] if rule.evidence else ["--rules", "incubator"]
        words += ["--input-format", example.format] if example.format not in (None, "strace") else []
        printed = _run(words) if example.findings else ""
        if example.findings and trace.window.wall_ns:
            (folder / _picture_name(rule, example)).write_text(_picture(rule, example, trace), encoding="utf-8")
        if not example.sample:
            file.unlink()
    return f"tracealyze {' '.join(words)}", printed


def _picture_name(rule: Rule, example: Example) -> str:
    return f"{rule.name}-{rule.examples.index(example) + 1}.svg"


def _picture(rule: Rule, example: Example, trace: tracealyze.Trace) -> str:
    """The timeline of an example, with the findings of the rule as numbers."""
    mine = [each for each in trace.findings if rule.name in (each.name, *each.also)]
    marks = [
        Mark(number, each.title or each.name, each.severity != "info", stretches_of(trace, each))
        for number, each in enumerate(mine, start=1)
    ]
    chart = boot_chart(trace, marks=marks, limit=_MAX_LANES)
    return svg.document(example.name, [(chart.svg, chart.width, chart.height, chart.caption)])


def _file(example: Example) -> Path:
    if example.sample:
        place = Path("samples") / example.sample
        kinds = {".strace", ".truss", ".log"}
        return place if place.is_file() else next(f for f in sorted(place.iterdir()) if kinds & set(f.suffixes))
    file = Path(f"example.{(example.format or 'trace').partition('-')[0]}")
    file.write_text(example.text, encoding="utf-8")
    return file


def _across(rule: Rule, example: Example) -> tuple[str, str]:
    """An example that needs captures of several sizes."""
    with chdir(ROOT):
        files = sorted(Path("samples", example.sample or "").glob("*.strace.xz"))
        named = [(re.search(example.n_from or "", file.name), file) for file in files]
        mine = [(float(match[1]), file) for match, file in named if match]
        found = findings(scaling([(size, Run(tracealyze.read(file))) for size, file in mine]), [rule])
        if len(found) != example.findings:
            raise ExampleChanged(f"{rule.name}: {example.name}: {found}")
        pattern = (example.n_from or "").replace(r"(\d+)", "[0-9]*")
        words = ["diff", "--n-from", f"{example.n_from}", f"samples/{example.sample}/{pattern}.strace.xz"]
        shown = f"tracealyze diff --n-from '{words[2]}' '{words[3]}'"
        return shown, _run(words) if example.findings else ""


def _run(words: list[str]) -> str:
    """What a command prints in a pipe of 80 columns."""
    from tracealyze.commands._cli import app

    before = dict(os.environ)
    os.environ |= {"COLUMNS": "80", "NO_COLOR": "1", "TZ": "UTC"}
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    try:
        with redirect_stdout(printed), redirect_stderr(io.StringIO()):
            app(words, prog_name="tracealyze", standalone_mode=False)
    finally:
        os.environ.clear()
        os.environ.update(before)
    return printed.buffer.getvalue().decode()
