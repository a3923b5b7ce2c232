"""No eight characters of a secret are left in its line: 4,000 secrets as people have them, in all formats.

TRACEALYZE_SECRETS and TRACEALYZE_SEED set how many there are, and the seed."""

from __future__ import annotations

import base64
import os
import random
import string
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from tracealyze import _engine
from tracealyze.capture.redaction import verify

SECRETS = int(os.environ.get("TRACEALYZE_SECRETS", "4000"))
SEED = int(os.environ.get("TRACEALYZE_SEED", "20261128"))
PART = 8
_LETTERS = string.ascii_letters + string.digits

Design = Callable[[random.Random], str]


def _some(chance: random.Random, letters: str, length: int) -> str:
    return "".join(chance.choice(letters) for _ in range(length))


def _syllables(chance: random.Random, number: int) -> str:
    return "".join(chance.choice("bdfklmnprstvz") + chance.choice("aeiou") for _ in range(number))


def _digits(chance: random.Random, *groups: int, between: str = "") -> str:
    return between.join(_some(chance, string.digits, length) for length in groups)


def _hexadecimal(chance: random.Random, octets: int) -> str:
    return chance.randbytes(octets).hex()


def _percent(chance: random.Random) -> str:
    return "".join(f"%{ord(letter):02X}" if chance.random() < 0.7 else letter for letter in _syllables(chance, 6))


DESIGNS: dict[str, Design] = {
    "token of a forge": lambda chance: "ghp_" + _some(chance, _LETTERS, 36),
    "key id of a cloud": lambda chance: "AKIA" + _some(chance, string.ascii_uppercase + "234567", 16),
    "key of a cloud": lambda chance: _some(chance, _LETTERS + "+/", 40),
    "web token": lambda chance: ".".join(
        base64.urlsafe_b64encode(chance.randbytes(size)).decode().rstrip("=") for size in (20, 40, 32)
    ),
    "hexadecimal digest": lambda chance: _hexadecimal(chance, 20),
    "digits, a unit, and more": lambda chance: f"{_digits(chance, 8)}{chance.choice('dhms')}{_hexadecimal(chance, 8)}",
    "percent-encoded": _percent,
    "UUID": lambda chance: str(uuid.UUID(bytes=chance.randbytes(16))),
    "UUID without dashes": lambda chance: uuid.UUID(bytes=chance.randbytes(16)).hex.upper(),
    "address of hardware": lambda chance: chance.choice(":-").join(f"{octet:02x}" for octet in chance.randbytes(6)),
    "address of InfiniBand": lambda chance: ":".join(f"{octet:02x}" for octet in chance.randbytes(20)),
    "octets with dots": lambda chance: ".".join(_hexadecimal(chance, 2) for _ in range(3)),
    "number of a citizen": lambda chance: _digits(chance, 3, 2, 4, between="-"),
    "place on earth": lambda chance: f"{chance.uniform(10, 90):.7f},{chance.uniform(10, 90):.7f}",
    "mail address": lambda chance: f"{_syllables(chance, 3)}.{_syllables(chance, 4)}@{_syllables(chance, 5)}.org",
    "host": lambda chance: f"{_syllables(chance, 4)}-{chance.randrange(100)}.{_syllables(chance, 5)}.corp",
    "name of a person": lambda chance: f"{_syllables(chance, 3).title()} {_syllables(chance, 5).title()}",
    "name with accents": lambda chance: f"{_syllables(chance, 4).title()}ß{_syllables(chance, 4)}é",
    "password": lambda chance: (
        _syllables(chance, 3).title() + _digits(chance, 3) + chance.choice("!#&") * 2 + _syllables(chance, 4)
    ),
    "card": lambda chance: _digits(chance, 4, 4, 4, 4, between=chance.choice(("", " ", "-"))),
    "bank account": lambda chance: f"DE{_digits(chance, 2, 4, 4, 4, 4, 2)}",
    "telephone": lambda chance: f"+49-{_digits(chance, 3, 8, between='-')}",
    "base32": lambda chance: base64.b32encode(chance.randbytes(20)).decode(),
    "base64 with padding": lambda chance: base64.b64encode(chance.randbytes(25)).decode(),
    "fingerprint": lambda chance: "SHA256:" + base64.b64encode(chance.randbytes(32)).decode().rstrip("="),
    "user and password": lambda chance: f"{_syllables(chance, 4)}:{_syllables(chance, 5)}{_digits(chance, 4)}",
    "constant": lambda chance: f"{_syllables(chance, 4)}_{_syllables(chance, 5)}".upper(),
    "camel case": lambda chance: "".join(_syllables(chance, 3).title() for _ in range(3)),
    "version of a secret project": lambda chance: f"{_syllables(chance, 5)}-{_digits(chance, 1, 2, 2, between='.')}",
}

