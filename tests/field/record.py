"""Record the captures of the field lab on this machine.

    python tests/field/record.py               record what is missing or has changed
    python tests/field/record.py NAME...       record these again
    python tests/field/record.py --all         record everything again
    python tests/field/record.py --install     first install the programs that are missing (apt-get, as root)

Servers listen on loopback, and everything started here is stopped at the end. Each program also runs without strace,
before and after its capture, so that both durations were measured under the same load.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import io
import lzma
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from scenario import CAPTURES, RECORDED, Scenario, programs, recorded, scenarios

_LIMIT_S = 90
_UNTRACED_RUNS = 2
_SHOWN_FOLDER = b"/tmp/field"
# Of PostgreSQL the programs themselves, not Debian's wrapper.
_PATH = os.pathsep.join(
    (
        *sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin"))),
        *("/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/go/bin"),
        str(Path.home() / ".cargo/bin"),
    )
)
_PRELUDE = """
set -eu
wait_port() { for _ in $(seq 200); do (exec 3<>/dev/tcp/127.0.0.1/$1) 2>/dev/null && return; sleep 0.05; done; exit 1; }
wait_for() { for _ in $(seq 200); do "$@" >/dev/null 2>&1 && return; sleep 0.05; done; exit 1; }
"""
# Of the machine, not of the program: kernel, host name, name servers.
_SCRUBBED = (
    (re.compile(rb'nodename="[^"]*"'), b'nodename="host"'),
    (re.compile(re.escape(platform.release().encode())), b"6.1.0"),
    (re.compile(rb'release="[^"]*"'), b'release="6.1.0"'),
    (re.compile(rb'version="#[^"]*"'), b'version="#1"'),
    (re.compile(rb"nameserver [0-9a-f.:]+"), b"nameserver 192.0.2.1"),
    # Strings that strace cut hold a part of the working folder's name.
    (re.compile(rb"/tmp/field-\w*"), b"/tmp/field"),
)


class Failed(Exception):
    """A scenario did not run as it should."""


class Stage:
    """The working folder of one scenario, and its steps."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.scenario = scenario
        self.folder = folder
        self.work = folder / "w"
        self.log = folder / "out.strace"
        self._servers: list[int] = []
        home, temporary = folder / "home", folder / "tmp"
        for each in (self.work, home, temporary):
            each.mkdir()
            each.chmod(0o777)
        folder.chmod(0o755)
        self.environment = {"PATH": _PATH, "HOME": str(home), "LC_ALL": "C.UTF-8", "TMPDIR": str(temporary)}
        self.environment["RUSTUP_HOME"] = os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))
        self.environment["GIT_CONFIG_NOSYSTEM"] = "1"
        # The Go library is compiled once for all scenarios.
        self.environment["GOCACHE"] = str(Path(gettempdir()) / "tracealyze-go-cache")
        for name, text in scenario.files.items():
            file = self.work / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            file.chmod(0o755)

    def start(self, command: Sequence[str], **more: int) -> subprocess.Popen[bytes]:
        """Start it in a session of its own, which ends with the stage."""
        output = (self.folder / "output").open("ab")
        process = subprocess.Popen(
            command, cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL, start_new_session=True,
            stdout=output, stderr=more.get("stderr", output),
        )  # fmt: skip
        self._servers.append(process.pid)
        return process

    def shell(self, snippet: str) -> None:
        """Run a step in bash; its background processes go on."""
        self.expect(self.start(["bash", "-c", _PRELUDE + snippet]), "setup")

    def expect(self, process: subprocess.Popen[bytes], step: str) -> None:
        """Wait for its end, which must be a success."""
        # Not with a limit of its own: Python then looks only every 50 ms.
        watchdog = threading.Timer(_LIMIT_S, process.kill)
        watchdog.start()
        code = process.wait()
        watchdog.cancel()
        if code:
            raise Failed(f"{step} ended with {code}: {self.output()}")

    def output(self) -> str:
        """The last lines that the steps wrote."""
        return "\n".join((self.folder / "output").read_text(errors="replace").splitlines()[-5:])

    def untraced(self) -> float:
        """Seconds that the program takes without strace."""
        self.shell(self.scenario.before)
        started = time.monotonic()
        self.expect(self.start(["sh", "-c", self.scenario.run]), "the untraced run")
        return round(time.monotonic() - started, 4)

    def traced(self) -> float:
        """Seconds that it takes with strace, which writes the capture."""
        self.shell(self.scenario.before)
        options = ["strace", *self.scenario.options.split(), "-o", str(self.log)]
        if self.scenario.attach:
            return self._attached(options)
        started = time.monotonic()
        self.expect(self.start([*options, "sh", "-c", self.scenario.run]), "the traced run")
        return round(time.monotonic() - started, 4)

    def _attached(self, options: list[str]) -> float:
        pids = subprocess.run(
            ["bash", "-c", _PRELUDE + self.scenario.attach], cwd=self.work, env=self.environment,
            stdin=subprocess.DEVNULL, capture_output=True, check=True,
        ).stdout.decode().split()  # fmt: skip
        tracer = self.start([*options, *(part for pid in pids for part in ("-p", pid))])
        time.sleep(0.4)
        started = time.monotonic()
        self.expect(self.start(["sh", "-c", self.scenario.run]), "the driver")
        took = round(time.monotonic() - started, 4)
        time.sleep(0.1)
        tracer.send_signal(signal.SIGINT)
        tracer.wait(_LIMIT_S)
        return took

    def stop(self) -> None:
        """End all processes of the scenario, politely first."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            for session in self._servers:
                for pid in _of_session(session):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, number)
            time.sleep(0.3)


def _of_session(session: int) -> Iterator[int]:
    """The processes of a session that live."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == session and fields[0] != "Z":
                    yield int(entry.name)


