"""Run a program where tracing is refused: `python refusals.py seccomp|capability COMMAND…`."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _PR_CAPBSET_DROP = 22, 38, 24
_CAP_SYS_PTRACE = 19
_PTRACE = {"x86_64": 101, "aarch64": 117}
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_EPERM, _ALLOW = 0x00050001, 0x7FFF0000


def _forbid_ptrace() -> None:
    """A filter as container runtimes install it: ptrace fails with EPERM."""
    steps = [
        (_LOAD, 0, 0, 0),
        (_JUMP_IF_EQUAL, 0, 1, _PTRACE[platform.machine()]),
        (_RETURN, 0, 0, _EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code)))
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _prctl(_PR_SET_SECCOMP, 2, ctypes.addressof(program))


def _drop_capability() -> None:
    _prctl(_PR_CAPBSET_DROP, _CAP_SYS_PTRACE)


def _prctl(*numbers: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(*(ctypes.c_ulong(number) for number in (*numbers, 0, 0, 0, 0)[:5])):
        raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    {"seccomp": _forbid_ptrace, "capability": _drop_capability}[sys.argv[1]]()
    os.execvp(sys.argv[2], sys.argv[2:])
