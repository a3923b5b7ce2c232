"""What is known of errors, signals and messages: the files in `rules/known/`, loaded on first use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tracealyze.findings.compiled_rules import known_table


@dataclass(frozen=True)
class KnownError:
    """An error number of the system."""

    text: str
    """Its message, as programs print it."""
    weight: int
    """How much it explains the end of a program that did not recover from it; 0 for answers that programs expect."""
    always: str = ""
    """What it means, if it deserves a line whatever time it takes."""
    next: str = ""
    """A command that shows more."""
    refusal: bool = False
    """Whether it refuses what was asked for."""
    loses: bool = False
    """Whether what a program writes is lost."""
    calls: Mapping[str, str] = field(default_factory=dict)
    """What it means of some calls."""
    nexts: Mapping[str, str] = field(default_factory=dict)
    """Commands that show more about some calls."""


@dataclass(frozen=True)
class KnownSignal:
    """A signal that ends processes."""

    kind: str
    """crash, killed or asked."""
    text: str = ""
    """What it means, if its name does not say that."""
    next: str = ""
    """A command that shows more; empty if that is a debugger."""


@dataclass(frozen=True)
class UsualFailure:
    """Failures that healthy programs have."""

    because: str
    patterns: tuple[tuple[str, re.Pattern[str]], ...]

    def fits(self, row: Mapping[str, Any]) -> bool:
        """Whether a failed call is one of them."""
        return all(
            (pattern.search if column == "target" else pattern.fullmatch)(str(row.get(column) or ""))
            for column, pattern in self.patterns
        )


@dataclass(frozen=True)
class MessageWords:
    """Words by which people find the message that matters."""

    failure: re.Pattern[str]
    certain: re.Pattern[str]
    harmless: re.Pattern[str]
    remark: re.Pattern[str]
    lasted: re.Pattern[str]
    exception: re.Pattern[str]
    rejected: re.Pattern[str]
    set_uid: re.Pattern[str]
    loader: re.Pattern[str]


@cache
def errors() -> Mapping[str, KnownError]:
    """Errors by name."""
    return {name: KnownError(**entry) for name, entry in known_table("errors").items()}


_UNKNOWN = KnownError("", 3)
_SIGNALLED = 128
COMMON_WEIGHT = 4
"""Weight of errors that programs often handle."""


def error(name: str | None) -> KnownError | None:
    """An error by its name; None without one. What is not known of it counts as little as an invalid argument."""
    return errors().get(name, _UNKNOWN) if name else None


def meaning(errno: str | None, syscall: str) -> str:
    """What an error means of a call, otherwise its message; empty if neither is known."""
    found = error(errno)
    return (found.calls.get(syscall) or found.text) if found else ""


def is_wait(syscall: str) -> bool:
    """Whether a call waits for events of several descriptors."""
    return re.fullmatch(known_table("calls")["waits"], syscall) is not None


def awaits_child(syscall: str | None) -> bool:
    """Whether a call waits for a child."""
    return syscall is not None and re.fullmatch(known_table("calls")["children"], syscall) is not None


def is_lock(syscall: str) -> bool:
    """Whether threads wait for their locks, and wake those that wait, by this call."""
    return re.fullmatch(known_table("calls")["locks"], syscall) is not None


def looks_up(syscall: str) -> bool:
    """Whether a call looks a file up by its name, and does nothing else."""
    return re.fullmatch(known_table("calls")["lookups"], syscall) is not None


def signals_process(syscall: str) -> bool:
    """Whether a call looks for a process by its id, to send it a signal."""
    return re.fullmatch(known_table("calls")["signals"], syscall) is not None


def has_limit(syscall: str) -> bool:
    """Whether a call fails where the limit of its wait is reached."""
    return re.fullmatch(known_table("calls")["limits"], syscall) is not None


def reads(syscall: str) -> bool:
    """Whether a call waits for what somebody sends or types."""
    return re.fullmatch(known_table("calls")["reads"], syscall) is not None


def creates(syscall: str) -> bool:
    """Whether a call creates a process or a thread: work that takes long for a large process."""
    return re.fullmatch(known_table("calls")["creates"], syscall) is not None


def opens(syscall: str) -> bool:
    """Whether a call opens a file, with which a program then does something."""
    return re.fullmatch(known_table("calls")["opens"], syscall) is not None


def yields(syscall: str) -> bool:
    """Whether a call gives the processor away, and waits for nothing."""
    return re.fullmatch(known_table("calls")["yields"], syscall) is not None


def sender(signal: str) -> str:
    """Who usually sends a signal again and again, as a sentence; empty if that is not known."""
    senders: dict[str, str] = known_table("signals")["senders"]
    return senders.get(signal, "")


@cache
def signals() -> Mapping[str, KnownSignal]:
    """Signals by name."""
    entries = {name: entry for name, entry in known_table("signals").items() if name.startswith("SIG")}
    return {name: KnownSignal(**entry) for name, entry in entries.items()}


@cache
def signal_codes() -> Mapping[str, str]:
    """Why a signal was sent, by its code."""
    codes: dict[str, str] = known_table("signals")["codes"]
    return codes


@cache
def fault_addresses() -> Mapping[str, str]:
    """What addresses mean that programs use on purpose."""
    addresses: dict[str, str] = known_table("signals")["addresses"]
    return addresses


@cache
def fault_ranges() -> tuple[tuple[int, int, str], ...]:
    """Ranges of addresses, from their first to their last one, and what programs have there."""
    entries: list[dict[str, str]] = known_table("signals")["range"]
    return tuple((int(entry["first"], 16), int(entry["last"], 16), entry["text"]) for entry in entries)


@cache
def without_address() -> frozenset[str]:
    """Signals whose address says nothing."""
    return frozenset(known_table("signals")["without_address"])


def handles_faults(program: str) -> bool:
    """Whether healthy programs of this name receive faults, and handle them."""
    return re.fullmatch(known_table("signals")["handled"]["programs"], program) is not None


@cache
def usual_failures() -> tuple[UsualFailure, ...]:
    """Failures that healthy programs have."""
    entries: list[dict[str, str]] = known_table("usual_failures")["usual"]
    return tuple(
        UsualFailure(
            entry["because"],
            tuple((name, re.compile(text)) for name, text in entry.items() if name != "because"),
        )
        for entry in entries
    )


@cache
def message_words() -> MessageWords:
    """Words of messages."""
    return MessageWords(**{name: re.compile(text) for name, text in known_table("messages").items()})


def is_usual(row: Mapping[str, Any]) -> bool:
    """Whether healthy programs have this failure, too."""
    known = error(row["errno"])
    return known is None or not known.weight or any(usual.fits(row) for usual in usual_failures())


def why_usual(row: Mapping[str, Any]) -> str:
    """Why healthy programs have this failure; empty if no reason is known."""
    return next((usual.because for usual in usual_failures() if usual.fits(row)), "")


@dataclass(frozen=True)
class ExitStatus:
    """The meaning of an exit status of a program."""

    text: str
    is_fine: bool


def exit_status(program: str, code: int) -> ExitStatus | None:
    """What an exit status of this program means, if that is known."""
    statuses = _exit_statuses()
    entry = statuses.get(program, {}).get(str(code)) or statuses["any"].get(str(code))
    if isinstance(entry, Mapping):
        return ExitStatus(entry["fine"], True)
    if not entry and (name := signal_of_status(code)):
        entry = f"128 + {code - _SIGNALLED}: {name} ended it or what it ran"
    return ExitStatus(entry, False) if entry else None


def signal_of_status(code: int) -> str:
    """The signal that a shell reports as an exit status, which is then 128 and the signal's number; else empty."""
    numbers: dict[str, str] = known_table("signals")["numbers"]
    return numbers.get(str(code - _SIGNALLED), "")


@cache
def _exit_statuses() -> Mapping[str, Mapping[str, Any]]:
    """Statuses by program. The data names programs with the same ones together: `grep|egrep`."""
    statuses: dict[str, dict[str, Any]] = {}
    for programs, of_programs in known_table("exit_statuses").items():
        for program in programs.split("|"):
            statuses.setdefault(program, {}).update(of_programs)
    return statuses
