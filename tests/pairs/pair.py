"""A pair of released versions: its data, its installation, and recordings of its scenario.

Both versions are run at the same place, one after the other, so that no path differs:

    STORE/old   STORE/new   two installations; the recorded one is moved to STORE/live
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CACHE = ROOT / ".cache" / "pairs"
_SIDES = ("old", "new")
RUNS = 3
_INSTALL_S = 900
_RUN_S = 120


@dataclass(frozen=True)
class Pair:
    """Two versions of a program, a scenario, and what its changelog says."""

    name: str
    package: str
    old: str
    new: str
    more: str
    """The side that makes more of the calls."""
    command: str
    call: str
    """A pattern for the rows of a verdict that name the right call."""
    url: str
    says: str
    needs: tuple[str, ...] = ()
    prepare: str = ""
    setup: str = ""

    @property
    def source(self) -> str:
        """The registry: pypi, npm or crates."""
        return self.package.partition(":")[0]

    @property
    def program(self) -> str:
        """The name of the package."""
        return self.package.partition(":")[2]

    @property
    def fewer(self) -> str:
        """The side that makes fewer of the calls."""
        return "new" if self.more == "old" else "old"

    @property
    def store(self) -> Path:
        """Where the versions are installed."""
        return CACHE / "store" / self.name

    @property
    def live(self) -> Path:
        """The place of the version that runs."""
        return self.store / "live"

    @property
    def work(self) -> Path:
        """The folder of the scenario."""
        return CACHE / "work" / self.name

    @property
    def profile(self) -> str:
        """Programs that are compiled here have debug information, so that stacks name call sites."""
        return "stacks" if self.source == "crates" else "full"

    def version(self, side: str) -> str:
        """The version of a side."""
        return self.old if side == "old" else self.new

    def filled(self, text: str) -> str:
        """With the places of this machine."""
        return text.replace("{live}", str(self.live)).replace("{python}", _PYTHON)


_PYTHON = os.path.realpath(sys.executable)


def pairs(names: Sequence[str] = ()) -> list[Pair]:
    """All pairs, or those with these names."""
    content = tomllib.loads((HERE / "pairs.toml").read_text(encoding="utf-8"))["pair"]
    found = [_pair(entry) for entry in content]
    return [pair for pair in found if not names or pair.name in names]


def _pair(entry: Mapping[str, Any]) -> Pair:
    return Pair(**{("needs" if key == "with" else key): value for key, value in entry.items()})


def environment(pair: Pair) -> dict[str, str]:
    """The variables of a run: nothing of the user's settings."""
    path = [f"{pair.live}/bin", str(Path(_PYTHON).parent), "/usr/local/bin", "/usr/bin", "/bin"]
    return {
        "PATH": ":".join(path),
        "HOME": str(pair.work / "home"),
        "LC_ALL": "C.UTF-8",
        "NODE_PATH": str(pair.live / "node_modules"),
        "PYTHONPATH": str(pair.live),
    }


def install(pair: Pair) -> None:
    """Install both versions, unless they are there."""
    for side in _SIDES:
        place = pair.store / side
        installed, wanted = place / ".installed", f"{pair.package} {pair.version(side)} {' '.join(pair.needs)}"
        if installed.exists() and installed.read_text(encoding="utf-8") == wanted:
            continue
        rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        _INSTALLERS[pair.source](pair, place, pair.version(side))
        installed.write_text(wanted, encoding="utf-8")


def _pip(pair: Pair, place: Path, version: str) -> None:
    names = [f"{pair.program}=={version}", *pair.needs]
    plain = [_PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", str(place)]
    _run([*plain, *([] if pair.needs else ["--no-deps"]), *names], place)


def _npm(pair: Pair, place: Path, version: str) -> None:
    words = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(place)]
    _run([*words, f"{pair.program}@{version}"], place)


def _cargo(pair: Pair, place: Path, version: str) -> None:
    settings = {"DEBUG": "1", "STRIP": "none", "LTO": "off", "OPT_LEVEL": "1"}
    variables = {f"CARGO_PROFILE_RELEASE_{name}": value for name, value in settings.items()}
    variables["CARGO_TARGET_DIR"] = str(CACHE / "target" / pair.program)
    words = ["cargo", "install", "--quiet", "--locked", "--root", str(place), "--version", version, pair.program]
    _run(words, place, variables)


_INSTALLERS = {"pypi": _pip, "npm": _npm, "crates": _cargo}


def _run(words: Sequence[str], place: Path, variables: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(
        words,
        cwd=place,
        env=os.environ | dict(variables or {}),
        capture_output=True,
        encoding="utf-8",
        timeout=_INSTALL_S,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{shlex.join(words)} failed:\n{done.stdout}{done.stderr}")


@contextmanager
def alive(pair: Pair, side: str) -> Iterator[None]:
    """Have a version at its place, and a new folder of the scenario."""
    rmtree(pair.work, ignore_errors=True)
    (pair.work / "home").mkdir(parents=True)
    (pair.store / side).rename(pair.live)
    try:
        _shell(pair, pair.prepare)
        yield
    finally:
        pair.live.rename(pair.store / side)


def run(pair: Pair) -> None:
    """Run the scenario without recording it. Its exit status is its own affair: `black --check` may find something."""
    _shell(pair, pair.setup)
    _words(pair, shlex.split(pair.filled(pair.command)))


def record(pair: Pair, file: Path) -> str:
    """Record the scenario in a file, after its set-up."""
    _shell(pair, pair.setup)
    file.parent.mkdir(parents=True, exist_ok=True)
    options = ["--quiet", "--force", "--profile", pair.profile, "-o", str(file)]
    # The variables are those of the program, so that tracealyze keeps its own.
    variables = [f"{name}={value}" for name, value in environment(pair).items()]
    command = ["env", "-i", *variables, *shlex.split(pair.filled(pair.command))]
    words = [sys.executable, "-m", "tracealyze", "record", *options, "--", *command]
    _words(pair, words, dict(os.environ))
    if not file.exists():
        raise SystemExit(f"{pair.name}: {shlex.join(words)} left no capture")
    return str(file)


def _shell(pair: Pair, script: str) -> None:
    if script and _words(pair, ["sh", "-ec", pair.filled(script)]):
        raise SystemExit(f"{pair.name}: {script} failed")


def _words(pair: Pair, words: Sequence[str], variables: Mapping[str, str] | None = None) -> int:
    done = subprocess.run(
        words,
        cwd=pair.work,
        env=dict(variables) if variables is not None else environment(pair),
        stdin=subprocess.DEVNULL,
        stdout=(pair.work / "home" / "out").open("wb"),
        stderr=subprocess.STDOUT,
        timeout=_RUN_S,
        check=False,
    )
    return done.returncode
