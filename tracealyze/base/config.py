"""Settings of a project: `[tool.tracealyze]` in the nearest tracealyze.toml or pyproject.toml, searching upwards."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tracealyze.base import toml_file
from tracealyze.base.errors import WrongUsage, did_you_mean

FILES = ("tracealyze.toml", "pyproject.toml")
SECTION = "tool.tracealyze"
_LISTS = ("rules", "select", "ignore")
_KEYS = (*_LISTS, "check")


@dataclass(frozen=True)
class Settings:
    """The settings. Options on the command line take precedence."""

    file: Path | None = None
    rules: tuple[str, ...] = ()
    """Folders of rules, in addition to the packaged ones."""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    check: Mapping[str, Any] = field(default_factory=dict)
    """The settings of the gate, not yet checked."""


def settings(folder: Path | None = None) -> Settings:
    """The settings of the project that contains a folder. Paths in the file are relative to it."""
    here = (folder or Path.cwd()).absolute()
    for place in (here, *here.parents):
        for file in (place / name for name in FILES):
            section = _section(file)
            if section is not None:
                return _settings(section, file, here)
        if (place / FILES[1]).exists() or (place / ".git").exists():
            break
    return Settings()


def seen_from(here: Path, file: Path, name: str) -> str:
    """A path in a settings file, relative to this folder."""
    return name if file.parent == here else str(file.parent / name)


def _section(file: Path) -> Mapping[str, Any] | None:
    try:
        content = toml_file.content_of(file, str(file))
    except (FileNotFoundError, NotADirectoryError):
        return None
    # Most projects do not configure this program, so their files are not parsed.
    if b"tracealyze" not in content:
        return None
    section: Any = toml_file.parsed(content, f"{file}: cannot be read")
    for key in SECTION.split("."):
        section = section.get(key) if isinstance(section, Mapping) else None
    if section is not None and not isinstance(section, Mapping):
        raise WrongUsage(f"{file}: {SECTION} is not a table; write [{SECTION}].")
    return section


def _settings(section: Mapping[str, Any], file: Path, here: Path) -> Settings:
    must_be_known(section, _KEYS, f"{file}, [{SECTION}]")
    lists = {key: must_be_texts(section.get(key, []), key, f"{file}, [{SECTION}]") for key in _LISTS}
    lists["rules"] = tuple(name if name == "incubator" else seen_from(here, file, name) for name in lists["rules"])
    check = section.get("check", {})
    if not isinstance(check, Mapping):
        raise WrongUsage(f"{file}: {SECTION}.check is not a table; write [{SECTION}.check].")
    return Settings(file=file, check=check, **lists)


def must_be_known(keys: Collection[str], known: Collection[str], where: str) -> None:
    """Raise `WrongUsage` for an unknown key, which is probably misspelt."""
    for key in keys:
        if key not in known:
            hint = did_you_mean(key, known) or f" Known: {', '.join(known)}."
            raise WrongUsage(f'{where}: there is no key "{key}".{hint}')


def must_be_texts(value: object, key: str, where: str) -> tuple[str, ...]:
    """The value as a tuple of texts. Raises `WrongUsage` if it is not a list of texts."""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return tuple(value)
    raise WrongUsage(f'{where}: {key} must be a list of strings, such as {key} = ["…"].')
