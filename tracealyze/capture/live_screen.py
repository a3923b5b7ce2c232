"""The screen of a recording: `watch` as a process of its own, which follows a copy of what the tracer writes.

The tracer waits for whoever reads its pipe, so a slow screen in the same process would slow the program down.
"""

from __future__ import annotations

import os
import subprocess
import sys
from tempfile import TemporaryDirectory
from typing import IO, Any

from tracealyze.base.errors import WrongUsage

_TERMINAL = "/dev/tty"
_ENDING_S = 2.0


class LiveScreen:
    """A copy of the trace as it is stored, and the process that shows it."""

    def __init__(self, name: str, *, shares_terminal: bool) -> None:
        """`name` is that of the capture; `shares_terminal`: whether a command that is traced may write to the terminal.

        Raises:
            WrongUsage: There is no terminal, or the command writes to it, too."""
        if shares_terminal and (os.isatty(1) or os.isatty(2)):
            raise WrongUsage(
                "--live draws on the terminal, where the command writes, too. Send its output to a file "
                "(record --live -- COMMAND > out.txt 2>&1), or start it elsewhere and use --pid."
            )
        try:
            self._terminal = open(_TERMINAL, "r+b", buffering=0)  # noqa: SIM115
        except OSError:
            raise WrongUsage(
                "--live needs a terminal. Elsewhere, follow a file: tracealyze watch FILE --json."
            ) from None
        self._folder = TemporaryDirectory(prefix="tracealyze-")
        self._path = os.path.join(self._folder.name, os.path.basename(name).removesuffix(".zst"))
        self._copy: IO[bytes] = open(self._path, "wb", buffering=0)  # noqa: SIM115
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        """Show the screen."""
        command = [sys.executable, "-m", "tracealyze", "watch", "--no-report", "--input-format", "strace"]
        streams: Any = {"stdin": self._terminal, "stdout": self._terminal, "stderr": self._terminal}
        self._process = subprocess.Popen([*command, self._path], **streams)

    def take(self, text: bytes) -> None:
        """Text that the tracer wrote, as it is stored."""
        self._copy.write(text)

    @property
    def has_ended(self) -> bool:
        """Whether the user closed it."""
        return self._process is not None and self._process.poll() is not None

    def end(self) -> None:
        """Close it, and put the terminal in order."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(_ENDING_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._terminal.close()
        self._copy.close()
        self._folder.cleanup()
