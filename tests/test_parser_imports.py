"""Uses in the readers point one way: from a format down to lines and texts, and in no circle of files."""

from __future__ import annotations

import pytest
from conftest import ROOT
from rust_imports import Crate, file_circles, upward

# A module may use those in layers below its own. Formats of one layer do not know each other.
LAYERS = [
    ["text", "scan", "capture_facts", "error_names", "random_name"],
    ["syscalls", "facts"],
    # Writes the calls of perf.data as text.
    ["perf_file"],
    # Joins folded lines if they begin with the name of a call. Decodes perf.data.
    ["input"],
    # Of compressed text.
    ["sched"],
    ["line"],
    ["interner", "json_text", "line_cache", "quoting"],
    ["cached_lines", "elision"],
    ["format"],
    ["call", "prompt", "stack", "truss_common"],
    [
        "dtruss",
        "fs_usage",
        "kernel_log",
        "procmon",
        "strace",
        "strace_macos",
        "sysdig",
        "truss_freebsd",
        "truss_solaris",
    ],
    # These share forms of lines with a format of the layer below.
    ["gvisor", "kdump", "ltrace", "perf_data", "perf_trace", "truss_aix"],
    ["format_list", "other_tools"],
    ["other_format"],
    ["envelope"],
]


@pytest.fixture(scope="module")
def parsers() -> Crate:
    return Crate(ROOT / "parsers" / "src")


def test_each_module_of_the_parsers_has_a_layer(parsers: Crate) -> None:
    assert {module[0] for module in parsers.code if module} == {name for names in LAYERS for name in names}


def test_uses_in_the_parsers_point_downward(parsers: Crate) -> None:
    assert upward(parsers, LAYERS) == []


def test_no_files_of_the_parsers_use_each_other(parsers: Crate) -> None:
    assert file_circles(parsers) == []
