"""Stores for tests and benchmarks: generated captures of known causes, and the logical content of a store."""

from __future__ import annotations

import random
from hashlib import blake2b
from pathlib import Path
from typing import Any

from tracealyze.fleet.arrow import pa
from tracealyze.fleet.store import Commit, Store
from tracealyze.fleet.tables import NOT_LOGICAL, TABLES


def capture_text(seed: int, *, sleep_ms: int = 0, calls: int = 20) -> str:
    """A small capture: a program that reads files, and perhaps sleeps."""
    chance = random.Random(seed)
    now_us, lines = 1_700_000_000_000_000 + seed * 1_000_000, []

    def call(text: str, took_us: int) -> None:
        nonlocal now_us
        now_us += chance.randrange(5, 60)
        lines.append(f"100 {now_us / 1e6:.6f} {text} <{took_us / 1e6:.6f}>")
        now_us += took_us

    call('execve("/usr/bin/job", ["job"], 0x7ffc /* 9 vars */) = 0', 500)
    for number in range(calls):
        call(f'openat(AT_FDCWD, "/data/{number}", O_RDONLY) = 3', chance.randrange(10, 90))
        call(f'read(3</data/{number}>, "x", 4096) = 1', chance.randrange(10, 90))
        call(f"close(3</data/{number}>) = 0", 5)
    if sleep_ms:
        asked = f"{{tv_sec=0, tv_nsec={sleep_ms * 1_000_000}}}"
        call(f"clock_nanosleep(CLOCK_REALTIME, 0, {asked}, NULL) = 0", sleep_ms * 1000)
    lines.append(f"100 {(now_us + 20) / 1e6:.6f} exit_group(0) = ?")
    lines.append(f"100 {(now_us + 90) / 1e6:.6f} +++ exited with 0 +++")
    return "\n".join(lines) + "\n"


def write_captures(folder: Path, number: int, *, versions: int = 4, slow_from: int = 2) -> None:
    """Captures in folders of versions; those from one version on sleep."""
    for seed in range(number):
        version = seed % versions
        place = folder / f"1.{version + 8}"
        place.mkdir(parents=True, exist_ok=True)
        text = capture_text(seed, sleep_ms=400 if version >= slow_from else 0)
        (place / f"run{seed:05}.strace").write_text(text, encoding="utf-8")


def content(store: str) -> dict[str, list[Any]]:
    """The rows of all tables without what depends on the machine, sorted."""
    snapshot = Store(store).snapshot()
    found = {}
    for name, schema in TABLES.items():
        columns = [each for each in schema.names if each not in NOT_LOGICAL]
        rows = snapshot.rows(name, columns).to_pylist()
        found[name] = sorted(rows, key=repr)
    return found


def by_uri(tables: dict[str, list[dict[str, Any]]]) -> dict[str, dict[str, list[Any]]]:
    """By URI of the capture, the rows of each table."""
    uris = {row["capture_id"]: row["uri"] for row in tables["captures"]}
    found: dict[str, dict[str, list[Any]]] = {uri: {name: [] for name in tables} for uri in uris.values()}
    for name, rows in tables.items():
        for row in rows:
            found[uris[row["capture_id"]]][name].append(row)
    return found


def logical_hash(store: str) -> str:
    """Equal for stores with the same rows."""
    return blake2b(repr(content(store)).encode(), digest_size=16).hexdigest()


def write_rows(store: str, tables: dict[str, list[dict[str, Any]]], key: str = "made") -> None:
    """A store with these rows, in one batch."""
    made = {}
    for name, schema in TABLES.items():
        rows = tables.get(name, [])
        made[name] = pa.Table.from_arrays(
            [pa.array([row.get(each.name) for row in rows], each.type) for each in schema], schema=schema
        )
    into = Store(store)
    into.create()
    into.write(Commit(key, {name: len(table) for name, table in made.items()}), made)
