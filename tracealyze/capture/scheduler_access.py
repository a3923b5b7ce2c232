"""Why scheduler events cannot be recorded: from evidence to the cause and the command that cures it."""

from __future__ import annotations

import os
import shutil
import subprocess

from tracealyze.capture.evidence import Evidence, gather
from tracealyze.capture.obstacles import Obstacle

CAP_SYS_ADMIN = 1 << 21
CAP_PERFMON = 1 << 38

_INSTALL = {
    "apt-get": "apt-get update && apt-get install -y linux-perf (Debian) or linux-tools-$(uname -r) (Ubuntu)",
    "dnf": "dnf install -y perf",
    "yum": "yum install -y perf",
    "apk": "apk add perf",
    "zypper": "zypper install -y perf",
    "pacman": "pacman -S --noconfirm perf",
}
_TRACEFS = "/sys/kernel/tracing"
_DOCKER = "run --cap-add=PERFMON --cap-add=SYS_PTRACE --security-opt seccomp=unconfined -v /sys/kernel/tracing:"
_KUBERNETES = (
    'in the container of the pod: securityContext: {capabilities: {add: ["PERFMON", "SYS_PTRACE"]}, seccompProfile: '
    "{type: Unconfined}}, and the host's /sys/kernel/tracing as a volume"
)


def perf_path() -> str | None:
    """The perf in PATH."""
    return shutil.which("perf")


def perf_version() -> str:
    """`perf version 6.1.9`; empty if there is none."""
    path = perf_path()
    if path is None:
        return ""
    done = subprocess.run([path, "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    return done.stdout.strip()


def missing_perf(seen: Evidence | None = None) -> Obstacle:
    """There is no perf in PATH."""
    seen = seen or gather()
    cures = [_INSTALL[seen.package_manager]] if seen.package_manager in _INSTALL else list(_INSTALL.values())
    return Obstacle("perf is not installed", "PATH has no perf", tuple(cures))


def obstacles_of_perf(message: str, seen: Evidence | None = None, tracefs: str = _TRACEFS) -> list[Obstacle]:
    """Why perf refuses, from what this process may do and see; with its message if that does not explain it."""
    seen = seen or gather()
    held = seen.int_of("CapEff", 16)
    found = []
    if not held & (CAP_PERFMON | CAP_SYS_ADMIN):
        shown = f"/proc/self/status: CapEff {held:x}"
        found.append(Obstacle("this process lacks CAP_PERFMON", shown, _cures(seen)))
    events = os.path.join(tracefs, "events", "sched", "sched_switch", "id")
    if not os.access(events, os.R_OK):
        cure = ("sudo mount -t tracefs nodev /sys/kernel/tracing; sudo chmod -R a+rX /sys/kernel/tracing/events",)
        found.append(
            Obstacle("the list of kernel events cannot be read", events, _cures(seen) if _inside(seen) else cure)
        )
    if not found:
        first = next((line.strip() for line in message.splitlines() if line.strip()), "no message")
        found.append(Obstacle("perf refuses", first, ("perf record -a -e sched:sched_switch -- true",)))
    return found


def _inside(seen: Evidence) -> bool:
    return seen.container in ("docker", "podman", "kubernetes")


def _cures(seen: Evidence) -> tuple[str, ...]:
    if seen.container in ("docker", "podman"):
        return (f"{seen.container} {_DOCKER}{_TRACEFS} IMAGE COMMAND",)
    if seen.container == "kubernetes":
        return (_KUBERNETES,)
    if not seen.user:
        return ("keep CAP_PERFMON for this process: capsh --print shows what it has",)
    return (
        "sudo tracealyze record --sched -- COMMAND",
        "for a user: sudo setcap cap_perfmon,cap_sys_ptrace+ep $(readlink -f $(command -v perf))",
    )
