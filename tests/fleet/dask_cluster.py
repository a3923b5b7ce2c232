"""A Dask scheduler and two workers of it, in processes of this machine that can be killed."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from clients import client_environment

psutil: Any = pytest.importorskip("psutil", reason="needs dask and distributed")
_WORKERS = 2
_MAX_START_S = 120
"""What takes longer to start is stuck."""


class DaskCluster:
    """As an operator runs it: `dask scheduler`, and `dask worker` with a nanny that starts killed workers again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = 0
        self._scheduler: subprocess.Popen[bytes]
        self._workers: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def address(self) -> str:
        """For `--executor`."""
        return f"dask://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start a scheduler, on the port of the one before, and workers for it."""
        # The scheduler writes its port to its log.
        log = self._folder / f"scheduler-{len(list(self._folder.iterdir()))}.log"
        self._scheduler = self._run("scheduler", "--host", "127.0.0.1", "--port", str(self._port), log=log)
        latest = monotonic() + _MAX_START_S
        while not (found := re.search(r"tcp://127\.0\.0\.1:(\d+)", log.read_text(encoding="utf-8"))):
            assert self._scheduler.poll() is None and monotonic() < latest, log.read_text(encoding="utf-8")
            with suppress(subprocess.TimeoutExpired):
                self._scheduler.wait(0.05)
        self._port = int(found[1])
        arguments = ["--nworkers", str(_WORKERS), "--nthreads", "1", "--host", "127.0.0.1"]
        place = ["--local-directory", str(self._folder)]
        self._workers = self._run("worker", f"tcp://127.0.0.1:{self._port}", *arguments, *place)

    def _run(self, command: str, *arguments: str, log: Path | None = None) -> subprocess.Popen[bytes]:
        with (log or self._folder / "workers.log").open("ab") as file:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", command, "--no-dashboard", *arguments],
                env=client_environment(),
                stdout=file,
                stderr=file,
            )

    def wait(self) -> None:
        """Until all workers are there."""
        client_of: Any = import_module("distributed").Client
        with client_of(self.address.replace("dask", "tcp"), set_as_default=False) as client:
            client.wait_for_workers(_WORKERS, timeout=_MAX_START_S)

    def kill_worker(self, number: int) -> bool:
        """Kill a worker under its nanny. Whether there was one."""
        found = _children(self._workers)
        workers = [each for each in found if any("spawn_main" in part for part in _command(each))]
        if not workers:
            return False
        workers[number % len(workers)].kill()
        return True

    def kill_all(self) -> None:
        """Kill the scheduler, the nannies and the workers."""
        for process in (self._scheduler, self._workers):
            if process is None:
                continue
            children = _children(process)
            process.kill()
            process.wait()
            for child in children:
                child.kill()


def _children(process: subprocess.Popen[bytes] | None) -> list[Any]:
    try:
        return [] if process is None else list(psutil.Process(process.pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return []


def _command(process: Any) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.NoSuchProcess:
        return []


@contextmanager
def dask_cluster(folder: Path) -> Iterator[DaskCluster]:
    """A cluster whose workers are there."""
    pytest.importorskip("distributed", reason="needs dask and distributed")
    cluster = DaskCluster(folder)
    try:
        cluster.wait()
        yield cluster
    finally:
        cluster.kill_all()
