"""Narrow terminals: paths lose their folders first, and a program whose path the tracer cut still has a name."""

from __future__ import annotations

import pytest

from tracealyze.render.processes import command_of
from tracealyze.render.terminal import Terminal, cells

COMPILER = "7 /usr/lib/gcc/x86_64-linux-gnu/12/cc1 -quiet one.c"


@pytest.mark.parametrize(
    ("text", "width", "cut"),
    [
        (COMPILER, 51, COMPILER),
        (COMPILER, 50, "7 …/lib/gcc/x86_64-linux-gnu/12/cc1 -quiet one.c"),
        (COMPILER, 30, "7 …/12/cc1 -quiet one.c"),
        (COMPILER, 20, "7 …/cc1 -quiet one.c"),
        (COMPILER, 15, "7 …/cc1 -quiet…"),
        ("getdents64 /srv/demo/boot/dev", 28, "getdents64 …/demo/boot/dev"),
        ("sed s/a/b/ /etc/passwd", 20, "sed s/a/b/ /etc/pas…"),
        ("a text without a path", 10, "a text wi…"),
        ("/usr/bin/" + "x" * 30, 10, "…/xxxxxxx…"),
    ],
)
def test_path_is_cut_at_its_start(text: str, width: int, cut: str) -> None:
    terminal = Terminal()
    assert terminal.cut_named(text, width) == cut
    assert all(cells(terminal.cut_named(text, narrow)) <= narrow for narrow in range(width))


@pytest.mark.parametrize(
    ("argv", "program", "command"),
    [
        ("/usr/lib/gcc/x86_64-linux-gnu/12... -quiet", "/usr/lib/gcc/x86_64-linux-gnu/12/cc1", None),
        ("-quiet... -x", "/bin/gcc", "-quiet... -x"),
        ("cc -c x.c", "/usr/bin/gcc", "cc -c x.c"),
        (None, "/usr/bin/gcc", "/usr/bin/gcc"),
        (None, None, None),
    ],
)
def test_process_is_named_by_its_arguments(argv: str | None, program: str | None, command: str | None) -> None:
    expected = f"{program} -quiet" if argv and command is None else command
    assert command_of({"argv": argv, "program": program}) == expected
