"""Growth with N: a table, a chart with two logarithmic scales, and findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10
from typing import Any

from tracealyze.base import units
from tracealyze.base.sanitize import shown
from tracealyze.compare.scaling import Growth, Scaling, row
from tracealyze.render.finding_block import STYLES
from tracealyze.render.listing import Column, Listing, strips
from tracealyze.render.terminal import Terminal

_MIN_NAME_WIDTH = 24
_CURVES = "abcdef"
_SEVERAL = "*"
_WIDTH, _HEIGHT = 56, 14


def show(found: Scaling, top: int, findings: Sequence[Mapping[str, Any]]) -> None:
    """Print the growth and the findings."""
    terminal = Terminal()
    sizes = ", ".join(f"{size:g}" for size in found.sizes)
    terminal.line((f"N = {sizes}", "bold"), (f"  {units.counted(len(found.captures), 'capture')}", "dim"))
    growing = [growth for growth in found.rows if growth.kind != "constant"]
    constant = len(found.rows) - len(growing)
    terminal.table(strips(listing([found.total, *growing[:top]], found)))
    if len(growing) > top:
        terminal.line((f"and {len(growing) - top} more that grow more slowly", "dim"))
    if constant:
        terminal.line((f"{units.counted(constant, 'kind')} of calls do not depend on N.", "dim"))
    for growth in found.bytes:
        terminal.paragraph(shown(f"Bytes of {growth.program} {growth.shape}: {growth.kind}, N^{_exponent(growth)}."))
    curves = [growth for growth in growing if max(growth.counts)][: len(_CURVES)]
    if curves:
        terminal.line(("", ""))
        for line in picture(curves, found):
            terminal.line((line, ""))
    for finding in findings:
        terminal.line(("", ""))
        head = (f"{finding['severity'].upper()} ", STYLES.get(finding["severity"], "bold"))
        terminal.line(head, (f"{finding['name']} ", ""), (f"({finding['code']})", "dim"))
        terminal.paragraph(shown(finding["message"]), "bold", indent=2)
        terminal.paragraph(f"{terminal.drawn.arrow} {finding['advice']}", indent=2)


def listing(growths: Sequence[Growth], found: Scaling) -> Listing:
    """One row per kind of call."""
    rows = [
        {
            "kind": growth.kind,
            "exponent": _exponent(growth),
            "first": units.count(growth.counts[0]),
            "last": units.count(growth.counts[-1]),
            "share": growth.share,
            "predicted": units.count(growth.predicted[0]),
            "what": " ".join(part for part in (growth.program, growth.shape) if part),
        }
        for growth in growths
    ]
    columns = [
        Column("kind", "growth"),
        Column("exponent", "k (range)"),
        Column("first", f"N={found.sizes[0]:g}", drop_order=2, right=True),
        Column("last", f"N={found.sizes[-1]:g}", right=True),
        Column("share", "share", drop_order=3),
        Column("predicted", f"N={found.target:g}", drop_order=1, right=True),
        Column("what", "calls", min_width=_MIN_NAME_WIDTH),
    ]
    return Listing("rows", columns, rows)


def _exponent(growth: Growth) -> str:
    if growth.kind == "constant":
        return ""
    fit = growth.fit
    return f"{fit.exponent:.2f} ({fit.low:.2f}–{fit.high:.2f})"


def flat(found: Scaling) -> Listing:
    """The rows for programs, with one column per count."""
    rows = []
    for growth in found.rows:
        facts: dict[str, Any] = row(growth)
        counts = facts.pop("counts")
        facts |= {f"n_{size:g}": count for size, count in zip(found.sizes, counts, strict=True)}
        rows.append(facts)
    names = list(rows[0]) if rows else ["program", "syscall", "shape"]
    return Listing("rows", [Column(name, name) for name in names], rows)


def picture(curves: Sequence[Growth], found: Scaling) -> list[str]:
    """Counts over N, both logarithmic: a power is a straight line, and its slope is the exponent."""
    most = max(max(growth.counts) for growth in curves)
    high = max(log10(most), 1.0)
    grid = [[" "] * (_WIDTH + 1) for _ in range(_HEIGHT + 1)]
    drawn: dict[tuple[tuple[int, int], ...], list[Growth]] = {}
    for growth in curves:
        counts = [(size, count) for size, count in zip(found.sizes, growth.counts, strict=True) if count]
        points = tuple((_HEIGHT - round(log10(count) / high * _HEIGHT), _across(size, found)) for size, count in counts)
        drawn.setdefault(points, []).append(growth)
    for name, places in zip(_CURVES, drawn, strict=False):
        for up, across in places:
            grid[up][across] = name if grid[up][across] == " " else _SEVERAL
    left = len(units.count(most))
    scale = {0: units.count(most), _HEIGHT: "1"}
    lines = [f"{scale.get(at, ''):>{left}} |{''.join(cells).rstrip()}" for at, cells in enumerate(grid)]
    lines.append(f"{'':{left}} +{'-' * (_WIDTH + 1)}")
    lines.append(f"{'':{left}}  {_axis(found)}")
    for name, alike in zip(_CURVES, drawn.values(), strict=False):
        lines += [f"{name}: {shown(' '.join(filter(None, (each.program, each.shape))))}" for each in alike]
    if any(_SEVERAL in cells for cells in grid):
        lines.append(f"{_SEVERAL}: several of these")
    return lines


def _across(size: float, found: Scaling) -> int:
    span = log10(found.sizes[-1] / found.sizes[0])
    return round(log10(size / found.sizes[0]) / span * _WIDTH)


def _axis(found: Scaling) -> str:
    """The sizes below their columns, as far as there is room."""
    line = ""
    for size in found.sizes:
        at = _across(size, found)
        if at >= len(line) + bool(line):
            line = f"{line:<{at}}{size:g}"
    return line
