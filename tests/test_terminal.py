"""Narrow terminals: paths lose their folders first, and a program whose path the tracer cut still has a name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import SAMPLES, Run

from tracealyze.render import output
from tracealyze.render.finding_block import STYLES
from tracealyze.render.processes import command_of
from tracealyze.render.terminal import Terminal, cells

SSH = SAMPLES / "ssh-login" / "ssh-login.truss"
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


def test_narrow_tables_name_their_hidden_columns(run: Run) -> None:
    """Columns were wrongly omitted in silence, so 80 and 160 columns showed different facts."""
    narrow, wide = (run("top-syscalls", SSH, COLUMNS=columns) for columns in ("70", "200"))
    assert "Hidden at a width of 70: CPU ms, mean ms, p50 ms, p99 s, max s; " in narrow.stderr
    assert "p50 ms" not in narrow.stdout and "p50 ms" in wide.stdout
    assert "Hidden" not in wide.stderr


def test_long_program_leaves_room_for_the_shape(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "deep.strace"
    program = "/opt/vendor/releases/2024-11-05/environments/production/bin/python3"
    lines = [f'1 1700000010.000000 execve("{program}", ["python3"], 0x7ffd /* 1 var */) = 0 <0.001000>']
    lines += [f'1 17000000{n}.000000 openat(AT_FDCWD, "/etc/conf", O_RDONLY) = 3 <0.000020>' for n in range(11, 20)]
    file.write_text("\n".join([*lines, ""]), encoding="utf-8")
    shown = run("top-syscalls", file, "--by", "program", "--by", "shape").stdout
    assert "…/python3" in shown and "openat(/etc/conf)" in shown
    assert all(cells(line) <= 80 for line in shown.splitlines())


XTERM = {
    "red": ((205, 0, 0), (255, 0, 0)),
    "yellow": ((205, 205, 0), (255, 255, 0)),
    "magenta": ((205, 0, 205), (255, 0, 255)),
}
"""Colors of xterm, normal and bright: many terminals print bold text in the bright one."""


def contrast(color: tuple[int, int, int], background: tuple[int, int, int]) -> float:
    """The contrast ratio of WCAG 2.2."""

    def luminance(rgb: tuple[int, int, int]) -> float:
        linear = [c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(color), luminance(background)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("severity", sorted(STYLES))
def test_severities_are_readable_on_light_and_dark(severity: str) -> None:
    """Warnings were bold yellow, with a contrast of 1.1 on a white background. WCAG requires 3 for bold text."""
    for color in XTERM[STYLES[severity].split()[-1]]:
        assert min(contrast(color, (255, 255, 255)), contrast(color, (0, 0, 0))) >= 3


def test_report_names_the_columns_that_it_omits(run: Run) -> None:
    """The columns of its tables vanished silently."""
    narrow, wide = (run("summarize", "--full", SSH, COLUMNS=columns) for columns in ("50", "200"))
    noted = re.findall(r"Hidden at a width of 50: (.*); --format markdown", narrow.stderr)
    assert len(noted) == 1
    assert {"parent", "failed", "max s"} <= set(noted[0].split(", "))
    assert wide.stderr == ""


def test_full_report_mentions_no_normal_facts(run: Run) -> None:
    printed = run("summarize", "--full", SSH).stdout
    assert "Tracing overhead unknown." in printed
    assert not re.search("thread ids present|not cut|capture complete|no filter", printed)


_TERMINALS = [
    ({"TERM": "xterm-kitty"}, True),
    ({"TERM": "xterm-256color", "VTE_VERSION": "7002"}, True),
    ({"TERM": "xterm-256color", "TERM_PROGRAM": "vscode"}, True),
    ({"TERM": "xterm-256color"}, False),
    ({"TERM": "xterm-256color", "VTE_VERSION": "4205"}, False),
    ({"TERM": "tmux-256color", "VTE_VERSION": "7002"}, False),
    ({"TERM": "tmux-256color", "FORCE_HYPERLINK": "1"}, True),
    ({"TERM": "xterm-kitty", "FORCE_HYPERLINK": "0"}, False),
    ({"TERM": "xterm-kitty", "CI": "true"}, False),
    ({"TERM": "linux", "WT_SESSION": "1"}, False),
    ({"TERM": "dumb"}, False),
]


@pytest.mark.parametrize(("variables", "expected"), _TERMINALS, ids=lambda value: str(value)[:50])
def test_links_appear_in_terminals_that_are_known_to_support_them(
    variables: dict[str, str], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TERM_PROGRAM", "VTE_VERSION", "FORCE_HYPERLINK", *output._WITH_LINKS):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert output.has_links() is expected
    monkeypatch.setattr("sys.stdout.isatty", lambda: False)
    assert not output.has_links()


def test_links_are_never_in_pipes(run: Run) -> None:
    done = run("explain", "hot-loop", "--color", "always", TERM="xterm-kitty", FORCE_HYPERLINK="1", FORCE_COLOR="1")
    assert "\x1b[1m" in done.stdout
    assert "\x1b]8;" not in done.stdout


@pytest.mark.parametrize("locale", ["C", "POSIX"])
@pytest.mark.parametrize("command", ["summarize", "timeline", "tree", "gaps"])
def test_a_locale_without_utf8_gets_ascii(locale: str, command: str, run: Run) -> None:
    shown = run(command, "samples/shutdown/before.strace.xz", LC_ALL=locale).stdout
    assert shown and shown.isascii()
