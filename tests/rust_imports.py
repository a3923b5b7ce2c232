"""Which files of a Rust crate use which others: `use` lines and paths in the code, followed to the definition.

Reads text, not syntax: comments, strings and test modules are removed, then everything that looks like a path is
resolved from the module in which it stands. A name that a module re-exports counts as a use of the file that defines
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

Module = tuple[str, ...]

_BLANK = re.compile(
    r"""//[^\n]* | /\*.*?\*/                             # comments
      | b?r(\#*)".*?"\1 | b?"(?:\\.|[^"\\])*"            # strings
      | b?'(?:\\(?:x\w\w|u\{\w+\}|.)|[^\\'\n])'          # characters, but not lifetimes
    """,
    re.VERBOSE | re.DOTALL,
)
_TEST_MODULE = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*mod\s+(\w+)\s*(;|\{)")
_USE = re.compile(r"\buse\s+([^;]+);")
_PATH = re.compile(r"(?<![\w:.])[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)+")
_ITEM = re.compile(
    r"^(?:pub(?:\([^)]*\))?\s+)?(?:const\s+)?(?:fn|struct|enum|union|trait|type|const|static|macro_rules!)\s+(\w+)",
    re.MULTILINE,
)


def code_of(text: str) -> str:
    """The text without comments, strings and test modules."""
    text = _BLANK.sub(lambda found: " " if found[0].startswith("/") else '""', text)
    while found := _TEST_MODULE.search(text):
        end = found.end() if found[2] == ";" else _end_of_block(text, found.end())
        text = text[: found.start()] + text[end:]
    return text


def _end_of_block(text: str, at: int) -> int:
    depth = 1
    while depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return at


def leaves(tree: str, prefix: Module = ()) -> Iterator[tuple[Module, str]]:
    """The paths of a `use` tree, each with the name that it introduces: `a::{b, c as d}` has two."""
    depth, start = 0, 0
    for at, sign in enumerate(tree + ","):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if sign != "," or depth:
            continue
        branch, start = tree[start:at].strip(), at + 1
        if "{" in branch:
            head, inner = branch.removesuffix("}").split("{", 1)
            yield from leaves(inner, (*prefix, *re.findall(r"\w+", head)))
        elif branch:
            path, _, alias = branch.partition(" as ")
            names = (*prefix, *re.findall(r"\w+|\*", path))
            names = names[:-1] if names[-1] == "self" and len(names) > 1 else names
            yield names, alias.strip() or names[-1]


class Crate:
    """The modules of a crate, each with its code; a module is a file, named by its path from the root."""

    def __init__(self, source: Path) -> None:
        files = {self._module(file.relative_to(source)): file for file in sorted(source.rglob("*.rs"))}
        texts = {module: _BLANK.sub(" ", file.read_text(encoding="utf-8")) for module, file in files.items()}
        tests = [(*module, found[1]) for module, text in texts.items() for found in _TEST_MODULE.finditer(text)]
        self.code = {
            module: code_of(files[module].read_text(encoding="utf-8"))
            for module in files
            if not any(module[: len(test)] == test for test in tests)
        }
        self._used = {module: dict(self._names(module)) for module in self.code}
        self._items = {module: set(_ITEM.findall(code)) for module, code in self.code.items()}

    def uses(self, module: Module) -> set[Module]:
        """The other modules whose items a module names."""
        code = self.code[module]
        paths = [path for found in _USE.finditer(code) for path, _ in leaves(found[1])]
        paths += [tuple(re.findall(r"\w+", path)) for path in _PATH.findall(_USE.sub("", code))]
        roots = [self._from_root(module, path) for path in paths]
        return {self._definer(root, set()) for root in roots if root} - {module, ()}

    @staticmethod
    def _module(file: Path) -> Module:
        parts = file.with_suffix("").parts
        return parts[:-1] if parts[-1] in ("mod", "lib") else parts

    def _names(self, module: Module) -> Iterator[tuple[str, Module]]:
        for found in _USE.finditer(self.code[module]):
            for path, name in leaves(found[1]):
                yield ("::".join(path) if name == "*" else name), path

    def _from_root(self, module: Module, path: Module) -> Module | None:
        """A path from the root of the crate; `None` if it leads out of the crate."""
        if path[0] == "crate":
            return path[1:]
        here = module
        if path[0] in ("self", "super"):
            while path and path[0] in ("self", "super"):
                here = here[:-1] if path[0] == "super" else here
                path = path[1:]
            return (*here, *path)
        if (*module, path[0]) in self.code:
            return (*module, *path)
        target = self._used[module].get(path[0])
        if target is None or target[0] == path[0]:
            return None
        root = self._from_root(module, target)
        return None if root is None else (*root, *path[1:])

    def _definer(self, path: Module, seen: set[Module]) -> Module:
        """The module that defines what a path names. What is not defined there is followed to where it comes from."""
        module: Module = ()
        for at, name in enumerate(path):
            if (*module, name) in self.code:
                module = (*module, name)
                continue
            if name in self._items[module] or path in seen:
                break
            seen.add(path)
            targets = [self._used[module][name]] if name in self._used[module] else self._globs(module, name)
            for target in targets:
                root = self._from_root(module, target)
                if root is not None and root != path:
                    return self._definer((*root, *path[at + 1 :]), seen)
            break
        return module

    def _globs(self, module: Module, name: str) -> list[Module]:
        """Where a name may come from that a module takes in with `*`."""
        globs = [path[:-1] for path in self._used[module].values() if path[-1] == "*"]
        roots = [(glob, self._from_root(module, glob)) for glob in globs]
        return [(*glob, name) for glob, root in roots if root is not None and name in self._items.get(root, ())]


def upward(crate: Crate, layers: list[list[str]]) -> list[str]:
    """Uses of a top-level module that is not below the user's."""
    levels = {folder: level for level, folders in enumerate(layers) for folder in folders}
    pairs = [(user, used) for user in crate.code if user for used in crate.uses(user) if used[0] != user[0]]
    return sorted(f"{path(user)} uses {path(used)}" for user, used in pairs if levels[used[0]] >= levels[user[0]])


def file_circles(crate: Crate) -> list[list[str]]:
    """Files that use each other. A child may use its own parents: they are one module, spread over files."""
    graph = {user: {used for used in crate.uses(user) if user[: len(used)] != used} for user in crate.code if user}
    return [[path(module) for module in circle] for circle in circles(graph)]


def path(module: Module) -> str:
    return "::".join(module)


def circles(graph: dict[Module, set[Module]]) -> list[list[Module]]:
    """Groups of modules that reach each other, each in order."""
    reached = {module: _reached(graph, module) for module in graph}
    groups = {
        tuple(sorted(other for other in reached[module] if module in reached.get(other, ())))
        for module in graph
        if module in reached[module]
    }
    return [list(group) for group in sorted(groups)]


def _reached(graph: dict[Module, set[Module]], start: Module) -> set[Module]:
    reached: set[Module] = set()
    ahead = list(graph[start])
    while ahead:
        module = ahead.pop()
        if module not in reached:
            reached.add(module)
            ahead += graph.get(module, ())
    return reached
