"""Our counts from a log equal those that strace made while it wrote the log."""

from __future__ import annotations

import shutil
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import oracle
import pytest

import tracealyze

# What threads do in their last microseconds depends on the machine: kept captures decide, see test_kept_oracle.py.
pytestmark = [pytest.mark.live, pytest.mark.skipif(oracle.why_not() is not None, reason=oracle.why_not() or "")]


@dataclass(frozen=True)
class Target:
    """A small program, and the tools that it needs."""

    language: str
    text: str
    needs: tuple[str, ...] = ()

    def command(self) -> list[str]:
        text = textwrap.dedent(self.text)
        return [sys.executable, "-S", "-c", text] if self.language == "python" else ["/bin/sh", "-c", text]


TARGETS = {
    "threads": Target(
        "python",
        """
        import queue, threading
        work, lock, total = queue.Queue(), threading.Lock(), [0]
        def worker():
            while (item := work.get()) is not None:
                with lock:
                    total[0] += item
        threads = [threading.Thread(target=worker) for _ in range(6)]
        for thread in threads: thread.start()
        for item in range(300): work.put(item)
        for _ in threads: work.put(None)
        for thread in threads: thread.join()
        """,
    ),
    "signals": Target(
        "python",
        """
        import os, select, signal, time
        caught = []
        signal.signal(signal.SIGALRM, lambda *_: caught.append(1))
        reader, writer = os.pipe()
        for _ in range(4):
            signal.setitimer(signal.ITIMER_REAL, 0.002)
            select.select([reader], [], [], 0.01)
            signal.setitimer(signal.ITIMER_REAL, 0.002)
            time.sleep(0.01)
        for _ in range(20):
            os.kill(os.getpid(), signal.SIGALRM)
        """,
    ),
    "killed in a call": Target(
        "python",
        """
        import os, signal, threading
        children = []
        ready, out = os.pipe()
        def block():
            os.write(out, b"x")
            os.read(os.pipe()[0], 1)
        for number in range(4):
            child = os.fork()
            if child == 0:
                for _ in range(number):
                    threading.Thread(target=block, daemon=True).start()
                block()
            children.append(child)
        begun = 0
        while begun < 10: begun += len(os.read(ready, 10))
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        """,
    ),
    "storm of execs": Target(
        "sh",
        """
        for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
            /bin/true; /bin/false | /bin/cat; $(/bin/echo /nowhere/at-all) 2>/dev/null
        done
        """,
    ),
    "exec from a thread": Target(
        "python",
        """
        import os, sys, threading, time
        for _ in range(3):
            threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
        threading.Thread(target=lambda: os.execv("/bin/sh", ["sh", "-c", "/bin/true; exit 3"])).start()
        time.sleep(5)
        """,
    ),
    "loopback network": Target(
        "python",
        """
        import socket, threading
        server = socket.create_server(("127.0.0.1", 0))
        def serve():
            for _ in range(20):
                with server.accept()[0] as peer:
                    peer.sendall(peer.recv(100) * 100)
        thread = threading.Thread(target=serve)
        thread.start()
        for number in range(20):
            with socket.create_connection(server.getsockname()) as client:
                client.settimeout(5)
                client.sendall(b"GET %d) = -1 ENOENT <unfinished ...>" % number)
                while client.recv(1000): pass
        thread.join()
        """,
    ),
    "children of all kinds": Target(
        "python",
        """
        import os, subprocess, sys
        for _ in range(5):
            subprocess.run(["/bin/echo", "--- SIGCHLD {si_signo=SIGCHLD} ---"], capture_output=True)
            subprocess.run("exit 4", shell=True)
            if os.fork() == 0: os._exit(1)
            os.wait()
            os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
        for path in ("/none", "/etc/passwd/none", "x" * 5000):
            try: os.stat(path)
            except OSError: pass
        """,
    ),
    "stopped and continued": Target(
        "python",
        """
        import os, signal
        ready, out = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(out)
            os.read(ready, 1)
            os.kill(os.getpid(), signal.SIGSTOP)
            os._exit(0)
        os.kill(child, signal.SIGSTOP)
        os.waitpid(child, os.WUNTRACED)
        os.kill(child, signal.SIGCONT)
        os.write(out, b"x")
        os.waitpid(child, os.WUNTRACED)
        os.kill(child, signal.SIGCONT)
        os.waitpid(child, 0)
        """,
    ),
    "calls broken by signals": Target(
        "python",
        """
        import os, signal, time
        signal.signal(signal.SIGALRM, lambda *_: None)
        child = os.fork()
        if child == 0: time.sleep(0.2); os._exit(0)
        for _ in range(3):
            # Repeatedly, so that a signal before the pause does no harm.
            signal.setitimer(signal.ITIMER_REAL, 0.005, 0.2)
            signal.pause()
            signal.setitimer(signal.ITIMER_REAL, 0.005)
            signal.sigtimedwait([signal.SIGUSR1], 0.02)
        signal.setitimer(signal.ITIMER_REAL, 0.005)
        os.waitpid(child, 0)
        """,
    ),
    "spawn": Target(
        "python",
        """
        import os
        for program in ("/bin/true", "/bin/false", "/bin/true"):
            os.waitpid(os.posix_spawn(program, [program], {}), 0)
        """,
    ),
    "writer without a reader": Target("sh", "seq 20000 | sort -rn | head -n 3; yes | head -n 1; (sleep 0.1 & wait)"),
    "gcc": Target("sh", "echo 'int main(void) { return 0; }' > a.c; gcc -O1 a.c -o a && ./a", ("gcc",)),
    "tar": Target(
        "sh",
        "mkdir -p a/b; for i in 1 2 3 4 5 6 7 8 9; do echo $i > a/b/$i; done; tar cf - a | tar tvf -; rm -r a",
        ("tar",),
    ),
    "git": Target(
        "sh",
        """
        HOME=$PWD; export HOME
        git init -q r && cd r && echo one > f && git add f
        git -c user.name=n -c user.email=e commit -q -m one && git log --stat | cat; git gc -q; git show nothing
        """,
        ("git",),
    ),
    "python": Target("sh", f"exec {sys.executable} -c 'import json, email.message, unittest'"),
}


