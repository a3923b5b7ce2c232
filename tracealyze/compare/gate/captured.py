"""How captures were made, and whether two sets of them are comparable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tracealyze.base.heuristics import MIN_PROGRAM_CALLS
from tracealyze.base.program_names import short
from tracealyze.model.capture_input.recorded import recorded

if TYPE_CHECKING:
    from tracealyze.compare.run import Run
    from tracealyze.model.selection import Selection

_SYSTEMS = {
    "strace": "Linux",
    "ltrace": "Linux",
    "perf-trace": "Linux",
    "perf-data": "Linux",
    "dtruss": "macOS",
    "truss-solaris": "Solaris",
}
_SYSTEMS |= {
    "truss-freebsd": "FreeBSD",
    "truss-aix": "AIX",
    "kdump": "BSD",
    "fs-usage": "macOS",
    "gvisor": "gVisor",
    "sysdig": "Linux",
    "procmon": "Windows",
    "strace-macos": "macOS",
}
_NO_END = ""


@dataclass(frozen=True)
class HowCaptured:
    """How captures were made, as far as they show it."""

    format: str = ""
    system: str = ""
    argv: str = ""
    clock: str = "none"
    durations: str = "none"
    ids: bool = False
    follows: bool | None = None
    """Whether children are included (-f); None if there are none."""
    filtered: bool | None = None
    """Whether only some calls were traced; None if unknown."""
    seen: tuple[str, ...] = ()
    """Families of calls in a filtered capture."""
    events: bool = True
    """Whether single calls are included, and not only a summary table (-c)."""
    chosen: str = ""
    """The selection, as command-line options; without those that differ between runs anyway."""
    profile: str = ""
    """The profile of `record`; empty for captures made otherwise."""
    ends: tuple[str, ...] = ()
    """The distinct exit statuses of the program that the tracer started; an empty text if the exit is not shown."""

    @classmethod
    def of(cls, runs: Sequence[Run]) -> HowCaptured:
        """From several runs, assumed to be captured in the same way; their exits may differ."""
        return replace(cls._of_one(runs[0]), ends=tuple(sorted({end for run in runs for end in _ends(run)})))

    @classmethod
    def _of_one(cls, run: Run) -> HowCaptured:
        trace, capture = run.trace, run.trace.captures[0]
        processes = trace.processes.head(1)
        followed = trace.totals["processes"] > 1
        filtered = capture.filtered if trace.totals["calls"] >= MIN_PROGRAM_CALLS else None
        return cls(
            format=capture.format,
            system=_SYSTEMS.get(capture.format, ""),
            argv=str(processes[0]["argv"] or processes[0]["program"] or "") if processes else "",
            clock=capture.clock,
            durations=capture.dur_kind,
            ids=bool(capture.has.get("tids")),
            follows=True if followed else False if capture.unseen_children else None,
            filtered=filtered,
            seen=tuple(sorted(capture.families)) if filtered else (),
            events=bool(capture.has.get("events")),
            chosen=_chosen(run.selection),
            profile=made.profile if (made := recorded(capture)) else "",
        )

    def counts_differ(self, other: HowCaptured, them: str = "the baseline") -> list[str]:
        """Why counts of the two are not comparable, one line each."""
        why = [f"{them} is {other.format}, this capture is {self.format}"] if self.format != other.format else []
        if self.chosen != other.chosen:
            why.append(f"{them} covers {other.chosen or 'all events'}, this capture {self.chosen or 'all events'}")
        if self.profile and other.profile and self.profile != other.profile:
            why.append(f"{them} was recorded with --profile {other.profile}, this capture with {self.profile}")
        if self.events != other.events:
            why.append(f"{them if self.events else 'this capture'} has only a summary table (-c)")
        if self.follows is not None and other.follows is not None and self.follows != other.follows:
            why.append("only one of them includes children (-f)")
        if None not in (self.filtered, other.filtered) and self.filtered != other.filtered:
            why.append(f"only {'this capture' if self.filtered else them} is filtered (-e trace=…)")
        elif self.seen and other.seen and not self._sees_as(other):
            why.append(f"{them} has the call families {', '.join(other.seen)}, this capture {', '.join(self.seen)}")
        if other.ends == (_NO_END,) and self.ends and _NO_END not in self.ends:
            why.append(f"{them} does not show the program's exit, this capture does")
        return why

    def ends_differ(self, other: HowCaptured) -> list[str]:
        """Why counts may be too low: a run with another exit may have done less. One line each."""
        then = ", ".join(filter(None, other.ends))
        if then and not self.ends and self.events:
            return ["the capture does not show the program's start"]
        new = [end for end in self.ends if end not in other.ends] if then else []
        return [
            f"the program ended with {end}, but with {then} in the baseline"
            if end
            else f"the capture does not show the program's exit; in the baseline it ended with {then}"
            for end in new
        ]

    def _sees_as(self, other: HowCaptured) -> bool:
        """Whether the filters of the two may be equal: a program may start to use another family of calls."""
        return set(self.seen) <= set(other.seen) or set(self.seen) >= set(other.seen)

    def commands_differ(self, other: HowCaptured) -> list[str]:
        """One line if the two ran different commands."""
        return (
            []
            if _same_command(self.argv, other.argv)
            else [f'the baseline ran "{other.argv}", this capture ran "{self.argv}"']
        )

    def times_differ(self, other: HowCaptured) -> list[str]:
        """Why times of the two are not comparable, one line each."""
        why = self.counts_differ(other)
        for what in ("durations", "clock"):
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine != theirs:
                why.append(
                    f"{what} are {theirs} in the baseline and {mine} here"
                    if what == "durations"
                    else f"the clock is {theirs} in the baseline and {mine} here"
                )
        return why


def _chosen(selection: Selection) -> str:
    options = {"--pid": selection.pids, "--root": selection.root is not None}
    options |= {"--from": selection.start, "--to": selection.end}
    options_given = [option for option, given in options.items() if given]
    options_given += [f"--program {short(name)}" for name in sorted(selection.programs)]
    return " ".join([*options_given, *([f"--where {selection.where.text}"] if selection.where else [])])


def _ends(run: Run) -> list[str]:
    processes = run.trace.processes.head(1)
    # If processes ran already, chance decides which comes first and which exit meanwhile.
    if not processes or not processes[0]["argv"]:
        return []
    code, signal = processes[0]["exit_code"], processes[0]["exit_signal"]
    return [signal or (_NO_END if code is None else f"exit {code}")]


def _same_command(one: str, other: str) -> bool:
    """Whether two command lines may be equal: the tracer may have cut long words at different lengths."""
    mine, theirs = one.split(" "), other.split(" ")
    if one == other or one.endswith(" ...") or other.endswith(" ..."):
        return one == other
    return len(mine) == len(theirs) and all(map(_same_word, mine, theirs))


def _same_word(one: str, other: str) -> bool:
    cut = [word.removesuffix("...") for word in (one, other) if word.endswith("...")]
    return one == other or any(one.startswith(head) and other.startswith(head) for head in cut)
