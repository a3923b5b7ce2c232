"""redact: a capture without secrets, and the proof that none is left."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tracealyze.base import suggested, units
from tracealyze.base.errors import ExitCode, WrongUsage
from tracealyze.base.standard_output import is_standard_output
from tracealyze.commands._output_file import STDOUT
from tracealyze.render import output

EXAMPLES = (
    "tracealyze redact trace.out -o shared.strace",
    "tracealyze redact --verify trace.out shared.strace",
    "tracealyze redact run1.strace.zst -o shared.strace.zst --keep-programs --keep '/opt/app/.*'",
    "strace -f -ttt -T -yy ./program 2>&1 >/dev/null | tracealyze redact - -o - > shared.strace",
)

_MAX_SHOWN = 10
_PROBLEMS = {
    "lines": "one of the captures has more lines",
    "word": "a word that is neither known to be harmless nor a pseudonym",
    "text": "text of the original line",
    "encoded": "text of the original line, as hexadecimal digits, base64 or %xx",
}


def command(
    captures: Annotated[
        list[str],
        typer.Argument(
            metavar="CAPTURE", help='Capture file, "-" for standard input, directory or prefix of strace -ff files.'
        ),
    ],
    path: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help='File to write, compressed if its name ends in .zst or .gz; "-" for standard output. For several '
            "files, a directory.",
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            metavar="FILE",
            help="File with random bytes. Captures redacted with one key have the same pseudonyms. Default: a random "
            "key that is not stored.",
        ),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option("--keep", metavar="REGEX", help="Keep names and words that match this as a whole."),
    ] = None,
    keep_programs: Annotated[bool, typer.Option("--keep-programs", help="Keep the names of programs.")] = False,
    map_path: Annotated[
        str | None,
        typer.Option(
            "--map", metavar="FILE", help="Write each pseudonym and what it stands for; only you can read this file."
        ),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Compare an original with a redacted capture; fail if anything is left."),
    ] = False,
    input_format: Annotated[
        str | None,
        typer.Option("--input-format", metavar="NAME", help="Use this input format instead of detecting it."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
) -> int:
    """Write a capture to share: paths and data become pseudonyms.

    Only what is known to be harmless stays: names of calls, constants, errors, numbers outside of strings, times, and
    names of system files. Reports of the redacted capture have the same times, findings and lines."""
    if verify:
        return _verify(captures, keep)
    from tracealyze.capture.redaction import Redaction

    if path is None:
        raise WrongUsage('name the file to write with -o FILE, or "-o -" for standard output.')
    if is_standard_output(path):
        path = STDOUT
    if path == STDOUT and len(captures) > 1:
        raise WrongUsage("several captures need a directory: name it with -o.")
    options = {
        "key": key,
        "keep": keep,
        "keep_programs": keep_programs,
        "map_file": map_path,
        "input_format": input_format,
    }
    with Redaction.of(**options) as redaction:  # type: ignore[arg-type]
        if path == STDOUT:
            sys.stdout.flush()
            redaction.copy(captures[0], sys.stdout.buffer.write)
            sys.stdout.buffer.flush()
        else:
            redaction.write(captures, path, overwrites=force)
    if path != STDOUT:
        check = suggested.command("redact", "--verify", files=[*captures, path])
        output.note(f"Written: {path}. Check it: {check}")
    return ExitCode.FINE


def _verify(captures: list[str], keep: str | None) -> int:
    from tracealyze.capture.redaction import verify

    if len(captures) != 2:
        raise WrongUsage("--verify compares two captures. Write: tracealyze redact --verify ORIGINAL REDACTED")
    lines, count, leaks = verify(captures[0], captures[1], keep)
    for leak in leaks[:_MAX_SHOWN]:
        place = f"{leak.file}:{leak.line}" + (f":{leak.column}" if leak.column else "")
        output.write(f"{place}: {_PROBLEMS[leak.problem]}\n")
    if count > _MAX_SHOWN:
        output.write(f"and {units.count(count - _MAX_SHOWN)} more\n")
    if count:
        output.note(f"{units.counted(count, 'finding')} in {units.counted(lines, 'line')}: do not share {captures[1]}.")
        return ExitCode.GATE_FAILED
    output.write(f"{units.counted(lines, 'line')}: nothing of the original is left that is not known to be harmless.\n")
    return ExitCode.FINE
