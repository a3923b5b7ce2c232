"""scaling: exponents of growing counts, with their ranges, and no exponent for counts that have none."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from math import log, log2
from pathlib import Path
from typing import Any

import jsonschema
import oracle
import pytest
from conftest import SAMPLES, Run

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "scaling.json").read_text(encoding="utf-8"))
SIZES = (10, 20, 40, 80, 160)
BOOT = str(SAMPLES / "boot-devices" / "boot-[0-9]*.strace.xz")
FROM_NAME = ["--n-from", r"boot-(\d+)"]


def capture(file: Path, calls: int) -> Path:
    """Write the capture of a program that opens a file `calls` times, and reads its settings twice at every size."""
    opened = 'openat(AT_FDCWD, "/data", O_RDONLY) = 3 <0.000010>'
    lines = ['1 1700000010.000000 execve("/bin/tool", ["tool"], 0x7f /* 1 var */) = 0 <0.0001>']
    lines += [f'1 1700000010.{at:06} access("/etc/conf", R_OK) = 0 <0.00001>' for at in (100, 200)]
    lines += [f"1 17000000{10.001 + at / 1e5:.6f} {opened}" for at in range(calls)]
    file.write_text("\n".join([*lines, "1 1700000900.0 exit_group(0) = ?", ""]), encoding="utf-8")
    return file


def document(run: Run, *arguments: str) -> Any:
    done = run("scaling", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    jsonschema.validate(found, SCHEMA)
    return found


@pytest.mark.parametrize(
    ("grows", "kind", "exponent"),
    [
        (lambda n: 60 + 0 * n, "constant", 0.0),
        (lambda n: 62 if n == 40 else 60, "constant", 0.0),
        (lambda n: 50 * log(n), "logarithmic", 0.0),
        (lambda n: 7 + 3 * n, "linear", 1.0),
        (lambda n: 300 + 2 * n, "linear", 1.0),
        (lambda n: 100 + n * log2(n), "n log n?", 1.2),
        (lambda n: 50 + n**1.5, "between linear and quadratic", 1.5),
        (lambda n: n * (n - 1) / 2, "quadratic", 2.0),
        (lambda n: 1000 + n * n / 2, "quadratic", 2.0),
        (lambda n: 20 + n**3 / 1000, "cubic", 3.0),
    ],
)
def test_growth_has_a_class_and_an_exponent(
    grows: Callable[[int], float], kind: str, exponent: float, run: Run, tmp_path: Path
) -> None:
    named = [f"{size}={capture(tmp_path / str(size), round(grows(size)))}" for size in SIZES]
    [row] = [row for row in document(run, *named)["rows"] if row["syscall"] == "openat"]
    assert row["class"] == kind
    assert row["exponent"] == pytest.approx(exponent, abs=0.05)
    assert row["exponent_low"] <= row["exponent"] <= row["exponent_high"]
    assert row["counts"] == [round(grows(size)) for size in SIZES]


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((10, 100, 1000), "3 sizes (10, 100, 1000)"),
        ((10, 20, 40, 79), "a factor of 7.9"),
        ((10, 10, 20, 80), "3 sizes (10, 20, 80)"),
    ],
)
def test_too_few_sizes_are_refused(sizes: tuple[int, ...], expected: str, run: Run, tmp_path: Path) -> None:
    named = [f"{size}={capture(tmp_path / f'run{at}', size)}" for at, size in enumerate(sizes)]
    done = run("scaling", *named)
    assert (done.returncode, done.stdout) == (2, "")
    assert "insufficient range" in done.stderr
    assert expected in done.stderr


def test_boot_is_quadratic_in_its_devices(run: Run) -> None:
    found = document(run, BOOT, *FROM_NAME, "--target-n", "1000")
    [row] = [row for row in found["rows"] if row["syscall"] == "readlink" and row["counts"][-1] > 1]
    assert row["counts"] == [45, 190, 780, 3160, 12720, 51040]
    assert row["class"] == "quadratic"
    assert 1.95 <= row["exponent_low"] <= row["exponent_high"] <= 2.1
    assert row["share"] == pytest.approx(0.954, abs=0.01)
    assert row["predicted"] == pytest.approx(1000 * 999 / 2, rel=0.03)
    assert [each["syscall"] for each in found["findings"]] == ["readlink"]
    assert [f"-{size:.0f}." in name for size, name in zip(found["sizes"], found["captures"], strict=True)] == [True] * 6
    linear = {row["syscall"] for row in found["rows"] if row["class"] == "linear"}
    assert {"openat", "newfstatat", "getdents64", "close", "symlink"} == linear


def test_fixed_boot_has_no_finding(run: Run) -> None:
    cured = str(SAMPLES / "boot-devices" / "boot-after-*.strace.xz")
    found = document(run, cured, "--n-from", r"after-(\d+)")
    assert found["findings"] == []


def test_scaling_draws_the_curves(run: Run) -> None:
    shown = run("scaling", BOOT, *FROM_NAME).stdout
    assert "quadratic" in shown
    assert "a: perl readlink(dev/diskN)" in shown
    assert "WARNING superlinear" in shown
    drawn = [line.partition("|")[2] for line in shown.splitlines() if "|" in line]
    columns = [line.index("a") for line in drawn if "a" in line]
    assert columns == sorted(columns, reverse=True), "a curve that grows goes up to the right"


def test_curves_that_coincide_share_a_letter(run: Run) -> None:
    """The legend wrongly listed letters that the chart did not show, and no star."""
    chart, letters = [], set()
    for line in run("scaling", BOOT, *FROM_NAME).stdout.splitlines():
        if " |" in line:
            chart.append(line.partition("|")[2])
        elif line[1:3] == ": ":
            letters.add(line[0])
    assert letters == set("".join(chart)) - {" "} >= {"a", "*"}


def test_own_rule_across_captures_can_do_what_packaged_ones_can(run: Run, tmp_path: Path) -> None:
    (tmp_path / "steady-opens.toml").write_text(
        """
        code = "MINE001"
        title = "Opens that grow"
        table = "scaling"
        where = "syscall == 'openat' and exponent >= 0.9"
        group = ["program", "syscall"]
        keep = "sum(calls) >= 300"
        cost = ""
        message = "{program}: {calls:open} at {largest}, {share} of all calls"
        advice = "none"
        """,
        encoding="utf-8",
    )
    mine = ["--rules", str(tmp_path)]
    found = document(run, BOOT, *FROM_NAME, *mine)["findings"]
    assert [each["name"] for each in found] == ["superlinear", "steady-opens"]
    assert found[1]["message"] == "perl: 320 opens at 320, 0.6% of all calls"
    only = document(run, BOOT, *FROM_NAME, *mine, "--select", "MINE001")["findings"]
    assert [each["severity"] for each in only] == ["info"]
    assert document(run, BOOT, *FROM_NAME, "--ignore", "superlinear")["findings"] == []


def test_runs_of_one_size_are_combined(run: Run, tmp_path: Path) -> None:
    runs = [f"{size}={capture(tmp_path / f'{size}-{add}', size + add)}" for size in SIZES for add in (0, 1, 90)]
    [row] = [row for row in document(run, *runs)["rows"] if row["syscall"] == "openat"]
    assert row["counts"] == [size + 1 for size in SIZES]


def test_csv_has_a_column_per_size(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(run("scaling", BOOT, *FROM_NAME, "--format", "csv").stdout)))
    [row] = [row for row in rows if row["shape"] == "readlink(dev/diskN)"]
    assert (row["n_10"], row["n_320"], row["class"]) == ("45", "51040", "quadratic")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "captures with their sizes are required"),
        (["a", "b"], "no size; write N=CAPTURE"),
        (["x=a"], '"x" is not a size'),
        (["-5=a"], "No such option"),
        (["0=a"], '"0" is not a size'),
        (["a", "--n-from", "("], "not a valid regular expression"),
        (["a", "--n-from", "a"], "no group marks N"),
        (["a", "--n-from", "b(.)"], "does not match"),
        (["1=a", "--target-n", "-1"], "above zero"),
    ],
)
def test_invalid_size_is_an_error(arguments: list[str], expected: str, run: Run) -> None:
    done = run("scaling", *arguments)
    assert done.returncode == 2
    assert expected in done.stderr


@pytest.mark.live
@pytest.mark.skipif(oracle.why_not() is not None, reason=oracle.why_not() or "")
def test_quadratic_program_is_found_in_live_captures(run: Run, tmp_path: Path) -> None:
    script = "for i in $(seq $1); do for j in $(seq $i); do [ -e item$j ]; done; echo > list$i; done"
    (tmp_path / "program.sh").write_text(script, encoding="utf-8")
    named = []
    for size in (4, 8, 16, 32):
        log = oracle.capture_as(["/bin/sh", "program.sh", str(size)], tmp_path, "-f", "-ttt", "-T", "-y")
        named.append(f"{size}={log.rename(tmp_path / f'{size}.strace')}")
    found = document(run, *named)
    assert found["findings"][0]["class"] == "quadratic"
    assert "itemN" in found["findings"][0]["shape"]
