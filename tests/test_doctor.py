"""`doctor` on captures, and the causes that it infers from what /proc shows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import SAMPLES, Run

from tracealyze.capture.evidence import Evidence, gather
from tracealyze.capture.obstacles import missing_strace, obstacles_of
from tracealyze.capture.remarks import remarks
from tracealyze.model.capture_input.recapture import whole_command

TRACEME = "strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted"
SEIZE = "strace: attach: ptrace(PTRACE_SEIZE, 42): Operation not permitted"
NO_CAPABILITY = {"CapEff": "0000000000000000"}
ROOT = {"CapEff": "000001ffffffffff"}
TARGET = {"Pid": "42", "State": "S (sleeping)", "VmSize": "9 kB", "Uid": "7 7 7 7", "CapPrm": "0", "TracerPid": "0"}
CAPABLE = TARGET | {"CapPrm": "1"}


def _machine(folder: Path, files: Mapping[str, str]) -> str:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return str(folder)


def _causes(message: str, seen: Evidence) -> str:
    return "\n".join(line for each in obstacles_of(message, seen) for line in each.lines)


@pytest.mark.parametrize(
    ("message", "seen", "cause", "cure"),
    [
        (TRACEME, Evidence(status={"TracerPid": "5"}, tracer="gdb"), "traced by gdb (pid 5)", "kill 5"),
        (TRACEME, Evidence(yama=3), "until the next boot", "kernel.yama.ptrace_scope = 1"),
        (TRACEME, Evidence(selinux_denies=True), "SELinux forbids", "setsebool deny_ptrace off"),
        (TRACEME, Evidence(status={"Seccomp": "2"}, container="docker"), "a seccomp filter", "seccomp=unconfined"),
        (TRACEME, Evidence(status={"Seccomp": "2"}, container="podman"), "a seccomp filter", "podman run"),
        (TRACEME, Evidence(status={"Seccomp": "2"}, container="kubernetes"), "a seccomp", "seccompProfile: {type: Unc"),
        (TRACEME, Evidence(status={"Seccomp": "2"}), "a seccomp filter", "SystemCallFilter=@system-service @debug"),
        (TRACEME, Evidence(status={"Seccomp": "2"}, apparmor="lxd"), "or the AppArmor profile lxd", "apparmor=unconf"),
        (TRACEME, Evidence(), "a security module", "--privileged"),
        ("ptrace: Function not implemented", Evidence(kernel="Linux version 4.4.0 (x)"), "no ptrace", "runtime=runc"),
        (SEIZE, Evidence(target=TARGET | {"TracerPid": "6"}, target_tracer="strace"), "strace (pid 6)", "kill 6"),
        (SEIZE, Evidence(target={"Pid": "42", "State": "I (idle)"}), "thread of the kernel", "perf record -g -t 42"),
        (SEIZE, Evidence(target=TARGET | {"State": "Z (zombie)"}), "has exited", ""),
        (SEIZE, Evidence(user=9, status=NO_CAPABILITY, target=TARGET), "belongs to user 7", "sudo tracealyze record"),
        (SEIZE, Evidence(user=7, status=NO_CAPABILITY, target=TARGET, yama=1), "its own children", "sudo tracealyze"),
        (SEIZE, Evidence(user=7, status=NO_CAPABILITY, target=TARGET, yama=2), "only root", "sudo tracealyze"),
        (
            SEIZE,
            Evidence(status=NO_CAPABILITY, target=CAPABLE, container="docker"),
            "lacks",
            "--cap-add",
        ),
        (SEIZE, Evidence(user=7, status=NO_CAPABILITY, target=TARGET), "protects itself", "sudo tracealyze"),
    ],
)
def test_refusal_has_a_cause_and_a_cure(message: str, seen: Evidence, cause: str, cure: str) -> None:
    assert cause in _causes(message, seen)
    assert cure in _causes(message, seen)
    assert len(obstacles_of(message, seen)) == 1


def test_unexplained_refusal_has_no_cause() -> None:
    """Root with all capabilities, and nothing known about the process: no guess."""
    assert obstacles_of("attach: ptrace(PTRACE_SEIZE, 42): No such process", Evidence(status=ROOT)) == []
    assert obstacles_of(SEIZE, Evidence(status=ROOT, target=TARGET)) == []


def test_yama_is_not_blamed_if_the_user_may_trace() -> None:
    assert "restricts" not in _causes(SEIZE, Evidence(status=ROOT, target=TARGET, yama=1))


@pytest.mark.parametrize(
    ("files", "environment", "container"),
    [
        ({}, {}, ""),
        ({".dockerenv": ""}, {}, "docker"),
        ({"run/.containerenv": ""}, {}, "podman"),
        ({".dockerenv": ""}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ({"proc/self/cgroup": "0::/kubepods.slice/pod1"}, {}, "kubernetes"),
        ({"proc/1/environ": "PATH=/bin\0container=systemd-nspawn\0"}, {}, "systemd-nspawn"),
        ({"proc/1/cgroup": "0::/lxc/web"}, {}, "lxc"),
    ],
)
def test_container_is_detected(
    tmp_path: Path, files: Mapping[str, str], environment: Mapping[str, str], container: str
) -> None:
    assert gather(root=_machine(tmp_path, files), environment=environment).container == container


def test_evidence_is_read_from_the_kernel(tmp_path: Path) -> None:
    root = _machine(
        tmp_path,
        {
            "proc/self/status": "Name:\tx\nTracerPid:\t77\nSeccomp:\t2\nCapEff:\t0000000000080000\n",
            "proc/77/status": "Name:\tgdb\n",
            "proc/42/status": "Name:\tserver\nTracerPid:\t77\n",
            "proc/sys/kernel/yama/ptrace_scope": "1\n",
            "proc/self/attr/current": "docker-default (enforce)\n",
            "sys/fs/selinux/booleans/deny_ptrace": "1 1",
        },
    )
    seen = gather(42, root, {})
    assert (seen.yama, seen.apparmor, seen.selinux_denies, seen.has_capability) == (1, "docker-default", True, True)
    assert (seen.tracer, seen.target_tracer, seen.int_of("Seccomp")) == ("gdb", "gdb", 2)


@pytest.mark.parametrize("label", ["unconfined", "firefox (complain)", "system_u:system_r:container_t:s0", ""])
def test_lenient_confinement_is_not_suspected(tmp_path: Path, label: str) -> None:
    assert gather(root=_machine(tmp_path, {"proc/self/attr/current": label}), environment={}).apparmor == ""


@pytest.mark.parametrize(
    ("seen", "cure"),
    [
        (Evidence(package_manager="apt-get"), "apt-get update && apt-get install -y strace"),
        (Evidence(package_manager="apt-get", user=7), "sudo apt-get update && sudo apt-get install -y strace"),
        (Evidence(package_manager="apk", container="kubernetes"), "kubectl debug -it POD"),
        (Evidence(), "Fedora, RHEL: dnf install -y strace"),
    ],
)
def test_missing_strace_is_installed_by_the_package_manager(seen: Evidence, cure: str) -> None:
    assert cure in "\n".join(missing_strace(seen).lines)


def test_setuid_program_is_announced_to_users(tmp_path: Path) -> None:
    program = tmp_path / "tool"
    program.write_bytes(b"#!/bin/sh\n")
    program.chmod(0o4755)
    assert "setuid" in "".join(remarks(str(program), "tool", is_root=False))
    assert list(remarks(str(program), "tool", is_root=True)) == []
    program.chmod(0o755)
    assert list(remarks(str(program), "tool", is_root=False)) == []


def test_sanitizer_is_announced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "tool"
    program.write_bytes(b"\x7fELF" + b"\0" * 99 + b"__asan_init\0")
    assert "detect_leaks=0" in "".join(remarks(str(program), "tool", is_root=True))
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    assert list(remarks(str(program), "tool", is_root=True)) == []
    (tmp_path / "script").write_text("#!/bin/sh\necho __asan_init\n")
    assert list(remarks(str(tmp_path / "script"), "script", is_root=True)) == []


@pytest.mark.parametrize(
    ("text", "lack", "again"),
    [
        ("1 1700000000.000000 close(3) = 0\n1 1700000001.000000 close(4) = 0\n", "upper bounds", "strace -T"),
        ("1 close(3) = 0 <0.000010>\n1 close(4) = 0 <0.000010>\n", "without timestamps", "strace -f -ttt -T"),
        ("close(3) = 0\nclose(4) = 0\n", "No thread ids", "strace -f"),
        (
            '1 1.000000 read(0, "", 1) = 0 <0.000010>\n1 2.000000 write(1, "a", 1) = 1 <0.000010>\n',
            "missing for 2 calls on descriptors that were open before",
            "strace -y",
        ),
    ],
)
def test_lacks_of_a_capture_have_commands(tmp_path: Path, run: Run, text: str, lack: str, again: str) -> None:
    (tmp_path / "a.strace").write_text(text)
    done = run("doctor", tmp_path / "a.strace")
    assert done.returncode == 0
    words = " ".join(done.stdout.split())
    assert lack in words
    assert again in words
    assert f"Capture again: {whole_command('strace')}" in words


def test_names_of_files_that_the_capture_opens_are_known(tmp_path: Path, run: Run) -> None:
    opened = '1 1.000000 openat(AT_FDCWD, "/etc/x", O_RDONLY) = 3 <0.000010>\n'
    refused = "1 3.000000 read(9, 0x7ffd, 1) = -1 EBADF (Bad file descriptor) <0.000010>\n"
    (tmp_path / "a.strace").write_text(opened + '1 2.000000 read(3, "", 1) = 0 <0.000010>\n' + refused)
    assert "names of files" not in run("doctor", tmp_path / "a.strace").stdout


def test_complete_capture_lacks_nothing(run: Run) -> None:
    done = run("doctor", SAMPLES / "shutdown" / "before.strace.xz", "--json")
    found = json.loads(done.stdout)["captures"]
    assert [each["lacks"] for each in found] == [[]]
    assert [each["again"] for each in found] == [[]]


def test_doctor_refuses_a_missing_process(run: Run) -> None:
    done = run("doctor", "--pid", "99999999")
    assert done.returncode == 3
    assert "no process 99999999" in done.stderr
