"""Names of programs and processes as people read them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import dropwhile
from typing import Any

# Programs that only start another one: what they run is what people look for.
_STARTERS = frozenset(
    ("env", "ionice", "nice", "nohup", "pyenv", "setsid", "stdbuf", "sudo", "time", "timeout", "xargs")
)
_SHELLS = frozenset(("bash", "dash", "ksh", "sh", "zsh"))
# Options, assignments and limits of these programs.
_OF_STARTERS = re.compile(r"-.*|\w+=.*|\d+(?:\.\d+)?[smhd]?|exec")
# What these run is named by their first argument.
_INTERPRETERS = re.compile(r"(?:perl|python|ruby|node|php|lua|tclsh|Rscript|bash|dash|ksh|zsh|sh)[\d.]*")
_MAX_OWN_WORDS = 6


def short(program: str | None) -> str:
    """The last part of a program's path, which is the same on machines with different folders; empty if unknown."""
    return str(program).rsplit("/", 1)[-1] if program else ""


def unwrapped(command: str) -> str:
    """A command without what only starts another one: `timeout 5 make all` is `make all`, `sh -c 'cc x'` is `cc x`."""
    words = command.split()
    while len(words) > 1:
        program, rest = short(words[0]), words[1:]
        if program in _SHELLS and words[1] == "-c":
            rest = " ".join(words[2:]).strip("'\"").split()
        elif program in _STARTERS:
            rest = list(dropwhile(_OF_STARTERS.fullmatch, rest))
        else:
            break
        if not rest:
            break
        words = rest
    return " ".join(words)


def told_apart(commands: Sequence[str]) -> list[str]:
    """Short names of commands. Those of one program have the words in which they differ: `cc1 f12.c`."""
    split = [unwrapped(command).split(" ") for command in commands]
    groups: dict[str, list[int]] = defaultdict(list)
    for number, words in enumerate(split):
        groups[short(words[0])].append(number)
    names = [" ".join((short(words[0]), *words[1:])) for words in split]
    for program, numbers in groups.items():
        counts = Counter(word for number in numbers for word in set(split[number][1:]))
        for number in numbers if len(numbers) > 1 else ():
            own = [word for word in split[number][1:] if counts[word] < len(numbers) and not word.startswith("-")]
            if own and len(own) < len(split[number]) - 1:
                script = [word for word in split[number][1:2] if _INTERPRETERS.fullmatch(program) and word not in own]
                # A file is often named twice, with and without its folder.
                files = dict.fromkeys(map(short, (*script, *own[-_MAX_OWN_WORDS:])))
                names[number] = " ".join((program, *files))
    return names


def file_and_line(source: str) -> tuple[str, int]:
    """The two parts of a place in the source: `quota.c:118`. The line is 0 if there is none."""
    file, _, line = source.rpartition(":")
    return (file, int(line)) if file and line.isdecimal() else (source, 0)


def process_of(row: Mapping[str, Any]) -> str:
    """The process that a row is about, for a sentence: `sh (pid 12)`."""
    pid, program = row.get("pid"), short(row.get("program"))
    if program:
        return f"{program} (pid {pid})" if pid is not None else program
    return f"pid {pid}" if pid is not None else "the traced process"


def subject(row: Mapping[str, Any]) -> str:
    """The process that a row is about: `pid 12 /bin/sh`."""
    pid, program = row.get("pid"), row.get("program")
    return (
        " ".join(part for part in (f"pid {pid}" if pid is not None else "", program or "") if part)
        or "the traced process"
    )
