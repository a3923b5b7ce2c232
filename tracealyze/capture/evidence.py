"""What the kernel and the container show about the permission to trace."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

CAP_SYS_PTRACE = 1 << 19


@dataclass(frozen=True)
class Evidence:
    """Facts about this process, this machine and the process to trace. Missing files are missing facts."""

    status: Mapping[str, str] = field(default_factory=dict)
    """Fields of /proc/self/status."""
    user: int = 0
    yama: int | None = None
    """/proc/sys/kernel/yama/ptrace_scope; None without that module."""
    selinux_denies: bool = False
    """Whether the boolean deny_ptrace of SELinux is set."""
    apparmor: str = ""
    """The AppArmor profile that confines this process."""
    container: str = ""
    """kubernetes, docker, podman, lxc, systemd-nspawn or container; empty outside of containers."""
    kernel: str = ""
    """/proc/version."""
    package_manager: str = ""
    tracer: str = ""
    """Name of the process that traces this one."""
    target: Mapping[str, str] = field(default_factory=dict)
    """Fields of /proc/PID/status of the process to trace; empty if there is none."""
    target_tracer: str = ""

    def int_of(self, name: str, base: int = 10) -> int:
        """A number of /proc/self/status; 0 if it is missing."""
        return int(self.status.get(name, "0").split()[0], base)

    @property
    def has_capability(self) -> bool:
        """Whether this process may trace those of other users."""
        return bool(self.int_of("CapEff", 16) & CAP_SYS_PTRACE)


def gather(pid: int | str | None = None, root: str = "/", environment: Mapping[str, str] = os.environ) -> Evidence:
    """The facts as they are now. Files are read below `root`."""
    status = _status(root, "self")
    target = _status(root, str(pid)) if pid is not None else {}
    return Evidence(
        status=status,
        user=os.geteuid(),
        yama=_number(_text(root, "proc/sys/kernel/yama/ptrace_scope")),
        selinux_denies=_text(root, "sys/fs/selinux/booleans/deny_ptrace").startswith("1"),
        apparmor=_confinement(_text(root, "proc/self/attr/current")),
        container=_container(root, environment),
        kernel=_text(root, "proc/version"),
        package_manager=next(filter(shutil.which, ("apt-get", "dnf", "yum", "apk", "zypper", "pacman")), ""),
        tracer=_status(root, status.get("TracerPid", "0")).get("Name", ""),
        target=target,
        target_tracer=_status(root, target.get("TracerPid", "0")).get("Name", ""),
    )


def _text(root: str, name: str) -> str:
    with suppress(OSError):
        return Path(root, name).read_text(encoding="utf-8", errors="replace").strip(" \n\0")
    return ""


def _status(root: str, pid: str) -> dict[str, str]:
    lines = _text(root, f"proc/{pid}/status").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _confinement(label: str) -> str:
    """`docker-default` of `docker-default (enforce)`; labels of SELinux have colons."""
    return "" if label == "unconfined" or ":" in label or "(enforce)" not in label else label.split()[0]


def _container(root: str, environment: Mapping[str, str]) -> str:
    groups = _text(root, "proc/1/cgroup") + _text(root, "proc/self/cgroup")
    if "KUBERNETES_SERVICE_HOST" in environment or "kubepods" in groups:
        return "kubernetes"
    if Path(root, ".dockerenv").exists() or "/docker" in groups:
        return "docker"
    if Path(root, "run/.containerenv").exists() or "libpod" in groups:
        return "podman"
    named = dict(pair.partition("=")[::2] for pair in _text(root, "proc/1/environ").split("\0"))
    return named.get("container", "lxc" if "/lxc" in groups else "")


def is_linux() -> bool:
    return sys.platform.startswith("linux")
