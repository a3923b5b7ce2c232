"""What a project sets for its gate, in `[tool.tracealyze.check]` of tracealyze.toml or pyproject.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tracealyze.errors import WrongUsage, did_you_mean

FILES = ("tracealyze.toml", "pyproject.toml")


@dataclass(frozen=True)
class Config:
    """The settings; the command line wins."""

    baseline: str | None = None
    budgets: tuple[str, ...] = ()
    fail_on: str | None = None
    output: tuple[str, ...] = ()
    captures: tuple[str, ...] = ()


_KEYS = {item.name.replace("_", "-"): item.name for item in fields(Config)}
_LISTS = frozenset(("budgets", "output", "captures"))


def config(folder: Path | None = None) -> Config:
    """The settings of the project that a folder is in; paths in them are as seen from the file they stand in."""
    import tomllib

    here = (folder or Path.cwd()).absolute()
    for place in (here, *here.parents):
        for file in (place / name for name in FILES):
            try:
                table = tomllib.loads(file.read_text(encoding="utf-8"))
            except FileNotFoundError:
                continue
            except (OSError, ValueError) as error:
                raise WrongUsage(f"{file}: cannot be read: {error}.") from error
            settings = _section(table, file)
            if settings is not None:
                return _config(settings, file, here)
        if (place / FILES[1]).exists() or (place / ".git").exists():
            break
    return Config()


def _section(table: Mapping[str, Any], file: Path) -> Mapping[str, Any] | None:
    section: Any = table
    for key in ("tool", "tracealyze", "check"):
        section = section.get(key) if isinstance(section, Mapping) else None
    if section is not None and not isinstance(section, Mapping):
        raise WrongUsage(f"{file}: tool.tracealyze.check is not a table; write [tool.tracealyze.check].")
    return section


def _config(settings: Mapping[str, Any], file: Path, here: Path) -> Config:
    found: dict[str, Any] = {}
    for key, value in settings.items():
        if key not in _KEYS:
            hint = did_you_mean(key, _KEYS) or f" There are {', '.join(_KEYS)}."
            raise WrongUsage(f'{file}, [tool.tracealyze.check]: there is no key "{key}".{hint}')
        found[_KEYS[key]] = _checked(key, value, file)
    folder = file.parent
    for name in ("baseline",):
        if name in found:
            found[name] = _from(folder, here, found[name])
    if "captures" in found:
        found["captures"] = tuple(_from(folder, here, each) for each in found["captures"])
    return Config(**found)


def _checked(key: str, value: object, file: Path) -> object:
    if key in _LISTS:
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return tuple(value)
        raise WrongUsage(f'{file}, [tool.tracealyze.check]: {key} is a list of texts, such as {key} = ["…"].')
    if not isinstance(value, str):
        raise WrongUsage(f'{file}, [tool.tracealyze.check]: {key} is a text, such as {key} = "…".')
    return value


def _from(folder: Path, here: Path, name: str) -> str:
    return name if folder == here else str(folder / name)
