"""Secrets in the shapes that programs give them: nothing of a part in « » is left, as it stands or decoded.

`tests/test_redact_secrets.py` puts plain secrets into lines. Here a secret is a part of a larger text (a URL, a distinguished
name, a connection string, a hash with its parameters), and the text is written as the place writes texts: with escapes of the
tracer or of JSON, in octal, cut, over two calls. TRACEALYZE_SECRETS and TRACEALYZE_SEED set how many there are, and the seed."""

from __future__ import annotations

import base64
import binascii
import html
import os
import quopri
import random
import re
import string
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tracealyze import _engine
from tracealyze.capture.redaction import verify

SECRETS = int(os.environ.get("TRACEALYZE_SECRETS", "4000"))
SEED = int(os.environ.get("TRACEALYZE_SEED", "520052"))
PART = 8

Shape = Callable[[random.Random], str]
"""A text whose secret parts stand in « »."""

_FIRST = ("Zdenka", "Xiomara", "Thorvald", "Aoibheann", "Ngozi", "Kwabena", "Yevgenia", "Þórunn", "Łucja", "Åsmund")
_LAST = ("Quillfeather", "Vandermolen", "Okonkwo-Reyes", "Szczepański", "Ó Súilleabháin", "Brzęczyszczykiewicz", "Dvořáková")
_SCRIPTS = ("Ξανθοπούλου", "Виноградова", "長谷川小百合", "محمدعبدالله", "ณัฐพงษ์", "🦊🦊hunter🦊🦊")


def _of(chance: random.Random, letters: str, length: int) -> str:
    return "".join(chance.choice(letters) for _ in range(length))


_LOWER, _UPPER, _DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
_BASE58 = "".join(letter for letter in string.ascii_letters + _DIGITS if letter not in "0OIl")


def _word(chance: random.Random, syllables: int = 4) -> str:
    return "".join(chance.choice("bdfgklmnprstvwz") + chance.choice("aeiouy") for _ in range(syllables))


def _login(chance: random.Random) -> str:
    return f"{chance.choice(_FIRST[:7]).lower()}{chance.choice('._-')}{_word(chance, 4)}"


def _host(chance: random.Random) -> str:
    return f"{_word(chance, 4)}{chance.choice('-.')}{_word(chance, 4)}"


def _pass(chance: random.Random) -> str:
    return _of(chance, string.ascii_letters + _DIGITS + "!$*+-_~^", 14)


def _hex(chance: random.Random, octets: int) -> str:
    return chance.randbytes(octets).hex()


def _octets(chance: random.Random, number: int, form: str, between: str = "") -> str:
    return between.join(form.format(octet) for octet in chance.randbytes(number))


def _base64(chance: random.Random, octets: int) -> str:
    return base64.b64encode(chance.randbytes(octets)).decode()


def _crypt(chance: random.Random, length: int) -> str:
    return _of(chance, string.ascii_letters + _DIGITS + "./", length)


def _ipv6(chance: random.Random) -> str:
    return ":".join(f"{chance.randrange(0x1000, 0x10000):x}" for _ in range(8))


