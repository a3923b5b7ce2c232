"""Write the lists of words that `redact` keeps: `python redact/known/make.py [SOURCES_OF_STRACE]`.

asked.txt      words that the readers, the engine and the rules look for, from their sources
constants.txt  names of constants and of fields, from strace and the C library of this machine, and from the tables of
               constants and requests in the sources of strace, if they are named; only ever extended
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
SOURCES = ("parsers/src", "engine/trace/src/store", "engine/trace/src/ingest", "engine/path/src/waits",
           "engine/path/src/critical_path", "engine/logs/src", "engine/kit/src/table_support",
           "engine/report/src/tables", "engine/outcome/src", "engine/detect/src")  # fmt: skip
PROSE = frozenset(("builder.rs", "schema.rs"))
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]+")
ESCAPE = re.compile(r"\\[A-Za-z]|\(\?[a-z]+[:)]?")
_BEFORE_TESTS = re.compile(r"(?:(?!#\[cfg\(test\)\]\s*(?:pub )?mod tests).)*", re.DOTALL)
REQUEST = re.compile(r'^\{ "[^"]+", "(\w+)", ', re.MULTILINE)
VALUE = re.compile(r"^([A-Z][A-Za-z0-9_]{2,})\b", re.MULTILINE)
CONVERSIONS = frozenset(("htobs", "htobl", "htons", "htonl", "inet_addr", "inet_pton"))
"""What strace prints like calls around numbers and addresses."""
OTHER_NAMES = frozenset((
    "SIOCINQ", "SIOCOUTQ", "SIOCGSTAMP", "SIOCGSTAMPNS", "TIOCINQ", "MTD_MEMGETINFO", "XFS_IOC_FSGEOMETRY",
    "I2C_FUNCS", "I2C_RDWR", "I2C_SLAVE", "ICMP6_FILTER", "ICMPV6_FILTER", "MAP_HUGE_2MB", "MAP_HUGE_1GB",
    "ASHMEM_SET_NAME", "RFKILL_IOC_EXT_SIZE",
))  # fmt: skip
"""Names of the same in other versions and tracers, which the tables of one version lack."""
HEADERS = Path("/usr/include")


def asked() -> set[str]:
    """The words in literals of the sources, without tests, in conditions of the rules, and in patterns of messages."""
    found: set[str] = set(_words_of_messages())
    for text in _texts():
        for literal in LITERAL.findall(text):
            found.update(WORD.findall(re.sub(r"\\x[0-9a-f]{2}|\\.", " ", literal)))
    return found


def _texts() -> Iterator[str]:
    for folder in SOURCES:
        for file in sorted((ROOT / folder).rglob("*.rs")):
            if file.name not in PROSE and "tests" not in (*file.parts, file.stem):
                # Other items may be for tests only, too: what follows them is still asked for.
                text = _BEFORE_TESTS.match(file.read_text(encoding="utf-8"))[0]
                code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))
                yield re.sub(r"'\\?\"'", "", code)
    for file in sorted((ROOT / "rules").glob("*.toml")) + sorted((ROOT / "rules" / "incubator").glob("*.toml")):
        rule = tomllib.loads(file.read_text(encoding="utf-8"))
        for key in ("where", "keep"):
            yield " ".join(f'"{word}"' for word in re.findall(r"'([^']*)'", str(rule.get(key, ""))))


def _words_of_messages() -> Iterator[str]:
    """The words that a log is searched for. Without them, a redacted log says something else."""
    text = (ROOT / "rules" / "known" / "log_messages.toml").read_text(encoding="utf-8")
    for message in tomllib.loads(text)["message"]:
        yield from WORD.findall(ESCAPE.sub(" ", message["pattern"]))
    # Phrases of messages are compared in small letters. A sentence begins with a capital.
    phrases = (ROOT / "engine" / "trace" / "src" / "store" / "heuristics.rs").read_text(encoding="utf-8")
    for literal in LITERAL.findall(phrases):
        yield from (word.capitalize() for word in WORD.findall(literal) if word.islower())


def constants() -> set[str]:
    """Names in the tracer of this machine, and in the headers of its C library."""
    found = set(errno.errorcode.values())
    if tracer := shutil.which("strace"):
        for text in re.findall(rb"[A-Za-z_][A-Za-z0-9_]{2,60}", Path(tracer).read_bytes()):
            word = text.decode()
            if re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+|SIG[A-Z0-9]+|E[A-Z]{3,}|[a-z][a-z0-9]*_[a-z0-9_]+", word):
                found.add(word)
    folders = [HEADERS / name for name in ("bits", "x86_64-linux-gnu/bits", "x86_64-linux-gnu/sys", "sys")]
    for file in (file for folder in folders if folder.is_dir() for file in folder.rglob("*.h")):
        found.update(re.findall(r"#\s*define\s+([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b", file.read_text(errors="replace")))
    return found


def constants_of_sources(sources: Path) -> set[str]:
    """Names in the tables of strace: requests of ioctl, and values of arguments."""
    found = set(CONVERSIONS | OTHER_NAMES)
    for file in (sources / "src" / "linux").glob("*/ioctls_inc*.h"):
        found.update(REQUEST.findall(file.read_text(encoding="utf-8")))
    for file in (sources / "src" / "xlat").glob("*.in"):
        found.update(VALUE.findall(file.read_text(encoding="utf-8")))
    return found


def error_words() -> set[str]:
    return {word for number in errno.errorcode for word in WORD.findall(os.strerror(number))}


def write(name: str, words: set[str]) -> None:
    (FOLDER / name).write_text("".join(f"{word}\n" for word in sorted(words)), encoding="utf-8")


def main() -> None:
    known = FOLDER / "constants.txt"
    before = set(known.read_text(encoding="utf-8").split()) if known.exists() else set()
    of_sources = constants_of_sources(Path(sys.argv[1])) if len(sys.argv) > 1 else set()
    write("constants.txt", before | constants() | error_words() | of_sources)
    write("asked.txt", asked())


if __name__ == "__main__":
    sys.exit(main())
