"""Commands of tests in processes of their own, forked from one that has loaded the command line.

Loading it takes most of the time of a command that reads a small capture, and the tests run thousands of these. A
forked process has its own streams, folder, variables and state, and ends as any other. What depends on the start of
the interpreter, or on who started it, is run the usual way: see `_COLD` and `_VARIABLES`.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
_COLD = frozenset(["record", "watch", "doctor", "mcp", "fleet"])
"""Commands that start processes, wait for somebody, or look at how they were started."""
_VARIABLES = {"COLUMNS", "NO_COLOR", "XDG_STATE_HOME", "FORCE_COLOR", "GITHUB_ACTIONS", "PYTEST_CURRENT_TEST"}
"""What is read where it is used, so that it may differ from what the loaded process was started with."""
_DATA_PACKAGES = ("numpy", "pandas", "pyarrow")
_READY = b"+"
HANGS_AFTER_S = 300
"""A command that takes longer is ended, and its test fails: without this, all tests would wait for it."""


class WarmCommands:
    """Runs commands in processes that are forked from one server; closed with the tests."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            self._server = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                cwd=ROOT,
                env=environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._ours.settimeout(HANGS_AFTER_S)
        self._is_free = threading.Lock()
        self._can_fork: bool | None = None

    def close(self) -> None:
        """End the server: it sees that nobody can ask any more."""
        self._ours.close()
        self._server.wait()

    def run(
        self, arguments: Sequence[str], stdin: str | None, cwd: Path | None, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str] | None:
        """What `subprocess.run` returns of the command; None if it must be started anew."""
        if (
            not self._is_same_start(environment)
            or not arguments
            or arguments[0].startswith("-")
            or arguments[0] in _COLD
        ):
            return None
        if not self._is_free.acquire(blocking=False):
            return None
        try:
            if self._can_fork is None:
                self._can_fork = self._ours.recv(1) == _READY
            return self._ask(arguments, stdin, cwd, environment) if self._can_fork else None
        finally:
            self._is_free.release()

    def _is_same_start(self, environment: Mapping[str, str]) -> bool:
        ours = self._environment.keys() | environment.keys()
        return all(self._environment.get(name) == environment.get(name) for name in ours - _VARIABLES)

    def _ask(
        self, arguments: Sequence[str], stdin: str | None, cwd: Path | None, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        content = json.dumps([list(arguments), str(cwd or Path.cwd()), dict(environment)])
        request = content.encode(errors="surrogateescape")
        outputs = [_Output(), _Output()]
        with contextlib.closing(_Input(stdin)) as given:
            socket.send_fds(self._ours, [b"%8d" % len(request)], [given.theirs, *(each.theirs for each in outputs)])
            self._ours.sendall(request)
            given.start()
            for each in outputs:
                each.start()
            status = self._status()
        stdout, stderr = (each.text() for each in outputs)
        words = [sys.executable, "-m", "tracealyze", *arguments]
        return subprocess.CompletedProcess(words, status, stdout, stderr)

    def _status(self) -> int:
        try:
            answer = self._ours.recv(8)
        except TimeoutError:
            os.killpg(self._server.pid, signal.SIGKILL)
            raise
        if not answer:
            raise RuntimeError("the process that runs commands for tests has ended; see its message above")
        return os.waitstatus_to_exitcode(int(answer))


class _Output:
    """A stream of a command, read by a thread until its end."""

    def __init__(self) -> None:
        self._reads, self.theirs = os.pipe()
        self._text = ""
        self._thread = threading.Thread(target=self._read, daemon=True)

    def start(self) -> None:
        os.close(self.theirs)
        self._thread.start()

    def _read(self) -> None:
        with open(self._reads, encoding="utf-8") as stream:
            self._text = stream.read()

    def text(self) -> str:
        self._thread.join()
        return self._text


class _Input:
    """What a command reads, written by a thread."""

    def __init__(self, text: str | None) -> None:
        self._text = text
        self._writes = -1
        if text is None:
            self.theirs = os.open(os.devnull, os.O_RDONLY)
        else:
            self.theirs, self._writes = os.pipe()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def start(self) -> None:
        os.close(self.theirs)
        self._thread.start()

    def _write(self) -> None:
        # A command may end before it has read all.
        with contextlib.suppress(BrokenPipeError):
            if self._text is not None:
                with open(self._writes, "w", encoding="utf-8") as stream:
                    stream.write(self._text)

    def close(self) -> None:
        self._thread.join()


def _load() -> None:
    """Load what commands load, without what only some need: those packages start threads, which a fork would lack."""
    absent = {name for name in _DATA_PACKAGES if name not in sys.modules}
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
    import tracealyze

    for module in pkgutil.walk_packages(tracealyze.__path__, "tracealyze."):
        with contextlib.suppress(ImportError):
            if not module.name.startswith(("tracealyze.pytest_plugin", "tracealyze.fleet", "tracealyze.__main__")):
                import_module(module.name)
    for name in absent:
        del sys.modules[name]
    from tracealyze.findings.rule_set import rules
    from tracealyze.trace.outcome import known

    rules()
    for load in (known.errors, known.signals, known.usual_failures, known.message_words):
        load()


def _serve(requests: socket.socket) -> None:
    """Fork for each request; in the child, run the command and end as its process would."""
    while True:
        head, streams, _, _ = socket.recv_fds(requests, 8, 3)
        if not head:
            return
        arguments, folder, environment = json.loads(_read_all(requests, int(head)))
        child = os.fork()
        if not child:
            _become(arguments, folder, environment, streams, requests)
            return
        for each in streams:
            os.close(each)
        _, status = os.waitpid(child, 0)
        requests.sendall(b"%8d" % status)


def _read_all(requests: socket.socket, size: int) -> str:
    content = b""
    while len(content) < size:
        content += requests.recv(size - len(content))
    return content.decode(errors="surrogateescape")


def _become(
    arguments: list[str], folder: str, environment: dict[str, str], streams: Sequence[int], requests: socket.socket
) -> None:
    requests.close()
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.stdin = _fresh(sys.stdin, "rb")
    sys.stdout = _fresh(sys.stdout, "wb")
    sys.stderr = _fresh(sys.stderr, "wb")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from tracealyze import __main__

    sys.argv = [str(__main__.__file__), *arguments]
    __main__.main()


def _fresh(stream: Any, mode: str) -> io.TextIOWrapper:
    """The stream as the interpreter would open it for what its descriptor is now."""
    return io.TextIOWrapper(
        os.fdopen(stream.fileno(), mode, closefd=False), encoding=stream.encoding, errors=stream.errors
    )


def main() -> None:
    """The server: its argument is the descriptor of the socket for requests."""
    requests = socket.socket(fileno=int(sys.argv[1]))
    # As for `python -m tracealyze` in the same folder.
    sys.path[0] = str(ROOT)
    # The tests decide when it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _load()
    threads = len(os.listdir("/proc/self/task")) if sys.platform == "linux" else threading.active_count()
    if threads > 1:
        # A forked process would lack them: all commands are started anew then.
        return
    gc.freeze()
    requests.sendall(_READY)
    _serve(requests)


if __name__ == "__main__":
    main()
