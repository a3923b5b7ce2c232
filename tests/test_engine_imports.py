"""Uses in the engine point one way: down the folders, and in no circle of files. The twin of `test_imports.py`."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT
from rust_imports import Crate, file_circles, upward

SOURCE = ROOT / "engine" / "src"

# A folder may use those in layers below its own. Folders of one layer do not know each other.
LAYERS = [
    ["parallel"],
    ["store"],
    ["ingest", "query", "waits"],
    ["critical_path", "logs"],
    ["partition", "picture"],
    ["table_support"],
    ["tables"],
    ["replay"],
    ["session"],
    ["python", "testing"],
]


@pytest.fixture(scope="module")
def engine() -> Crate:
    return Crate(SOURCE)


def test_each_folder_of_the_engine_has_a_layer(engine: Crate) -> None:
    assert {module[0] for module in engine.code if module} == {folder for folders in LAYERS for folder in folders}


def test_uses_point_downward(engine: Crate) -> None:
    assert upward(engine, LAYERS) == []


def test_no_files_use_each_other(engine: Crate) -> None:
    assert file_circles(engine) == []


def made_up(folder: Path, files: dict[str, str]) -> Crate:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return Crate(folder)


def test_a_nested_path_upward_is_found(tmp_path: Path) -> None:
    crate = made_up(
        tmp_path,
        {
            "low/mod.rs": "pub mod a;",
            "low/a.rs": "// crate::high::b::C in a comment\nfn f() { let x = crate::high::b::inner::C::new(); }",
            "high/mod.rs": "pub mod b;",
            "high/b.rs": "pub mod inner;",
            "high/b/inner.rs": "pub struct C;",
        },
    )
    assert upward(crate, [["low"], ["high"]]) == ["low::a uses high::b::inner"]


def test_a_circle_through_a_reexport_is_found(tmp_path: Path) -> None:
    crate = made_up(
        tmp_path,
        {
            "low/mod.rs": "mod a;\nmod b;\npub use a::{inner::*, A as Renamed};",
            "low/a.rs": "mod inner;\npub struct A;\nuse super::b::{self, B};\n"
            "#[cfg(test)]\nmod tests { use crate::low::c; }",
            "low/a/inner.rs": "pub struct Inner;\nuse super::A;",
            "low/b.rs": "use crate::low::Renamed;\npub struct B;",
            "low/c.rs": "use crate::low::Inner;",
        },
    )
    assert crate.uses(("low", "c")) == {("low", "a", "inner")}
    assert file_circles(crate) == [["low::a", "low::b"]]


def test_a_module_imported_by_name_is_followed(tmp_path: Path) -> None:
    crate = made_up(
        tmp_path,
        {
            "low/mod.rs": "pub mod a;\npub mod b;",
            "low/a.rs": "use super::{b as other, b};\nfn f() { other::go(); b::go() }",
            "low/b.rs": "pub fn go() {}\nfn g() { super::a::f() }",
        },
    )
    assert file_circles(crate) == [["low::a", "low::b"]]
