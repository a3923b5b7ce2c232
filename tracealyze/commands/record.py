"""record: run a program under the tracer of this machine, and show where its time went."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from tracealyze.base import units
from tracealyze.base.errors import ExitCode, UnusableInput, WrongUsage
from tracealyze.base.standard_output import is_standard_output
from tracealyze.capture import programs
from tracealyze.capture.remarks import remarks
from tracealyze.capture.tracer import FILTERED, WITHOUT_FILTER, Profile, find
from tracealyze.commands._options import CaptureOptions, RuleOptions
from tracealyze.render import output
from tracealyze.render.forms import Form

if TYPE_CHECKING:
    from tracealyze.capture.light import LightRecording
    from tracealyze.capture.recording import Limits, Outcome, Recording

EXAMPLES = (
    "tracealyze record -- ./slow-program --its-options",
    "tracealyze record --pid 4711 --for 30s",
    "tracealyze record --pid 4711 --live",
    "tracealyze record --untraced -- make",
    "tracealyze record --profile light -o login.strace.zst -- ssh host true",
    "tracealyze record --pid 4711 --ring 256M --trigger 'dur_ns >= 2s'",
    "tracealyze record --sched -- make",
    "tracealyze record --light --pid 4711 --for 30s",
    "tracealyze record --redact -o shared.strace.zst -- ./slow-program",
)
HAS_OPTIONS_ANYWHERE = False

_TOP = 10
_MIN_RING_BYTES = 1 << 20


def command(
    program: Annotated[
        list[str] | None,
        typer.Argument(metavar="[--] COMMAND [ARGUMENT]...", help="The program to run.", show_default=False),
    ] = None,
    pids: Annotated[
        list[str] | None,
        typer.Option("--pid", metavar="PID[,PID...]", help="Trace these running processes and their children."),
    ] = None,
    path: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="File to write. Default: NAME.strace.zst in this directory."
        ),
    ] = None,
    profile: Annotated[
        Profile,
        typer.Option(
            "--profile",
            metavar="NAME",
            help="What to trace. full: all calls. light: without calls that neither wait nor have a target. files, "
            "net: only calls of this kind. stacks: all calls, with the stack of each.",
        ),
    ] = Profile.FULL,
    time_limit: Annotated[
        str | None,
        typer.Option(
            "--for", metavar="TIME", help="Stop after this time, such as 30s. The report appears; the program goes on."
        ),
    ] = None,
    max_size: Annotated[
        str | None, typer.Option("--max-size", metavar="SIZE", help="Stop when the file has this size, such as 1G.")
    ] = None,
    ring: Annotated[
        str | None, typer.Option("--ring", metavar="SIZE", help="Keep only the last part of the capture, such as 256M.")
    ] = None,
    trigger: Annotated[
        str | None,
        typer.Option(
            "--trigger",
            metavar="EXPR",
            help="Stop after an event that matches a condition (as --where of other commands), such as 'dur_ns >= 2s'. "
            "It is checked once per second.",
        ),
    ] = None,
    after: Annotated[str, typer.Option("--after", metavar="TIME", help="Time to go on after the trigger.")] = "1s",
    labels: Annotated[
        list[str] | None,
        typer.Option("--label", metavar="KEY=VALUE", help="Store this in the file. Repeatable."),
    ] = None,
    redacts: Annotated[
        bool,
        typer.Option("--redact", help="Replace names, paths, addresses and data before anything is written."),
    ] = False,
    kills: Annotated[
        bool,
        typer.Option(
            "--kill",
            help="End the program when a limit or the trigger ends the capture. The exit status is then 0.",
        ),
    ] = False,
    sched: Annotated[
        bool,
        typer.Option(
            "--sched",
            help="Record scheduler events of the kernel with perf, too: they show what ended each wait, and what the "
            "time outside of calls is. Needs CAP_PERFMON; doctor checks that.",
        ),
    ] = False,
    light: Annotated[
        bool,
        typer.Option(
            "--light",
            help="Record with perf alone, which costs a fifteenth of strace: names of calls, durations, results and "
            "what ended each wait. No paths and no arguments. Needs CAP_PERFMON; doctor checks that.",
        ),
    ] = False,
    untraced: Annotated[
        bool,
        typer.Option(
            "--untraced",
            help="Then run the command again without the tracer, without input and output, to measure what tracing "
            "costs.",
        ),
    ] = False,
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="Show the last minute, open calls and findings while recording, as watch does. With --pid, q ends the "
            "recording.",
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no report.")] = False,
) -> int:
    """Capture a program or running processes, and show the report.

    The program runs under strace, with its own standard input and output. Its exit status is that of this command. The
    report goes to standard error. Ctrl-C ends the program, or the capture of running processes."""
    if bool(program) == bool(pids):
        raise WrongUsage("record needs either a command or --pid PID. Write: tracealyze record -- COMMAND")
    _must_agree(path, has_pids=bool(pids), kills=kills, sched=sched, redacts=redacts)
    if light:
        unfit = {
            "--profile": profile is not Profile.FULL,
            "--sched": sched,
            "--max-size": max_size,
            "--ring": ring,
            "--trigger": trigger,
            "--live": live,
            "--redact": redacts,
        }
        _must_suit_light([option for option, is_given in unfit.items() if is_given])
    if pids and untraced:
        raise WrongUsage("--untraced runs a command again. Processes of --pid cannot be started again.")
    if light:
        return _light(program, pids, path, time_limit, labels or (), force, kills=kills, untraced=untraced, quiet=quiet)
    tracer = find(attaches=bool(pids))
    # Needs modules that only Unix has.
    from tracealyze.capture.live_screen import LiveScreen
    from tracealyze.capture.recording import Recording

    wanted = _pids(pids or ())
    if program and (refusal := programs.check(program[0])):
        code, sentence = refusal
        output.note(f"tracealyze: {sentence}")
        return code
    for remark in remarks(shutil.which(program[0]) or "", program[0], is_root=not os.geteuid()) if program else ():
        output.note(remark)
    if profile in FILTERED and not tracer.has_filter:
        output.note(WITHOUT_FILTER)
    name = "redacted" if redacts else os.path.basename(program[0]) if program else f"pid{wanted[0]}"
    file = path or _free_name(name)
    recording = Recording(
        tracer,
        profile,
        file,
        _limits(time_limit, max_size, ring, trigger, after),
        _labelled(labels or ()),
        force,
        output.note,
    )
    recording.kills, recording.runs_untraced = kills, untraced
    recording.has_scheduling = sched
    if redacts:
        _redact(recording)
    recording.screen = LiveScreen(file, shares_terminal=bool(program)) if live else None
    outcome = _recorded(recording, program, wanted)
    try:
        _show(file, outcome, quiet=quiet)
    finally:
        status = recording.wait_for_command()
    return _exit_code(replace(outcome, status=status))


_NOT_LIGHT = {
    "--profile": "it records all calls, and no filter makes it cheaper",
    "--sched": "it records scheduler events, too",
    "--max-size": "its file is written at the end. Use --for",
    "--ring": "its file is written at the end. Use --for",
    "--trigger": "its file is written at the end. Use --for",
    "--live": "its file is written at the end. Use tracealyze watch, which uses strace",
    "--redact": "it stores names of threads of the whole machine",
}


def _must_suit_light(options: Sequence[str]) -> None:
    """Options that have no meaning with --light are wrong usage."""
    for option in options:
        raise WrongUsage(f"--light excludes {option}: {_NOT_LIGHT[option]}.")


def _light(
    program: list[str] | None,
    pids: list[str] | None,
    path: str | None,
    time_limit: str | None,
    labels: Sequence[str],
    force: bool,
    *,
    kills: bool,
    untraced: bool,
    quiet: bool,
) -> int:
    """Record with perf alone."""
    from tracealyze.capture.light import LightRecording

    wanted = _pids(pids or ())
    if program and (refusal := programs.check(program[0])):
        code, sentence = refusal
        output.note(f"tracealyze: {sentence}")
        return code
    name = os.path.basename(program[0]) if program else f"pid{wanted[0]}"
    file = path or _free_name(name, "perf")
    for_s = _positive("--for", time_limit, units.read_duration(time_limit)) / units.S if time_limit else None
    recording = LightRecording(file, for_s, _labelled(labels), force, output.note, kills, untraced)
    outcome = _recorded_light(recording, program, wanted)
    try:
        _show(file, outcome, quiet=quiet)
    finally:
        status = recording.wait_for_command()
    return _exit_code(replace(outcome, status=status))


def _recorded_light(recording: LightRecording, program: list[str] | None, pids: Sequence[int]) -> Outcome:
    """Record a command or processes with perf."""
    file = recording.path
    try:
        return recording.of_command(program) if program else recording.of_pids(pids)
    except FileExistsError:
        raise WrongUsage(f"{file} exists. Name another file with -o, or use --force to overwrite it.") from None
    except OSError as error:
        raise UnusableInput(f"{file}: {error.strerror or error}. Name a file elsewhere with -o.") from error


def _recorded(recording: Recording, program: list[str] | None, pids: Sequence[int]) -> Outcome:
    """Record a command or processes, with the screen if there is one."""
    file, screen = recording.path, recording.screen
    try:
        if screen is not None:
            screen.begin()
        return recording.of_command(program) if program else recording.of_pids(pids)
    except FileExistsError:
        raise WrongUsage(f"{file} exists. Name another file with -o, or use --force to overwrite it.") from None
    except OSError as error:
        raise UnusableInput(
            f"{file}: {error.strerror or error}. Nothing was traced. Name a file elsewhere with -o."
        ) from error
    finally:
        if screen is not None:
            screen.end()
        recording.end_scheduler()


def _must_agree(path: str | None, *, has_pids: bool, kills: bool, sched: bool, redacts: bool) -> None:
    """Options that exclude each other are wrong usage."""
    if kills and has_pids:
        raise WrongUsage("--kill ends the program that record started; processes of --pid go on.")
    if sched and redacts:
        raise WrongUsage("--sched stores names of threads of the whole machine, so it excludes --redact.")
    if path is not None and (path == "-" or is_standard_output(path)):
        raise WrongUsage("-o: the standard output is that of the command. Name a file.")


def _show(file: str, outcome: Outcome, *, quiet: bool) -> None:
    """What was captured, and what goes on."""
    output.note(_written(file, outcome))
    if not quiet:
        _report(file)
    if outcome.pid is not None:
        output.note(
            f"The program (pid {outcome.pid}) goes on without the tracer, and record ends with it and its exit status. "
            f"Ctrl-C ends the program. To leave it running, end only record: kill -KILL {os.getpid()}. "
            "With --kill, the program ends with the capture."
        )
    # The program may go on for long, and a pipe is written only when its buffer is full.
    output.flush(sys.stderr)


def _redact(recording: Recording) -> None:
    """Remove secrets before anything is written."""
    from tracealyze.capture.redaction import RedactedFile, Redaction

    redaction = Redaction.of(input_format="strace")
    recording.rewritten = lambda file: RedactedFile(file, redaction)
    recording.facts_of = redaction.facts


def _pids(texts: Sequence[str]) -> list[int]:
    words = [word.strip() for text in texts for word in text.split(",")]
    for word in words:
        if not word.isdecimal():
            raise WrongUsage(
                f'--pid: "{word}" is not a process id; write --pid 12200, or --pid 12200,12186 for several.'
            )
        if not os.path.exists(f"/proc/{word}"):
            raise programs.missing_process(word)
    return [int(word) for word in words]


def _free_name(name: str, tracer: str = "strace") -> str:
    numbered = (f"{name}{f'-{number}' if number > 1 else ''}.{tracer}.zst" for number in range(1, sys.maxsize))
    return next(file for file in numbered if not os.path.lexists(file))


def _limits(time_limit: str | None, max_size: str | None, ring: str | None, trigger: str | None, after: str) -> Limits:
    from tracealyze.capture.recording import Limits
    from tracealyze.capture.trigger import Trigger
    from tracealyze.model.expression import parse

    ring_bytes = units.read_size(ring) if ring else None
    if ring_bytes is not None and ring_bytes < _MIN_RING_BYTES:
        raise WrongUsage(f"--ring {ring}: the minimum is 1M.")
    if ring_bytes is not None and max_size:
        raise WrongUsage("--ring keeps the size of the file constant, so --max-size has no effect. Use one of them.")
    condition = parse(trigger, "events", kind="condition", origin="--trigger") if trigger else None
    return Limits(
        for_s=_positive("--for", time_limit, units.read_duration(time_limit)) / units.S if time_limit else None,
        max_bytes=_positive("--max-size", max_size, units.read_size(max_size)) if max_size else None,
        ring_bytes=ring_bytes,
        trigger=Trigger(condition) if condition else None,
        after_s=max(units.read_duration(after), 0) / units.S,
    )


def _positive(option: str, text: str, amount: int) -> int:
    """A limit, which a recording must be able to reach after its start."""
    if amount <= 0:
        raise WrongUsage(f"{option} {text}: the recording would end at once. Use a positive limit.")
    return amount


def _labelled(texts: Sequence[str]) -> dict[str, str]:
    for text in texts:
        if not text.partition("=")[0] or "=" not in text:
            raise WrongUsage(f'--label: "{text}" is not KEY=VALUE; write --label version=4.2.')
    return {key: value for key, _, value in (text.partition("=") for text in texts)}


def _written(file: str, outcome: Outcome) -> str:
    from tracealyze.capture.recording import Ended

    why = "" if outcome.ended is Ended.EXIT else f", ended by {outcome.ended.value}"
    kept = ", only the last part (--ring)" if outcome.dropped else ""
    return f"Capture: {file} ({units.size(os.path.getsize(file))}{why}{kept})"


def _report(file: str) -> None:
    """Write the report to standard error: standard output is the command's."""
    from tracealyze.commands.summarize import write_reports

    with redirect_stdout(sys.stderr):
        source = CaptureOptions(captures=[file])
        write_reports(source.traces(RuleOptions().chosen()), Form.TABLE, _TOP, False)


def _exit_code(outcome: Outcome) -> int:
    """The exit code of the command. A command that a signal ended is followed by that signal."""
    from tracealyze.capture.recording import Ended

    status = 0 if outcome.was_killed and (outcome.status or 0) < 0 else outcome.status or 0
    if status >= 0:
        return status or (ExitCode.UNUSABLE_INPUT if outcome.ended is Ended.FULL else ExitCode.FINE)
    import resource

    output.flush(sys.stdout)
    output.flush(sys.stderr)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if -status not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
    return 128 - status