_HEADS = {
    "strace": ['7 1700000000.000000 execve("/bin/sh", ["sh"], 0x7ffd8a10 /* 35 vars */) = 0 <0.000322>'] * 3,
    "truss": ['7:\t 0.0100\t0.0100 open("/etc/passwd", O_RDONLY)\t= 3', "7:\t 0.0200\t0.0100 close(3)\t\t\t= 0"] * 3,
    "dtruss": ["PID/THRD  RELATIVE SYSCALL(args) \t\t = return"] + ["71/0x1f2:  1101 close(0x3)\t\t = 0 0"] * 3,
    "kdump": ["  71 sh       CALL  close(0x3)", "  71 sh       RET   close 0"] * 3,
    "ltrace": ['71 1700000000.000000 strlen("abc") = 3 <0.000010>'] * 4,
    "perf": ["     0.014 ( 0.004 ms): sh/71 close(fd: 3</etc/passwd>) = 0"] * 4,
    "FreeBSD truss": [
        " 812 100123: 0.004017301 0.000017301 openat(AT_FDCWD,\"/x\",O_RDONLY,00)   ERR#2 'No such file or directory'",
        " 812 100123: 0.004117301 0.000017301 close(3)   = 0 (0x0)",
    ]
    * 2,
    "access log": ['10.0.0.1 - - [10/Oct/2026:13:55:36 +0000] "GET / HTTP/1.1" 200 23'] * 4,
    "sysdig": [
        "7 01:40:19.601661779 1 httpd (7513) > open",
        "8 01:40:19.601668329 1 httpd (7513) < open fd=15(<f>/srv/a.txt) name=/srv/a.txt flags=1(O_RDONLY) mode=0",
    ]
    * 2,
    "gVisor": [
        "I0928 00:18:54.794008     365 strace.go:593] [   6:   7] npm i E close(0x3 /etc/hosts)",
        "I0928 00:18:54.794031     365 strace.go:625] [   6:   7] npm i X close(0x3 /etc/hosts) = 0 (0x0) (11.709µs)",
    ]
    * 2,
    "fs_usage": ["19:43:34.201733  read              F=3    B=0x200                   0.076120 W ls.1234"] * 4,
    "colours": ["7 1700000000.000000 \x1b[1mclose\x1b[0m(3) = 0 <0.000322>"] * 4,
    "docker": ['{"log":"7 1700000000.000000 close(3) = 0 <0.000322>\\n","time":"2026-01-02T03:04:05.123456789Z"}'] * 4,
    "kernel log": ["[    1.000000] usb 1-1: new device", "[    2.000000] usb 1-1: done"] * 2,
    "syslog": ["Mar  5 19:43:34 web1 sshd[812]: session opened for user root"] * 4,
    "json": ['{"time":"2026-01-02T03:04:05Z","level":"info","msg":"started"}'] * 4,
}
"""Lines that show a format."""
_PLACES = {
    "strace": [
        '7 1700000001.000000 openat(AT_FDCWD, "/srv/$/data.db", O_RDONLY) = 3</srv/$/data.db> <0.000322>',
        '7 1700000001.000000 execve("/bin/x", ["x", "--key=$", "-p$"], ["TOKEN=$"]) = 0 <0.000322>',
        '7 1700000001.000000 read(3<socket:[5]>, "Authorization: Bearer $\\r\\n"..., 4096) = 100 <0.000322>',
        '7 1700000001.000000 write(1, "{\\"user\\": \\"$\\"}", 4096) = 100 <0.000322>',
        '7 1700000001.000000 connect(3, {sa_family=AF_UNIX, sun_path="/run/$"}, 110) = 0 <0.000322>',
        '7 1700000001.000000 prctl(PR_SET_NAME, "$") = 0 <0.000322>',
        '7 1700000001.000000 stat("/x/$", 0x7ffd <unfinished ...>',
        '7 1700000001.000000 openat(AT_FDCWD, "/x/$',
        " > /usr/lib/$/libc.so.6($+0x12) [0x1eac20]",
        " > /opt/a b $.so(_ZN3foo$Ev+0x12a) [0x1eac20]",
        '7 1700000001.000000 readlink("/x", "y", 9) = 1 /* $ */ <0.1>',
        "7 1700000001.000000 +++ killed by $ +++",
    ],
    "truss": [
        '7:\t 0.0300\t0.0100 open("/srv/$", O_RDONLY)\t= 3',
        '7:\t 0.0300\t0.0100 write(1, "$", 20)\t= 20',
        '7:\t 0.0300\t0.0100 stat("/x/$/y", 0x08047A40)\tErr#2 ENOENT',
    ],
    "dtruss": [
        '71/0x1f2:  1101 open("/srv/$\\0", 0x0, 0x0)\t\t = 3 0',
        '71/0x1f2:  1101 write(0x1, "$\\n\\0", 0x8)\t\t = 8 0',
        "              libsystem_kernel.dylib`$+0xa",
    ],
    "kdump": [
        "  71 sh       RET   open -1 errno 2 $",
        "  71 sh $     CALL  close(0x3)",
        '  71 sh       NAMI  "/srv/$"',
        '  71 sh       GIO   fd 1 wrote 20 bytes\n       "$"',
    ],
    "ltrace": [
        '71 1700000001.000000 strcmp("$", "x") = 1 <0.000010>',
        '71 1700000001.000000 puts("key $" <unfinished ...>',
        "71 1700000001.000000 toupper('$') = 'A' <0.000010>",
    ],
    "perf": [
        '     0.014 ( 0.004 ms): sh/71 openat(dfd: CWD, filename: "/srv/$") = 3',
        "     0.014 ( 0.004 ms): sh/71 openat(dfd: CWD, filename: $) = 3",
        "     0.014 ( 0.004 ms): $/71 close(fd: 3</x/$>) = 0",
        "                                       $ (/usr/lib/a b $.so)",
    ],
    "FreeBSD truss": [
        " 812 100123: 0.005017301 0.000017301 open(\"/x/$\",O_RDONLY,00)   ERR#2 '$'",
        ' 812 100123: 0.005017301 0.000017301 open("/x",O_RDONLY,00)   ERR#2 \'cannot $',
    ],
    "access log": [
        '10.0.0.9 - $ [10/Oct/2026:13:55:37 +0000] "GET /x/$?k=$ HTTP/1.1" 200 23 "http://$/" "Mozilla $"',
    ],
    "sysdig": [
        "8 01:40:19.601668329 1 httpd (7513) < open fd=15(<f>/srv/$) name=/srv/$ flags=1(O_RDONLY) mode=0",
        "8 01:40:19.601668329 1 $ (7513) < close res=0",
        "8 01:40:19.601668329 1 httpd (7513) > connect fd=3(<u>) addr=$",
        "8 01:40:19.601668329 1 sh (7) < execve res=0 exe=x args=-p.$. tid=1(x) ptid=1($) cwd=/home/$ comm=$ env=A=$.",
        "8 01:40:19.601668329 1 sh (7) < connect res=0 tuple=0->ffff /run/$ fd=3(<u>/run/$)",
    ],
    "gVisor": [
        "I0928 00:18:54.794031     365 strace.go:625] [   6:   7] npm X openat(AT_FDCWD /, 0x7f01 /srv/$, O_RDONLY, "
        "0o0) = 3 (0x3) (11.709µs)",
        "I0928 00:18:54.794031     365 strace.go:625] [   6:   7] $ X close(0x3 /x/$) = 0 (0x0) (11.709µs)",
        "I0928 00:18:54.794031     365 loader.go:625] Process should have started: $",
    ],
    "fs_usage": [
        "19:43:34.301733  open              F=3        (R_____)  /Users/$/x                0.000012   ls.1234",
        "19:43:34.301733  stat64            [  2]           /Users/a b $                0.000012   ls.1234",
        "19:43:34.201733  read              F=3    B=0x200                   0.076120 W $.1234",
    ],
    "colours": [
        '7 1700000000.000000 \x1b[1mopenat\x1b[0m(4, \x1b[32m"/x/$"\x1b[0m, O_RDONLY) = 3\x1b[33m</x/$>\x1b[0m <0.1>',
        '7 1700000000.000000 openat(AT_FDCWD, "/x/\x1b[35m$\x1b[0m/y", O_RDONLY) = 3 <0.1>',
    ],
    "docker": [
        '{"log":"7 1700000000.000000 open(\\"/x/$\\", O_RDONLY) = 3 <0.1>\\n","time":"2026-01-02T03:04:05.123456789Z"}'
    ],
    "kernel log": ["[    3.000000] audit: key $ used", "[    3.000000] demo: token=$, ok"],
    "syslog": [
        "Mar  5 19:43:35 web1 sshd[812]: Failed password for $ from 10.0.0.7",
        "Mar  5 19:43:35 web1 app: GET /a?key=$&x=1 HTTP/1.1",
        "Mar  5 19:43:35 web1 app[9]: user '$' took 12 ms",
    ],
    "json": [
        '{"time":"2026-01-02T03:04:06Z","level":"info","msg":"login of $ failed"}',
        '{"time":"2026-01-02T03:04:06Z","level":"info","msg":"x","api_key":"$"}',
    ],
}
"""Lines with a place for a secret."""


