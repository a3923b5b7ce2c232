"""The engine's table of syscalls, as metrics see it."""

from __future__ import annotations

from tracealyze._engine import SYSCALLS
from tracealyze.compare import syscalls


def test_variant_has_the_families_of_its_call() -> None:
    variants = [call for call in SYSCALLS.values() if call.alias_of is not None]
    assert len(variants) > 100
    for call in variants:
        assert call.alias_of is not None
        assert call.families == SYSCALLS[call.alias_of].families, call.name


def test_families_are_those_that_metrics_count() -> None:
    assert "openat2" in syscalls.OPENS
    assert "recvfrom_nocancel" in syscalls.READS
    assert "sendfile64" in syscalls.WRITES
    assert "fdatasync" in syscalls.SYNCS
    assert not syscalls.READS & syscalls.WRITES
    assert not syscalls.QUICK & (syscalls.LOCKS | syscalls.CONTACTS)
