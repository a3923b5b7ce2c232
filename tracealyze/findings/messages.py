"""Messages of rules: their placeholders replaced by values, each shown in its unit."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from tracealyze import _engine
from tracealyze.base import units
from tracealyze.base.heuristics import (
    MAX_NAMED_FLAGS,
    MAX_ROUND_DELAY_NS,
    MIN_PATH_SHARE_OF_CALLS,
    ROUND_TOLERANCE_SHARE,
)
from tracealyze.base.program_names import process_of, short, subject
from tracealyze.findings import bounds
from tracealyze.findings.basis import Basis, in_total, worded
from tracealyze.model.capture_input.recapture import LACKS, recapture, whole_command

if TYPE_CHECKING:
    from tracealyze.findings.matching import Match
    from tracealyze.model.capture_input.capture_info import Capture
    from tracealyze.model.claims import Caller

_UNKNOWN = "unknown"
_PROGRAMS = ("victim", "waited_by", "deaf")
"""Columns with the path of a program."""
_REQUESTED = ("requested_ns", "asked_ns")
_IDS = ("pid", "tid", "thread", "task", "line", "first_line", "last_line")


class Captures(Protocol):
    """Captures, as a trace has them."""

    def capture_of(self, number: int) -> Capture | None:
        """The capture with this number."""


def message(text: str, match: Match, trace: Captures) -> str:
    """A message of a rule with the values of a match."""
    return _filled(text, _values(match, trace), match, trace)


def _filled(text: str, values: dict[str, Any], match: Match, trace: Captures) -> str:
    capture = trace.capture_of(match.capture)
    shown = _Shown(match.tick_ns(capture) if capture else 1, _tick_ns_of_whole(match, capture), values["window_ns"])
    text = worded(text, match.whole)
    for name, parts in match.rule.words.items():
        here = (part for part in parts if all(_fits(values, key, spec) for _, key, spec, _ in shown.parse(part) if key))
        values[name] = shown.vformat(next(here, ""), (), values)
    return shown.vformat(text, (), values)


def made_by(match: Match, caller: Caller | None, trace: Captures) -> str:
    """The end of a message: the function that makes the calls, how many and how much time; empty if it is unknown."""
    if caller is None:
        return ""
    number = units.count(caller.calls)
    made = "makes the call" if caller.all_calls == 1 else f"makes {number} of {units.count(caller.all_calls)} calls"
    if caller.calls == caller.all_calls > 1:
        made = f"makes all {number} calls"
    capture = trace.capture_of(match.capture)
    took = ""
    if match.basis is not Basis.COUNTS and caller.ns > 0:
        took = f", {units.duration(caller.ns, match.tick_ns(capture) if capture else 1)}"
    return f"; {function_of(caller.function, caller.source)} {made}{took}"


def within(caller: Caller | None) -> str:
    """The end of a sentence: the function that makes the calls."""
    return f", in {function_of(caller.function, caller.source)}" if caller else ""


def function_of(function: str, source: str | None) -> str:
    """A function with its place in the source: `quota_lookup (quota.c:118)`."""
    return f"{function} ({short(source)})" if source else function


def sentence(text: str, match: Match, trace: Captures, end: str = "") -> str:
    """A message as a sentence: with a capital letter, unless it begins with a name, and with a period."""
    values = _values(match, trace)
    paths = (key for key, value in values.items() if value and (key.endswith("_program") or key in _PROGRAMS))
    names = {key: short(values[key]) for key in paths}
    said = _filled(text, values | names, match, trace)
    is_named = text.startswith("{") and not said.startswith("the traced process")
    return f"{said if is_named else said[:1].upper() + said[1:]}{end}."


def share_precision(match: Match, capture: Capture | None, whole_ns: int) -> float:
    """The precision of the shares that a match has of the window, or of its calls, as in `units.precision`."""
    return units.precision(_tick_ns_of_whole(match, capture), whole_ns)


def _tick_ns_of_whole(match: Match, capture: Capture | None) -> int:
    """Resolution of what costs are shares of. The ends of a window are timestamps."""
    if capture is None:
        return 1
    return capture.tick_ns if match.basis is Basis.WALL else match.tick_ns(capture)


def _fits(values: Mapping[str, Any], key: str, spec: str | None) -> bool:
    """Whether a part with this placeholder applies: the value is not missing, or is the one that the part is about."""
    if spec and spec.startswith(units.ONLY_IF_EQUAL):
        return str(values.get(key)) == spec.removeprefix(units.ONLY_IF_EQUAL)
    return not (key in values and values[key] in (None, False, "", []))


class _Shown(string.Formatter):
    """Formats values by name: `_ns` is a duration; a noun after a colon makes a count of it."""

    def __init__(self, tick_ns: int, clock_tick_ns: int, window_ns: int) -> None:
        self.tick_ns = tick_ns
        # The ends of the window are stamps.
        self.precision = units.precision(clock_tick_ns, window_ns)

    def get_field(self, field_name: str, args: Any, kwargs: Mapping[str, Any]) -> Any:  # noqa: ARG002
        length = f"{field_name.removesuffix('share')}ns"
        if field_name not in kwargs and field_name.endswith("_share") and length in kwargs:
            return (field_name, kwargs[length] / max(kwargs["window_ns"], 1)), field_name
        if field_name not in kwargs:
            from tracealyze.base.errors import WrongUsage, did_you_mean

            hint = did_you_mean(field_name, kwargs)
            raise WrongUsage(f"a rule's message names {{{field_name}}}, which its table does not have.{hint}")
        return (field_name, kwargs[field_name]), field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        name, known = value
        if format_spec == units.ONLY_IF or format_spec.startswith(units.ONLY_IF_EQUAL):
            return ""
        if known is None:
            return _UNKNOWN
        if format_spec == "time" and known == 1:
            return "once"
        if format_spec:
            return units.counted(int(known), *format_spec.split("|"))
        return self.by_unit(name, known)

    def by_unit(self, name: str, value: Any) -> str:
        """A value in the unit that its name implies."""
        if isinstance(value, list | tuple):
            return " · ".join(str(each) for each in value)
        if isinstance(value, bool | str):
            return str(value)
        if name in _IDS or name.endswith(("_pid", "_tid")):
            return str(value)
        if name.endswith("_ns"):
            # A time that a call requested is printed, not measured.
            return units.duration(value, units.US if name in _REQUESTED else self.tick_ns)
        if name == "share" or name.endswith("_share"):
            return units.share(value, self.precision if name == "share" else 0.0)
        if name == "bytes" or name.endswith("_bytes"):
            return units.size(value)
        is_whole = isinstance(value, int) or value.is_integer()
        return units.count(int(value)) if is_whole else f"{value:.3g}"


def _values(match: Match, trace: Captures) -> dict[str, Any]:
    """The columns of the row, and values derived from them."""
    row, capture = match.row, trace.capture_of(match.capture)
    wall_ns = match.whole.ns
    calls = row.get("calls") or 0
    cost_ns = match.cost_ns
    total_ns = row.get("total_ns", row.get("exclusive_ns"))
    derived = {
        "subject": subject(row),
        "process": process_of(row),
        "call": _call(row),
        "format": capture.format if capture else "",
        "times": "once" if calls == 1 else f"{units.count(calls)} times",
        "cost_ns": cost_ns,
        "share": cost_ns / wall_ns if wall_ns else 0.0,
        "window_ns": wall_ns,
        "has_window": match.basis is Basis.WALL,
        "window": units.duration(wall_ns, _tick_ns_of_whole(match, capture)) if capture else "",
        "in_total": in_total(match.whole),
        "whole_seconds": _whole_seconds(cost_ns, match.tick_ns(capture) if capture else 1) if calls == 1 else None,
        "calls_per_turn": row["period"] if row.get("period", 1) > 1 else None,
        **bounds.derived(capture, match.rule, row, cost_ns),
    }
    derived |= {f"again_{lack}": recapture(capture.format if capture else "", lack) for lack in LACKS}
    derived |= {"again_all": _whole(capture, attaches=False), "again_attached": _whole(capture, attaches=True)}
    derived["took"] = _took(match, capture, wall_ns)
    if not match.rule.cost and "share" in row:
        # A share of something other than the window.
        derived["share"] = row["share"]
    if "mean_ns" not in row:
        derived["mean_ns"] = None if total_ns is None else total_ns / max(calls, 1)
    name = row.get("program")
    return {"busy_share": None, **row, **derived, "program": short(name) if name else "the process"}


def _call(row: Mapping[str, Any]) -> str:
    """The call and its sub-operation. A long set of flags, as that of inotify_add_watch, names nothing."""
    op = row.get("op") or ""
    return (
        " ".join(part for part in (row.get("syscall"), op if op.count("|") <= MAX_NAMED_FLAGS else "") if part)
        or "calls"
    )


def _whole(capture: Capture | None, *, attaches: bool) -> str:
    return whole_command(capture.format if capture else "", attaches=attaches) or "a tracer"


def _took(match: Match, capture: Capture | None, wall_ns: int) -> str:
    """The cost for the end of a sentence, or nothing if it is not a share of anything."""
    if capture is None or match.cost_ns <= 0 or match.basis is Basis.COUNTS:
        return ""
    if not wall_ns:
        # The limits that waits reached are all that is known of time.
        return f": at least {units.duration(match.cost_ns, match.tick_ns(capture))}"
    whole = "wall time" if match.basis is Basis.WALL else "time in its calls"
    up_to = "up to " if bounds.has_upper_bounds(capture) else ""
    share = units.share(min(match.cost_ns / wall_ns, 1.0), share_precision(match, capture, wall_ns))
    cost = units.duration(match.cost_ns, match.tick_ns(capture))
    if all_ns := _more_in_all(match, wall_ns):
        cost = f"{units.duration(all_ns, match.tick_ns(capture))} in all, {up_to}{cost} of it on the critical path"
        up_to = ""
    return f": {up_to}{cost}, {share} of the {whole}"


def _more_in_all(match: Match, wall_ns: int) -> int:
    """The time of all syncs, where the critical path has less of it; 0 otherwise.

    A device does one after the other. Waits of several processes for one lock or peer do not add up."""
    total_ns: int = match.row.get("total_ns") or 0
    is_sync = match.rule.table == "syncs" and match.basis is Basis.WALL
    is_more = match.cost_ns < MIN_PATH_SHARE_OF_CALLS * total_ns <= MIN_PATH_SHARE_OF_CALLS * wall_ns
    return total_ns if is_sync and is_more else 0


def _whole_seconds(length_ns: int, tick_ns: int) -> int | None:
    """The length as a whole number of seconds, if people choose that number as a delay; work rarely takes as long.

    With a clock of whole seconds, no length counts."""
    seconds = round(length_ns / units.S)
    is_chosen = seconds * units.S in _engine.CHOSEN_NS
    tolerance_ns = seconds * units.S * ROUND_TOLERANCE_SHARE
    is_near = abs(length_ns - seconds * units.S) <= min(tolerance_ns, max(MAX_ROUND_DELAY_NS, tick_ns))
    is_resolved = tick_ns <= tolerance_ns
    return seconds if is_chosen and is_near and is_resolved else None
