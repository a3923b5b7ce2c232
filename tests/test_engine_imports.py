"""Uses in the crates of the engine point one way: down the folders, and in no circle of files. The twin of
`test_imports.py`. That crates use only those above them in this list is in their manifests, and the compiler checks it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT
from rust_imports import Crate, file_circles, upward

ENGINE = ROOT / "engine"

MAX_LINES = 20_000

# A folder may use those in layers below its own. Folders of one layer do not know each other.
CRATES = {
    "spill": [["limits"], ["linux", "others"]],
    "trace": [["parallel"], ["store"], ["ingest"], ["testing"]],
    "query": [["source_lines"], ["filter", "time_bounds"], ["cache"], ["selection"], ["event_rows"]],
    "logs": [["messages"]],
    "path": [["waits"], ["critical_path"], ["partition"], ["testing"]],
    "kit": [["table_support"], ["testing"]],
    "report": [["picture", "replay", "tables"]],
    "outcome": [["tables"]],
    "detect": [["tables"]],
    "export": [["timeline"], ["formats"]],
    "binding": [["session"], ["python"]],
}


@pytest.fixture(params=CRATES, scope="module")
def name(request: pytest.FixtureRequest) -> str:
    assert isinstance(request.param, str)
    return request.param


@pytest.fixture(scope="module")
def crate(name: str) -> Crate:
    return Crate(ENGINE / name / "src")


def test_each_crate_has_layers() -> None:
    assert {manifest.parent.name for manifest in ENGINE.glob("*/Cargo.toml")} == set(CRATES)


def test_each_folder_has_a_layer(name: str, crate: Crate) -> None:
    assert {module[0] for module in crate.code if module} == {folder for layer in CRATES[name] for folder in layer}


def test_a_crate_can_be_read_whole(name: str) -> None:
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in (ENGINE / name / "src").rglob("*.rs"))
    assert lines <= MAX_LINES, f"{name}: divide it where its folders know each other least"


def test_uses_point_downward(name: str, crate: Crate) -> None:
    assert upward(crate, CRATES[name]) == []


def test_no_files_use_each_other(crate: Crate) -> None:
    assert file_circles(crate) == []


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