SHAPES: dict[str, Shape] = {
    "URL with credentials": lambda c: f"https://«{_login(c)}»:«{_of(c, string.ascii_letters + _DIGITS, 16)}»@«{_host(c)}».example.net/x",
    "database URL": lambda c: f"mongodb+srv://«{_login(c)}»:«{_hex(c, 8)}»@«{_host(c)}».example.net/?retryWrites=true",
    "presigned query": lambda c: f"/b/o?X-Amz-Credential=«{_of(c, _UPPER + _DIGITS, 20)}»%2F20261128%2Feu&X-Amz-Signature=«{_hex(c, 32)}»",
    "connection string": lambda c: f"Server=«{_host(c)}»;User Id=«{_login(c)}»;Password=«{_pass(c)}»;",
    "distinguished name": lambda c: f"CN=«{_word(c, 5)}»,OU=«{_word(c, 5)}»,DC=«{_word(c, 5)}»,DC=example",
    "principal": lambda c: f"HTTP/«{_host(c)}»@«{_word(c, 5).upper()}».EXAMPLE",
    "mail with tag": lambda c: f"«{_login(c)}+{_word(c, 2)}{_of(c, _DIGITS, 3)}»@«{_word(c, 6)}».co.uk",
    "person": lambda c: f"«{c.choice(_FIRST)} {c.choice(_LAST)}»",
    "person, family name first": lambda c: f"«{c.choice(_LAST)}, {c.choice(_FIRST)}»",
    "other script": lambda c: f"«{c.choice(_SCRIPTS)}»",
    "SHA crypt": lambda c: f"$6$rounds=5000$«{_crypt(c, 16)}»$«{_crypt(c, 86)}»",
    "bcrypt": lambda c: f"$2b$12$«{_crypt(c, 53)}»",
    "argon2": lambda c: f"$argon2id$v=19$m=65536,t=3,p=4$«{_crypt(c, 22)}»$«{_crypt(c, 43)}»",
    "chat token": lambda c: f"xoxb-«{_of(c, _DIGITS, 12)}-{_of(c, _DIGITS, 13)}-{_of(c, string.ascii_letters, 24)}»",
    "payment key": lambda c: f"sk_live_«{_of(c, string.ascii_letters + _DIGITS, 24)}»",
    "mail service key": lambda c: f"SG.«{_of(c, string.ascii_letters + _DIGITS + '-_', 22)}».«{_of(c, string.ascii_letters + _DIGITS + '-_', 43)}»",
    "forge token": lambda c: f"glpat-«{_of(c, string.ascii_letters + _DIGITS + '-_', 20)}»",
    "bech32": lambda c: f"age1«{_of(c, 'qpzry9x8gf2tvdw0s3jn54khce6mua7l', 58)}»",
    "base58": lambda c: f"«{_of(c, _BASE58, 34)}»",
    "0x address": lambda c: f"0x«{_hex(c, 20)}»",
    "0x of eight octets": lambda c: f"key=0x«{_hex(c, 8)}»",
    "onion": lambda c: f"«{_of(c, _LOWER + '234567', 56)}».onion",
    "SSH key": lambda c: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI«{_crypt(c, 43).replace('.', '+')}» «{_login(c)}»",
    "PEM line": lambda c: f"«{_base64(c, 48)}»",
    "basic auth": lambda c: f"Authorization: Basic «{base64.b64encode(f'{_login(c)}:{_pass(c)}'.encode()).decode()}»",
    "base64url, cut": lambda c: f"«{base64.urlsafe_b64encode(c.randbytes(23)).decode().rstrip('=')}»",
    "base85": lambda c: f"«{base64.b85encode(c.randbytes(20)).decode()}»",
    "base32, small, in groups": lambda c: f"«{'-'.join(_of(c, _LOWER + '234567', 4) for _ in range(6))}»",
    "recovery codes": lambda c: f"«{'-'.join(_of(c, _LOWER + _DIGITS, 5) for _ in range(3))}»",
    "product key": lambda c: f"«{'-'.join(_of(c, _UPPER + _DIGITS, 5) for _ in range(5))}»",
    "digits in groups": lambda c: f"«{'-'.join(_of(c, _DIGITS, 6) for _ in range(6))}»",
    "digits and blanks": lambda c: f"«{' '.join(_of(c, _DIGITS, 4) for _ in range(5))}»",
    "digits and points": lambda c: f"«{'.'.join(_of(c, _DIGITS, 3) for _ in range(4))}-{_of(c, _DIGITS, 2)}»",
    "digits and slashes": lambda c: f"«{'/'.join(_of(c, _DIGITS, 3) for _ in range(4))}»",
    "digits and commas": lambda c: f"«{','.join(_of(c, _DIGITS, 3) for _ in range(4))}»",
    "digits and colons": lambda c: f"«{':'.join(_of(c, _DIGITS, 4) for _ in range(4))}»",
    "date of birth": lambda c: f"born «{c.randrange(1930, 2010)}-{c.randrange(1, 13):02}-{c.randrange(1, 29):02}»",
    "telephone with brackets": lambda c: f"«(0{_of(c, _DIGITS, 2)}) {_of(c, _DIGITS, 4)} {_of(c, _DIGITS, 4)}»",
    "telephone with points": lambda c: f"«+1.{_of(c, _DIGITS, 3)}.{_of(c, _DIGITS, 3)}.{_of(c, _DIGITS, 4)}»",
    "IMEI": lambda c: f"IMEI «{_of(c, _DIGITS, 15)}»",
    "twelve digits": lambda c: f"arn:aws:iam::«{_of(c, '123456789', 12)}»:role/«{_word(c, 5)}»",
    "bank account with blanks": lambda c: f"«GB{_of(c, _DIGITS, 2)} {_of(c, _UPPER, 4)} {_of(c, _DIGITS, 4)} {_of(c, _DIGITS, 4)}»",
    "vehicle": lambda c: f"«W{_of(c, 'ABCDEFGHJKLMNPRSTUVWXYZ0123456789', 16)}»",
    "security identifier": lambda c: f"S-1-5-21-«{_of(c, '123456789', 10)}-{_of(c, '123456789', 10)}-{_of(c, '123456789', 9)}»-1001",
    "serial number": lambda c: f"ata-WDC_WD40EFRX-«WD-WCC{_of(c, _UPPER + _DIGITS, 9)}»",
    "world wide name": lambda c: f"naa.«{_hex(c, 16)}»",
    "hardware, points": lambda c: f"«{'.'.join(_hex(c, 2) for _ in range(3))}»",
    "hardware, nothing between": lambda c: f"«{_hex(c, 6).upper()}»",
    "hardware, blanks": lambda c: f"«{_octets(c, 6, '{:02x}', ' ')}»",
    "hardware, capitals": lambda c: f"lladdr «{_octets(c, 6, '{:02X}', ':')}»",
    "EUI-64": lambda c: f"«{_octets(c, 8, '{:02x}', '-')}»",
    "fingerprint with colons": lambda c: f"MD5:«{_octets(c, 16, '{:02x}', ':')}»",
    "fingerprint in groups": lambda c: f"«{' '.join(_hex(c, 2).upper() for _ in range(10))}»",
    "IPv6": lambda c: f"«{_ipv6(c)}»",
    "IPv6 with port": lambda c: f"[«{_ipv6(c)}»]:8443",
    "IPv6 with zone": lambda c: f"«fe80::{_hex(c, 2)}:{_hex(c, 2)}:{_hex(c, 2)}:{_hex(c, 2)}»%eth0",
    "IPv6, mapped": lambda c: f"::ffff:«{c.randrange(100, 220)}.{c.randrange(100, 255)}.{c.randrange(100, 255)}.{c.randrange(100, 255)}»",
    "IPv4 with network": lambda c: f"«{c.randrange(100, 220)}.{c.randrange(100, 255)}.{c.randrange(100, 255)}.{c.randrange(100, 255)}»/24",
    "IPv4 in a name": lambda c: f"«ip-{c.randrange(100, 220)}-{c.randrange(100, 255)}-{c.randrange(100, 255)}-{c.randrange(100, 255)}».ec2.internal",
    "reverse name": lambda c: f"«{c.randrange(100, 255)}.{c.randrange(100, 255)}.{c.randrange(100, 255)}.{c.randrange(100, 255)}».in-addr.arpa",
    "UUID in braces": lambda c: "{«" + "-".join(_hex(c, n).upper() for n in (4, 2, 2, 2, 6)) + "»}",
    "UUID of a unit": lambda c: "dev-disk-by\\x2duuid-«" + "\\x2d".join(_hex(c, n) for n in (4, 2, 2, 2, 6)) + "».swap",
    "digest of an image": lambda c: f"«{_word(c, 4)}»/«{_word(c, 4)}»@sha256:«{_hex(c, 32)}»",
    "pod": lambda c: f"«{_word(c, 4)}»-7d4b9c6f5-x2x7k_«{_word(c, 5)}»_«{_hex(c, 16)}»",
    "hexadecimal, escaped": lambda c: f"«{_octets(c, 8, chr(92) + 'x{:02x}')}»",
    "octal, escaped": lambda c: f"«{_octets(c, 8, chr(92) + '{:03o}')}»",
    "Unicode, escaped": lambda c: "«" + "".join(f"\\u{ord(letter):04x}" for letter in _word(c, 5)) + "»",
    "entities": lambda c: "«" + "".join(f"&#{ord(letter)};" for letter in _word(c, 5)) + "»",
    "hexadecimal entities": lambda c: "«" + "".join(f"&#x{ord(letter):x};" for letter in _word(c, 5)) + "»",
    "quoted-printable": lambda c: "«" + "".join(f"={ord(letter):02X}" for letter in _word(c, 5)) + "»",
    "percent, small": lambda c: "«" + "".join(f"%{ord(letter):02x}" for letter in _word(c, 5)) + "»",
    "percent, twice": lambda c: "«" + "".join(f"%25{ord(letter):02X}" for letter in _word(c, 5)) + "»",
    "form": lambda c: "user=«" + urllib.parse.quote_plus(f"{_login(c)}@{_word(c)}.org") + "»&pin=«" + _of(c, _DIGITS, 8) + "»",
    "octets as a list": lambda c: "«" + _octets(c, 8, "{}", ", ") + "»",
    "octets with blanks": lambda c: "«" + _octets(c, 10, "{:02x}", " ") + "»",
    "octets with 0x": lambda c: "«" + _octets(c, 8, "0x{:02x}", ", ") + "»",
    "octets with 0x and blanks": lambda c: "«" + _octets(c, 8, "0x{:02X}", " ") + "»",
    "bits": lambda c: f"«{c.getrandbits(64):064b}»",
    "uuencoded": lambda c: "«" + binascii.b2a_uu(c.randbytes(24)).decode().strip()[1:] + "»",
    "punycode": lambda c: f"«xn--{_word(c, 4)}-{_of(c, _LOWER + _DIGITS, 5)}».de",
    "Windows path": lambda c: f"C:\\Users\\«{_login(c)}»\\AppData\\«{_word(c, 5)}».kdbx",
    "share": lambda c: f"\\\\«{_host(c)}»\\«{_word(c, 5)}»$\\x.txt",
    "path with blanks": lambda c: f"/home/«{_login(c)}»/«{_word(c, 4)} {_word(c, 4)}»/«{_word(c, 5)}».ods",
    "path with quotes": lambda c: f"/srv/«{_word(c, 3)}'{_word(c, 3)}»/\"«{_word(c, 5)}»\"",
    "path of a trash": lambda c: f"/media/«{_login(c)}»/.Trash-1000/files/«{_word(c, 5)}».2.pdf",
    "path of a profile": lambda c: f"/home/«{_login(c)}»/.mozilla/firefox/«{_of(c, _LOWER + _DIGITS, 8)}».default/key4.db",
    "class": lambda c: f"com.«{_word(c, 4)}».«{_word(c, 4)}».«{_word(c, 3).title()}{_word(c, 3).title()}»Service",
    "mangled name": lambda c: f"_ZN8«{_word(c, 4)}»8«{_word(c, 4)}»Ev",
    "branch": lambda c: f"refs/heads/«{_login(c)}»/«{_word(c, 3).upper()}-{_of(c, _DIGITS, 4)}-{_word(c, 3)}»",
    "cookie": lambda c: f"Cookie: sid=«s%3A{_of(c, string.ascii_letters + _DIGITS + '_-', 32)}.{_crypt(c, 20)}»; u=«{_login(c)}»",
    "serialized": lambda c: f's:8:"«{_word(c, 4)}»";s:5:"token";s:16:"«{_hex(c, 8)}»";',
    "environment": lambda c: f"AWS_SECRET_ACCESS_KEY=«{_crypt(c, 40)}»",
    "JSON in a string": lambda c: '{"user":"«' + _login(c) + '»","pw":"«' + _pass(c) + '»","n":' + _of(c, _DIGITS, 3) + "}",
    "XML": lambda c: f"<password>«{_pass(c)}»</password><mail to='«{_login(c)}»'/>",
    "password file": lambda c: f"«{_login(c)}»:x:1000:1000:«{_word(c, 4).title()} {_word(c, 4).title()}»,,,:/home/«{_login(c)}»:/bin/sh",
    "password with everything": lambda c: f"pw=«{_of(c, string.punctuation.replace('«', '') + string.ascii_letters + _DIGITS, 20)}»",
    "password of words": lambda c: "«" + "-".join(_word(c, 3) for _ in range(4)) + "»",
    "words in capitals": lambda c: f"«{_word(c, 4)}_{_word(c, 4)}_{_of(c, _DIGITS, 4)}»".upper(),
    "a number and a unit": lambda c: f"«{_of(c, _DIGITS, 9)}{c.choice(('s', 'ms', 'KiB', 'x', 'T12'))}{_of(c, _DIGITS, 9)}»",
    "a number of seconds": lambda c: f"«{_of(c, '3456789', 10)}.{_of(c, _DIGITS, 9)}»",
    "time and number": lambda c: f"«{_of(c, _DIGITS, 2)}:{_of(c, _DIGITS, 2)}:{_of(c, _DIGITS, 2)}:{_of(c, _DIGITS, 6)}»",
    "place": lambda c: f"«{c.uniform(10, 89):.6f}°N {c.uniform(10, 89):.6f}°E»",
    "place in degrees": lambda c: f"«{c.randrange(10, 90)}°{c.randrange(10, 60)}'{c.uniform(10, 60):.3f}\"N»",
    "magnet": lambda c: f"magnet:?xt=urn:btih:«{_hex(c, 20).upper()}»&dn=«{_word(c, 5)}»",
    "one-time password": lambda c: f"otpauth://totp/«{_word(c, 4)}»:«{_login(c)}»?secret=«{_of(c, _UPPER + '234567', 32)}»",
    "WireGuard": lambda c: f"PrivateKey = «{_base64(c, 32)}»",
    "backspaces": lambda c: f"«{_word(c, 5)}»\b\b«{_word(c, 5)}»",
    "tabs": lambda c: f"«{_word(c, 5)}»\t«{_of(c, _DIGITS, 9)}»\t«{_word(c, 5)}»",
    "bytes": lambda c: "«" + "".join(chr(c.choice((*range(1, 9), *range(0xA1, 0x100)))) + _of(c, _LOWER, 1) for _ in range(8)) + "»",
}


