"""A command that indexes with small batches, so that tests can end it between them.

python clients.py SOURCE STORE [dask://HOST:PORT|""] [CAPTURES PER BATCH]
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from object_storage import KEYS

ROOT = Path(__file__).parents[2]
CLIENT = [sys.executable, __file__]


def client_environment() -> dict[str, str]:
    """The environment of clients and workers."""
    folders = (ROOT, ROOT / "tests", ROOT / "tests" / "fleet")
    return os.environ | KEYS | {"PYTHONPATH": os.pathsep.join(map(str, folders))}


if __name__ == "__main__":
    from tracealyze.fleet.index import Options, index
    from tracealyze.fleet.store import Store

    source, store, executor, size = sys.argv[1:]
    done = index([source], Store(store), Options(executor=executor or None, workers=2, max_captures=int(size)))
    sys.exit(3 if done.left else 0)
