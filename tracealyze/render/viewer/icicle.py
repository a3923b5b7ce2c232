"""The partition as a tree: class, program, process, call, target. The children of a node sum to the node exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tracealyze.base.heuristics import MIN_ICICLE_SHARE
from tracealyze.base.program_names import short
from tracealyze.base.sanitize import shown

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.model.trace_tables import TraceTables

_LEVELS = (("class",), ("program",), ("pid",), ("syscall", "op"), ("target",))
_MAX_CHARACTERS = 120


@dataclass
class _Node:
    name: str
    exclusive_ns: int
    children: dict[tuple[Any, ...], _Node] = field(default_factory=dict)


def icicle(trace: TraceTables) -> list[list[Any]]:
    """The nodes in depth-first order, each with its depth, name and time. Small ones are in one node per parent."""
    wall_ns = trace.window.wall_ns
    root = _Node("", wall_ns)
    min_ns = max(1, int(wall_ns * MIN_ICICLE_SHARE))
    for depth in range(len(_LEVELS)):
        keys = [key for level in _LEVELS[: depth + 1] for key in level]
        # The classes are known already; each other level costs little, because it has few large groups.
        rows = trace.partition_by(keys, min_ns=min_ns) if depth else trace.classes
        for row in rows:
            if row["exclusive_ns"] >= min_ns:
                _add(root, row, depth)
    nodes: list[list[Any]] = []
    _list(root, 0, nodes)
    return nodes


def _add(root: _Node, row: Row, depth: int) -> None:
    node: _Node | None = root
    for level in _LEVELS[:depth]:
        node = node.children.get(tuple(row[key] for key in level)) if node else None
    values = tuple(row[key] for key in _LEVELS[depth])
    # Time between calls has neither a call nor a target.
    if node and (depth < 3 or any(value is not None for value in values)):
        node.children[values] = _Node(_name(row, depth), row["exclusive_ns"])


def _name(row: Row, depth: int) -> str:
    if depth == 0:
        name = row["class"]
    elif depth == 1:
        name = short(row["program"]) or "unknown program"
    elif depth == 2:
        name = "no process id" if row["pid"] is None else f"pid {row['pid']}"
    elif depth == 3:
        name = " ".join(part for part in (row["syscall"], row["op"]) if part)
    else:
        name = row["target"]
    text = shown(name)
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"


def _list(node: _Node, depth: int, nodes: list[list[Any]]) -> None:
    nodes.append([depth, node.name, node.exclusive_ns])
    ordered = sorted(node.children.values(), key=lambda child: (-child.exclusive_ns, child.name))
    for child in ordered:
        _list(child, depth + 1, nodes)
    rest_ns = node.exclusive_ns - sum(child.exclusive_ns for child in ordered)
    if ordered and rest_ns:
        nodes.append([depth + 1, "other", rest_ns])
