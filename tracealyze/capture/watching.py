"""A trace that is followed, and the state of its last minute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracealyze.capture import processes
from tracealyze.capture.follow import Follower
from tracealyze.trace.live.last_minute import LastMinute, View

if TYPE_CHECKING:
    from tracealyze.findings.rule_set import Rule


class Watching:
    """Takes what was added, whenever it is asked for the state."""

    def __init__(self, follower: Follower, rules: Sequence[Rule], input_format: str | None = None) -> None:
        self._follower, self._minute = follower, LastMinute(rules, input_format, name_of=self._name_of)
        self._names: dict[int, str] = {}
        self._unfinished: list[bytes] = []

    @property
    def has_ended(self) -> bool:
        """Whether nothing will be added any more."""
        return self._follower.has_ended

    @property
    def path(self) -> str:
        """The file of the whole trace."""
        return self._follower.path

    def view(self) -> View | None:
        """The state now; None before anything was recognised."""
        added = self._follower.added()
        unfinished = [each.unfinished for each in added.values()]
        if unfinished != self._unfinished or any(each.lines for each in added.values()):
            self._minute.add(added)
            self._unfinished = unfinished
        return self._minute.view(self._follower.silent_ns)

    def close(self) -> None:
        """Close the files and remove temporary ones."""
        self._minute.close()
        self._follower.close()

    def _name_of(self, pid: int | None) -> str:
        """The name of a process of this machine that was traced when first seen; others are of other machines."""
        if pid is None:
            return ""
        if pid not in self._names:
            known = processes.status(pid)
            self._names[pid] = known.get("Name", "") if known.get("TracerPid", "0") != "0" else ""
        return self._names[pid]