def _redacted(text: str, folder: Path) -> list[str]:
    source, made = folder / "original", folder / "redacted"
    source.write_text(text, encoding="utf-8")
    redactor = _engine.Redactor(bytes(range(16)))
    with made.open("wb") as stream:
        redactor.copy(str(source), lambda piece, _: stream.write(piece))
    return made.read_text(encoding="utf-8", errors="replace").split("\n")


def _left(secret: str, line: str) -> str | None:
    parts = (secret[at : at + PART] for at in range(len(secret) - PART + 1))
    return next((part for part in parts if part.lower() in line.lower()), None)


@pytest.mark.parametrize("format_name", _HEADS)
def test_no_eight_characters_of_a_secret_are_left(format_name: str, tmp_path: Path) -> None:
    chance = random.Random(f"{SEED} {format_name}")
    lines, planted = list(_HEADS[format_name]), []
    for number in range(-(-SECRETS // len(_HEADS))):
        design = list(DESIGNS)[number % len(DESIGNS)]
        place = _PLACES[format_name][number // len(DESIGNS) % len(_PLACES[format_name])]
        secret = DESIGNS[design](chance)
        first = len(lines)
        lines += place.replace("$", secret).split("\n")
        planted.append((design, secret, place, range(first, len(lines))))
    made = _redacted("\n".join([*lines, ""]), tmp_path)
    assert len(made) == len(lines) + 1
    found = [
        f"{design}: {part!r} of {secret!r} in {place!r}: {made[at]!r}"
        for design, secret, place, places in planted
        for at in places
        if (part := _left(secret, made[at]))
    ]
    assert not found, f"{len(found)} of {len(planted)}:\n" + "\n".join(found[:20])
    assert verify(str(tmp_path / "original"), str(tmp_path / "redacted"))[1] == 0


def test_dates_of_access_logs_stay(tmp_path: Path) -> None:
    form = '10.0.0.1 - bob [{}:{} +0000] "GET / HTTP/1.1" 200 23\n'
    stamps = [("31/Dec/2026", "23:59:58"), ("01/Jan/2027", "00:00:03"), ("02/Jan/2027", "00:00:03")]
    text = "".join(form.format(*stamp) for stamp in stamps)
    redacted = "\n".join(_redacted(text, tmp_path))
    assert all(f"[{day}:{time} +0000]" in redacted for day, time in stamps)
    assert "bob" not in redacted


def test_frames_of_stacks_keep_their_numbers(tmp_path: Path) -> None:
    lines = [*_HEADS["strace"], " > /usr/lib/libc.so.6(__read+0x12) [0x1eac20]", " > /opt/x(main+0x9) [0x120] a.c:12"]
    made = _redacted("\n".join([*lines, ""]), tmp_path)
    assert made[3].endswith("+0x12) [0x1eac20]")
    assert made[4].endswith(":12")
    assert "+0x9) [0x120]" in made[4]


_ENCODINGS: dict[str, Callable[[str], str]] = {
    "hexadecimal": lambda secret: secret.encode().hex(),
    "base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "percent": lambda secret: "".join(f"%{byte:02x}" for byte in secret.encode()),
    "octal": lambda secret: "".join(f"\\{byte:03o}" for byte in secret.encode()),
    "as it is": lambda secret: secret,
}


@pytest.mark.parametrize("encoding", _ENCODINGS)
def test_verify_finds_a_secret_that_was_put_back(encoding: str, tmp_path: Path) -> None:
    chance = random.Random(f"{SEED} {encoding}")
    original, redacted = tmp_path / "a.strace", tmp_path / "b.strace"
    line = '7 1700000000.000000 openat(AT_FDCWD, "/srv/{}", O_RDONLY) = 3 <0.000322>\n'
    hidden = []
    for _ in range(40):
        secret = _some(chance, "bcdfg", 2) + _some(chance, string.ascii_letters, 12)
        original.write_text(line.format(secret), encoding="utf-8")
        redacted.write_text(line.format(_ENCODINGS[encoding](secret)), encoding="utf-8")
        if verify(str(original), str(redacted))[1] == 0:
            hidden.append(secret)
    assert not hidden


@pytest.mark.parametrize(
    "line",
    [
        "[    3.000000] wlan0: associated with 58:51:88:20:85:61",
        "[    3.000000] wlan0: associated with 58-51-88-20-85-61",
        "7 1700000000.0 bind(5, {sa_family=AF_PACKET, sll_addr=[0x58, 0x51, 0x88, 0x20, 0x85, 0x61]}, 20) = 0 <0.1>",
        "[    3.000000] GET /a?pw=%76%33%72%79%53%33%63%72%33%74",
    ],
)
def test_verify_finds_octets_that_look_like_numbers(line: str, tmp_path: Path) -> None:
    original = tmp_path / "original"
    original.write_text(line + "\n", encoding="utf-8")
    assert verify(str(original), str(original))[1] > 0