def _tracer(text: str) -> str:
    """As strace writes a string."""
    out = []
    data = text.encode()
    for at, byte in enumerate(data):
        follows = data[at + 1 : at + 2].isdigit()
        plain = {9: "\\t", 10: "\\n", 13: "\\r", 11: "\\v", 12: "\\f", 34: '\\"', 92: "\\\\"}.get(byte)
        shown = chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}" if follows else f"\\{byte:o}"
        out.append(plain or shown)
    return "".join(out)


def _hexadecimal(text: str) -> str:
    """As `strace -xx`."""
    return "".join(f"\\x{byte:02x}" for byte in text.encode())


def _vis(text: str) -> str:
    """As FreeBSD's kdump and truss."""
    return "".join(chr(byte) if 32 <= byte < 127 else f"\\M-{chr(byte & 127)}" if byte > 160 else f"\\^{chr(byte % 32 + 64)}" for byte in text.encode())


def _json(text: str) -> str:
    return "".join({'"': '\\"', "\\": "\\\\", "\t": "\\t", "\b": "\\b"}.get(letter, letter if letter >= " " else f"\\u{ord(letter):04x}") for letter in text)


def _raw(text: str) -> str:
    return re.sub(r"[\x00-\x08\x0a-\x1f]", " ", text)


WRITERS: dict[str, Callable[[str], str]] = {"S": _tracer, "X": _hexadecimal, "V": _vis, "J": _json, "R": _raw, "D": lambda text: _json(_tracer(text))}
"""How a place writes a text: `{S}` with escapes of a tracer, `{J}` of JSON, `{D}` both, `{X}` in hexadecimal, `{R}` as it is."""


class Form(NamedTuple):
    """Lines that show a format, and lines with places for texts."""

    head: list[str]
    lines: list[str]


