"""Run the command line where the facts of the kernel are files: `python simulated_machine.py ROOT USER COMMAND…`.

The process to trace is always that of ROOT/proc/target."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from unittest import mock

from tracealyze.capture import attaching, evidence, overhead, tracer


def main(root: str, user: str, *command: str) -> None:
    def gather(pid: int | None = None) -> evidence.Evidence:
        return evidence.gather(None if pid is None else "target", root, {})

    with ExitStack() as patches:
        for module in (attaching, overhead, tracer):
            patches.enter_context(mock.patch.object(module, "gather", gather))
        patches.enter_context(mock.patch.object(os, "geteuid", lambda: int(user)))
        sys.argv = ["tracealyze", *command]
        from tracealyze.commands._cli import main as run

        run()


if __name__ == "__main__":
    main(*sys.argv[1:])
