"""Uses in the crate that removes secrets point one way, and the proof uses nothing of what it checks."""

from __future__ import annotations

import pytest
from conftest import ROOT
from rust_imports import Crate, file_circles, upward

# A module may use those in layers below its own.
LAYERS = [
    ["key", "known", "quoted", "recent", "wrapper", "verify"],
    ["token", "pseudonym", "address"],
    ["names"],
    ["bare"],
    ["log"],
    ["columns"],
    ["line"],
    ["stream"],
]


@pytest.fixture(scope="module")
def crate() -> Crate:
    return Crate(ROOT / "redact" / "src")


def test_each_module_has_a_layer(crate: Crate) -> None:
    assert {module[0] for module in crate.code if module} == {name for names in LAYERS for name in names}


def test_uses_point_downward(crate: Crate) -> None:
    assert upward(crate, LAYERS) == []


def test_no_files_use_each_other(crate: Crate) -> None:
    assert file_circles(crate) == []


def test_the_proof_shares_no_code(crate: Crate) -> None:
    assert crate.uses(("verify",)) == set()