_STRACE = [
    'openat(AT_FDCWD</srv>, "/data/{S}", O_RDONLY|O_CLOEXEC) = 3</data/{S}>',
    'newfstatat(4</home/{S}>, "{S}", 0x7ffe5c0, AT_EMPTY_PATH) = -1 ENOENT (No such file or directory)',
    'execve("/usr/bin/curl", ["curl", "-u", "{S}", "-H", "X: {S}"], ["HOME=/home/{S}", "PW={S}", "LS_COLORS=a:b"...]) = 0',
    'execve("/opt/{S}/run", ["{S}"...], 0x7ffd5c0 /* 31 vars */) = -1 EACCES (Permission denied)',
    'execveat(3, "", ["x", "--token={S}", ...], NULL, AT_EMPTY_PATH) = 0',
    'write(2, "fatal: {S}\\n", 40) = 40',
    'read(0</dev/pts/2<char 136:2>>, "{S}"..., 32) = 32',
    'writev(5<TCP:[10.1.2.3:4000->10.1.2.4:443]>, [{{iov_base="GET /?k={S}", iov_len=20}}, {{iov_base="{S}"..., iov_len=90}}], 2) = 110',
    'readv(5, [{{iov_base="{S1}", iov_len=20}}, {{iov_base="{S2}", iov_len=20}}], 2) = 40',
    'process_vm_readv(7, [{{iov_base="{S}", iov_len=20}}], 1, [{{iov_base=0x7f, iov_len=20}}], 1, 0) = 20',
    'sendmsg(6, {{msg_name={{sa_family=AF_UNIX, sun_path=@"{S}"}}, msg_namelen=30, msg_iov=[{{iov_base="{S}", iov_len=4}}], '
    "msg_iovlen=1, msg_control=[{{cmsg_len=28, cmsg_level=SOL_SOCKET, cmsg_type=SCM_CREDENTIALS, "
    "cmsg_data={{pid=7, uid=0, gid=0}}}}], msg_controllen=32, msg_flags=0}}, MSG_NOSIGNAL) = 4",
    'recvmmsg(6, [{{msg_hdr={{msg_name=NULL, msg_namelen=0, msg_iov=[{{iov_base="{S}"..., iov_len=4}}]}}, msg_len=4}}], 1, 0, NULL) = 1',
    'sendto(8<NETLINK:[ROUTE:7]>, [{{nlmsg_len=52, nlmsg_type=RTM_NEWLINK, nlmsg_flags=NLM_F_REQUEST, nlmsg_seq=1, nlmsg_pid=0}}, '
    '{{ifi_family=AF_UNSPEC}}, [{{nla_len=16, nla_type=IFLA_IFNAME}}, "{S}"]], 52, 0, NULL, 0) = 52',
    'sendto(8, [{{nlmsg_len=52, nlmsg_type=AUDIT_USER_MSG, nlmsg_flags=NLM_F_REQUEST}}, "{S}"], 52, 0, NULL, 0) = 52',
    'bind(8, {{sa_family=AF_ALG, salg_type="hash", salg_feat=0, salg_mask=0, salg_name="{S}"}}, 88) = 0',
    'connect(8, {{sa_family=AF_INET6, sin6_port=htons(443), sin6_scope_id=if_nametoindex("{S}")}}, 28) = 0',
    'setsockopt(8, SOL_SOCKET, SO_BINDTODEVICE, "{S}\\0", 16) = 0',
    'setsockopt(8, SOL_ALG, ALG_SET_KEY, "{S}", 32) = 0',
    'ioctl(9, SIOCGIFHWADDR, {{ifr_name="{S}", ifr_hwaddr={{sa_family=ARPHRD_ETHER, sa_data=02:42:ac:11:00:02}}}}) = 0',
    'ioctl(9, DM_TABLE_LOAD, {{version=[4, 0, 0], data_size=16384, name="{S}", uuid="CRYPT-{S}", target_count=1, '
    '{{sector_start=0, length=8, target_type="crypt", string="{S}"}}}}) = 0',
    'ioctl(9, FS_IOC_GETFSLABEL, "{S}") = 0',
    'getxattr("/data/{S}", "user.{S}", "{S}", 64) = 12',
    'flistxattr(3, "security.selinux\\0user.{S}\\0", 64) = 30',
    'fsconfig(4, FSCONFIG_SET_STRING, "password", "{S}", 0) = 0',
    'mount("//{S}/x", "/mnt/{S}", "cifs", MS_NOSUID, "username={S},password={S}") = 0',
    'add_key("logon", "fscrypt:{S}", "{S}", 64, KEY_SPEC_SESSION_KEYRING) = 77',
    'request_key("user", "{S}", "{S}", KEY_SPEC_SESSION_KEYRING) = 77',
    'keyctl(KEYCTL_DESCRIBE, 77, "user;1000;1000;3f010000;{S}", 64) = 30',
    'init_module(0x7f5c0, 4096, "param={S}") = 0',
    'sethostname("{S}", 12) = 0',
    'memfd_create("{S}", MFD_CLOEXEC) = 4</memfd:{S}> (deleted)',
    'bpf(BPF_PROG_LOAD, {{prog_type=BPF_PROG_TYPE_KPROBE, insn_cnt=2, license="GPL", log_buf="{S}", prog_name="{S}"}}, 116) = 5',
    'read(5<anon_inode:inotify>, [{{wd=1, mask=IN_CREATE, cookie=0, len=16, name="{S}"}}], 4096) = 32',
    'getdents64(3</home/{S}>, [{{d_ino=9, d_off=1, d_reclen=24, d_type=DT_DIR, d_name="{S}"}}], 32768) = 24',
    'mq_open("/{S}", O_RDWR|O_CREAT, 0600, NULL) = 4',
    'prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, 0x7f5c0, 4096, "{S}") = 0',
    'prctl(PR_GET_NAME, "{S}") = 0',
    'uname({{sysname="Linux", nodename="{S}", release="6.1.0-{S}", version="#1 SMP {S}", machine="x86_64", domainname="{S}"}}) = 0',
    'readlink("/proc/self/fd/3", "/data/{S}"..., 4095) = 20',
    'getcwd("/home/{S}", 4096) = 20',
    'symlinkat("{S}", 3</srv/{S}>, "{S}") = 0',
    'renameat2(AT_FDCWD, "{S1}", AT_FDCWD, "{S2}", RENAME_NOREPLACE) = 0',
    'name_to_handle_at(AT_FDCWD, "{S}", {{handle_bytes=8, handle_type=1, f_handle=0x3f2a9bc01d77aa10}}, [29], 0) = 0',
    'syslog(SYSLOG_ACTION_READ_ALL, "<6>[    0.0] {S}", 9000) = 90',
    'swapon("/dev/disk/by-uuid/{S}", 0) = 0',
    'statfs("/media/{S}", {{f_type=EXT2_SUPER_MAGIC, f_bsize=4096}}) = 0',
    'openat(AT_FDCWD, "/data/{X}", O_RDONLY) = 3',
    'write(1, "{X}"..., 80) = 80',
    'execve("{X}", ["{X}", "{X}"], ["{X}"]) = 0',
    'openat(AT_FDCWD, "/run/{S1}" <unfinished ...>\n7 1700000001.2 <... openat resumed>"{S2}", O_RDONLY) = 3',
    'read(3, <unfinished ...>\n7 1700000001.2 <... read resumed>"{S}"..., 4096) = 80',
    'getxattr("/x", "user.k", <unfinished ...>\n7 1700000001.2 <... getxattr resumed>"{S}", 64) = 8',
    'write(1, "{S1}", 9) = 9\n7 1700000001.3 write(1, "{S2}", 9) = 9',
    'write(2, "error: {R}\n{R}: not found", 11) = 11',
    'close(3) = 0\n{R}',
    'close(3) = 0\nerror: cannot log in as {R}, giving up\nTraceback of {R}:',
    'close(3) = 0\nPassword: {R}\n  hint: {R}',
    'close(3) = 0\nstrace: Can\'t stat \'{R}\': No such file or directory\nstrace: Process 8 ({R}) attached',
    "kill(8<{R}>, SIGTERM) = 0",
    "getpid() = 7<{R}>",
    "openat(AT_FDCWD, \"/x\", O_RDONLY) = 3</data/{S}> (deleted)",
    "fcntl(3</data/{S}>, F_GETFD) = 0x1 (flags FD_CLOEXEC)",
    "close(3<socket:[77]>) = 0 /* {R} */",
    "getpeername(3, {{sa_family=AF_X25, sx25_addr={{x25_addr=\"{S}\"}}}}, [18]) = 0",
    "--- SIGSYS {{si_signo=SIGSYS, si_code=SYS_SECCOMP, si_call_addr=0x7f, si_syscall={R}, si_arch=AUDIT_ARCH_X86_64}} ---",
    'close(3) = 0\n > /opt/{R}/lib{R}.so.1({R}::{R}()+0x1f) [0x4a1f0]',
    'close(3) = 0\n > /opt/app({R}+0x1f) [0x4a1f0] /build/{R}/{R}.cpp:120',
    'read(3, "..."..., 40) = 40\n | 00000  6a 61 6e 65 2e 72 6f 65  {R}  |',
    "unknown_{R}(0x1, \"{S}\") = 0",
]
_LOG = [
    "Accepted publickey for {R} from 10.1.2.3 port 40022 ssh2: ED25519 SHA256:{R}",
    "user {R} logged in",
    "connecting to {R} failed: timed out after 12.5 s",
    'login: {{"user": "{J}", "nested": "{{\\"pw\\": \\"{J}\\"}}"}}',
    "mail from=<{R}>, to=<{R}>, size=1234, nrcpt=1 (queue active)",
    "[{R}] ({R}) '{R}' \"{R}\" <{R}>",
    "token={R}&next=/x; path={R}, id:{R}",
    "Started {R}.service - {R}.",
    "{R}",
    "{R}: {R}",
    "retry 3 of 5: {R} took 120 ms",
    "GET {R} HTTP/1.1 200 17ms",
    "at {R}({R}.java:120)",
    "exec: {R} --password={R} -p{R} @{R}",
    "DHCPACK of 10.1.2.3 from {R}",
    "new session 12 of user {R} ({R}).",
    "took {R}",
    "took 3 s for {R}, {R} and {R}s",
    "duration_ms={R} user={R}",
    "{R}%",
    "pid[{R}] done",
    "{R1} {R2}",
]
_PREFIXES = {
    "strace": "7 1700000001.000000 ",
    "strace, pid": "[pid     7] ",
    "strace, clock": "10:20:30.400500 ",
    "strace, relative": "     0.000120 ",
    "strace, name": "7<worker> 10:20:30.400500 ",
}


