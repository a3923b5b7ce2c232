"""States next to each other: a row per syscall, the calls and the time of each state as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracealyze.base import units
from tracealyze.base.sanitize import shown
from tracealyze.compare.states import State, States
from tracealyze.render import json
from tracealyze.render.forms import Form
from tracealyze.render.listing import Column, Listing, strips, write_listing
from tracealyze.render.terminal import Terminal


def write(found: States, top: int, form: Form) -> None:
    """Write the comparison in a form."""
    if form is Form.JSON:
        json.write(found.document())
    elif form is Form.TABLE:
        _show(found, top)
    elif form is Form.MARKDOWN:
        write_listing(_drawn(found, found.differing[:top]), form)
    else:
        write_listing(_listing(found), form)


def _show(found: States, top: int) -> None:
    terminal = Terminal()
    width = max(len(state.name) for state in found.states)
    for state in found.states:
        terminal.line((f"{state.name:<{width}}  {_described(state)}", ""))
    if not found.differing:
        terminal.line(("No syscall differs.", ""))
        return
    number = f"{top} of {units.count(len(found.differing))}, " if len(found.differing) > top else ""
    terminal.line(("", ""))
    terminal.line(("Syscalls", "bold"), (f"  {number}the largest difference first", "dim"))
    terminal.table(strips(_drawn(found, found.differing[:top])))


def _described(state: State) -> str:
    """`stuck.txt: 650 calls, 14.68 s`, and how many runs, if they are several."""
    runs = f" and {len(state.captures) - 1} more (median)" if len(state.captures) > 1 else ""
    time = f", {units.duration(state.total_ns, units.US)}" if state.total_ns is not None else ", without times"
    return f"{shown(state.captures[0])}{runs}: {units.counted(state.calls, 'call')}{time}"


def _drawn(found: States, syscalls: Sequence[str]) -> Listing:
    """The rows for people: failed calls follow the calls in brackets."""
    times = [state.of(syscall).total_ns for state in found.states for syscall in syscalls]
    unit, time = units.durations([each for each in times if each is not None], units.US)
    rows = []
    for syscall in syscalls:
        row: dict[str, Any] = {"syscall": syscall}
        for at, state in enumerate(found.states):
            numbers = state.of(syscall)
            failed = f" ({units.count(numbers.failed)} failed)" if numbers.failed else ""
            row[f"calls {at}"] = f"{units.count(numbers.calls)}{failed}"
            row[f"time {at}"] = None if numbers.total_ns is None else time(numbers.total_ns)
        rows.append(row)
    named = list(enumerate(found.states))
    columns = [Column("syscall", "syscall")]
    columns += [Column(f"calls {at}", f"{state.name} calls", right=True) for at, state in named]
    timed = [(at, state) for at, state in named if state.total_ns is not None]
    columns += [Column(f"time {at}", f"{state.name} {unit}", right=True) for at, state in timed]
    return Listing("states", columns, rows)


def _listing(found: States) -> Listing:
    """The rows for programs."""
    rows = []
    for syscall in found.differing:
        row: dict[str, Any] = {"syscall": syscall}
        for state in found.states:
            numbers = state.of(syscall)
            row[f"{state.name}_calls"] = numbers.calls
            row[f"{state.name}_failed"] = numbers.failed
            row[f"{state.name}_ns"] = numbers.total_ns
        rows.append(row)
    parts = ("calls", "failed", "ns")
    names = ["syscall", *(f"{state.name}_{part}" for state in found.states for part in parts)]
    return Listing("states", [Column(name, name) for name in names], rows)
