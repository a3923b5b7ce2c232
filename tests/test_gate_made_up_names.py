"""Names that a program generates in each run, such as temporary files, hashes and ids, do not count as differences."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Run

import tracealyze
from tracealyze.compare.name_patterns import differ_in_made_up_names


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("/tmp/qYVvrXZ", "/tmp/qTdYByr", True),
        ("/tmp/tmp.Xa81kQ0b2c/out", "/tmp/tmp.9sLw2mXzQp/out", True),
        ("/tmp/tmpk3j2_x9a/log", "/tmp/tmpwqpzlmno/log", True),
        ("/tmp/pytest-of-ci/abpvv9li.db", "/tmp/pytest-of-ci/abzz01ke.db", True),
        ("/var/cache/3f2a9bc", "/var/cache/77fe01a", True),
        ("/run/1b4e28ba-2fa1-11d2/s", "/run/6fa459ea-ee8a-3ca4/s", True),
        ("fsync(/tmp/qYVvrXZ) EIO", "fsync(/tmp/qTdYByr) EIO", True),
        ("/etc/passwd", "/etc/passwd", True),
        ("/etc/client", "/etc/server", False),
        ("/tmp/qYVvrXZ", "/var/qTdYByr", False),
        ("/tmp/qYVvrXZ", "/tmp/qTdYByr/x", False),
        ("/tmp/qYVvrXZ.db", "/tmp/qTdYByr.lo", False),
        ("/usr/lib/libfoo.so.1", "/usr/lib/libbar.so.1", False),
        ("/usr/lib/python3.11", "/usr/lib/python3.12", False),
        ("/srv/alpha.db", "/srv/gamma.db", False),
        ("/run/A1B2C3D4", "/run/X9Y8Z7W6", True),
        ("unlink(tmpX9a81)", "unlink(tmpK2z77)", True),
        ("getdents64(/etc)", "newfstatat(/etc)", False),
        ("openat(/etc/x)", "clone3(/etc/x)", False),
        ("rt_sigaction(SIGRT_3)", "rt_sigaction(SIGALRM)", False),
        ("ioctl(TCGETS2, /dev/tty)", "ioctl(TCSETS2, /dev/tty)", False),
        ("ioctl(0x54011, /dev/tty)", "ioctl(0x5fa72, /dev/tty)", False),
        ("write(/tmp/a) E2BIG", "write(/tmp/a) ENXIO", False),
        ("SIGRT_3", "SIGALRM", False),
        # The engine writes R for a name that is certainly random. Another run may have made one that is not.
        ("write(/cache/tmpR)", "write(/cache/tmpnoxfsehm)", True),
        ("/cache/tmpR.json", "/cache/tmpqwpzlmno.json", True),
        ("/cache/.tmpR", "/cache/.tmpQwErTy", True),
        ("/etc/app.conf.R", "/etc/app.conf.QwErTy", True),
        ("/r/tmp_obj_R", "/r/tmp_obj_QwErTy", True),
        ("/etc/tmpfiles.d/x", "/etc/tmpR.d/x", False),
        ("/etc/app.R", "/etc/app.backup", False),
        ("/srv/tmp.R", "/srv/tmp.backup", False),
        ("/usr/sbin/tmpwatch12", "/usr/sbin/tmpR", False),
        ("/srv/app.backup", "/srv/app.config", False),
    ],
)
def test_generated_names_differ_from_chosen_ones(one: str, other: str, same: bool) -> None:
    assert differ_in_made_up_names(one, other) is same
    assert differ_in_made_up_names(other, one) is same


def capture(file: Path, name: str, syncs: int) -> str:
    """Write the capture of a program that syncs a file, each time in 4 ms."""
    sync = f"fsync(3</tmp/{name}>) = 0 <0.004000>"
    write = f'write(3</tmp/{name}>, "x"..., 12) = 12 <0.000020>'
    calls = ['execve("/bin/tool", ["tool"], 0x7ffd /* 1 var */) = 0 <0.0005>', "brk(NULL) = 0x5581 <0.00001>"]
    calls += [call for _ in range(syncs) for call in (write, sync)] + ["exit_group(0) = ?", "+++ exited with 0 +++"]
    lines = (f"100 17000000{10 + at * 0.005:09.6f} {call}\n" for at, call in enumerate(calls))
    file.write_text("".join(lines), encoding="utf-8")
    return file.name


def test_finding_with_another_generated_name_is_not_new(tmp_path: Path, run: Run) -> None:
    """A finding was wrongly considered new because its file had another name."""
    old = [capture(tmp_path / f"old{n}.strace", name, 400) for n, name in enumerate(("qYVvrXZ", "qTdYByr", "q0GDna6"))]
    new = capture(tmp_path / "new.strace", "qZZ9kLm", 400)
    assert run("baseline", "create", *old, cwd=tmp_path).returncode == 0
    assert run("baseline", "show", cwd=tmp_path).stdout.count("sync-storm: tool fsync") == 1
    assert run("check", new, "--fail-on", "info", cwd=tmp_path).returncode == 0
    assert "0 entries removed" in run("baseline", "prune", new, cwd=tmp_path).stdout
    assert run("baseline", "update", new, cwd=tmp_path).returncode == 0
    other = capture(tmp_path / "other.strace", "chosen", 400)
    assert "sync-storm (0 → 1" in run("check", other, "--fail-on", "info", cwd=tmp_path).stdout


def test_gate_explains_a_difference_in_generated_names(tmp_path: Path, run: Run) -> None:
    """The median over the runs was wrongly zero, so the increase was not explained."""
    old = [capture(tmp_path / "old.strace", "qYVvrXZ", 1)]
    new = [capture(tmp_path / f"new{n}.strace", name, 400) for n, name in enumerate(("qTdYByr", "q0GDna6", "qZZ9kLm"))]
    assert run("baseline", "create", *old, cwd=tmp_path).returncode == 0
    done = run("check", *new, "--fail-on", "warning", cwd=tmp_path)
    assert done.returncode == 1
    # The finding and the counts that it causes were two regressions.
    assert done.stdout.startswith("Failed: 1 regression, ")
    assert "     new finding: sync-storm (0 → 1" in done.stdout
    # The name is normalised, so the runs have one shape, and each run is quoted.
    runs = ", ".join(f"{name}:802" for name in new)
    assert f"tool fsync(/tmp/R)  1 → 400\n         {runs}" in done.stdout


def test_fingerprints_ignore_names_of_temporary_files(tmp_path: Path) -> None:
    """The fingerprint of a wait for a lock in a temporary file was another one in each run."""

    def prints(name: str) -> set[str]:
        file = tmp_path / f"{name.replace('/', '-')}.strace"
        capture(file, name, 400)
        return {finding.fingerprint for finding in tracealyze.read(file).findings if finding.name == "sync-storm"}

    assert prints("tmp9s4t57p5") == prints("tmpgegpzwmf") == prints("tmpabcdefgh") != set()
    assert prints("tmp.Xa81kQ0b2c/db") == prints("tmp.9sLw2mXzQp/db") != prints("tmp.9sLw2mXzQp/log")
    assert prints("chosen") != prints("other")


def test_gate_is_the_same_for_all_hash_seeds(tmp_path: Path, run: Run) -> None:
    """Calls of equal length were wrongly merged, in an order that changed from run to run."""
    calls = [f"rt_sigaction({name}, NULL, NULL, 8) = 0" for name in ("SIGALRM", "SIGSEGV", "SIGRT_3", "SIGTSTP")] * 7
    start = '100 1700000010.000000 execve("/bin/tool", ["tool"], 0x7ffd /* 1 var */) = 0 <0.0005>'
    lines = [f"100 1700000011.{at:06} {call} <0.000010>" for at, call in enumerate(calls)]
    (tmp_path / "old.strace").write_text(f"{start}\n", encoding="utf-8")
    (tmp_path / "new.strace").write_text("\n".join([start, *lines, ""]), encoding="utf-8")
    assert run("baseline", "create", "old.strace", cwd=tmp_path).returncode == 0

    def answers(*form: str) -> set[str]:
        return {run("check", "new.strace", *form, cwd=tmp_path, PYTHONHASHSEED=str(seed)).stdout for seed in range(4)}

    assert len(answers()) == len(answers("--format", "markdown")) == 1
    [answer] = answers("--json")
    assert answer.count('"after": 7') >= 4


def test_gate_explains_a_budget_by_the_baseline(tmp_path: Path, run: Run) -> None:
    old = capture(tmp_path / "old.strace", "journal", 9)
    assert run("baseline", "create", old, cwd=tmp_path).returncode == 0
    assert "tool fsync(/tmp/journal)  9 → 9" in run("check", old, "--budget", "fsyncs <= 3", cwd=tmp_path).stdout


def test_finding_of_a_renamed_program_is_not_new(tmp_path: Path, run: Run) -> None:
    """All findings of a new version of an interpreter were wrongly considered new."""
    old, new = (capture(tmp_path / f"{name}.strace", "journal", 400) for name in ("old", "new"))
    both = tmp_path / "both.strace"
    text = (tmp_path / new).read_text(encoding="utf-8").replace("/bin/tool", "/opt/tool-2")
    (tmp_path / new).write_text(text, encoding="utf-8")
    # The old program still runs, so the new one is a different program.
    lines = text.splitlines()
    both.write_text("\n".join([lines[0].replace("/opt/tool-2", "/bin/tool"), *lines, ""]), encoding="utf-8")
    assert run("baseline", "create", old, cwd=tmp_path).returncode == 0
    assert "sync-storm" not in run("check", new, "--fail-on", "info", cwd=tmp_path).stdout
    assert "sync-storm (0 → 1" in run("check", both, "--fail-on", "info", cwd=tmp_path).stdout