def _dressed(prefix: str, duration: str, body: str) -> str:
    """Calls in this dress, after the first line too; other lines as they are."""
    lines = body.split("\n")
    made = []
    for number, line in enumerate(lines):
        call = line.removeprefix("7 1700000001.2 ").removeprefix("7 1700000001.3 ")
        is_call = number == 0 or call != line
        made.append(f"{prefix}{call}{duration if ' = ' in call and not call.endswith('>') else ''}" if is_call else line)
    return "\n".join(made)


FORMS: dict[str, Form] = {
    name: Form([f"{prefix}close({number}) = 0 <0.000010>" for number in range(3, 7)], [_dressed(prefix, " <0.000010>", line) for line in _STRACE])
    for name, prefix in _PREFIXES.items()
}
_WRAPPED = [line for line in FORMS["strace"].lines if "\n" not in line and "{R" not in line]
_JSON_OF_S = [re.sub(r"\{S(\d?)\}", r"{D\1}", re.sub(r"\{X\}", "{D}", line.replace("\\", "\\\\").replace('"', '\\"'))) for line in _WRAPPED]
FORMS |= {
    "strace in Docker's JSON": Form(
        ['{{"log":"7 1700000000.000000 close(3) = 0 <0.000010>\\n","stream":"stderr","time":"2026-01-02T03:04:05.123456789Z"}}'] * 4,
        ['{{"log":"' + line + '\\n","stream":"stderr","time":"2026-01-02T03:04:05.123456789Z"}}' for line in _JSON_OF_S],
    ),
    "strace in syslog": Form(
        ["Nov 28 10:20:30 web1 strace[7]: 7 1700000000.000000 close(3) = 0 <0.000010>"] * 4,
        ["Nov 28 10:20:31 {R} strace[7]: " + line for line in _WRAPPED],
    ),
    "strace in CRI": Form(
        ["2026-11-28T10:20:30.123456789Z stderr F 7 1700000000.000000 close(3) = 0 <0.000010>"] * 4,
        ["2026-11-28T10:20:31.123456789Z stderr F " + line for line in _WRAPPED],
    ),
    "strace of compose": Form(
        ["web-1  | 7 1700000000.000000 close(3) = 0 <0.000010>"] * 4, ["web-1  | " + line for line in _WRAPPED]
    ),
    "strace in colours": Form(
        ["7 1700000000.000000 \x1b[1;34mclose\x1b[0m(\x1b[36m3\x1b[0m) = 0 <0.000010>"] * 4,
        ["\x1b[2m7\x1b[0m " + re.sub(r'"(\{S\})', '\x1b[32m"\\1\x1b[0m', line[2:]) for line in _WRAPPED],
    ),
    "Solaris truss": Form(
        ['7/1:\t 0.0100\t0.0100 open("/etc/passwd", O_RDONLY)\t= 3', "7/1:\t 0.0200\t0.0100 close(3)\t\t\t= 0"] * 3,
        [
            "7/1:\t 0.0300\t0.0100 " + line
            for line in (
                'open("/data/{S}", O_RDONLY)\t= 3',
                'stat64("{S}", 0x08047A40)\tErr#2 ENOENT',
                'execve("/opt/{S}", 0x08047B, 0x08047C)  argc = 3\n argv: {R} -p {R}\n envp: PW={R} X={R}',
                'write(2, "{S}", 60)\t= 60',
                'putmsg(3, 0x08047A40, 0x08047A50, 0)\t= 0\n\tctl: {R}',
                'sysinfo(SI_HOSTNAME, "{S}", 257)\t= 7',
                'door_call(5, 0x08047A40)\t= 0\n\t\tdata_ptr="{S}" name: {R}',
                'connect(5, 0x08047A40, 110, SOV_DEFAULT)\t= 0\n\tAF_UNIX  name = {R}\n\tAF_INET6  name = {R}  port = 22',
                'xstat(2, "{S1}{S2}", 0x08047A40)\t= 0',
                'getcwd("/export/home/{S}", 1015)\t= 0',
                'mount("{S}", "/mnt/{S}", MS_DATA|MS_OPTIONSTR, "smbfs", 0, 0, "user={S}", 99)\t= 0',
                "*** cannot trace across exec() of {R} ***",
                "{R}(3, 0x08047A40)\t= 0",
                "read(3, 0x08047A40, 16)\t= 16\n      s e c r e t\n{R}",
            )
        ],
    ),
    "AIX truss": Form(
        ["12845268:  0.0021 kfcntl(1, F_GETFL, 0x00000000) = 67110914"] * 4,
        [
            "12845268:  0.0024 " + line
            for line in (
                'kopen("/home/{S}", O_RDONLY)  = 3',
                'statx("{S}/{S}", 0x2FF22A28, 128, 010)   Err#2  ENOENT',
                'execve("/opt/{S}", 0x2FF22B38, 0x20013E98)  argc: 1\n12845268:  argv: prog {R} --x={R}\n12845268:  envp: A={R}',
                'kwrite(1, "{S}", 20)  = 20',
                'getdirent64(3, "{S}")  = 0',
            )
        ],
    ),
    "FreeBSD truss": Form(
        [' 812: 0.004017301 0.000017301 openat(AT_FDCWD,"/x",O_RDONLY,00)   ERR#2 \'No such file or directory\''] * 4,
        [
            " 812: 0.005017301 0.000017301 " + line
            for line in (
                'open("/home/{V}",O_RDONLY,00)\t = 3 (0x3)',
                'execve("/bin/ls",[ "ls", "{V}", "-p{V}" ],[ "HOME=/home/{V}", "PW={V}" ]) = 0 (0x0)',
                'write(1,"{V}"...,60)\t = 60 (0x3c)',
                'connect(4,{{ AF_UNIX "/tmp/{V}" }},106) ERR#61 \'Connection refused\'',
                'sendto(4,"{V}",60,0x0,{{ AF_INET6 [fe80::1]:22 }},28) = 60 (0x3c)',
                'readlink("/proc/curproc/file","{V}",1024) = 20 (0x14)',
                '__sysctl("kern.hostname",2,"{V}",0x7f,0x0,0) = 0 (0x0)',
                'kldload("{V}") ERR#17 \'{R}\'',
                'extattr_get_file("/x",EXTATTR_NAMESPACE_USER,"{V}",0x0,0) = 3 (0x3)',
            )
        ],
    ),
    "dtruss": Form(
        ["PID/THRD  RELATIVE SYSCALL(args) \t\t = return"] + ["71/0x1f2:  1101 close(0x3)\t\t = 0 0"] * 3,
        [
            "71/0x1f2:  1101 " + line
            for line in (
                'open("/Users/{S}/Library/{S}.plist\\0", 0x0, 0x0)\t\t = 3 0',
                'write(0x1, "{S}\\n\\0", 0x20)\t\t = 32 0',
                'getattrlist("/Volumes/{S}\\0", 0x7FF, 0x7FE)\t\t = -1 Err#2',
                'csops_audittoken(0x47, 0xB, "{S}\\0")\t\t = 0 0',
                'sysctlbyname("{S}\\0", 0x9)\t\t = 0 0\n\n              {R}`{R}+0x1a\n              /Users/{R}/x.dylib`0x1020',
                'sendto(0x5, "{S1}{S2}\\0", 0x20)\t\t = 32 0\ndtrace: error on enabled probe ID 12 (ID 7: {R})',
                "{R}(0x5)\t\t = 0 0",
            )
        ],
    ),
    "kdump": Form(
        ["  71 sh       CALL  close(0x3)", "  71 sh       RET   close 0"] * 3,
        [
            '  71 sh       NAMI  "/home/{V}"',
            '  71 sh       GIO   fd 1 wrote 60 bytes\n       "{V}\n       {V}"',
            "  71 sh       GIO   fd 1 wrote 60 bytes\n       0x0000 6a61 6e65 2e72  |{R}|",
            "  71 {R} CALL  close(0x3)",
            "  71 sh       RET   open -1 errno 2 {R}",
            "  71 sh       STRU  struct sockaddr {{ AF_LOCAL, /var/run/{R} }}",
            '  71 sh       ARGS  prog[0] = "{V}", "-p", "{V}"',
            "  71 sh       ARGS  {R}",
            "  71 sh       USER  20 {R}",
            "  71 sh       CAP   restricted VFS lookup {R}",
            '  71 sh       PLDG  open, "{V}", errno 1 {R}',
            '  71 sh       STRU  struct stat {{dev=1, ino=7, mode=0100644, name="{V}"}}',
        ],
    ),
    "ltrace": Form(
        ['71 1700000000.000000 strlen("abc") = 3 <0.000010>', "71 1700000000.0 SYS_close(3) = 0 <0.000010>"] * 2,
        [
            "71 1700000001.000000 " + line
            for line in (
                'getenv("{S}") = "{S}" <0.000010>',
                'sprintf("{S}", "user=%s", "{S}") = 30 <0.000010>',
                'libcrypto.so.3->EVP_BytesToKey("{S}", 0x7f, "{S}"...) = 32 <0.000010>',
                'SYS_open("/home/{S}", 0, 00) = 3 <0.000010>',
                'crypt("{S}", "{S}" <unfinished ...>\n71 1700000001.1 <... crypt resumed> ) = "{S}" <0.000010>',
                'printf("%s", "{S1}" <no return ...>\n{R}',
                "{R}->{R}(1, 2) = 3 <0.000010>",
                "memcpy(0x7f, \"{S}\", 40) = 0x7f <0.000010>",
                '__cxa_throw({{ "{S}" }}, "x") = <void> <0.000010>',
                "--- Called exec() ---\n71 1700000001.0 +++ {R} +++",
            )
        ],
    ),
    "perf trace": Form(
        ["     0.014 ( 0.004 ms): sh/71 close(fd: 3</etc/passwd>) = 0"] * 4,
        [
            '     0.014 ( 0.004 ms): sh/71 openat(dfd: CWD, filename: "/home/{R}", flags: RDONLY) = 3',
            "     0.014 ( 0.004 ms): {R}/71 execve(filename: /opt/{R}, argv: 0x7f, envp: 0x7f) = 0",
            '     0.014 ( 0.004 ms): sh/71 write(fd: 1</data/{R}>, buf: "{S}", count: 6) = 6',
            "     0.014 ( 0.004 ms): sh/71 connect(fd: 3, uservaddr: {{ .family: LOCAL, path: {R} }}, addrlen: 110) = 0",
            "     0.014 ( 0.004 ms): sh/71 renameat2(olddfd: CWD, oldname: \"{R}\", newdfd: CWD, newname: {R}) = 0",
            "     0.014 ( 0.004 ms): sh/71 clone(flags: 0x11) = 22040 ({R})",
            "     0.014 (         ): sh/71 unlink(pathname: /tmp/{R}                       ) ...",
            "     0.014 ( 0.004 ms): sh/71 fgetxattr(fd: 3, name: user.{R}, value: 0x7f, size: 4) = 4",
            "     0.014 sh/71 syscalls:sys_enter_open(filename: \"{R}\")",
            "     0.014 sched:sched_switch(prev_comm: \"{R}\", prev_pid: 7, next_comm: {R}, next_pid: 8)",
            "     0.014 ( 0.004 ms): sh/71 close(fd: 3) = 0\n                                       {R} (/opt/{R}/lib.so)",
        ],
    ),
    "sysdig": Form(
        [
            "7 01:40:19.601661779 1 httpd (7513) > open",
            "8 01:40:19.601668329 1 httpd (7513) < open fd=15(<f>/srv/a.txt) name=/srv/a.txt flags=1(O_RDONLY) mode=0",
        ]
        * 2,
        [
            "8 01:40:19.601668329 1 httpd (7513) < open fd=15(<f>/srv/{R}) name=/srv/{R} flags=1(O_RDONLY) mode=0",
            "8 01:40:19.601668329 1 {R} (7513) < close res=0",
            "8 01:40:19.601668329 1 httpd (7513) < write res=20 data={R}",
            "8 01:40:19.601668329 1 httpd (7513) < connect res=0 tuple=10.1.2.3:40000->10.1.2.4:443 fd=3(<4t>10.1.2.3:40000->10.1.2.4:443) path=/run/{R}",
            "8 01:40:19.601668329 1 sh (7) < execve res=0 exe={R} args={R}.-p.{R}. tid=7(sh) pid=7({R}) ptid=1(init) cwd=/home/{R} "
            "fdlimit=1024 comm={R} cgroups=cpu=/docker/{R} env=HOME=/home/{R}.PW={R}. tty=0 loginuid=1000({R})",
            "8 01:40:19.601668329 1 sh (7) > kill pid=8({R}) sig=15(SIGTERM)",
            "8 01:40:19.601668329 1 sh (7) < renameat2 res=0 olddirfd=-100(AT_FDCWD) oldpath={R}(/a/{R}) newpath={R}(/b/{R}) flags=0",
            "8 01:40:19.601668329 1 sh (7) < mount res=0 dev={R} dir=/mnt/{R} type=cifs",
            "8 01:40:19.601668329 1 sh (7) < getcwd res=1 path=/home/{R}",
            "8 01:40:19.601668329 1 sh (7) < setxattr res=0 key={R} value={R}",
            "8 01:40:19.601668329 1 sh (7) < recvmsg res=4 size=4 data={R} tuple={R} msgcontrol=NULL",
            "8 01:40:19.601668329 1 sh (7) > setuid uid=1000({R})",
        ],
    ),
    "gVisor": Form(
        [
            "I0928 00:18:54.794008     365 strace.go:593] [   6:   7] npm E close(0x3 /etc/hosts)",
            "I0928 00:18:54.794031     365 strace.go:625] [   6:   7] npm X close(0x3 /etc/hosts) = 0 (0x0) (11.709µs)",
        ]
        * 2,
        [
            "I0928 00:18:54.794031     365 strace.go:625] [   6:   7] npm X openat(AT_FDCWD /home/{R}, 0x7f01 {R}, O_RDONLY, 0o0) = 3 (0x3) (11.709µs)",
            "I0928 00:18:54.794031     365 strace.go:625] [   6:   7] {R} X close(0x3 /x/{R}) = 0 (0x0) (11.709µs)",
            'I0928 00:18:54.794031     365 strace.go:593] [   6:   7] sh E execve(0x7f /bin/sh, 0x7f ["sh", "{S}"], 0x7f ["PW={S}", "{S}"...])',
            'I0928 00:18:54.794031     365 strace.go:593] [   6:   7] sh E write(0x1 pipe:[5], 0x7f "{S}"..., 0x60)',
            'I0928 00:18:54.794031     365 strace.go:593] [   6:   7] sh E connect(0x3 socket:[1], 0x7f {{Family: AF_UNIX, Addr: "{S}"}}, 0x6e)',
            'I0928 00:18:54.794031     365 strace.go:593] [   6:   7] sh E sendmsg(0x3 socket:[1], 0x7f {{addr=0x7f {{}}, iovecs=[{{base=0x7f, "{S}"}}], control={{}}}}, 0x0)',
            "W0928 00:18:54.794031     365 loader.go:625] Process should have started: {R}, spec {{Args:[{R}] Env:[PW={R}]}}",
            "D0928 00:18:54.794031     365 task_exit.go:204] [   6:   7] {R} exits",
            "D0928 00:18:54.794031     365 task_signals.go:470] [   6:   7] {R}: Notified of signal 17",
        ],
    ),
    "fs_usage": Form(
        ["19:43:34.201733  read              F=3    B=0x200                   0.076120 W ls.1234"] * 4,
        [
            "19:43:34.301733  open              F=3        (R_____)  /Users/{R}/x                0.000012   ls.1234",
            "19:43:34.301733  stat64            [  2]           /Users/{R}                0.000012   ls.1234",
            "19:43:34.201733  read              F=3    B=0x200                   0.076120 W {R}.1234",
            "19:43:34.201733  rename            private/{R}>>>>{R}                   0.000120   zsh.1234",
            "19:43:34.201733  ioctl             F=3    <CMD={R}>                   0.000120   zsh.1234",
            "19:43:34.201733  PgIn[AT1]        D=0x001ce0c4  B=0x1000   /dev/{R}  /Users/{R}   0.000272 W {R}.1234",
            "19:43:34.201733  getattrlist          /Volumes/{R}",
        ],
    ),
    "Process Monitor": Form(
        ['"Time of Day","Process Name","PID","Operation","Path","Result","Detail","TID","Duration"']
        + ['"9:53:32.8219063 AM","app.exe","4711","CloseFile","C:\\x","SUCCESS","","4720","0.0000100"'] * 3,
        [
            f'"9:53:33.8219063 AM",{line},"4720","0.0000100"'
            for line in (
                '"{C}.exe","4711","CreateFile","C:\\Users\\{C}\\x","NAME NOT FOUND","Desired Access: {C}, OpenResult: {C}"',
                '"app.exe","4711","Process Create","C:\\x.exe","SUCCESS","PID: 9, Command line: ""C:\\x.exe"" /user:{C} /p {C}"',
                '"app.exe","4711","RegSetValue","HKCU\\Software\\{C}\\Pw","SUCCESS","Type: REG_SZ, Length: 20, Data: {C}"',
                '"app.exe","4711","TCP Connect","{C}:50001 -> {C}:443","SUCCESS","Length: 0, mss: 1460, {C}: 1"',
                '"app.exe","4711","QueryDirectory","\\\\{C}\\x","SUCCESS","Filter: {C}, 1: {C}, 2: {C}"',
                '"app.exe","4711","Load Image","C:\\{C}.dll","SUCCESS","Image Base: 0x7ff, Image Size: {C}"',
                '"app.exe","4711","{C}","","{C}",""',
            )
        ],
    ),
    "strace-macos": Form(
        ['{{"syscall": "close", "args": [3], "return": 0, "pid": 47, "timestamp": 1764374400.25}}'] * 4,
        [
            '{{"syscall": "open", "args": ["/home/{J}/x", "O_RDONLY", 0], "return": "-1 ENOENT (No such file or directory)", "pid": 47, "timestamp": 1764374400.3}}',
            '{{"syscall": "write", "args": [1, "{J}", 12], "return": 12, "pid": 47, "timestamp": 1764374400.3}}',
            '{{"syscall": "execve", "args": ["/x", ["x", "{J}"], ["PW={J}"]], "return": 0, "pid": 47, "timestamp": 1764374400.3}}',
            '{{"syscall": "connect", "args": [5, {{"sun_family": "AF_UNIX", "sun_path": "{J}", "{J}": 5}}, 106], "return": "{J}", "pid": 47, "timestamp": 1764374400.3}}',
            '{{"syscall": "{J}", "args": [], "return": 0, "pid": 47, "timestamp": 1764374400.3, "thread": "{J}"}}',
        ],
    ),
}
_LOG_DRESSES = {
    "kernel log": ("[   12.345678] ", ""),
    "dmesg -T": ("[Sat Nov 28 10:20:30 2026] ", ""),
    "syslog": ("Nov 28 10:20:30 web1 app[812]: ", ""),
    "syslog, RFC 5424": ("<34>1 2026-11-28T10:20:30.123456Z {R} app 812 ID47 [x@1 user=\"{J}\"] ", ""),
    "journal": ("2026-11-28T10:20:30.123456+0100 web1 app[812]: ", ""),
    "Python's logging": ("2026-11-28 10:20:30,123 INFO app.auth: ", ""),
    "logcat": ("11-28 10:20:30.123  812  813 I Auth: ", ""),
    "klog": ("I1128 10:20:30.123456   812 auth.go:12] ", ""),
    "Java": ("10:20:30.123 [main] INFO  com.example.Auth - ", ""),
    "access log": ('10.1.2.3 - {R} [28/Nov/2026:10:20:30 +0100] "GET /{R}?k={R} HTTP/1.1" 200 23 "https://{R}/" "', '"'),
}
FORMS |= {
    name: Form([f"{before.replace('{R}', 'x').replace('{J}', 'x')}request {number} done{after}" for number in range(4)], [before + line + after for line in _LOG])
    for name, (before, after) in _LOG_DRESSES.items()
}
_JSON_LOG = [re.sub(r"\{R(\d?)\}", r"{J\1}", line).replace("\\", "\\\\").replace('"', '\\"') for line in _LOG]
FORMS |= {
    "JSON": Form(
        ['{{"time":"2026-11-28T10:20:30.123Z","level":"info","msg":"request done"}}'] * 4,
        ['{{"time":"2026-11-28T10:20:30.123Z","level":"info","msg":"' + line + '","user":"{J}","ctx":{{"key":"{J}","{J}":[1,"{J}"]}}}}' for line in _JSON_LOG],
    ),
    "journal, JSON": Form(
        ['{{"__REALTIME_TIMESTAMP":"1764325230123456","MESSAGE":"request done","_PID":"812","SYSLOG_IDENTIFIER":"app"}}'] * 4,
        [
            '{{"__REALTIME_TIMESTAMP":"1764325230123456","MESSAGE":"' + line + '","_PID":"812","_HOSTNAME":"{J}","_CMDLINE":"x {J}",'
            '"SYSLOG_IDENTIFIER":"app","_MACHINE_ID":"{J}","__CURSOR":"s={J};i=1"}}'
            for line in _JSON_LOG
        ],
    ),
    "logfmt": Form(
        ['time="2026-11-28T10:20:30Z" level=info msg="request done"'] * 4,
        ['time="2026-11-28T10:20:30Z" level=info msg="' + line + '" user="{J}" key={R}' for line in _JSON_LOG],
    ),
    "Docker's JSON": Form(
        ['{{"log":"request done\\n","stream":"stdout","time":"2026-01-02T03:04:05.123456789Z"}}'] * 4,
        ['{{"log":"' + line + '\\n","stream":"stdout","time":"2026-01-02T03:04:05.123456789Z"}}' for line in _JSON_LOG],
    ),
}
WRITERS["C"] = lambda text: _raw(text).replace('"', '""')
_PLACE = re.compile(r"\{([SXVJRDC])(\d?)\}")
_OCTETS = {
    "hexadecimal, escaped": 4, "octal, escaped": 4, "Unicode, escaped": 6, "entities": 6, "hexadecimal entities": 6, "quoted-printable": 3,
    "percent, small": 3, "percent, twice": 5, "octets as a list": 5, "octets with blanks": 3, "hardware, blanks": 3, "bits": 4, "octets with 0x": 6, "octets with 0x and blanks": 5,
}
"""The length of an octet in shapes that write one with several characters: four of them are a part, as a MAC has six."""