def missing(scenario: Scenario) -> list[str]:
    """The programs that this machine lacks."""
    known = programs()
    return [name for name in scenario.uses if not shutil.which(known[name].get("command", name), path=_PATH)]


def version(name: str) -> str:
    """The version of a program, as it prints it."""
    environment = os.environ | {"PATH": _PATH, "LC_ALL": "C"}
    command = programs().get(name, {}).get("version", f"{name} --version")
    printed = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=environment, check=False)
    found = re.search(r"\d+(\.\d+)+\w*|\d{4,}", printed.stdout + printed.stderr)
    return f"{name} {found[0] if found else 'of unknown version'}"


def record(scenario: Scenario) -> dict[str, object]:
    """Make the capture of a scenario; the facts about it."""
    with TemporaryDirectory(prefix="field-") as folder:
        stage = Stage(scenario, Path(folder))
        try:
            stage.shell(scenario.setup)
            untraced = [stage.untraced() for _ in range(_UNTRACED_RUNS)]
            traced = stage.traced()
            untraced += [stage.untraced() for _ in range(_UNTRACED_RUNS)]
        finally:
            stage.stop()
        _keep(scenario, Path(folder))
    return {
        "made_by": scenario.made_by,
        "date": datetime.date.today().isoformat(),
        "strace": version("strace").split()[1],
        "programs": [version(name) for name in scenario.uses],
        "untraced_s": untraced,
        "traced_s": traced,
    }


def _keep(scenario: Scenario, folder: Path) -> None:
    """Compress the capture, without names of this machine."""
    files = sorted(folder.glob("out.strace*"))
    if not files or not any(file.stat().st_size for file in files):
        raise Failed("strace wrote nothing")
    texts = {file.name: _scrubbed(file.read_bytes(), folder) for file in files}
    CAPTURES.mkdir(exist_ok=True)
    if not scenario.is_per_thread:
        scenario.capture.write_bytes(lzma.compress(texts["out.strace"], preset=9 | lzma.PRESET_EXTREME))
        return
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name, text in texts.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text))
    scenario.capture.write_bytes(lzma.compress(archive.getvalue(), preset=9 | lzma.PRESET_EXTREME))


def _scrubbed(text: bytes, folder: Path) -> bytes:
    text = text.replace(os.fsencode(folder), _SHOWN_FOLDER).replace(b"/root", b"/home/user")
    if len(platform.node()) > 3:
        text = text.replace(platform.node().encode(), b"host")
    for pattern, shown in _SCRUBBED:
        text = pattern.sub(shown, text)
    return text


def _write(facts: dict[str, dict[str, object]]) -> None:
    lines = ["# Written by record.py.\n"]
    for name, values in sorted(facts.items()):
        lines += [f"\n[{name}]\n", *(f"{key} = {_toml(value)}\n" for key, value in values.items())]
    RECORDED.write_text("".join(lines), encoding="utf-8")


def _toml(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def install(names: set[str]) -> None:
    """Install what Debian has of these."""
    known = programs()
    packages = sorted({package for name in names for package in known[name].get("apt", "").split()})
    if packages:
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", *packages], check=True, env=environment)


def _chosen(arguments: argparse.Namespace, facts: Mapping[str, Mapping[str, object]]) -> list[Scenario]:
    """The named scenarios; without names, all whose capture is missing or out of date."""
    if arguments.names or arguments.all:
        return [each for each in scenarios() if arguments.all or each.name in arguments.names]
    return [
        each
        for each in scenarios()
        if not each.capture.exists() or facts.get(each.name, {}).get("made_by") != each.made_by
    ]


def _try(scenario: Scenario, facts: dict[str, dict[str, object]]) -> str | None:
    """Record a scenario and note the facts; what went wrong, if something did."""
    if lacking := missing(scenario):
        return f"SKIPPED {scenario.name}: not installed: {', '.join(lacking)} (--install does it)"
    try:
        facts[scenario.name] = record(scenario)
    except Failed as error:
        return f"FAILED {scenario.name}: {error}"
    known = {each.name for each in scenarios()}
    _write({name: values for name, values in facts.items() if name in known})
    return None


def main() -> int:
    # On SIGTERM, stop the servers too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    parser = argparse.ArgumentParser(description="Record the captures of the field lab.")
    parser.add_argument("names", nargs="*", help="scenarios to record again")
    parser.add_argument("--all", action="store_true", help="record everything again")
    parser.add_argument("--install", action="store_true", help="install missing programs with apt-get first")
    arguments = parser.parse_args()
    facts = recorded()
    chosen = _chosen(arguments, facts)
    if arguments.install:
        install({name for each in chosen for name in missing(each)})
    problems = []
    for each in chosen:
        problem = _try(each, facts)
        sys.stderr.write(f"{problem or 'recorded ' + each.name}\n")
        problems += [problem] if problem else []
    sys.stderr.writelines(f"{problem}\n" for problem in problems)
    return min(len(problems), 1)


if __name__ == "__main__":
    sys.exit(main())
