"""Write a store of many made-up captures, to measure the questions of `fleet` on it.

    .venv/bin/python benches/fleet_store.py STORE [CAPTURES]
    /usr/bin/time -v .venv/bin/tracealyze fleet trend --store STORE

Captures have 40 versions, 100 days, 24 programs and the causes of real rules with a skewed distribution: a few causes
are in many captures, thousands in a few. One of 200 failed, one of ten is filtered. Three causes begin in versions
4.10, 4.20 and 4.30. Some causes are those of a real capture, so that `like` finds captures that are similar to it:

    .venv/bin/tracealyze fleet like samples/ssh-login/ssh-login.truss --store STORE
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy

import tracealyze
from tracealyze.findings.rule_set import rules as packaged
from tracealyze.fleet.arrow import Table, pa
from tracealyze.fleet.store import Commit, Store
from tracealyze.fleet.tables import TABLES

VERSIONS, DAYS, CAUSES, PER_COMMIT = 40, 100, 5_000, 20_000
PLANTED_SINCE = {7: 10, 8: 20, 9: 30}
"""The number of the first version with each planted cause."""
SIMILAR_TO = Path(__file__).parents[1] / "samples" / "ssh-login" / "ssh-login.truss"
"""The capture whose causes are those from the first of these numbers on."""
FIRST_SIMILAR = 20
PROGRAMS = (
    *("sh", "python3", "java", "node", "nginx", "postgres", "ssh", "sshd", "git", "gcc", "ld", "make"),
    *("cargo", "curl", "dpkg", "apt", "systemd", "cron", "rsync", "tar", "gzip", "php", "ruby", "worker"),
)
CLASSES = ("disk", "network", "locks", "user code", "deliberate wait", "child processes")
CALLS = ("openat", "read", "write", "close", "futex", "connect", "poll", "fsync", "clock_nanosleep", "stat")
_DAY_NS = 86_400 * 10**9
_START_NS = 1_767_225_600 * 10**9


def write_store(path: str, captures: int, *, seed: int = 1, per_commit: int = PER_COMMIT) -> None:
    """A store with this number of captures. The same arguments give the same store."""
    store = Store(path)
    store.create()
    makers = {"captures": _captures, "processes": _processes, "calls": _calls, "classes": _classes}
    for first in range(0, captures, per_commit):
        chance = numpy.random.default_rng([seed, first])
        made = _Captures(chance, first, min(per_commit, captures - first))
        findings = _findings(chance, made)
        tables = {name: make(chance, made) for name, make in makers.items()} | {"findings": findings}
        key = blake2b(f"{seed} {first} {captures}".encode(), digest_size=16).hexdigest()
        store.write(Commit(key, {name: len(table) for name, table in tables.items()}), tables)


class _Captures:
    """What the rows of one commit have in common: one value per capture."""

    def __init__(self, chance: Any, first: int, number: int) -> None:
        self.number = numpy.arange(first, first + number)
        # The numbers of a real store are hashes; this one is a permutation of all 64-bit numbers.
        self.id = (self.number.astype(numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)).view(numpy.int64)
        self.version = chance.integers(0, VERSIONS, number)
        self.program = chance.zipf(1.5, number) % len(PROGRAMS)
        self.wall_ns = chance.lognormal(21, 1.2, number).astype(numpy.int64)
        self.is_ok = chance.random(number) >= 0.005
        self.is_filtered = chance.random(number) < 0.1
        self.findings = numpy.zeros(number, numpy.int64)
        self.weight = numpy.zeros(number)


def _table(name: str, columns: Mapping[str, Any]) -> Table:
    """A table of these columns; the others are missing values."""
    number = len(next(iter(columns.values())))
    schema = TABLES[name]
    arrays = [
        pa.array(columns[each.name]).cast(each.type) if each.name in columns else pa.nulls(number, each.type)
        for each in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _named(names: Any, codes: Any) -> Any:
    return pa.array(list(names), pa.string()).take(pa.array(codes))


def _if(condition: Any, values: Any) -> Any:
    return pa.compute.if_else(pa.array(condition), values, None)


def _captures(chance: Any, made: _Captures) -> Table:
    number, ok = len(made.number), made.is_ok
    labels = pa.MapArray.from_arrays(
        pa.array(numpy.arange(0, 3 * number + 1, 3, dtype=numpy.int32)),
        _named(("host", "run", "version"), numpy.tile([0, 1, 2], number)),
        pa.array(
            numpy.column_stack(
                [
                    chance.choice([f"host{each}" for each in range(300)], number).astype(object),
                    numpy.array([f"run{each}" for each in made.number], dtype=object),
                    numpy.array([f"4.{each}" for each in made.version], dtype=object),
                ]
            ).ravel()
        ),
    )
    days = chance.integers(0, DAYS, number)
    columns = {
        "uri": [f"s3://traces/4.{v}/run{n:07}.strace" for v, n in zip(made.version, made.number, strict=True)],
        "etag": [f"{n:016x}" for n in made.number],
        "labels_hash": [f"{n:012x}" for n in made.number],
        "engine": ["0"] * number,
        "rules_hash": ["0"] * number,
        "status": _named(("failed", "ok"), ok.astype(int)),
        "error_kind": _if(~ok, pa.scalar("unreadable")),
        "error": _if(~ok, pa.scalar("the file is not a trace that can be read")),
        "seconds": chance.random(number),
        "format": _if(ok, pa.scalar("strace")),
        "bytes": chance.integers(5_000, 200_000, number),
        "processes": numpy.full(number, 2),
        "calls": _if(ok, pa.array(chance.integers(50, 5000, number))),
        "wall_ns": _if(ok, pa.array(made.wall_ns)),
        "start_ns": _if(ok, pa.array(_START_NS + days * _DAY_NS)),
        "filtered": made.is_filtered,
        "cut": numpy.zeros(number, bool),
        "syscalls": _if(made.is_filtered, pa.scalar("close,openat,read,write")),
        "lost_lines": numpy.zeros(number, numpy.int64),
        "findings": made.findings,
        "weight": made.weight,
        "labels": labels,
    }
    columns["item"] = columns["uri"]
    return _table("captures", {"capture_id": made.id, **columns})


def _repeated(made: _Captures, counts: Any) -> Any:
    """The places of the captures, each as often as it has rows."""
    return numpy.repeat(numpy.arange(len(made.number)), numpy.where(made.is_ok, counts, 0))


@cache
def _fingerprints() -> list[str]:
    """Of all causes by number."""
    found = [blake2b(str(number).encode(), digest_size=8).hexdigest() for number in range(CAUSES)]
    real = list(dict.fromkeys(each.fingerprint for each in tracealyze.read(SIMILAR_TO).summary().findings))
    found[FIRST_SIMILAR : FIRST_SIMILAR + len(real)] = real
    return found


def _findings(chance: Any, made: _Captures) -> Table:
    at = _repeated(made, chance.poisson(3, len(made.number)))
    cause = chance.zipf(1.3, len(at)) % CAUSES
    late = numpy.array([PLANTED_SINCE.get(int(each), -1) for each in range(CAUSES)])[cause]
    at, cause = at[made.version[at] >= late], cause[made.version[at] >= late]
    share = chance.beta(1, 6, len(at))
    weight = numpy.maximum(share, 0.01)
    made.findings = numpy.bincount(at, minlength=len(made.number))
    made.weight = numpy.bincount(at, weights=weight, minlength=len(made.number))
    rules = packaged()
    impact = (share * made.wall_ns[at]).astype(numpy.int64)
    program = cause % len(PROGRAMS)
    columns = {
        "code": _named([each.code for each in rules], cause % len(rules)),
        "rule": _named([each.name for each in rules], cause % len(rules)),
        "title": _named([each.title for each in rules], cause % len(rules)),
        "severity": _named(("info", "warning", "error"), cause % 3),
        "confidence": _named(("high", "low"), cause % 2),
        "basis": _named(("wall", "calls"), cause % 2),
        "fingerprint": _named(_fingerprints(), cause),
        "program": _named(PROGRAMS, program),
        "syscall": _named(CALLS, cause % len(CALLS)),
        "target": _named([f"/srv/data/N/{n}" for n in range(CAUSES)], cause),
        "calls": chance.integers(1, 100, len(at)),
        "impact_low_ns": impact // 2,
        "impact_high_ns": impact,
        "share": share,
        "weight": weight,
        "line": chance.integers(1, 5000, len(at)),
        "diagnosis": _named([f"The program does this {n} times." for n in range(CAUSES)], cause),
    }
    return _table("findings", {"capture_id": made.id[at], **columns})


def _processes(chance: Any, made: _Captures) -> Table:
    at = _repeated(made, 2)
    columns = {
        "pid": chance.integers(100, 30_000, len(at)),
        "program": _named(PROGRAMS, (made.program[at] + numpy.arange(len(at)) % 2 * 5) % len(PROGRAMS)),
        "wall_ns": made.wall_ns[at],
        "exclusive_ns": (made.wall_ns[at] * chance.random(len(at)) / 2).astype(numpy.int64),
        "calls": chance.integers(10, 500, len(at)),
        "first_line": chance.integers(1, 100, len(at)),
    }
    return _table("processes", {"capture_id": made.id[at], **columns})


def _calls(chance: Any, made: _Captures) -> Table:
    at = _repeated(made, 10)
    target = chance.zipf(1.2, len(at)) % 20_000
    offsets = pa.array(numpy.arange(0, 3 * len(at) + 1, 3, dtype=numpy.int32))
    columns = {
        "program": _named(PROGRAMS, made.program[at]),
        "syscall": _named(CALLS, target % len(CALLS)),
        "target": _named([f"/usr/share/N/{n}" for n in range(20_000)], target),
        "outcome": _named(("ok", "failed"), (target % 7 == 0).astype(int)),
        "calls": chance.integers(1, 100, len(at)),
        "exclusive_ns": (made.wall_ns[at] * chance.random(len(at)) / 20).astype(numpy.int64),
        "first_line": chance.integers(1, 5000, len(at)),
        "buckets": pa.ListArray.from_arrays(offsets, pa.array(chance.integers(0, 1500, 3 * len(at)), pa.uint16())),
        "counts": pa.ListArray.from_arrays(offsets, pa.array(chance.integers(1, 9, 3 * len(at)), pa.uint64())),
    }
    columns["total_ns"] = columns["exclusive_ns"]
    return _table("calls", {"capture_id": made.id[at], **columns})


def _classes(chance: Any, made: _Captures) -> Table:
    usual = numpy.random.default_rng(5).dirichlet(numpy.ones(len(CLASSES)), len(PROGRAMS))
    at = _repeated(made, len(CLASSES))
    code = numpy.arange(len(at)) % len(CLASSES)
    size = chance.gamma(usual[made.program[at], code] * 30 + 0.1)
    share = size / numpy.bincount(at, weights=size, minlength=len(made.number))[at]
    columns = {
        "class": _named(CLASSES, code),
        "exclusive_ns": (share * made.wall_ns[at]).astype(numpy.int64),
        "share": share,
        "calls": chance.integers(0, 500, len(at)),
    }
    return _table("classes", {"capture_id": made.id[at], **columns})


if __name__ == "__main__":
    write_store(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
