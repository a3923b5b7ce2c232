"""Verdicts as a comment on a pull request: a row per scenario, and why it changed, with a line of proof.

    | scenario | verdict | syscalls | processes | …
    | start    | worse   | 196 → **600** | 2 → **5** | …

Unchanged scenarios are folded. Text from a capture stands in `<code>`, where a forge makes no links, mentions or
markup of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.sanitize import shown
from tracealyze.compare.gate.judgement import By, Judgement, Outcome, amount
from tracealyze.compare.gate.verdict import Status
from tracealyze.render.gate import times
from tracealyze.render.gate.measured import scenario_of
from tracealyze.render.gate.words import cut, title
from tracealyze.render.listing import markdown_cell

if TYPE_CHECKING:
    from tracealyze.compare.gate.regressions import Grown, Regression
    from tracealyze.compare.gate.stats import Stats
    from tracealyze.compare.gate.verdict import Verdict

_COLUMNS = {
    "syscalls": ("calls",),
    "processes": ("processes",),
    "files opened": ("opens",),
    "requested waits": ("deliberate_wait",),
    "failed lookups": ("lookups_missed",),
    "bytes": ("bytes_read", "bytes_written"),
}
_UNITS = {"requested waits": "ns", "bytes": "bytes"}
_WORDS = {
    Status.FAILED: "worse",
    Status.NOT_COMPARABLE: "not comparable",
    Status.NO_BASELINE: "nothing to compare with",
}
_MAX_ROWS = 50
_MAX_CAUSES = 5
_MAX_NAMED = 6
_QUOTED = 160
# GitHub accepts 65,536 characters in a comment; the rest is in the job summary.
_MAX_CHARACTERS = 50_000


def rendered(verdict: Verdict) -> str:
    """As markdown."""
    return together([verdict])


def together(verdicts: Sequence[Verdict]) -> str:
    """All scenarios in one comment, those that changed first."""
    changed = [verdict for verdict in verdicts if not _is_unchanged(verdict)]
    unchanged = [verdict for verdict in verdicts if _is_unchanged(verdict)]
    lines = [f"### {_heading(verdicts)}", ""]
    lines += _table(changed) if changed else []
    if unchanged:
        lines += [f"<details><summary>{_folded(unchanged)}</summary>", "", *_table(unchanged), "</details>", ""]
    lines += _reasons(changed, _MAX_CHARACTERS - sum(map(len, lines)))
    return "".join(f"{line}\n" for line in lines).rstrip("\n") + "\n"


def _is_unchanged(verdict: Verdict) -> bool:
    return verdict.has_passed and not verdict.of(Outcome.WARNED, Outcome.IMPROVED)


def _heading(verdicts: Sequence[Verdict]) -> str:
    worse = sum(verdict.status is Status.FAILED for verdict in verdicts)
    unknown = sum(verdict.is_open for verdict in verdicts)
    parts = [f"{worse} worse"] if worse else []
    parts += [f"{unknown} without a verdict"] if unknown else []
    return f"System calls: {', '.join(parts) or 'none worse'} of {units.counted(len(verdicts), 'scenario')}"


def _folded(unchanged: Sequence[Verdict]) -> str:
    return f"{units.counted(len(unchanged), 'scenario')} unchanged, within the limits"


def _table(verdicts: Sequence[Verdict]) -> Iterator[str]:
    is_timed = any(verdict.times for verdict in verdicts)
    columns = [*_COLUMNS, *(["time (hyperfine)"] if is_timed else [])]
    yield f"| scenario | verdict | {' | '.join(columns)} |"
    yield f"|---|---|{'---:|' * len(columns)}"
    for verdict in verdicts[:_MAX_ROWS]:
        cells = [_cell(verdict, column) for column in _COLUMNS] + ([times.in_a_cell(verdict)] if is_timed else [])
        yield f"| {_code(scenario_of(verdict))} | {_word(verdict)} | {' | '.join(cells)} |"
    if len(verdicts) > _MAX_ROWS:
        yield f"\nand {len(verdicts) - _MAX_ROWS} more"
    yield ""


def _word(verdict: Verdict) -> str:
    if verdict.has_passed:
        return "better" if verdict.of(Outcome.IMPROVED) else "not gated" if verdict.of(Outcome.WARNED) else "same"
    return _WORDS[verdict.status]


def _cell(verdict: Verdict, column: str) -> str:
    """`196 → **600**`: the medians of both sides. Bold is over its limit."""
    names, unit = _COLUMNS[column], _UNITS.get(column, "")
    before, after = _sum(verdict.before, names), _sum(verdict.after, names)
    if after is None:
        return "–"
    is_failed = any(judgement.metric in names for judgement in verdict.of(Outcome.FAILED))
    now = f"**{amount(after, unit)}**" if is_failed else amount(after, unit)
    return now if before in (None, after) else f"{amount(before or 0, unit)} → {now}"


def _sum(metrics: Mapping[str, Stats], names: Sequence[str]) -> int | None:
    found = [metrics[name].median for name in names if name in metrics]
    return sum(found) if found else None


def _reasons(changed: Sequence[Verdict], room: int) -> Iterator[str]:
    """Why each scenario changed, as far as a comment has room for it."""
    for number, verdict in enumerate(changed):
        lines = [f"#### {_code(scenario_of(verdict))}", "", *_reason(verdict)]
        room -= sum(map(len, lines))
        if room < 0:
            yield f"and {units.counted(len(changed) - number, 'more scenario')}, without reasons here."
            return
        yield from lines


def _reason(verdict: Verdict) -> Iterator[str]:
    for note in verdict.notes:
        yield f"> {_code(note)}"
        yield ""
    for number, regression in enumerate(verdict.regressions[:_MAX_CAUSES], start=1):
        yield f"{number}. {_text(shown(regression.title))}"
        yield from (f"   {line}" for line in _proved(regression))
    if others := verdict.regressions[_MAX_CAUSES:]:
        titles = "; ".join(_text(shown(each.title)) for each in others)
        yield ""
        yield f"and {units.counted(len(others), 'more regression')}: {titles}"
    if verdict.regressions:
        yield ""
    yield from _named("Better", [replace(each, limit=None) for each in verdict.of(Outcome.IMPROVED)])
    yield from _named("Not gated", verdict.of(Outcome.WARNED))


def _proved(regression: Regression) -> Iterator[str]:
    """The call sites or commands that grew, each with a line of the last capture."""
    for line in regression.why.splitlines():
        yield f"- {_code(line)}"
    for row in regression.rows:
        yield f"- {_row(row)}"
        if row.lines and row.lines[-1].text:
            yield f"  <br>{_code(f'{row.lines[-1].place}: {row.lines[-1].text}')}"
    if regression.left_out:
        yield f"- and {units.counted(regression.left_out, 'other')}"
    for quoted in regression.lines:
        yield f"- {_code(f'{quoted.place}: {quoted.text}')}"


def _row(row: Grown) -> str:
    before = "" if row.before is None else f"{amount(row.before, row.unit)} → "
    by = f", started by {_code(row.by)}" if row.by else ""
    return f"{_code(row.what)} {before}{amount(row.after, row.unit)}{' (new)' if row.is_new else ''}{by}"


def _named(what: str, judgements: Sequence[Judgement]) -> Iterator[str]:
    """Metrics in one line: sums first, because the single calls follow from them."""
    listed = sorted((each for each in judgements if each.by is By.BASELINE), key=lambda each: "[" in each.metric)
    if listed:
        more = f" and {len(listed) - _MAX_NAMED} more" if len(listed) > _MAX_NAMED else ""
        yield f"{what}: {'; '.join(_text(title(each)) for each in listed[:_MAX_NAMED])}{more}."
        yield ""


def _code(text: str) -> str:
    return f"<code>{markdown_cell(cut(shown(text), _QUOTED))}</code>"


def _text(text: str) -> str:
    """Text outside of `<code>`: nobody is notified because a program has an @ in its name."""
    return markdown_cell(text).replace("@", "@\N{ZERO WIDTH SPACE}")