# Programs with output of their own would mix it with strace's.
WRITE_STDERR = {"storm of execs", "tar", "git", "writer without a reader"}


def command(name: str) -> list[str]:
    """The command of a target; the test is skipped without its tools."""
    target = TARGETS[name]
    missing = [tool for tool in target.needs if not shutil.which(tool)]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    return target.command()


def captured(name: str, folder: Path, *options: str) -> Path:
    return oracle.capture(command(name), folder, *options)


@pytest.mark.parametrize("name", TARGETS)
def test_calls_and_errors_equal_the_counts_of_strace(name: str, tmp_path: Path) -> None:
    log = captured(name, tmp_path)
    oracle.assert_counts_equal(tracealyze.read(log), log)


@pytest.mark.parametrize("name", sorted(set(TARGETS) - WRITE_STDERR))
def test_messages_in_stderr_lose_no_call_and_no_line(name: str, tmp_path: Path) -> None:
    log = oracle.capture_stderr(command(name), tmp_path)
    trace = tracealyze.read(log)
    oracle.assert_counts_equal(trace, log)
    assert sum(trace.accounting.values()) == log.read_bytes().count(b"\n")


@pytest.mark.parametrize("name", TARGETS)
def test_log_split_into_files_per_thread_counts_the_same(name: str, tmp_path: Path) -> None:
    log = captured(name, tmp_path)
    lines = oracle.split(log, tmp_path / "thread")
    trace = tracealyze.read(tmp_path / "thread")
    oracle.assert_counts_equal(trace, log)
    assert sum(trace.accounting.values()) == lines


@pytest.mark.parametrize("name", ["spawn", "python"])
def test_files_per_thread_count_the_same_as_another_run(name: str, tmp_path: Path) -> None:
    # strace does not support -C with -ff. These programs make the same calls in each run.
    first = oracle.capture_as(command(name), tmp_path, "-f", "-c")
    oracle.run(["strace", "-ff", "-ttt", "-T", "-o", str(tmp_path / "thread"), *command(name)], tmp_path)
    oracle.assert_counts_equal(tracealyze.read(tmp_path / "thread"), first)


@pytest.mark.parametrize("options", ["", "-tt", "-r", "-t -T", "-tt -i", "-r -tt -T", "-ttt -T -Y"])
def test_counts_need_no_clock_and_no_durations(options: str, tmp_path: Path) -> None:
    log = oracle.capture_as(command("storm of execs"), tmp_path, "-f", "-C", *options.split())
    oracle.assert_counts_equal(tracealyze.read(log), log)


@pytest.mark.parametrize("name", TARGETS)
def test_lines_are_counted_once_and_none_is_lost(name: str, tmp_path: Path) -> None:
    log = captured(name, tmp_path, "-y")
    trace = tracealyze.read(log)
    lines = log.read_bytes().count(b"\n")
    assert sum(trace.accounting.values()) == lines
    assert [loss for capture in trace.captures for loss in capture.losses] == []


@pytest.mark.parametrize("options", [["-yy"], ["-n", "-i"], ["-r"], ["-v", "-s", "300"], ["-x", "-X", "verbose"]])
def test_options_that_change_the_text_keep_the_counts(options: list[str], tmp_path: Path) -> None:
    log = captured("loopback network", tmp_path, *options)
    oracle.assert_counts_equal(tracealyze.read(log), log)


@pytest.mark.parametrize("name", ["threads", "signals", "loopback network", "children of all kinds", "storm of execs"])
def test_sum_of_durations_equals_that_of_strace(name: str, tmp_path: Path) -> None:
    log = captured(name, tmp_path, "-w")
    table = tracealyze.read(log).calls(by=["syscall"])
    ours_us = {row["syscall"]: row["total_ns"] / 1000 for row in table}
    theirs_us = oracle.own_seconds(log)
    for row in table:
        # strace truncates each printed <T> to whole microseconds, but its own sum only once.
        syscall, calls = row["syscall"], row["calls"]
        assert -2 <= theirs_us.get(syscall, 0) * 1e6 - ours_us[syscall] <= calls + 2, syscall
