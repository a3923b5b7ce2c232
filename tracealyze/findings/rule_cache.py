"""Rules made ready once: what their files mean is kept in the user's cache folder, and taken from there next time.

Reading out fifty files and their conditions takes a third of a second, most of it for the grammar; taking it from here
a few milliseconds. What is kept belongs to exactly these files, this version and these columns: all are in its name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from tracealyze import _engine
from tracealyze.schema import SCHEMA

Facts: TypeAlias = dict[str, Any]
"""A rule as it stands in its file, with what its expressions mean."""

_KEPT = 8


def compiled(files: Sequence[Path], make: Callable[[], list[Facts]]) -> list[Facts]:
    """What `make` makes of these files, or what it made of the same files before."""
    import json

    try:
        place = _folder() / f"rules-{_mark(files)}.json"
    except (OSError, RuntimeError):
        return make()
    try:
        kept = json.loads(place.read_bytes())
        if isinstance(kept, list):
            return kept
    except (OSError, ValueError):
        pass
    made = make()
    _keep(place, json.dumps(made, ensure_ascii=True))
    return made


def _folder() -> Path:
    """Where the platform wants what can be made again."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):
        return Path(named) / "tracealyze"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tracealyze"
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"]) / "tracealyze" / "cache"
    return Path.home() / ".cache" / "tracealyze"


def _mark(files: Sequence[Path]) -> str:
    from hashlib import blake2b

    mark = blake2b(repr((_engine.__version__, SCHEMA)).encode(), digest_size=16)
    for file in files:
        content = file.read_bytes()
        # Where a file lies is told in messages.
        mark.update(f"{file}\0{len(content)}\0".encode(errors="surrogateescape"))
        mark.update(content)
    return mark.hexdigest()


def _keep(place: Path, text: str) -> None:
    """Write it as a whole or not at all. A cache that cannot be written is no reason to fail, nor to speak."""
    new = place.with_name(f"{place.name}.{os.getpid()}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(text, encoding="ascii")
        new.replace(place)
        old = sorted(place.parent.glob("rules-*"), key=lambda file: file.stat().st_mtime, reverse=True)
        for file in old[_KEPT:]:
            file.unlink(missing_ok=True)
    except OSError:
        return