def _halves(text: str) -> tuple[str, str]:
    """Both with whole parts in « », so that a half of a secret is one."""
    middle = len(text) // 2
    one, other = text[:middle], text[middle:]
    if one.count("«") > one.count("»"):
        one, other = one + "»", "«" + other
    return one, other


def _secrets(text: str) -> list[str]:
    return re.findall("«([^»]*)»", text)


def planted(template: str, text: str) -> str:
    """A template with the text at its places."""

    def written(found: re.Match[str]) -> str:
        part = text if not found[2] else _halves(text)[int(found[2]) - 1]
        return WRITERS[found[1]](part.replace("«", "").replace("»", ""))

    literal = _PLACE.sub(lambda found: f"\0{found[0]}\0", template).split("\0")
    return "".join(_PLACE.sub(written, each) if _PLACE.fullmatch(each) else each.replace("{{", "{").replace("}}", "}") for each in literal)


def _views(line: str) -> Iterator[str]:
    """A line as it stands, and as who wants to know would decode it."""
    yield line
    if "\\" in line:
        data = re.sub(rb"\\(x[0-9a-f]{2}|[0-7]{1,3})", lambda found: bytes([int(found[1][1:], 16) if found[1][:1] == b"x" else int(found[1], 8) & 255]), line.encode())
        yield data.decode("utf-8", "replace")
        yield re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), line)
        yield line.replace("\\\\", "\\").replace('\\"', '"')
    if "%" in line:
        yield urllib.parse.unquote(line)
    if "&#" in line:
        yield html.unescape(line)
    if re.search("=[0-9A-F]{2}", line):
        yield quopri.decodestring(line.encode()).decode("utf-8", "replace")


