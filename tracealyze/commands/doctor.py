"""doctor: whether programs can be traced here, or what a capture cannot show; with the command that cures it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tracealyze.base import units
from tracealyze.base.errors import ExitCode, WrongUsage
from tracealyze.capture import programs
from tracealyze.capture.tracer import WITHOUT_FILTER
from tracealyze.commands._options import CaptureOptions
from tracealyze.render import output

if TYPE_CHECKING:
    from tracealyze.capture.obstacles import CannotTrace
    from tracealyze.capture.tracer import Tracer
    from tracealyze.trace.trace import Trace

EXAMPLES = (
    "tracealyze doctor",
    "tracealyze doctor --pid 4711",
    "tracealyze doctor trace.out",
)

_WITHOUT_PATHS = (
    'syscall in ("read", "write", "readv", "writev", "sendto", "recvfrom", "fsync", "ioctl")'
    ' and target is missing and not (errno == "EBADF")'
)
"""Calls of strace on open descriptors without a name: they were open before the capture, and -y was not used."""


def command(
    captures: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CAPTURE]...", help="Show what these captures lack.", show_default=False),
    ] = None,
    pid: Annotated[
        int | None, typer.Option("--pid", metavar="PID", help="Check whether this process can be traced.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> int:
    """Check whether tracing works here, or what a capture lacks.

    Without a capture, traces a small program. If that is refused, shows the cause, the evidence and the command that
    cures it, and exits with 1. With a capture, shows what it lacks, and how to capture again."""
    if captures and pid is not None:
        raise WrongUsage("doctor checks a capture or --pid, not both.")
    if pid is not None and not os.path.exists(f"/proc/{pid}"):
        raise programs.missing_process(pid)
    found = [_capture(trace) for trace in CaptureOptions(captures=captures).traces()] if captures else [_machine(pid)]
    if as_json:
        from tracealyze.render import json

        json.write({"captures": found} if captures else found[0])
    else:
        output.write("\n".join("".join(f"{line}\n" for line in each["lines"]) for each in found))
    return ExitCode.FINE if all(each["works"] for each in found) else ExitCode.GATE_FAILED


def _machine(pid: int | None) -> dict[str, Any]:
    from tracealyze.capture.obstacles import CannotTrace

    try:
        tracer, overhead_ns = _traced()
    except CannotTrace as refusal:
        return _refused("Tracing does not work here", refusal)
    works = [
        f"{tracer.version.replace(' -- version', '')}, {tracer.path}",
        f"Tracing a program: works{_cost(overhead_ns)}.",
        *_abilities(tracer),
    ]
    scheduling = _scheduling()
    refusal_of_pid = _attached(tracer, pid)
    facts: dict[str, Any] = {"tracer": tracer.version, "path": tracer.path, "overhead_ns": overhead_ns}
    facts["scheduler_events"] = scheduling["works"]
    works += scheduling["lines"]
    if refusal_of_pid is None:
        target = f"process {pid}" if pid is not None else "a running process"
        works += [f"Attaching to {target}: works."]
        run = f"tracealyze record --pid {pid}" if pid is not None else "tracealyze record -- COMMAND"
        return facts | {"works": True, "attaches": True, "obstacles": [], "lines": [*works, f"Run: {run}"]}
    what = f"Attaching to {f'process {pid}' if pid is not None else 'a running process'} does not work"
    refused = _refused(what, refusal_of_pid)
    # A program can be traced, so the machine is fine unless a process was named.
    return facts | refused | {"works": pid is None, "lines": [*works, *refused["lines"]]}


def _traced() -> tuple[Tracer, int | None]:
    from tracealyze.capture import overhead
    from tracealyze.capture.tracer import Profile, find

    tracer = find()
    return tracer, overhead.measured_ns(tracer, tracer.flags(Profile.FULL, may_filter=False))


def _scheduling() -> dict[str, Any]:
    """Whether record --sched and --light work. Without them everything else does."""
    from tracealyze.capture import scheduler

    refusal = scheduler.works()
    if refusal is None:
        return {"works": True, "lines": ["Scheduler events (record --sched, --light): work."]}
    return _refused("Scheduler events (record --sched, --light) do not work", refusal)


def _attached(tracer: Tracer, pid: int | None) -> CannotTrace | None:
    from tracealyze.capture import attaching

    return attaching.probe_own(tracer) if pid is None else attaching.probe(tracer, pid)


def _cost(overhead_ns: int | None) -> str:
    return f", {units.duration(overhead_ns)} per traced call" if overhead_ns else ""


def _abilities(tracer: Tracer) -> Iterator[str]:
    """What this strace is too old for, or built without."""
    if not tracer.has_filter:
        yield WITHOUT_FILTER
    if not tracer.has_stacks:
        yield "This strace was built without stack traces: --profile stacks is not available."


def _refused(what: str, refusal: CannotTrace) -> dict[str, Any]:
    causes = [line for each in refusal.obstacles for line in each.lines]
    unexplained = ["The evidence in /proc does not explain it."] if not causes else []
    obstacles = [{"cause": o.cause, "evidence": o.evidence, "cures": list(o.cures)} for o in refusal.obstacles]
    return {
        "works": False,
        "attaches": False,
        "message": str(refusal),
        "obstacles": obstacles,
        "lines": [f"{what}: {refusal}", *causes, *unexplained],
    }


def _capture(trace: Trace) -> dict[str, Any]:
    from tracealyze.render.capture_notes import lacks_of, name_of_capture

    names, lacks, again = [], [], []
    for number, capture in enumerate(trace.captures):
        names.append(name_of_capture(capture))
        lacks += [lack for lack in lacks_of(capture, trace.windows[number]) if lack not in lacks]
        lacks += _without_paths(trace) if capture.format == "strace" and not number else []
        again += [line for line in _again(capture.format, lacks) if line not in again]
    shown = [f"- {lack}" for lack in lacks] or ["Nothing is missing."]
    return {
        "capture": ", ".join(names),
        "works": True,
        "lacks": lacks,
        "again": again,
        "lines": [f"{', '.join(names)} ({trace.captures[0].format})", *shown, *again],
    }


def _without_paths(trace: Trace) -> list[str]:
    calls = trace.select(where=_WITHOUT_PATHS).totals["calls"]
    what = f"{units.counted(calls, 'call')} on descriptors that were open before the capture"
    return [f"The names of files are missing for {what}. Capture with strace -y."] if calls else []


def _again(tracer: str, lacks: Sequence[str]) -> Iterator[str]:
    """The commands to capture again, if that helps."""
    from tracealyze.model.capture_input.recapture import whole_command

    if lacks and (whole := whole_command(tracer)):
        yield f"Capture again: {whole}"
        yield f"Running process: {whole_command(tracer, attaches=True)}"
        if tracer == "strace":
            yield "The same with the report: tracealyze record -- COMMAND"
