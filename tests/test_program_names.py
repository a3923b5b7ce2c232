"""Names of programs and commands, as pictures show them."""

from __future__ import annotations

import pytest

from tracealyze.base.program_names import told_apart, unwrapped


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("sh -c 'gcc -c a.c'", "gcc -c a.c"),
        ("/usr/bin/env LANG=C nice -n 5 make all", "make all"),
        ("timeout 5s sudo -n bash deploy.sh", "bash deploy.sh"),
        ("env", "env"),
        ("sh stop.sh web", "sh stop.sh web"),
        ("sh -c ''", "sh -c ''"),
        ("nohup", "nohup"),
    ],
)
def test_what_only_starts_another_program_is_left_out(command: str, shown: str) -> None:
    assert unwrapped(command) == shown


@pytest.mark.parametrize(
    ("commands", "names"),
    [
        (["/usr/lib/gcc/cc1 -quiet f1.c -o /tmp/1.s", "cc1 -quiet f2.c -o /tmp/2.s"], ["cc1 f1.c 1.s", "cc1 f2.c 2.s"]),
        (["perl service.pl web 1", "perl service.pl mail 1"], ["perl service.pl web", "perl service.pl mail"]),
        (["bash deploy.sh", "bash test.sh"], ["bash deploy.sh", "bash test.sh"]),
        (["sleep 5", "sleep 5"], ["sleep 5", "sleep 5"]),
        (["/usr/sbin/quota -v", ""], ["quota -v", ""]),
    ],
)
def test_commands_of_a_program_are_told_apart_by_what_differs(commands: list[str], names: list[str]) -> None:
    """Rows began with the same options, and were cut before the file."""
    assert told_apart(commands) == names