def left(name: str, text: str, line: str) -> str | None:
    """The first part of a secret that a line still has. Punctuation is not removed, so half of a part are letters and digits."""
    part = 4 * _OCTETS[name] if name in _OCTETS else PART
    views = [view.lower() for view in _views(line)]
    for secret in _secrets(text):
        for at in range(len(secret) - part + 1):
            piece = secret[at : at + part].lower()
            if sum(letter.isalnum() for letter in piece) >= PART // 2 and any(piece in view for view in views):
                return piece
    return None


def _redacted(text: str, folder: Path) -> list[str]:
    source, made = folder / "original", folder / "redacted"
    source.write_text(text, encoding="utf-8", newline="")
    redactor = _engine.Redactor(bytes(range(16)))
    with made.open("wb") as stream:
        redactor.copy(str(source), lambda piece, _: stream.write(piece))
    return made.read_text(encoding="utf-8", errors="replace").split("\n")


@pytest.mark.parametrize("name", FORMS)
def test_no_part_of_a_shaped_secret_is_left(name: str, tmp_path: Path) -> None:
    chance = random.Random(f"{SEED} {name}")
    form = FORMS[name]
    lines = [planted(line, "") for line in form.head]
    places = []
    shapes = list(SHAPES)
    chance.shuffle(shapes)
    for number in range(-(-SECRETS // len(FORMS))):
        shape = shapes[number % len(shapes)]
        template = form.lines[chance.randrange(len(form.lines))]
        text = SHAPES[shape](chance)
        made = planted(template, text).split("\n")
        places.append((shape, text, range(len(lines), len(lines) + len(made))))
        lines += made
    made = _redacted("\n".join([*lines, ""]), tmp_path)
    assert len(made) == len(lines) + 1
    found = [
        f"{shape}: {piece!r}\n  {lines[at]!r}\n  {made[at]!r}"
        for shape, text, numbers in places
        for at in numbers
        if (piece := left(shape, text, made[at]))
    ]
    assert not found, f"{len(found)} of {len(places)}:\n" + "\n".join(found[:40])
    assert verify(str(tmp_path / "original"), str(tmp_path / "redacted"))[1] == 0
