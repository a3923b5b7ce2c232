"""The wall time after fixes: one line for all of them, and one for each."""

from __future__ import annotations

from tracealyze.base import units
from tracealyze.base.heuristics import MIN_HIDDEN_SHARE
from tracealyze.render.listing import Column, Listing
from tracealyze.render.terminal import Terminal
from tracealyze.trace.what_if import Fix, WhatIf


def show(found: WhatIf, tick_ns: int) -> None:
    """Print the range of the wall time after all fixes, the drift, and what each fix saves."""
    terminal = Terminal()
    arrow, dots = terminal.drawn.arrow, terminal.drawn.ellipsis
    observed = units.duration(found.observed_ns, tick_ns)
    after = _range(found.together_ns, f" {dots} ", tick_ns)
    terminal.line((f"{observed} {arrow} {after}", "bold"))
    terminal.paragraph(_drift(found, tick_ns), "dim", indent=2)
    for fix in found.fixes:
        terminal.paragraph(_saving(fix, found, tick_ns), indent=2)


def listing(found: WhatIf, tick_ns: int) -> Listing:
    """The fixes as rows; of several, the last row has all of them together."""
    columns = [
        Column("fix", "fix"),
        *(Column(f"{name}_ns", name.replace("_", " ")) for name in ("min_wall", "max_wall", "min_saved", "max_saved")),
        Column("hidden_behind", "hidden behind"),
    ]
    rows = [_row(fix.name, fix.alone_ns, fix.saves_ns, fix.hidden_behind) for fix in found.fixes]
    if len(rows) > 1:
        low_ns, high_ns = found.together_ns
        saved_ns = (max(found.replayed_ns - high_ns, 0), max(found.replayed_ns - low_ns, 0))
        rows.append(_row("all together", found.together_ns, saved_ns, ""))
    return Listing("fixes", columns, rows, tick_ns)


def _row(name: str, wall_ns: tuple[int, int], saved_ns: tuple[int, int], hidden_behind: str) -> dict[str, object]:
    names = ("min_wall_ns", "max_wall_ns", "min_saved_ns", "max_saved_ns")
    bounds = dict(zip(names, (*wall_ns, *saved_ns), strict=True))
    return {"fix": name, **bounds, "hidden_behind": hidden_behind}


def _range(bounds_ns: tuple[int, int], between: str, tick_ns: int) -> str:
    low, high = (units.duration(ns, tick_ns) for ns in bounds_ns)
    return low if low == high else f"{low}{between}{high}"


def _drift(found: WhatIf, tick_ns: int) -> str:
    replayed = f"replay of the unchanged capture: {units.duration(found.replayed_ns, tick_ns)}"
    drift = f"{replayed}, drift {abs(found.drift):.1%}"
    return drift if found.is_replayed else f"{drift}: too much, so these are bounds from the critical path"


def _saving(fix: Fix, found: WhatIf, tick_ns: int) -> str:
    """What a fix saves alone, and why it saves something else with the others."""
    saves = _range(fix.saves_ns, " to ", tick_ns)
    alone = f"{fix.name}: saves {saves} alone" if len(found.fixes) > 1 else f"{fix.name}: saves {saves}"
    with_others = units.duration(fix.saves_with_others_ns, tick_ns)
    differs_ns = fix.saves_with_others_ns - fix.saves_ns[1]
    is_different = len(found.fixes) > 1 and abs(differs_ns) >= MIN_HIDDEN_SHARE * found.observed_ns
    if is_different and differs_ns < 0:
        left = f"up to {with_others}" if fix.saves_with_others_ns > tick_ns else "nothing"
        return f"{alone}, {left} with the others: they save the same time"
    if is_different and fix.hidden_behind:
        return f"{alone}: hidden behind {fix.hidden_behind} until that is gone, then up to {with_others}"
    if fix.hidden_behind:
        return f"{alone}: {fix.hidden_behind} takes as long meanwhile"
    if fix.saves_ns[1] <= tick_ns:
        return f"{alone}: not on the critical path"
    return alone
