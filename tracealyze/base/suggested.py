"""Commands that a text suggests: one line that can be pasted into a shell, whatever the names of files contain."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from tracealyze.base.sanitize import Shown, shown

_ANSI_C = {"\\": "\\\\", "'": "\\'"}


def quoted(word: str) -> Shown:
    """A word as a shell reads it. Control characters are escaped as in bash, zsh and POSIX 2024: `$'\\033'`."""
    if word.isprintable():
        return shown(shlex.quote(word))
    parts = (_ANSI_C.get(letter) or (letter if letter.isprintable() else _octal(letter)) for letter in word)
    return shown(f"$'{''.join(parts)}'")


def file_word(name: str) -> Shown:
    """The name of a file for any command. `./` precedes a name that would be an option."""
    return quoted(f"./{name}" if name.startswith("-") else name)


def _octal(letter: str) -> str:
    # Three digits end the escape: what follows a \\x may belong to it.
    return "".join(f"\\{byte:03o}" for byte in letter.encode("utf-8", "surrogateescape"))


def command(*words: str, files: Iterable[str] = (), options: Iterable[str] = ()) -> Shown:
    """A command of tracealyze, names of files, and options after them. They precede `--`, if a name requires that."""
    names = list(files)
    if any(name.startswith("-") and name != "-" for name in names):
        return _joined([*words, *options, "--", *names])
    return _joined([*words, *names, *options])


def _joined(words: Iterable[str]) -> Shown:
    return shown(" ".join(["tracealyze", *map(quoted, words)]))
