"""Why nothing can be traced: from evidence to the cause and the command that cures it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tracealyze.base.errors import UnusableInput
from tracealyze.capture.evidence import Evidence

_INSTALL = {
    "apt-get": "apt-get update && apt-get install -y strace",
    "dnf": "dnf install -y strace",
    "yum": "yum install -y strace",
    "apk": "apk add strace",
    "zypper": "zypper install -y strace",
    "pacman": "pacman -S --noconfirm strace",
}
_DISTRIBUTIONS = {"apt-get": "Debian, Ubuntu", "dnf": "Fedora, RHEL", "apk": "Alpine", "zypper": "SUSE"}

_FILTER = 2
"""The mode of seccomp in which a program decides about each call."""

_KUBERNETES_DEBUG = "kubectl debug -it POD --image=IMAGE-WITH-STRACE --target=CONTAINER --profile=general -- sh"
_KUBERNETES_CAPABILITY = 'in the container of the pod: securityContext: {capabilities: {add: ["SYS_PTRACE"]}}'
_KUBERNETES_SECCOMP = (
    "in the container of the pod: securityContext: {seccompProfile: {type: Unconfined}, "
    'capabilities: {add: ["SYS_PTRACE"]}}'
)


@dataclass(frozen=True)
class Obstacle:
    """A cause, the facts that show it, and what to run."""

    cause: str
    evidence: str
    cures: tuple[str, ...]

    @property
    def lines(self) -> list[str]:
        """For people."""
        return [f"Cause: {self.cause}", f"Seen in: {self.evidence}", *(f"  {cure}" for cure in self.cures)]


class CannotTrace(UnusableInput):
    """The tracer refuses, with the causes that the evidence shows."""

    def __init__(self, message: str, obstacles: list[Obstacle]) -> None:
        super().__init__(message)
        self.obstacles = obstacles

    @property
    def lines(self) -> tuple[str, ...]:
        """The message of the tracer, and each cause with its cure."""
        return (str(self), *(line for each in self.obstacles for line in each.lines))


def plain(message: str) -> str:
    """A message of strace without its name."""
    return message.partition("strace: ")[2] or message


def missing_strace(seen: Evidence) -> Obstacle:
    """There is no strace in PATH."""
    sudo = "sudo " if seen.user else ""
    if here := _INSTALL.get(seen.package_manager):
        cures = [sudo + here.replace("&& ", f"&& {sudo}")]
    else:
        cures = [f"{_DISTRIBUTIONS[name]}: {_INSTALL[name]}" for name in _DISTRIBUTIONS]
    if seen.container == "kubernetes":
        cures.append(f"without changing the image: {_KUBERNETES_DEBUG}")
    elif seen.container in ("docker", "podman"):
        share = f"{seen.container} run --rm -it --pid=container:NAME --cap-add=SYS_PTRACE IMAGE-WITH-STRACE sh"
        cures.append(f"without changing the image: {share}")
    return Obstacle("strace is not installed", "PATH has no strace", tuple(cures))


def obstacles_of(message: str, seen: Evidence) -> list[Obstacle]:
    """The causes of a refusal, the certain ones first. Empty if the evidence does not explain it."""
    is_refused = "not permitted" in message or "ermission denied" in message
    if "not implemented" in message or "gVisor" in seen.kernel:
        return [_without_ptrace(seen)]
    if not is_refused:
        return []
    # A process that is its own child's tracer needs no permission: only these causes forbid that.
    found = list(filter(None, (check(seen) for check in _FOR_ALL)))
    if not found and seen.target:
        # One refusal has one cause; later checks are true of most processes that an earlier one excludes.
        found = [cause for check in _FOR_TARGETS if (cause := check(seen))][:1]
    if not found and "TRACEME" in message:
        found = [_by_filter(seen)]
    return found


def _without_ptrace(seen: Evidence) -> Obstacle:
    version = seen.kernel.partition(" (")[0] or "the message of strace"
    return Obstacle(
        "this kernel has no ptrace",
        version,
        (
            "gVisor: docker run --runtime=runc IMAGE COMMAND, or another runtimeClassName of the pod",
            "Windows: wsl --set-version DISTRIBUTION 2",
        ),
    )


def _already_traced(seen: Evidence) -> Obstacle | None:
    tracer = seen.int_of("TracerPid")
    if not tracer:
        return None
    by = f"{seen.tracer} (pid {tracer})" if seen.tracer else f"pid {tracer}"
    return Obstacle(
        f"this process, and so each program that it starts, is already traced by {by}. A process has only one tracer",
        f"/proc/self/status: TracerPid {tracer}",
        (f"run it outside of {seen.tracer or 'that tracer'}, or end that one first: kill {tracer}",),
    )


def _yama_off(seen: Evidence) -> Obstacle | None:
    if seen.yama != 3:
        return None
    return Obstacle(
        "this machine forbids tracing until the next boot",
        "/proc/sys/kernel/yama/ptrace_scope: 3",
        ("set kernel.yama.ptrace_scope = 1 in /etc/sysctl.d, and reboot",),
    )


def _selinux(seen: Evidence) -> Obstacle | None:
    if not seen.selinux_denies:
        return None
    return Obstacle(
        "SELinux forbids tracing",
        "/sys/fs/selinux/booleans/deny_ptrace: 1",
        ("sudo setsebool deny_ptrace off",),
    )


def _by_filter(seen: Evidence) -> Obstacle:
    """A process may always be traced by its parent, unless a filter or a security module forbids the call."""
    has_filter = seen.int_of("Seccomp") == _FILTER
    profile = f"the AppArmor profile {seen.apparmor}" if seen.apparmor else ""
    suspects = [*(["a seccomp filter"] if has_filter else []), *([profile] if profile else [])]
    flags = [*(["seccomp=unconfined"] if has_filter else []), *(["apparmor=unconfined"] if profile else [])]
    shown = ["/proc/self/status: Seccomp 2"] if has_filter else []
    shown += ["/proc/self/attr/current"] if profile else []
    flag = " ".join([*(f"--security-opt {each}" for each in flags), "--cap-add=SYS_PTRACE"])
    return Obstacle(
        f"{' or '.join(suspects) or 'a security module'} forbids ptrace",
        ", ".join(shown) or "/proc/self/status: Seccomp 0, TracerPid 0",
        _cures_of_filter(seen, flag if suspects else "--privileged", has_filter),
    )


def _cures_of_filter(seen: Evidence, flag: str, is_seccomp: bool) -> tuple[str, ...]:
    docker, podman = f"docker run {flag} IMAGE COMMAND", f"podman run {flag} IMAGE COMMAND"
    pod = _KUBERNETES_SECCOMP if is_seccomp else _KUBERNETES_CAPABILITY
    service = "systemd service: SystemCallFilter=@system-service @debug"
    known = {
        "docker": (docker,),
        "podman": (podman,),
        "kubernetes": (f"without changing the pod: {_KUBERNETES_DEBUG}", pod),
    }
    anywhere = (f"Docker: {docker}", f"Kubernetes: {pod}", *((service,) if is_seccomp else ()))
    return known.get(seen.container, anywhere)


def _target_traced(seen: Evidence) -> Obstacle | None:
    tracer = seen.target.get("TracerPid", "0")
    if tracer == "0":
        return None
    by = f"{seen.target_tracer} (pid {tracer})" if seen.target_tracer else f"pid {tracer}"
    return Obstacle(
        f"the process is already traced by {by}. A process has only one tracer",
        f"/proc/{seen.target['Pid']}/status: TracerPid {tracer}",
        (f"end that one first: kill {tracer}",),
    )


def _kernel_thread(seen: Evidence) -> Obstacle | None:
    if "VmSize" in seen.target or seen.target.get("State", "")[:1] == "Z":
        return None
    return Obstacle(
        "this is a thread of the kernel, which makes no system calls",
        f"/proc/{seen.target['Pid']}/status: no VmSize",
        (f"perf trace or perf record show what it does: sudo perf record -g -t {seen.target['Pid']}",),
    )


def _exited(seen: Evidence) -> Obstacle | None:
    if seen.target.get("State", "")[:1] != "Z":
        return None
    return Obstacle("the process has exited (zombie)", f"/proc/{seen.target['Pid']}/status: State Z", ())


def _other_user(seen: Evidence) -> Obstacle | None:
    owner = seen.target.get("Uid", "").split()
    if not seen.user or not owner or owner[0] == str(seen.user):
        return None
    return Obstacle(
        f"the process belongs to user {owner[0]}, and this is user {seen.user}",
        f"/proc/{seen.target['Pid']}/status: Uid {owner[0]}",
        (f"sudo tracealyze record --pid {seen.target['Pid']}",),
    )


def _yama(seen: Evidence) -> Obstacle | None:
    if not seen.yama or seen.has_capability:
        return None
    allowed = "only its own children may be traced" if seen.yama == 1 else "only root may trace"
    return Obstacle(
        f"this machine restricts attaching: {allowed}",
        f"/proc/sys/kernel/yama/ptrace_scope: {seen.yama}",
        (
            *((f"sudo tracealyze record --pid {seen.target['Pid']}",) if not seen.container else ()),
            *_cures_of_capability(seen),
            "until the next boot, for all users: sudo sysctl kernel.yama.ptrace_scope=0",
        ),
    )


def _missing_capability(seen: Evidence) -> Obstacle | None:
    own, its = seen.int_of("CapEff", 16), int(seen.target.get("CapPrm", "0"), 16)
    if seen.has_capability or not its & ~own:
        return None
    return Obstacle(
        "the process has capabilities that this one lacks, and this one lacks CAP_SYS_PTRACE",
        f"CapPrm {its:x} in /proc/{seen.target['Pid']}/status, CapEff {own:x} in /proc/self/status",
        (*_cures_of_capability(seen), *((f"sudo tracealyze record --pid {seen.target['Pid']}",) if seen.user else ())),
    )


def _not_dumpable(seen: Evidence) -> Obstacle | None:
    if seen.has_capability:
        return None
    return Obstacle(
        "the process protects itself from its own user, as programs with extra privileges do, or is in another "
        "namespace, and this one lacks CAP_SYS_PTRACE",
        f"/proc/self/status: CapEff {seen.int_of('CapEff', 16):x}",
        (*_cures_of_capability(seen), *((f"sudo tracealyze record --pid {seen.target['Pid']}",) if seen.user else ())),
    )


def _cures_of_capability(seen: Evidence) -> tuple[str, ...]:
    return {
        "docker": ("docker run --cap-add=SYS_PTRACE IMAGE COMMAND",),
        "podman": ("podman run --cap-add=SYS_PTRACE IMAGE COMMAND",),
        "kubernetes": (f"without changing the pod: {_KUBERNETES_DEBUG}", _KUBERNETES_CAPABILITY),
    }.get(seen.container, ())


_FOR_ALL: tuple[Callable[[Evidence], Obstacle | None], ...] = (_already_traced, _yama_off, _selinux)
_FOR_TARGETS: tuple[Callable[[Evidence], Obstacle | None], ...] = (
    *(_target_traced, _exited, _kernel_thread, _other_user),
    *(_yama, _missing_capability, _not_dumpable),
)
